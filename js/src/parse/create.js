/** The machine for the options of a caller. */

import { Machine } from "./machine.js";

/** @typedef {import("./machine.js").ParserOptions} ParserOptions */
/** @typedef {import("./machine.js").Sink} Sink */

/**
 * Create the machine for these options. With `many` it reads several documents in a row.
 * @param {Sink} sink
 * @param {ParserOptions} [options]
 * @param {boolean} [many]
 * @returns {Machine}
 */
export function createMachine(sink, { prefix = "", limits, ...others } = {}, many = false) {
  for (const name of Object.keys(others)) throw new TypeError(`there is no option "${name}"`);
  if (typeof prefix !== "string") throw new TypeError("prefix is a text");
  const machine = new Machine(sink, { limits, many });
  if (prefix !== "") machine.putBefore(prefix);
  return machine;
}

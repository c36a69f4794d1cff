/** The machine for given options: the strict one, or with `repair` the lenient one. */

import { Machine } from "./machine.js";

/** @typedef {import("./machine.js").ParserOptions} ParserOptions */
/** @typedef {import("./machine.js").Sink} Sink */

/** Made known by `repair.js`, so that programs without it do not load it. @type {any} */
let Lenient = null;

/** @param {any} kind */
export function useLenient(kind) {
  Lenient = kind;
}

/**
 * The machine for these options.
 * @param {Sink} sink
 * @param {ParserOptions} [options]
 * @returns {Machine}
 */
export function createMachine(sink, { repair = false, onRepair, prefix = "", ...options } = {}) {
  if (typeof prefix !== "string") throw new TypeError("prefix is a text");
  if (repair !== false && Lenient === null) {
    throw new TypeError('repair needs import "jsonrill/repair"');
  }
  /** @type {Machine} */
  const machine = repair === false ? new Machine(sink, options) : new Lenient(sink, repair, onRepair, options);
  if (prefix !== "") machine.putBefore(prefix);
  return machine;
}

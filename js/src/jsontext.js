/** `JSON.parse` and `JSON.stringify` with exact numbers, at any depth. */

import { ValueBuilder } from "./build/builder.js";
import { Machine } from "./parse/machine.js";
import { ExactNumber } from "./parse/exact.js";
import { isObject } from "./parse/values.js";

// What a text has somewhere if one of its numbers may not survive. (Strings may have it too.)
const DOUBTFUL = /[0-9.]{16}|[0-9][eE]/;
const NO_LIMITS = { depth: Infinity, text: Infinity, string: Infinity, number: Infinity, keys: Infinity };

/**
 * `JSON.parse`, but a number that a double would change is an `ExactNumber` (or as `numbers` says).
 * SyntaxError as there.
 * @param {string} text
 * @param {import("./parse/values.js").Numbers} [numbers]
 * @returns {any}
 */
export function parse(text, numbers = ExactNumber) {
  const value = JSON.parse(text);
  if (numbers === "number" || !DOUBTFUL.test(text)) return value;
  const growing = new ValueBuilder();
  const machine = new Machine(growing, { numbers, limits: NO_LIMITS });
  machine.feed(text);
  machine.flush();
  return growing.live;
}

/**
 * `JSON.stringify`, but an `ExactNumber` or a BigInt is written as the number it is, in every engine,
 * and depth is no matter.
 * @param {any} value
 * @param {number | string} [indent] as in `JSON.stringify`
 * @returns {string}
 */
export function stringify(value, indent = 0) {
  const step = typeof indent === "string" ? indent.slice(0, 10) : " ".repeat(Math.max(0, Math.min(10, indent)));
  /** @type {string[]} */
  const out = [];
  /** @type {Level[]} */
  const levels = [];
  write(value, out, levels);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const line = step && "\n" + step.repeat(levels.length);
    if (level.at < level.size) {
      out.push(level.at ? "," : "", line);
      if (level.keys) out.push(JSON.stringify(level.keys[level.at]), step ? ": " : ":");
      const item = level.holder[level.keys ? level.keys[level.at] : level.at];
      level.at += 1;
      write(item, out, levels);
    } else {
      levels.pop();
      if (level.size) out.push(step && "\n" + step.repeat(levels.length));
      out.push(level.keys ? "}" : "]");
    }
  }
  return out.join("");
}

/** @typedef {{holder: any, keys: string[] | null, size: number, at: number}} Level */

/**
 * @param {any} value
 * @param {string[]} out
 * @param {Level[]} levels
 */
function write(value, out, levels) {
  if (value instanceof ExactNumber || typeof value === "bigint") {
    out.push(String(value));
  } else if (Array.isArray(value)) {
    out.push("[");
    levels.push({ holder: value, keys: null, size: value.length, at: 0 });
  } else if (isObject(value)) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    out.push("{");
    levels.push({ holder: value, keys, size: keys.length, at: 0 });
  } else if (Number.isInteger(value) && Math.abs(value) > 2 ** 53 && Math.abs(value) < 1e21) {
    // JavaScript would fill up with zeros, which say another integer to those who read it exactly.
    out.push(String(BigInt(value)));
  } else {
    out.push(JSON.stringify(value) ?? "null");
  }
}

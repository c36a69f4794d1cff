/** What is at a path in a value, and whether it is complete. */

import { parsePath } from "../paths.js";
import { isObject, own } from "../parse/values.js";

/** @typedef {import("../paths.js").Path} Path */

/**
 * What is at `path` in `value`; undefined if there is nothing.
 * @param {any} value
 * @param {Path} path
 */
export function lookup(value, path) {
  for (const step of path) {
    const fits = Array.isArray(value) ? typeof step === "number" : typeof step === "string";
    if (!fits || !(Array.isArray(value) || isObject(value))) return undefined;
    value = own(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/**
 * True if `value` has a value at `path` and the one at `open` is not inside it.
 * @param {any} value
 * @param {Path | string} path
 * @param {Path | null} open
 */
export function isComplete(value, path, open) {
  const steps = typeof path === "string" ? parsePath(path) : path;
  if (open !== null && steps.every((step, at) => step === open[at])) return false;
  return lookup(value, steps) !== undefined;
}

/**
 * The path of the last value in a value.
 * @param {any} value
 */
export function lastPath(value) {
  /** @type {Path} */
  const path = [];
  for (;;) {
    const last = Array.isArray(value) ? value.length - 1 : isObject(value) ? Object.keys(value).at(-1) : undefined;
    if (last === undefined || last === -1) return path;
    path.push(last);
    value = value[last];
  }
}

/** A value as it is at one moment, with what is complete in it. */

import { isComplete } from "./lookup.js";

/** @typedef {import("../paths.js").Path} Path */
/**
 * `openPath`: the path of the value that still grows; null if none does. `isComplete(path)`: true if
 * there is a value at the path (without one: at the root), and it is complete.
 * @typedef {{readonly openPath: Path | null, readonly isComplete: (path?: Path | string) => boolean}} Progress
 */
/**
 * `value` is what is known so far; once `complete` it is a `T`.
 * @template T
 * @typedef {Progress & ({readonly complete: true, readonly value: T} | {readonly complete: false,
 *   readonly value: import("./builder.js").DeepPartial<T>})} ValueState
 */

/**
 * @param {any} value
 * @param {Path | null} openPath
 * @returns {Progress}
 */
export function progress(value, openPath) {
  return { openPath, isComplete: (path = []) => isComplete(value, path, openPath) };
}

/** Nothing has arrived, whatever is shown until then. @type {Progress} */
export const NO_PROGRESS = { openPath: null, isComplete: () => false };

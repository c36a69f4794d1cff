/** What changes from one snapshot to another. */

import { lastPath } from "../js/src/build/lookup.js";
import { isObject } from "../js/src/parse/values.js";

/** @typedef {import("../js/src/paths.js").Path} Path */

/**
 * The path of the innermost value in which a value differs from another one; null if they are equal.
 * Of several members that differ, the last one counts. Where only the other one has more members, it
 * is the container.
 * @param {any} value
 * @param {any} other
 * @returns {Path | null}
 */
export function changedPath(value, other) {
  if (same(value, other)) return null;
  /** @type {Path} */
  const path = [];
  for (let [one, two] = [value, other]; ; ) {
    if (!areContainers(one, two)) return [...path, ...(two === undefined ? lastPath(one) : [])];
    const changed = keysOf(one).filter((step) => !Object.hasOwn(two, step) || !same(one[step], two[step]));
    const key = changed.at(-1);
    if (key === undefined) return path;
    path.push(key);
    [one, two] = [one[key], Object.hasOwn(two, key) ? two[key] : undefined];
  }
}

/**
 * True if both are the same JSON value.
 * @param {any} one
 * @param {any} other
 */
function same(one, other) {
  const work = [[one, other]];
  for (let pair = work.pop(); pair !== undefined; pair = work.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (!areContainers(left, right) || keysOf(left).length !== keysOf(right).length) return false;
    for (const key of keysOf(left)) {
      if (!Object.hasOwn(right, key)) return false;
      work.push([left[key], right[key]]);
    }
  }
  return true;
}

/**
 * @param {any} one
 * @param {any} other
 */
function areContainers(one, other) {
  return Array.isArray(one) ? Array.isArray(other) : isObject(one) && isObject(other);
}

/**
 * @param {any} container
 * @returns {(string | number)[]}
 */
function keysOf(container) {
  return Array.isArray(container) ? [...container.keys()] : Object.keys(container);
}

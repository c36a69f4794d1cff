/**
 * Deltas: what is new since the last update, as a list of `{op, path, value}` with `path` a JSON
 * Pointer. `append` adds text to a string; `add` and `replace` are those of RFC 6902.
 */

import { PathError, fromPointer } from "../paths.js";
import { copyOf, isObject, put } from "../parse/values.js";

/** @typedef {{op: "add" | "append" | "replace", path: string, value: any}} Change */

/** A delta that does not fit the value, or is none. */
export class DeltaError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "DeltaError";
  }
}

/**
 * `previous` with the changes of `delta` made. Neither is touched: containers on the way to a
 * change are copied, all others are shared with `previous`.
 * @param {any} previous what was there before; null or undefined before the first update
 * @param {Iterable<Change>} delta
 * @returns {any}
 */
export function applyDelta(previous, delta) {
  if (!Array.isArray(delta)) throw new DeltaError("a delta is a list of changes");
  let value = previous;
  const ours = new Set();
  for (const { op, path: pointer, value: fresh } of delta.map(read)) {
    const path = located(pointer, value);
    const last = path.pop();
    if (last === undefined) {
      value = op === "append" ? appended(value, fresh, pointer) : fresh;
      continue;
    }
    let holder = (value = mine(value, ours));
    for (const step of path) {
      const inner = mine(holder[step], ours);
      put(holder, /** @type {any} */ (step), inner);
      holder = inner;
    }
    set(holder, last, op, fresh, pointer);
  }
  return value;
}

/**
 * @param {unknown} change
 * @returns {Change}
 */
function read(change) {
  if (!isObject(change) || !["op", "path", "value"].every((name) => Object.hasOwn(change, name))) {
    throw new DeltaError("a change has an op, a path and a value");
  }
  const { op, path } = change;
  if (!["add", "append", "replace"].includes(op) || typeof path !== "string") {
    throw new DeltaError("a change has an op of add, append or replace, and a JSON Pointer");
  }
  return /** @type {Change} */ (change);
}

/**
 * @param {string} pointer
 * @param {any} value
 */
function located(pointer, value) {
  try {
    return fromPointer(pointer, value);
  } catch (error) {
    throw error instanceof PathError ? new DeltaError(error.message) : error;
  }
}

/**
 * A container that is ours to write in.
 * @param {any} container
 * @param {Set<any>} ours
 */
function mine(container, ours) {
  if (ours.has(container)) return container;
  const copy = copyOf(container);
  ours.add(copy);
  return copy;
}

/**
 * @param {any} holder
 * @param {any} step
 * @param {string} op
 * @param {any} fresh
 * @param {string} pointer
 */
function set(holder, step, op, fresh, pointer) {
  if (op === "add") {
    if (!Array.isArray(holder)) put(holder, step, fresh);
    else if (step === holder.length) holder.push(fresh);
    else if (step < holder.length) holder.splice(step, 0, fresh);
    else throw new DeltaError(`there is no place for ${JSON.stringify(pointer)}`);
  } else if (!Object.hasOwn(holder, step)) {
    throw new DeltaError(`there is no ${JSON.stringify(pointer)}`);
  } else {
    put(holder, step, op === "append" ? appended(holder[step], fresh, pointer) : fresh);
  }
}

/**
 * @param {any} old
 * @param {any} fresh
 * @param {string} pointer
 */
function appended(old, fresh, pointer) {
  if (typeof old !== "string" || typeof fresh !== "string") {
    throw new DeltaError(`text is appended to a string: ${JSON.stringify(pointer)}`);
  }
  return old + fresh;
}

/**
 * Operations: what turns one JSON value into another.
 *
 *     ["set", "/steps/0", {"title": "Book"}]      a member, an element or the root
 *     ["append", "/steps/0/title", " a flight"]   text at the end of a string
 *     ["splice", "/steps", 1, 2, []]              characters of a string, elements of a list
 *     ["remove", "/status"]                       a member or an element
 *
 * No value is changed in place: the containers on the path to a change are copied, the rest is shared.
 */

import { InvalidMessage } from "./errors.js";
import { copyOf, isObject, put } from "./parse/values.js";

/**
 * An operation on a value.
 * @typedef {["set", string, any] | ["append", string, string] | ["remove", string]
 *   | ["splice", string, number, number, string | any[]]} Operation
 */

/** The most levels of a value, and characters of a string. */
export const LIMITS = { depth: 256, string: 16 * 2 ** 20 };
/** How many items each operation on a value has. @type {{[name: string]: number}} */
export const LENGTHS = { set: 3, append: 3, splice: 5, remove: 2 };
export const SURROGATE = /[\ud800-\udfff]/;
const INDEX = /^(0|[1-9][0-9]{0,15})$/;

/**
 * `previous` after the operations. Neither is changed.
 * @param {any} previous
 * @param {Operation[]} delta
 * @returns {any}
 */
export function applyDelta(previous, delta) {
  if (!Array.isArray(delta)) refuse(delta, "is not a list of operations");
  const patch = new Patch(previous);
  for (const operation of delta) patch.apply(operation);
  return patch.value;
}

/** Applies operations to a value, after copying the containers that they change. */
export class Patch {
  /** @type {any[]} */
  #root;
  #limits;
  // The containers that were copied here.
  #own = new Set();

  /**
   * @param {any} value
   * @param {typeof LIMITS} [limits]
   */
  constructor(value, limits = LIMITS) {
    this.#root = [value];
    this.#limits = limits;
  }

  get value() {
    return this.#root[0];
  }

  /** @param {any} operation */
  apply(operation) {
    if (!isOperation(operation)) refuse(operation, "is not an operation");
    const [name, pointer, ...rest] = operation;
    const [levels, parent, key] = this.#locate(pointer);
    const exists = Object.hasOwn(parent, key) && (name !== "remove" || parent !== this.#root);
    if (name === "set") {
      checkValue(rest[0], levels, this.#limits);
      put(parent, key, rest[0]);
    } else if (!exists) {
      refuse(pointer, "does not exist");
    } else if (name === "append") {
      put(parent, key, this.#appended(parent[key], rest[0]));
    } else if (name === "splice") {
      put(parent, key, this.#spliced(parent[key], levels, rest[0], rest[1], rest[2]));
    } else if (Array.isArray(parent)) {
      parent.splice(key, 1);
    } else {
      delete parent[key];
    }
  }

  /**
   * How many levels are left below `pointer`, and the container and the key there.
   * @param {any} pointer
   * @returns {[number, any, any]}
   */
  #locate(pointer) {
    const tokens = tokensOf(pointer, this.#limits.depth);
    /** @type {any} */
    let parent = this.#root;
    /** @type {any} */
    let key = 0;
    for (const token of tokens) {
      let container = Object.hasOwn(parent, key) ? parent[key] : undefined;
      if (typeof container !== "object" || container === null) refuse(pointer, "does not exist");
      if (!this.#own.has(container)) {
        container = copyOf(container);
        this.#own.add(container);
        put(parent, key, container);
      }
      [parent, key] = [container, token];
      if (Array.isArray(parent)) {
        if (!INDEX.test(token) || Number(token) > parent.length) refuse(pointer, "does not exist");
        key = Number(token);
      }
    }
    return [this.#limits.depth - tokens.length, parent, key];
  }

  /**
   * @param {any} old
   * @param {any} text
   */
  #appended(old, text) {
    if (typeof old !== "string" || typeof text !== "string") refuse(text, "does not fit the value");
    checkValue(old + text, 0, this.#limits);
    return old + text;
  }

  /**
   * @param {any} old
   * @param {number} levels
   * @param {any} start
   * @param {any} count
   * @param {any} added
   */
  #spliced(old, levels, start, count, added) {
    const isText = typeof old === "string" && typeof added === "string";
    if (!isText && !(Array.isArray(old) && Array.isArray(added))) refuse(added, "does not fit the value");
    const units = isText && SURROGATE.test(old) ? Array.from(old) : old; // code points
    if (![start, count].every((at) => Number.isSafeInteger(at) && at >= 0) || start + count > units.length) {
      refuse([start, count], "does not fit the value");
    }
    const [head, tail] = [units.slice(0, start), units.slice(start + count)];
    const text = (/** @type {any} */ part) => (typeof part === "string" ? part : part.join(""));
    const result = isText ? text(head) + added + text(tail) : [...head, ...added, ...tail];
    checkValue(isText ? result : added, levels, this.#limits);
    return result;
  }
}

/**
 * True if this has the form of an operation on the value.
 * @param {any} operation
 * @returns {operation is Operation}
 */
export function isOperation(operation) {
  if (!Array.isArray(operation) || typeof operation[0] !== "string") return false;
  return Object.hasOwn(LENGTHS, operation[0]) && LENGTHS[operation[0]] === operation.length;
}

/**
 * Throw for a value that is too deep or has a string that is too long.
 * @param {any} value
 * @param {number} levels
 * @param {typeof LIMITS} limits
 */
export function checkValue(value, levels, limits) {
  for (let layer = [value]; layer.length !== 0; levels -= 1) {
    const inner = [];
    let isDeeper = false;
    for (const item of layer) {
      if (typeof item === "string" && item.length > limits.string) refuse(item, "is too long");
      if (typeof item !== "object" || item === null) continue;
      isDeeper = true;
      for (const child of Array.isArray(item) ? item : Object.values(item)) inner.push(child);
    }
    if (isDeeper && levels === 0) throw new InvalidMessage(`a value has more than ${limits.depth} levels`);
    layer = inner;
  }
}

/**
 * The keys of a JSON Pointer.
 * @param {any} pointer
 * @param {number} [limit]
 * @returns {string[]}
 */
export function tokensOf(pointer, limit = LIMITS.depth) {
  if (pointer === "") return [];
  if (typeof pointer !== "string" || pointer[0] !== "/" || /~(?![01])/.test(pointer)) {
    refuse(pointer, "is not a JSON Pointer");
  }
  const tokens = pointer.slice(1).split("/");
  if (tokens.length > limit) refuse(pointer, `has more than ${limit} levels`);
  return tokens.map((/** @type {string} */ token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * True if there is a value at this JSON Pointer.
 * @param {any} value
 * @param {any} pointer
 */
export function exists(value, pointer) {
  for (const token of tokensOf(pointer)) {
    const isThere = Array.isArray(value)
      ? INDEX.test(token) && Number(token) < value.length
      : isObject(value) && Object.hasOwn(value, token);
    if (!isThere) return false;
    value = value[token];
  }
  return true;
}

/**
 * True if one pointer leads to the value at another, or to a container around it.
 * @param {string} outer
 * @param {string} inner
 */
export function contains(outer, inner) {
  return inner === outer || inner.startsWith(outer + "/");
}

/**
 * @param {unknown} what
 * @param {string} why
 * @returns {never}
 */
export function refuse(what, why) {
  throw new InvalidMessage(`${String(JSON.stringify(what)).slice(0, 80)} ${why}`);
}

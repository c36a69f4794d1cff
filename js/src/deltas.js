/**
 * Operations that turn one JSON value into another.
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
export const SURROGATE = /[\ud800-\udfff]/;
// How many items each operation on a value has.
/** @type {{[name: string]: number}} */
const LENGTHS = { set: 3, append: 3, splice: 5, remove: 2 };
const INDEX = /^(0|[1-9][0-9]{0,15})$/;

/**
 * Return the value after the operations. Neither argument is changed.
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

/** @param {any} operation */
function isOperation(operation) {
  if (!Array.isArray(operation) || typeof operation[0] !== "string") return false;
  return Object.hasOwn(LENGTHS, operation[0]) && LENGTHS[operation[0]] === operation.length;
}

/** A value that operations change. It copies each container before its first change. */
export class Patch {
  /** @type {any[]} */
  #root;
  #limits;
  // The containers that were copied since the value was read.
  #own = new WeakSet();

  /**
   * @param {any} value
   * @param {typeof LIMITS} [limits]
   */
  constructor(value, limits = LIMITS) {
    this.#root = [value];
    this.#limits = limits;
  }

  get value() {
    this.#own = new WeakSet();
    return this.#root[0];
  }

  /** @param {Operation} operation */
  apply(operation) {
    if (!isOperation(operation)) refuse(operation, "is not an operation");
    const [name, pointer, ...rest] = operation;
    const [levels, parent, key] = this.#locate(pointer);
    const old = Object.hasOwn(parent, key) ? parent[key] : undefined;
    if (name === "set") put(parent, key, this.#check(rest[0], levels));
    else if (old === undefined || (name === "remove" && parent === this.#root)) refuse(pointer, "does not exist");
    else if (name === "append") {
      if (typeof old !== "string" || typeof rest[0] !== "string") refuse(rest[0], "cannot be appended");
      put(parent, key, this.#check(old + rest[0], 0));
    } else if (name === "splice") put(parent, key, this.#check(replacePart(old, rest), levels));
    else if (Array.isArray(parent)) parent.splice(key, 1);
    else delete parent[key];
  }

  /**
   * Return how many levels are left below `pointer`, and the container and the key there.
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
      parent = container;
      key = Array.isArray(parent) ? indexOf(token) : token;
      if (Array.isArray(parent) && !(key <= parent.length)) refuse(pointer, "does not exist");
    }
    return [this.#limits.depth - tokens.length, parent, key];
  }

  /**
   * Return the value, unless it is too deep or has a string that is too long.
   * @param {any} value
   * @param {number} levels
   */
  #check(value, levels) {
    if (typeof value === "string" && value.length > this.#limits.string) refuse([], "has a string that is too long");
    if (typeof value !== "object" || value === null) return value;
    if (levels === 0) refuse([], `has more than ${this.#limits.depth} levels`);
    for (const item of Array.isArray(value) ? value : Object.values(value)) this.#check(item, levels - 1);
    return value;
  }
}

/** @param {string} token */
function indexOf(token) {
  return INDEX.test(token) ? Number(token) : Number.NaN;
}

/**
 * Return a text or list with a part replaced.
 * @param {any} old
 * @param {any[]} splice
 */
function replacePart(old, [start, count, added]) {
  const isText = typeof old === "string" && typeof added === "string";
  if (!isText && !(Array.isArray(old) && Array.isArray(added))) refuse(added, "does not fit the value");
  const from = isText ? unitsTo(old, 0, start) : start;
  const to = isText ? unitsTo(old, from, count) : start + count;
  const areSizes = [start, count].every((size) => Number.isSafeInteger(size) && size >= 0);
  if (!areSizes || to > old.length) refuse(added, "does not fit the value");
  const [head, tail] = [old.slice(0, from), old.slice(to)];
  return isText ? head + added + tail : [...head, ...added, ...tail];
}

/**
 * Return the index that is so many code points after another one; if there are fewer, an index after the end.
 * @param {string} text
 * @param {number} index
 * @param {number} count
 */
function unitsTo(text, index, count) {
  if (!SURROGATE.test(text)) return index + count;
  for (; count > 0 && index < text.length; count -= 1) index += /** @type {number} */ (text.codePointAt(index)) > 0xffff ? 2 : 1;
  return index + count;
}

/**
 * Return the keys of a JSON Pointer.
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
 * Return the value at this JSON Pointer; undefined if there is none.
 * @param {any} value
 * @param {any} pointer
 */
export function valueAt(value, pointer) {
  for (const token of tokensOf(pointer)) {
    const isThere = Array.isArray(value) ? indexOf(token) < value.length : isObject(value) && Object.hasOwn(value, token);
    if (!isThere) return undefined;
    value = value[token];
  }
  return value;
}

/**
 * Return true if one pointer leads to the value at another, or to a container around it.
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
  const subject = typeof what === "object" ? "the message" : String(JSON.stringify(what)).slice(0, 80);
  throw new InvalidMessage(`${subject} ${why}`);
}

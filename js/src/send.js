/**
 * The sending end of the wire for growing JSON (docs/wire.md): a value in, small messages out.
 */

import { contains, LIMITS, SURROGATE, valueAt } from "./deltas.js";
import { InvalidJSON, JsonrillError, LimitExceeded, SourceFailed, StreamClosed } from "./errors.js";
import { Parser } from "./fragments.js";
import { isObject, put } from "./parse/values.js";
import { toPointer } from "./paths.js";
import { elementsOf, isError, Receiver } from "./receive.js";

/** @typedef {import("./deltas.js").Operation} Operation */
/** @typedef {import("./receive.js").Message} Message */
/** @typedef {import("./receive.js").WireError} WireError */
/** @typedef {{numbered?: boolean, ordered?: boolean, frozen?: boolean}} SenderOptions */

// A splice that keeps fewer characters is longer than a `set` of the new string.
const MIN_KEPT = 24;
const LOW = /[\udc00-\udfff]/;
// The fragments that begin a value, and the values that the first three begin with.
const VALUE = /^(Start|Complete(Number|Boolean|Null))/;
/** @type {{[kind: string]: any}} */
const EMPTY = { StartObject: {}, StartArray: [], StartString: "" };

/**
 * Turns successive states of one value into messages. A state may be the same object, changed in place; `frozen`
 * promises that it is not, and makes parts that two states share cheap. `ordered` promises that states grow in
 * document order. `numbered: false` leaves the numbers out, for transports that lose nothing.
 */
export class Sender {
  // The state that every receiver has.
  #copy = new Receiver();
  // The last state: the next one may share parts with it, which are not compared.
  /** @type {any} */
  #state = null;
  #numbered;
  #copies;

  /** @param {SenderOptions} [options] */
  constructor({ numbered = true, ordered = false, frozen = false } = {}) {
    this.#copy.ordered = ordered;
    this.#numbered = numbered;
    this.#copies = frozen ? new WeakMap() : undefined;
  }

  get ended() {
    return this.#copy.ended;
  }

  /**
   * Return the message for this state, null if nothing is new. `done` are JSON Pointers of values that are final from
   * now on; a state that changes one of them is refused.
   * @param {any} state
   * @param {string[]} [done]
   * @returns {Message | null}
   */
  feed(state, done = []) {
    const { n, done: known } = this.#copy;
    const old = this.#state;
    const value = copyPlain(state, this.#copies);
    const changed = known.find((mark) => difference(valueAt(old, mark), valueAt(value, mark)).length > 0);
    if (changed !== undefined) throw new TypeError(`the state changes ${changed}, which is done`);
    const marks = done.filter((pointer) => !known.some((mark) => contains(mark, pointer)));
    const operations = n === 0 ? [["set", "", value]] : difference(old, value);
    const message = this.write([...operations, ...marks.map((mark) => ["done", mark])]);
    this.#state = value;
    return message;
  }

  /**
   * Return the last message: everything is final, or `error` says why it is not.
   * @param {WireError | Error | null} [error]
   * @returns {Message}
   */
  end(error = null) {
    const isForeign = error instanceof Error && !(error instanceof JsonrillError);
    const problem = error === null ? null : copyPlain(isForeign ? new SourceFailed("the source failed") : error);
    if (problem !== null && !isError(problem)) throw new TypeError("an error has a code and a message");
    return /** @type {Message} */ (this.write([problem === null ? ["end"] : ["error", problem]]));
  }

  /** Return the message for a receiver that joins now; null before the first state. @returns {Message | null} */
  snapshot() {
    const { n, value = null, last, done, ordered, ended, error } = this.#copy;
    if (n === 0) return null;
    return {
      n,
      value,
      ...(last !== null && { last }),
      ...(done.length > 0 && { done }),
      ...(ordered && { ordered }),
      ...(error === null ? ended && { end: true } : { error }),
    };
  }

  /**
   * Return the message with these steps; null if there are none.
   * @param {any[]} steps
   * @returns {Message | null}
   */
  write(steps) {
    if (this.ended) throw new StreamClosed("the stream is closed");
    if (steps.length === 0) return null;
    let { last } = this.#copy;
    this.#copy.advance(steps);
    if (this.#copy.n === 1) {
      this.#copy.last = null;
      return this.snapshot();
    }
    const short = steps.map((step) => {
      const isShort = step[0] === "append" && step[1] === last;
      last = step[1];
      return isShort ? step[2] : step;
    });
    if (this.#numbered) return [this.#copy.n, ...short];
    return short.length === 1 && typeof short[0] === "string" ? short[0] : short;
  }
}

/**
 * Return a deep copy, as `JSON.stringify` would write it. NaN and too many levels are errors.
 * @param {any} value
 * @param {WeakMap<object, any>} [copies] copies of objects that do not change
 * @param {number} [levels]
 * @returns {any}
 */
function copyPlain(value, copies, levels = LIMITS.depth) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value?.toJSON === "function") return copyPlain(value.toJSON(), copies, levels);
  if (typeof value !== "object") throw new TypeError(`${String(value)} is not a JSON value`);
  if (levels === 0) throw new TypeError(`the value has more than ${LIMITS.depth} levels, or contains itself`);
  let copy = copies?.get(value);
  if (copy !== undefined) return copy;
  if (Array.isArray(value)) {
    copy = Array.from(value, (item) => copyPlain(isMember(item) ? item : null, copies, levels - 1));
  } else {
    copy = {};
    for (const key of Object.keys(value)) if (isMember(value[key])) put(copy, key, copyPlain(value[key], copies, levels - 1));
  }
  copies?.set(value, copy);
  return copy;
}

/** Return true if JSON has a member with this value. @param {any} value */
function isMember(value) {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}

// ---- difference ----

/**
 * Return operations that turn `old` into `fresh`, both of JSON types; `applyDelta` is the inverse.
 * @param {any} old
 * @param {any} fresh
 * @returns {Operation[]}
 */
export function difference(old, fresh) {
  if (old === fresh) return [];
  if (typeof old === "string" && typeof fresh === "string") return compareStrings(old, fresh);
  if (Array.isArray(old) && Array.isArray(fresh)) return compareLists(old, fresh);
  return isObject(old) && isObject(fresh) ? compareObjects(old, fresh) : [["set", "", fresh]];
}

/**
 * @param {{[key: string]: any}} old
 * @param {{[key: string]: any}} fresh
 * @returns {Operation[]}
 */
function compareObjects(old, fresh) {
  const [before, after] = [Object.keys(old), Object.keys(fresh)];
  const removed = before.filter((key) => !Object.hasOwn(fresh, key));
  if (removed.length === before.length && before.length + after.length > 1) return [["set", "", fresh]];
  /** @type {Operation[]} */
  const operations = removed.map((key) => ["remove", toPointer([key])]);
  for (const key of after) {
    if (!Object.hasOwn(old, key)) operations.push(["set", toPointer([key]), fresh[key]]);
    else operations.push(...inside(key, difference(old[key], fresh[key])));
  }
  return operations;
}

/**
 * @param {any[]} old
 * @param {any[]} fresh
 * @returns {Operation[]}
 */
function compareLists(old, fresh) {
  const [front, back] = commonEnds(old, fresh);
  const shorter = Math.min(old.length, fresh.length);
  const operations = [];
  let at = front;
  for (; at < shorter - back; at += 1) operations.push(...inside(at, difference(old[at], fresh[at])));
  const [count, added] = [old.length - back - at, fresh.slice(at, fresh.length - back)];
  if (count === 0 && added.length === 1 && at + 1 === fresh.length) operations.push(["set", `/${at}`, added[0]]);
  else if (count > 0 || added.length > 0) operations.push(["splice", "", at, count, added]);
  return /** @type {Operation[]} */ (operations);
}

/**
 * Return how many items at the beginning and at the end are equal.
 * @param {any} old
 * @param {any} fresh
 */
function commonEnds(old, fresh) {
  const shorter = Math.min(old.length, fresh.length);
  let front = 0;
  while (front < shorter && isEqual(old[front], fresh[front])) front += 1;
  let back = 0;
  while (back < shorter - front && isEqual(old.at(-1 - back), fresh.at(-1 - back))) back += 1;
  return [front, back];
}

/**
 * @param {any} old
 * @param {any} fresh
 * @returns {boolean}
 */
function isEqual(old, fresh) {
  if (old === fresh) return true;
  const areLists = Array.isArray(old) && Array.isArray(fresh);
  if (!areLists && !(isObject(old) && isObject(fresh))) return false;
  const keys = Object.keys(old);
  if (keys.length !== Object.keys(fresh).length) return false;
  return keys.every(
    (key) => Object.hasOwn(fresh, key) && isEqual(/** @type {any} */ (old)[key], /** @type {any} */ (fresh)[key]),
  );
}

/**
 * @param {string} old
 * @param {string} fresh
 * @returns {Operation[]}
 */
function compareStrings(old, fresh) {
  const isPair = LOW.test(fresh.charAt(old.length)); // it may be a pair with the end of `old`
  if (fresh.startsWith(old) && !isPair) return [["append", "", fresh.slice(old.length)]];
  /** @type {any[]} Code points. */
  const [before, after] = SURROGATE.test(old + fresh) ? [Array.from(old), Array.from(fresh)] : [old, fresh];
  const [front, back] = commonEnds(before, after);
  if (front + back < MIN_KEPT) return [["set", "", fresh]];
  const added = after.slice(front, after.length - back);
  return [["splice", "", front, before.length - front - back, typeof added === "string" ? added : added.join("")]];
}

/**
 * Turn operations on a member or element into operations on its container.
 * @param {string | number} key
 * @param {Operation[]} operations
 */
function inside(key, operations) {
  for (const operation of operations) operation[1] = toPointer([key]) + operation[1];
  return operations;
}

// ---- text ----

/**
 * Return the operations of fragments. What is inside a value that begins here needs no operation of its own.
 * @param {import("./fragments.js").Fragment[]} fragments
 */
function operationsOf(fragments) {
  /** @type {any[]} */
  const operations = [];
  // The values that begin here, by their pointers.
  const fresh = new Map();
  for (const { kind, path, text, value } of fragments) {
    const pointer = toPointer(path);
    const key = /** @type {any} */ (path.at(-1));
    const parent = path.length === 0 ? undefined : fresh.get(pointer.slice(0, pointer.lastIndexOf("/")));
    const last = operations.at(-1);
    if (kind === "PartialString") {
      if (parent !== undefined) put(parent, key, parent[key] + text);
      else if (last?.[1] === pointer) last[2] += text;
      else operations.push(["append", pointer, text]);
    } else if (VALUE.test(kind)) {
      const started = Object.hasOwn(EMPTY, kind) ? structuredClone(EMPTY[kind]) : value;
      if (parent === undefined) operations.push(["set", pointer, started]);
      else put(parent, key, started);
      fresh.set(pointer, started);
    }
  }
  return operations;
}

/**
 * Yield the messages that keep a remote copy of a growing value in sync. The source is JSON text in pieces; with `states`
 * it yields the states of a value. Invalid text ends the messages with an error. So does a source that fails; its error is
 * then thrown, too.
 * @param {any} source
 * @param {import("./parse/machine.js").ParserOptions & SenderOptions & {states?: boolean}} [options]
 * @returns {AsyncGenerator<Message, void, undefined>}
 */
export async function* send(source, { states = false, numbered, ordered, frozen, ...options } = {}) {
  const sender = new Sender({ numbered, ordered: ordered || !states, frozen });
  const parser = new Parser(states ? {} : options);
  try {
    for await (const element of elementsOf(source)) {
      const message = states ? sender.feed(element) : sender.write(operationsOf(parser.feed(element)));
      if (message !== null) yield message;
    }
    const message = states ? null : sender.write(operationsOf(parser.flush()));
    if (message !== null) yield message;
    yield sender.end();
  } catch (error) {
    const isText = error instanceof InvalidJSON || error instanceof LimitExceeded;
    const message = isText && !sender.ended ? sender.write(operationsOf(error.fragments ?? [])) : null;
    if (message !== null) yield message;
    if (!sender.ended) yield sender.end(/** @type {Error} */ (error));
    if (!isText) throw error;
  }
}

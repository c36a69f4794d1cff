/**
 * A value that grows: events in, `live` and `value` out.
 *
 * `live` is one object that is changed in place. `value` is safe to keep: looking at it copies the
 * open containers, all else is shared. When a container is complete and has not changed since it was
 * copied, the copy takes its place, so that a subtree that did not change stays the same object
 * (`===`) in every value. A value that is not read costs nothing but itself.
 */

import { lookup, parsePath } from "./paths.js";
import { put } from "./values.js";

/** @typedef {import("./paths.js").Path} Path */
/**
 * `T` while it arrives: members may be missing, a list may be shorter, a string may be a beginning.
 * @template T
 * @typedef {T extends string | number | boolean | bigint | null | undefined ? T
 *   : T extends readonly (infer U)[] ? DeepPartial<U>[]
 *   : T extends object ? {[K in keyof T]?: DeepPartial<T[K]>}
 *   : T} DeepPartial
 */


/** The growing value: a sink of the machine, and what a Rebuilder writes to. */
export class Growing {
  /** @type {any} */
  live = undefined;
  /** Grows with every change of the value. */
  version = 0;
  complete = false;
  /** With many documents: values that changed and were then left. @type {any[]} */
  finished = [];
  /** The version up to which everything was told, see `finished`. */
  told = 0;
  // The open containers from the root inward, the last of them, and the key of its last member.
  /** @type {any[]} */
  #spine = [];
  /** @type {string[]} */
  #keys = [];
  /** @type {any} */
  #inner = undefined;
  #isArray = false;
  #key = "";
  // The open string.
  #isOpen = false;
  #text = "";
  // Copies of the open containers, made when `value` was looked at in this version.
  /** @type {any[]} */
  #copies = [];
  #copied = -1;

  get started() {
    return this.live !== undefined;
  }

  /** The current value, which never changes: copies of the open containers, the rest is shared. */
  get value() {
    if (this.#spine.length === 0) return this.#copied === this.version ? this.#copies[0] : this.live;
    if (this.#copied !== this.version) this.#copy();
    return this.#copies[0];
  }

  #copy() {
    const copies = this.#spine.map((one) => (Array.isArray(one) ? one.slice() : { ...one }));
    for (let depth = copies.length - 1; depth > 0; depth -= 1) {
      const outer = copies[depth - 1];
      if (Array.isArray(outer)) outer[outer.length - 1] = copies[depth];
      else put(outer, this.#keys[depth], copies[depth]);
    }
    this.#copies = copies;
    this.#copied = this.version;
  }

  /**
   * The path of the innermost value that still grows; null if there is none.
   * @returns {Path | null}
   */
  get openPath() {
    const { length } = this.#spine;
    if (length === 0) return this.#isOpen ? [] : null;
    const depths = this.#isOpen ? length : length - 1;
    return this.#spine
      .slice(0, depths)
      .map((one, depth) =>
        Array.isArray(one) ? one.length - 1 : (this.#keys[depth + 1] ?? this.#key),
      );
  }

  /**
   * True if there is a value at `path` and it is complete.
   * @param {Path | string} path
   */
  isComplete(path) {
    return isComplete(this.live, path, this.openPath);
  }

  startObject() {
    this.#open({}, false);
  }

  startArray() {
    this.#open([], true);
  }

  endContainer() {
    const copy = this.#copied === this.version ? this.#copies.pop() : undefined;
    this.#spine.pop();
    const key = /** @type {string} */ (this.#keys.pop());
    const { length } = this.#spine;
    this.#inner = this.#spine[length - 1];
    this.#isArray = Array.isArray(this.#inner);
    this.#key = key;
    if (copy === undefined) return;
    if (length === 0) this.#copies.push(copy);
    else this.#replace(copy);
  }

  /** @param {string} key */
  key(key) {
    this.#key = key;
  }

  startString() {
    this.#isOpen = true;
    this.#text = "";
    this.scalar("");
  }

  /** @param {string} run */
  text(run) {
    this.version += 1;
    this.#replace((this.#text += run));
  }

  endString() {
    this.#isOpen = false;
    this.#text = "";
  }

  /**
   * End the open string as `value`, for senders whose partial texts were provisional.
   * @param {string} value
   */
  endStringAs(value) {
    if (value !== this.#text) {
      this.version += 1;
      this.#replace(value);
    }
    this.endString();
  }

  /** @param {any} value */
  scalar(value) {
    this.version += 1;
    const inner = this.#inner;
    if (this.#isArray) inner.push(value);
    else if (inner === undefined) this.live = value;
    else put(inner, this.#key, value);
  }

  endDocument() {
    this.complete = true;
  }

  nextDocument() {
    if (this.version !== this.told) this.finished.push(this.value);
    this.told = this.version += 1;
    this.live = this.#inner = undefined;
    this.complete = this.#isOpen = this.#isArray = false;
    this.#spine = [];
    this.#keys = [];
  }

  /**
   * @param {any} container
   * @param {boolean} isArray
   */
  #open(container, isArray) {
    this.scalar(container);
    this.#spine.push(container);
    this.#keys.push(this.#key);
    this.#inner = container;
    this.#isArray = isArray;
  }

  /** Put another value in place of the last one. @param {any} value */
  #replace(value) {
    const inner = this.#inner;
    if (this.#isArray) inner[inner.length - 1] = value;
    else if (inner === undefined) this.live = value;
    else put(inner, this.#key, value);
  }
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

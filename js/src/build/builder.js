/**
 * A value that grows: events in, `live` and `value` out.
 *
 * `live` is one object that is changed in place. `value` is safe to keep: looking at it copies the
 * open containers, all else is shared. When a container is complete and has not changed since it was
 * copied, the copy takes its place, so that a subtree that did not change stays the same object
 * (`===`) in every value. A value that is not read costs nothing but itself.
 */

import { copyOf, put } from "../parse/values.js";

/** @typedef {import("../paths.js").Path} Path */
/**
 * `T` while it arrives: members may be missing, a list may be shorter, a string may be a beginning.
 * @template T
 * @typedef {T extends string | number | boolean | bigint | null | undefined ? T
 *   : T extends readonly (infer U)[] ? DeepPartial<U>[]
 *   : T extends object ? {[K in keyof T]?: DeepPartial<T[K]>}
 *   : T} DeepPartial
 */

/** The growing value: a sink of the machine, and what a Rebuilder writes to. */
export class ValueBuilder {
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
  _spine = [];
  /** @type {string[]} */
  _keys = [];
  /** @type {any} */
  _inner = undefined;
  _isArray = false;
  _key = "";
  // The open string.
  _isOpen = false;
  _text = "";
  // Copies of the open containers, made when `value` was looked at in this version.
  /** @type {any[]} */
  #copies = [];
  #copied = -1;

  /** True if a value has begun. */
  get started() {
    return this.live !== undefined;
  }

  /** Another piece is read: what it changes is told with it. */
  begin() {
    this.told = this.version;
    if (this.finished.length !== 0) this.finished = [];
  }

  /** True if the value changed since `begin`. */
  get changed() {
    return this.version !== this.told;
  }

  /** The current value, which never changes: copies of the open containers, the rest is shared. */
  get value() {
    if (this.#copied !== this.version) {
      if (this._spine.length === 0) return this.live;
      this.#copy();
    }
    return this.#copies[0];
  }

  #copy() {
    const spine = this._spine;
    let depth = spine.length - 1;
    const copies = new Array(depth + 1);
    let inner = (copies[depth] = copyOf(spine[depth]));
    while (depth > 0) {
      const key = this._keys[depth];
      depth -= 1;
      const around = spine[depth];
      if (!Array.isArray(around)) {
        // An engine copies fast where it meets few shapes, so not all are copied in one place.
        const copy = depth & 1 ? { ...around } : { ...spine[depth] };
        put(copy, key, inner);
        inner = copy;
      } else if (around.length === 2) {
        inner = [around[0], inner]; // in half the time of a slice
      } else {
        const copy = around.slice();
        copy[copy.length - 1] = inner;
        inner = copy;
      }
      copies[depth] = inner;
    }
    this.#copies = copies;
    this.#copied = this.version;
  }

  startObject() {
    this.#open({}, false);
  }

  startArray() {
    this.#open([], true);
  }

  endContainer() {
    const copy = this.#copied === this.version ? this.#copies.pop() : undefined;
    this._spine.pop();
    const key = /** @type {string} */ (this._keys.pop());
    const { length } = this._spine;
    this._inner = this._spine[length - 1];
    this._isArray = Array.isArray(this._inner);
    this._key = key;
    if (copy === undefined) return;
    if (length === 0) this.#copies.push(copy);
    else this._replace(copy);
  }

  /** @param {string} key */
  key(key) {
    this._key = key;
  }

  startString() {
    this._isOpen = true;
    this._text = "";
    this._put("");
  }

  /** @param {string} run */
  text(run) {
    this.version += 1;
    this._replace((this._text += run));
  }

  endString() {
    this._isOpen = false;
    this._text = "";
  }

  /** @param {any} value */
  scalar(value) {
    this._put(value);
  }

  /** A value begins, or comes at once. @param {any} value */
  _put(value) {
    this.version += 1;
    const inner = this._inner;
    if (this._isArray) inner.push(value);
    else if (inner === undefined) this.live = value;
    else put(inner, this._key, value);
  }

  endDocument() {
    this.complete = true;
  }

  nextDocument() {
    if (this.version !== this.told) this.finished.push(this.value);
    this.told = this.version += 1;
    this.live = this._inner = undefined;
    this.complete = this._isOpen = this._isArray = false;
    this._spine = [];
    this._keys = [];
  }

  /**
   * @param {any} container
   * @param {boolean} isArray
   */
  #open(container, isArray) {
    this._put(container);
    this._spine.push(container);
    this._keys.push(this._key);
    this._inner = container;
    this._isArray = isArray;
  }

  /** Put another value in place of the last one. @param {any} value */
  _replace(value) {
    const inner = this._inner;
    if (this._isArray) inner[inner.length - 1] = value;
    else if (inner === undefined) this.live = value;
    else put(inner, this._key, value);
  }
}

/**
 * A value that grows: events in, `live` and `value` out.
 *
 * `live` is one object that is changed in place. `value` is safe to keep: reading it copies the open
 * containers, the rest is shared. When a container completes and has not changed since it was copied, the
 * copy takes its place, so that a subtree that did not change stays the same object (`===`) in every value.
 * A value that is not read is not copied.
 */

import { isComplete } from "../paths.js";
import { pathOf } from "../parse/machine.js";
import { copyOf, put } from "../parse/values.js";

/** @import { Frame } from "../parse/machine.js" */
/** @import { Path } from "../paths.js" */
/**
 * `T` while it arrives: members may be missing, a list may be shorter, a string may be a beginning. A tuple
 * stays a tuple.
 * @template T
 * @typedef {T extends string | number | boolean | bigint | null | undefined ? T
 *   : T extends readonly [any, ...any] | readonly [] ? {[K in keyof T]?: DeepPartial<T[K]>}
 *   : T extends readonly (infer U)[] ? DeepPartial<U>[]
 *   : T extends object ? {[K in keyof T]?: DeepPartial<T[K]>}
 *   : T} DeepPartial
 */

/** Builds the growing value, as the sink of a Machine or from the fragments of a Rebuilder. */
export class ValueBuilder {
  /** The innermost open container, set by the emitter of events. @type {Frame | null} */
  frame = null;
  /** @type {any} */
  live;
  /** Grows with every change of the value. */
  version = 0;
  isDone = false;
  /** The text of the open string. */
  openText = "";
  isInString = false;
  /** The frame around the value; null if the value is the whole document. @type {Frame | null} */
  base = null;
  // The copy that `value` returned, and its version.
  /** @type {any} */
  #copy;
  #copyVersion = -1;

  /** The current value, which never changes: open containers are copied, the rest is shared. */
  get value() {
    if (this.#copyVersion === this.version) return this.#copy;
    if (this.frame === this.base) return this.live;
    let inner;
    for (let frame = this.frame; frame !== null && frame !== this.base; frame = frame.parent) {
      const copy = copyOf(frame.container);
      if (inner !== undefined) put(copy, frame.key, inner);
      inner = frame.copy = copy;
    }
    this.#copyVersion = this.version;
    this.#copy = inner;
    return inner;
  }

  /**
   * The path of the innermost value that still grows; null if there is none.
   * @returns {Path | null}
   */
  get openPath() {
    if (this.isInString) return pathOf(this.frame);
    return this.frame === null ? null : pathOf(this.frame.parent);
  }

  /** @param {number} [_offset] */
  startContainer(_offset) {
    const frame = /** @type {Frame} */ (this.frame);
    frame.container = frame.isObject ? {} : [];
    this.version += 1;
    this.#place(frame.parent, frame.container);
  }

  /** @param {number} [_offset] */
  endContainer(_offset) {
    const frame = /** @type {Frame} */ (this.frame);
    if (this.#copyVersion === this.version && frame.parent !== this.base) this.#place(frame.parent, frame.copy);
  }

  /**
   * @param {string} _key
   * @param {number} [_offset]
   */
  key(_key, _offset) {}

  /** @param {number} [_offset] */
  startString(_offset) {
    this.isInString = true;
    this.openText = "";
    this.replace("");
  }

  /** @param {string} run */
  text(run) {
    this.openText += run;
    this.replace(this.openText);
  }

  endString() {
    this.isInString = false;
  }

  /**
   * @param {any} value
   * @param {string} [_text]
   * @param {number} [_offset]
   */
  scalar(value, _text, _offset) {
    this.replace(value);
  }

  /** @param {number} [_offset] */
  endDocument(_offset) {
    this.isDone = true;
  }

  /** Put a value at the frame's position. @param {any} value */
  replace(value) {
    this.version += 1;
    this.#place(this.frame, value);
  }

  /**
   * @param {Frame | null} frame
   * @param {any} value
   */
  #place(frame, value) {
    if (frame === this.base || frame === null) this.live = value;
    else put(frame.container, frame.key, value);
  }
}

/**
 * The growing value of a `Document` or `Rebuilder`, for reading.
 * @template [T=unknown]
 */
export class GrowingValue {
  #builder;

  /** @param {ValueBuilder} builder */
  constructor(builder) {
    this.#builder = builder;
  }

  /**
   * The current value, without a copy: one object that changes with the next `feed`. Do not keep it.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get live() {
    return this.#builder.live;
  }

  /**
   * The current value, safe to keep. Unchanged parts are the same objects in the next value. Reading it
   * copies the open containers.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get value() {
    return this.#builder.value;
  }

  /** Grows with every change of the value. */
  get version() {
    return this.#builder.version;
  }

  /** True if a value has begun. */
  get started() {
    return this.#builder.live !== undefined;
  }

  /** True if the document is complete. */
  get complete() {
    return this.#builder.isDone;
  }

  /**
   * The path of the value that still grows; null if no value is open.
   * @returns {Path | null}
   */
  get openPath() {
    return this.#builder.openPath;
  }

  /**
   * Return true if there is a value at `path`, by default at the root, and it is complete.
   * @param {Path | string} [path]
   */
  isComplete(path = []) {
    return isComplete(this.live, path, this.complete ? null : (this.openPath ?? []));
  }
}

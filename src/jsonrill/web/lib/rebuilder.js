/**
 * Fragments → a value that grows.
 *
 * Values that were handed out never change: what is written to after a look is copied first, along
 * the open containers and nowhere else. So a subtree that did not change is the same object in
 * every value, and what nobody looks at costs nothing but itself.
 */

import { Fragment, FragmentError, WireReader } from "./fragments.js";
import { fromText, lookup } from "./paths.js";
import { copyOf, put } from "./values.js";

export { Fragment, FragmentError, KINDS, WireReader } from "./fragments.js";
export { fromPointer, fromText, toPointer, toText } from "./paths.js";
export { ExactNumber, parse, stringify } from "./values.js";

/** @typedef {import("./paths.js").Path} Path */
/** @typedef {import("./fragments.js").Dialect} Dialect */

// A stream may be nothing but misfits: of so many the details are kept.
const MOST_MISFITS = 100;

/** Fragments from the wire, in any form and grouping → the value they tell of. */
export class Rebuilder {
  /**
   * `onMisfit`: a fragment that does not fit is thrown as a FragmentError ("raise"), or left out
   * and kept in `misfits` ("collect").
   * @param {{dialect?: Dialect, onMisfit?: "raise" | "collect"}} [options]
   */
  constructor({ dialect = "jsonrill", onMisfit = "raise" } = {}) {
    if (onMisfit !== "raise" && onMisfit !== "collect") {
      throw new TypeError(`onMisfit is "raise" or "collect", not ${JSON.stringify(onMisfit)}`);
    }
    this._reader = new WireReader(dialect);
    this._collects = onMisfit === "collect";
    /** With "collect": the first hundred that did not fit. @type {FragmentError[]} */
    this.misfits = [];
    /** How many did not fit. */
    this.misfitCount = 0;
    /** @type {any} */
    this._root = undefined;
    // The open containers from the root inward, and at which step of its parent each one is.
    /** @type {any[]} */
    this._spine = [];
    /** @type {(string | number)[]} */
    this._steps = [];
    this._key = "";
    // Has the value as it is been handed out? Then the spine is no longer ours to write in.
    this._shared = false;
  }

  /**
   * What is known, safe to keep: it stays as it is when the stream goes on. Undefined: nothing yet.
   */
  get value() {
    this._shared = true;
    return this._root;
  }

  /** Has a value begun? */
  get started() {
    return this._root !== undefined;
  }

  /** Is the document whole? */
  get complete() {
    return this._reader.complete;
  }

  /**
   * The path of the value that is still growing; null before the first and after the last.
   * @returns {Path | null}
   */
  get openPath() {
    const place = this._reader.open;
    return place === undefined ? null : place === null ? [] : place.path;
  }

  /**
   * Is the value at this path there, and whole?
   * @param {Path | string} path
   */
  isComplete(path) {
    const steps = typeof path === "string" ? fromText(path) : path;
    const open = this.openPath;
    if (open !== null && steps.every((step, at) => step === open[at])) return false;
    return lookup(this._root, steps) !== undefined;
  }

  /**
   * Apply what one message brings, a list of fragments. With "raise", one that does not fit is
   * thrown; those before it stay applied, those after it are not.
   * @param {Iterable<unknown>} items
   */
  feed(items) {
    if (typeof items === "string" || typeof items?.[Symbol.iterator] !== "function") {
      throw new TypeError("feed() takes a list of fragments; add() takes one");
    }
    for (const item of items) this.add(item);
  }

  /**
   * Apply one fragment: an object, a compact array, or bare text.
   * @param {unknown} item
   * @returns {Fragment | null} it, checked and with its path; null if it is ignored or did not fit
   */
  add(item) {
    let fragment;
    try {
      fragment = this._reader.read(item);
    } catch (error) {
      if (!(error instanceof FragmentError)) throw error;
      this.misfitCount += 1;
      if (!this._collects) throw error;
      if (this.misfits.length < MOST_MISFITS) this.misfits.push(error);
      return null;
    }
    if (fragment !== null) this._apply(fragment);
    return fragment;
  }

  /** @param {Fragment} fragment */
  _apply({ kind, text, value }) {
    switch (kind) {
      case "StartObject":
        return this._open({});
      case "StartArray":
        return this._open([]);
      case "EndObject":
      case "EndArray":
        this._spine.pop();
        this._steps.pop();
        return undefined;
      case "Key":
        this._key = value;
        return undefined;
      case "StartString":
        return this._add("");
      case "PartialString":
        return text ? this._replace(this._last() + text) : undefined;
      case "CompleteString":
        return value === this._last() ? undefined : this._replace(value);
      case "JsonComplete":
        return undefined;
      default:
        return this._add(value);
    }
  }

  /** @param {any} container */
  _open(container) {
    this._add(container);
    this._steps.push(this._step());
    this._spine.push(container);
  }

  /** Begin a value where the next one must be. @param {any} value */
  _add(value) {
    const holder = this._holder();
    if (holder === undefined) this._root = value;
    else if (Array.isArray(holder)) holder.push(value);
    else put(holder, this._key, value);
  }

  /** Put another value in place of the last one. @param {any} value */
  _replace(value) {
    const holder = this._holder();
    if (holder === undefined) this._root = value;
    else if (Array.isArray(holder)) holder[holder.length - 1] = value;
    else put(holder, this._key, value);
  }

  /** The value that came last. */
  _last() {
    const holder = this._spine.at(-1);
    return holder === undefined ? this._root : holder[this._step()];
  }

  /** At which step of the innermost open container the last value is. */
  _step() {
    const holder = this._spine.at(-1);
    return Array.isArray(holder) ? holder.length - 1 : this._key;
  }

  /** The innermost open container, to write in; undefined at the root. */
  _holder() {
    if (this._shared) this._unshare();
    return this._spine.at(-1);
  }

  /** Copy the open containers: the others of the value that was handed out are shared. */
  _unshare() {
    this._shared = false;
    const spine = this._spine;
    for (let depth = 0; depth < spine.length; depth += 1) {
      const copy = copyOf(spine[depth]);
      if (depth === 0) this._root = copy;
      else put(spine[depth - 1], /** @type {any} */ (this._steps[depth]), copy);
      spine[depth] = copy;
    }
  }
}

/**
 * Fragments → a value that grows: what `WireReader` checks is written to a `ValueBuilder`.
 */

import { Fragment, FragmentError, WireReader } from "../wire/fragments.js";
import { GrowingValue } from "./growing-value.js";
import { LocatedBuilder } from "./located.js";

export { Fragment, FragmentError, KINDS, WireReader } from "../wire/fragments.js";
export { formatPath, fromPointer, parsePath, toPointer } from "../paths.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../wire/fragments.js").Dialect} Dialect */
/**
 * @template T
 * @typedef {import("./builder.js").DeepPartial<T>} DeepPartial
 */

// A stream may be nothing but misfits: the details of this many are kept.
const MOST_MISFITS = 100;

/**
 * Fragments from the wire, in any form and grouping → the value they tell of.
 * @template [T=unknown]
 * @extends {GrowingValue<T>}
 */
export class Rebuilder extends GrowingValue {
  #growing;
  #reader;
  #collects;
  /** With "collect": the first hundred that did not fit. @type {FragmentError[]} */
  misfits = [];
  /** How many did not fit. */
  misfitCount = 0;

  /**
   * `onMisfit`: a fragment that does not fit is thrown as a FragmentError ("raise"), or left out
   * and kept in `misfits` ("collect").
   * @param {{dialect?: Dialect, onMisfit?: "raise" | "collect"}} [options]
   */
  constructor({ dialect = "jsonrill", onMisfit = "raise" } = {}) {
    const growing = new LocatedBuilder();
    super(growing);
    this.#growing = growing;
    if (onMisfit !== "raise" && onMisfit !== "collect") {
      throw new TypeError(`onMisfit is "raise" or "collect", not ${JSON.stringify(onMisfit)}`);
    }
    this.#reader = new WireReader(dialect);
    this.#collects = onMisfit === "collect";
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
      fragment = this.#reader.read(item);
    } catch (error) {
      if (!(error instanceof FragmentError)) throw error;
      this.misfitCount += 1;
      if (!this.#collects) throw error;
      if (this.misfits.length < MOST_MISFITS) this.misfits.push(error);
      return null;
    }
    if (fragment !== null) this.#apply(fragment);
    return fragment;
  }

  /** @param {Fragment} fragment */
  #apply({ kind, text, value }) {
    const growing = this.#growing;
    switch (kind) {
      case "StartObject":
        return growing.startObject();
      case "StartArray":
        return growing.startArray();
      case "EndObject":
      case "EndArray":
        return growing.endContainer();
      case "Key":
        return growing.key(value);
      case "StartString":
        return growing.startString();
      case "PartialString":
        return text ? growing.text(text) : undefined;
      case "CompleteString":
        return growing.endStringAs(value);
      case "JsonComplete":
        return growing.endDocument();
      default:
        return growing.scalar(value);
    }
  }
}

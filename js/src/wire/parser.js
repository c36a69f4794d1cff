/** Text → fragments: the machine with a list of fragments as its sink. */

import { createMachine } from "../parse/create.js";
import { InvalidJSON, LimitExceeded } from "../errors.js";
import { Fragment } from "./fragments.js";
import { pendingOf } from "../parse/machine.js";
import { Place } from "../parse/place.js";

/** @import { ParserOptions } from "../parse/machine.js" */

/** Events → fragments, each linked to its place. */
class FragmentSink {
  /** @type {Fragment[]} */
  fragments = [];
  document = 0;
  /** @type {Place | null} */
  #container = null;
  // In an object the last key, in an array the index of the next element.
  /** @type {string | number} */
  #step = "";
  /** @type {(string | number)[]} */
  #steps = [];
  /** @type {Place | null} */
  #string = null;
  #offset = 0;
  #text = "";

  /** @param {number} offset */
  startObject(offset) {
    this.#open("StartObject", "", offset);
  }

  /** @param {number} offset */
  startArray(offset) {
    this.#open("StartArray", 0, offset);
  }

  /** @param {number} offset */
  endContainer(offset) {
    const place = this.#container;
    this.#add(typeof this.#step === "number" ? "EndArray" : "EndObject", place, offset);
    this.#step = /** @type {string | number} */ (this.#steps.pop());
    this.#container = place === null ? null : place.parent;
  }

  /**
   * @param {string} key
   * @param {number} offset
   */
  key(key, offset) {
    this.#step = key;
    this.#add("Key", this.#container, offset, undefined, key);
  }

  /** @param {number} offset */
  startString(offset) {
    this.#string = this.#next();
    this.#offset = offset;
    this.#text = "";
    this.#add("StartString", this.#string, offset);
  }

  /** @param {string} run */
  text(run) {
    this.#text += run;
    this.#add("PartialString", this.#string, this.#offset, run);
  }

  endString() {
    this.#add("CompleteString", this.#string, this.#offset, undefined, this.#text);
  }

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    const kind = text !== undefined ? "CompleteNumber" : value === null ? "CompleteNull" : "CompleteBoolean";
    this.#add(kind, this.#next(), offset, text, value);
  }

  /** @param {number} offset */
  endDocument(offset) {
    this.#add("JsonComplete", null, offset);
  }

  nextDocument() {
    this.#container = this.#string = null;
    this.#step = "";
    this.#steps = [];
    this.document += 1;
  }

  /** The fragments since the last call. */
  take() {
    const { fragments } = this;
    this.fragments = [];
    return fragments;
  }

  /**
   * @param {"StartObject" | "StartArray"} kind
   * @param {string | number} step
   * @param {number} offset
   */
  #open(kind, step, offset) {
    const place = this.#next();
    this.#add(kind, place, offset);
    this.#steps.push(this.#step);
    this.#container = place;
    this.#step = step;
  }

  /** The place of the value that begins now. */
  #next() {
    if (this.#steps.length === 0) return null;
    const step = this.#step;
    if (typeof step === "number") this.#step = step + 1;
    return new Place(this.#container, step);
  }

  /**
   * @param {import("./fragments.js").Kind} kind
   * @param {Place | null} place
   * @param {number} offset
   * @param {string} [text]
   * @param {any} [value]
   */
  #add(kind, place, offset, text, value) {
    this.fragments.push(new Fragment(kind, place, text, value, offset, this.document));
  }
}

/**
 * Text → fragments, strict RFC 8259, any cutting.
 *
 * `feed` throws `InvalidJSON` at the first character that no continuation can make valid, `flush`
 * throws `Truncated` when the text stopped early. Either has the `fragments` found before it.
 */
export class Parser {
  #sink = new FragmentSink();
  #machine;

  /**
   * @param {ParserOptions} [options]
   * @param {boolean} [many] several documents may come
   */
  constructor(options, many = false) {
    this.#machine = createMachine(this.#sink, options, many);
  }

  /**
   * The fragments that this piece of text makes certain.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   * @returns {Fragment[]}
   */
  feed(piece) {
    return this.#taken(() => this.#machine.feed(piece));
  }

  /**
   * The text has ended: the last fragments, or `Truncated`. With `cut` the answer goes on behind the
   * text, as the provider says.
   * @param {import("../errors.js").Cut | null} [cut]
   * @returns {Fragment[]}
   */
  flush(cut = null) {
    return this.#taken(() => this.#machine.flush(cut));
  }

  /** @param {() => void} work */
  #taken(work) {
    try {
      work();
    } catch (error) {
      if (error instanceof InvalidJSON || error instanceof LimitExceeded) {
        error.fragments = this.#sink.take();
      }
      throw error;
    }
    return this.#sink.take();
  }

  /**
   * Path and text of the number or literal that is being read; null if there is none.
   * @returns {{path: import("../paths.js").Path, text: string} | null}
   */
  get pending() {
    return pendingOf(this.#machine);
  }

  /** With `many`: what ended documents early, in order. */
  get errors() {
    return this.#machine.errors;
  }
}

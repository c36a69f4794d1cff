/** Text → a value that grows: the machine with a `Growing` as its sink. */

import { createMachine } from "../parse/create.js";
import { LocatedGrowing } from "./located.js";
import { isComplete } from "./lookup.js";
import { pendingOf } from "../parse/machine.js";

/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { Path } from "../paths.js" */
/** @import { DeepPartial } from "./growing.js" */

/**
 * The value of a text that arrives in pieces.
 *
 * Strings are there from their opening quote and only grow; numbers and literals are complete or
 * absent. What was good before an error stays in `value`.
 * @template [T=unknown]
 */
export class Document {
  #growing = new LocatedGrowing();
  #machine;

  /** @param {ParserOptions} [options] */
  constructor(options) {
    this.#machine = createMachine(this.#growing, options);
  }

  /**
   * Read one piece of text; true if the value changed.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   */
  feed(piece) {
    const growing = this.#growing;
    growing.begin();
    this.#machine.feed(piece);
    return growing.changed;
  }

  /**
   * The text has ended; true if the value changed. Throws `Truncated` if it stopped early. With `cut`
   * the answer goes on behind the text, as the provider says: nothing is repaired.
   * @param {import("../errors.js").Cut | null} [cut]
   */
  flush(cut = null) {
    const growing = this.#growing;
    growing.begin();
    this.#machine.flush(cut);
    return growing.changed;
  }

  /**
   * What is known, without a copy: one object that changes with the next `feed`. Look, do not keep.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get live() {
    return this.#growing.live;
  }

  /**
   * What is known, safe to keep: it stays as it is, and what does not change is the same object in
   * the next value. Looking costs a copy of the open containers.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get value() {
    return this.#growing.value;
  }

  /** Grows with every change of the value. */
  get version() {
    return this.#growing.version;
  }

  /** True if the last `feed` or `flush` changed the value, also if it threw. */
  get changed() {
    return this.#growing.changed;
  }

  /** True if a value has begun. */
  get started() {
    return this.#growing.started;
  }

  /** True if the root value is complete. */
  get complete() {
    return this.#growing.complete;
  }

  /**
   * The path of the value that still grows; null before the first and after the last.
   * @returns {Path | null}
   */
  get openPath() {
    return this.#growing.openPath;
  }

  /**
   * True if there is a value at `path`, by default at the root, and it is complete.
   * @param {Path | string} [path]
   */
  isComplete(path = []) {
    return isComplete(this.#growing.live, path, this.#growing.openPath);
  }

  /**
   * Path and text of the number or literal that is being read; null if there is none.
   * @returns {{path: Path, text: string} | null}
   */
  get pending() {
    return pendingOf(this.#machine);
  }

  /**
   * With `many`: values that the last `feed` changed and then left for the next document.
   * @returns {DeepPartial<T>[]}
   */
  get finished() {
    return this.#growing.finished;
  }

  /** With `many`: the number of the document being read, from 0. */
  get document() {
    return this.#machine.document;
  }

  /** With `repair`: all that had to be repaired so far. */
  get repairs() {
    return this.#machine.repairs;
  }

  /** With `many`: what ended documents early, in order. */
  get errors() {
    return this.#machine.errors;
  }
}

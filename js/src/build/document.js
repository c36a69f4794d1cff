/** Text → a growing value: the machine with a `ValueBuilder` as its sink. */

import { Machine } from "../parse/machine.js";
import { GrowingValue, ValueBuilder } from "./builder.js";

/** @import { Cut, ParserOptions } from "../parse/machine.js" */

/**
 * The value of a text that arrives in pieces.
 *
 * Strings appear at their opening quote and only grow; numbers and literals are complete or absent.
 * After an error, `value` keeps the valid part.
 * @template [T=unknown]
 * @extends {GrowingValue<T>}
 */
export class Document extends GrowingValue {
  #machine;

  /** @param {ParserOptions} [options] */
  constructor(options) {
    const builder = new ValueBuilder();
    super(builder);
    this.#machine = new Machine(builder, options);
  }

  /**
   * Read one piece of text; return true if the value changed.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   */
  feed(piece) {
    const before = this.version;
    this.#machine.feed(piece);
    return this.version !== before;
  }

  /**
   * End the text; return true if the value changed. Throws `Truncated` if it stopped early. With `cut` the provider
   * says that the answer stopped early.
   * @param {Cut | null} [cut]
   */
  flush(cut = null) {
    const before = this.version;
    this.#machine.flush(cut);
    return this.version !== before;
  }
}

/** Text → a value that grows: the machine with a `ValueBuilder` as its sink. */

import { createMachine } from "../parse/create.js";
import { GrowingValue } from "./growing-value.js";
import { LocatedBuilder } from "./located.js";
import { pendingOf } from "../parse/machine.js";

/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { Path } from "../paths.js" */

/**
 * The value of a text that arrives in pieces.
 *
 * Strings are there from their opening quote and only grow; numbers and literals are complete or
 * absent. What was good before an error stays in `value`.
 * @template [T=unknown]
 * @extends {GrowingValue<T>}
 */
export class Document extends GrowingValue {
  #growing;
  #machine;

  /** @param {ParserOptions} [options] */
  constructor(options) {
    const growing = new LocatedBuilder();
    super(growing);
    this.#growing = growing;
    this.#machine = createMachine(growing, options);
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
   * the answer goes on behind the text, as the provider says.
   * @param {import("../errors.js").Cut | null} [cut]
   */
  flush(cut = null) {
    const growing = this.#growing;
    growing.begin();
    this.#machine.flush(cut);
    return growing.changed;
  }

  /** True if the last `feed` or `flush` changed the value, also if it threw. */
  get changed() {
    return this.#growing.changed;
  }

  /**
   * Path and text of the number or literal that is being read; null if there is none.
   * @returns {{path: Path, text: string} | null}
   */
  get pending() {
    return pendingOf(this.#machine);
  }
}

/** What a caller may want to know of an answer beside its values. */

import { joined } from "./sources/joined.js";
import { Kept } from "./sources/reading.js";

/**
 * Pass one as `answer` to any function that reads a stream, and look at it afterwards.
 *
 * `finish` is how the answer ended (complete, calls, length, filtered, refused, lost, error); null
 * before the provider says it, and of plain text. `usage` are the token counts, with the names of
 * the provider; null until its stream has been read to the end, and if it has none.
 */
export class Answer {
  #kept = new Kept(Infinity);
  /** @type {import("./providers/statements.js").Reason | null} */
  finish = null;
  /** @type {{[name: string]: any} | null} */
  usage = null;

  /** The text of the answer so far, without reasoning and calls. */
  get text() {
    return joined(this.#kept);
  }

  /** Forget the answer before: another stream is read. */
  begin() {
    this.#kept = new Kept(Infinity);
    this.finish = this.usage = null;
  }

  /** More of the text. @param {import("./sources/reading.js").Piece} text */
  add(text) {
    this.#kept.add(text);
  }
}

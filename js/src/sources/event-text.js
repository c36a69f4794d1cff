/** Text that holds a provider's events → these events: server-sent events, or JSON, one a line. */

import { SSEDecoder, endsStream, isDone } from "../eventstream/sse.js";

/** @typedef {import("./reading.js").Piece} Piece */

// What an event stream begins with, and the longest of it.
const FIELDS = /^(?:data|event|id|retry)?:/;
const LONGEST = "event:".length;

/**
 * Decodes text in any pieces. Without `sse` the beginning of the text decides. A piece that is one
 * JSON object need not end with a line break: many programs keep events so.
 */
export class EventText {
  /** @type {SSEDecoder | null} */
  #decoder;
  #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #isDecided;
  #rest = "";
  /** True after an event that says that the stream is at its end, such as `[DONE]`. */
  saidDone = false;

  /** @param {boolean} sse */
  constructor(sse) {
    this.#decoder = sse ? new SSEDecoder() : null;
    this.#isDecided = sse;
  }

  /**
   * The events that are complete with this piece, as JSON text.
   * @param {Piece} piece
   * @returns {string[]}
   */
  feed(piece) {
    const text = typeof piece === "string" ? piece : this.#utf8.decode(piece, { stream: true });
    if (this.#decoder !== null) return this.#dataOf(this.#decoder, text);
    this.#rest += text;
    if (!this.#isDecided) {
      const begun = this.#rest.replace(/^[\ufeff \t\r\n]+/, "");
      if (FIELDS.test(begun)) {
        this.#decoder = new SSEDecoder();
        return this.#dataOf(this.#decoder, this.#rest);
      }
      this.#isDecided = begun.length >= LONGEST || begun.startsWith("{");
    }
    return this.#lines();
  }

  /** The last event, which counts without its blank line if it is JSON. */
  flush() {
    if (this.#decoder !== null) return this.#dataOf(this.#decoder, "\n\n").filter(isJson);
    const rest = this.#rest.trim();
    this.#rest = "";
    return rest ? [rest] : [];
  }

  /**
   * The data of the events that are not the end of the stream.
   * @param {SSEDecoder} decoder
   * @param {string} text
   */
  #dataOf(decoder, text) {
    const events = decoder.feed(text);
    this.saidDone ||= events.some(endsStream);
    return events.filter((event) => !endsStream(event)).map(({ data }) => data);
  }

  #lines() {
    const lines = this.#rest.split("\n").map((line) => line.trim());
    const rest = /** @type {string} */ (lines.pop());
    const events = lines.filter((line) => line !== "" && !isDone(line));
    this.saidDone ||= lines.some(isDone);
    if (rest.startsWith("{") && rest.endsWith("}") && isJson(rest)) {
      events.push(rest);
      this.#rest = "";
    } else {
      this.#rest = this.#rest.slice(this.#rest.lastIndexOf("\n") + 1);
    }
    return events;
  }
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Everything the page knows of one stream: live, replayed or pasted. No DOM.
 *
 * A stream is a list of pieces. Each has the time at which it came (`at`, in milliseconds since the
 * start), what came (`source`), and the text of the model that it adds (`text`, from `offset` on).
 * What the text says is in `outline`, what events say in `answer`. Both know their past, so that
 * `valueAt(n)` and all views show any moment at once: the moment `n` is after `n` pieces, 0 is before
 * the first, `length` is the last. Offsets are JavaScript offsets in `text`.
 *
 *     const recording = new Recording({ input: "text", title: "Pasted text" });
 *     for (const text of pieces) recording.add(text, { at });
 *     recording.end("complete");
 *     recording.valueAt(12);
 */

import { Answer } from "./timed-calls.js";
import { Outline } from "./outline.js";
import { meansJson } from "./prose.js";
import { changedPath } from "./snapshots.js";
import { lastPath } from "../js/src/build/lookup.js";

/** @typedef {import("./outline.js").Fault} Fault */
/** @typedef {"text" | "snapshots" | "events"} Input */
/**
 * @typedef {object} Piece
 * @property {number} at milliseconds since the start of the stream
 * @property {string} source what came: text, or an event or snapshot as JSON
 * @property {string} text what it adds to the text of the model
 * @property {number} offset where that text begins
 * @property {string} id the id of its event; `""` if it has none
 * @property {string} type the type of its event; `""` if it has none
 */
/**
 * `open`: more may come. `stopped`: the user stopped it. `failed`: it cannot be read further.
 * @typedef {"open" | "complete" | "stopped" | "failed"} End
 */
/**
 * @typedef {object} RecordingOptions
 * @property {Input} [input]
 * @property {boolean} [many] several documents in a row
 * @property {any} [entity] what counts as an entity
 * @property {boolean} [live] true if the server has the stream, and so sends its updates
 * @property {string} [title]
 * @property {boolean} [timed] false if the times of the pieces were not recorded but made up
 */

export class Recording {
  /** @type {Piece[]} */
  pieces = [];
  /** The text of the model. */
  text = "";
  /** @type {End} */
  state = "open";
  /** Why it failed. */
  reason = "";
  /** True if the events were followed by the line that ends them (`[DONE]`). */
  isDone = false;
  /** Errors of the server or the connection, which belong to no character. @type {Fault[]} */
  _others = [];
  /** @type {Set<() => void>} */
  _listeners = new Set();

  /** @param {RecordingOptions} [options] */
  constructor(options = {}) {
    const { input = "text", many = false, title = "", timed = true } = options;
    this.options = options;
    this.input = input;
    this.many = many;
    this.title = title;
    this.timed = timed;
    this.outline = new Outline({ many });
    /** What the events say; null if the input is not events. */
    this.answer = input === "events" ? new Answer() : null;
  }

  /** How many pieces there are. */
  get length() {
    return this.pieces.length;
  }

  /** True if no more pieces come. */
  get ended() {
    return this.state !== "open";
  }

  /**
   * Adds what came: a piece of text, or an event or snapshot as JSON.
   * @param {string} source
   * @param {{at: number, id?: string, type?: string}} more
   */
  add(source, { at, id = "", type = "" }) {
    const number = this.pieces.length + 1;
    const offset = this.text.length;
    let text = "";
    if (this.answer !== null) text = this.answer.read(source, number);
    else if (this.input === "text") text = source;
    this.pieces.push({ at, source, text, offset, id, type });
    this.text += text;
    if (this.input !== "snapshots") this.outline.feed(text, number);
    this._tell();
  }

  /**
   * No more pieces come.
   * @param {Exclude<End, "open">} state
   * @param {string} [reason]
   */
  end(state, reason = "") {
    if (this.ended) return;
    this.state = state;
    this.reason = reason;
    this.answer?.end(this.length);
    // A text that is no JSON is an error only if JSON is all that was expected.
    const isRead = this.hasDocument && this.input !== "snapshots";
    if (isRead && state === "complete") this.outline.flush(this.length);
    else this.outline.stop(this.length);
    this._tell();
  }

  /**
   * Adds an error that is not found in the text by the page itself.
   * @param {Omit<Fault, "piece"> & {piece?: number}} fault offset in JavaScript units; by default it
   *   was found with the last piece
   */
  addError(fault) {
    const complete = { ...fault, piece: fault.piece ?? this.length };
    if (fault.offset === null) this._others.push(complete);
    else this.outline.addError(complete);
    this._tell();
  }

  /** True if the text is, or is meant to be, JSON: prose beside tool calls is not. */
  get hasDocument() {
    if (this.input !== "events") return true;
    return meansJson(this.text, this.ended);
  }

  /** Errors in the text, in the order in which they were found. @returns {Fault[]} */
  get textErrors() {
    return this.hasDocument ? this.outline.errors : [];
  }

  /** All errors, in the order in which they were found. @returns {Fault[]} */
  get errors() {
    const calls = this.answer?.calls.flatMap((call) => call.error ?? []) ?? [];
    const all = [...this.textErrors, ...calls, ...(this.answer?.errors ?? []), ...this._others];
    return all.sort((one, other) => one.piece - other.piece);
  }

  /** How the answer was cut, once it has ended; null if it was not. */
  get cut() {
    if (!this.ended || this.answer === null) return null;
    const cut = this.answer.cut(!this.isDone);
    // Without its last event, an answer is complete if all that it holds is.
    const isWhole = this.hasDocument ? this.outline.errors.length === 0 : this.calls.length > 0;
    return cut?.reason === "lost" && isWhole ? null : cut;
  }

  /** The calls of the answer, each with its past. */
  get calls() {
    return this.answer?.calls ?? [];
  }

  /** The name of the provider that was recognised; null if there is none. */
  get provider() {
    return this.answer?.provider ?? null;
  }

  /**
   * The value after this many pieces; undefined if there was none. Of many documents, their list.
   * @param {number} piece
   */
  valueAt(piece) {
    if (this.input !== "snapshots") return this.outline.valueAt(piece);
    return piece < 1 ? undefined : JSON.parse(this.pieces[piece - 1].source);
  }

  /**
   * The path of what grows in a snapshot: what the next different one changes or, in the last one so
   * far, what that has changed itself. null: nothing grows any more.
   * @param {number} piece
   */
  growingAt(piece) {
    const value = this.valueAt(piece);
    for (let later = piece + 1; later <= this.length; later += 1) {
      const path = changedPath(value, this.valueAt(later));
      if (path !== null) return path;
    }
    if (this.ended || value === undefined) return null;
    for (let before = piece - 1; before > 0; before -= 1) {
      const path = changedPath(value, this.valueAt(before));
      if (path !== null) return path;
    }
    return lastPath(value);
  }

  /**
   * The text of the model after this many pieces.
   * @param {number} piece
   */
  textAt(piece) {
    return this.text.slice(0, this.endOf(piece));
  }

  /**
   * The length of the text after this many pieces.
   * @param {number} piece
   */
  endOf(piece) {
    return piece < this.length ? (this.pieces[piece]?.offset ?? 0) : this.text.length;
  }

  /**
   * The time of a moment, in milliseconds since the start.
   * @param {number} piece
   */
  timeOf(piece) {
    return this.pieces[Math.min(piece, this.length) - 1]?.at ?? 0;
  }

  /**
   * Calls the listener after every change, until the returned function is called.
   * @param {() => void} listener
   */
  listen(listener) {
    this._listeners.add(listener);
    return () => void this._listeners.delete(listener);
  }

  _tell() {
    for (const listener of this._listeners) listener();
  }
}

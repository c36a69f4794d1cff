/**
 * A stream as it was received: its items (pieces of text, events, snapshots, messages) with their times.
 *
 * A moment is a position: the number of items received by then. `at(position)` returns the document at that moment.
 */

import { Receiver } from "../js/src/receive.js";
import { Answer } from "./answer.js";
import { unitsOf } from "./characters.js";
import { parseJson } from "./format.js";
import { Outline } from "./outline.js";
import { countBefore } from "./search.js";

/** @typedef {import("./recognise.js").Kind} Kind */
/** A document at a moment: its values, and how much of its text is there. @typedef {{outline: Outline, offset: number}} View */
/**
 * What the server reports about the stream, and after how many records.
 * @typedef {{code: string, message: string, offset: number, path: (string | number)[], position: number}} Report */

// A model writes few words before the JSON that was requested.
const PREAMBLE = 300;

export class Recording {
  /** @type {string[]} */
  items = [];
  /** When each item arrived, in milliseconds. @type {number[]} */
  times = [];
  isEnded = false;
  /** Whether `times` says when the items really arrived. */
  isTimed = false;
  /** Increases with each change. */
  version = 0;
  /** The state of a live connection, if it is not reading. */
  state = "";
  /** Why reading stopped: the connection failed, or the stream was stopped. */
  failure = "";
  /** What to do about it. */
  advice = "";
  /** What the server found: a violation of the schema, a revision in snapshots. @type {Report | null} */
  report = null;
  /** The value that the server's repair reads; undefined if it reads none. @type {any} */
  repaired = undefined;
  /** The number of the first event, snapshot or message that is not JSON; 0 if all are. */
  broken = 0;
  /** Whether no blank line separates the events. */
  isJoined = false;
  /** Whether the provider's events ended with `[DONE]`. */
  isDone = false;
  /** @type {Outline | null} */
  outline = null;
  /** @type {Answer | null} */
  answer = null;
  /** The first message of the wire that does not fit. @type {{position: number, message: string} | null} */
  wireError = null;
  #receiver = new Receiver();
  /** @type {any[]} */
  #states = [];
  /** The length of the text after each piece. @type {number[]} */
  #ends = [0];

  /**
   * @param {Kind} kind
   * @param {string} title
   * @param {{[option: string]: any}} [options] of the stream on the server
   */
  constructor(kind, title, options = {}) {
    this.kind = kind;
    this.title = title;
    this.options = options;
    if (kind === "text" || kind === "many") this.outline = new Outline(kind === "many");
    if (kind === "events") this.answer = new Answer();
  }

  get length() {
    return this.items.length;
  }

  /**
   * @param {string} data
   * @param {number} time
   * @param {any[]} [parts] what the server reads in an event
   */
  add(data, time, parts) {
    this.version += 1;
    this.items.push(data);
    this.times.push(time);
    this.outline?.feed(data);
    const value = this.outline ? null : parseJson(data);
    if (value === undefined) this.broken ||= this.length;
    this.answer?.add(value, parts);
    if (this.outline) this.#ends.push(this.#ends[this.#ends.length - 1] + data.length);
    if (this.kind === "wire") this.#apply(value);
  }

  /** @param {any} message */
  #apply(message) {
    try {
      this.#receiver.feed(message);
    } catch (error) {
      this.wireError ??= { position: this.length, message: /** @type {Error} */ (error).message };
    }
    this.#states.push(this.#receiver.value);
  }

  /** True if the wire has sent its end. */
  get isWireEnded() {
    return this.#receiver.ended;
  }

  /**
   * @param {string} [failure]
   * @param {string} [advice]
   */
  end(failure = "", advice = "") {
    if (this.isEnded) return;
    this.version += 1;
    this.isEnded = true;
    this.failure = failure;
    this.advice = advice;
    this.outline?.flush();
    this.answer?.end(this.isDone);
  }

  /**
   * Record what the server found. Its offsets count code points.
   * @param {{code: string, message: string, offset: number | null, path: (string | number)[]}} error
   * @param {number} [position]
   */
  setReport({ code, message, offset, path }, position = 0) {
    const text = (this.outline ?? this.answer?.outline)?.text ?? "";
    this.report = { code, message, offset: unitsOf(text, offset ?? 0), path, position };
  }

  /** True if the answer's text is JSON or nearly so, in a code fence for instance, and not prose. */
  get hasDocument() {
    return this.answer === null || (this.broken === 0 && meansJson(this.answer.text, this.isEnded));
  }

  /** The JSON text, or the answer's text if it is JSON. @returns {Outline | null} */
  get document() {
    return this.outline ?? (this.answer && this.hasDocument ? this.answer.outline : null);
  }

  /** Whether the server can render it in its formats. */
  get isRenderable() {
    return this.kind !== "many" && this.kind !== "wire" && this.broken === 0;
  }

  /**
   * Return the document at a moment; null if there is none.
   * @param {number} position
   * @returns {View | null}
   */
  at(position) {
    const { document } = this;
    if (document !== null) return { outline: document, offset: document.momentAfter(this.lengthAt(position)) };
    if (this.answer) return null;
    const outline = position > 0 ? this.#viewOf(position) : new Outline();
    return { outline, offset: Infinity };
  }

  /** @param {number} position */
  #viewOf(position) {
    return Outline.of(this.kind === "wire" ? (JSON.stringify(this.#states[position - 1]) ?? "") : this.items[position - 1]);
  }

  /**
   * Return the first position at which the character at this offset has arrived.
   * @param {number} offset
   */
  positionOf(offset) {
    return countBefore(this.length, (position) => this.lengthAt(position) <= offset);
  }

  /** Return the length of the text at a moment. @param {number} position */
  lengthAt(position) {
    return this.outline ? this.#ends[position] : (this.answer?.lengthAt(position) ?? Infinity);
  }
}

/**
 * Return true if a text is meant to be JSON: it begins as JSON, or after a few words.
 * @param {string} text
 * @param {boolean} isEnded
 */
export function meansJson(text, isEnded) {
  if (/^\s*(?:`{3}|[[{"])/.test(text)) return true;
  const start = text.slice(0, PREAMBLE + 20).search(/(?:`{3}\w*\s*|[\n:>]\s*)[[{]\s*["'\w[{\]}]/);
  if (start < 0 || !isEnded) return start >= 0;
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  // An answer that was cut off has no bracket at its end.
  const prose = end < start ? start : start + text.length - end;
  return prose <= Math.max(PREAMBLE, text.length / 2);
}

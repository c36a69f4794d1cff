/** The parts of a provider's answer (text, reasoning, calls, results), each at any moment. */

import { Parts } from "../js/src/index.js";
import { isObject } from "./format.js";
import { Outline } from "./outline.js";
import { countBefore } from "./search.js";

/** @typedef {"streaming" | "complete" | "error" | "truncated"} Status */
/** The state of a part from an event on. @typedef {{at: number, length: number, status: Status}} State */

const REASON_WORD = /"(?:(?:block|finish|stop)_?)?reason":"(?!stop")(\w+)"/i;

/** A part and its history. Its text only grows, so a moment of a part is a length. */
export class Track {
  /** @type {State[]} */
  states = [];
  name = "";
  id = "";
  outline = new Outline();
  /** @type {{at: number, value: any, isError: boolean} | null} */
  result = null;
  /** What is wrong with the arguments, if the text itself does not show it. */
  message = "";

  /** @param {"text" | "reasoning" | "call"} kind */
  constructor(kind) {
    this.kind = kind;
  }

  get begins() {
    return this.states[0].at;
  }

  get text() {
    return this.outline.text;
  }

  /**
   * @param {number} at
   * @param {string} text
   * @param {Status} status
   */
  add(at, text, status) {
    if (text !== "") this.outline.feed(text);
    if (status !== "streaming" && !this.outline.isEnded) this.outline.flush(status === "truncated" ? "lost" : "");
    this.states.push({ at, length: this.outline.length, status });
  }

  /**
   * Return the state after this many events; null if the part had not begun.
   * @param {number} position
   * @returns {State | null}
   */
  at(position) {
    const count = countBefore(this.states.length, (index) => this.states[index].at <= position);
    return this.states[count - 1] ?? null;
  }
}

export class Answer {
  /** @type {Track[]} */
  tracks = [];
  /** All text of the answer, as one document. */
  outline = new Outline();
  /** The provider's error message. */
  error = "";
  /** Why the answer was cut off: length, filtered, blocked, refused or lost. */
  reason = "";
  /** The provider's own word for the reason, such as SAFETY. */
  reasonWord = "";
  isRecognised = false;
  parts = new Parts();
  /** @type {Map<number, Track>} */
  #byIndex = new Map();
  /** The length of the answer's text after each event. @type {number[]} */
  #lengths = [0];

  get calls() {
    return this.tracks.filter(({ kind }) => kind === "call");
  }

  get text() {
    return this.outline.text;
  }

  /** Return the length of the answer's text after this many events. @param {number} position */
  lengthAt(position) {
    return this.#lengths[Math.min(position, this.#lengths.length - 1)];
  }

  /**
   * @param {any} event
   * @param {any[]} [parts] what the server reads in it, if this page does not know the provider
   */
  add(event, parts = isObject(event) ? this.parts.feed(event) : []) {
    const at = this.#lengths.length;
    const isWhole = this.reason === "";
    this.error ||= reportedError(event);
    for (const part of parts) {
      if (part.kind) this.#take(part, at);
      else this.error ||= reportedError(part);
    }
    if (event?.promptFeedback?.blockReason) this.reason = "blocked";
    if (isWhole && this.reason !== "") this.reasonWord = REASON_WORD.exec(JSON.stringify(event))?.[1] ?? "";
    this.#lengths.push(this.outline.length);
  }

  /** @param {boolean} isDone whether the stream marked its end */
  end(isDone) {
    const at = this.#lengths.length - 1;
    for (const part of this.parts.flush(isDone)) this.#take(part, at);
    this.error ||= this.parts.error ?? "";
    this.isRecognised ||= this.parts.outcome !== null;
    this.outline.flush(this.reason);
    for (const track of this.tracks) if (!track.outline.isEnded) track.outline.flush();
  }

  /**
   * @param {any} part
   * @param {number} at
   */
  #take(part, at) {
    this.isRecognised = true;
    this.reason ||= part.reason ?? "";
    if (part.kind === "result") return this.#takeResult(part, at);
    // An answer that is cut off ends with a text part even if it has no text.
    if (part.kind !== "call" && part.delta === "" && !this.#byIndex.has(part.index)) return;
    const track = this.#byIndex.get(part.index) ?? this.#begin(part);
    if (part.kind === "text") this.outline.feed(part.delta);
    if (part.kind !== "call") {
      const status = part.reason ? "truncated" : part.complete ? "complete" : "streaming";
      return track.add(at, part.delta, status);
    }
    const { id, name, error, status } = part.call;
    track.id = id;
    track.name = name ?? "";
    track.message = error?.message ?? "";
    track.add(at, part.delta, status);
  }

  /** @param {any} part */
  #begin({ kind, index }) {
    const track = new Track(kind);
    this.#byIndex.set(index, track);
    this.tracks.push(track);
    return track;
  }

  /**
   * @param {any} part
   * @param {number} at
   */
  #takeResult(part, at) {
    const track = this.calls.find(({ id }) => id === part.call.id);
    if (track !== undefined) track.result = { at, value: part.error ?? part.result, isError: part.error !== null };
  }
}

/**
 * Return the error message in an event of any provider; `""` if there is none.
 * @param {any} event
 * @returns {string}
 */
export function reportedError(event) {
  if (!isObject(event)) return "";
  const { type, object, error, errors, message } = event;
  const inner = isObject(error) ? error : isObject(errors?.[0]) ? errors[0] : event.response?.error;
  const text = inner?.message ?? (typeof error === "string" ? error : type === "error" || object === "error" ? message : "");
  return typeof text === "string" ? text : "";
}

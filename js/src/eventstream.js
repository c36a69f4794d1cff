/**
 * Server-sent events: bytes or text in any pieces → events, by the WHATWG standard; and text that holds a provider's
 * events, as server-sent events or JSON lines. No I/O.
 */

import { LimitExceeded } from "./errors.js";

/**
 * One event. `id` is the last id of the stream so far; `hasId` is true if this event sent it.
 * @typedef {{type: string, data: string, id: string, hasId: boolean}} SSEEvent
 */

const LINE_END = /\r\n|\r|\n/;
// The beginning of an event stream.
const FIELD = /^[\ufeff \t\r\n]*(?:data|event|id|retry)?:/;
const MAX_UNDECIDED = "event:".length;

/** Return true for the media type of server-sent events. @param {string} contentType */
export function isEventStream(contentType) {
  return contentType.split(";")[0].trim().toLowerCase() === "text/event-stream";
}

/** Return true for the last event of a jsonrill stream, or of a provider that sends `[DONE]`. @param {SSEEvent} event */
export function endsStream({ type, data }) {
  return type === "CLOSE" || data.trimStart().startsWith("[DONE]");
}

/** Return true for the event with which a server begins the stream again, from its start. @param {any} event */
export function isRestart(event) {
  return event?.type === "RESTART" && event.data === "[RESTART]";
}

/** Bytes or text of an event stream → events, each as soon as its blank line is there. */
export class SSEDecoder {
  #limit;
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #hasStarted = false;
  // A CR ends a line at once; an LF right after it, perhaps in the next piece, is part of it.
  #skipsLf = false;
  /** @type {LimitExceeded | null} */
  #failure = null;
  // The event that is being read: its lines, the line that has not ended, and the length of them all.
  /** @type {string[]} */
  #fields = [];
  #line = "";
  #size = 0;

  /**
   * `limit` bounds the characters of an event; `lastEventId` is where an earlier connection stopped.
   * @param {{limit?: number, lastEventId?: string}} [options]
   */
  constructor({ limit = 16 * 2 ** 20, lastEventId = "" } = {}) {
    /** The id of the last event, from which a client continues after a lost connection. */
    this.lastEventId = lastEventId;
    /** The milliseconds to wait before that, if the server sent them. @type {number | null} */
    this.retry = null;
    this.#limit = limit;
  }

  /**
   * Return the events that this piece ends.
   * @param {Uint8Array | ArrayBuffer | string} piece
   * @returns {SSEEvent[]}
   */
  feed(piece) {
    if (this.#failure !== null) throw this.#failure;
    let text = typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true });
    if (text === "") return [];
    if (!this.#hasStarted && text[0] === "\ufeff") text = text.slice(1);
    else if (this.#skipsLf && text[0] === "\n") text = text.slice(1);
    this.#hasStarted = true;
    this.#skipsLf = text.endsWith("\r");
    return this.#lines(text.split(LINE_END));
  }

  /** @param {string[]} lines the last of them has not ended */
  #lines(lines) {
    /** @type {SSEEvent[]} */
    const events = [];
    for (const [at, line] of lines.entries()) {
      this.#line += line;
      this.#size += line.length;
      if (this.#size > this.#limit) {
        // Events that came before are not lost: the error waits for the next call.
        this.#failure = new LimitExceeded(`more than ${this.#limit} characters in one event`, { limit: "event" });
        if (events.length === 0) throw this.#failure;
        return events;
      }
      if (at + 1 < lines.length) this.#endLine(events);
    }
    return events;
  }

  /** @param {SSEEvent[]} events */
  #endLine(events) {
    const [, retry] = /^retry: ?(\d{1,15})$/.exec(this.#line) ?? [];
    if (retry) this.retry = Number(retry);
    if (this.#line === "") this.#endEvent(events);
    else if (this.#line[0] !== ":") this.#fields.push(this.#line);
    else this.#size -= this.#line.length;
    this.#line = "";
  }

  /** @param {SSEEvent[]} events */
  #endEvent(events) {
    const data = [];
    let [type, hasId] = ["", false];
    for (const field of this.#fields) {
      const [, name, value] = /** @type {RegExpExecArray} */ (/^([^:]*):? ?([^]*)$/.exec(field));
      if (name === "data") data.push(value);
      if (name === "event") type = value;
      if (name !== "id" || value.includes("\0")) continue;
      this.lastEventId = value;
      hasId = true;
    }
    if (data.length > 0) events.push({ type: type || "message", data: data.join("\n"), id: this.lastEventId, hasId });
    this.#fields = [];
    this.#size = 0;
  }
}

/**
 * Text that holds a provider's events → their JSON texts. Without `sse` the beginning of the text decides. A
 * piece that is one JSON object need not end with a line break: many programs store events so.
 */
export class EventText {
  /** @type {SSEDecoder | null} */
  #decoder;
  #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #isDecided;
  #rest = "";
  /** True after an event that marks the end of the stream, such as `[DONE]`. */
  hasEnded = false;

  /** @param {boolean} sse */
  constructor(sse) {
    this.#decoder = sse ? new SSEDecoder() : null;
    this.#isDecided = sse;
  }

  /**
   * Return the events that are complete with this piece.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   * @returns {string[]}
   */
  feed(piece) {
    const text = typeof piece === "string" ? piece : this.#utf8.decode(piece, { stream: true });
    if (this.#decoder !== null) return this.#dataOf(this.#decoder.feed(text));
    this.#rest += text;
    if (!this.#isDecided && FIELD.test(this.#rest)) {
      this.#decoder = new SSEDecoder();
      return this.#dataOf(this.#decoder.feed(this.#rest));
    }
    this.#isDecided ||= this.#rest.trim().length >= MAX_UNDECIDED || this.#rest.trim().startsWith("{");
    return this.#lines();
  }

  /** Return the last event, which counts without its blank line if it is JSON. */
  flush() {
    const last = this.#decoder === null ? [this.#rest.trim()] : this.#dataOf(this.#decoder.feed("\n\n"));
    this.#rest = "";
    return last.filter((text) => (this.#decoder === null ? text !== "" : isJson(text)));
  }

  /** @param {SSEEvent[]} events */
  #dataOf(events) {
    this.hasEnded ||= events.some(endsStream);
    return events.filter((event) => !endsStream(event)).map(({ data }) => data);
  }

  #lines() {
    const lines = this.#rest.split("\n").map((line) => line.trim());
    const last = /** @type {string} */ (lines.pop());
    const isWhole = last.startsWith("{") && last.endsWith("}") && isJson(last);
    this.#rest = isWhole ? "" : this.#rest.slice(this.#rest.lastIndexOf("\n") + 1);
    if (isWhole) lines.push(last);
    this.hasEnded ||= lines.some((line) => line.startsWith("[DONE]"));
    return lines.filter((line) => line !== "" && !line.startsWith("[DONE]"));
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

/**
 * Server-sent events: bytes or text, cut anyhow → events, as the WHATWG standard says. No I/O.
 */

/**
 * One event. `id` is the last id that was sent with or before it, `ownId` tells whether with it.
 * @typedef {{type: string, data: string, id: string, ownId: boolean}} SSEEvent
 */

/** True for `[DONE]`, which is not an event, but the end of a stream. @param {string} data */
export function isDone(data) {
  return data.trimStart().startsWith("[DONE]");
}

/** True for the last event of a stream of ours, or of a provider that sends `[DONE]`. @param {SSEEvent} event */
export function endsStream({ type, data }) {
  return type === "CLOSE" || isDone(data);
}

const LINE_END = /\r\n|\r|\n/;

/** More characters in a line or an event than the reader allows. */
export class LimitError extends Error {
  /** @param {number} limit */
  constructor(limit) {
    super(`more than ${limit} characters in one event`);
    this.name = "LimitError";
  }
}

/** Bytes or text of an event stream → events, each as soon as its blank line is there. */
export class SSEDecoder {
  #limit;
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #started = false;
  // A CR ends a line at once; an LF right after it, perhaps in the next piece, is part of it.
  #skipLf = false;
  /** @type {LimitError | null} */
  #failure = null;
  // The line that is being read, and its length with that of the data before it.
  #line = "";
  #size = 0;
  // The block that is being read.
  /** @type {string[]} */
  #data = [];
  #type = "";
  #id;
  #ownId = false;

  /**
   * `limit` bounds the characters of a line and of an event's data; `lastEventId` is where an
   * earlier connection stopped.
   * @param {{limit?: number, lastEventId?: string}} [options]
   */
  constructor({ limit = 16 * 2 ** 20, lastEventId = "" } = {}) {
    /** The id of the last event: what a client that lost the connection goes on from. */
    this.lastEventId = lastEventId;
    /** The milliseconds to wait before that, if the server said. @type {number | null} */
    this.retry = null;
    this.#limit = limit;
    this.#id = lastEventId;
  }

  /**
   * The events that this piece ends.
   * @param {Uint8Array | ArrayBuffer | string} piece
   * @returns {SSEEvent[]}
   */
  feed(piece) {
    if (this.#failure !== null) throw this.#failure;
    let text = typeof piece === "string" ? piece : this.#decoder.decode(piece, { stream: true });
    if (text !== "" && !this.#started) {
      this.#started = true;
      if (text[0] === "\ufeff") text = text.slice(1);
    }
    if (text !== "" && this.#skipLf) {
      this.#skipLf = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    /** @type {SSEEvent[]} */
    const events = [];
    if (text !== "") {
      this.#skipLf = text.endsWith("\r");
      this.#lines(text.split(LINE_END), events);
    }
    return events;
  }

  /**
   * @param {string[]} lines the last of them has not ended
   * @param {SSEEvent[]} events
   */
  #lines(lines, events) {
    const rest = /** @type {string} */ (lines.pop());
    try {
      for (const line of lines) {
        this.#add(line);
        this.#endLine(events);
      }
      this.#add(rest);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      // Events that came before are not lost: the error waits for the next call.
      this.#failure = error;
      if (events.length === 0) throw error;
    }
  }

  /** @param {string} text */
  #add(text) {
    this.#line += text;
    this.#size += text.length;
    if (this.#size > this.#limit) throw new LimitError(this.#limit);
  }

  /** @param {SSEEvent[]} events */
  #endLine(events) {
    const line = this.#line;
    this.#line = "";
    if (line === "") return this.#endBlock(events);
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (name === "data") {
      this.#data.push(value);
      return;
    }
    this.#size -= line.length;
    if (name === "event") {
      this.#type = value;
    } else if (name === "id" && !value.includes("\0")) {
      this.#id = value;
      this.#ownId = true;
    } else if (name === "retry" && /^[0-9]{1,15}$/.test(value)) {
      this.retry = Number(value);
    }
  }

  /** @param {SSEEvent[]} events */
  #endBlock(events) {
    this.lastEventId = this.#id;
    if (this.#data.length !== 0) {
      events.push({
        type: this.#type || "message",
        data: this.#data.join("\n"),
        id: this.#id,
        ownId: this.#ownId,
      });
    }
    this.#data = [];
    this.#type = "";
    this.#ownId = false;
    this.#size = 0;
  }
}

/**
 * Server-sent events: bytes or text, cut anyhow → events, as the WHATWG standard says. No I/O.
 */

/**
 * One event. `id` is the last id that was sent with or before it, `ownId` tells whether with it.
 * @typedef {{type: string, data: string, id: string, ownId: boolean}} SSEEvent
 */

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
    this._limit = limit;
    this._decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this._started = false;
    // A CR ends a line at once; an LF right after it, perhaps in the next piece, is part of it.
    this._skipLf = false;
    /** @type {LimitError | null} */
    this._failure = null;
    // The line that is being read, and its length with that of the data before it.
    this._line = "";
    this._size = 0;
    // The block that is being read.
    /** @type {string[]} */
    this._data = [];
    this._type = "";
    this._id = lastEventId;
    this._ownId = false;
  }

  /**
   * The events that this piece ends.
   * @param {Uint8Array | ArrayBuffer | string} piece
   * @returns {SSEEvent[]}
   */
  feed(piece) {
    if (this._failure !== null) throw this._failure;
    let text = typeof piece === "string" ? piece : this._decoder.decode(piece, { stream: true });
    if (text !== "" && !this._started) {
      this._started = true;
      if (text[0] === "\ufeff") text = text.slice(1);
    }
    if (text !== "" && this._skipLf) {
      this._skipLf = false;
      if (text[0] === "\n") text = text.slice(1);
    }
    /** @type {SSEEvent[]} */
    const events = [];
    if (text !== "") {
      this._skipLf = text.endsWith("\r");
      this._lines(text.split(LINE_END), events);
    }
    return events;
  }

  /**
   * @param {string[]} lines the last of them has not ended
   * @param {SSEEvent[]} events
   */
  _lines(lines, events) {
    const rest = /** @type {string} */ (lines.pop());
    try {
      for (const line of lines) {
        this._add(line);
        this._endLine(events);
      }
      this._add(rest);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      // Events that came before are not lost: the error waits for the next call.
      this._failure = error;
      if (events.length === 0) throw error;
    }
  }

  /** @param {string} text */
  _add(text) {
    this._line += text;
    this._size += text.length;
    if (this._size > this._limit) throw new LimitError(this._limit);
  }

  /** @param {SSEEvent[]} events */
  _endLine(events) {
    const line = this._line;
    this._line = "";
    if (line === "") return this._endBlock(events);
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    let value = colon === -1 ? "" : line.slice(colon + 1);
    if (value[0] === " ") value = value.slice(1);
    if (name === "data") {
      this._data.push(value);
      return;
    }
    this._size -= line.length;
    if (name === "event") {
      this._type = value;
    } else if (name === "id" && !value.includes("\0")) {
      this._id = value;
      this._ownId = true;
    } else if (name === "retry" && /^[0-9]{1,15}$/.test(value)) {
      this.retry = Number(value);
    }
  }

  /** @param {SSEEvent[]} events */
  _endBlock(events) {
    this.lastEventId = this._id;
    if (this._data.length !== 0) {
      events.push({
        type: this._type || "message",
        data: this._data.join("\n"),
        id: this._id,
        ownId: this._ownId,
      });
    }
    this._data = [];
    this._type = "";
    this._ownId = false;
    this._size = 0;
  }
}

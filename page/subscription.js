/** A subscription to the events of a stream: it can be disconnected and resumed, and it counts. */

import { openEvents } from "../js/src/client/events.js";

/** @typedef {import("../js/src/client/events.js").SSEEvent} SSEEvent */
/** @typedef {import("../js/src/client/events.js").State} State */
/** @typedef {import("../js/src/client/events.js").Detail} Detail */
/** @typedef {import("../js/src/client/events.js").EventStream} EventStream */

export class Subscription {
  counters = { reconnects: 0, duplicates: 0, gaps: 0, lastId: "" };
  /** "live" is connected or reconnecting, "off" was disconnected here, "closed" will not go on. */
  /** @type {"off" | "live" | "closed" | "failed"} */
  state = "off";
  /** @type {EventStream | null} */
  _stream = null;
  _record = 0;

  /**
   * `contiguous`: each record of the log makes one event, so that a missing one is noticed.
   * @param {URL} url
   * @param {{headers: () => Record<string, string>, onEvent: (event: SSEEvent) => void,
   *   onState: (state: State, detail: Detail) => void, contiguous?: boolean}} options
   */
  constructor(url, options) {
    this.url = url;
    this._options = options;
  }

  /** Connects, and continues after the last event received. */
  open() {
    if (this.state === "live" || this.state === "closed") return;
    this.state = "live";
    if (this._stream !== null) this.counters.reconnects += 1;
    const stream = openEvents(this.url, {
      headers: this._options.headers(),
      after: this.counters.lastId,
      retry: 300,
      maxDelay: 5000,
      reconnect: true, // reading a log starts nothing
      onEvent: (event) => this._receive(event),
      onState: (state, detail) => this._enter(stream, state, detail),
    });
    this._stream = stream;
  }

  /** Disconnects; `open` resumes. */
  disconnect() {
    if (this.state === "live") this._close("off");
  }

  close() {
    this._close("closed");
  }

  /** @param {"off" | "closed"} state */
  _close(state) {
    this.state = state;
    this.updateCounters();
    this._stream?.close();
  }

  /** Adds to the counters what the connection has counted since the last call. */
  updateCounters() {
    for (const name of /** @type {const} */ (["reconnects", "duplicates"])) {
      if (this._stream === null) return;
      this.counters[name] += this._stream[name];
      this._stream[name] = 0;
    }
  }

  /** @param {SSEEvent} event */
  _receive(event) {
    const record = recordOf(event.id);
    if (record < this._record) this.counters.duplicates += 1;
    if (this._options.contiguous && record > this._record + 1) this.counters.gaps += 1;
    this._record = Math.max(record, this._record);
    this.counters.lastId = event.id || this.counters.lastId;
    this._options.onEvent(event);
  }

  /**
   * @param {EventStream} stream
   * @param {State} state
   * @param {Detail} detail
   */
  _enter(stream, state, detail) {
    if (stream !== this._stream || this.state === "off" || this.state === "closed") return;
    if (state === "closed" || state === "failed") this.state = state;
    if (state === "closed") this.counters.lastId = stream.lastEventId || this.counters.lastId;
    this._options.onState(state, detail);
  }
}

/**
 * The number of the last log record that an event id refers to.
 * @param {string} id
 */
export function recordOf(id) {
  return Number.parseInt(id, 10) || 0;
}

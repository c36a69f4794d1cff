/**
 * One reading of one stream, counted: it can be cut and taken up again, and its counters go on.
 */

import { openEvents } from "../lib/events.js";

/** @typedef {import("../lib/events.js").SSEEvent} SSEEvent */
/** @typedef {import("../lib/events.js").State} State */
/** @typedef {import("../lib/events.js").Detail} Detail */
/** @typedef {import("../lib/events.js").EventStream} EventStream */

// The rate is that of this many milliseconds.
const WINDOW = 1000;

/** What came, and how fast. */
export class Counters {
  constructor() {
    this.events = 0;
    this.bytes = 0;
    this.reconnects = 0;
    this.duplicates = 0;
    this.gaps = 0;
    this.lastId = "";
    /** Milliseconds from the start to the first event. @type {number | null} */
    this.first = null;
    this._begun = performance.now();
    this._since = 0;
    this._before = 0;
    this._rate = 0;
  }

  /** Everything comes again: count from nothing. */
  restart() {
    this.events = this.bytes = this._before = 0;
    this._since = performance.now();
  }

  /** @param {string} id */
  count(id) {
    this.events += 1;
    this.lastId = id || this.lastId;
    this.first ??= performance.now() - this._begun;
  }

  /** Events in a second, lately. */
  get rate() {
    const now = performance.now();
    const passed = now - this._since;
    if (passed >= WINDOW) {
      this._rate = this._since === 0 ? 0 : ((this.events - this._before) * 1000) / passed;
      this._since = now;
      this._before = this.events;
    }
    return Math.round(this._rate);
  }
}

export class Link {
  /**
   * `contiguous`: every record of the log makes one event, so that a missing one is seen.
   * @param {URL} url
   * @param {{headers: () => Record<string, string>, onEvent: (event: SSEEvent) => void,
   *   onState: (state: State, detail: Detail) => void, contiguous?: boolean}} options
   */
  constructor(url, options) {
    this.url = url;
    this._options = options;
    this.counters = new Counters();
    /** @type {EventStream | null} */
    this._stream = null;
    this._bytes = 0;
    this._reconnects = 0;
    this._duplicates = 0;
    this._record = 0;
    /** "live" is connected, or tries to be; "off" was cut here; "done" has everything. */
    /** @type {"off" | "live" | "done" | "failed"} */
    this.state = "off";
  }

  /** Connect, and go on after the last event that came. */
  open() {
    if (this.state === "live" || this.state === "done") return;
    this.state = "live";
    if (this._stream !== null) this._reconnects += 1;
    const stream = openEvents(this.url, {
      headers: this._options.headers(),
      after: this.counters.lastId,
      retry: 300,
      maxDelay: 5000,
      onEvent: (event) => this._take(event),
      onState: (state, detail) => this._enter(stream, state, detail),
    });
    this._stream = stream;
  }

  /** Cut the connection; `open` goes on from here. */
  cut() {
    if (this.state !== "live") return;
    this.state = "off";
    this._retire();
  }

  /** Leave it for good. */
  end() {
    this.state = "done";
    this._retire();
  }

  /** The counters as they are now. */
  figures() {
    const { counters, _stream: stream } = this;
    counters.bytes = this._bytes + (stream?.bytes ?? 0);
    counters.reconnects = this._reconnects + (stream?.reconnects ?? 0);
    counters.duplicates = this._duplicates + (stream?.duplicates ?? 0);
    return counters;
  }

  _retire() {
    const stream = this._stream;
    if (stream === null) return;
    this._bytes += stream.bytes;
    this._reconnects += stream.reconnects;
    this._duplicates += stream.duplicates;
    stream.bytes = stream.reconnects = stream.duplicates = 0;
    stream.close();
  }

  /** @param {SSEEvent} event */
  _take(event) {
    const record = recordOf(event.id);
    if (record < this._record) this._duplicates += 1;
    if (this._options.contiguous && record > this._record + 1) this.counters.gaps += 1;
    this._record = Math.max(record, this._record);
    this.counters.count(event.id);
    this._options.onEvent(event);
  }

  /**
   * @param {EventStream} stream
   * @param {State} state
   * @param {Detail} detail
   */
  _enter(stream, state, detail) {
    if (stream !== this._stream || this.state === "off") return;
    if (this.state === "done") return;
    if (state === "closed") {
      this.state = "done";
      this.counters.lastId = stream.lastEventId || this.counters.lastId;
    } else if (state === "failed") {
      this.state = "failed";
    }
    this._options.onState(state, detail);
  }
}

/**
 * The number of the last record that an event's id speaks of.
 * @param {string} id
 */
export function recordOf(id) {
  return Number.parseInt(id, 10) || 0;
}

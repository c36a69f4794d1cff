/**
 * A stream on the page, and the channels (panes and raw text) that show its events.
 *
 * In a live session each channel has a connection of its own. A replay reads the events of each
 * channel to the end at once and plays them by its own clock; its position is a record of the log.
 */

import { frames } from "./frames.js";
import { Subscription, recordOf } from "./subscription.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./api.js").Handle} Handle */
/** @typedef {import("./log.js").Event} Event */
/** @typedef {import("../lib/events.js").State} State */
/** @typedef {import("../lib/events.js").Detail} Detail */
/** @typedef {{input: string, many: boolean}} Stream */
/**
 * @typedef {object} Channel
 * @property {Record<string, string>} parameters the query of the events it shows
 * @property {boolean} contiguous whether each record makes an event
 * @property {import("./subscription.js").Counters} counters
 * @property {(stream: Stream) => void} begin
 * @property {(event: Event) => void} add
 * @property {() => void} clear
 * @property {() => void} end
 * @property {() => void} redraw
 */
/** @typedef {State | "off"} SessionState */
/** @typedef {(state: SessionState, detail: string) => void} OnState */

// Records per second at speed 1.
const RATES = new Map([["text", 40], ["snapshots", 6], ["events", 14]]);

class Session {
  /**
   * @param {Api} api
   * @param {Handle} handle
   * @param {Stream} stream
   * @param {OnState} onState
   */
  constructor(api, handle, stream, onState) {
    this.api = api;
    this.handle = handle;
    this.stream = stream;
    this._onState = onState;
    /** @type {Map<Channel, Subscription>} */
    this.subscriptions = new Map();
  }

  /**
   * @param {Channel} channel
   * @param {(event: Event) => void} onEvent
   * @param {(state: State, detail: Detail) => void} onState
   */
  _subscribe(channel, onEvent, onState) {
    this.remove(channel);
    channel.begin(this.stream);
    const url = this.api.url(this.handle.urls.events);
    for (const [name, value] of Object.entries(channel.parameters)) url.searchParams.set(name, value);
    const headers = () => this.api.headers();
    const { contiguous } = channel;
    const subscription = new Subscription(url, { headers, contiguous, onEvent, onState });
    this.subscriptions.set(channel, subscription);
    return subscription;
  }

  /** @param {Channel} channel */
  remove(channel) {
    this.subscriptions.get(channel)?.close();
    this.subscriptions.delete(channel);
  }

  close() {
    for (const channel of this.subscriptions.keys()) this.remove(channel);
  }
}

/** Reads a stream while it is written. The state is that of the first channel. */
export class LiveSession extends Session {
  isDisconnected = false;
  /** @type {Channel | null} */
  _first = null;
  _timer = setInterval(() => this._updateCounters(), 250);

  /** @param {Channel} channel */
  add(channel) {
    this._first ??= channel;
    const onEvent = (/** @type {Event} */ event) => channel.add(event);
    const subscription = this._subscribe(channel, onEvent, (state, { reason = "" }) => {
      if (state === "closed") channel.end();
      if (channel === this._first || state === "failed") this._onState(state, reason);
    });
    channel.counters = subscription.counters;
    if (!this.isDisconnected) subscription.open();
  }

  disconnect() {
    this.isDisconnected = true;
    for (const subscription of this.subscriptions.values()) subscription.disconnect();
    this._onState("off", this._first?.counters.lastId ?? "");
  }

  resume() {
    this.isDisconnected = false;
    for (const subscription of this.subscriptions.values()) subscription.open();
  }

  close() {
    clearInterval(this._timer);
    super.close();
  }

  _updateCounters() {
    for (const [channel, subscription] of this.subscriptions) {
      subscription.updateCounters();
      channel.redraw();
    }
  }
}

/** The events of a channel in a replay, and how many of them are shown. */
class Track {
  /** @type {(Event & {record: number})[]} */
  events = [];
  shown = 0;
  ended = false;
  loaded = false;
  /** Why the remaining events cannot be read; `""` if they can. */
  failure = "";

  /** @param {Channel} channel */
  constructor(channel) {
    this.channel = channel;
  }

  /**
   * Shows the events up to a record, from the start again if it is behind. True when it is reached.
   * @param {number} record
   * @param {boolean} isLast true if no record follows
   * @param {number} until
   */
  move(record, isLast, until) {
    const { channel, events } = this;
    if (this.shown > 0 && (events[this.shown - 1].record > record || (this.ended && !isLast))) {
      channel.clear();
      this.shown = 0;
      this.ended = false;
      channel.counters.restart();
    }
    for (; this.shown < events.length && events[this.shown].record <= record; this.shown += 1) {
      if ((this.shown & 63) === 63 && performance.now() > until) return false;
      const event = events[this.shown];
      channel.add(event);
      channel.counters.count(event.id);
      channel.counters.bytes += event.data.length;
    }
    if (isLast && this.loaded && !this.ended) {
      this.ended = true;
      channel.end();
    }
    return true;
  }
}

export class ReplaySession extends Session {
  /** @type {Map<Channel, Track>} */
  tracks = new Map();
  position = 0;
  playing = true;
  speed = 1;
  _lastTick = 0;
  _isComplete = false;
  _isClosed = false;
  _paint = () => this._tick();

  /**
   * @param {Api} api
   * @param {Handle} handle
   * @param {Stream} stream
   * @param {number} records how many there are
   * @param {OnState} onState
   * @param {() => void} onMove
   */
  constructor(api, handle, stream, records, onState, onMove) {
    super(api, handle, stream, onState);
    this.records = records;
    this._onMove = onMove;
  }

  /** @param {Channel} channel */
  add(channel) {
    const track = new Track(channel);
    const onEvent = (/** @type {Event} */ { id, type, data }) =>
      track.events.push({ id, type, data, record: recordOf(id) });
    const subscription = this._subscribe(channel, onEvent, (state, { reason }) => {
      if (state === "closed") track.loaded = true;
      if (state === "failed") {
        track.failure = reason ?? "the events cannot be read";
        this.playing = false;
        this._onState("failed", track.failure);
      }
      this._wake();
    });
    this.tracks.set(channel, track);
    subscription.open();
    this._wake();
  }

  /** @param {Channel} channel */
  remove(channel) {
    super.remove(channel);
    this.tracks.delete(channel);
  }

  close() {
    this._isClosed = true;
    super.close();
    void this.api.remove(this.handle);
  }

  get atEnd() {
    return this.position >= this.records;
  }

  play() {
    if (this.atEnd) this.position = 0;
    this.playing = true;
    this._lastTick = 0;
    this._onState("open", "");
    this._wake();
  }

  pause() {
    this.seek(Math.floor(this.position));
  }

  /** @param {number} record */
  seek(record) {
    this.position = Math.max(0, Math.min(this.records, record));
    this.playing = false;
    this._onState("off", String(this.position));
    this._wake();
  }

  _wake() {
    this._isComplete = false;
    if (!this._isClosed) frames.request(this._paint);
  }

  /** One step of the clock; true while there is something to do. */
  _tick() {
    if (this._isClosed) return false;
    const now = performance.now();
    if (this.playing) {
      // The clock goes on while the tab is hidden, but not while the replay is paused.
      const seconds = this._lastTick ? (now - this._lastTick) / 1000 : 0;
      this._lastTick = now;
      const rate = this.speed * (RATES.get(this.stream.input) ?? 0);
      this.position = Math.min(this.records, this.position + seconds * rate);
    }
    const reached = this._advance(now + 12);
    this._onMove();
    if (this.atEnd && reached && !this._isComplete) {
      this._isComplete = true;
      this.playing = false;
      const failure = [...this.tracks.values()].find((track) => track.failure)?.failure ?? "";
      this._onState(failure ? "failed" : "closed", failure);
    } else if (this.atEnd && !reached) {
      this._onState("connecting", "");
    }
    return this.playing || !reached;
  }

  /** @param {number} until */
  _advance(until) {
    const record = Math.floor(this.position);
    let reached = true;
    for (const track of this.tracks.values()) {
      // The end of a log is a record of its own.
      const moved = track.move(this.atEnd ? record + 1 : record, this.atEnd, until);
      reached = moved && reached && (track.loaded || track.failure !== "" || !this.atEnd);
    }
    return reached;
  }
}

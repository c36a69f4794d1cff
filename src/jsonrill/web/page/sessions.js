/**
 * A stream on the page: who takes its events, and where they come from.
 *
 * Live, each channel has a connection of its own. A replay reads each channel's events once, to the
 * end, and then plays them by a clock of its own; its position is a record of the log.
 */

import { frames } from "./frames.js";
import { Link, recordOf } from "./subscription.js";

/** @typedef {import("./api.js").Source} Source */
/** @typedef {import("./api.js").Made} Made */
/** @typedef {import("../lib/events.js").SSEEvent} SSEEvent */
/** @typedef {import("./subscription.js").Counters} Counters */
/** @typedef {{input: string, many: boolean}} Stream */
/**
 * @typedef {object} Channel
 * @property {Record<string, string>} parameters of the events it wants
 * @property {boolean} contiguous whether each record makes an event
 * @property {Counters} counters
 * @property {(stream: Stream) => void} begin
 * @property {(event: {id: string, type: string, data: string}) => void} take
 * @property {() => void} clear
 * @property {() => void} end
 * @property {() => void} redraw
 */
/** @typedef {"connecting" | "live" | "waiting" | "off" | "done" | "failed"} SessionState */
/** @typedef {(state: SessionState, detail: string) => void} OnState */

/**
 * @param {Source} source
 * @param {Made} made
 * @param {Channel} channel
 */
function addressOf(source, made, channel) {
  const url = source.url(made.urls.events);
  for (const [name, value] of Object.entries(channel.parameters)) url.searchParams.set(name, value);
  return url;
}

/** Live reading. The first channel is the one whose state is told. */
export class LiveSession {
  /**
   * @param {Source} source
   * @param {Made} made
   * @param {Stream} stream
   * @param {OnState} onState
   */
  constructor(source, made, stream, onState) {
    this.source = source;
    this.made = made;
    this.stream = stream;
    this._onState = onState;
    /** @type {Map<Channel, Link>} */
    this.links = new Map();
    this.cut = false;
    /** @type {Channel | null} */
    this._first = null;
    this._timer = setInterval(() => this._count(), 250);
  }

  /** @param {Channel} channel */
  add(channel) {
    this.remove(channel);
    channel.begin(this.stream);
    this._first ??= channel;
    const link = new Link(addressOf(this.source, this.made, channel), {
      headers: () => this.source.headers(),
      contiguous: channel.contiguous,
      onEvent: (event) => channel.take(event),
      onState: (state, detail) => {
        if (state === "closed") channel.end();
        if (channel === this._first || state === "failed") this._tell(link, state, detail.reason ?? "");
      },
    });
    channel.counters = link.counters;
    this.links.set(channel, link);
    if (!this.cut) link.open();
  }

  /** @param {Channel} channel */
  remove(channel) {
    this.links.get(channel)?.end();
    this.links.delete(channel);
  }

  disconnect() {
    this.cut = true;
    for (const link of this.links.values()) link.cut();
    const link = this._first && this.links.get(this._first);
    this._onState("off", link?.counters.lastId ?? "");
  }

  resume() {
    this.cut = false;
    for (const link of this.links.values()) link.open();
  }

  close() {
    clearInterval(this._timer);
    for (const link of this.links.values()) link.end();
    this.links.clear();
  }

  /**
   * @param {Link} link
   * @param {import("../lib/events.js").State} state
   * @param {string} reason
   */
  _tell(link, state, reason) {
    /** @type {Record<string, SessionState>} */
    const names = { open: "live", closed: "done" };
    this._onState(names[state] ?? /** @type {SessionState} */ (state), reason);
  }

  _count() {
    for (const [channel, link] of this.links) {
      link.figures();
      channel.redraw();
    }
  }
}

/** Where a channel is in the events that it has. */
class Track {
  /** @param {Channel} channel */
  constructor(channel) {
    this.channel = channel;
    /** @type {{id: string, type: string, data: string, record: number}[]} */
    this.events = [];
    this.at = 0;
    this.ended = false;
    this.loaded = false;
    /** Why the rest of it will never come; "" if it may. */
    this.failure = "";
    /** @type {Link | null} */
    this.link = null;
  }

  /**
   * Take events up to this record; go back to the beginning if it is behind. True when there.
   * @param {number} record
   * @param {boolean} final nothing comes after it
   * @param {number} until
   */
  move(record, final, until) {
    const { channel, events } = this;
    if (this.at > 0 && (events[this.at - 1].record > record || (this.ended && !final))) {
      channel.clear();
      this.at = 0;
      this.ended = false;
      channel.counters.restart();
    }
    for (; this.at < events.length && events[this.at].record <= record; this.at += 1) {
      if ((this.at & 63) === 63 && performance.now() > until) return false;
      const event = events[this.at];
      channel.take(event);
      channel.counters.count(event.id);
      channel.counters.bytes += event.data.length;
      channel.counters.lastId = event.id;
    }
    if (final && this.loaded && !this.ended) {
      this.ended = true;
      channel.end();
    }
    return true;
  }
}

export class ReplaySession {
  /**
   * @param {Source} source
   * @param {Made} made
   * @param {Stream} stream
   * @param {number} records how long it is
   * @param {OnState} onState
   * @param {() => void} onMove
   */
  constructor(source, made, stream, records, onState, onMove) {
    this.source = source;
    this.made = made;
    this.stream = stream;
    this.records = records;
    this._onState = onState;
    this._onMove = onMove;
    /** @type {Map<Channel, Track>} */
    this.tracks = new Map();
    this.position = 0;
    this.playing = true;
    /** Records a second. */
    this.rate = 40;
    this._time = 0;
    this._done = false;
    this._closed = false;
    this._paint = () => this._tick();
    frames.ask(this._paint);
  }

  /** @param {Channel} channel */
  add(channel) {
    this.remove(channel);
    channel.begin(this.stream);
    const track = new Track(channel);
    track.link = new Link(addressOf(this.source, this.made, channel), {
      headers: () => this.source.headers(),
      onEvent: ({ id, type, data }) => track.events.push({ id, type, data, record: recordOf(id) }),
      onState: (state, detail) => {
        if (state === "closed") track.loaded = true;
        if (state === "failed") this._failed(track, detail.reason ?? "the events cannot be read");
        this._done = false;
        this.wake();
      },
    });
    track.link.open();
    this.tracks.set(channel, track);
    this.wake();
  }

  /** @param {Channel} channel */
  remove(channel) {
    this.tracks.get(channel)?.link?.end();
    this.tracks.delete(channel);
  }

  close() {
    this._closed = true;
    for (const track of this.tracks.values()) track.link?.end();
    this.tracks.clear();
    void this.source.forget(this.made);
  }

  get atEnd() {
    return this.position >= this.records;
  }

  play() {
    if (this.atEnd) this.position = 0;
    this.playing = true;
    this._done = false;
    this._time = 0;
    this._onState("live", "");
    this.wake();
  }

  pause() {
    this.playing = false;
    this._onState("off", String(Math.floor(this.position)));
    this.wake();
  }

  /** @param {number} record */
  seek(record) {
    this.position = Math.max(0, Math.min(this.records, record));
    this.playing = false;
    this._done = false;
    this._onState("off", String(this.position));
    this.wake();
  }

  /**
   * One of the channels will get no more.
   * @param {Track} track
   * @param {string} reason
   */
  _failed(track, reason) {
    track.failure = reason;
    this.playing = false;
    this._onState("failed", reason);
  }

  wake() {
    if (!this._closed) frames.ask(this._paint);
  }

  /** One step of the clock; true while there is something to do. */
  _tick() {
    if (this._closed) return false;
    const now = performance.now();
    if (this.playing) {
      // Time during which the page was hidden counts, but not time spent being stopped.
      const passed = this._time ? (now - this._time) / 1000 : 0;
      this._time = now;
      this.position = Math.min(this.records, this.position + passed * this.rate);
    }
    const there = this._advance(now + 12);
    this._onMove();
    if (this.atEnd && there && !this._done) {
      this._done = true;
      this.playing = false;
      const failed = [...this.tracks.values()].find((track) => track.failure);
      this._onState(failed ? "failed" : "done", failed?.failure ?? "");
    } else if (this.atEnd && !there) {
      this._onState("connecting", "");
    }
    return this.playing || !there;
  }

  /** @param {number} until */
  _advance(until) {
    let there = true;
    const record = Math.floor(this.position);
    for (const track of this.tracks.values()) {
      // The end of a log is a record of its own.
      const moved = track.move(this.atEnd ? record + 1 : record, this.atEnd, until);
      there = moved && there && (track.loaded || track.failure !== "" || !this.atEnd);
    }
    return there;
  }
}

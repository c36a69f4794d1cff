/**
 * Which moment of a recording is shown: it plays, pauses, steps and jumps. The same for live streams,
 * replays and pastes: a player that follows shows each piece when it arrives.
 */

import { frames } from "./frames.js";

/** @typedef {import("./recording.js").Recording} Recording */

/** Milliseconds between two pieces whose times are not known. */
export const INTERVALS = { text: 25, events: 70, snapshots: 160 };
// Milliseconds that a stream plays at most, whatever it took to come.
const LONGEST = 5000;

export class Player {
  /** The moment that is shown: the number of pieces before it. */
  position = 0;
  playing = false;
  /** True while the newest piece is shown when it arrives. */
  following = false;
  speed = 1;
  /** The moment in milliseconds of the recording, while it plays. */
  _time = 0;
  _lastTick = 0;
  /** Milliseconds for each piece, if those of the recording are not used. */
  _interval = 0;
  /** How many times faster than it came a long stream is played. */
  _haste = 1;
  _isClosed = false;
  _paint = () => this._tick();

  /**
   * @param {Recording} recording
   * @param {() => void} onMove
   */
  constructor(recording, onMove) {
    this.recording = recording;
    this._onMove = onMove;
    this._unlisten = recording.listen(() => {
      if (this.following) this._wake();
    });
  }

  get atEnd() {
    return this.position >= this.recording.length;
  }

  /** Shows each piece when it arrives. */
  follow() {
    this.following = true;
    this.playing = false;
    this._wake();
  }

  /** Plays on; from the start, if the end is reached. */
  play() {
    if (this.atEnd && this.recording.ended) this.position = 0;
    else if (this.atEnd) return this.follow();
    this.following = false;
    this.playing = true;
    this._interval = intervalOf(this.recording);
    this._haste = Math.max(1, this._timeOf(this.recording.length) / LONGEST);
    this._time = this._timeOf(this.position);
    this._lastTick = 0;
    this._wake();
    this._onMove();
  }

  pause() {
    this.following = this.playing = false;
    this._onMove();
  }

  /** @param {number} piece Infinity is the end, which is followed in a stream that goes on */
  seek(piece) {
    this.position = Math.max(0, Math.min(this.recording.length, Math.round(piece)));
    if (piece === Infinity && !this.recording.ended) return this.follow();
    return this.pause();
  }

  /** @param {number} by */
  step(by) {
    this.seek(this.position + by);
  }

  close() {
    this._isClosed = true;
    this._unlisten();
  }

  /** @param {number} piece */
  _timeOf(piece) {
    return this._interval ? piece * this._interval : this.recording.timeOf(piece);
  }

  _wake() {
    if (!this._isClosed) frames.request(this._paint);
  }

  _tick() {
    if (this._isClosed) return false;
    if (this.following) this.position = this.recording.length;
    else if (this.playing) this._advance();
    this._onMove();
    return this.playing;
  }

  _advance() {
    const { length } = this.recording;
    const now = performance.now();
    const speed = this.speed * this._haste;
    this._time += this._lastTick ? (now - this._lastTick) * speed : 0;
    this._lastTick = now;
    // A pause of a model is shown as it was, but not for longer than two seconds.
    const wait = this._timeOf(this.position + 1) - this._time;
    if (this.position < length && wait > 2000 * speed) this._time += wait - 2000 * speed;
    while (this.position < length && this._timeOf(this.position + 1) <= this._time) this.position += 1;
    if (!this.atEnd) return;
    this.playing = false;
    if (!this.recording.ended) this.following = true;
  }
}

/**
 * Milliseconds for each piece of a recording that came all at once; 0 for one with times of its own.
 * @param {Recording} recording
 */
function intervalOf(recording) {
  const isBurst = recording.timeOf(recording.length) < recording.length;
  return isBurst ? INTERVALS[recording.input] : 0;
}

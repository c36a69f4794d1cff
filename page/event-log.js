/**
 * The event log: each piece with its time and the time since the one before. A line leads to its
 * moment. Drawn only while it is open.
 */

import { byId, make } from "./dom.js";
import { escapeText, formatCount, formatNumber } from "./escaping.js";
import { frames } from "./frames.js";

/** @typedef {import("./recording.js").Recording} Recording */

const SHOWN = 100;
const MAX_DATA = 400;
// Milliseconds between two drawings; no reader is faster.
const PAUSE = 200;

export class EventLog {
  /** @type {Recording | null} */
  _recording = null;
  _position = 0;
  _lastDrawn = 0;
  _key = "";
  _paint = () => this._draw();

  /** @param {{onPick: (piece: number) => void}} listener */
  constructor({ onPick }) {
    this.details = byId("log", HTMLDetailsElement);
    this.list = byId("log-list");
    this.filter = byId("log-filter", HTMLInputElement);
    this.details.addEventListener("toggle", () => this._request());
    this.filter.addEventListener("input", () => this._request());
    this.list.addEventListener("click", (event) => {
      const line = /** @type {HTMLElement} */ (event.target).closest("button");
      if (line) onPick(Number(line.dataset.piece));
    });
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._key = "";
    this.list.replaceChildren();
    this.details.hidden = recording === null;
  }

  /** @param {number} position */
  show(position) {
    this._position = position;
    this._request();
  }

  _request() {
    frames.request(this._paint);
  }

  _draw() {
    const recording = this._recording;
    if (recording === null) return false;
    const count = recording.length;
    byId("log-count").textContent = count ? formatCount(count, "event") : "";
    if (!this.details.open) return false;
    const now = performance.now();
    if (now < this._lastDrawn + PAUSE) return true;
    const key = `${this._position} ${this.filter.value} ${count}`;
    if (key === this._key) return false;
    this._key = key;
    this._lastDrawn = now;
    const { scrollTop, clientHeight, scrollHeight } = this.list;
    this.list.replaceChildren(...this._filtered(recording).map((piece) => this._line(recording, piece)));
    if (scrollTop + clientHeight >= scrollHeight - 8) this.list.scrollTop = this.list.scrollHeight;
    return false;
  }

  /**
   * The last pieces up to this moment that contain the text of the filter.
   * @param {Recording} recording
   */
  _filtered({ pieces }) {
    const wanted = this.filter.value.toLowerCase();
    /** @type {number[]} */
    const numbers = [];
    for (let at = Math.min(this._position, pieces.length); at > 0 && numbers.length < SHOWN; at -= 1) {
      const { source, type } = pieces[at - 1];
      if (wanted === "" || `${type} ${source}`.toLowerCase().includes(wanted)) numbers.push(at);
    }
    return numbers.reverse();
  }

  /**
   * @param {Recording} recording
   * @param {number} number
   */
  _line(recording, number) {
    const { source, at, id, type } = recording.pieces[number - 1];
    const line = make("button", "log-line", make("span", "number", formatNumber(number)));
    line.type = "button";
    line.dataset.piece = String(number);
    if (recording.timed) {
      const since = at - recording.timeOf(number - 1);
      line.append(make("span", "at", `${(at / 1000).toFixed(3)} s`));
      line.append(make("span", "since", `+${Math.round(since)} ms`));
    }
    if (id) line.append(make("span", "id", escapeText(id)));
    if (type && type !== "message") line.append(make("span", "type", escapeText(type)));
    const shown = source.length > MAX_DATA ? `${source.slice(0, MAX_DATA)} …` : source;
    line.append(make("span", "data", escapeText(recording.input === "text" ? JSON.stringify(shown) : shown)));
    return line;
  }
}

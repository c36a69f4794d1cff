/**
 * The view "Timing": when each field was written, as a waterfall; figures; characters a second.
 */

import { button, make, setAttributes } from "../dom.js";
import { escapeText, formatNumber, shorten } from "../escaping.js";
import { formatTime, lanesOf, ratesOf, ticksOf, writtenBy } from "./timeline.js";

/** @typedef {import("./timeline.js").Lane} Lane */
/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../views.js").Stage} Stage */

/** Rows that are drawn: more would be slow. */
const MAX_ROWS = 400;
// Milliseconds between two looks at a stream that grows.
const PAUSE = 200;
const BINS = 60;
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{lane: Lane, row: HTMLElement, bar: HTMLElement, begins: HTMLElement, takes: HTMLElement, state: string}} Row */

export class Waterfall {
  /** @type {Recording | null} */
  _recording = null;
  /** @type {Row[]} */
  _rows = [];
  _read = -1;
  _wasEnded = false;
  _readAt = 0;
  _level = 0;
  _drawn = "";

  /**
   * @param {HTMLElement} panel
   * @param {Stage} stage
   */
  constructor(panel, stage) {
    this._stage = stage;
    this._chart = document.createElementNS(SVG, "svg");
    setAttributes(this._chart, { class: "rates", viewBox: `0 0 ${BINS} 24`, preserveAspectRatio: "none", role: "img" });
    this._levels = make("select");
    this._levels.addEventListener("change", () => {
      this._level = Number(this._levels.value);
      this._refresh();
    });
    this._note = make("p", "hint");
    this._rates = make("div", "waterfall-rates", make("span", "muted", "Characters a second"), this._chart);
    const tools = make("div", "waterfall-tools", make("label", "", "Show ", this._levels), this._note, this._rates);
    this._body = make("tbody");
    this._axis = make("div", "axis");
    this._axis.setAttribute("aria-hidden", "true");
    const when = make("th", "when", make("span", "unseen", "When"), this._axis);
    when.setAttribute("scope", "col");
    const head = make("tr", "", head_("Field"), head_("Begins"), head_("Takes"), when);
    this._table = make("table", "waterfall", make("thead", "", head), this._body);
    this._now = make("div", "now");
    this._now.setAttribute("aria-hidden", "true");
    const scroller = make("div", "scroller waterfall-scroller", this._table);
    setAttributes(scroller, { tabindex: 0, role: "region", "aria-label": "When each field was written" });
    this._blank = make("p", "blank", "Start a stream: each field appears here with the time at which it was written.");
    this._content = make("div", "waterfall-view", tools, scroller);
    panel.append(this._blank, this._content);
    this._content.hidden = true;
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._read = -1;
    this._level = 0;
    this._drawn = "";
    this._rows = [];
    this._body.replaceChildren();
    this._blank.hidden = recording !== null;
    this._content.hidden = recording === null;
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    const now = performance.now();
    const isStale = this._read !== recording.length || this._wasEnded !== recording.ended;
    // A stream that grows is read again a few times a second.
    const isDue = recording.ended || now > this._readAt + PAUSE;
    if (isStale && isDue) this._readAgain(recording);
    this._move(recording, position);
    void until;
    return isStale && !isDue;
  }

  _refresh() {
    this._drawn = "";
    if (this._recording !== null) this._readAgain(this._recording);
    if (this._recording !== null) this._move(this._recording, this._stage.player?.position ?? 0);
  }

  /** @param {Recording} recording */
  _readAgain(recording) {
    const begin = performance.now();
    this._read = recording.length;
    this._wasEnded = recording.ended;
    const { lanes, level, deepest, hidden } = lanesOf(recording, MAX_ROWS, this._level);
    this._showLevels(level, deepest);
    const notes = [];
    if (!recording.timed) notes.push("This text came without times: the axis counts pieces.");
    if (hidden > 0) notes.push(`${formatNumber(hidden)} more are not shown.`);
    this._note.textContent = notes.join(" ");
    this._note.hidden = notes.length === 0;
    this._fill(lanes);
    this._showRates(recording);
    this._showAxis(recording);
    // A large document takes long: then it is looked at less often.
    const end = performance.now();
    this._readAt = end + (end - begin) * 10;
    this._drawn = "";
  }

  /**
   * @param {number} level
   * @param {number} deepest
   */
  _showLevels(level, deepest) {
    const levels = Math.min(deepest, 12);
    if (this._levels.options.length !== Math.max(1, levels)) {
      const options = Array.from({ length: Math.max(1, levels) }, (_, at) => {
        const option = make("option", "", at === 0 ? "1 level" : `${at + 1} levels`);
        option.value = String(at + 1);
        return option;
      });
      this._levels.replaceChildren(...options);
    }
    this._levels.value = String(Math.max(1, Math.min(level, levels)));
    this._levels.disabled = levels < 2;
  }

  /** @param {Lane[]} lanes */
  _fill(lanes) {
    // Lanes are in the order of the document: those before the last one seldom change.
    while (this._rows.length > lanes.length) this._rows.pop()?.row.remove();
    lanes.forEach((lane, at) => {
      const row = this._rows[at] ?? this._makeRow(lane);
      if (at >= this._rows.length) {
        this._rows.push(row);
        this._body.append(row.row);
      }
      if (row.lane.label !== lane.label || row.lane.depth !== lane.depth || row.lane.kind !== lane.kind) {
        const fresh = this._makeRow(lane);
        row.row.replaceWith(fresh.row);
        this._rows[at] = fresh;
      } else {
        row.lane = lane;
        row.state = "";
      }
    });
  }

  /** @param {Lane} lane @returns {Row} */
  _makeRow(lane) {
    const bar = make("div", "bar");
    const begins = make("td", "time");
    const takes = make("td", "time");
    const name = button(escapeText(shorten(lane.label, 60)), () => this._choose(row), "lane");
    name.style.paddingInlineStart = `${8 + Math.min(lane.depth, 8) * 12}px`;
    const th = make("th", "", name);
    th.setAttribute("scope", "row");
    const element = make("tr", lane.kind, th, begins, takes, make("td", "when", make("div", "track", bar)));
    /** @type {Row} */
    const row = { lane, row: element, bar, begins, takes, state: "" };
    return row;
  }

  /** @param {Row} row */
  _choose({ lane }) {
    this._stage.player?.seek(lane.start);
    if (lane.path !== null) this._stage.selectPath(lane.path);
    this._stage.announce(`${lane.label}, from piece ${lane.start}`);
  }

  /**
   * The place of a piece on the axis, between 0 and 1.
   * @param {Recording} recording
   * @param {number} piece
   */
  _x(recording, piece) {
    const { length, timed } = recording;
    if (length === 0) return 0;
    if (!timed) return Math.min(1, piece / length);
    const end = recording.timeOf(length);
    return end > 0 ? recording.timeOf(piece) / end : Math.min(1, piece / length);
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   */
  _move(recording, position) {
    const key = `${position} ${this._read}`;
    if (key === this._drawn) return;
    this._drawn = key;
    const { timed, length } = recording;
    for (const row of this._rows) {
      const { lane } = row;
      const isThere = lane.start <= position;
      const end = Math.min(lane.end, position, length);
      const state = `${isThere} ${isThere ? end : ""} ${lane.end <= position}`;
      if (state === row.state) continue;
      row.state = state;
      row.row.classList.toggle("later", !isThere);
      row.row.classList.toggle("open", isThere && lane.end > position);
      // A bar begins where the piece before it ended: the piece took that long to come.
      const from = this._x(recording, Math.max(0, lane.start - 1));
      const to = this._x(recording, Math.max(lane.start, Math.min(lane.end, length)));
      const shown = isThere ? this._x(recording, Math.max(lane.start, end)) : to;
      row.bar.style.left = `${(from * 100).toFixed(3)}%`;
      row.bar.style.width = `${((shown - from) * 100).toFixed(3)}%`;
      const takes = recording.timeOf(Math.max(lane.start, end)) - recording.timeOf(lane.start);
      const begins = timed ? formatTime(recording.timeOf(lane.start)) : `piece ${formatNumber(lane.start)}`;
      row.begins.textContent = isThere ? begins : "";
      const pieces = Math.max(lane.start, end) - lane.start + 1;
      row.takes.textContent = !isThere ? "" : timed ? formatTime(takes) : formatNumber(pieces);
      row.row.title = isThere ? escapeText(shorten(lane.full, 200)) : "";
    }
    this._now.style.left = `${this._x(recording, position) * 100}%`;
    if (this._now.parentElement !== this._axis) this._axis.append(this._now);
  }

  /** @param {Recording} recording */
  _showRates(recording) {
    const measured = ratesOf(recording, writtenBy(recording), BINS);
    this._rates.hidden = measured === null;
    if (measured === null) return this._chart.replaceChildren();
    const most = Math.max(...measured.rates, 1);
    const bars = measured.rates.map((rate, at) => {
      const bar = document.createElementNS(SVG, "rect");
      const height = (rate / most) * 23;
      setAttributes(bar, { x: at + 0.1, width: 0.8, y: 24 - height, height });
      return bar;
    });
    this._chart.setAttribute("aria-label", `Characters a second over time, at most ${Math.round(most)}`);
    const title = document.createElementNS(SVG, "title");
    title.textContent = `Characters a second over time, at most ${formatNumber(Math.round(most))}`;
    this._chart.replaceChildren(title, ...bars);
  }

  /** @param {Recording} recording */
  _showAxis(recording) {
    const end = recording.timed ? recording.timeOf(recording.length) : recording.length;
    const width = this._axis.clientWidth || 320;
    const most = Math.max(2, Math.min(8, Math.floor(width / 75)));
    // A mark at the very end would be cut off.
    const ticks = ticksOf(end, most).filter((tick) => tick === 0 || ((end - tick) / end) * width > 22);
    const marks = ticks.map((tick) => {
      const mark = make("span", "", recording.timed ? formatTime(tick) : formatNumber(Math.round(tick)));
      mark.style.left = `${end > 0 ? (tick / end) * 100 : 0}%`;
      return mark;
    });
    this._axis.replaceChildren(...marks, this._now);
  }
}

/** @param {string} label */
function head_(label) {
  const cell = make("th", "", label);
  cell.setAttribute("scope", "col");
  return cell;
}

/**
 * @param {HTMLElement} panel
 * @param {import("../views.js").Stage} stage
 */
export function mount(panel, stage) {
  return new Waterfall(panel, stage);
}

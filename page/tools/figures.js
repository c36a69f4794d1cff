/** The strip of figures below the player: times, speed, fields; the connection only if it had trouble. */

import { make } from "../dom.js";
import { formatNumber } from "../escaping.js";
import { figuresOf, formatTime, tallyOf } from "./timeline.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {{reconnects: number, duplicates: number, gaps: number}} Transport */

// Milliseconds between two looks at a stream that grows.
const PAUSE = 250;

/** What the figures of a recording are counted from; counted again when it has grown. */
export class Reading {
  /** @type {Recording | null} */
  recording = null;
  /** @type {import("./timeline.js").Tally} */
  tally = { sums: [], first: 0, starts: [], firstField: 0 };
  /** Grows with every reading. */
  version = 0;
  _length = -1;
  _ended = false;
  _at = 0;

  /**
   * Reads the recording again if that is due. True if it is not, but has grown.
   * @param {Recording} recording
   */
  update(recording) {
    const isNew = recording !== this.recording;
    if (!isNew && this._length === recording.length && this._ended === recording.ended) return false;
    const now = performance.now();
    if (!isNew && !recording.ended && now < this._at + PAUSE) return true;
    this.recording = recording;
    this.version += 1;
    this._length = recording.length;
    this._ended = recording.ended;
    this.tally = tallyOf(recording);
    // A large document takes long to count: then it is counted less often.
    this._at = now + (performance.now() - now) * 20;
    return false;
  }
}

/**
 * The token counts of a provider, in whichever words: `31 in, 16 out`.
 * @param {{[name: string]: any}} usage
 */
export function tokensIn(usage) {
  const count = (/** @type {RegExp} */ names) => {
    const [, value] = Object.entries(usage).find(([name, each]) => names.test(name) && typeof each === "number") ?? [];
    return value === undefined ? null : formatNumber(value);
  };
  const read = count(/^(?:prompt|input)_?(?:eval_count|tokens?(?:_?count)?)$/i);
  const written = count(/^(?:completion|output|candidates|eval)_?(?:count|tokens?(?:_?count)?)$/i);
  return [read && `${read} in`, written && `${written} out`].filter(Boolean).join(", ");
}

export class Figures {
  reading = new Reading();
  _drawn = "";

  /** @param {HTMLElement} place */
  constructor(place) {
    this._place = place;
    this._list = make("dl", "figures");
    place.replaceChildren(this._list);
  }

  /**
   * @param {Recording | null} recording
   * @param {number} position
   * @param {Transport | null} [transport]
   * @returns {boolean} true if something is left
   */
  draw(recording, position, transport = null) {
    this._place.hidden = recording === null || recording.length === 0;
    if (recording === null) return false;
    const isLeft = this.reading.update(recording);
    const key = `${position} ${this.reading.version} ${transport?.reconnects} ${transport?.duplicates} ${transport?.gaps}`;
    if (key === this._drawn) return isLeft;
    this._drawn = key;
    const figures = figuresOf(recording, this.reading.tally, position);
    const span = recording.options.span ?? null;
    const time = (/** @type {number | null | undefined} */ value) => (typeof value === "number" ? formatTime(value) : "");
    // The model ended its text itself: that says nothing of whether the text can be read.
    const finish = recording.answer?.outcome === "complete" ? "normal" : (recording.answer?.outcome ?? "");
    /** @type {[string, string, boolean?][]} */
    const all = [
      ["First token", time(figures.firstToken ?? span?.first)],
      ["First field", time(figures.firstField)],
      ["Speed", figures.rate === null ? "" : `${formatNumber(Math.round(figures.rate))} chars/s`],
      ["Total", time(figures.total ?? span?.total)],
      ["Fields", formatNumber(figures.fields)],
      ["Calls", figures.calls > 0 ? formatNumber(figures.calls) : ""],
      ["Characters", formatNumber(figures.characters)],
      ["Finish", position < recording.length ? "" : finish],
      ["Tokens", position < recording.length ? "" : tokensIn(recording.answer?.usage ?? {})],
      ["Reconnects", transport?.reconnects ? formatNumber(transport.reconnects) : ""],
      ["Duplicates", transport?.duplicates ? formatNumber(transport.duplicates) : "", true],
      ["Gaps", transport?.gaps ? formatNumber(transport.gaps) : "", true],
    ];
    this._show(all.filter(([, value]) => value !== ""));
    return isLeft;
  }

  /** @param {[string, string, boolean?][]} figures */
  _show(figures) {
    const list = this._list;
    while (list.children.length > figures.length) list.lastElementChild?.remove();
    figures.forEach(([label, value, alarming = false], at) => {
      const box = list.children[at] ?? list.appendChild(make("div", "", make("dt"), make("dd")));
      const [dt, dd] = box.children;
      if (dt.textContent !== label) dt.textContent = label;
      if (dd.textContent !== value) dd.textContent = value;
      box.classList.toggle("alarm", alarming);
    });
  }
}

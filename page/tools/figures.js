/** The strip of figures below the player: times, speed, fields; the connection only if it had trouble. */

import { make } from "../dom.js";
import { formatDuration, formatNumber } from "../escaping.js";
import { countUpTo, countWhile } from "../growth.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {{reconnects: number, duplicates: number, gaps: number}} Transport */

// Milliseconds between two looks at a stream that grows.
const PAUSE = 250;

/** What the figures of a recording are counted from; counted again when it has grown. */
class Reading {
  /** @type {Recording | null} */
  recording = null;
  /** @type {Tally} */
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
function tokensIn(usage) {
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
    const time = (/** @type {number | null | undefined} */ value) => (typeof value === "number" ? formatDuration(value) : "");
    // The model ended its text itself: that says nothing of whether the text can be read.
    const finish = recording.answer?.outcome === "complete" ? "normal" : (recording.answer?.outcome ?? "");
    /** @type {[string, string, boolean?][]} */
    const all = [
      ["First token", time(figures.firstToken)],
      ["First field", time(figures.firstField)],
      ["Speed", figures.rate === null ? "" : `${formatNumber(Math.round(figures.rate))} chars/s`],
      ["Total", time(figures.total)],
      ["Fields", figures.fields > 0 ? formatNumber(figures.fields) : ""],
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

/**
 * How many characters the model wrote with each piece: text, reasoning and arguments.
 * @param {Recording} recording
 * @returns {number[]}
 */
function writtenBy({ pieces, answer, input }) {
  if (input === "snapshots") {
    let before = 0;
    return pieces.map(({ source }) => {
      const more = Math.max(0, source.length - before);
      before = Math.max(before, source.length);
      return more;
    });
  }
  const written = pieces.map(({ text }) => text.length);
  for (const part of answer?.parts ?? []) {
    if (part.kind === "text") continue; // it is the text of the pieces
    const growth = part.kind === "call" ? part.raw : part.growth;
    growth.each((piece, added) => (written[piece - 1] += added));
  }
  return written;
}

/**
 * @typedef {object} FiguresAt times in milliseconds since the start, null if they are not known
 * @property {number | null} firstToken
 * @property {number | null} firstField when the first field had a value
 * @property {number | null} total
 * @property {number | null} rate characters a second, from the first piece to the last
 * @property {number} characters
 * @property {number} fields of objects, at any level; 0 for snapshots
 * @property {number} calls
 */

/**
 * What figures are counted from, so that those of any moment cost next to nothing.
 * @typedef {object} Tally
 * @property {number[]} sums characters that were written up to each piece
 * @property {number} first the first piece with a character; 0 if there is none
 * @property {number[]} starts the pieces in which fields begin, in order
 * @property {number} firstField the first piece in which a field has a value; 0 if there is none
 */

/**
 * @param {Recording} recording
 * @returns {Tally}
 */
function tallyOf(recording) {
  let sum = 0;
  const sums = writtenBy(recording).map((count) => (sum += count));
  const first = sums.findIndex((each) => each > 0) + 1;
  /** @type {number[]} */
  const starts = [];
  let firstField = Infinity;
  const { answer, outline, hasDocument } = recording;
  const roots = [hasDocument ? outline.root : null, ...(answer?.calls ?? []).map((call) => call.outline.root)];
  for (const root of roots) {
    const work = root === null ? [] : [root];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      if (node.parent?.type === "object") {
        starts.push(node.born);
        if (!node.isContainer) firstField = Math.min(firstField, node.born);
      }
      for (const child of node.children) work.push(child);
    }
  }
  starts.sort((one, other) => one - other);
  return { sums, first, starts, firstField: firstField === Infinity ? 0 : firstField };
}

/**
 * The figures of a recording after this many pieces.
 * @param {Recording} recording
 * @param {Tally} tally
 * @param {number} position
 * @returns {FiguresAt}
 */
function figuresOf({ pieces, timed, calls }, { sums, first, starts, firstField }, position) {
  const upTo = Math.min(position, sums.length);
  const time = (/** @type {number} */ piece) => (timed && piece >= 1 && piece <= upTo ? pieces[piece - 1].at : null);
  const characters = upTo > 0 ? sums[upTo - 1] : 0;
  const begin = time(first);
  const total = time(upTo);
  const seconds = begin === null || total === null ? 0 : (total - begin) / 1000;
  return {
    // Times that begin with the first piece do not tell when the request was sent.
    firstToken: begin === 0 ? null : begin,
    firstField: time(firstField),
    total,
    // What came with the first piece took no time that is known.
    rate: seconds > 0 ? (characters - sums[first - 1]) / seconds : null,
    characters,
    fields: countUpTo(starts, upTo),
    calls: countWhile(calls, ({ begun }) => begun <= upTo),
  };
}

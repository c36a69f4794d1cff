/** What was received, up to a moment: the text in blocks, or one line for each event, snapshot or message. */

import { button, followEnd, make, reveal, showRows } from "./dom.js";
import { escapeText, formatCount, formatNumber } from "./format.js";

/** @typedef {import("./value-node.js").ValueNode} ValueNode */
/** @typedef {import("./outline.js").Outline} Outline */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./marks.js").Mark} Mark */
/** A part of the text with a class. @typedef {[start: number, end: number, className: string]} Span */
/** @typedef {{key: string, signature: string, start: number, end: number}} Row */

const BLOCK = 1000;
const BLOCKS = 7;
const LINES = 100;
const LONGEST_LINE = 2000;
const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)/g;

export class TextPane {
  /** The block, or the line, at which the window begins; null: where the moment is. @type {number | null} */
  #first = null;
  /** True if the beginning of the text is shown, and not its end. */
  #isAtStart = false;
  /** @type {ValueNode | null} */
  #selected = null;
  /** @type {Mark | null} */
  #mark = null;
  /** @type {Recording | null} */
  #recording = null;
  #position = 0;
  #before = button("", () => this.#move(-1), "more");
  #list = make("div", "text");
  #after = button("", () => this.#move(1), "more");
  #pane;

  /**
   * @param {HTMLElement} pane
   * @param {(offset: number) => void} onPick
   */
  constructor(pane, onPick) {
    this.#pane = pane;
    pane.append(this.#before, this.#list, this.#after);
    this.#list.addEventListener("click", (event) => {
      const at = /** @type {HTMLElement} */ (event.target).closest("[data-at]")?.getAttribute("data-at");
      if (at && getSelection()?.isCollapsed) onPick(Number(at));
    });
  }

  /**
   * Show another recording, from its start or following its end.
   * @param {boolean} isAtStart
   */
  reset(isAtStart) {
    this.#first = null;
    this.#isAtStart = isAtStart;
    this.#selected = null;
    this.#list.replaceChildren();
    this.#pane.scrollTop = 0;
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   * @param {Mark | null} mark
   * @param {boolean} [isMoved] whether the user went to another moment
   */
  show(recording, position, mark, isMoved = false) {
    if (position !== this.#position && this.#recording === recording) [this.#first, this.#isAtStart] = [null, false];
    [this.#recording, this.#position, this.#mark] = [recording, position, mark];
    if (this.#isAtStart) this.#draw();
    else followEnd(this.#pane, () => this.#draw(), isMoved);
  }

  /** Highlight a value. @param {ValueNode | null} node */
  select(node) {
    this.#selected = node;
    if (node !== null && this.document !== null) this.#reach(Math.floor(node.start / BLOCK));
    this.#draw();
    reveal(this.#list.querySelector(".selected"), this.#pane);
  }

  /** Scroll to the mark of an error. */
  revealMark() {
    if (this.#mark === null) return;
    this.#reach(this.document ? Math.floor(this.#mark.offset / BLOCK) : this.#mark.position - 1);
    this.#draw();
    reveal(this.#list.querySelector("mark, .line.marked"), this.#pane);
  }

  /** The text that is shown in blocks; null if lines are shown. @returns {Outline | null} */
  get document() {
    return this.#recording?.document ?? null;
  }

  /** Move the window to a block that it does not contain. @param {number} block */
  #reach(block) {
    const blocks = [.../** @type {NodeListOf<HTMLElement>} */ (this.#list.childNodes)].map(({ dataset }) => Number(dataset.key));
    if (!blocks.includes(block)) this.#first = Math.max(0, block - 2);
  }

  /** @param {number} direction */
  #move(direction) {
    const size = this.document ? BLOCKS : LINES;
    const first = Number(/** @type {HTMLElement} */ (this.#list.firstElementChild)?.dataset.key ?? 0);
    this.#first = Math.max(0, first + direction * Math.floor(size / 2));
    this.#draw();
  }

  #draw() {
    if (this.#recording === null) return;
    const { document: outline } = this;
    const length = outline === null ? this.#position : this.#length(outline);
    const count = outline === null ? length : Math.ceil(length / BLOCK);
    const size = outline === null ? LINES : BLOCKS;
    const start = this.#first ?? (this.#isAtStart ? 0 : Math.max(0, count - size));
    const end = Math.min(count, start + size);
    const unit = outline === null ? 1 : BLOCK;
    const name = outline === null ? "line" : "character";
    this.#showMore(this.#before, start * unit, `${formatCount(start * unit, name)} before`);
    const rest = outline === null ? count - end : Math.max(0, length - end * BLOCK);
    this.#showMore(this.#after, rest, `${formatCount(rest, name)} after`);
    /** @type {Row[]} */
    const rows = [];
    for (let index = start; index < end; index += 1) rows.push(outline ? this.#block(index, length) : this.#line(index, count));
    showRows(this.#list, rows, (row, element) =>
      outline ? this.#fillBlock(outline, row, element) : this.#fillLine(row, element),
    );
  }

  /** @param {Outline} outline */
  #length(outline) {
    return Math.min(this.#recording?.lengthAt(this.#position) ?? 0, outline.length);
  }

  /**
   * @param {HTMLElement} element
   * @param {number} count
   * @param {string} label
   */
  #showMore(element, count, label) {
    element.hidden = count === 0;
    element.textContent = `Show more: ${label}`;
  }

  /**
   * @param {number} index
   * @param {number} length
   * @returns {Row}
   */
  #block(index, length) {
    const [start, end] = [index * BLOCK, Math.min(length, (index + 1) * BLOCK)];
    const isIn = (/** @type {number} */ at) => at >= start && at <= end;
    const { keyStart = -1, end: last = -1 } = this.#selected ?? {};
    const selected = keyStart < end && last > start ? `${keyStart}-${last}` : "";
    const mark = this.#mark && !this.#mark.track && isIn(this.#mark.offset) ? this.#mark.offset : "";
    const isLast = end === length && !this.#isOver();
    return { key: String(index), signature: `${end} ${selected} ${mark} ${isLast}`, start, end };
  }

  #isOver() {
    return this.#recording?.isEnded && this.#position === this.#recording.length;
  }

  /**
   * @param {number} index
   * @param {number} count
   * @returns {Row}
   */
  #line(index, count) {
    const isMarked = this.#mark?.position === index + 1;
    return { key: String(index), signature: `${index === count - 1} ${isMarked}`, start: index, end: index + 1 };
  }

  /**
   * @param {Outline} outline
   * @param {Row} row
   * @param {HTMLElement} element
   */
  #fillBlock(outline, { start, end }, element) {
    element.className = isMixed(outline.text.slice(start, end)) ? "block mixed" : "block";
    element.replaceChildren();
    const selected = this.#selected;
    let at = start;
    const add = (/** @type {number} */ until, /** @type {string} */ className) => {
      // A token is cut where the selection or the mark begins and ends.
      const { offset = -1, length = 0 } = this.#mark ?? {};
      const cuts = [selected?.keyStart, selected?.end, offset, offset + length];
      const stops = cuts.filter((cut) => cut !== undefined && cut > at && cut < until).sort((a, b) => Number(a) - Number(b));
      for (const stop of [...stops, until]) {
        element.append(this.#span(outline.text, at, Math.min(Number(stop), end), className));
        at = Number(stop);
      }
    };
    for (const [from, to, className] of spans(outline, start, end)) {
      if (from > at) add(from, "");
      add(Math.min(to, end), className);
    }
    if (end > at) add(end, "");
    if (this.#mark && !this.#mark.track && this.#mark.offset === end && this.#isOver())
      element.append(make("mark", "label", this.#mark.label));
    if (end === this.#length(outline) && !this.#isOver()) element.append(make("span", "cursor"));
  }

  /**
   * @param {string} text
   * @param {number} start
   * @param {number} end
   * @param {string} className
   */
  #span(text, start, end, className) {
    const { offset = 0, length = 0, track = null } = this.#mark ?? {};
    const isMark = track === null && start >= offset && start < offset + length;
    const isSelected = this.#selected !== null && start >= this.#selected.keyStart && start < this.#selected.end;
    const part = text.slice(start, end);
    // A line break has no width of its own.
    const content = isMark && part === "\n" ? [make("mark", "", "↵"), part] : [escapeText(part)];
    const span = make(isMark && content.length === 1 ? "mark" : "span", className, ...content);
    if (isSelected) span.classList.add("selected");
    span.dataset.at = String(start);
    return span;
  }

  /**
   * @param {Row} row
   * @param {HTMLElement} element
   */
  #fillLine({ start }, element) {
    const text = this.#recording?.items[start] ?? "";
    const isMarked = this.#mark?.position === start + 1;
    element.className = `line${isMixed(text) ? " mixed" : ""}${start === this.#position - 1 ? " last" : ""}${isMarked ? " marked" : ""}`;
    element.replaceChildren(make("span", "line-number", formatNumber(start + 1)), ...colour(text.slice(0, LONGEST_LINE)));
    if (text.length > LONGEST_LINE) element.append(` … ${formatCount(text.length - LONGEST_LINE, "character")} more`);
  }
}

/** Return true if a text has right-to-left letters; its tokens then must not be reordered. @param {string} text */
function isMixed(text) {
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/.test(text);
}

/**
 * Yield the tokens of a text between two offsets.
 * @param {Outline} outline
 * @param {number} start
 * @param {number} end
 * @returns {Generator<Span>}
 */
function* spans(outline, start, end) {
  const { nodes } = outline;
  const around = outline.nodeAt(start);
  for (let id = around?.id ?? 0; id < nodes.length && nodes[id].keyStart < end; id += 1) {
    const node = nodes[id];
    if (node.keyStart < node.start) {
      const key = /"(?:[^"\\]|\\[^])*"/y;
      key.lastIndex = node.keyStart;
      const length = key.exec(outline.text)?.[0].length ?? 0;
      if (node.keyStart + length > start) yield [Math.max(start, node.keyStart), node.keyStart + length, "key"];
    }
    if (!node.isContainer && node.end > Math.max(start, node.start) && node.start < end)
      yield [Math.max(start, node.start), node.end, node.kind];
  }
}

/**
 * Colour a line of JSON.
 * @param {string} line
 * @returns {(string | HTMLElement)[]}
 */
export function colour(line) {
  /** @type {any[]} */
  const parts = [];
  let at = 0;
  for (const match of line.matchAll(TOKENS)) {
    const [all, string, colon, number] = match;
    if (match.index > at) parts.push(escapeText(line.slice(at, match.index)));
    const className = string ? (colon ? "key" : "string") : number ? "number" : "boolean";
    parts.push(make("span", className, escapeText(string ?? all)), colon ?? "");
    at = match.index + all.length;
  }
  return [...parts, escapeText(line.slice(at))];
}

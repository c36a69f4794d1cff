/**
 * Text that only grows, in the DOM: pieces of it as text nodes, faults marked at their character.
 * Of a long text the end is shown; what is before it comes when asked for.
 */

import { button, make } from "./dom.js";
import { Follow } from "./follow.js";
import { counted, unitsOf, visible } from "./escaping.js";

// So many characters make a block, which is laid out by itself; a newline ends one earlier. So many
// blocks are kept in the page.
const SPAN = 2048;
const MOST_SPANS = 16;
const MOST_PIECES = 1500;

/** @typedef {"run" | "pieces" | "events"} Style one text; its pieces told apart; a line for each */

class Span {
  /**
   * @param {number} start
   * @param {HTMLElement} element
   */
  constructor(start, element) {
    this.start = start;
    this.text = "";
    this.element = element;
    /**
     * The text between its marks; each part but the last ends where its mark stands.
     * @type {{start: number, end: number, node: Text, mark: HTMLElement | null}[]}
     */
    this._parts = [];
    const node = element.appendChild(document.createTextNode(""));
    this._parts.push({ start: 0, end: Infinity, node, mark: null });
  }

  /** @param {string} text */
  add(text) {
    this.text += text;
    this._parts[this._parts.length - 1].node.appendData(visible(text));
  }

  /**
   * Mark the character at this place, with a note behind it.
   * @param {number} at
   * @param {HTMLElement} note
   * @returns {HTMLElement} the mark
   */
  mark(at, note) {
    let index = this._parts.length - 1;
    while (this._parts[index].start > at) index -= 1;
    const part = this._parts[index];
    if (part.mark !== null && at >= part.end) {
      part.mark.after(note);
      return part.mark;
    }
    const width = (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    const mark = make("mark", "fault", visible(this.text.slice(at, at + width)));
    const rest = { ...part, start: at + width };
    rest.node = document.createTextNode(visible(this.text.slice(rest.start, rest.end)));
    part.node.data = visible(this.text.slice(part.start, at));
    part.node.after(mark, note, rest.node);
    part.end = at;
    part.mark = mark;
    this._parts.splice(index + 1, 0, rest);
    return mark;
  }
}

/** @param {string} text */
function isFull(text) {
  return text.length >= SPAN || (text.length > SPAN / 2 && text.endsWith("\n"));
}

export class TextView {
  /** All of it. */
  text = "";
  ended = false;
  /** @type {string[]} */
  _pending = [];
  _drawn = 0;
  /** @type {Span[]} */
  _spans = [];
  /** The first span that is in the page. */
  _first = 0;
  _all = false;
  /** @type {{offset: number, message: string}[]} */
  _faults = [];
  /** @type {HTMLElement | null} */
  _earlier = null;

  /**
   * @param {HTMLElement} scroller
   * @param {{style?: Style, follows?: boolean}} [options]
   */
  constructor(scroller, { style = "run", follows = true } = {}) {
    this.scroller = scroller;
    this.style = style;
    this._most = style === "run" ? MOST_SPANS : MOST_PIECES;
    this._cursor = make("span", "cursor");
    this._cursor.setAttribute("aria-hidden", "true");
    this._moves = follows;
    this._follow = new Follow(scroller, follows);
    this.clear();
  }

  clear() {
    this.text = "";
    this.ended = this._all = false;
    this._pending = [];
    this._spans = [];
    this._faults = [];
    this._drawn = this._first = 0;
    this._earlier = null;
    this.scroller.replaceChildren(this._cursor);
    this._cursor.hidden = true;
  }

  /** @param {string} piece */
  add(piece) {
    this._pending.push(piece);
    this.text += piece;
  }

  /** Nothing more will come. */
  end() {
    this.ended = true;
  }

  /**
   * A fault at this character, counted as Python does; it is shown once the text is there.
   * @param {number} offset
   * @param {string} message
   */
  fault(offset, message) {
    this._faults.push({ offset, message });
  }

  /** @param {number} until */
  paint(until) {
    let at = 0;
    const pieces = this._pending;
    // In one text, what came since the last frame is one operation.
    if (this.style === "run") this._draw(pieces.splice(0).join(""));
    else for (; at < pieces.length && performance.now() < until; at += 1) this._draw(pieces[at]);
    pieces.splice(0, at);
    this._drop();
    this._cursor.hidden = this.ended || this._drawn === 0;
    if (pieces.length === 0) this._drawFaults();
    this._follow.toEnd();
    return pieces.length > 0;
  }

  /** @param {string} text */
  _draw(text) {
    if (this.style !== "run") {
      if (text) this._span().add(text);
      this._drawn += text.length;
      return;
    }
    for (let at = 0; at < text.length; ) {
      let last = this._spans.at(-1);
      if (last === undefined || isFull(last.text)) last = this._span();
      const most = at + SPAN - last.text.length;
      let end = Math.min(text.length, most);
      const line = text.indexOf("\n", Math.max(at, most - SPAN / 2));
      if (line !== -1 && line < end) end = line + 1;
      if (/[\udc00-\udfff]/.test(text[end] ?? "")) end += 1;
      last.add(text.slice(at, end));
      this._drawn += end - at;
      at = end;
    }
  }

  _span() {
    const kind = { run: "block", pieces: "piece", events: "event" }[this.style];
    const span = new Span(this._drawn, make("span", kind));
    this._spans.push(span);
    this.scroller.append(span.element);
    // The cursor stands behind the last character: in its block, or behind all pieces.
    (this.style === "run" ? span.element : this.scroller).append(this._cursor);
    return span;
  }

  /** Take the oldest out of the page when there are many. */
  _drop() {
    if (this._all) return;
    for (; this._spans.length - this._first > this._most; this._first += 1) {
      this._spans[this._first].element.remove();
    }
    if (this._first === 0) return;
    const hidden = this._spans[this._first].start;
    const label = `show the ${counted(hidden, "character")} before this`;
    if (this._earlier === null) {
      this._earlier = button(label, () => this.showAll(), "small earlier");
      this.scroller.prepend(this._earlier);
    }
    this._earlier.textContent = label;
  }

  showAll() {
    this._all = true;
    this._earlier?.remove();
    this._earlier = null;
    const before = document.createDocumentFragment();
    for (const span of this._spans.slice(0, this._first)) before.append(span.element);
    this._first = 0;
    this.scroller.prepend(before);
  }

  _drawFaults() {
    this._faults = this._faults.filter(({ offset, message }) => {
      const at = unitsOf(this.text, offset);
      if (at >= this.text.length && !this.ended) return true;
      this._mark(at, message);
      return false;
    });
  }

  /**
   * @param {number} at
   * @param {string} message
   */
  _mark(at, message) {
    const note = make("span", "fault-note", message);
    note.setAttribute("role", "note");
    let index = this._spans.length - 1;
    while (index > 0 && this._spans[index].start > at) index -= 1;
    const span = this._spans[index];
    let mark;
    if (span === undefined || at >= this.text.length) {
      mark = make("mark", "fault", "end of text");
      this._cursor.before(mark, note);
    } else {
      if (index < this._first) this.showAll();
      mark = span.mark(at - span.start, note);
    }
    this._follow.stop();
    const top = mark.offsetTop - this.scroller.offsetTop - this.scroller.clientHeight / 2;
    if (this._moves) this.scroller.scrollTop = top;
  }
}

/**
 * Draws a growing text into the DOM: text nodes only, with errors marked at their characters. Of a
 * long text only the end is shown, until the user asks for the rest.
 */

import { AutoScroll } from "./autoscroll.js";
import { button, make } from "./dom.js";
import { escapeText, formatCount, skipCharacters } from "./escaping.js";

// Characters in a block, which the browser lays out separately; a newline ends a block earlier.
const BLOCK = 2048;
// How many blocks and how many pieces stay in the page.
const MAX_BLOCKS = 16;
const MAX_PIECES = 1500;
const MAX_EVENTS = 150;

/** @typedef {"run" | "piece" | "event"} Style one text; its pieces distinguishable; a line for each */

/** A part of the text with an element of its own: a block, a piece or an event. */
class Span {
  /**
   * @param {number} start
   * @param {HTMLElement} element
   */
  constructor(start, element) {
    this.start = start;
    this.text = "";
    this.element = element;
    const node = element.appendChild(document.createTextNode(""));
    /**
     * The text between the marks; each part but the last ends at its mark.
     * @type {{start: number, end: number, node: Text, mark: HTMLElement | null}[]}
     */
    this._parts = [{ start: 0, end: Infinity, node, mark: null }];
  }

  /** @param {string} text */
  add(text) {
    this.text += text;
    this._parts[this._parts.length - 1].node.appendData(escapeText(text));
  }

  /**
   * Marks the character at this offset.
   * @param {number} at
   * @returns {HTMLElement} the mark
   */
  mark(at) {
    let index = this._parts.length - 1;
    while (this._parts[index].start > at) index -= 1;
    const part = this._parts[index];
    if (part.mark !== null && at >= part.end) return part.mark;
    const shown = (/** @type {number} */ start, /** @type {number} */ end) => escapeText(this.text.slice(start, end));
    const start = skipCharacters(this.text, 1, at);
    const mark = make("mark", "error", shown(at, start));
    const rest = { ...part, start, node: document.createTextNode(shown(start, part.end)) };
    part.node.data = shown(part.start, at);
    part.node.after(mark, rest.node);
    part.end = at;
    part.mark = mark;
    this._parts.splice(index + 1, 0, rest);
    return mark;
  }
}

/** @param {string} text */
function isFull(text) {
  return text.length >= BLOCK || (text.length > BLOCK / 2 && text.endsWith("\n"));
}

export class TextView {
  /** The complete text. */
  text = "";
  ended = false;
  /** @type {string[]} */
  _pending = [];
  _drawn = 0;
  /** @type {Span[]} */
  _spans = [];
  /** The index of the first span in the page. */
  _first = 0;
  _showsAll = false;
  /** Errors whose character has not arrived yet. @type {{offset: number, message: string}[]} */
  _errors = [];

  /**
   * @param {HTMLElement} scroller
   * @param {{style?: Style, follows?: boolean}} [options]
   */
  constructor(scroller, { style = "run", follows = true } = {}) {
    this.scroller = scroller;
    this.style = style;
    this._cursor = make("span", "cursor");
    this._cursor.setAttribute("aria-hidden", "true");
    this._earlier = button("", () => this.showAll(), "small earlier");
    this._follows = follows;
    this._autoScroll = new AutoScroll(scroller, follows);
    this.clear();
  }

  clear() {
    this.text = "";
    this.ended = this._showsAll = false;
    this._pending = [];
    this._spans = [];
    this._errors = [];
    this._drawn = this._first = 0;
    this.scroller.replaceChildren(this._cursor);
    this._cursor.hidden = true;
  }

  /**
   * Leaves out the first characters of the text.
   * @param {number} count
   */
  skip(count) {
    this._drawn += count;
  }

  /** @param {string} piece */
  add(piece) {
    this._pending.push(piece);
    this.text += piece;
  }

  end() {
    this.ended = true;
  }

  /**
   * Marks an error once the text has reached its character.
   * @param {number} offset
   * @param {string} message
   */
  markError(offset, message) {
    this._errors.push({ offset, message });
  }

  /** @param {number} until */
  paint(until) {
    const pieces = this._pending;
    let at = 0;
    // In one text, everything since the last frame is one operation.
    if (this.style === "run") this._drawRun(pieces.splice(0).join(""));
    else for (; at < pieces.length && performance.now() < until; at += 1) this._drawPiece(pieces[at]);
    pieces.splice(0, at);
    this._dropEarlier();
    this._cursor.hidden = this.ended || this._drawn === 0;
    if (pieces.length === 0) this._drawErrors();
    this._autoScroll.toEnd();
    return pieces.length > 0;
  }

  /** @param {string} text */
  _drawPiece(text) {
    if (text === "") return;
    this._addSpan().add(text);
    this._drawn += text.length;
  }

  /** @param {string} text */
  _drawRun(text) {
    for (let at = 0; at < text.length; ) {
      let last = this._spans.at(-1);
      if (last === undefined || isFull(last.text)) last = this._addSpan();
      const most = at + BLOCK - last.text.length;
      let end = Math.min(text.length, most);
      const newline = text.indexOf("\n", Math.max(at, most - BLOCK / 2));
      if (newline !== -1 && newline < end) end = newline + 1;
      // A block never ends inside a surrogate pair.
      if (/[\udc00-\udfff]/.test(text[end] ?? "")) end += 1;
      last.add(text.slice(at, end));
      this._drawn += end - at;
      at = end;
    }
  }

  _addSpan() {
    const isRun = this.style === "run";
    const span = new Span(this._drawn, make("span", isRun ? "block" : this.style));
    this._spans.push(span);
    this.scroller.append(span.element);
    // The cursor is after the last character: inside the block, or after all pieces.
    (isRun ? span.element : this.scroller).append(this._cursor);
    return span;
  }

  /** Takes the earliest spans out of the page when there are many. */
  _dropEarlier() {
    if (this._showsAll) return;
    const most = { run: MAX_BLOCKS, piece: MAX_PIECES, event: MAX_EVENTS }[this.style];
    for (; this._spans.length - this._first > most; this._first += 1) {
      this._spans[this._first].element.remove();
    }
    if (this._first === 0) return;
    const hidden = formatCount(this._spans[this._first].start, "character");
    this._earlier.textContent = `show the ${hidden} before this`;
    if (!this._earlier.isConnected) this.scroller.prepend(this._earlier);
  }

  showAll() {
    this._showsAll = true;
    this._earlier.remove();
    this.scroller.prepend(...this._spans.slice(0, this._first).map((span) => span.element));
    this._first = 0;
  }

  _drawErrors() {
    this._errors = this._errors.filter(({ offset: at, message }) => {
      if (at >= this.text.length && !this.ended) return true;
      this._drawError(at, message);
      return false;
    });
  }

  /**
   * @param {number} at
   * @param {string} message
   */
  _drawError(at, message) {
    let index = this._spans.length - 1;
    while (index > 0 && this._spans[index].start > at) index -= 1;
    let mark;
    if (index === -1 || at >= this.text.length) {
      mark = make("mark", "error", "end of text");
      this._cursor.before(mark);
    } else {
      if (index < this._first) this.showAll();
      mark = this._spans[index].mark(at - this._spans[index].start);
    }
    mark.title = message;
    this._autoScroll.stop();
    const top = mark.offsetTop - this.scroller.offsetTop - this.scroller.clientHeight / 2;
    if (this._follows) this.scroller.scrollTop = top;
  }
}

/**
 * The text of a recording, in colours, as it was at any moment; errors are marked at their characters. Text
 * nodes only.
 *
 * The text is drawn in blocks of about 1 000 characters, which the browser lays out separately. Only
 * some blocks are in the page: those around what is looked at, usually the last ones. Copying gives
 * the characters of the text itself, whatever is drawn for them.
 */

import { AutoScroll } from "./autoscroll.js";
import { button, make, makeCursor } from "./dom.js";
import { escapeText, formatCount } from "./escaping.js";
import { lex, newLexer } from "./lexer.js";
import { describe } from "./errors.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./lexer.js").LexerState} LexerState */
/** @typedef {{offset: number, note: string}} Mark */

const BLOCK = 1024;
// How many blocks are in the page, and how many more when the user asks.
const SHOWN = 6;
const MORE = 20;
// More new characters than this in a frame are drawn without colours; these come when there are fewer, for
// this many frames.
const FLOOD = 1000;
const QUIET_FRAMES = 4;
// Letters that are written from right to left: they must not move what is around them.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]|[\ud802\ud803\ud83a\ud83b]/;

class Block {
  /** Its element, while it is in the page. @type {HTMLElement | null} */
  element = null;
  /** True if the next character begins another block. */
  isFull = false;
  /** True if it is drawn without colours. */
  isPlain = false;
  /** @type {LexerState} */
  _lexer;
  /** @type {Text | null} */
  _last = null;
  _colour = "";

  /**
   * @param {number} start
   * @param {LexerState} lexer the state at its start
   */
  constructor(start, lexer) {
    this.start = start;
    this.end = start;
    /** Up to where it is drawn. */
    this.drawn = start;
    this.first = lexer;
    this._lexer = { ...lexer };
  }

  /** Removes what is drawn. */
  clear() {
    this.element?.replaceChildren();
    this.drawn = this.start;
    this.isPlain = false;
    this._lexer = { ...this.first };
    this._last = null;
    this._colour = "";
  }

  /**
   * Draws the text up to an offset.
   * @param {string} text
   * @param {number} end
   * @param {Mark[]} marks those in this block, in order
   * @param {WeakMap<Text, {start: number, end: number}>} places
   * @param {boolean} isFlood
   */
  draw(text, end, marks, places, isFlood) {
    const element = /** @type {HTMLElement} */ (this.element);
    const onRun = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ colour) => {
      let at = from;
      for (const mark of marks) {
        if (mark.offset >= to || mark.offset < at) continue;
        const after = mark.offset + ((text.codePointAt(mark.offset) ?? 0) > 0xffff ? 2 : 1);
        this._run(element, text, at, mark.offset, colour, places);
        at = Math.min(after, to);
        this._mark(element, text, mark, at, places);
      }
      this._run(element, text, at, to, colour, places);
    };
    this.isPlain ||= isFlood;
    if (this.isPlain) onRun(this.drawn, end, "");
    else lex(this._lexer, text, this.drawn, end, onRun);
    this.drawn = end;
  }

  /**
   * @param {HTMLElement} element
   * @param {string} text
   * @param {number} from
   * @param {number} to
   * @param {string} colour
   * @param {WeakMap<Text, {start: number, end: number}>} places
   */
  _run(element, text, from, to, colour, places) {
    if (from === to) return;
    const shown = escapeText(text.slice(from, to));
    const place = this._last && places.get(this._last);
    const isolated = RIGHT_TO_LEFT.test(shown);
    if (this._last && place && this._colour === colour && place.end === from && !isolated) {
      this._last.appendData(shown);
      place.end = to;
      return;
    }
    const node = document.createTextNode(shown);
    if (colour === "" && !isolated) element.append(node);
    else element.append(make("span", `t-${colour || "plain"}${isolated ? " isolated" : ""}`, node));
    places.set(node, { start: from, end: to });
    this._last = node;
    this._colour = colour;
  }

  /**
   * @param {HTMLElement} element
   * @param {string} text
   * @param {Mark} mark
   * @param {number} to
   * @param {WeakMap<Text, {start: number, end: number}>} places
   */
  _mark(element, text, mark, to, places) {
    const node = document.createTextNode(escapeText(text.slice(mark.offset, to)));
    places.set(node, { start: mark.offset, end: to });
    element.append(marked(mark, node));
    this._last = null;
  }
}

/**
 * @param {Mark} mark
 * @param {Text | string} content
 */
function marked({ note }, content) {
  const element = make("mark", "error", content);
  element.title = note;
  return element;
}

export class RawText {
  /** @type {Block[]} */
  _blocks = [];
  /** The blocks in the page: from `_first` up to `_last`, excluded. */
  _first = 0;
  _last = 0;
  /** How much of the text is in blocks, and how much is shown. */
  _split = 0;
  _end = 0;
  /** @type {Mark[]} */
  _marks = [];
  _marked = -1;
  /** True if the last block is shown: the text is followed. */
  _atEnd = true;
  /** @type {WeakMap<Text, {start: number, end: number}>} */
  _places = new WeakMap();
  /** @type {LexerState} */
  _lexer = newLexer();
  /** How many frames had few new characters. */
  _quietFrames = QUIET_FRAMES;
  /** The notes of the marks behind the text. */
  _finalNotes = "";
  /** An error that has to be scrolled into view. @type {number | null} */
  _showMark = null;

  /**
   * @param {HTMLElement} scroller
   * @param {Recording} recording
   * @param {{onHover: (offset: number | null) => void, onPick: (offset: number) => void,
   *   onFollow: (on: boolean) => void}} listener
   */
  constructor(scroller, recording, { onHover, onPick, onFollow }) {
    this.scroller = scroller;
    this.recording = recording;
    this.autoScroll = new AutoScroll(scroller, true, onFollow);
    this._cursor = makeCursor();
    this._earlier = button("", () => this._showEarlier(), "small earlier");
    this._later = button("", () => this._showLater(), "small later");
    this._finalMarks = make("span", "final");
    scroller.replaceChildren(this._cursor);
    this._cursor.hidden = true;
    scroller.addEventListener("copy", (event) => this._copy(event));
    scroller.addEventListener("pointermove", (event) => onHover(this._offsetAt(event)));
    scroller.addEventListener("pointerleave", () => onHover(null));
    scroller.addEventListener("click", (event) => {
      const offset = this._offsetAt(event);
      if (offset !== null && getSelection()?.isCollapsed) onPick(offset);
    });
  }

  // ---- drawing ----

  /**
   * Shows the text of a moment. True if colours are left for later.
   * @param {number} moment
   */
  draw(moment) {
    const { recording } = this;
    const end = recording.endOf(moment);
    const isLast = recording.ended && moment >= recording.length;
    this._splitUpTo(end);
    this._updateMarks(moment);
    if (end < this._end) this._shorten(end);
    this._quietFrames = end - this._end > FLOOD ? 0 : this._quietFrames + 1;
    this._end = end;
    if (this._atEnd) this._moveWindow(this._countBlocks(end) - SHOWN, this._countBlocks(end));
    for (let at = this._first; at < this._last; at += 1) this._drawBlock(this._blocks[at]);
    this._drawEnds(isLast);
    this.autoScroll.toEnd();
    return this._quietFrames < QUIET_FRAMES;
  }

  /**
   * Divides the text into blocks: at a newline or a comma, so that no key is divided.
   * @param {number} end
   */
  _splitUpTo(end) {
    const { text } = this.recording;
    while (this._split < end) {
      let block = this._blocks.at(-1);
      const from = Math.max(this._split, block?.start ?? 0);
      if (block === undefined || block.isFull) {
        block = new Block(this._split, { ...this._lexer });
        this._blocks.push(block);
      }
      let stop = end;
      for (let at = Math.max(from, block.start + BLOCK - 1); at < end; at += 1) {
        const tooLong = at - block.start > 2 * BLOCK && !/[\udc00-\udfff]/.test(text[at + 1] ?? "");
        if (text[at] === "\n" || (text[at] === "," && at - block.start > BLOCK) || tooLong) {
          stop = at + 1;
          break;
        }
      }
      lex(this._lexer, text, this._split, stop, () => {});
      this._split = block.end = stop;
      block.isFull = stop < end;
    }
  }

  /** @param {number} end */
  _countBlocks(end) {
    let count = this._blocks.length;
    while (count > 0 && this._blocks[count - 1].start >= end) count -= 1;
    return count;
  }

  /** @param {number} end */
  _shorten(end) {
    const count = this._countBlocks(end);
    if (this._last > count) this._moveWindow(Math.min(this._first, count - SHOWN), count);
    for (let at = this._first; at < this._last; at += 1) {
      if (this._blocks[at].drawn > end) this._blocks[at].clear();
    }
  }

  /**
   * Puts other blocks into the page.
   * @param {number} from
   * @param {number} to
   */
  _moveWindow(from, to) {
    const first = Math.max(0, from);
    const last = Math.max(first, to);
    for (let at = this._first; at < this._last; at += 1) {
      if (at >= first && at < last) continue;
      const block = this._blocks[at];
      block.element?.remove();
      block.clear();
      block.element = null;
    }
    /** @type {Node} */
    let next = this._cursor.parentNode === this.scroller ? this._cursor : this._finalMarks;
    if (next.parentNode !== this.scroller) this.scroller.append((next = this._cursor));
    for (let at = last - 1; at >= first; at -= 1) {
      const block = this._blocks[at];
      if (block.element === null) {
        block.element = make("span", "block");
        this.scroller.insertBefore(block.element, next);
      }
      next = block.element;
    }
    this._first = first;
    this._last = last;
  }

  /** @param {Block} block */
  _drawBlock(block) {
    const end = Math.min(block.end, this._end);
    if (block.isPlain && this._quietFrames >= QUIET_FRAMES) block.clear();
    if (block.drawn >= end) return;
    const marks = this._marks.filter(({ offset }) => offset >= block.drawn && offset < end);
    block.draw(this.recording.text, end, marks, this._places, this._quietFrames === 0);
  }

  /** @param {boolean} isLast */
  _drawEnds(isLast) {
    this._cursor.hidden = isLast || this._end === 0 || !this._atEnd;
    const last = this._blocks[this._last - 1];
    if (last?.element && this._atEnd) last.element.append(this._cursor);
    else this.scroller.append(this._cursor);
    const before = this._blocks[this._first]?.start ?? 0;
    place(this._earlier, before > 0, () => this.scroller.prepend(this._earlier));
    this._earlier.textContent = `Show the ${formatCount(before, "character")} before this`;
    const after = this._end - Math.min(this._end, last?.end ?? 0);
    place(this._later, after > 0, () => this.scroller.append(this._later));
    this._later.textContent = `Show the ${formatCount(after, "character")} after this`;
    const final = isLast ? this._marks.filter(({ offset }) => offset >= this._end) : [];
    place(this._finalMarks, final.length > 0, () => this.scroller.append(this._finalMarks));
    const notes = final.map(({ note }) => note).join("\n");
    if (notes === this._finalNotes) return;
    this._finalNotes = notes;
    this._finalMarks.replaceChildren(...final.map((mark) => marked(mark, "end of text")));
  }

  /** @param {number} moment */
  _updateMarks(moment) {
    const errors = this.recording.textErrors.filter((one) => one.offset !== null && one.piece <= moment);
    if (errors.length === this._marked) return;
    const isFirst = this._marked === -1;
    const before = this._marks;
    this._marked = errors.length;
    this._marks = errors
      .map((one) => ({ offset: one.offset ?? 0, note: escapeText(describe(one)) }))
      .sort((one, other) => one.offset - other.offset);
    if (isFirst && this._marks.length === 0) return;
    const changed = new Set([...before, ...this._marks].map(({ offset }) => offset));
    for (const block of this._blocks) {
      for (const offset of changed) {
        if (offset >= block.start && offset < block.drawn) block.clear();
      }
    }
    const added = this._marks.find((one) => !before.some((old) => old.offset === one.offset));
    if (added) this._showMark = added.offset;
  }

  /** Scrolls to an error that is new. */
  showNewError() {
    if (this._showMark === null) return;
    this.reveal(this._showMark);
    this._showMark = null;
  }

  // ---- windows ----

  _showEarlier() {
    const { scrollHeight, scrollTop } = this.scroller;
    this.autoScroll.stop();
    this._atEnd = false;
    this._moveWindow(this._first - MORE, this._last);
    this._drawAll();
    this.scroller.scrollTop = scrollTop + this.scroller.scrollHeight - scrollHeight;
  }

  _showLater() {
    const count = this._countBlocks(this._end);
    const to = Math.min(count, this._last + MORE);
    this._atEnd = to === count;
    this._moveWindow(this._first, to);
    this._drawAll();
  }

  _drawAll() {
    for (let at = this._first; at < this._last; at += 1) this._drawBlock(this._blocks[at]);
    this._drawEnds(this.recording.ended && this._end === this.recording.text.length);
  }

  /** Shows the end and follows it. */
  follow() {
    this._atEnd = true;
    this.autoScroll.start();
    this._moveWindow(this._countBlocks(this._end) - SHOWN, this._countBlocks(this._end));
    this._drawAll();
    this.autoScroll.toEnd();
  }

  /**
   * Scrolls to a character.
   * @param {number} offset
   */
  reveal(offset) {
    let at = this._blocks.findIndex((block) => offset < block.end);
    if (at === -1) at = this._blocks.length - 1;
    if (at === -1) return;
    if (at < this._first || at >= this._last) {
      this._atEnd = false;
      const half = Math.floor(MORE / 2);
      this._moveWindow(at - half, Math.min(this._countBlocks(this._end), at + half));
      this._drawAll();
    }
    const range = this.rangeOf(offset, offset + 1);
    const box = (range ?? this._blocks[at].element)?.getBoundingClientRect();
    const area = this.scroller.getBoundingClientRect();
    if (!box || (box.top >= area.top && box.bottom <= area.bottom)) return;
    this.autoScroll.stop();
    this.scroller.scrollTop += box.top - area.top - area.height / 2;
  }

  // ---- characters and the page ----

  /**
   * The range in the page of these characters, as far as they are drawn; null if they are not.
   * @param {number} start
   * @param {number} end
   */
  rangeOf(start, end) {
    const range = new Range();
    let isFound = false;
    for (let at = this._first; at < this._last; at += 1) {
      const block = this._blocks[at];
      if (block.element === null || block.end <= start || block.start >= end) continue;
      for (const node of textNodes(block.element)) {
        const place = this._places.get(node);
        if (!place || place.end <= start || place.start >= end) continue;
        if (!isFound) range.setStart(node, this._inNode(node, place, start));
        range.setEnd(node, this._inNode(node, place, end));
        isFound = true;
      }
    }
    return isFound ? range : null;
  }

  /**
   * @param {Text} node
   * @param {{start: number, end: number}} place
   * @param {number} offset
   */
  _inNode(node, { start, end }, offset) {
    if (offset <= start) return 0;
    if (offset >= end) return node.length;
    return Math.min(node.length, escapeText(this.recording.text.slice(start, offset)).length);
  }

  /**
   * The offset of a position in the page; null if it is not in the text.
   * @param {Node} node
   * @param {number} at
   */
  _offsetOf(node, at) {
    const place = this._places.get(/** @type {Text} */ (node));
    if (!place) return null;
    const { start, end } = place;
    if (/** @type {Text} */ (node).length === end - start) return Math.min(end, start + at);
    // Some characters are shown as their code points.
    let offset = start;
    while (offset < end && escapeText(this.recording.text.slice(start, offset + 1)).length <= at) offset += 1;
    return offset;
  }

  /** @param {MouseEvent} event */
  _offsetAt({ clientX, clientY }) {
    const range = document.caretRangeFromPoint?.(clientX, clientY);
    if (range) return this._offsetOf(range.startContainer, range.startOffset);
    const position = /** @type {any} */ (document).caretPositionFromPoint?.(clientX, clientY);
    return position ? this._offsetOf(position.offsetNode, position.offset) : null;
  }

  /** @param {ClipboardEvent} event */
  _copy(event) {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !event.clipboardData) return;
    const range = selection.getRangeAt(0);
    let start = Infinity;
    let end = -1;
    for (const node of textNodes(this.scroller)) {
      const place = this._places.get(node);
      if (!place || !range.intersectsNode(node)) continue;
      const from = node === range.startContainer ? this._offsetOf(node, range.startOffset) : place.start;
      const to = node === range.endContainer ? this._offsetOf(node, range.endOffset) : place.end;
      start = Math.min(start, from ?? place.start);
      end = Math.max(end, to ?? place.end);
    }
    if (end < 0) return;
    event.preventDefault();
    event.clipboardData.setData("text/plain", this.recording.text.slice(start, end));
  }
}

/**
 * Puts an element into the page, or takes it out.
 * @param {HTMLElement} element
 * @param {boolean} isWanted
 * @param {() => void} add
 */
function place(element, isWanted, add) {
  if (isWanted && !element.isConnected) add();
  else if (!isWanted && element.isConnected) element.remove();
}

/**
 * @param {Node} root
 * @returns {Iterable<Text>}
 */
function* textNodes(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) yield/** @type {Text} */ (node);
}

/**
 * Text that comes in pieces → the JSON value it says, once that is whole; never before.
 *
 * Only brackets and quotes are counted as the text comes, so each character is looked at once; the
 * text is judged when the value may have ended. What is not JSON only never gives a value.
 */

import { parse } from "./values.js";

// The longest number that is read. What is longer and has no end is not looked at again.
const MOST_DIGITS = 400;
// In a string: what may end or escape. Outside: what opens or closes something.
const IN_STRING = /["\\]/g;
const OUTSIDE = /["[\]{}]/g;

export class WholeText {
  constructor() {
    /** Is the value whole? */
    this.complete = false;
    /** @type {any} */
    this.value = undefined;
    this._text = "";
    this._dead = false;
    this._depth = 0;
    this._string = false;
    this._escaped = false;
    // A root that is no container and no string: it ends where something else begins.
    this._bare = false;
  }

  /** @param {string} text */
  feed(text) {
    if (this.complete || this._dead || text === "") return;
    const before = this._text.length;
    this._text += text;
    if (this._depth === 0 && !this._string && !this._bare && !this._begun(text)) return;
    const end = this._bare ? this._endOfWord(text) : this._end(text);
    if (end !== -1) this._judge(before + end);
  }

  /** The text has ended: a number is whole only now. */
  flush() {
    if (!this.complete && !this._dead && this._bare) this._judge(this._text.length);
    this._dead = true;
  }

  /**
   * Has the root begun? What it is decides how its end is found.
   * @param {string} text
   */
  _begun(text) {
    const first = /[^ \t\n\r]/.exec(text);
    if (first === null) return false;
    this._bare = !'"[{'.includes(first[0]);
    return true;
  }

  /**
   * Where in this piece the root string or container ends; -1: not in it.
   * @param {string} text
   */
  _end(text) {
    let at = 0;
    while (at < text.length) {
      if (this._escaped) {
        this._escaped = false;
        at += 1;
        continue;
      }
      const pattern = this._string ? IN_STRING : OUTSIDE;
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found === null) return -1;
      at = found.index + 1;
      this._see(found[0]);
      if (this._depth === 0 && !this._string) return at;
    }
    return -1;
  }

  /** @param {string} character */
  _see(character) {
    if (character === "\\") this._escaped = true;
    else if (character === '"') this._string = !this._string;
    else this._depth += "[{".includes(character) ? 1 : -1;
  }

  /**
   * Where a root number or literal ends. A literal is whole with its last letter.
   * @param {string} text
   */
  _endOfWord(text) {
    const word = this._text.trimStart();
    for (const literal of ["true", "false", "null"]) {
      if (word.startsWith(literal)) return text.length - (word.length - literal.length);
    }
    const end = word.search(/[ \t\n\r]/);
    if (end === -1 && word.length > MOST_DIGITS) this._dead = true;
    return end === -1 ? -1 : text.length - (word.length - end);
  }

  /** @param {number} end */
  _judge(end) {
    try {
      this.value = parse(this._text.slice(0, end));
      this.complete = true;
    } catch {
      this._dead = true;
    }
    this._text = "";
  }
}

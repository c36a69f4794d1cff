/**
 * Text that comes in pieces → the JSON value it says, once that is whole; never before.
 *
 * Only brackets and quotes are counted as the text comes, so each character is looked at once; the
 * text is judged when the value may have ended. What is not JSON only never gives a value.
 */

import { isNumberText, parse } from "./values.js";

const LITERALS = ["true", "false", "null"];
const NUMBER_SO_FAR = /^-?(?:0|[1-9][0-9]*)?(?:\.[0-9]*)?(?:[eE][+-]?[0-9]*)?/;
// The longest number that is read. What is longer and has no end is not looked at again.
const MOST_DIGITS = 400;
// In a string: what may end or escape. Outside: what opens or closes something.
const IN_STRING = /["\\]/g;
const OUTSIDE = /["[\]{}]/g;

export class WholeText {
  /** @param {import("./values.js").Numbers} [numbers] how numbers become values */
  constructor(numbers) {
    this._numbers = numbers;
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
   * Where a root number or literal ends: a literal with its last letter, a number where it can no
   * longer go on.
   * @param {string} text
   */
  _endOfWord(text) {
    const word = this._text.replace(/^[ \t\n\r]+/, "");
    const start = text.length - word.length;
    for (const literal of LITERALS) {
      if (word.startsWith(literal)) return start + literal.length;
      if (literal.startsWith(word)) return -1;
    }
    const { length } = /** @type {RegExpExecArray} */ (NUMBER_SO_FAR.exec(word))[0];
    if (length === word.length && length <= MOST_DIGITS) return -1;
    this._dead = length === word.length || !isNumberText(word.slice(0, length));
    return this._dead ? -1 : start + length;
  }

  /** @param {number} end */
  _judge(end) {
    try {
      this.value = parse(this._text.slice(0, end), this._numbers);
      this.complete = true;
    } catch {
      this._dead = true;
    }
    this._text = "";
  }
}

/** Words: Python's literals, values that JSON does not have, keys and strings without quotes. */

import { AFTER, FIRST_ELEMENT, KEY, LITERALS } from "../machine.js";
import { ProseMachine } from "./around.js";
import { endOf } from "./characters.js";
import { SHAPE, WORD as WORD_SHAPE } from "./lookahead.js";
import { BARE_KEY, BARE_VALUE } from "./states.js";
import {
  BARE_KEY as BARE_KEY_TEXT,
  BARE_START,
  BARE_VALUE as BARE_VALUE_TEXT,
  ODD_WORDS,
} from "./tables.js";

/** @typedef {import("./rules.js").Rule} Rule */

/** @type {[string, boolean | null][]} */
export const ALL_WORDS = [
  ...Object.values(LITERALS),
  .../** @type {[string, boolean | null][]} */ (ODD_WORDS.map(([word, value]) => [word, value])),
];


/**
 * True if a word without quotes may begin here.
 * @param {string} text
 * @param {number} pos
 */
export function beginsBare(text, pos) {
  return endOf(BARE_START, text, pos) >= 0;
}

/** The machine that reads words, where they have one meaning. */
export class WordMachine extends ProseMachine {
  /** It may be a bare string. @returns {string | null} */
  get pendingText() {
    return this.rules.has("bare-values") ? null : super.pendingText;
  }

  /**
   * True, None, NaN and their like.
   * @param {string} text
   * @param {number} pos
   */
  _mendWord(text, pos) {
    for (const [word, value, rule] of ODD_WORDS) {
      if (text[pos] !== word[0]) continue;
      const end = this._mendMark(/** @type {Rule} */ (rule), WORD_SHAPE[word], text, pos);
      if (end >= 0) {
        this._token = this._offset + pos;
        if (this._held === "") {
          this._sink.scalar(value, undefined, this._token);
          this._ended(end);
        }
        return end;
      }
    }
    return -1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} expected
   * @param {number} from
   */
  _refuse(text, pos, expected, from) {
    const end = from < pos && this._state <= FIRST_ELEMENT ? this._mendBareValue(text, from) : -1;
    if (end < 0) return super._refuse(text, pos, expected, from);
    this._held = "";
    return end;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _mendBareKey(text, pos) {
    if (!beginsBare(text, pos) || !this._mayRepair("bare-keys", pos)) return -1;
    this._bareKeys = true;
    this._openString(BARE_KEY, pos);
    return pos;
  }

  /**
   * Text without quotes that is read up to `end`.
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  _addBare(text, pos, end) {
    this._pass(text, pos, end);
    if (this._offset + end > this._stop) {
      throw this._over("string", this._limits.string, this._stop - this._offset);
    }
    this._begun += text.slice(pos, end);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _bareKey(text, pos) {
    const end = endOf(BARE_KEY_TEXT, text, pos);
    this._addBare(text, pos, end);
    if (end === text.length) return end;
    let quote = 0;
    // Only the first quote was forgotten.
    if (text[end] === '"') {
      const seen = this._sees(SHAPE.COLON_AHEAD, text, end + 1);
      if (seen === null) return this._hold(text, end);
      quote = seen ? 1 : 0;
    }
    this._endsRepair("bare-keys", this._offset + end + quote);
    this._state = KEY;
    this._endKey(end);
    return end + quote;
  }

  /**
   * A string without quotes, where the rule is named.
   * @param {string} text
   * @param {number} pos
   */
  _mendBareValue(text, pos) {
    if (this._frames.length === 0 || !beginsBare(text, pos)) return -1;
    if (!this._mayRepair("bare-values", pos)) return -1;
    this._openString(BARE_VALUE, pos);
    return pos;
  }

  /**
   * In a string without quotes: it ends at a comma, a bracket or a line end.
   * @param {string} text
   * @param {number} pos
   */
  _bareValue(text, pos) {
    const end = endOf(BARE_VALUE_TEXT, text, pos);
    this._addBare(text, pos, end);
    if (end === text.length) return end;
    // And/or, but no comment.
    if (text[end] === "/") {
      if (end + 1 === text.length && !this._last) return this._hold(text, end);
      if (text[end + 1] !== "/" && text[end + 1] !== "*") {
        this._begun += "/";
        return end + 1;
      }
    }
    const wrong = "}]".includes(text[end]) && text[end] !== (this._object ? "}" : "]");
    if (wrong || !",}]\r\n".includes(text[end])) {
      this._state = AFTER;
      return this._refuse(text, end, "", end);
    }
    this._endsRepair("bare-values", this._offset + end);
    const string = this._begun.replace(/[ \t]+$/, "");
    this._begun = "";
    this._sink.startString(this._token);
    if (string !== "") this._sink.text(string);
    this._sink.endString();
    this._state = AFTER;
    return end;
  }
}

/**
 * Where a string ends: a quote in it ends it, or is part of its text.
 *
 * Quotations have two quotes; one that is left alone means that a quote is missing or too many, and
 * is refused (`_innerQuote`). A key after a comma in a string shows that the quote before the comma
 * was forgotten (`_forgottenQuote`).
 */

import { AFTER, FIRST_KEY, STRING, VALUE } from "../machine.js";
import { charAt, endOf, isAlnum, isAlpha, isSpace, lastOf, lastVisible, trimmedEnd } from "./characters.js";
import { SHAPE } from "./lookahead.js";
import { StringMachine } from "./strings.js";
import {
  CLOSE_QUOTATION,
  ENDS_IN_NUMBER,
  LAST_SCALAR,
  NEXT_ELEMENT,
  NO_QUOTATION,
  PLAIN_KEY,
} from "./tables.js";

// A quote between a digit and one of these means inches.
const INCHES = " .;)x×-";
// After these a quote opens something, if no space follows it.
const OPENS = [",", ":", ";", "[", "{", "("];
const JSON_SPACE = /[ \t\n\r]*/y;
const REMEMBERED = 64;

/** The machine that tells the quote that ends a string from one in its text. */
export class QuoteMachine extends StringMachine {
  /**
   * End the string at this quote, or take the quote as part of its text.
   * @param {string} text
   * @param {number} quote
   * @returns {number}
   */
  _endString(text, quote) {
    if (this._stringAt !== this._token) this._beginText();
    const end = text.length;
    if (this._offset + quote === this._token + 1 && text[quote] === '"' && this._blocks()) {
      if (quote + 1 === end && !this._last) return this._hold(text, quote);
      if (text.startsWith('"', quote + 1)) return this._openBlock('"""', quote - 1);
    }
    if (!this._inner || this._frames.length === 0) return this._finishString(text, quote);
    // Nearly every string ends in one of these ways, told without a shape.
    let pos = endOf(JSON_SPACE, text, quote + 1);
    const closes = /** @param {string} before */ (before) => {
      return before.includes(text[pos]) || (text[pos] === ")" && this._parens.size !== 0);
    };
    let plain;
    if (text[pos] === ",") {
      pos = endOf(JSON_SPACE, text, pos + 1);
      plain = pos < end && closes('"');
    } else {
      plain = pos < end && closes("}]");
    }
    plain ||= pos === end && this._last;
    if (plain && this._nest === 0) {
      if (this._quotation) throw this._loneQuote(quote);
      return this._finishString(text, quote);
    }
    if (pos === end && !this._last && end - quote < REMEMBERED) return this._hold(text, quote);
    return this._doubtfulQuote(text, quote);
  }

  _blocks() {
    return this.rules.has("block-strings") && this._state === STRING;
  }

  /**
   * @param {string} text
   * @param {number} quote
   */
  _doubtfulQuote(text, quote) {
    if (this._nest === 0) {
      const ends = this._object ? SHAPE.STRING_ENDS_IN_OBJECT : SHAPE.STRING_ENDS_IN_ARRAY;
      const seen = this._sees(ends, text, quote + 1);
      if (seen === null) return this._hold(text, quote);
      const cut = this._last && !this._object && endOf(LAST_SCALAR, text, quote + 1) >= 0;
      if (seen || cut) {
        if (this._quotation) throw this._loneQuote(quote);
        return this._finishString(text, quote);
      }
      if (this._tailText !== "" && text[quote] === '"') {
        const end = this._forgottenQuote(text, quote);
        if (end >= 0) return end;
      }
    }
    return this._innerQuote(text, quote);
  }

  /** @param {number} quote */
  _loneQuote(quote) {
    return this._twoReadings("this quote ends the string", "it ends a quotation in it", quote);
  }

  /**
   * After a comma: this quote opens a key, and the one before the comma was forgotten.
   * @param {string} text
   * @param {number} quote
   */
  _forgottenQuote(text, quote) {
    const tail = this._tailText;
    const curly = tail[0] === "”" || tail[0] === "’";
    const opens = lastVisible(tail);
    const inObject = opens === "{" || (opens !== "[" && (this._object || tail.includes("}")));
    const ahead = inObject ? SHAPE.KEY_AHEAD : curly ? SHAPE.CURLY_ELEMENT_AHEAD : SHAPE.ELEMENT_AHEAD;
    const seen = this._sees(ahead, text, quote + 1);
    if (seen === null) return this._hold(text, quote);
    if (curly && this._curly) throw this._loneQuote(quote);
    const rule = curly ? "curly-quotes" : "missing-quotes";
    if (!seen || !this.rules.has(rule)) return -1;
    // After \" the backslash may be part of the text, and the quote its end.
    const swallowed =
      ["}", "]", '"'].includes(lastVisible(this._shown)) ||
      ",:]}".includes(text[quote + 1]) ||
      isSpace(this._shown.at(-1) ?? "") || // before the comma, or in the text
      this._bareKeys; // one may be in the text
    const unsure = swallowed || this._quoted || !this._object;
    if (this._quotation || (!curly && unsure)) {
      const [one, other] = ["a quote is missing before the comma", "the comma is part of the text"];
      throw this._twoReadings(one, other, quote);
    }
    this._mayRepair(rule, quote, 0);
    this._tailText = "";
    this._finishString(text, quote);
    this._replay(curly ? tail.slice(1) : tail, quote);
    return quote;
  }

  /**
   * Read what was held back as the text of a string: a comma, or closing brackets.
   * @param {string} tail
   * @param {number} pos
   */
  _replay(tail, pos) {
    for (let index = 0; index < tail.length; index += 1) {
      const char = tail[index];
      if (char === "," && this._state === AFTER) {
        this._addComma();
      } else if ((char === "}" || char === "]") && this._frames.length !== 0 && this._closes(char)) {
        this._close(pos - tail.length + index);
      } else if ((char === "{" || char === "[") && this._state === VALUE && !this._object) {
        this._open(pos - tail.length + index, char === "{");
      } else if (!isSpace(char)) {
        throw this._loneQuote(pos);
      }
    }
  }

  /**
   * True if this bracket may close the open container now.
   * @param {string} char
   */
  _closes(char) {
    if (this._state === AFTER) return char === (this._object ? "}" : "]");
    return char === "}" && this._state === FIRST_KEY;
  }

  /**
   * A quote that is part of the text: it opens or closes a quotation, or means inches.
   * @param {string} text
   * @param {number} quote
   */
  _innerQuote(text, quote) {
    if (!this.rules.has("inner-quotes")) return this._finishString(text, quote);
    const char = text[quote];
    const after = charAt(text, quote + 1);
    const before = lastOf(this._shown + this._tailText);
    if (!"'’".includes(char) || !(isAlnum(before) && isAlnum(after))) {
      const adjacent = this._innerAt === this._offset + quote - 1;
      this._innerRun = adjacent ? this._innerRun + 1 : 1;
      if (this._nest !== 0) {
        // No JSON has three quotes in a row.
        if (this._innerRun > 2) throw this._loneQuote(quote);
        this._nestString = !this._nestString;
      } else if (this._quotation) {
        const opens = OPENS.includes(before) && !isSpace(after);
        const inWord = isAlnum(after) && !this._glued;
        if (isSpace(before) || inWord || opens) throw this._loneQuote(quote);
        if (this._afterComma) {
          const seen = this._sees(SHAPE.COLON_AHEAD, text, quote + 1);
          if (seen === null) return this._hold(text, quote);
          // `x], "key": [` may be no text at all.
          if (seen) throw this._loneQuote(quote);
        }
        this._quotation = false;
      } else if (char === '"' && (this._low || this._curly) && !isSpace(before)) {
        this._low = this._curly = false;
      } else if (char === '"' && isAlpha(before) && isAlpha(after)) {
        this._quotation = this._glued = true;
        this._afterComma = false;
      } else if (endOf(CLOSE_QUOTATION, before, 0) < 0 && endOf(NO_QUOTATION, after, 0) < 0) {
        if (after === char && !adjacent) {
          const seen = this._seesThree(text, quote);
          if (seen === null) return this._hold(text, quote);
          if (!seen) throw this._loneQuote(quote);
        }
        if ((before === "{" || before === "[") && char === '"') {
          const seen = this._sees(before === "{" ? SHAPE.KEY_AHEAD : SHAPE.ELEMENT_AHEAD, text, quote + 1);
          if (seen === null) return this._hold(text, quote);
          // "x}, {"a": the string has no end; "["true: a comma is missing after it.
          if (!seen || NEXT_ELEMENT.test(this._shown)) throw this._loneQuote(quote);
          this._nest = 1;
          this._nestString = true;
        } else {
          this._quotation = true;
          this._glued = false;
          this._afterComma = lastVisible(this._shown + this._tailText) === ",";
        }
      } else if (!(char === '"' && INCHES.includes(after) && this._endsInNumber())) {
        throw this._loneQuote(quote);
      }
    }
    this._mayRepair("inner-quotes", quote);
    this._quoted = false; // for `_takeText`
    this._take(char);
    this._quoted = true;
    this._innerAt = this._offset + quote;
    return quote + 1;
  }

  /** True if the text before a quote ends in a number: `5" nail`, but not `user1" x`. */
  _endsInNumber() {
    return ENDS_IN_NUMBER.test(this._shown + this._tailText);
  }

  /**
   * `{"name:"Ada"}`: the quote before the colon was forgotten, this one opens the value.
   * @param {string} text
   * @param {number} quote
   */
  _endKeyAt(text, quote) {
    const key = trimmedEnd(this._begun);
    const unclosed = key.endsWith(":") && this.rules.has("missing-quotes") && text[quote] === '"';
    if (!unclosed) return this._endKey(quote);
    const colon = this._sees(SHAPE.COLON_AHEAD, text, quote + 1);
    const seen = colon ? false : this._sees(SHAPE.VALUE_AHEAD, text, quote + 1);
    if (colon === null || seen === null) return this._hold(text, quote);
    if (!seen || endOf(PLAIN_KEY, key, 0) < 0) return this._endKey(quote);
    this._mayRepair("missing-quotes", quote, 0);
    this._begun = trimmedEnd(key.slice(0, -1));
    this._endKey(quote);
    this._state = VALUE;
    return quote;
  }

  /**
   * True if three quotes are part of the text, as in a program; null if more text must come to tell.
   *
   * Two are two strings without a comma, or one quote that is written twice.
   * @param {string} text
   * @param {number} quote
   */
  _seesThree(text, quote) {
    if (text[quote + 2] !== text[quote]) {
      return quote + 2 === text.length && !this._last ? null : false;
    }
    const ends = this._object ? SHAPE.STRING_ENDS_IN_OBJECT : SHAPE.STRING_ENDS_IN_ARRAY;
    const seen = this._sees(ends, text, quote + 3);
    return seen === null ? null : !seen;
  }
}

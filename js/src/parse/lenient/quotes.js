/**
 * Where a string ends: a quote in it ends it, or is part of its text.
 *
 * Quotations have two quotes; one that is left alone means that a quote is missing or too many, and
 * is refused (`innerQuote`). A key after a comma in a string shows that the quote before the comma was
 * forgotten (`forgottenQuote`).
 */

import { AFTER, FIRST_KEY, STRING, VALUE } from "../machine.js";
import { charAt, endOf, isAlnum, isAlpha, isSpace, lastOf, lastVisible, spaceEnd, trimmedEnd } from "./characters.js";
import { SHAPE } from "./lookahead.js";
import { closesBracket } from "./strings.js";
import {
  CLOSE_QUOTATION,
  ENDS_IN_NUMBER,
  LABEL,
  LAST_SCALAR,
  LENGTH,
  NEXT_ELEMENT,
  NO_QUOTATION,
  OPEN_CURLY,
  PLAIN_KEY,
} from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */

const REMEMBERED = 64;
// A quote between a digit and one of these means inches.
const INCHES = " .;)x×-";
// After these a quote opens something, if no space follows it.
const OPENS = [",", ":", ";", "[", "{", "("];

/** Tells the quote that ends a string from one in its text. */
export class Quotes {
  // Of the string that is being read: it had inner quotes; a quotation is open; it began in a word, so
  // it may end in one.
  quoted = false;
  quotation = false;
  glued = false;
  // How many brackets of JSON inside the string are open, and if a string is open there: brackets in
  // it do not count.
  nest = 0;
  nestString = false;
  // It has quotes with and without a backslash; a quote that means inches.
  mixed = false;
  inches = false;
  /** A string begins. */
  beginText() {
    this.quoted = this.quotation = this.glued = this.nestString = false;
    this.mixed = this.inches = false;
    this.nest = 0;
  }

  /**
   * Text of a string with inner quotes goes on.
   * @param {Leniency} m
   * @param {string} run
   */
  noteText(m, run) {
    if (this.quoted && m._state === STRING && run.includes('"')) this.mixed = true;
    if (this.nest === 0 || this.nestString) return;
    for (const char of run) {
      if (this.nest !== 0 && "{[".includes(char)) this.nest += 1;
      else if (this.nest !== 0 && "}]".includes(char)) this.nest -= 1;
    }
  }

  /**
   * At the end of a string: quotes in it that have two readings.
   * @param {Leniency} m
   * @param {number} quote
   */
  refuseText(m, quote) {
    if (m.text.stringAt !== m._token) return;
    if (this.mixed) throw m._twoReadings("quotes are escaped", "some quotes are not", quote);
    const inNumber = this.inches && ENDS_IN_NUMBER.test(m.text.shown + m.text.tailText);
    if (inNumber) throw this.loneQuote(m, quote); // ["item 1" item 2"]
  }

  /**
   * End the string at this quote, or take the quote as part of its text.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   * @returns {number}
   */
  endString(m, text, quote) {
    if (m.text.stringAt !== m._token) m.text.beginText(m);
    const end = text.length;
    if (m._offset + quote === m._token + 1 && text[quote] === '"' && m._state === STRING && m.rules.has("block-strings")) {
      if (quote + 1 === end && !m._last) return m._hold(text, quote);
      if (text.startsWith('"', quote + 1)) return m.text.openBlock(m, '"""', quote - 1);
    }
    if (!m.text.inner || m._frames.length === 0) return m.text.finishString(m, text, quote);
    if (quote + 1 === end && !m._last) return m._hold(text, quote);
    if (this.nest === 0) {
      const ends = this.endsString(m, text, quote);
      if (ends === null) return m._hold(text, quote);
      if (ends) {
        if (this.quotation) throw this.loneQuote(m, quote);
        return m.text.finishString(m, text, quote);
      }
      if (m.text.tailText !== "" && text[quote] === '"') {
        const next = this.forgottenQuote(m, text, quote);
        if (next >= 0) return next;
      }
    }
    return this.innerQuote(m, text, quote);
  }

  /**
   * True if what follows this quote shows that it ends a string; null if more must come to tell.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  endsString(m, text, quote) {
    // Nearly every string ends in one of these ways, told without a shape.
    let pos = spaceEnd(text, quote + 1);
    const comma = text[pos] === ",";
    if (comma) pos = spaceEnd(text, pos + 1);
    if (pos === text.length && m._last) return true;
    if (pos === text.length && pos - quote < REMEMBERED) return null;
    const char = text[pos];
    if (comma ? char === '"' : char === "}" || char === "]") return true;
    if (char === ")" && m.text.parens.size !== 0) return true;
    const shape = m._object ? SHAPE.STRING_ENDS_IN_OBJECT : SHAPE.STRING_ENDS_IN_ARRAY;
    const seen = m._sees(shape, text, quote + 1);
    const cut = m._last && !m._object && endOf(LAST_SCALAR, text, quote + 1) >= 0;
    return seen === null ? null : seen || cut;
  }

  /**
   * True if a curly or a low quote in the text that was emitted is not closed.
   * @param {Leniency} m
   */
  opensCurly(m) {
    return OPEN_CURLY.test(m.text.shown);
  }

  /**
   * @param {Leniency} m
   * @param {number} quote
   */
  loneQuote(m, quote) {
    return m._twoReadings("this quote ends the string", "it ends a quotation in it", quote);
  }

  /**
   * After a comma: this quote opens a key, and the one before the comma was forgotten.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  forgottenQuote(m, text, quote) {
    const tail = m.text.tailText;
    const curly = tail[0] === "”" || tail[0] === "’";
    const opens = lastVisible(tail);
    const inObject = opens === "{" || (opens !== "[" && (m._object || tail.includes("}")));
    const ahead = inObject ? SHAPE.KEY_AHEAD : curly ? SHAPE.CURLY_ELEMENT_AHEAD : SHAPE.ELEMENT_AHEAD;
    const seen = m._sees(ahead, text, quote + 1);
    if (seen === null) return m._hold(text, quote);
    if (curly && this.opensCurly(m)) throw this.loneQuote(m, quote);
    const rule = curly ? "curly-quotes" : "missing-quotes";
    if (!seen || !m.rules.has(rule)) return -1;
    // After \" the backslash may be part of the text, and the quote its end.
    const swallowed =
      ["}", "]", '"'].includes(lastVisible(m.text.shown)) ||
      ",:]}".includes(text[quote + 1]) ||
      isSpace(m.text.shown.at(-1) ?? "") || // before the comma, or in the text
      m._bareKeys || // one may be in the text
      closesBracket(m.text.whole(m));
    const unsure = swallowed || this.quoted || !m._object;
    if (this.quotation || (!curly && unsure)) {
      const [one, other] = ["a quote is missing before the comma", "the comma is part of the text"];
      throw m._twoReadings(one, other, quote);
    }
    m._mayRepair(rule, quote, 0);
    m.text.tailText = "";
    m.text.finishString(m, text, quote);
    this.replay(m, curly ? tail.slice(1) : tail, quote);
    return quote;
  }

  /**
   * Read what was held back as the text of a string: a comma, or closing brackets.
   * @param {Leniency} m
   * @param {string} tail
   * @param {number} pos
   */
  replay(m, tail, pos) {
    for (let index = 0; index < tail.length; index += 1) {
      const char = tail[index];
      if (char === "," && m._state === AFTER) {
        m._addComma();
      } else if ((char === "}" || char === "]") && m._frames.length !== 0 && this.closes(m, char)) {
        m.brackets.close(m, pos - tail.length + index);
      } else if ((char === "{" || char === "[") && m._state === VALUE && !m._object) {
        m._open(pos - tail.length + index, char === "{");
      } else if (!isSpace(char)) {
        throw this.loneQuote(m, pos);
      }
    }
  }

  /**
   * True if this bracket may close the open container now.
   * @param {Leniency} m
   * @param {string} char
   */
  closes(m, char) {
    if (m._state === AFTER) return char === (m._object ? "}" : "]");
    return char === "}" && m._state === FIRST_KEY;
  }

  /**
   * A quote that is part of the text: it opens or closes a quotation, or means inches.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  innerQuote(m, text, quote) {
    if (!m.rules.has("inner-quotes")) return m.text.finishString(m, text, quote);
    const char = text[quote];
    const end = this.afterQuotes(m, text, quote);
    if (end < 0) return m._hold(text, quote);
    const after = charAt(text, end);
    const string = m.text.shown + m.text.tailText;
    const before = lastOf(string);
    if ("'’".includes(char) && isAlnum(before) && isAlnum(after)) {
      // An apostrophe.
    } else if (this.nest !== 0) {
      // No JSON has three quotes in a row.
      if (end > quote + 1) throw this.loneQuote(m, quote);
      this.nestString = !this.nestString;
    } else if (this.quotation) {
      const opens = OPENS.includes(before) && !isSpace(after);
      const inWord = isAlnum(after) && !this.glued;
      if (isSpace(before) || inWord || opens) throw this.loneQuote(m, quote);
      if (lastVisible(string.slice(0, string.lastIndexOf(char))) === ",") {
        const seen = m._sees(SHAPE.COLON_AHEAD, text, end);
        if (seen === null) return m._hold(text, quote);
        // `x], "key": [` may be no text at all.
        if (seen) throw this.loneQuote(m, quote);
      }
      this.quotation = false;
    } else if (char === '"' && !isSpace(before) && this.opensCurly(m)) {
      // It closes that one.
    } else if (char === '"' && isAlpha(before) && isAlpha(after)) {
      this.quotation = this.glued = true;
    } else if (char === '"' && INCHES.includes(after) && LENGTH.test(string) && !LABEL.test(string)) {
      this.inches = true;
    } else if (endOf(CLOSE_QUOTATION, before, 0) >= 0 || endOf(NO_QUOTATION, after, 0) >= 0 || after === char) {
      throw this.loneQuote(m, quote);
    } else if ((before === "{" || before === "[") && char === '"') {
      const seen = m._sees(before === "{" ? SHAPE.KEY_AHEAD : SHAPE.ELEMENT_AHEAD, text, quote + 1);
      if (seen === null) return m._hold(text, quote);
      // "x}, {"a": the string has no end; "["true: a comma is missing after it.
      if (!seen || NEXT_ELEMENT.test(string)) throw this.loneQuote(m, quote);
      this.nest = 1;
      this.nestString = true;
    } else {
      this.quotation = true;
      this.glued = false;
    }
    m._mayRepair("inner-quotes", quote);
    this.quoted = false; // for `noteText`
    m.text.take(m, text.slice(quote, end));
    this.quoted = true;
    return end;
  }

  /**
   * Where the next one or three quotes end, as a program has them; -1 if more must come to tell.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  afterQuotes(m, text, quote) {
    if (!text.startsWith('""', quote)) return quote + 1;
    if (quote + 2 === text.length && !m._last) return -1;
    const ends = text[quote + 2] !== '"' || this.endsString(m, text, quote + 2);
    return ends === null ? -1 : ends ? quote + 1 : quote + 3;
  }

  /**
   * `{"name:"Ada"}`: the quote before the colon was forgotten, this one opens the value.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  endKeyAt(m, text, quote) {
    const last = m._begun.charCodeAt(m._begun.length - 1);
    if (last !== 32 && last !== 58) return m._endKey(quote); // a space, a colon
    const key = trimmedEnd(m._begun);
    const unclosed = key.endsWith(":") && m.rules.has("missing-quotes") && text[quote] === '"';
    if (!unclosed) return m._endKey(quote);
    const colon = m._sees(SHAPE.COLON_AHEAD, text, quote + 1);
    const seen = colon ? false : m._sees(SHAPE.VALUE_AHEAD, text, quote + 1);
    if (colon === null || seen === null) return m._hold(text, quote);
    if (!seen || endOf(PLAIN_KEY, key, 0) < 0) return m._endKey(quote);
    m._mayRepair("missing-quotes", quote, 0);
    m._begun = trimmedEnd(key.slice(0, -1));
    m._endKey(quote);
    m._state = VALUE;
    return quote;
  }
}

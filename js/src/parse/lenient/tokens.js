/** Between tokens: the rule for a character that fits nowhere, commas, fences, ellipses. */

import { InvalidJSON } from "../../errors.js";
import { AFTER, COLON, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, VALUE } from "../machine.js";
import { endOf } from "./characters.js";
import { SHAPE, afterBrackets } from "./lookahead.js";
import { LINE_COMMENT } from "./states.js";
import { ODD_SPACES, ODD_WORDS, QUOTES } from "./tables.js";
import { beginsBare } from "./words.js";

/** @typedef {import("./core.js").Leniency} Leniency */

const REMEMBERED = 64;
const JSON_SPACE = /[ \t\n\r]*/y;
const BEGINS_VALUE = '"{[-0123456789tfn' + ODD_WORDS.map(([word]) => word[0]).join("");

/** Chooses the rule for a character between tokens. */
export class Tokens {
  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   * @returns {number}
   */
  fix(m, text, pos, char) {
    if (ODD_SPACES.includes(char)) return m._mayRepair("odd-spaces", pos) ? pos + 1 : -1;
    if (char === "：" && m._state === COLON && m._mayRepair("fullwidth", pos)) {
      m._state = VALUE;
      return pos + 1;
    }
    if (char === "，" && m._state === AFTER && m._mayRepair("fullwidth", pos)) {
      m._addComma();
      return pos + 1;
    }
    if (Object.hasOwn(QUOTES, char)) return m.text.fixQuote(m, text, pos, char);
    if ("+.".includes(char) && m._state <= FIRST_ELEMENT) {
      const end = m.words.fixNumber(m, text, pos);
      if (end >= 0) return end;
    }
    if (m._frames.length === 0) return this.fixOddValue(m, text, pos, char);
    // `""// no`, `""...`: an empty string and something else, or a string after its quotes.
    const outside = m.text.stringAt === m._token && m._offset + pos === m._token + 2;
    if (outside && "/#.…`".includes(char)) {
      throw m._twoReadings("this is no text", "a quote is misplaced", pos);
    }
    if (char === "/") return m.comments.beginMark(m, text, pos);
    if (char === "#" && m._mayRepair("comments", pos)) {
      m.comments.begin(m, LINE_COMMENT);
      return pos + 1;
    }
    if (char === "`") return this.fixTicks(m, text, pos);
    if (char === ":" || m._state === COLON) return -1;
    // After a colon: no value is invented.
    if (m._state === VALUE && m._object) return this.fixOddValue(m, text, pos, char);
    if (char === ",") return this.fixComma(m, pos);
    if ("]})".includes(char)) return m.brackets.fixCloser(m, text, pos, char);
    if (".…".includes(char)) return this.fixEllipsis(m, text, pos);
    if (m._state === AFTER) return this.fixMissingComma(m, text, pos, char);
    if (!m._object) return this.fixOddValue(m, text, pos, char);
    if (char === "{" && m._state === NEXT_KEY) return m.brackets.fixUnclosed(m, pos);
    return m.words.fixBareKey(m, text, pos);
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  fixOddValue(m, text, pos, char) {
    if (char === "(") return m.brackets.fixTuple(m, pos);
    const end = m.words.fixWord(m, text, pos);
    return end >= 0 ? end : m.words.fixBareValue(m, text, pos);
  }

  /**
   * A fence that ends a value that was cut off, or begins one; or a string between ticks.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixTicks(m, text, pos) {
    const ticks = text.slice(pos, pos + 3);
    if (ticks !== "```") {
      if ("```".startsWith(ticks) && pos + ticks.length === text.length) return m._hold(text, pos);
      return m._state <= FIRST_ELEMENT ? m.text.fixQuote(m, text, pos, "`") : -1;
    }
    if (m._state === VALUE && m._object) return m.text.openBlock(m, "```", pos);
    return this.fixClosingFence(m, pos);
  }

  /**
   * A fence between tokens: the value was cut off before it.
   * @param {Leniency} m
   * @param {number} pos
   */
  fixClosingFence(m, pos) {
    if (!m.rules.has("cut-off") || !m.rules.has("fences")) return -1;
    if (m._state === FIRST_KEY || m._state === FIRST_ELEMENT) {
      throw m._twoReadings("the text stopped here", "a quote is missing", pos);
    }
    m.brackets.refuseOpen(m, pos);
    m._mayRepair("cut-off", pos, 0);
    while (m._frames.length !== 0) m.brackets.leaveNoted(m, pos);
    return pos;
  }

  /**
   * Text after the value. A scalar that something of JSON follows is none.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixAfter(m, text, pos) {
    const char = text[pos];
    if (!m._many && m.brackets.rootEnd < 0) {
      if (":：".includes(char)) {
        const got = `but got '${char}' (if the answer begins before this text, pass prefix="{")`;
        throw m._error(InvalidJSON, "the end of the text", got, pos);
      }
      const mark = m._sees(SHAPE.MARK, text, pos);
      if (mark === null) return m._hold(text, pos);
      const adjacent = m._numberEnd === m._offset + pos && !mark;
      const sentence = m._line === m.text.stringLine && !mark && !ODD_SPACES.includes(char);
      if (adjacent || sentence || ",:}]\"'{[，：".includes(char)) {
        const other = "it is a part of something else";
        throw m._twoReadings("this ends the value", other, pos);
      }
    }
    return m.prose.after(m, text, pos);
  }

  /**
   * A comma too many. In a list a value may be missing before it.
   * @param {Leniency} m
   * @param {number} pos
   */
  fixComma(m, pos) {
    if (!m._object || (m._state === FIRST_KEY && m._frames.length > 1)) {
      const missing = `${m._object ? "a bracket" : "a value"} is missing before it`;
      throw m._twoReadings("the comma is one too many", missing, pos);
    }
    return m._mayRepair("trailing-commas", pos) ? pos + 1 : -1;
  }

  /**
   * Go on as if a comma were here, unless a character beside it may be the wrong one.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  fixMissingComma(m, text, pos, char) {
    const quote = char === '"' || Object.hasOwn(QUOTES, char);
    const begins = m._object ? m.rules.has("bare-keys") && beginsBare(text, pos) : BEGINS_VALUE.includes(char);
    if (!(quote || begins) || !m.rules.has("missing-commas")) return -1;
    const after = quote ? endOf(JSON_SPACE, text, pos + 1) : pos;
    const inReach = after - pos < REMEMBERED;
    if (quote && inReach && after === text.length && !m._last) return m._hold(text, pos);
    const { lastClosed, trailing, closed } = m.brackets;
    const ended = lastClosed >= m._token;
    // [12"a"] may be a string without its quote, 12"" one after its quotes.
    const adjacent = m._numberEnd === m._offset + pos;
    const string = m.text.stringAt === m._token && !ended ? m.text.last : "-";
    const doubt =
      (adjacent && (!"\"'".includes(char) || !m._object || text[pos + 1] === char)) ||
      // The comma is in a string beside it, or meant by a point.
      (inReach && text[after] === ",") ||
      m.words.pointAt >= m._token ||
      string === "," ||
      // The bracket before it belongs after it, or elsewhere.
      (ended && trailing === lastClosed) ||
      // Of two quotes one may be too many.
      (!m._object && ("{[".includes(char) !== ended || (ended && closed?.size === 0) || string === "")) ||
      // In a tuple strings are joined, as in a program.
      m.text.parens.has(m._frames.length);
    if (doubt) throw m._twoReadings("a comma is missing here", "a character beside it is wrong", pos);
    m._mayRepair("missing-commas", pos, 0);
    m._addComma();
    m.brackets.commaAt = m._offset + pos;
    return pos;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixEllipsis(m, text, pos) {
    const ellipsisEnd = SHAPE.ELLIPSIS.whole(text, pos);
    if (ellipsisEnd >= 0 && m.rules.has("ellipses")) {
      const first = m._state === FIRST_KEY || m._state === FIRST_ELEMENT;
      const seen = afterBrackets(text, ellipsisEnd, m._last, true);
      if (seen === null && !first) return m._hold(text, pos);
      if (seen === null || first || seen.then !== "end") {
        throw m._twoReadings("there is nothing here", "values were left out", pos);
      }
    }
    const end = m._fixMark("ellipses", SHAPE.ELLIPSIS, text, pos);
    const comma = m._state === NEXT_KEY || m._state === VALUE;
    if (end >= 0 && m._held === "" && comma) m._takeCommaBack();
    return end;
  }
}

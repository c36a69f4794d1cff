/** Words without quotes, literals of other languages, and numbers: `+5`, `.5`, `5.`, `1_000`. */

import { AFTER, DIGITS, FIRST_ELEMENT, KEY, LITERALS, Machine } from "../machine.js";
import { endOf } from "./characters.js";
import { SHAPE, WORD } from "./lookahead.js";
import { BARE_KEY, BARE_VALUE } from "./states.js";
import {
  BARE_KEY as BARE_KEY_TEXT,
  BARE_START,
  BARE_VALUE as BARE_VALUE_TEXT,
  NUMBER_REST,
  ODD_NUMBER,
  ODD_SPACES,
  ODD_WORDS,
  ONE_WORD,
} from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./rules.js").Rule} Rule */

/** @type {[string, boolean | null][]} */
export const ALL_WORDS = [
  ...Object.values(LITERALS),
  .../** @type {[string, boolean | null][]} */ (ODD_WORDS.map(([word, value]) => [word, value])),
];
const END_OF_NUMBER = "\"'“‘[{)#`，：…" + ODD_SPACES;

/**
 * True if a word without quotes may begin here.
 * @param {string} text
 * @param {number} pos
 */
export function beginsBare(text, pos) {
  return endOf(BARE_START, text, pos) >= 0;
}

/** Reads words and numbers where they have one meaning. */
export class Words {
  // Where the last number ended that ends in a point.
  pointAt = -2;

  /**
   * Forget what was remembered of the document before.
   * @param {Leniency} m
   */
  startDocument(m) {
    this.pointAt = -2;
  }

  /**
   * True, None, NaN and their like.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixWord(m, text, pos) {
    for (const [word, value, rule] of ODD_WORDS) {
      if (text[pos] !== word[0]) continue;
      const end = m._fixMark(/** @type {Rule} */ (rule), WORD[word], text, pos);
      if (end >= 0) {
        m._token = m._offset + pos;
        if (m._held === "") {
          m._sink.scalar(value, undefined, m._token);
          m._ended(end);
        }
        return end;
      }
    }
    return -1;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} expected
   * @param {number} from
   */
  refuse(m, text, pos, expected, from) {
    const end = from < pos && m._state <= FIRST_ELEMENT ? this.fixBareValue(m, text, from) : -1;
    if (end < 0) return Machine.prototype._refuse.call(m, text, pos, expected, from);
    m._held = "";
    return end;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixBareKey(m, text, pos) {
    if (!beginsBare(text, pos) || !m._mayRepair("bare-keys", pos)) return -1;
    m._bareKeys = m._passes = true;
    m._openString(BARE_KEY, pos);
    return pos;
  }

  /**
   * Text without quotes that is read up to `end`.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  addBare(m, text, pos, end) {
    m._pass(text, pos, end);
    if (m._offset + end > m._stop) {
      throw m._over("string", m._limits.string, m._stop - m._offset);
    }
    m._begun += text.slice(pos, end);
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  bareKey(m, text, pos) {
    const end = endOf(BARE_KEY_TEXT, text, pos);
    this.addBare(m, text, pos, end);
    if (end === text.length) return end;
    let quote = 0;
    // Only the first quote was forgotten.
    if (text[end] === '"') {
      const seen = m._sees(SHAPE.COLON_AHEAD, text, end + 1);
      if (seen === null) return m._hold(text, end);
      quote = seen ? 1 : 0;
    }
    m._endRepair(m._offset + end + quote);
    m._state = KEY;
    m._endKey(end);
    return end + quote;
  }

  /**
   * A string without quotes, where the rule is named.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixBareValue(m, text, pos) {
    if (m._frames.length === 0 || !beginsBare(text, pos)) return -1;
    if (!m._mayRepair("bare-values", pos)) return -1;
    m._passes = true;
    m._openString(BARE_VALUE, pos);
    return pos;
  }

  /**
   * In a string without quotes: it ends at a comma, a bracket or a line end.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  bareValue(m, text, pos) {
    const end = endOf(BARE_VALUE_TEXT, text, pos);
    this.addBare(m, text, pos, end);
    if (end === text.length) return end;
    // And/or, but no comment.
    if (text[end] === "/") {
      if (end + 1 === text.length && !m._last) return m._hold(text, end);
      if (text[end + 1] !== "/" && text[end + 1] !== "*") {
        m._begun += "/";
        return end + 1;
      }
    }
    let ends = `,\r\n${m._object ? "}" : "]"}`.includes(text[end]);
    if (text[end] === '"' && m._object && endOf(ONE_WORD, m._begun, 0) >= 0) {
      const seen = m._sees(SHAPE.QUOTED_KEY, text, end);
      if (seen === null) return m._hold(text, end);
      ends = seen;
    }
    if (!ends) {
      m._state = AFTER;
      return this.refuse(m, text, end, "", end);
    }
    m._endRepair(m._offset + end);
    const string = m._begun.replace(/[ \t]+$/, "");
    m._begun = "";
    m._sink.startString(m._token);
    if (string !== "") m._sink.text(string);
    m._sink.endString();
    m._state = AFTER;
    return end;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  endsNumber(m, text, pos) {
    const char = text[pos];
    if (m._frames.length !== 0) {
      return END_OF_NUMBER.includes(char) || (char === "/" && /^[/*]/.test(text.slice(pos + 1, pos + 2)));
    }
    return Machine.prototype._endsNumber.call(m, text, pos) || `\`/${ODD_SPACES}`.includes(char);
  }

  /**
   * A number that is written in another way, from the character on that JSON does not know.
   *
   * `+5`, `.5`, `5.`, `1_000`, `-Infinity`; or a word that begins like a number.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixNumber(m, text, pos) {
    const begun = m._state === DIGITS ? m._begun : "";
    if (begun === "-" && text[pos] === "I") return this.fixInfinity(m, text, pos);
    if (m._frames.length === 0) return -1;
    const end = endOf(NUMBER_REST, text, pos);
    const number = begun + text.slice(pos, end);
    const known = endOf(ODD_NUMBER, number, 0) >= 0;
    if (end === text.length) return begun !== "" || known || !m._last ? m._hold(text, pos) : -1;
    if (text.slice(end) === "/" && !m._last) return m._hold(text, pos);
    const ends = ",]} \t\n\r".includes(text[end]) || this.endsNumber(m, text, end);
    if (ends && known && m._mayRepair("numbers", pos)) {
      if (begun === "") m._token = m._offset + pos;
      if (number.length > m._limits.number) throw m._over("number", m._limits.number, pos);
      if (number.endsWith(".")) this.pointAt = m._offset + end;
      // With digits around the point, as JSON has them.
      const digits = number.replaceAll("_", "").replace(/^\+/, "");
      m._begun = digits.replace(/^(-?)\./, "$10.").replace(/\.$/, ".0");
      m._endNumber(end);
      return end;
    }
    if (begun !== "" && !(ends && end === pos) && m._mayRepair("bare-values", pos)) {
      m._passes = true;
      m._stop = m._token + m._limits.string;
      m._state = BARE_VALUE;
      return pos;
    }
    return -1;
  }

  /**
   * -Infinity: the minus was read as that of a number.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixInfinity(m, text, pos) {
    const end = m._fixMark("nan", WORD.Infinity, text, pos);
    if (end >= 0 && m._held === "") {
      m._begun = "";
      m._sink.scalar(null, undefined, m._token);
      m._ended(end);
    }
    return end;
  }
}

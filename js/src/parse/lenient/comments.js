/** Comments: `//`, `/* … `, and inside the value `#`. */

import { SHAPE } from "./lookahead.js";
import { BEFORE, BLOCK_COMMENT, LINE_COMMENT } from "./states.js";

/** @typedef {import("./core.js").Leniency} Leniency */

// There are two quotes in a row in a comment: they may belong around it.
const TWO_QUOTES = -(10 ** 9);

/** Passes over comments. */
export class Comments {
  // The state that the comment interrupted.
  resume = BEFORE;
  // How many quotes it has, if its text so far ends in one, and if it has a closing bracket.
  commentQuotes = 0;
  commentCloses = false;
  commentQuoted = false;

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  beginMark(m, text, pos) {
    const end = m._fixMark("comments", SHAPE.COMMENT, text, pos);
    if (end >= 0 && m._held === "") {
      this.begin(m, text[end - 1] === "*" ? BLOCK_COMMENT : LINE_COMMENT);
    }
    return end;
  }

  /**
   * @param {Leniency} m
   * @param {number} state
   */
  begin(m, state) {
    this.resume = m._state;
    m._state = state;
    m._passes = true;
    this.commentQuotes = 0;
    this.commentCloses = this.commentQuoted = false;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  line(m, text, pos) {
    const end = text.indexOf("\n", pos);
    const part = text.slice(pos, end < 0 ? text.length : end);
    this.commentQuotes += part.split('"').length - 1;
    if (part.includes('""') || (this.commentQuoted && part.startsWith('"'))) {
      this.commentQuotes = TWO_QUOTES;
    }
    this.commentQuoted = part.endsWith('"');
    this.commentCloses ||= /[\]}]/.test(part);
    m._pass(text, pos, pos + part.length);
    if (end < 0) return text.length;
    m._endRepair(m._offset + end);
    this.refuse(m, end);
    m._state = this.resume;
    return end;
  }

  /**
   * `[// no"]`: a comment, or a string without its first quote.
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof import("../../errors.js").InvalidJSON} [kind]
   * @param {boolean} [last]
   */
  refuse(m, pos, kind, last = false) {
    const odd = this.commentQuotes % 2 !== 0 || this.commentQuotes < 0;
    if (m._frames.length !== 0 && (odd || (last && this.commentCloses))) {
      throw m._twoReadings("this is a comment", "a quote is missing", pos, kind);
    }
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  block(m, text, pos) {
    const end = text.indexOf("*/", pos);
    if (end >= 0) {
      m._state = this.resume;
      m._pass(text, pos, end + 2);
      m._endRepair(m._offset + end + 2);
      return end + 2;
    }
    this.commentCloses ||= /[\]}]/.test(text.slice(pos));
    if (!text.endsWith("*")) return m._pass(text, pos, text.length);
    return m._hold(text, m._pass(text, pos, text.length - 1));
  }
}

/**
 * The text of strings: odd quotes, three quotes or ticks, escapes, control characters.
 *
 * A comma at the end of a growing string, or a curly quote, is not emitted before the next character:
 * it may turn out to be the end of the string (`quotes.js`).
 */

import { AFTER, COLON, ESCAPE, FIRST_KEY, HEX, KEY, Machine, NEXT_KEY, NO_CONTROL, STRING } from "../machine.js";
import { charAt, endOf, isAlnum, lastVisible } from "./characters.js";
import { isLiteral, isUnsure } from "./escapes.js";
import { SHAPE } from "./lookahead.js";
import { BLOCK_STRING, ODD_KEY, ODD_STRING } from "./states.js";
import { CURLY_TAIL, DOUBTFUL, INFO_STRING, INFO_STRING_CUT, LINE_BREAK, PYTHON, QUOTES, RARE } from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./rules.js").Rule} Rule */

// The quote that ends what an odd quote opens, and the plain text before a quote.
/** @type {{[quote: string]: string}} */
export const CLOSERS = { "'": "'", "“": "”", "‘": "’", "`": "`" };
/** @type {{[closer: string]: RegExp}} */
const PLAIN = Object.fromEntries(
  Object.values(CLOSERS).map((closer) => [closer, new RegExp(`[^${closer}\\\\\\x00-\\x1f]*`, "y")]),
);
/** @type {{[opened: string]: RegExp}} */
const BLOCK_TEXT = { '"""': /[^"\\\r\n]*/y, "```": /[^`\r\n]*/y };
// Markdown escapes these. Not those that formulas and regular expressions escape, too.
const MARKDOWN = "_*#~>`";
const MARKDOWN_IN_KEYS = MARKDOWN + "-.!()[]{}+|";
// The end of a string that is not emitted at once: a comma, or a quote that may be meant as its end.
const TAIL_CHARACTER = /[,”’]/;
const COMMA_TAIL = /,[ \t\r\n]*$/;
const NOWHERE = -1e9;
const LONGEST_TAIL = 200;

/** Reads strings in any quotes, and their text as it is written. */
export class Strings {
  inner = false;
  // The quote that opened an odd string.
  opened = "";
  // Of the string that is being read, or was read last: its offset, its text as far as it was emitted,
  // the end of that, and what is not yet emitted.
  stringAt = -1;
  emitted = "";
  shown = "";
  tailText = "";
  // Where the last string began that has a backslash that is text: before a letter, before
  // punctuation. And the last one that has an escape like `\u00e9`.
  backslashAt = NOWHERE;
  punctuatedAt = NOWHERE;
  codeAt = NOWHERE;
  // Where the last string began that has a line break in it.
  linesAt = NOWHERE;
  /** The depths that a "(" opened. @type {Set<number>} */
  parens = new Set();
  // The line in which a string at the root ended.
  stringLine = -1;

  /**
   * Forget what was remembered of the document before.
   * @param {Leniency} m
   */
  startDocument(m) {
    this.inner = m.rules.has("inner-quotes") || m.rules.has("missing-quotes");
    this.opened = "";
    this.beginText(m);
    this.stringAt = -1;
    this.parens = new Set();
    this.stringLine = -1;
  }

  /**
   * The text of the string or key that is being read.
   * @param {Leniency} m
   */
  whole(m) {
    if (m._state === KEY || m._state === ODD_KEY) return m._begun;
    return this.stringAt === m._token ? this.emitted + this.tailText : "";
  }

  /** The last character of the text so far but for white space; "" if there is none. */
  get last() {
    return lastVisible(this.shown + this.tailText);
  }

  /**
   * @param {Leniency} m
   * @param {string} run
   */
  take(m, run) {
    if (m._state === KEY || m._state === ODD_KEY) m._begun += run;
    else this.takeText(m, run);
  }

  /**
   * Emit text of a string, but for what may turn out to be its end.
   * @param {Leniency} m
   * @param {string} run
   */
  takeText(m, run) {
    if (this.stringAt !== m._token) this.beginText(m);
    m.quotes.noteText(m, run);
    if (this.tailText !== "") {
      run = this.tailText + run;
      this.tailText = "";
    }
    if (this.inner && m._frames.length !== 0 && m._state === STRING && TAIL_CHARACTER.test(run)) {
      const match = CURLY_TAIL.exec(run) ?? COMMA_TAIL.exec(run);
      if (match !== null && match[0].length <= LONGEST_TAIL) {
        [this.tailText] = match;
        run = run.slice(0, match.index);
      }
    }
    if (run !== "") this.show(m, run);
  }

  /**
   * @param {Leniency} m
   * @param {string} run
   */
  show(m, run) {
    m._sink.text(run);
    this.emitted += run;
    this.shown = run.length < LONGEST_TAIL ? (this.shown + run).slice(-LONGEST_TAIL) : run;
  }

  /** @param {Leniency} m */
  beginText(m) {
    this.stringAt = m._token;
    this.emitted = this.shown = this.tailText = "";
    m.quotes.beginText();
  }

  /**
   * End the string at this quote.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  finishString(m, text, quote) {
    m.quotes.refuseText(m, quote);
    // `\.(js|ts)\b`
    if (this.punctuatedAt === m._token && RARE.test(this.emitted)) throw this.backslashes(m, quote);
    if (this.tailText !== "") {
      const tail = this.tailText;
      this.tailText = "";
      this.show(m, tail);
    }
    if (m._frames.length === 0) {
      this.stringLine = m._line;
      m._numberEnd = m._offset + quote + 1;
    }
    return Machine.prototype._endString.call(m, text, quote);
  }

  /**
   * A string or key in quotes that are not JSON's, perhaps after a missing comma.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  fixQuote(m, text, pos, char) {
    const rule = /** @type {import("./rules.js").Rule} */ (QUOTES[char] ?? "back-ticks");
    if (!m.rules.has(rule) || m._state === COLON) return -1;
    if (m._state === AFTER) return m.tokens.fixMissingComma(m, text, pos, char);
    m._mayRepair(rule, pos);
    this.opened = char;
    if (m._state === FIRST_KEY || m._state === NEXT_KEY) return m._openString(ODD_KEY, pos);
    m._sink.startString(m._offset + pos);
    return m._openString(ODD_STRING, pos);
  }

  /**
   * In a string or key with odd quotes: take its characters, up to the one that ends it.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  oddString(m, text, pos) {
    const closer = CLOSERS[this.opened];
    const end = this.within(m, text, pos, endOf(PLAIN[closer], text, pos));
    if (end > pos) this.take(m, text.slice(pos, end));
    if (end === text.length) return end;
    if (text[end] === closer) return this.endOddString(m, text, end);
    if (m._offset + end >= m._stop) throw m._over("string", m._limits.string, end);
    return text[end] === "\\" ? this.oneEscape(m, text, end, closer) : this.control(m, text, end);
  }

  /**
   * Count text of a string up to `end`, or to where the limit of strings is; gives where that is.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  within(m, text, pos, end) {
    m._pass(text, pos, end);
    let over = m._offset + end - m._stop;
    // Back to the limit, over whole characters.
    while (over > 0 && end > pos) {
      end -= 1;
      over -= 1;
      if (isPair(text, end - 1)) {
        end -= 1;
        m._offset += 1;
      }
    }
    return end;
  }

  /**
   * An escape of JSON's or of the quote, or a backslash that is text.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} closer
   */
  oneEscape(m, text, pos, closer) {
    const char = text[pos + 1];
    if (char === undefined) return m._hold(text, pos);
    if (char === closer) {
      this.take(m, closer);
      return pos + 2;
    }
    const decoded = this.escape(m, text, pos, text.length);
    const odd = m._state === ODD_STRING || m._state === ODD_KEY;
    const python = odd && "'`".includes(this.opened) && PYTHON.includes(char);
    const doubtful = python || (typeof decoded === "string" && DOUBTFUL.includes(char));
    if (this.backslashAt === m._token && doubtful) {
      const seen = isLiteral(this.whole(m), text, pos, m._last);
      if (seen === null) return m._hold(text, pos);
      if (!seen) throw this.backslashes(m, pos);
      m._mayRepair("bad-escapes", pos);
      this.take(m, "\\");
      return pos + 1;
    }
    if (typeof decoded === "string") {
      this.take(m, decoded);
      return pos + (decoded.length === 2 ? 12 : char === "u" ? 6 : 2);
    }
    if (python && m.rules.has("bad-escapes")) throw this.backslashes(m, pos);
    return decoded < 0 ? m._hold(text, pos) : this.oddEscape(m, text, pos, decoded);
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} quote
   */
  endOddString(m, text, quote) {
    if (m._state === ODD_KEY) return m._endKey(quote);
    if (this.opened === "`") {
      const fence = m._sees(SHAPE.FENCE, text, quote);
      if (fence === null) return m._hold(text, quote);
      if (fence) throw m.quotes.loneQuote(m, quote);
    }
    m._state = STRING;
    const end = m.quotes.endString(m, text, quote);
    // A quote in the text, or one that cannot be told yet.
    if (m._state === STRING) m._state = ODD_STRING;
    return end;
  }

  /**
   * Three quotes or ticks: a string over several lines.
   * @param {Leniency} m
   * @param {string} opened
   * @param {number} pos
   */
  openBlock(m, opened, pos) {
    if (!m._mayRepair("block-strings", pos)) return -1;
    this.opened = opened;
    if (opened === "```") {
      m._sink.startString(m._offset + pos);
      m._openString(BLOCK_STRING, pos);
      this.beginText(m);
    }
    m.quotes.quoted = true;
    m._begun = "\n"; // a line break right here is not part of it
    m._state = BLOCK_STRING;
    return pos + opened.length;
  }

  /**
   * Between three quotes or ticks: text as it is; one line break at either end is not.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  blockString(m, text, pos) {
    const opened = this.opened;
    if (m._begun !== "") {
      const ticks = opened === "```";
      const cut = ticks ? endOf(INFO_STRING_CUT, text, pos) >= 0 : text.slice(pos) === "\r";
      if (cut && !m._last) return m._hold(text, pos);
      m._begun = "";
      const firstLine = endOf(ticks ? INFO_STRING : LINE_BREAK, text, pos);
      if (firstLine >= 0) return m._pass(text, pos, firstLine);
      if (ticks) throw m._twoReadings("this line names the language", "it is part of the text", pos);
    }
    const end = m._pass(text, pos, endOf(BLOCK_TEXT[opened], text, pos));
    if (end > pos) this.take(m, text.slice(pos, end));
    if (m._offset + end > m._stop) {
      throw m._over("string", m._limits.string, m._stop - m._offset);
    }
    if (end === text.length) return end;
    if (text[end] === "\\") return this.oneEscape(m, text, end, '"');
    const mark = endOf(LINE_BREAK, text, end);
    const start = mark >= 0 ? mark : end;
    const rest = text.slice(start, start + 3);
    const half = (rest.length < 3 && opened.startsWith(rest)) || (rest === "\r" && mark < 0);
    if (half && !m._last) return m._hold(text, end);
    if (rest === opened) {
      const seen = m._frames.length === 0 || m.quotes.endsString(m, text, start + 2);
      if (seen === null) return m._hold(text, end);
      if (seen) {
        if (opened === "```" && this.shown === "") {
          throw m._twoReadings("the fence names a language", "the text is in its line", end);
        }
        m._pass(text, end, start);
        m._state = STRING;
        return this.finishString(m, text, start + 2);
      }
    }
    const next = Math.max(start, end + 1);
    this.take(m, text.slice(end, next));
    return m._pass(text, end, next);
  }

  /**
   * Keep a backslash that begins no escape as text; drop it before an apostrophe.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {number} wrong
   */
  oddEscape(m, text, pos, wrong) {
    const char = text.slice(pos + 1, pos + 2);
    const inKey = m._state === KEY || m._state === ODD_KEY;
    const markdown = char !== "" && (inKey ? MARKDOWN_IN_KEYS : MARKDOWN).includes(char);
    if (markdown && m._mayRepair("markdown-escapes", pos)) {
      this.take(m, char);
      return pos + 2;
    }
    if (!m.rules.has("bad-escapes")) {
      return Machine.prototype._unexpected.call(m, text, wrong, wrong === pos + 1 ? ESCAPE : HEX, pos);
    }
    if (char === "'") {
      m._mayRepair("bad-escapes", pos);
      this.take(m, "'");
      return pos + 2;
    }
    const letter = isAlnum(charAt(text, pos + 1));
    if (this.backslashAt !== m._token) {
      const unsure = isUnsure(this.whole(m), text, pos, m._last, ["'", "`"].includes(this.opened));
      if (unsure === null) return m._hold(text, pos);
      if (unsure || (letter && this.codeAt === m._token)) throw this.backslashes(m, pos);
    }
    if (letter) this.backslashAt = m._token;
    else this.punctuatedAt = m._token;
    m._mayRepair("bad-escapes", pos);
    this.take(m, text.slice(pos, wrong));
    return wrong;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {number} visible
   * @returns {string | number}
   */
  escape(m, text, pos, visible) {
    const decoded = Machine.prototype._escape.call(m, text, pos, visible);
    if (typeof decoded === "string" && text[pos + 1] === "u") this.codeAt = m._token;
    return decoded;
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   */
  backslashes(m, pos) {
    return m._twoReadings("this backslash is text", "it begins an escape", pos);
  }

  /**
   * True if the string has a backslash that is text: then one escape is read after the other.
   * @param {Leniency} m
   */
  hasLiteral(m) {
    return this.backslashAt === m._token;
  }

  /**
   * A control character in a string; with many documents a newline tells of a lost end.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  control(m, text, pos) {
    const lost = m._many && (text[pos] === "\n" || text[pos] === "\x1e");
    if (lost || !m._mayRepair("raw-newlines", pos)) {
      return Machine.prototype._unexpected.call(m, text, pos, NO_CONTROL);
    }
    if (text[pos] === "\n") this.linesAt = m._token;
    this.take(m, text[pos]);
    return m._pass(text, pos, pos + 1);
  }
}

/**
 * True if a pair of surrogates begins here.
 * @param {string} text
 * @param {number} pos
 */
function isPair(text, pos) {
  return pos >= 0 && /** @type {number} */ (text.codePointAt(pos)) > 0xffff;
}

/**
 * True if a bracket is closed in a string that was not opened in it.
 * @param {string} string
 */
export function closesBracket(string) {
  let opened = 0;
  for (const [bracket] of string.matchAll(/[\][{}]/g)) {
    opened += "{[".includes(bracket) ? 1 : -1;
    if (opened < 0) return true;
  }
  return false;
}

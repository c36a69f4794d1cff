/**
 * The text of strings: odd quotes, three quotes or ticks, escapes, control characters.
 *
 * A comma at the end of a growing string, or a curly quote, is not emitted before the next character:
 * it may turn out to be the end of the string (`quotes.js`).
 */

import {
  AFTER,
  COLON,
  ESCAPE,
  FIRST_KEY,
  HEX,
  KEY,
  NEXT_KEY,
  NO_CONTROL,
  STRING,
} from "../machine.js";
import { charAt, endOf, isAlnum, isDigits, isSpace, lastOf, lastVisible, trimmedStart } from "./characters.js";
import { isLiteral, pythonEscape } from "./escapes.js";
import { SHAPE } from "./lookahead.js";
import { NumberMachine } from "./numbers.js";
import { BLOCK_STRING, ODD_KEY, ODD_STRING } from "./states.js";
import {
  AFTER_VALUE,
  AFTER_VALUE_CUT,
  DOUBTFUL,
  INFO_STRING,
  INFO_STRING_CUT,
  LINE_BREAK,
  NAMES_LANGUAGE,
  PYTHON,
  PYTHON_CODE,
  PYTHON_TOO,
  QUOTES,
} from "./tables.js";

// The quote that ends what an odd quote opens, and the plain text between them.
/** @type {{[quote: string]: string}} */
export const CLOSERS = { "'": "'", "“": "”", "‘": "’", "`": "`" };
/** @type {{[quote: string]: RegExp}} */
const PLAIN = Object.fromEntries(
  Object.entries(CLOSERS).map(([quote, closer]) => [
    quote,
    new RegExp(`[^${closer}\\\\\\x00-\\x1f]*`, "y"),
  ]),
);
/** @type {{[opened: string]: RegExp}} */
const BLOCK_TEXT = { '"""': /[^"\\\r\n]*/y, "```": /[^`\r\n]*/y };
// Markdown escapes these. Not those that formulas and regular expressions escape, too.
const MARKDOWN = "_*#~>`";
const MARKDOWN_IN_KEYS = MARKDOWN + "-.!()[]{}+|";
// The end of a string that is not emitted at once: a comma, or a quote that may be meant as its end.
const TAIL =
  /(?:[”’][ \t\r\n,}\]]{0,200}(?:,[ \t\r\n]{0,40}[{[][ \t\r\n]{0,40})?|,[ \t\r\n]*)$/;
const NOWHERE = -1e9;
const LONGEST_TAIL = 200;
const REMEMBERED = 64;

/** The machine that reads strings in any quotes, and their text as it is written. */
export class StringMachine extends NumberMachine {
  /** @type {boolean} */
  _inner = this.rules.has("inner-quotes") || this.rules.has("missing-quotes");
  // The quote that opened an odd string.
  _opened = "";
  // Three ticks opened it, and a word that may name a language is after them in their line.
  _info = false;
  // Of the string being read: its offset, its first character, the end of what was emitted, what is
  // not yet emitted, whether a quotation is open in it, whether it had inner quotes, and how many
  // brackets of JSON inside it are open.
  _stringAt = -1;
  _first = "";
  _shown = "";
  _tailText = "";
  _quotation = false;
  // A comma is before the quotation: it may be a key.
  _afterComma = false;
  _quoted = false;
  _nest = 0;
  // In that JSON, a string is open: brackets in it do not count.
  _nestString = false;
  // The quotation began in a word, so it may end in one.
  _glued = false;
  // A low quote was opened in it.
  _low = false;
  // How many brackets are open in it, and if one was closed that was not opened in it.
  _openInText = 0;
  _closedInText = false;
  // Where the last string began with an escape that is doubtful beside a backslash that is text, and
  // the last one with such a backslash; of that one its text since then, and if it begins with a drive.
  _doubtfulAt = NOWHERE;
  _backslashAt = NOWHERE;
  _literalText = "";
  _drive = false;
  // A curly quote was opened in it; where the last inner quote was, and how many in a row.
  _curly = false;
  _innerAt = -1;
  _innerRun = 0;
  // It has quotes with and without a backslash.
  _mixed = false;
  // It has what may come after the value; and its end, if that may become such a thing.
  _afterValue = false;
  _watched = "";
  /** The depths that a "(" opened. @type {Set<number>} */
  _parens = new Set();
  // The line in which a string at the root ended.
  _stringLine = -1;
  // Where a comma was missing.
  _commaAt = -1;
  // Depth and index of the last string in a list.
  _strings = [0, 0];

  _startDocument() {
    super._startDocument();
    this._opened = "";
    this._beginText();
    this._stringAt = -1;
    this._parens = new Set();
    this._stringLine = -1;
    this._commaAt = -1;
    this._strings = [0, 0];
  }

  // ---- text ------------------------------------------------------------------------------

  /** @param {string} run */
  _take(run) {
    if (this._backslashAt === this._token) {
      this._literalText = (this._literalText + run).slice(-LONGEST_TAIL);
    }
    if (this._state === KEY || this._state === ODD_KEY) this._begun += run;
    else this._takeText(run);
  }

  /**
   * Emit text of a string, but for what may turn out to be its end.
   * @param {string} run
   */
  _takeText(run) {
    if (this._stringAt !== this._token) this._beginText();
    if (this._quoted && this._state === STRING && run.includes('"')) this._mixed = true;
    if (this._watched !== "" || /[<`]/.test(run)) this._watch(run.replaceAll("\n", " "));
    for (const [bracket] of run.matchAll(/[\][{}]/g)) {
      if ("{[".includes(bracket)) this._openInText += 1;
      else if (this._openInText !== 0) this._openInText -= 1;
      else this._closedInText = true;
    }
    if (this._nest !== 0) {
      for (const char of run) {
        if (this._nest === 0 || this._nestString) break;
        if (char === "{" || char === "[") this._nest += 1;
        else if (char === "}" || char === "]") this._nest -= 1;
      }
    }
    if (this._tailText !== "") {
      run = this._tailText + run;
      this._tailText = "";
    }
    if (this._inner && this._frames.length !== 0 && this._state === STRING) {
      const found = TAIL.exec(run);
      if (found !== null && found[0].length <= LONGEST_TAIL) {
        [this._tailText] = found;
        run = run.slice(0, found.index);
      }
    }
    if (run === "") return;
    this._sink.text(run);
    this._first ||= charAt(trimmedStart(run), 0);
    this._noteCurly(run);
    const short = isSpace(run) || isDigits(run);
    this._shown = short ? this._shown.slice(-REMEMBERED) + run : run;
  }

  /**
   * Note text of a string that may come after the value, if the string is cut off.
   * @param {string} run
   */
  _watch(run) {
    run = (this._watched || (this._tailText === "" ? lastVisible(this._shown) : "")) + run;
    if (AFTER_VALUE.test(run)) this._afterValue = true;
    this._watched = AFTER_VALUE_CUT.exec(run)?.[0] ?? "";
  }

  /**
   * A curly quote that was opened in the string is closed in it, and does not end it.
   * @param {string} run
   */
  _noteCurly(run) {
    const opens = Math.max(run.lastIndexOf("“"), run.lastIndexOf("‘"));
    const closes = run.lastIndexOf("”");
    if (opens > closes) this._curly = true;
    else if (closes >= 0) this._curly = false;
    const low = run.lastIndexOf("„");
    if (low > Math.max(run.lastIndexOf("“"), closes)) this._low = true;
    else if (run.includes("“") || closes >= 0) this._low = false;
  }

  _beginText() {
    this._stringAt = this._token;
    this._first = this._shown = this._tailText = "";
    this._quotation = this._quoted = this._curly = this._mixed = this._afterValue = false;
    this._low = this._closedInText = false;
    this._openInText = 0;
    this._watched = "";
    this._innerAt = -1;
    this._nest = 0;
  }

  /**
   * End the string at this quote.
   * @param {string} text
   * @param {number} quote
   */
  _finishString(text, quote) {
    if (this._mixed && this._stringAt === this._token) {
      throw this._twoReadings("quotes are escaped", "some quotes are not", quote);
    }
    if (this._tailText !== "") {
      this._shown = this._tailText;
      this._tailText = "";
      this._sink.text(this._shown);
      this._first ||= charAt(trimmedStart(this._shown), 0);
    }
    if (this._first === "" && !this._object && this._count === 0) {
      // [""]: the quotes may belong around the bracket.
      this._first = "[";
      this._shown = "]";
    }
    if (this._frames.length === 0) {
      this._stringLine = this._line;
      this._numberEnd = this._offset + quote + 1;
    }
    return super._endString(text, quote);
  }

  // ---- odd quotes ------------------------------------------------------------------------

  /**
   * A string or key in quotes that are not JSON's, perhaps after a missing comma.
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  _mendQuote(text, pos, char) {
    const rule = /** @type {import("./rules.js").Rule} */ (QUOTES[char] ?? "back-ticks");
    if (!this.rules.has(rule) || this._state === COLON) return -1;
    if (this._state === AFTER) return this._mendMissingComma(text, pos, char);
    this._mayRepair(rule, pos);
    this._opened = char;
    if (this._state === FIRST_KEY || this._state === NEXT_KEY) return this._openString(ODD_KEY, pos);
    if (!this._object) this._strings = [this._frames.length, this._count];
    this._sink.startString(this._offset + pos);
    return this._openString(ODD_STRING, pos);
  }

  /**
   * The rule is in inside.js.
   * @param {string} _text
   * @param {number} _pos
   * @param {string} _char
   */
  _mendMissingComma(_text, _pos, _char) {
    return -1;
  }

  /**
   * Go on as if a comma were here, unless something else may be meant.
   * @param {number} pos
   */
  _mendNoComma(pos) {
    const here = "a comma is missing here";
    if (this._parens.has(this._frames.length)) {
      throw this._twoReadings(here, "strings are joined as in a program", pos);
    }
    if (this._pointAt >= this._token) {
      throw this._twoReadings(here, "the point was meant as one", pos);
    }
    this._mayRepair("missing-commas", pos, 0);
    this._addComma();
    this._commaAt = this._offset + pos;
  }

  /**
   * In a string or key with odd quotes: take its characters, up to the one that ends it.
   * @param {string} text
   * @param {number} pos
   */
  _oddString(text, pos) {
    const end = this._within(text, pos, endOf(PLAIN[this._opened], text, pos));
    if (end > pos) this._take(text.slice(pos, end));
    if (end === text.length) return end;
    if (text[end] === CLOSERS[this._opened]) return this._endOddString(text, end);
    if (this._offset + end >= this._stop) throw this._over("string", this._limits.string, end);
    return this._oddText(text, end);
  }

  /**
   * Count text of a string up to `end`, or to where the limit of strings is; gives where that is.
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  _within(text, pos, end) {
    this._pass(text, pos, end);
    let over = this._offset + end - this._stop;
    // Back to the limit, over whole characters.
    while (over > 0 && end > pos) {
      end -= 1;
      over -= 1;
      if (isPair(text, end - 1)) {
        end -= 1;
        this._offset += 1;
      }
    }
    return end;
  }

  /**
   * Between odd quotes: an escape of JSON's or of the quote, or a control character.
   * @param {string} text
   * @param {number} pos
   */
  _oddText(text, pos) {
    if (text[pos] !== "\\") return this._control(text, pos);
    const closer = CLOSERS[this._opened] ?? '"';
    if (text.startsWith(closer, pos + 1)) {
      this._take(closer);
      return pos + 2;
    }
    if (this._backslashAt === this._token || "'`".includes(this._opened)) {
      const end = this._literalEscape(text, pos);
      if (end >= 0) return end;
    }
    const found = this._escape(text, pos, text.length);
    if (typeof found === "string") {
      this._take(found);
      return pos + (found.length === 2 ? 12 : text[pos + 1] === "u" ? 6 : 2);
    }
    return found < 0 ? this._hold(text, pos) : this._oddEscape(text, pos, found);
  }

  /**
   * @param {string} text
   * @param {number} quote
   */
  _endOddString(text, quote) {
    if (this._state === ODD_KEY) return this._endKey(quote);
    this._state = STRING;
    const end = this._endString(text, quote);
    // A quote in the text, or one that cannot be told yet.
    if (this._state === STRING) this._state = ODD_STRING;
    return end;
  }

  // ---- three quotes or ticks -------------------------------------------------------------

  /**
   * Three quotes or ticks: a string over several lines.
   * @param {string} opened
   * @param {number} pos
   */
  _openBlock(opened, pos) {
    if (!this._mayRepair("block-strings", pos)) return -1;
    this._opened = opened;
    if (opened === "```") {
      this._sink.startString(this._offset + pos);
      this._openString(BLOCK_STRING, pos);
      this._beginText();
    }
    this._quoted = true;
    this._begun = "\n"; // a line break right here is not part of it
    this._state = BLOCK_STRING;
    return pos + opened.length;
  }

  /**
   * Between three quotes or ticks: text as it is; one line break at either end is not.
   * @param {string} text
   * @param {number} pos
   */
  _blockString(text, pos) {
    const opened = this._opened;
    if (this._begun !== "") {
      if (opened === "```" && endOf(INFO_STRING_CUT, text, pos) >= 0 && !this._last) {
        return this._hold(text, pos);
      }
      const found = endOf(opened === "```" ? INFO_STRING : LINE_BREAK, text, pos);
      if (text.startsWith("\r", pos) && text.length === pos + 1 && !this._last) {
        return this._hold(text, pos);
      }
      this._begun = "";
      this._info = opened === "```" && found >= 0 && text[pos].trim() !== "";
      if (found >= 0) return this._pass(text, pos, found);
      if (opened === "```" && endOf(NAMES_LANGUAGE, text, pos) >= 0) {
        const other = "it is part of the text";
        throw this._twoReadings("this line names the language", other, pos);
      }
    }
    const end = this._pass(text, pos, endOf(BLOCK_TEXT[opened], text, pos));
    if (end > pos) this._take(text.slice(pos, end));
    if (this._offset + end > this._stop) {
      throw this._over("string", this._limits.string, this._stop - this._offset);
    }
    if (end === text.length) return end;
    if (text[end] === "\\") return this._oddText(text, end);
    const mark = endOf(LINE_BREAK, text, end);
    const start = mark >= 0 ? mark : end;
    const rest = text.slice(start, start + 3);
    if (rest.length < 3 && opened.startsWith(rest) && !this._last) return this._hold(text, end);
    if (text[end] === "\r" && mark < 0 && end + 1 === text.length && !this._last) {
      return this._hold(text, end);
    }
    if (rest === opened) {
      const ends = this._object ? SHAPE.STRING_ENDS_IN_OBJECT : SHAPE.STRING_ENDS_IN_ARRAY;
      const seen = this._frames.length === 0 || this._sees(ends, text, start + 3);
      if (seen === null) return this._hold(text, end);
      if (seen) {
        if (this._info && this._shown === "") {
          throw this._twoReadings("the fence names a language", "the text is in its line", end);
        }
        this._pass(text, end, start);
        this._state = STRING;
        return this._finishString(text, start + 2);
      }
    }
    const next = Math.max(start, end + 1);
    this._take(text.slice(end, next));
    return this._pass(text, end, next);
  }

  // ---- escapes and control characters ----------------------------------------------------

  /**
   * Keep a backslash that begins no escape as text; drop it before an apostrophe.
   * @param {string} text
   * @param {number} pos
   * @param {number} wrong
   */
  _oddEscape(text, pos, wrong) {
    const char = text.slice(pos + 1, pos + 2);
    const inKey = this._state === KEY || this._state === ODD_KEY;
    const markdown = char !== "" && (inKey ? MARKDOWN_IN_KEYS : MARKDOWN).includes(char);
    if (markdown && this._mayRepair("markdown-escapes", pos)) {
      this._take(char);
      return pos + 2;
    }
    if (!this._mayRepair("bad-escapes", pos)) {
      return super._unexpected(text, wrong, wrong === pos + 1 ? ESCAPE : HEX, pos);
    }
    if (char === "'") {
      this._take("'");
      return pos + 2;
    }
    if (isAlnum(charAt(text, pos + 1)) && this._backslashAt !== this._token) this._beginLiteral(pos);
    this._take(text.slice(pos, wrong));
    return wrong;
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {number} visible
   * @returns {string | number}
   */
  _escape(text, pos, visible) {
    const found = super._escape(text, pos, visible);
    if (typeof found === "string" && DOUBTFUL.includes(text[pos + 1])) this._doubtfulAt = this._token;
    return found;
  }

  /**
   * A backslash that is text: from now on others may be text in this string, too.
   * @param {number} pos
   */
  _beginLiteral(pos) {
    if (this._doubtfulAt === this._token) throw this._backslashes(pos);
    const before = this._lastText();
    this._literalText = before;
    this._drive = this._isDrive(before, pos);
    this._backslashAt = this._token;
  }

  /** The last character of the string or key so far; "" if there is none. */
  _lastText() {
    if (this._state === KEY || this._state === ODD_KEY) return lastOf(this._begun);
    return this._stringAt === this._token ? lastOf(this._shown + this._tailText) : "";
  }

  /**
   * True if the string begins like `C:` before the backslash at `pos`.
   * @param {string} before
   * @param {number} pos
   */
  _isDrive(before, pos) {
    return before === ":" && this._offset + pos === this._token + 3;
  }

  /** @param {number} pos */
  _backslashes(pos) {
    return this._twoReadings("this backslash is text", "it begins an escape", pos);
  }

  /** True if the string has a backslash that is text. */
  _hasLiteral() {
    return this._backslashAt === this._token;
  }

  /**
   * A backslash after one that is text: as the strict machine, one escape after the other.
   * @param {string} text
   * @param {number} pos
   */
  _afterLiteral(text, pos) {
    const end = this._literalEscape(text, pos);
    if (end >= 0) return end;
    if ('"\\/'.includes(text[pos + 1])) {
      this._take(text[pos + 1]);
      return pos + 2;
    }
    const found = super._escape(text, pos, text.length);
    return this._oddEscape(text, pos, typeof found === "number" && found > pos ? found : pos + 1);
  }

  /**
   * A backslash that may be text; -1 if it is read as in any other string.
   * @param {string} text
   * @param {number} pos
   */
  _literalEscape(text, pos) {
    if (pos + 1 === text.length) return this._hold(text, pos);
    const char = text[pos + 1];
    const odd = this._state === ODD_STRING || this._state === ODD_KEY;
    const python = odd && "'`".includes(this._opened) && (PYTHON + PYTHON_TOO).includes(char);
    if (char === "u") {
      const found = super._escape(text, pos, text.length);
      if (typeof found === "number") return found < 0 ? this._hold(text, pos) : -1;
    }
    if (this._hasLiteral()) {
      if (!DOUBTFUL.includes(char) && !python) return -1;
      const inKey = this._state === KEY || this._state === ODD_KEY;
      const before = inKey ? this._begun : this._literalText;
      const seen = isLiteral(before, this._drive, text, pos, this._last);
      if (seen === null) return this._hold(text, pos);
      if (!seen) throw this._backslashes(pos);
      if (!this._mayRepair("bad-escapes", pos)) return -1;
      this._take("\\");
      return pos + 1;
    }
    if (!python || !this.rules.has("bad-escapes")) return -1;
    const string = pythonEscape(text, pos + 1, this._last);
    if (string === null) return this._hold(text, pos);
    if (string === "" || this._isDrive(this._lastText(), pos)) throw this._backslashes(pos);
    this._mayRepair("bad-escapes", pos);
    this._doubtfulAt = this._token;
    this._take(string);
    return Math.max(endOf(PYTHON_CODE, text, pos + 1), pos + 2);
  }

  /**
   * A control character in a string; with many documents a newline tells of a lost end.
   * @param {string} text
   * @param {number} pos
   */
  _control(text, pos) {
    const lost = this._many && (text[pos] === "\n" || text[pos] === "\x1e");
    if (lost || !this._mayRepair("raw-newlines", pos)) {
      return super._unexpected(text, pos, NO_CONTROL);
    }
    if (text[pos] === "\n" && (this._state === STRING || this._state === ODD_STRING)) {
      this._noteLine();
    }
    this._take(text[pos]);
    return this._pass(text, pos, pos + 1);
  }

  /** A line ends in a string: after a closing bracket, the value may have ended, too. */
  _noteLine() {
    if (this._stringAt !== this._token) this._beginText();
    this._watch("\n");
    if (["}", "]"].includes(lastVisible(this._shown + this._tailText))) this._afterValue = true;
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

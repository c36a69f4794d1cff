/**
 * Leniency around the value: prose, fences, thoughts, comments, text between many documents.
 *
 * `ProseMachine` is the strict machine, only that it begins where a value may begin and not where one
 * must. It also has what all rules need: to report a repair, to look ahead, to hold what cannot be
 * told yet. What leniency does inside the value is in the modules after this one.
 *
 * The strict machine counts lines and pairs of surrogates as it reads. What leniency reads itself it
 * has to count with `_pass`, each character once; so `_offset + pos` is the right offset if all of the
 * text before `pos` was passed.
 */

import { InvalidJSON, quoted } from "../errors.js";
import { AFTER, END, Machine, NEXT_KEY, VALUE } from "../machine.js";
import { endOf, find, isDigit, lastOf } from "./characters.js";
import { SHAPE, pastSpaces } from "./lookahead.js";
import { ruleNames } from "./rules.js";
import {
  ASIDE,
  BEFORE,
  BLOCK_COMMENT,
  CODE,
  FENCE,
  IGNORED,
  LENIENT,
  LINE_COMMENT,
  PROSE,
  THOUGHTS,
} from "./states.js";
import {
  ANNOUNCES,
  ASIDE_BEGINS,
  BREAKS_ASIDE,
  BREAKS_ASIDE_OF_MANY,
  BREAKS_PROSE,
  BREAKS_PROSE_OF_MANY,
  BREAKS_TRAILING,
  FENCE_REST,
  IN_CODE,
  LETTER,
  NEEDS_ANNOUNCING,
  NO_VALUE,
  ODD_SPACES,
  QUOTES,
  REACH,
  SCALAR_LIST,
  SECOND,
  SPACE_OR_SEPARATOR,
  SUBSCRIPT,
  TAG,
  YAML_KEY,
  YAML_LINE,
} from "./tables.js";

/** @typedef {import("./lookahead.js").Shape} Shape */
/** @typedef {import("../machine.js").Sink} Sink */
/** @typedef {import("../machine.js").Repair} Repair */
/** @typedef {import("./rules.js").Rule} Rule */

const SPACE = /[ \t\n\r]*/y;
// Words of the text after the value; and before a bracket that is meant as itself, or as a face.
const WORDS = /[^ \t\r\n,;)\]}]/;
const NO_CLOSER = ["`", ":", ";", "="];
// Before a tag that is spoken of.
const QUOTES_TAG = ["`", '"', "'", "“"];
// Before a bracket that is the value, even if the text stops after it.
const INTRODUCES = ["", ":", "\n"];
// What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
const NO_LANGUAGES = ["", "text", "txt", "plaintext", "plain", "output", "response"];
// Before a square bracket that is part of a path, or a footnote.
const NO_LIST = [".", "?", "!", "&", "'"];
// There are two quotes in a row in a comment: they may belong around it.
const TWO_QUOTES = -(10 ** 9);
// As much of the prose is remembered as these patterns look at.
const REMEMBERED = 160;
const LONGEST_LANGUAGE = 16;

/**
 * The machine that finds the value in the text around it.
 *
 * A method `_mend…` says where to read on, or -1 if its rule does not fit or is off.
 */
export class ProseMachine extends Machine {
  /** The rules that are on. @type {Set<string>} */
  rules;

  /**
   * @param {Sink} sink
   * @param {true | Rule | Iterable<Rule>} repair
   * @param {((repair: Repair) => void) | undefined} onRepair
   * @param {import("../machine.js").MachineOptions} options
   */
  constructor(sink, repair, onRepair, options) {
    super(sink, options);
    this.rules = ruleNames(repair);
    if (onRepair !== undefined && typeof onRepair !== "function") {
      throw new TypeError("onRepair is a function");
    }
    this._onRepair = onRepair;
    this._bound = this._size = Math.max(this._size, REACH);
    this._state = this._fresh = BEFORE;
    // With many documents: whether one has ended and the next has not begun.
    this._between = false;
    // The text has ended: what waits for more of it is decided now.
    this._last = false;
    // The state that a comment interrupted.
    this._resume = BEFORE;
    // The end of the prose so far; the language that a fence names; how many brackets are open in the
    // prose.
    this._beforeText = "";
    this._language = "";
    this._depthAside = 0;
    // A fence that names JSON is open, and no value has begun in it.
    this._jsonFence = false;
    // Of a comment: how many quotes it has, and if there is a closing bracket in it.
    this._commentQuotes = 0;
    this._commentCloses = this._commentQuoted = false;
    // A bracket of the prose begins where the value is due, or in a quotation.
    this._asideIsDue = this._asideIsQuoted = this._asideIsBroken = false;
    // The value was found in prose; it is a list of numbers or words.
    this._inProse = this._scalarList = false;
    // Of the text after it: if there were words, letters or digits; if thoughts have begun, or code.
    this._trailingWords = this._trailingLetters = this._trailingDigits = false;
    // The end of it announces a value: a colon, or a new line.
    this._trailingThoughts = this._trailingCode = this._announced = false;
    // Half of a pair of surrogates at the end of a piece.
    this._half = "";
    // How many repairs this document has.
    this._mended = 0;
    this._bareKeys = false;
  }

  /**
   * Read one piece.
   * @param {string | ArrayBuffer | ArrayBufferView} data
   */
  feed(data) {
    if (typeof data !== "string") {
      super.feed(data);
      return;
    }
    const text = this._half + data;
    this._half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    super.feed(text.slice(0, text.length - this._half.length));
  }

  /** Forget what was remembered of the document before. */
  _startDocument() {
    this._mended = 0;
    this._bareKeys = false;
  }

  /**
   * Text of the number or literal that is being read; null if there is none.
   *
   * At the root it may still be prose, and a minus or another letter the beginning of no JSON.
   * @returns {string | null}
   */
  get pendingText() {
    const text = super.pendingText;
    return text && this._frames.length !== 0 && text !== "-" ? text : null;
  }

  // ---- what all rules need -----------------------------------------------------------------

  /**
   * Count the lines and pairs of text that is read here, and give where it ends.
   * @param {string} text
   * @param {number} start
   * @param {number} end
   */
  _pass(text, start, end) {
    for (let at = start; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit === 10) {
        this._line += 1;
        this._lineStart = this._offset + at + 1;
      } else if (unit >= 0xd800 && unit < 0xdc00 && at + 1 < end) {
        const low = text.charCodeAt(at + 1);
        if (low >= 0xdc00 && low < 0xe000) {
          this._offset -= 1;
          at += 1;
        }
      }
    }
    return end;
  }

  /**
   * True if this rule is on; then the repair of `size` characters is reported.
   * @param {Rule} rule
   * @param {number} pos
   * @param {number} [size]
   */
  _mayRepair(rule, pos, size = 1) {
    if (!this.rules.has(rule)) return false;
    this._mended += 1;
    if (this._mended > this._limits.repairs) throw this._over("repairs", this._limits.repairs, pos);
    const offset = this._offset + pos;
    const column = offset - this._lineStart + 1;
    const end = offset + size;
    const repair = { rule, offset, line: this._line, column, document: this.document, end };
    this.repairs.push(repair);
    this._onRepair?.(repair);
    return true;
  }

  /**
   * The repair that was reported last, if it is one of this rule, ends before this offset.
   * @param {Rule} rule
   * @param {number} end
   */
  _endsRepair(rule, end) {
    const last = this.repairs.at(-1);
    if (last?.rule === rule) last.end = end;
  }

  /**
   * The error where two readings are possible and none may be taken.
   * @param {string} one
   * @param {string} other
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  _twoReadings(one, other, pos, kind = InvalidJSON) {
    const got = `but there are two: ${one}, or ${other},`;
    const error = this._error(kind, "one reading", got, pos);
    error.readings = [one, other];
    return error;
  }

  /**
   * True if the text goes on in this shape, null if more text must come to tell.
   *
   * The end of the text counts as the end of a line.
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   * @returns {boolean | null}
   */
  _sees(shape, text, pos) {
    if (this._last) return shape.whole(`${text}\n`, pos) >= 0;
    if (shape.whole(text, pos) >= 0) return true;
    return shape.cut(text, pos) ? null : false;
  }

  /**
   * Report a mark of this shape and go past it, or hold what may become one.
   * @param {Rule} rule
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   */
  _mendMark(rule, shape, text, pos) {
    if (!this.rules.has(rule)) return -1;
    const end = shape.whole(text, pos);
    if (end >= 0) {
      this._mayRepair(rule, pos, end - pos);
      return end;
    }
    // Half a mark in a container is cut off with it, elsewhere it is none.
    const waits = shape.cut(text, pos) && (this._frames.length !== 0 || !this._last);
    return waits ? this._hold(text, pos) : -1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _hold(text, pos) {
    this._held = text.slice(pos);
    return text.length;
  }

  _addComma() {
    this._state = this._object ? NEXT_KEY : VALUE;
    if (!this._object) this._count += 1;
  }

  _takeCommaBack() {
    this._state = AFTER;
    if (!this._object) this._count -= 1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _skip(text, pos) {
    switch (this._state) {
      case BEFORE:
        return this._before(text, pos);
      case PROSE:
        return this._prose(text, pos);
      case THOUGHTS:
        return this._thoughts(text, pos);
      case ASIDE:
        return this._aside(text, pos);
      case CODE:
        return this._code(text, pos);
      case FENCE:
        return this._fence(text, pos);
      case IGNORED:
        return this._ignored(text, pos);
      case LINE_COMMENT:
        return this._lineComment(text, pos);
      case BLOCK_COMMENT:
        return this._blockComment(text, pos);
      default:
        return super._skip(text, pos);
    }
  }

  // ---- before the value --------------------------------------------------------------------

  /**
   * Read where a value may begin: at the start, after a fence, between documents.
   * @param {string} text
   * @param {number} pos
   */
  _before(text, pos) {
    pos = this._pass(text, pos, endOf(this._many ? SPACE_OR_SEPARATOR : SPACE, text, pos));
    if (pos === text.length) return pos;
    if (ODD_SPACES.includes(text[pos]) && this._mayRepair("odd-spaces", pos)) return pos + 1;
    const end = this._mendAround(text, pos);
    if (end >= 0) return end;
    if (this.rules.has(QUOTES[text[pos]]) || !this.rules.has(this._proseRule())) {
      return this._beginValue(text, pos);
    }
    const shape = this._many ? SHAPE.ANY_VALUE_BEGINS : SHAPE.VALUE_BEGINS;
    const seen = this._seesValue(shape, text, pos);
    if (seen === null) return this._hold(text, pos);
    return seen ? this._beginValue(text, pos) : this._beginProse(text, pos);
  }

  /**
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   */
  _seesValue(shape, text, pos) {
    if (text[pos] === "(" && !this.rules.has("tuples")) return false;
    // Cut off right after its bracket. In a sentence, [1 may be a footnote, {name a blank.
    if (this._last && "{[".includes(text[pos]) && shape.cut(text, pos)) {
      const after = text[pastSpaces(text, pos + 1)];
      const bare = after !== "{" && after !== "[" && text.slice(pos).trimEnd() !== "{";
      const before = this._beforeText.replace(/[ \t]+$/, "").slice(-1);
      if (shape !== SHAPE.BRACKET || !bare || INTRODUCES.includes(before)) return true;
    }
    return this._sees(shape, text, pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _beginValue(text, pos) {
    this._jsonFence = false;
    this._endsRepair(this._proseRule(), this._offset + pos);
    this._scalarList = endOf(SCALAR_LIST, text, pos) >= 0;
    if (this._between) {
      this._between = false;
      this._nextDocument(VALUE, pos);
    } else if (this._many) {
      this._bound = this._offset + pos + this._size;
    }
    this._state = VALUE;
    return pos;
  }

  /**
   * @param {number} state
   * @param {number} pos
   */
  _nextDocument(state, pos) {
    this._startDocument();
    super._nextDocument(state, pos);
  }

  _leaveEnded() {
    if (this._between) {
      this._state = END;
      this._between = false;
    }
    super._leaveEnded();
  }

  /** @returns {Rule} */
  _proseRule() {
    return this._between ? "trailing-text" : "leading-text";
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _beginProse(text, pos) {
    const thinks = this._sees(SHAPE.THOUGHTS, text, pos);
    if (thinks === null) return this._hold(text, pos);
    this._mayRepair(this._proseRule(), pos);
    this._state = thinks ? THOUGHTS : PROSE;
    this._beforeText = "";
    return thinks ? pos + 1 : pos;
  }

  /**
   * Look for a fence, for thoughts, or for a bracket that has something of JSON in it.
   * @param {string} text
   * @param {number} pos
   */
  _prose(text, pos) {
    const breaks = this._many ? BREAKS_PROSE_OF_MANY : BREAKS_PROSE;
    const before = this._beforeText;
    const start = pos;
    for (;;) {
      const found = find(breaks, text, pos);
      pos = this._pass(text, pos, found < 0 ? text.length : found);
      this._beforeText = (before + text.slice(Math.max(start, pos - REMEMBERED), pos)).slice(-REMEMBERED);
      if (found < 0) return pos;
      const char = text[pos];
      if (char === "\n" || char === "\x1e") {
        this._state = BEFORE;
        return pos;
      }
      if (char === "`") {
        const end = this._mendFence(text, pos);
        if (end >= 0) return end;
      } else if (char !== "{" && !QUOTES_TAG.includes(this._beforeText.slice(-1))) {
        const thinks = this._sees(SHAPE.THOUGHTS, text, pos);
        if (thinks === null) return this._hold(text, pos);
        if (thinks) {
          this._state = THOUGHTS;
          return pos + 1;
        }
      }
      if ("`<◁".includes(char)) {
        // No value begins here.
      } else if (isCode(this._beforeText, char)) {
        this._asideIsDue = this._asideIsBroken = false;
        return this._beginAside(pos);
      } else {
        const seen = this._seesValue(SHAPE.BRACKET, text, pos);
        if (seen === null) return this._hold(text, pos);
        if (seen) {
          this._asideIsDue = this._asideIsBroken = false;
          this._inProse = this._isAnnounced(text, pos);
          return this._inProse ? this._beginValue(text, pos) : this._beginAside(pos);
        }
        const after = pastSpaces(text, pos + 1);
        // {{"a": 1}} of a template is not passed over.
        if (char !== "{" || text[after] !== "{") {
          this._asideIsBroken = endOf(ASIDE_BEGINS, text, after) < 0;
          this._asideIsDue = char === "{" && this._beforeText === "";
          return this._beginAside(pos);
        }
      }
      pos += 1;
    }
  }

  /**
   * False for a list of numbers or words in the middle of a sentence.
   * @param {string} text
   * @param {number} pos
   */
  _isAnnounced(text, pos) {
    if (endOf(NEEDS_ANNOUNCING, text, pos) < 0) return true;
    return ANNOUNCES.test(this._beforeText.replace(/[ \t]+$/, ""));
  }

  /**
   * A bracket in prose that begins no JSON: `see [1, p. 3]`, `d["k"]`, `{name: string}`.
   *
   * Nothing inside it is the value, so it is passed over up to the bracket that closes it.
   * @param {number} pos
   */
  _beginAside(pos) {
    this._depthAside = 0;
    this._state = ASIDE;
    const line = this._beforeText.slice(this._beforeText.lastIndexOf("\n") + 1);
    this._asideIsQuoted = count(line, '"') % 2 > 0;
    this._beforeText = "";
    return pos;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _aside(text, pos) {
    const breaks = this._many ? BREAKS_ASIDE_OF_MANY : BREAKS_ASIDE;
    const start = { pos, offset: this._offset, line: this._line, lineStart: this._lineStart };
    for (;;) {
      const at = find(breaks, text, pos);
      if (at < 0) break;
      this._pass(text, pos, at);
      const char = text[at];
      if (char === "\n" || char === "\x1e") {
        this._refuseDue(text, start, at);
        this._state = BEFORE;
        return at;
      }
      if (char === "{" || char === "[") {
        if (this._asideIsBroken && this._depthAside !== 0) {
          this._refuseDue(text, start, at);
          throw this._error(InvalidJSON, "a key or '}'", `but got ${quoted(char)}`, at);
        }
        const before = at > pos ? text[at - 1] : this._beforeText;
        // Never closed: a new line, a new text.
        if (before === "\n" && this._depthAside !== 0) {
          this._refuseDue(text, start, at);
          this._state = PROSE;
          this._beforeText = "\n";
          return at;
        }
        this._depthAside += 1;
      } else {
        this._depthAside -= 1;
        if (this._depthAside <= 0) {
          this._refuseDue(text, start, at);
          this._state = PROSE;
          this._beforeText = (this._asideIsQuoted ? '"' : "") + char;
          return at + 1;
        }
      }
      pos = at + 1;
      this._beforeText = char;
    }
    if (pos < text.length) this._beforeText = text[text.length - 1];
    this._pass(text, pos, text.length);
    this._refuseDue(text, start, text.length);
    return text.length;
  }

  /**
   * `{it's": 1}` where the value is due is not prose, but an object that is broken. So is
   * `{ - "a": 1}` anywhere.
   * @param {string} text
   * @param {{pos: number, offset: number, line: number, lineStart: number}} start
   * @param {number} end
   */
  _refuseDue(text, start, end) {
    const broken = this._asideIsDue || this._asideIsBroken;
    const quote = broken ? text.slice(0, end).indexOf('"', start.pos) : -1;
    if (quote < 0) return;
    this._offset = start.offset;
    this._line = start.line;
    this._lineStart = start.lineStart;
    this._pass(text, start.pos, quote);
    throw this._error(InvalidJSON, "a key or '}'", "but got a quote", quote);
  }

  /**
   * Skip what a model thinks aloud: nothing of it is the answer.
   * @param {string} text
   * @param {number} pos
   */
  _thoughts(text, pos) {
    for (;;) {
      const at = find(TAG, text, pos);
      pos = this._pass(text, pos, at < 0 ? text.length : at);
      if (at < 0) return pos;
      const end = SHAPE.THOUGHTS_END.whole(text, pos);
      if (end >= 0) {
        this._state = BEFORE;
        return end;
      }
      if (SHAPE.THOUGHTS_END.cut(text, pos) && !this._last) return this._hold(text, pos);
      pos += 1;
    }
  }

  // ---- marks around the value, and what follows it -----------------------------------------

  /**
   * @param {string} text
   * @param {number} pos
   */
  _mendAround(text, pos) {
    if (text[pos] === "`") return this._mendFence(text, pos);
    return text[pos] === "/" ? this._mendComment(text, pos) : -1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _mendFence(text, pos) {
    if (SHAPE.FENCE.whole(text, pos) >= 0) this._endsRepair(this._proseRule(), this._offset + pos);
    const end = this._mendMark("fences", SHAPE.FENCE, text, pos);
    if (end >= 0 && this._held === "" && this._state !== END) {
      if (this._jsonFence && this._state === PROSE) {
        throw this._error(InvalidJSON, "a value", "but the fence ended", pos);
      }
      this._jsonFence = false;
      this._state = FENCE;
      this._language = "";
    }
    return end;
  }

  /**
   * In more ticks, or in the language that the fence names.
   * @param {string} text
   * @param {number} pos
   */
  _fence(text, pos) {
    const end = this._pass(text, pos, endOf(FENCE_REST, text, pos));
    if (this._language.length < LONGEST_LANGUAGE) {
      const name = this._language + text.slice(pos, end).replaceAll("`", "").toLowerCase();
      this._language = name.slice(0, LONGEST_LANGUAGE);
    }
    this._endsRepair("fences", this._offset + end);
    if (end < text.length) {
      const json = this._language.includes("json");
      this._jsonFence = json && !this._many;
      this._state = json || NO_LANGUAGES.includes(this._language) ? BEFORE : CODE;
    }
    return end;
  }

  /**
   * In a fence that names another language: nothing in it is JSON.
   * @param {string} text
   * @param {number} pos
   */
  _code(text, pos) {
    const at = text.indexOf("`", pos);
    pos = this._pass(text, pos, at < 0 ? text.length : at);
    if (at < 0) return pos;
    const end = this._mendMark("fences", SHAPE.FENCE, text, pos);
    if (end < 0) return pos + 1;
    if (this._held === "") this._state = BEFORE;
    return end;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _mendComment(text, pos) {
    const end = this._mendMark("comments", SHAPE.COMMENT, text, pos);
    if (end >= 0 && this._held === "") {
      this._beginComment(text[end - 1] === "*" ? BLOCK_COMMENT : LINE_COMMENT);
    }
    return end;
  }

  /** @param {number} state */
  _beginComment(state) {
    this._resume = this._state;
    this._state = state;
    this._commentQuotes = 0;
    this._commentCloses = this._commentQuoted = false;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _lineComment(text, pos) {
    const end = text.indexOf("\n", pos);
    const part = text.slice(pos, end < 0 ? text.length : end);
    this._commentQuotes += part.split('"').length - 1;
    if (part.includes('""') || (this._commentQuoted && part.startsWith('"'))) {
      this._commentQuotes = TWO_QUOTES;
    }
    this._commentQuoted = part.endsWith('"');
    this._commentCloses ||= /[\]}]/.test(part);
    this._pass(text, pos, pos + part.length);
    this._endsRepair("comments", this._offset + pos + part.length);
    if (end < 0) return text.length;
    this._refuseComment(end);
    this._state = this._resume;
    return end;
  }

  /**
   * `[// no"]`: a comment, or a string without its first quote.
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   * @param {boolean} [last]
   */
  _refuseComment(pos, kind, last = false) {
    const odd = this._commentQuotes % 2 !== 0 || this._commentQuotes < 0;
    if (this._frames.length !== 0 && (odd || (last && this._commentCloses))) {
      throw this._twoReadings("this is a comment", "a quote is missing", pos, kind);
    }
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _blockComment(text, pos) {
    const end = text.indexOf("*/", pos);
    if (end >= 0) {
      this._state = this._resume;
      this._pass(text, pos, end + 2);
      this._endsRepair("comments", this._offset + end + 2);
      return end + 2;
    }
    if (!text.endsWith("*")) return this._pass(text, pos, text.length);
    return this._hold(text, this._pass(text, pos, text.length - 1));
  }

  /**
   * Text after the value, or after one of many.
   * @param {string} text
   * @param {number} pos
   */
  _mendAfter(text, pos) {
    if (this._many) {
      if (text[pos] === ":") return -1;
      this._between = true;
      this._state = BEFORE;
      return pos;
    }
    if (ODD_SPACES.includes(text[pos]) && this._mayRepair("odd-spaces", pos)) return pos + 1;
    if (this._beginsAnother(text, pos)) return this._hold(text, pos);
    const opens = this._sees(SHAPE.OPENING_FENCE, text, pos);
    if (opens === null) return this._hold(text, pos);
    const end = opens ? -1 : this._mendAround(text, pos);
    if (end < 0 && this._mayRepair("trailing-text", pos)) {
      this._state = IGNORED;
      this._beforeText = "";
      this._depthAside = 0;
      this._trailingWords = this._trailingLetters = this._trailingDigits = false;
      this._trailingThoughts = this._trailingCode = this._announced = false;
      return pos;
    }
    return end;
  }

  /**
   * True if more text must come to tell. A second value, or one in a fence, is refused.
   * @param {string} text
   * @param {number} pos
   */
  _beginsAnother(text, pos) {
    if (!this.rules.has("trailing-text")) return false;
    const fence = text[pos] === "`";
    if (fence && !this.rules.has("fences")) return false;
    const other = "{[".includes(text[pos]) ? SHAPE.BRACKET : SHAPE.ALONE;
    const seen = this._sees(fence ? SHAPE.NAMED_FENCE : other, text, pos);
    if (seen) throw this._twoReadings("the value is before this", "it begins here", pos);
    return seen === null;
  }

  /**
   * Pass over the text after the value, but for what shows that the value is another.
   *
   * A bracket that closes nothing shows that the value's bracket was none; the end of thoughts that
   * they began before it; a second value, or a fence with one, that the first may have been an
   * example, or wrong.
   * @param {string} text
   * @param {number} pos
   */
  _ignored(text, pos) {
    let start = pos;
    for (;;) {
      const found = find(BREAKS_TRAILING, text, pos);
      const end = found < 0 ? text.length : found;
      this._noteTrailing(text, start, pos, end);
      if (found < 0) return end;
      start = pos = end;
      const char = text[pos];
      if (char === "`" || char === "~") {
        pos = this._trailingFence(text, pos);
        if (pos === text.length) return pos;
        continue;
      }
      if (this._trailingCode) {
        pos += 1;
        continue;
      }
      if ("{[".includes(char) && this._isLater(text, pos)) return this._hold(text, pos);
      if (char === "<" || char === "◁" || char === "[") {
        const ends = this._sees(SHAPE.ONLY_THOUGHTS_END, text, pos);
        const begins = this._sees(SHAPE.THOUGHTS, text, pos);
        if (ends === null || begins === null) return this._hold(text, pos);
        if (ends && !this._trailingThoughts) {
          throw this._twoReadings("the value has ended", "it was part of thoughts", pos);
        }
        if (begins || ends) this._trailingThoughts = begins;
        if (char === "[") this._depthAside += 1;
      } else if (char === "{") {
        this._depthAside += 1;
      } else if (char === "}" || char === "]") {
        if (this._depthAside !== 0) this._depthAside -= 1;
        else if (this._trailingWords && !NO_CLOSER.includes(this._beforeText)) {
          throw this._twoReadings("the value has ended", "this bracket ends it", pos);
        }
      }
      pos += 1;
    }
  }

  /**
   * Ticks in the text after the value: they close its fence, or open and close code.
   * @param {string} text
   * @param {number} pos
   */
  _trailingFence(text, pos) {
    if (!this.rules.has("fences")) return pos + 1;
    const seen = this._trailingCode ? false : this._seesJsonFence(text, pos);
    const fence = this._sees(SHAPE.FENCE, text, pos);
    const opens = this._sees(SHAPE.OPENING_FENCE, text, pos);
    if (seen === null || fence === null || opens === null) return this._hold(text, pos);
    if (seen) throw this._twoReadings("the value is before this", "it is in this fence", pos);
    if (!fence) return pos + 1;
    this._trailingCode = !this._trailingCode && opens;
    return pos + 3;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _seesJsonFence(text, pos) {
    const end = SHAPE.JSON_FENCE.whole(text, pos) - 1;
    if (end < 0 || !"{[".includes(text[end])) return this._sees(SHAPE.JSON_FENCE, text, pos);
    return this._sees(SHAPE.BRACKET, text, end);
  }

  /**
   * True if more text must come to tell. A second value is refused. Numbers in a sentence are a
   * footnote.
   * @param {string} text
   * @param {number} pos
   */
  _isLater(text, pos) {
    if (this._depthAside !== 0 || this._trailingThoughts) return false;
    if (endOf(NO_VALUE, this._beforeText, 0) >= 0) return false;
    if (this._trailingLetters && !this._announced) {
      const footnote = this._sees(SHAPE.FOOTNOTE, text, pos);
      if (footnote !== false) return footnote === null;
    }
    const seen = this._sees(SHAPE.BRACKET, text, pos);
    if (seen) throw this._twoReadings("the value is before this", "it begins here", pos);
    return seen === null;
  }

  /**
   * Count the text from `pos` on, and note what is in the text from `start` on.
   * @param {string} text
   * @param {number} start
   * @param {number} pos
   * @param {number} end
   */
  _noteTrailing(text, start, pos, end) {
    if (end === start || this._trailingCode) {
      this._pass(text, pos, end);
      return;
    }
    this._beforeText = lastOf(text.slice(Math.max(start, end - 2), end));
    const run = text.slice(start, end);
    this._trailingWords ||= WORDS.test(run);
    if (!this._trailingLetters) {
      const letter = LETTER.exec(run)?.index ?? run.length;
      const second = SECOND.exec(run.slice(0, letter))?.index ?? -1;
      if (second >= 0) {
        const at = Math.max(start + second, pos);
        this._pass(text, pos, at);
        throw this._twoReadings("the value is before this", "it begins here", at);
      }
      this._trailingLetters = letter < run.length;
      this._trailingDigits ||= [...run].some(isDigit);
    }
    this._pass(text, pos, end);
    const visible = run.replace(/[ \t]+$/, "");
    if (visible !== "") this._announced = /[:\n]$/.test(visible);
  }

  _outside() {
    return this._state >= LENIENT ? this._frames.length === 0 : super._outside();
  }
}

/**
 * True if a bracket after this prose is part of something else than an answer.
 * @param {string} before
 * @param {string} bracket
 */
function isCode(before, bracket) {
  if (SUBSCRIPT.test(before.slice(-16)) || before.endsWith('"')) return true;
  if (bracket === "[" && NO_LIST.includes(before.slice(-1))) return true;
  const lines = before.split("\n").slice(-2);
  const line = lines[lines.length - 1];
  if (count(line, '"') % 2 > 0 || count(line, "“") > count(line, "”")) return true;
  if (lines.length > 1 && endOf(YAML_KEY, line, 0) >= 0 && endOf(YAML_LINE, lines[0], 0) >= 0) return true;
  const found = IN_CODE.exec(line);
  return found !== null && (found.index > 0 || lines.length > 1 || !line.endsWith(","));
}

/**
 * @param {string} text
 * @param {string} char
 */
function count(text, char) {
  return text.split(char).length - 1;
}

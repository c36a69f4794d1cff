/** Around the value: prose, fences, thoughts, and the text after it or between documents. */

import { InvalidJSON, quoted } from "../../errors.js";
import { END, VALUE } from "../machine.js";
import { endOf, find } from "./characters.js";
import { SHAPE, pastSpaces } from "./lookahead.js";
import { ASIDE, BEFORE, BLOCK_COMMENT, CODE, FENCE, IGNORED, LINE_COMMENT, PROSE, THOUGHTS } from "./states.js";
import {
  ANNOUNCES,
  ANNOUNCES_NUMBERS,
  ANNOUNCES_SECOND,
  ASIDE_BEGINS,
  BREAKS_ASIDE,
  BREAKS_ASIDE_OF_MANY,
  BREAKS_PROSE,
  BREAKS_PROSE_OF_MANY,
  BREAKS_TRAILING,
  CITES,
  COMMENTED,
  DUE,
  FENCE_REST,
  FOOTNOTE,
  IN_CODE,
  LETTER,
  NO_CLOSER,
  NUMBERS,
  ODD_SPACES,
  OPENS_BLOCK,
  OPERAND,
  QUOTES,
  QUOTES_VALUE,
  SCALAR_LIST,
  SECOND,
  SPACE_OR_SEPARATOR,
  SUBSCRIPT,
  TAG,
  YAML_KEY,
  YAML_LINE,
} from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./lookahead.js").Shape} Shape */
/** @typedef {import("./rules.js").Rule} Rule */

const SPACE = /[ \t\n\r]*/y;
// Words of the text after the value.
const WORDS = /[^ \t\r\n,;)\]}]/;
// Before a tag that is spoken of.
const QUOTES_TAG = ["`", '"', "'", "“"];
// Before a bracket that is the value, even if the text stops after it.
const INTRODUCES = ["", ":", "\n"];
// What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
const NO_LANGUAGES = ["", "text", "txt", "plaintext", "plain", "output", "response"];
// Before a square bracket that is part of a path, or a footnote.
const NO_LIST = [...".?!&'"];
// As much of the prose is remembered as these patterns look at.
const REMEMBERED = 160;
const LONGEST_LANGUAGE = 16;
// As much of the text after a value is looked through for a second number or word.
const LONGEST_TRAILING = 1000;
// And as much of it before a bracket.
const BEFORE_SECOND = 16;

/** Finds the value in the text around it. */
export class Prose {
  // With many documents: whether one has ended and the next has not begun.
  between = false;
  // The end of the prose so far; the language that a fence names; how many brackets are open in the
  // prose.
  beforeText = "";
  language = "";
  depthAside = 0;
  // A fence that names JSON is open, and no value has begun in it.
  jsonFence = false;
  // A bracket of the prose begins where the value is due, in a quotation, or as no value does.
  asideIsDue = false;
  asideIsQuoted = false;
  asideIsBroken = false;
  // The value was found in prose; it is a list of numbers or words.
  inProse = false;
  scalarList = false;
  // A list of numbers was passed over before it: a footnote, an interval, or a value.
  passedList = false;
  // Of the text after it: if there were words, or letters; its beginning; if thoughts have begun,
  // or code.
  trailingWords = false;
  trailingLetters = false;
  trailingText = "";
  trailingThoughts = false;
  trailingCode = false;

  /**
   * Read where a value may begin: at the start, after a fence, between documents.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  before(m, text, pos) {
    pos = m._pass(text, pos, endOf(m._many ? SPACE_OR_SEPARATOR : SPACE, text, pos));
    if (pos === text.length) return pos;
    if (ODD_SPACES.includes(text[pos]) && m._mayRepair("odd-spaces", pos)) return pos + 1;
    const end = this.fixAround(m, text, pos);
    if (end >= 0) return end;
    if (m.rules.has(QUOTES[text[pos]]) || !m.rules.has(this.proseRule(m))) {
      return this.beginValue(m, text, pos);
    }
    const shape = m._many ? SHAPE.ANY_VALUE_BEGINS : SHAPE.VALUE_BEGINS;
    const seen = this.seesValue(m, shape, text, pos);
    if (seen === null) return m._hold(text, pos);
    return seen ? this.beginValue(m, text, pos) : this.beginProse(m, text, pos);
  }

  /**
   * @param {Leniency} m
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   */
  seesValue(m, shape, text, pos) {
    if (text[pos] === "(" && !m.rules.has("tuples")) return false;
    // Cut off right after its bracket. In a sentence, [1 may be a footnote, {name a blank.
    if (m._last && "{[".includes(text[pos]) && shape.cut(text, pos)) {
      const after = text[pastSpaces(text, pos + 1)];
      const bare = after !== "{" && after !== "[" && text.slice(pos).trimEnd() !== "{";
      const before = this.beforeText.replace(/[ \t]+$/, "").slice(-1);
      if (shape !== SHAPE.BRACKET || !bare || INTRODUCES.includes(before)) return true;
    }
    return m._sees(shape, text, pos);
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  beginValue(m, text, pos) {
    this.jsonFence = false;
    m._endRepair(m._offset + pos);
    // Where prose is read, a list was seen to its end before it begins; elsewhere it may be cut.
    this.scalarList = m.rules.has(this.proseRule(m)) && endOf(SCALAR_LIST, text, pos) >= 0;
    if (this.between) {
      this.between = false;
      m._nextDocument(VALUE, pos);
    } else if (m._many) {
      m._bound = m._offset + pos + m._size;
    }
    m._state = VALUE;
    return pos;
  }

  /**
   * @param {Leniency} m
   * @returns {Rule}
   */
  proseRule(m) {
    return this.between ? "trailing-text" : "leading-text";
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  beginProse(m, text, pos) {
    const thinks = m._sees(SHAPE.THOUGHTS, text, pos);
    if (thinks === null) return m._hold(text, pos);
    m._passes = m._mayRepair(this.proseRule(m), pos);
    m._state = thinks ? THOUGHTS : PROSE;
    this.beforeText = "";
    return thinks ? pos + 1 : pos;
  }

  /**
   * Look for a fence, for thoughts, or for a bracket that has something of JSON in it.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  prose(m, text, pos) {
    const breaks = m._many ? BREAKS_PROSE_OF_MANY : BREAKS_PROSE;
    const before = this.beforeText;
    const start = pos;
    for (;;) {
      const breakAt = find(breaks, text, pos);
      pos = m._pass(text, pos, breakAt < 0 ? text.length : breakAt);
      this.beforeText = (before + text.slice(Math.max(start, pos - REMEMBERED), pos)).slice(-REMEMBERED);
      if (breakAt < 0) return pos;
      const char = text[pos];
      if (char === "\n" || char === "\x1e") {
        m._state = BEFORE;
        return pos;
      }
      if (char === "`") {
        const end = this.fixFence(m, text, pos);
        if (end >= 0) return end;
      } else if (char !== "{" && !QUOTES_TAG.includes(this.beforeText.slice(-1))) {
        const thinks = m._sees(SHAPE.THOUGHTS, text, pos);
        if (thinks === null) return m._hold(text, pos);
        if (thinks) {
          m._state = THOUGHTS;
          return pos + 1;
        }
      }
      if ("`<◁".includes(char)) {
        // No value begins here.
      } else if (isCode(this.beforeText, char)) {
        this.asideIsDue = this.asideIsBroken = false;
        return this.beginAside(m, pos);
      } else {
        const seen = this.seesValue(m, SHAPE.BRACKET, text, pos);
        if (seen === null) return m._hold(text, pos);
        if (seen) {
          this.asideIsDue = this.asideIsBroken = false;
          this.inProse = this.isAnnounced(m, text, pos);
          return this.inProse ? this.beginValue(m, text, pos) : this.passOver(m, text, pos);
        }
        const after = pastSpaces(text, pos + 1);
        // {{"a": 1}} of a template is not passed over.
        if (char !== "{" || text[after] !== "{") {
          this.asideIsBroken = endOf(ASIDE_BEGINS, text, after) < 0;
          this.asideIsDue = char === "{" && DUE.test(this.beforeText);
          return this.passOver(m, text, pos);
        }
      }
      pos += 1;
    }
  }

  /**
   * False for a list of numbers or words in a sentence, for a block of code and an operand. After
   * such a list in the prose, another list may be the value or be one of two.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  isAnnounced(m, text, pos) {
    const before = this.beforeText.replace(/[ \t`*]+$/, "");
    const scalars = endOf(SCALAR_LIST, text, pos) >= 0;
    if (OPERAND.test(this.beforeText)) return false;
    if (text[pos] === "{" && !scalars) {
      return endOf(COMMENTED, text, pos) < 0 || !OPENS_BLOCK.test(before);
    }
    if (!scalars && !this.passedList) return true;
    const line = before.slice(before.lastIndexOf("\n") + 1);
    // (95% CI: [1.2, 3.4])
    if (scalars && line.split("(").length > line.split(")").length) return false;
    if (endOf(FOOTNOTE, text, pos) >= 0 && CITES.test(this.beforeText)) return false;
    const numbers = scalars && this.passedList && text[pos] === "[";
    return (numbers ? ANNOUNCES_NUMBERS : ANNOUNCES).test(before);
  }

  /**
   * A bracket that is not the value, but might have been.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  passOver(m, text, pos) {
    this.passedList ||= endOf(NUMBERS, text, pos) >= 0;
    return this.beginAside(m, pos);
  }

  /**
   * A bracket in prose that begins no JSON: `see [1, p. 3]`, `d["k"]`, `{name: string}`.
   *
   * Nothing inside it is the value, so it is passed over up to the bracket that closes it.
   * @param {Leniency} m
   * @param {number} pos
   */
  beginAside(m, pos) {
    this.depthAside = 0;
    m._state = ASIDE;
    const line = this.beforeText.slice(this.beforeText.lastIndexOf("\n") + 1);
    this.asideIsQuoted = count(line, '"') % 2 > 0;
    this.beforeText = "";
    return pos;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  aside(m, text, pos) {
    const breaks = m._many ? BREAKS_ASIDE_OF_MANY : BREAKS_ASIDE;
    const start = { pos, offset: m._offset, line: m._line, lineStart: m._lineStart };
    for (;;) {
      const at = find(breaks, text, pos);
      if (at < 0) break;
      m._pass(text, pos, at);
      const char = text[at];
      if (char === "\n" || char === "\x1e") {
        this.refuseDue(m, text, start, at);
        m._state = BEFORE;
        return at;
      }
      if (char === "{" || char === "[") {
        if (this.asideIsBroken && this.depthAside !== 0) {
          this.refuseDue(m, text, start, at);
          throw m._error(InvalidJSON, "a key or '}'", `but got ${quoted(char)}`, at);
        }
        const before = at > pos ? text[at - 1] : this.beforeText;
        // Never closed: a new line, a new text.
        if (before === "\n" && this.depthAside !== 0) {
          this.refuseDue(m, text, start, at);
          m._state = PROSE;
          this.beforeText = "\n";
          return at;
        }
        this.depthAside += 1;
      } else {
        this.depthAside -= 1;
        if (this.depthAside <= 0) {
          this.refuseDue(m, text, start, at);
          m._state = PROSE;
          this.beforeText = (this.asideIsQuoted ? '"' : "") + char;
          return at + 1;
        }
      }
      pos = at + 1;
      this.beforeText = char;
    }
    if (pos < text.length) this.beforeText = text[text.length - 1];
    m._pass(text, pos, text.length);
    this.refuseDue(m, text, start, text.length);
    return text.length;
  }

  /**
   * `{it's": 1}` where the value is due is not prose, but an object that is broken. So is
   * `{ - "a": 1}` anywhere.
   * @param {Leniency} m
   * @param {string} text
   * @param {{pos: number, offset: number, line: number, lineStart: number}} start
   * @param {number} end
   */
  refuseDue(m, text, start, end) {
    const broken = this.asideIsDue || this.asideIsBroken;
    const quote = broken ? text.slice(0, end).indexOf('"', start.pos) : -1;
    if (quote < 0) return;
    m._offset = start.offset;
    m._line = start.line;
    m._lineStart = start.lineStart;
    m._pass(text, start.pos, quote);
    throw m._error(InvalidJSON, "a key or '}'", "but got a quote", quote);
  }

  /**
   * Skip what a model thinks aloud: nothing of it is the answer.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  thoughts(m, text, pos) {
    for (;;) {
      const at = find(TAG, text, pos);
      pos = m._pass(text, pos, at < 0 ? text.length : at);
      if (at < 0) return pos;
      const end = SHAPE.THOUGHTS_END.whole(text, pos);
      if (end >= 0) {
        m._state = BEFORE;
        return end;
      }
      if (SHAPE.THOUGHTS_END.cut(text, pos) && !m._last) return m._hold(text, pos);
      pos += 1;
    }
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixAround(m, text, pos) {
    if (text[pos] === "`") return this.fixFence(m, text, pos);
    return text[pos] === "/" ? m.comments.beginMark(m, text, pos) : -1;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fixFence(m, text, pos) {
    const end = m._fixMark("fences", SHAPE.FENCE, text, pos);
    if (end >= 0 && m._held === "" && m._state !== END) {
      if (this.jsonFence && m._state === PROSE) {
        throw m._error(InvalidJSON, "a value", "but the fence ended", pos);
      }
      this.jsonFence = false;
      m._state = FENCE;
      m._passes = true;
      this.language = "";
    }
    return end;
  }

  /**
   * In more ticks, or in the language that the fence names.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  fence(m, text, pos) {
    const end = m._pass(text, pos, endOf(FENCE_REST, text, pos));
    if (this.language.length < LONGEST_LANGUAGE) {
      const name = this.language + text.slice(pos, end).replaceAll("`", "").toLowerCase();
      this.language = name.slice(0, LONGEST_LANGUAGE);
    }
    if (end < text.length) {
      m._endRepair(m._offset + end);
      const json = this.language.includes("json");
      this.jsonFence = json && !m._many;
      m._state = json || NO_LANGUAGES.includes(this.language) ? BEFORE : CODE;
    }
    return end;
  }

  /**
   * In a fence that names another language: nothing in it is JSON.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  code(m, text, pos) {
    const at = text.indexOf("`", pos);
    pos = m._pass(text, pos, at < 0 ? text.length : at);
    if (at < 0) return pos;
    const end = m._fixMark("fences", SHAPE.FENCE, text, pos);
    if (end < 0) return pos + 1;
    if (m._held === "") m._state = BEFORE;
    return end;
  }

  /**
   * True if more text must come to tell. A second value, or one in a fence, is refused.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  beginsAnother(m, text, pos) {
    if (!m.rules.has("trailing-text")) return false;
    let seen;
    if (text[pos] === "`") seen = m.rules.has("fences") && this.seesJsonFence(m, text, pos);
    else if ("{[".includes(text[pos])) seen = this.seesSecond(m, text, pos, true);
    else seen = m._sees(SHAPE.ALONE, text, pos);
    if (seen) throw twoValues(m, pos);
    return seen === null;
  }

  /**
   * Pass over the text after the value, but for what shows that the value is another.
   *
   * A bracket that closes nothing shows that the value's bracket was none; the end of thoughts that
   * they began before it; a second value, or a fence with one, that the first may have been an
   * example, or wrong.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  ignored(m, text, pos) {
    let start = pos;
    for (;;) {
      const breakAt = find(BREAKS_TRAILING, text, pos);
      const end = breakAt < 0 ? text.length : breakAt;
      this.noteTrailing(m, text, start, pos, end);
      if (breakAt < 0) return end;
      start = pos = end;
      const char = text[pos];
      if (char === "`" || char === "~") {
        pos = this.trailingFence(m, text, pos);
        if (pos === text.length) return pos;
        continue;
      }
      if (this.trailingCode) {
        pos += 1;
        continue;
      }
      if ("{[".includes(char) && this.isLater(m, text, pos)) return m._hold(text, pos);
      if (char === "<" || char === "◁" || char === "[") {
        const ends = m._sees(SHAPE.ONLY_THOUGHTS_END, text, pos);
        const begins = m._sees(SHAPE.THOUGHTS, text, pos);
        if (ends === null || begins === null) return m._hold(text, pos);
        if (ends && !this.trailingThoughts) {
          throw m._twoReadings("the value has ended", "it was part of thoughts", pos);
        }
        if (begins || ends) this.trailingThoughts = begins;
        if (char === "[") this.depthAside += 1;
      } else if (char === "{") {
        this.depthAside += 1;
      } else if (char === "}" || char === "]") {
        if (this.depthAside !== 0) this.depthAside -= 1;
        else if (this.trailingWords && !NO_CLOSER.test(this.beforeText)) {
          throw m._twoReadings("the value has ended", "this bracket ends it", pos);
        }
      }
      pos += 1;
    }
  }

  /**
   * Ticks in the text after the value: they close its fence, or open and close code.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  trailingFence(m, text, pos) {
    if (!m.rules.has("fences")) return pos + 1;
    const seen = this.trailingCode ? false : this.seesJsonFence(m, text, pos);
    const fence = m._sees(SHAPE.FENCE, text, pos);
    const opens = m._sees(SHAPE.OPENING_FENCE, text, pos);
    if (seen === null || fence === null || opens === null) return m._hold(text, pos);
    if (seen) throw twoValues(m, pos);
    if (!fence) return pos + 1;
    this.trailingCode = !this.trailingCode && opens;
    return pos + 3;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  seesJsonFence(m, text, pos) {
    const end = SHAPE.JSON_FENCE.whole(text, pos) - 1;
    if (end < 0 || !"{[".includes(text[end])) return m._sees(SHAPE.JSON_FENCE, text, pos);
    return m._sees(SHAPE.BRACKET, text, end);
  }

  /**
   * True if more text must come to tell. A second value is refused. Numbers in a sentence are a
   * footnote.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  isLater(m, text, pos) {
    if (this.depthAside !== 0 || this.trailingThoughts) return false;
    const announced = ANNOUNCES_SECOND.test(this.beforeText);
    const subscript = text[pos] === "[" && this.trailingLetters && SUBSCRIPT.test(this.beforeText);
    if (!announced && (subscript || QUOTES_VALUE.test(this.beforeText))) return false;
    if (this.trailingLetters && !announced && !this.scalarList) {
      const footnote = m._sees(SHAPE.FOOTNOTE, text, pos);
      if (footnote !== false) return footnote === null;
    }
    const seen = this.seesSecond(m, text, pos, announced);
    if (seen) throw twoValues(m, pos);
    return seen === null;
  }

  /**
   * True if a second value begins here; it may be cut off after its bracket where it is due.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {boolean} due
   */
  seesSecond(m, text, pos, due) {
    if (due && m._last && SHAPE.BRACKET.cut(text, pos)) return true;
    return m._sees(SHAPE.BRACKET, text, pos);
  }

  /**
   * Count the text from `pos` on, and note what is in the text from `start` on.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} start
   * @param {number} pos
   * @param {number} end
   */
  noteTrailing(m, text, start, pos, end) {
    if (end === start || this.trailingCode) {
      m._pass(text, pos, end);
      return;
    }
    const run = text.slice(start, end);
    this.beforeText = (this.beforeText + run).slice(-BEFORE_SECOND);
    this.trailingWords ||= WORDS.test(run);
    if (!this.trailingLetters) {
      const letter = LETTER.exec(run)?.index ?? run.length;
      const second = SECOND.exec(run.slice(0, letter))?.index ?? -1;
      if (second >= 0) {
        const at = Math.max(start + second, pos);
        m._pass(text, pos, at);
        throw twoValues(m, at);
      }
      this.trailingLetters = letter < run.length;
    }
    if (this.trailingText.length < LONGEST_TRAILING) {
      this.trailingText = (this.trailingText + run).slice(0, LONGEST_TRAILING);
    }
    m._pass(text, pos, end);
  }

  /**
   * Text after the value, or after one of many.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  after(m, text, pos) {
    if (m._many) {
      if (text[pos] === ":") return -1;
      this.between = true;
      m._state = BEFORE;
      return pos;
    }
    if (ODD_SPACES.includes(text[pos]) && m._mayRepair("odd-spaces", pos)) return pos + 1;
    if (this.beginsAnother(m, text, pos)) return m._hold(text, pos);
    const opens = m._sees(SHAPE.OPENING_FENCE, text, pos);
    if (opens === null) return m._hold(text, pos);
    const end = opens ? -1 : this.fixAround(m, text, pos);
    // A comment is looked through for a second value, as other text is.
    const begun = m._state === LINE_COMMENT || m._state === BLOCK_COMMENT;
    const comment = begun && m.rules.has("trailing-text");
    if (comment || (end < 0 && m._mayRepair("trailing-text", pos))) {
      m._state = IGNORED;
      m._passes = true;
      this.beforeText = "";
      this.depthAside = 0;
      this.trailingWords = this.trailingLetters = false;
      this.trailingText = "";
      this.trailingThoughts = this.trailingCode = false;
      return comment ? end : pos;
    }
    return end;
  }
}

/**
 * @param {Leniency} m
 * @param {number} pos
 */
function twoValues(m, pos) {
  return m._twoReadings("the value is before this", "it begins here", pos);
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
  const match = IN_CODE.exec(line);
  return match !== null && (match.index > 0 || lines.length > 1 || !line.endsWith(","));
}

/**
 * @param {string} text
 * @param {string} char
 */
function count(text, char) {
  return text.split(char).length - 1;
}

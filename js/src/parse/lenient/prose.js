/** Around the value: prose, fences, thoughts, and the text after it or between documents. */

import { InvalidJSON, quoted } from "../../errors.js";
import { END, VALUE } from "../machine.js";
import { endOf, find } from "./characters.js";
import { SHAPE, pastSpaces } from "./lookahead.js";
import { ASIDE, BEFORE, BLOCK_COMMENT, CODE, IGNORED, LINE_COMMENT, PROSE, THOUGHTS } from "./states.js";
import {
  ANNOUNCES,
  ASIDE_BEGINS,
  BREAKS_ASIDE,
  BREAKS_ASIDE_OF_MANY,
  BREAKS_PROSE,
  BREAKS_PROSE_OF_MANY,
  BREAKS_TRAILING,
  CITES,
  DUE,
  EMPTY_OR_ONE,
  ENTRY,
  FENCE_NAME,
  IN_CODE,
  IN_FACE,
  IN_LINE,
  IN_SENTENCE,
  KEY_BEFORE,
  LATER,
  NO_LIST,
  NUMBERS,
  ODD_SPACES,
  OPERAND,
  PART,
  QUOTES,
  SCALAR_FIRST,
  SCALAR_LIST,
  SECOND_DUE,
  SPACE_OR_SEPARATOR,
  TAG,
  WORD,
} from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./lookahead.js").Shape} Shape */
/** @typedef {import("./rules.js").Rule} Rule */

const SPACE = /[ \t\n\r]*/y;
// Before a tag that is spoken of.
const QUOTES_TAG = ["`", '"', "'", "“"];
// What a fence may name and still hold JSON: nothing, something with "json" in it, or one of these.
const NO_LANGUAGES = ["", "text", "txt", "plaintext", "plain", "output", "response"];
// As much of the text before a bracket is remembered as the patterns look at.
const REMEMBERED = 160;
// As much of the text after a value is looked through for a second number or word.
const LONGEST_TRAILING = 1000;

/** Finds the value in the text around it. */
export class Prose {
  // With many documents: whether one has ended and the next has not begun.
  between = false;
  // The end of the prose so far; how many brackets are open in it.
  beforeText = "";
  depthAside = 0;
  // A fence that names JSON is open, and no value has begun in it.
  jsonFence = false;
  // A bracket of the prose that is passed over: it may be an object, or it begins as no text.
  asideIsObject = false;
  asideIsBroken = false;
  // Something was passed over that may be the value: numbers after a colon, `{}.` in a line.
  isDoubtful = false;
  // The value was found in prose; it is a list of numbers or words, or empty; or no bracket.
  inProse = false;
  scalarList = false;
  isScalar = false;
  // The end of the prose before it.
  introduction = "";
  // Of the text after it: if there were words, if thoughts or code have begun, its beginning.
  trailingWords = false;
  trailingThoughts = false;
  trailingCode = false;
  trailingText = "";

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
      if (shape !== SHAPE.BRACKET || DUE.test(this.beforeText)) return true;
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
    this.isScalar = !"{[(".includes(text[pos]);
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
    this.isDoubtful = endOf(SCALAR_FIRST, text, pos) >= 0;
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
        pos += 1;
        continue;
      }
      this.asideIsObject = this.asideIsBroken = false;
      if (isCode(this.beforeText, char)) return this.beginAside(m, pos, "[-]");
      const seen = this.seesValue(m, SHAPE.BRACKET, text, pos);
      if (seen === null) return m._hold(text, pos);
      this.inProse = seen && this.isValue(text, pos);
      if (this.inProse) {
        this.introduction = this.beforeText;
        const end = this.beginValue(m, text, pos);
        // Any other number after numbers in a sentence makes them doubtful.
        this.isScalar = endOf(NUMBERS, text, pos) >= 0 && !IN_LINE.test(this.beforeText);
        return end;
      }
      const after = pastSpaces(text, pos + 1);
      // {{"a": 1}} of a template is not passed over.
      if (!seen && char === "{" && text[after] === "{") {
        pos += 1;
        continue;
      }
      this.asideIsObject = !seen && char === "{";
      this.asideIsBroken = !seen && endOf(ASIDE_BEGINS, text, after) < 0;
      const scalars = seen && endOf(SCALAR_LIST, text, pos) >= 0;
      const mightBe = scalars || endOf(EMPTY_OR_ONE, text, pos) >= 0;
      const first = endOf(ENTRY, text, pos) < 0 && IN_LINE.test(this.beforeText);
      // After one of two values nothing is the value, least of all what is inside it.
      if (seen && !scalars) this.isDoubtful = true;
      if (mightBe && (first || ANNOUNCES.test(this.beforeText))) this.isDoubtful = true;
      return this.beginAside(m, pos, mightBe ? "[]" : "[-]");
    }
  }

  /**
   * False for one of two operands, and for numbers, words or nothing in a sentence.
   *
   * Those are a footnote, an interval or code, unless they are alone in their line or come after a
   * colon; numbers not after that of a list of sources or of a key.
   * @param {string} text
   * @param {number} pos
   */
  isValue(text, pos) {
    const before = this.beforeText;
    if (this.isDoubtful || OPERAND.test(before)) return false;
    if (endOf(SCALAR_LIST, text, pos) < 0) return true;
    const numbers = endOf(NUMBERS, text, pos) >= 0;
    // What ended in a tag before it was thought aloud.
    if (IN_LINE.test(before)) return !numbers || !before.slice(before.lastIndexOf("</") + 1).includes("[]");
    if (!ANNOUNCES.test(before)) return false;
    const cited = endOf(EMPTY_OR_ONE, text, pos) >= 0 || CITES.test(before);
    return !(numbers && (cited || KEY_BEFORE.test(before)));
  }

  /**
   * A bracket in prose that is not the value: `see [1, p. 3]`, `d["k"]`, `{name: string}`.
   *
   * Nothing inside it is the value, so it is passed over up to the bracket that closes it. Of what is
   * before the next bracket it is `short`.
   * @param {Leniency} m
   * @param {number} pos
   * @param {string} short
   */
  beginAside(m, pos, short) {
    this.depthAside = 0;
    m._state = ASIDE;
    this.beforeText = (this.beforeText + short).slice(-REMEMBERED);
    return pos;
  }

  /**
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  aside(m, text, pos) {
    const breaks = m._many ? BREAKS_ASIDE_OF_MANY : BREAKS_ASIDE;
    for (;;) {
      const at = find(breaks, text, pos);
      if (at < 0) break;
      pos = m._pass(text, pos, at);
      const char = text[pos];
      if (char === "\n" || char === "\x1e") {
        m._state = BEFORE;
        return pos;
      }
      // `{it's": 1}` and `{ - "a": 1}` are not prose, but objects that are broken.
      const broken = this.asideIsBroken || (this.asideIsObject && char === '"');
      if (broken && '"{['.includes(char) && this.depthAside !== 0) {
        const got = char === '"' ? "a quote" : quoted(char);
        throw m._error(InvalidJSON, "a key or '}'", `but got ${got}`, pos);
      }
      if (char === "{" || char === "[") {
        // Never closed: a new line, a new text.
        if (this.depthAside !== 0 && text[pos - 1] === "\n") {
          m._state = PROSE;
          this.beforeText += "\n";
          return pos;
        }
        this.depthAside += 1;
      } else if (char !== '"') {
        this.depthAside -= 1;
        if (this.depthAside <= 0) {
          m._state = PROSE;
          return pos + 1;
        }
      }
      pos += 1;
    }
    const waits = text.endsWith("\n") && !m._last;
    const end = m._pass(text, pos, waits ? text.length - 1 : text.length);
    return waits ? m._hold(text, end) : end;
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
    if (m._state === END) return m._fixMark("fences", SHAPE.FENCE, text, pos);
    const seen = m.rules.has("fences") && m._sees(SHAPE.NAMED_FENCE, text, pos);
    if (seen === null) return m._hold(text, pos);
    if (!seen) return -1;
    const end = endOf(FENCE_NAME, text, pos);
    m._mayRepair("fences", pos, end - pos);
    if (this.jsonFence && m._state === PROSE) {
      throw m._error(InvalidJSON, "a value", "but the fence ended", pos);
    }
    const name = text.slice(pos, end).replaceAll("`", "").toLowerCase();
    this.jsonFence = name.includes("json") && !m._many;
    m._state = name.includes("json") || NO_LANGUAGES.includes(name) ? BEFORE : CODE;
    return m._pass(text, pos, end);
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
      if ("{[".includes(char) && this.isSecond(m, text, pos) === null) return m._hold(text, pos);
      if (char === "<" || char === "◁" || char === "[") {
        const ends = m._sees(SHAPE.ONLY_THOUGHTS_END, text, pos);
        const begins = m._sees(SHAPE.THOUGHTS, text, pos);
        if (ends === null || begins === null) return m._hold(text, pos);
        if (ends && !this.trailingThoughts) {
          throw m._twoReadings("the value has ended", "it was part of thoughts", pos);
        }
        if (begins || ends) this.trailingThoughts = begins;
      }
      if (char === "{" || char === "[") {
        this.depthAside += 1;
      } else if (char === "}" || char === "]") {
        if (this.depthAside !== 0) this.depthAside -= 1;
        else if (this.trailingWords && !IN_FACE.test(this.beforeText)) {
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
    const seen = this.trailingCode ? false : m._sees(SHAPE.JSON_FENCE, text, pos);
    const fence = m._sees(SHAPE.FENCE, text, pos);
    const opens = m._sees(SHAPE.OPENING_FENCE, text, pos);
    if (seen === null || fence === null || opens === null) return m._hold(text, pos);
    if (seen) throw m._twoReadings("the value is before this", "it begins here", pos);
    if (fence) {
      this.trailingCode = !this.trailingCode && opens;
      return pos + 3;
    }
    // `code` in the middle of a later sentence is passed over whole.
    const sentence = LATER.test(this.trailingText) && IN_SENTENCE.test(this.beforeText);
    const code = !this.trailingCode && sentence && m._sees(SHAPE.QUOTED_CODE, text, pos);
    if (code === null) return m._hold(text, pos);
    return code ? m._pass(text, pos, text.indexOf("`", pos + 1) + 1) : pos + 1;
  }

  /**
   * Null if more text must come to tell. A second value is refused: in the sentence of the value any
   * bracket; in a later one, numbers are a footnote.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  isSecond(m, text, pos) {
    const before = this.beforeText;
    if (this.depthAside !== 0 || this.trailingThoughts) return false;
    if ((text[pos] === "[" || before.endsWith("(")) && PART.test(before)) return false;
    const due = !LATER.test(this.trailingText) || SECOND_DUE.test(before);
    const cited = m._sees(SHAPE.CITED, text, pos);
    if (cited === null) return null;
    const isSource = !due || CITES.test(before);
    if (cited && isSource && !this.scalarList && !this.isScalar) return false;
    const inLine = cited && !this.trailingText.includes("\n");
    const cut = due && m._last && SHAPE.BRACKET.cut(text, pos) && (before.endsWith("`") || !IN_FACE.test(before));
    const seen = cut || inLine || m._sees(SHAPE.BRACKET, text, pos);
    if (seen) throw m._twoReadings("the value is before this", "it begins here", pos);
    return seen;
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
    this.beforeText = (this.beforeText + run).slice(-REMEMBERED);
    this.trailingWords ||= WORD.test(run);
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
    const opens = m._sees(SHAPE.OPENING_FENCE, text, pos);
    if (opens === null) return m._hold(text, pos);
    const end = opens ? -1 : this.fixAround(m, text, pos);
    // A comment is looked through for a second value, as other text is.
    const begun = m._state === LINE_COMMENT || m._state === BLOCK_COMMENT;
    const comment = begun && m.rules.has("trailing-text");
    if (comment || (end < 0 && m._mayRepair("trailing-text", pos))) {
      m._state = IGNORED;
      m._passes = true;
      this.beforeText = this.trailingText = m._line === m.brackets.rootLine ? "" : "\n";
      this.depthAside = 0;
      this.trailingWords = this.trailingThoughts = this.trailingCode = false;
      return comment ? end : pos;
    }
    return end;
  }
}

/**
 * True if a bracket after this prose is part of something else than an answer.
 * @param {string} before
 * @param {string} bracket
 */
function isCode(before, bracket) {
  if (IN_CODE.test(before) || (bracket === "[" && NO_LIST.test(before))) return true;
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return count(line, '"') % 2 > 0 || count(line, "“") > count(line, "”");
}

/**
 * @param {string} text
 * @param {string} char
 */
function count(text, char) {
  return text.split(char).length - 1;
}

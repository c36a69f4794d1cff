/**
 * Brackets that contradict each other: one is missing, one too many, or one was meant as another.
 *
 * A run of closing brackets is read with one slip at most, and what follows the run decides which it
 * was (`readings`). The root's bracket is not emitted before the next character: a member after it
 * shows that it was one too many (`closing`). Where two readings are as likely, or where a bracket was
 * repaired before, the text is refused.
 */

import { InvalidJSON } from "../../errors.js";
import { AFTER, FIRST_ELEMENT, FIRST_KEY, Machine, NEXT_KEY, STRING, VALUE } from "../machine.js";
import { formatPath } from "../path-text.js";
import { charAt, endOf, isLetter, lastVisible, trimmed } from "./characters.js";
import { SHAPE, afterBrackets, pastSpaces } from "./lookahead.js";
import { CLOSING } from "./states.js";
import { CLOSERS, closesBracket } from "./strings.js";
import { KEY_BEFORE, NEXT_OBJECT, QUOTES } from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./lookahead.js").Run} Run */
/** @typedef {import("./lookahead.js").Following} Following */
/**
 * A container that ended: if it is an object, its size, its keys, among them the number of each member
 * that is an object, and the one that ended before it in the same row.
 * @typedef {{object: boolean, size: number, keys: Set<any> | null, before: Closed | null}} Closed
 */

const ANY_CLOSER = ["}", "]", ")"];
// After a list of numbers these go on with the sentence, as letters do.
const UNITS = "°%‰€$£¥";
// So much white space may be between a full stop and what follows it.
const FAR = 32;

/** Reads brackets where they have one reading. */
export class Brackets {
  // The root's bracket that is not emitted yet, and its line.
  rootEnd = -1;
  rootLine = -1;
  // The container that ended last, and where.
  /** @type {Closed | null} */
  closed = null;
  lastClosed = -1;
  // Where the last bracket was that had a comma before it, and where one was missing.
  trailing = -1;
  commaAt = -1;
  // A bracket was read as another: from now on no key comes twice.
  bracketed = false;

  /** Forget what was remembered of the document before. */
  startDocument() {
    this.rootEnd = this.rootLine = this.lastClosed = this.trailing = this.commaAt = -1;
    this.closed = null;
    this.bracketed = false;
  }

  /**
   * The brackets that close what is open, the outermost first.
   * @param {Leniency} m
   */
  brackets(m) {
    return [...m._frames.slice(1), [m._object]]
      .map(([object], at) => (object ? "}" : m.text.parens.has(at + 1) ? ")" : "]"))
      .join("");
  }

  /**
   * A bracket after a comma, or one that does not close what is open.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  fixCloser(m, text, pos, char) {
    const comma = m._state === NEXT_KEY || m._state === VALUE;
    const expected = this.brackets(m);
    if (char === expected.at(-1)) {
      if (comma) {
        if (!m._mayRepair("trailing-commas", pos)) return -1;
        m._takeCommaBack();
        this.trailing = m._offset + pos;
      }
      if (char === ")") {
        if (m._state === AFTER && m._count === 0 && !comma) {
          throw m._twoReadings("a tuple of one", "a value in parentheses", pos);
        }
        return this.close(m, pos);
      }
      return m._state !== FIRST_KEY ? pos : -1;
    }
    if (!m.rules.has("brackets")) return -1;
    const seen = afterBrackets(text, pos, m._last);
    if (seen === null) return m._hold(text, pos);
    const first = charAt(this.lastString(m), 0);
    const row = this.endedLast(m);
    const doubled = char === "}" && row !== null && row.object;
    const ways = readings(expected, seen.closers, doubled, seen.then);
    const unsure = this.bracketed || (doubled && isFollowed(row));
    if (unsure || comma || ["", "{", "["].includes(first) || ways.length === 0) {
      throw m._twoReadings("a bracket is one too many", "one is missing", pos);
    }
    this.refuseEarlier(m, pos, !doubled);
    if (ways.length > 1) {
      const [one, other] = ways.map((opened) => formatPath(m._path(false).slice(0, Math.max(opened - 1, 0))));
      throw m._twoReadings(`what follows is in ${one}`, `in ${other}`, pos);
    }
    this.fixBracket(m, pos, seen.end - pos);
    while (m._frames.length > ways[0]) this.leaveNoted(m, pos);
    return m._pass(text, pos, seen.end);
  }

  /**
   * Refuse to repair a bracket here if another one may be the wrong one, or `missing`.
   * @param {Leniency} m
   * @param {number} pos
   * @param {boolean} [missing]
   * @param {typeof InvalidJSON} [kind]
   */
  refuseEarlier(m, pos, missing = true, kind = InvalidJSON) {
    if (m._state !== STRING && this.swallows(m, this.lastString(m))) {
      throw m._twoReadings("the bracket is wrong", "one in the string before belongs here", pos, kind);
    }
    const row = m._state === AFTER ? this.endedLast(m) : null;
    const alike = row !== null && row.object === m._object;
    if (missing && alike && (!m._object || largest(row) > 1)) {
      throw m._twoReadings("a bracket is missing here", "one before it", pos, kind);
    }
  }

  /**
   * Report that `size` brackets are read in another way than they are written.
   * @param {Leniency} m
   * @param {number} pos
   * @param {number} [size]
   */
  fixBracket(m, pos, size = 0) {
    m._mayRepair("brackets", pos, size);
    this.bracketed = true;
  }

  /**
   * A key comes again. With a repaired bracket before it, that bracket was another one.
   * @param {Leniency} m
   * @param {string} key
   * @param {number} quote
   */
  repeats(m, key, quote) {
    if (m._unique) Machine.prototype._repeats.call(m, key, quote);
    if (this.bracketed || this.commaAt === m._token) {
      throw m._twoReadings("a key comes twice in an object", "a bracket is wrong or missing", quote);
    }
  }

  /**
   * True if a string ends in a bracket that may close what is open, or nothing in it.
   * @param {Leniency} m
   * @param {string} string
   */
  swallows(m, string) {
    const last = lastVisible(string);
    return ANY_CLOSER.includes(last) && (this.brackets(m).includes(last) || closesBracket(string));
  }

  /**
   * The string that came last, but for brackets; a dash if something else did.
   * @param {Leniency} m
   */
  lastString(m) {
    return m.text.stringAt === m._token ? trimmed(m.text.emitted) : "-";
  }

  /**
   * The container that ended last, if nothing came after it.
   * @param {Leniency} m
   */
  endedLast(m) {
    return this.lastClosed >= m._token ? this.closed : null;
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   */
  fixTuple(m, pos) {
    if (!m._mayRepair("tuples", pos)) return -1;
    const end = m._open(pos, false);
    m.text.parens.add(m._frames.length);
    return end;
  }

  /**
   * A quote in a list. After other values it may open a key: the list was not closed.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  stringElement(m, text, pos) {
    const depth = m._frames.length;
    if (!m._object && depth !== 0) {
      const alone = m.text.stringAt !== m._token || this.lastClosed > m._token;
      const inObject = m._frames[depth - 1][0];
      if (m._state === VALUE && alone && inObject && m.rules.has("brackets")) {
        const seen = m._sees(SHAPE.QUOTED_KEY, text, pos);
        if (seen === null) return m._hold(text, pos);
        if (seen) return this.fixUnclosed(m, pos);
      }
    }
    return Machine.prototype._stringElement.call(m, text, pos);
  }

  /**
   * A member of the container around: `[{"i": 1, {"i": 2}]`, `{"a": [1, 2, "b": 3}`.
   * @param {Leniency} m
   * @param {number} pos
   */
  fixUnclosed(m, pos) {
    const depth = m._frames.length;
    if (depth === 1 || m._frames[depth - 1][0] === m._object || !m.rules.has("brackets")) return -1;
    m._takeCommaBack();
    this.refuseEarlier(m, pos);
    if (this.bracketed && !m._object) {
      throw m._twoReadings("a bracket is missing here", "one before it", pos);
    }
    this.fixBracket(m, pos);
    this.leaveNoted(m, pos);
    m._addComma();
    return pos;
  }

  /**
   * Where the value is cut off: brackets before it that have another reading.
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  refuseOpen(m, pos, kind) {
    if (this.bracketed) {
      throw m._twoReadings("the text stopped early", "a bracket before was wrong", pos, kind);
    }
    this.refuseEarlier(m, pos, m._frames.length === 1, kind);
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   */
  close(m, pos) {
    if (m._frames.length !== 1 || m._many || !m.rules.has("brackets")) {
      return this.leaveNoted(m, pos);
    }
    this.noteEnd(m, pos);
    this.rootEnd = this.lastClosed;
    m._state = CLOSING;
    return pos + 1;
  }

  /**
   * The open container ends: remember what may be needed to tell readings apart.
   * @param {Leniency} m
   * @param {number} pos
   */
  noteEnd(m, pos) {
    const empty = m._state === FIRST_ELEMENT || m._state === FIRST_KEY;
    const size = empty ? 0 : m._object ? m._count : m._count + 1;
    this.closed = { object: m._object, size, keys: m._seen, before: this.endedLast(m) };
    this.lastClosed = m._offset + pos;
  }

  /**
   * End the open container, whatever is thought of its bracket.
   * @param {Leniency} m
   * @param {number} pos
   */
  leave(m, pos) {
    return Machine.prototype._close.call(m, pos);
  }

  /**
   * End the open container, and remember it.
   * @param {Leniency} m
   * @param {number} pos
   */
  leaveNoted(m, pos) {
    const object = m._object;
    this.noteEnd(m, pos);
    m.text.parens.delete(m._frames.length);
    const end = this.leave(m, pos);
    if (object && m._object) /** @type {Set<any>} */ (m._seen).add(m._count);
    return end;
  }

  /**
   * After the root's bracket: what comes next shows if it was one too many.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   */
  closing(m, text, pos) {
    if (this.rootLine < 0) this.rootLine = m._line;
    pos = m._pass(text, pos, pastSpaces(text, pos));
    if (pos === text.length) return pos;
    const char = text[pos];
    let after = pos;
    if (":;=".includes(char)) {
      const face = m._sees(SHAPE.FACE, text, pos);
      if (face === null) return m._hold(text, pos);
      if (face) {
        this.endRoot(m);
        return pos;
      }
    }
    const goesOn = isLetter(text, pos) || UNITS.includes(char) || (char === "," && m.prose.inProse);
    const sentence = m.prose.scalarList && goesOn && m._line === this.rootLine;
    const adjacent = ".(".includes(char) && m._offset + pos === this.rootEnd + 1;
    const code = adjacent && m._sees(SHAPE.MEMBER, text, pos);
    // Perhaps typed for a comma.
    if (".;".includes(char)) after = pastSpaces(text, pos + 1);
    if (code === null || (after === text.length && after - pos < FAR && !m._last)) return m._hold(text, pos);
    if (sentence || code || this.isQuote(m, text[after])) {
      throw m._twoReadings("the value is before this", "it is part of something else", pos);
    }
    const odd = this.trailing === this.rootEnd || this.closed?.size === 0;
    if (odd || ",，}]\"'“:：".includes(char)) {
      const seen = afterBrackets(text, pos, m._last);
      if (seen === null) return m._hold(text, pos);
      const more = seen.then === "key" || (seen.then === "value" && (seen.comma || odd));
      if (this.goesOnAfter(m, seen, text)) {
        this.fixBracket(m, pos);
        m._state = AFTER;
        return m._pass(text, pos, seen.end);
      }
      const braces = m._object && /^[})]*$/.test(seen.closers);
      const misleading = seen.closers !== "" && (!braces || this.isUnsure(m));
      if (":：".includes(char) || more || misleading) {
        const member = seen.comma && seen.then === "key" && seen.closers === "" && m._object;
        if (!member || this.isUnsure(m)) {
          const one = "the bracket before this ends the value";
          throw m._twoReadings(one, "a bracket is wrong", pos);
        }
        this.fixBracket(m, pos);
        m._state = AFTER;
        return pos;
      }
    }
    this.endRoot(m);
    return pos;
  }

  /**
   * `[{"a": 1}]}, {"b": 2}]`: list and object were closed although the list goes on.
   * @param {Leniency} m
   * @param {Run} seen
   * @param {string} text
   */
  goesOnAfter(m, seen, text) {
    if (m._object || seen.closers !== "}" || !seen.comma || seen.then !== "value") return false;
    if (this.bracketed || m.prose.inProse || !this.closed?.before?.object) return false;
    return endOf(NEXT_OBJECT, text, seen.end) >= 0;
  }

  /**
   * True if another bracket than the root's may have been one too many, or is missing.
   * @param {Leniency} m
   */
  isUnsure(m) {
    // `b: {"c": 1}, "d": 2}`: one is missing before the value.
    const follows = m.prose.inProse && KEY_BEFORE.test(m.prose.beforeText);
    return this.bracketed || follows || isFollowed(this.closed);
  }

  /**
   * True for a quote of this text's strings: the bracket before it may be in a string.
   * @param {Leniency} m
   * @param {string | undefined} char
   */
  isQuote(m, char) {
    const odd = Object.hasOwn(QUOTES, m.text.opened) ? m.text.opened : "";
    return char === '"' || (odd !== "" && (char === odd || char === CLOSERS[odd]));
  }

  /** @param {Leniency} m */
  endRoot(m) {
    this.leave(m, this.rootEnd - m._offset);
  }
}

/**
 * True if an object has another member after it, in one of the objects that ended in a row.
 * @param {Closed | null} row
 */
function isFollowed(row) {
  for (; row?.object; row = row.before) {
    const { keys, size } = row;
    if ([...(keys ?? [])].some((key) => typeof key === "number" && key < size)) return true;
  }
  return false;
}

/**
 * The largest size of the objects that ended in a row.
 * @param {Closed | null} row
 */
function largest(row) {
  let most = 0;
  for (; row?.object; row = row.before) most = Math.max(most, row.size);
  return most;
}

/**
 * How many containers may stay open after closing brackets of which the first does not fit.
 *
 * `expected` are the brackets that close what is open, the outermost first; `then` is what follows
 * those that came. Their first is one too many (`doubled`: it repeats a brace), or meant as the one
 * that fits, or that one is missing before it. Where the text ends, more may be missing.
 * @param {string} expected
 * @param {string} closers
 * @param {boolean} doubled
 * @param {Following} then
 */
function readings(expected, closers, doubled, then) {
  const opened = [...expected].reverse().join("");
  const size = expected.length - closers.length;
  const rest = closers.slice(1);
  let ways = doubled && opened.startsWith(rest) ? [size + 1] : [];
  if (opened.startsWith(rest, 1)) ways.push(size);
  if (opened.startsWith(closers, 1)) ways.push(size - 1);
  ways = ways.filter((left) => !expected.includes(")", left));
  if (then === "key" || then === "value") {
    return ways.filter((left) => left > 0 && (expected[left - 1] === "}") === (then === "key"));
  }
  const missing = fit(closers, opened) || (doubled && fit(rest, opened));
  const ends = then === "end" && !expected.includes(")") && missing;
  return ends || ways.includes(0) ? [0] : [];
}

/**
 * True if these close what is open once others are put between them.
 * @param {string} closers
 * @param {string} opened
 */
function fit(closers, opened) {
  let at = 0;
  for (const closer of closers) {
    at = opened.indexOf(closer, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/**
 * Brackets that contradict each other: one is missing, one too many, or one was meant as another.
 *
 * All readings of a run of closing brackets are compared by what follows the run (`fixCloser`). The
 * root's bracket is not emitted before the next character: a member after it shows that it was one too
 * many (`closing`). Where two readings are as likely, the text is refused.
 */

import { InvalidJSON, quoted } from "../../errors.js";
import { AFTER, FIRST_ELEMENT, FIRST_KEY, Machine, NEXT_KEY, VALUE } from "../machine.js";
import { formatPath } from "../path-text.js";
import { charAt, endOf, isLetter, lastOf, trimmed } from "./characters.js";
import { SHAPE, afterBrackets, pastSpaces } from "./lookahead.js";
import { CLOSING } from "./states.js";
import { CLOSERS } from "./strings.js";
import { KEY_BEFORE, NEXT_OBJECT, QUOTES } from "./tables.js";

/** @typedef {import("./core.js").Leniency} Leniency */
/** @typedef {import("./lookahead.js").Run} Run */
/** @typedef {import("./lookahead.js").Following} Following */

export const ANY_CLOSER = ["}", "]", ")"];
// After a list of numbers these go on with the sentence, as letters do.
const UNITS = "°%‰€$£¥";
// Containers nested deeper than this are not looked at one by one.
const FAR = 32;
// Among the keys of an object: one of them came twice.
const REPEATED = /** @type {any} */ (Symbol("repeated"));

/** Reads brackets where they have one reading. */
export class Brackets {
  // The root's bracket that is not emitted yet.
  rootEnd = -1;
  rootLine = -1;
  // Where the last container ended, what it was, and if a comma was before its bracket.
  lastClosed = -1;
  lastCloser = "";
  trailing = -1;
  // Where the first object ended in an object, by the depth of the outermost object around it with no
  // list in between: if a bracket is one too many, it may have been that one. And if that was so in
  // the last one.
  /** @type {Map<number, number>} */
  nested = new Map();
  misled = false;
  // How many members the last container had, and the largest of those that ended with it.
  lastSize = 0;
  runSize = 0;
  // Whether a list began with a list: its bracket may have come twice.
  listsInLists = false;
  // A bracket was read as another; and a key came twice in an object that ended last in a row.
  bracketed = false;
  runRepeats = false;
  // Another reading of the brackets so far would leave more open, or fewer.
  deeper = false;
  shallower = false;

  /**
   * Forget what was remembered of the document before.
   * @param {Leniency} m
   */
  startDocument(m) {
    this.rootEnd = this.rootLine = this.lastClosed = this.trailing = -1;
    this.lastCloser = "";
    this.nested = new Map();
    this.lastSize = this.runSize = 0;
    this.misled = this.listsInLists = this.deeper = this.shallower = false;
    this.bracketed = this.runRepeats = false;
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
    const fits = char === this.brackets(m).at(-1);
    if (comma) {
      if (!m.rules.has("trailing-commas") || (!fits && !m.rules.has("brackets"))) return -1;
      if (fits) {
        m._mayRepair("trailing-commas", pos);
        m._takeCommaBack();
        this.trailing = m._offset + pos;
      }
    }
    if (fits) {
      if (char === ")") return this.closeTuple(m, pos, comma);
      return m._state !== FIRST_KEY ? pos : -1;
    }
    if (!m.rules.has("brackets")) return -1;
    const seen = afterBrackets(text, pos, m._last);
    if (seen === null) return m._hold(text, pos);
    const doubled = !comma && this.lastClosed >= m._token && this.lastCloser === char;
    if (comma) {
      m._mayRepair("trailing-commas", pos);
      m._takeCommaBack();
    }
    const [first, last] = this.lastString(m);
    if (ANY_CLOSER.includes(last) || first === "{" || first === "[") throw this.bracketInString(m, pos);
    if (comma && !onlyMissing(this.brackets(m), seen.closers)) {
      throw m._twoReadings("the bracket is wrong", "a value is missing before it", pos);
    }
    return this.fixBrackets(m, text, pos, char, seen, doubled);
  }

  /**
   * Report that `size` brackets are read in another way than they are written.
   * @param {Leniency} m
   * @param {number} pos
   * @param {number} [size]
   */
  fixBracket(m, pos, size = 0) {
    if (this.hasRepeats(m)) throw this.keyTwice(m, pos);
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
    if (this.bracketed) throw this.keyTwice(m, quote);
    if (m.text.commaAt === m._token) {
      const other = "brackets are missing before it";
      throw m._twoReadings("a key comes twice in an object", other, quote);
    }
    m._seen?.add(REPEATED);
  }

  /**
   * True if a key came twice in an open object, or in one that ended last in a row.
   * @param {Leniency} m
   */
  hasRepeats(m) {
    const seen = [...m._frames.slice(1).map((frame) => frame[3]), m._seen];
    if (seen.some((keys) => keys?.has(REPEATED))) return true;
    return this.lastClosed >= m._token && this.runRepeats;
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  keyTwice(m, pos, kind) {
    return m._twoReadings("a key comes twice in an object", "a bracket is wrong", pos, kind);
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   */
  bracketInString(m, pos) {
    const other = "a bracket in the string before belongs here";
    return m._twoReadings("the bracket is wrong", other, pos);
  }

  /**
   * First and last character of the string that came last, but for brackets; else "".
   * @param {Leniency} m
   */
  lastString(m) {
    const string = m.text.stringAt === m._token ? trimmed(m.text.emitted) : "";
    return [charAt(string, 0), lastOf(string)];
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   * @param {boolean} comma
   */
  closeTuple(m, pos, comma) {
    if (m._state === AFTER && m._count === 0 && !comma) {
      throw m._twoReadings("a tuple of one", "a value in parentheses", pos);
    }
    return this.close(m, pos);
  }

  /**
   * Choose the reading of a run of closing brackets whose first does not fit, and apply it.
   *
   * All that counts is how many containers it leaves open: there the text goes on.
   * @param {Leniency} m
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   * @param {Run} seen
   * @param {boolean} doubled
   */
  fixBrackets(m, text, pos, char, seen, doubled) {
    const expected = this.brackets(m);
    const ways = bracketReadings(expected, seen.closers, doubled, seen.then);
    if (ways.size === 0) {
      const wanted = `',' or ${quoted(/** @type {string} */ (expected.at(-1)))}`;
      throw m._error(InvalidJSON, wanted, `but got ${quoted(char)}`, pos);
    }
    const [tooMany, missing] = ["a bracket is one too many", "one is missing"];
    const least = Math.min(...ways.keys());
    const openParen = [...m.text.parens].some((at) => at > least);
    const ends = seen.then === "end" || seen.then === "text";
    if (openParen || (ends && !mayEnd(expected, seen.closers, doubled))) {
      throw m._twoReadings(tooMany, missing, pos);
    }
    const [[opened, cost], ...others] = [...ways].sort((one, other) => one[1] - other[1]);
    if (this.deeper || this.shallower || (doubled && this.misled)) {
      throw m._twoReadings("this bracket is wrong", "one before it is", pos);
    }
    if (seen.then === "key" || seen.then === "value") {
      if (cost > 1) throw m._twoReadings(tooMany, missing, pos);
      if (others.length !== 0 && others[0][1] === cost) {
        const one = `what follows is in ${this.place(m, opened)}`;
        throw m._twoReadings(one, `in ${this.place(m, others[0][0])}`, pos);
      }
      const closest = others.filter(([, other]) => other === cost + 1);
      this.deeper = closest.some(([at]) => at > opened);
      this.shallower = closest.some(([at]) => at < opened);
    }
    this.refuseDoubled(m, pos);
    if (!doubled) this.refuseShifted(m, pos);
    this.fixBracket(m, pos, seen.end - pos);
    while (m._frames.length > opened) this.leaveNoted(m, pos);
    return m._pass(text, pos, seen.end);
  }

  /**
   * The path of the container that `opened` brackets are open in, as text.
   * @param {Leniency} m
   * @param {number} opened
   */
  place(m, opened) {
    return formatPath(m._path(false).slice(0, Math.max(opened - 1, 0)));
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
   * `[{"i": 1, {"i": 2}]`: an object where a key is due, in an object of a list.
   * @param {Leniency} m
   * @param {number} pos
   */
  fixMissingBrace(m, pos) {
    const inList = m._frames.length > 1 && !m._frames[m._frames.length - 1][0];
    if (!inList || !m.rules.has("brackets")) return -1;
    m._takeCommaBack();
    this.refuseShifted(m, pos);
    if (ANY_CLOSER.includes(this.lastString(m)[1])) throw this.bracketInString(m, pos);
    this.fixBracket(m, pos);
    this.leaveNoted(m, pos);
    this.deeper = true;
    m._addComma();
    return pos;
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
      const inObject = depth > 1 && m._frames[depth - 1][0];
      if (m._state === VALUE && alone && inObject && m.rules.has("brackets")) {
        const seen = m._sees(SHAPE.QUOTED_KEY, text, pos);
        if (seen === null) return m._hold(text, pos);
        if (seen) return this.fixOpenList(m, pos);
      }
    }
    return Machine.prototype._stringElement.call(m, text, pos);
  }

  /**
   * `{"a": [1, 2, "b": 3}`: a key in a list that belongs to the object around it.
   * @param {Leniency} m
   * @param {number} pos
   */
  fixOpenList(m, pos) {
    m._takeCommaBack();
    if (this.deeper || this.shallower) {
      throw m._twoReadings("a bracket is missing here", "one before it", pos);
    }
    this.refuseDoubled(m, pos);
    this.refuseShifted(m, pos);
    if (ANY_CLOSER.includes(this.lastString(m)[1])) throw this.bracketInString(m, pos);
    this.fixBracket(m, pos);
    this.leaveNoted(m, pos);
    this.deeper = true;
    m._state = NEXT_KEY;
    return pos;
  }

  /**
   * After `[[`: a closing bracket is missing, or the opening one came twice.
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  refuseDoubled(m, pos, kind) {
    if (this.listsInLists && m._state === AFTER && this.lastClosed >= m._token) {
      throw m._twoReadings("a bracket is missing here", "one came twice in [[", pos, kind);
    }
  }

  /**
   * `{"a": {"b": 1, "c": 2}`: the last bracket is missing, or one before "c".
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  refuseShifted(m, pos, kind) {
    const after = m._state === AFTER && this.lastClosed >= m._token;
    const alike = this.lastCloser === (m._object ? "}" : "]");
    if (after && alike && this.runSize > 1) {
      throw m._twoReadings("a bracket is missing here", "one before it", pos, kind);
    }
  }

  /**
   * Where the value is cut off: brackets before it that have another reading.
   * @param {Leniency} m
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  refuseOpen(m, pos, kind) {
    if (this.shallower) {
      throw m._twoReadings("the text stopped early", "a bracket before was wrong", pos, kind);
    }
    if (this.hasRepeats(m)) throw this.keyTwice(m, pos, kind);
    this.refuseDoubled(m, pos, kind);
    if (m._frames.length === 1) this.refuseShifted(m, pos, kind);
  }

  /**
   * @param {Leniency} m
   * @param {number} pos
   */
  close(m, pos) {
    if (m._frames.length !== 1 || m._many || !m.rules.has("brackets")) {
      return this.leaveNoted(m, pos);
    }
    this.rootEnd = m._offset + pos;
    this.lastSize = this.sizeOf(m);
    m._state = CLOSING;
    return pos + 1;
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
   * End the open container, and remember what may be needed to tell readings apart.
   * @param {Leniency} m
   * @param {number} pos
   */
  leaveNoted(m, pos) {
    const at = m._offset + pos;
    const depth = m._frames.length;
    const continued = this.lastClosed >= m._token;
    if (!continued) this.runRepeats = false;
    if (m._object) {
      if (m._seen?.has(REPEATED)) this.runRepeats = true;
      if (depth > 1 && m._frames[depth - 1][0]) {
        const chain = this.chain(m, depth - 1);
        if (!this.nested.has(chain)) this.nested.set(chain, at);
      } else {
        this.misled = this.mayBeEarlier(m, depth);
        this.nested.delete(depth);
      }
    }
    this.lastSize = this.sizeOf(m);
    this.runSize = Math.max(this.lastSize, continued ? this.runSize : 0);
    this.lastClosed = at;
    this.lastCloser = m._object ? "}" : "]";
    m.text.parens.delete(depth);
    const end = this.leave(m, pos);
    const first = !m._object && m._count === 0 && m._frames.length !== 0;
    if (this.lastCloser === "]" && first) this.listsInLists = true;
    return end;
  }

  /**
   * The number of members or elements of the open container.
   * @param {Leniency} m
   */
  sizeOf(m) {
    if (m._state === FIRST_ELEMENT || m._state === FIRST_KEY) return 0;
    return m._object ? m._count : m._count + 1;
  }

  /**
   * The depth of the outermost object around the one at `depth` with no list in between.
   * @param {Leniency} m
   * @param {number} depth
   */
  chain(m, depth) {
    const least = Math.max(depth - FAR, 1);
    while (depth > least && m._frames[depth - 1][0]) depth -= 1;
    return depth;
  }

  /**
   * True if a bracket inside the object at `depth` may have been one too many.
   * @param {Leniency} m
   * @param {number} [depth]
   */
  mayBeEarlier(m, depth = 1) {
    const at = this.nested.get(depth) ?? -1;
    return at >= 0 && at < m._token;
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
    const comma = char === "," && m.prose.inProse;
    const sentence = comma || isLetter(text, pos) || UNITS.includes(char);
    if (m.prose.scalarList && sentence && m._line === this.rootLine) {
      throw m._twoReadings("the value is before this", "it is part of a sentence", pos);
    }
    if (".(".includes(char) && m._offset + pos === this.rootEnd + 1) {
      const code = m._sees(SHAPE.MEMBER, text, pos);
      if (code === null) return m._hold(text, pos);
      if (code) throw m._twoReadings("the value is before this", "it is part of a program", pos);
    }
    // Perhaps typed for a comma.
    if (".;".includes(char)) {
      after = pastSpaces(text, pos + 1);
      if (after === text.length && after - pos < FAR && !m._last) return m._hold(text, pos);
    }
    if (this.isQuote(m, text[after])) {
      throw m._twoReadings("the bracket before this ends the value", "a bracket is wrong", pos);
    }
    const odd = this.trailing === this.rootEnd || this.lastSize === 0;
    if (odd || ",，}]\"'“:：".includes(char)) {
      const seen = afterBrackets(text, pos, m._last);
      if (seen === null) return m._hold(text, pos);
      const goesOn = seen.then === "key" || (seen.then === "value" && (seen.comma || odd));
      const misleading = seen.closers !== "" && this.closersMislead(m, seen.closers);
      if (this.goesOnAfter(m, seen, text)) {
        this.fixBracket(m, pos);
        m._state = AFTER;
        return m._pass(text, pos, seen.end);
      }
      if (":：".includes(char) || goesOn || misleading) {
        const member = seen.comma && seen.then === "key" && seen.closers === "" && m._object;
        const unsure = this.deeper || this.shallower || this.followsKey(m);
        if (!member || unsure || this.mayBeEarlier(m)) {
          const one = "the bracket before this ends the value";
          throw m._twoReadings(one, "a bracket is wrong", pos);
        }
        this.fixBracket(m, pos);
        m._state = AFTER;
        return pos;
      }
    }
    if (char !== "`" && m.prose.beginsAnother(m, text, pos)) return m._hold(text, pos);
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
    if (this.deeper || this.shallower || m.prose.inProse || this.lastCloser !== "}") return false;
    return endOf(NEXT_OBJECT, text, seen.end) >= 0;
  }

  /**
   * `b: {"c": 1}, "d": 2}`: a bracket is missing before the value, not one too many after.
   * @param {Leniency} m
   */
  followsKey(m) {
    return m.prose.inProse && KEY_BEFORE.test(m.prose.beforeText);
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

  /**
   * True if brackets after the value may show that one is missing, or another too many.
   *
   * Braces after an object are only too many. In front of a list, or of an object in one, a bracket
   * may be missing.
   * @param {Leniency} m
   * @param {string} closers
   */
  closersMislead(m, closers) {
    const onlyBraces = m._object && /^[})]*$/.test(closers) && !this.followsKey(m);
    return this.deeper || this.shallower || !onlyBraces || this.mayBeEarlier(m);
  }

  /** @param {Leniency} m */
  endRoot(m) {
    this.leave(m, this.rootEnd - m._offset);
  }
}

/**
 * True if the brackets that came close what is open once others are put between them.
 * @param {string} expected
 * @param {string} closers
 */
function onlyMissing(expected, closers) {
  let at = expected.length;
  for (const closer of closers) {
    at = at === 0 ? -1 : expected.lastIndexOf(closer, at - 1);
    if (at < 0) return false;
  }
  return true;
}

/**
 * True if nothing but forgotten or mistaken brackets explains those at the end of a value.
 *
 * One that is left over may show that an opening one is missing, if it does not repeat the brace
 * before it.
 * @param {string} expected
 * @param {string} closers
 * @param {boolean} doubled
 * @returns {boolean}
 */
function mayEnd(expected, closers, doubled) {
  if (doubled && closers[0] === "}" && mayEnd(expected, closers.slice(1), false)) return true;
  if (closers.length > expected.length) return false;
  const open = [...expected].reverse();
  const mistaken = [...closers].filter((closer, at) => closer !== open[at]).length;
  return onlyMissing(expected, closers) || mistaken === 1;
}

/**
 * How many containers stay open in each reading of the closing brackets → its least cost.
 *
 * `expected` are the brackets that close what is open, the outermost first; `closers` those that
 * came, of which the first does not fit (`doubled`: it repeats the one before it); `then` is what
 * follows them. A bracket may be meant as another one, or one may be missing before it: cost 1. It
 * may be one too many: cost 1 if it is a brace that repeats the one before it, else 2.
 * @param {string} expected
 * @param {string} closers
 * @param {boolean} doubled
 * @param {Following} then
 * @returns {Map<number, number>}
 */
function bracketReadings(expected, closers, doubled, then) {
  let ways = new Map([[expected.length, 0]]);
  let before = doubled ? closers[0] : "";
  for (const closer of closers) {
    /** @type {Map<number, number>} */
    const costs = new Map();
    const add = /** @type {(opened: number, cost: number) => void} */ (opened, cost) => {
      if (cost < (costs.get(opened) ?? Infinity)) costs.set(opened, cost);
    };
    for (const [opened, cost] of ways) {
      add(opened, cost + (closer === "}" && before === "}" ? 1 : 2));
      for (let missing = 0; missing < Math.min(opened, 3); missing += 1) {
        const left = opened - missing - 1;
        add(left, cost + missing + (expected[left] === closer ? 0 : 1));
      }
    }
    ways = new Map([...costs].filter(([, cost]) => cost <= 4));
    before = closer;
  }
  if (then === "key") return new Map([...ways].filter(([at]) => at > 0 && expected[at - 1] === "}"));
  if (then === "value") return new Map([...ways].filter(([at]) => at > 0 && expected[at - 1] !== "}"));
  return new Map([...ways].map(([at, cost]) => [at, cost + at]));
}

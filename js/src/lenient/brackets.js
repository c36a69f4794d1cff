/**
 * Brackets that contradict each other: one is missing, one too many, or one was meant as another.
 *
 * All readings of a run of closing brackets are compared by what follows the run (`_mendCloser`). The
 * root's bracket is not emitted before the next character: a member after it shows that it was one
 * too many (`_closing`). Where two readings are as likely, the text is refused.
 */

import { InvalidJSON, quoted } from "../errors.js";
import { AFTER, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, VALUE } from "../machine.js";
import { formatPath } from "../paths.js";
import { endOf, isLetter, lastVisible } from "./characters.js";
import { SHAPE, afterBrackets, pastSpaces } from "./lookahead.js";
import { QuoteMachine } from "./quotes.js";
import { CLOSING } from "./states.js";
import { CLOSERS } from "./strings.js";
import { KEY_BEFORE, NEXT_OBJECT, QUOTES } from "./tables.js";

/** @typedef {import("./lookahead.js").Following} Following */
/** @typedef {import("./lookahead.js").Run} Run */

export const ANY_CLOSER = ["}", "]", ")"];
// Containers nested deeper than this are not looked at one by one.
const FAR = 32;
// Among the keys of an object: one of them came twice.
const REPEATED = /** @type {any} */ (Symbol("repeated"));

/** The machine that reads brackets where they have one reading. */
export class BracketMachine extends QuoteMachine {
  // The root's bracket that is not emitted yet.
  _rootEnd = -1;
  _rootLine = -1;
  // Where the last container ended, what it was, and if a comma was before its bracket.
  _lastClosed = -1;
  _lastCloser = "";
  _trailing = -1;
  // Where the first object ended in an object, by the depth of the outermost object around it with no
  // list in between: if a bracket is one too many, it may have been that one. And if that was so in
  // the last one.
  /** @type {Map<number, number>} */
  _nested = new Map();
  _misled = false;
  // How many members the last container had, and the largest of those that ended with it.
  _lastSize = 0;
  _runSize = 0;
  // Whether a list began with a list: its bracket may have come twice.
  _listsInLists = false;
  // A bracket was read as another; and a key came twice in an object that ended last in a row.
  _bracketed = false;
  _runRepeats = false;
  // Another reading of the brackets so far would leave more open, or fewer.
  _deeper = false;
  _shallower = false;

  _startDocument() {
    super._startDocument();
    this._rootEnd = this._rootLine = this._lastClosed = this._trailing = -1;
    this._lastCloser = "";
    this._nested = new Map();
    this._lastSize = this._runSize = 0;
    this._misled = this._listsInLists = this._deeper = this._shallower = false;
    this._bracketed = this._runRepeats = false;
  }

  // ---- closing brackets ------------------------------------------------------------------

  /** The brackets that close what is open, the outermost first. */
  _brackets() {
    return [...this._frames.slice(1), [this._object]]
      .map(([object], at) => (object ? "}" : this._parens.has(at + 1) ? ")" : "]"))
      .join("");
  }

  /**
   * A bracket after a comma, or one that does not close what is open.
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  _mendCloser(text, pos, char) {
    const comma = this._state === NEXT_KEY || this._state === VALUE;
    const fits = char === this._brackets().at(-1);
    if (comma) {
      if (!this.rules.has("trailing-commas") || (!fits && !this.rules.has("brackets"))) return -1;
      if (fits) {
        this._mayRepair("trailing-commas", pos);
        this._takeCommaBack();
        this._trailing = this._offset + pos;
      }
    }
    if (fits) {
      if (char === ")") return this._closeTuple(pos, comma);
      return this._state !== FIRST_KEY ? pos : -1;
    }
    if (!this.rules.has("brackets")) return -1;
    const seen = afterBrackets(text, pos, this._last);
    if (seen === null) return this._hold(text, pos);
    const doubled = !comma && this._lastClosed >= this._token && this._lastCloser === char;
    if (comma) {
      this._mayRepair("trailing-commas", pos);
      this._takeCommaBack();
    }
    const [first, last] = this._lastString();
    if (ANY_CLOSER.includes(last) || first === "{" || first === "[") throw this._bracketInString(pos);
    if (comma && !onlyMissing(this._brackets(), seen.closers)) {
      throw this._twoReadings("the bracket is wrong", "a value is missing before it", pos);
    }
    return this._mendBrackets(text, pos, char, seen, doubled);
  }

  /**
   * Report that `size` brackets are read in another way than they are written.
   * @param {number} pos
   * @param {number} [size]
   */
  _mendBracket(pos, size = 0) {
    if (this._hasRepeats()) throw this._keyTwice(pos);
    this._mayRepair("brackets", pos, size);
    this._bracketed = true;
  }

  /**
   * A key comes again. With a repaired bracket before it, that bracket was another one.
   * @param {string} key
   * @param {number} quote
   */
  _repeats(key, quote) {
    if (this._unique) super._repeats(key, quote);
    if (this._bracketed) throw this._keyTwice(quote);
    if (this._commaAt === this._token) {
      const other = "brackets are missing before it";
      throw this._twoReadings("a key comes twice in an object", other, quote);
    }
    this._seen?.add(REPEATED);
  }

  /** True if a key came twice in an open object, or in one that ended last in a row. */
  _hasRepeats() {
    const seen = [...this._frames.slice(1).map((frame) => frame[3]), this._seen];
    if (seen.some((keys) => keys?.has(REPEATED))) return true;
    return this._lastClosed >= this._token && this._runRepeats;
  }

  /**
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  _keyTwice(pos, kind) {
    return this._twoReadings("a key comes twice in an object", "a bracket is wrong", pos, kind);
  }

  /** @param {number} pos */
  _bracketInString(pos) {
    const other = "a bracket in the string before belongs here";
    return this._twoReadings("the bracket is wrong", other, pos);
  }

  /** First and last character of the string that came last, but for brackets; else "". */
  _lastString() {
    if (this._stringAt !== this._token) return ["", ""];
    const last = lastVisible(this._shown);
    return [this._first || last, last || this._first];
  }

  /**
   * @param {number} pos
   * @param {boolean} comma
   */
  _closeTuple(pos, comma) {
    if (this._state === AFTER && this._count === 0 && !comma) {
      throw this._twoReadings("a tuple of one", "a value in parentheses", pos);
    }
    return this._close(pos);
  }

  /**
   * Choose the reading of a run of closing brackets whose first does not fit, and apply it.
   *
   * All that counts is how many containers it leaves open: there the text goes on.
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   * @param {Run} seen
   * @param {boolean} doubled
   */
  _mendBrackets(text, pos, char, seen, doubled) {
    const expected = this._brackets();
    const ways = bracketReadings(expected, seen.closers, doubled, seen.then);
    if (ways.size === 0) {
      const wanted = `',' or ${quoted(/** @type {string} */ (expected.at(-1)))}`;
      throw this._error(InvalidJSON, wanted, `but got ${quoted(char)}`, pos);
    }
    const [tooMany, missing] = ["a bracket is one too many", "one is missing"];
    if (["end", "text"].includes(seen.then) && !mayEnd(expected, seen.closers, doubled)) {
      throw this._twoReadings(tooMany, missing, pos);
    }
    const [[opened, cost], ...others] = [...ways].sort((one, other) => one[1] - other[1]);
    if (this._deeper || this._shallower || (doubled && this._misled)) {
      throw this._twoReadings("this bracket is wrong", "one before it is", pos);
    }
    if (seen.then === "key" || seen.then === "value") {
      if (cost > 1) throw this._twoReadings(tooMany, missing, pos);
      if (others.length !== 0 && others[0][1] === cost) {
        const one = `what follows is in ${this._place(opened)}`;
        throw this._twoReadings(one, `in ${this._place(others[0][0])}`, pos);
      }
      const near = others.filter(([, other]) => other === cost + 1);
      this._deeper = near.some(([at]) => at > opened);
      this._shallower = near.some(([at]) => at < opened);
    }
    this._refuseDoubled(pos);
    if (!doubled) this._refuseShifted(pos);
    this._mendBracket(pos, seen.end - pos);
    while (this._frames.length > opened) this._leaveNoted(pos);
    return this._pass(text, pos, seen.end);
  }

  /**
   * The path of the container that `opened` brackets are open in, as text.
   * @param {number} opened
   */
  _place(opened) {
    return formatPath(this._path(false).slice(0, Math.max(opened - 1, 0)));
  }

  // ---- missing brackets ------------------------------------------------------------------

  /** @param {number} pos */
  _mendTuple(pos) {
    if (!this._mayRepair("tuples", pos)) return -1;
    const end = this._open(pos, false);
    this._parens.add(this._frames.length);
    return end;
  }

  /**
   * `[{"i": 1, {"i": 2}]`: an object where a key is due, in an object of a list.
   * @param {number} pos
   */
  _mendMissingBrace(pos) {
    const inList = this._frames.length > 1 && !this._frames[this._frames.length - 1][0];
    if (!inList || !this.rules.has("brackets")) return -1;
    this._takeCommaBack();
    this._refuseShifted(pos);
    if (ANY_CLOSER.includes(this._lastString()[1])) throw this._bracketInString(pos);
    this._mendBracket(pos);
    this._leaveNoted(pos);
    this._deeper = true;
    this._addComma();
    return pos;
  }

  /**
   * A quote in a list. After other values it may open a key: the list was not closed.
   * @param {string} text
   * @param {number} pos
   */
  _stringElement(text, pos) {
    const depth = this._frames.length;
    if (!this._object && depth !== 0) {
      const [lastDepth, lastIndex] = this._strings;
      const alone = lastDepth !== depth || lastIndex !== this._count - 1;
      const inObject = depth > 1 && this._frames[depth - 1][0];
      if (this._state === VALUE && alone && inObject && this.rules.has("brackets")) {
        const seen = this._sees(SHAPE.QUOTED_KEY, text, pos);
        if (seen === null) return this._hold(text, pos);
        if (seen) return this._mendOpenList(pos);
      }
      this._strings = [depth, this._count];
    }
    return super._stringElement(text, pos);
  }

  /**
   * `{"a": [1, 2, "b": 3}`: a key in a list that belongs to the object around it.
   * @param {number} pos
   */
  _mendOpenList(pos) {
    this._takeCommaBack();
    if (this._deeper || this._shallower) {
      throw this._twoReadings("a bracket is missing here", "one before it", pos);
    }
    this._refuseDoubled(pos);
    this._refuseShifted(pos);
    if (ANY_CLOSER.includes(this._lastString()[1])) throw this._bracketInString(pos);
    this._mendBracket(pos);
    this._leaveNoted(pos);
    this._deeper = true;
    this._state = NEXT_KEY;
    return pos;
  }

  /**
   * After `[[`: a closing bracket is missing, or the opening one came twice.
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  _refuseDoubled(pos, kind) {
    if (this._listsInLists && this._state === AFTER && this._lastClosed >= this._token) {
      throw this._twoReadings("a bracket is missing here", "one came twice in [[", pos, kind);
    }
  }

  /**
   * `{"a": {"b": 1, "c": 2}`: the last bracket is missing, or one before "c".
   * @param {number} pos
   * @param {typeof InvalidJSON} [kind]
   */
  _refuseShifted(pos, kind) {
    const after = this._state === AFTER && this._lastClosed >= this._token;
    const alike = this._lastCloser === (this._object ? "}" : "]");
    if (after && alike && this._runSize > 1) {
      throw this._twoReadings("a bracket is missing here", "one before it", pos, kind);
    }
  }

  /** @param {number} pos */
  _closeAll(pos) {
    this._refuseDoubled(pos);
    if (this._frames.length === 1) this._refuseShifted(pos);
    while (this._frames.length !== 0) this._leaveNoted(pos);
  }

  // ---- what is remembered of containers --------------------------------------------------

  /** @param {number} pos */
  _close(pos) {
    if (this._frames.length !== 1 || this._many || !this.rules.has("brackets")) {
      return this._leaveNoted(pos);
    }
    this._rootEnd = this._offset + pos;
    this._lastSize = this._sizeOf();
    this._state = CLOSING;
    return pos + 1;
  }

  /**
   * End the open container, whatever is thought of its bracket.
   * @param {number} pos
   */
  _leave(pos) {
    return super._close(pos);
  }

  /**
   * End the open container, and remember what may be needed to tell readings apart.
   * @param {number} pos
   */
  _leaveNoted(pos) {
    const at = this._offset + pos;
    const depth = this._frames.length;
    const continued = this._lastClosed >= this._token;
    if (!continued) this._runRepeats = false;
    if (this._object) {
      if (this._seen?.has(REPEATED)) this._runRepeats = true;
      if (depth > 1 && this._frames[depth - 1][0]) {
        const chain = this._chain(depth - 1);
        if (!this._nested.has(chain)) this._nested.set(chain, at);
      } else {
        this._misled = this._mayBeEarlier(depth);
        this._nested.delete(depth);
      }
    } else {
      this._strings = [0, 0];
    }
    this._lastSize = this._sizeOf();
    this._runSize = Math.max(this._lastSize, continued ? this._runSize : 0);
    this._lastClosed = at;
    this._lastCloser = this._object ? "}" : "]";
    this._parens.delete(depth);
    const end = this._leave(pos);
    const first = !this._object && this._count === 0 && this._frames.length !== 0;
    if (this._lastCloser === "]" && first) this._listsInLists = true;
    return end;
  }

  /** The number of members or elements of the open container. */
  _sizeOf() {
    if (this._state === FIRST_ELEMENT || this._state === FIRST_KEY) return 0;
    return this._object ? this._count : this._count + 1;
  }

  /**
   * The depth of the outermost object around the one at `depth` with no list in between.
   * @param {number} depth
   */
  _chain(depth) {
    const least = Math.max(depth - FAR, 1);
    while (depth > least && this._frames[depth - 1][0]) depth -= 1;
    return depth;
  }

  /**
   * True if a bracket inside the object at `depth` may have been one too many.
   * @param {number} [depth]
   */
  _mayBeEarlier(depth = 1) {
    const at = this._nested.get(depth) ?? -1;
    return at >= 0 && at < this._token;
  }

  // ---- the root's bracket ----------------------------------------------------------------

  /**
   * After the root's bracket: what comes next shows if it was one too many.
   * @param {string} text
   * @param {number} pos
   */
  _closing(text, pos) {
    if (this._rootLine < 0) this._rootLine = this._line;
    pos = this._pass(text, pos, pastSpaces(text, pos));
    if (pos === text.length) return pos;
    const char = text[pos];
    let after = pos;
    if (":;=".includes(char)) {
      const face = this._sees(SHAPE.FACE, text, pos);
      if (face === null) return this._hold(text, pos);
      if (face) {
        this._endRoot();
        return pos;
      }
    }
    if (this._scalarList && isLetter(text, pos) && this._line === this._rootLine) {
      throw this._twoReadings("the value is before this", "it is part of a sentence", pos);
    }
    // Perhaps typed for a comma.
    if (".;".includes(char)) {
      after = pastSpaces(text, pos + 1);
      if (after === text.length && after - pos < FAR && !this._last) return this._hold(text, pos);
    }
    if (this._isQuote(text[after])) {
      throw this._twoReadings("the bracket before this ends the value", "a bracket is wrong", pos);
    }
    const odd = this._trailing === this._rootEnd || this._lastSize === 0;
    if (odd || ",，}]\"'“:：".includes(char)) {
      const seen = afterBrackets(text, pos, this._last);
      if (seen === null) return this._hold(text, pos);
      const goesOn = seen.then === "key" || (seen.then === "value" && (seen.comma || odd));
      const misleading = seen.closers !== "" && this._closersMislead(seen.closers);
      if (this._goesOnAfter(seen, text)) {
        this._mendBracket(pos);
        this._state = AFTER;
        return this._pass(text, pos, seen.end);
      }
      if (":：".includes(char) || goesOn || misleading) {
        const member = seen.comma && seen.then === "key" && seen.closers === "" && this._object;
        const unsure = this._deeper || this._shallower || this._followsKey();
        if (!member || unsure || this._mayBeEarlier()) {
          const one = "the bracket before this ends the value";
          throw this._twoReadings(one, "a bracket is wrong", pos);
        }
        this._mendBracket(pos);
        this._state = AFTER;
        return pos;
      }
    }
    if (char !== "`" && this._beginsAnother(text, pos)) return this._hold(text, pos);
    this._endRoot();
    return pos;
  }

  /**
   * `[{"a": 1}]}, {"b": 2}]`: list and object were closed although the list goes on.
   * @param {Run} seen
   * @param {string} text
   */
  _goesOnAfter(seen, text) {
    if (this._object || seen.closers !== "}" || !seen.comma || seen.then !== "value") return false;
    if (this._deeper || this._shallower || this._inProse || this._lastCloser !== "}") return false;
    return endOf(NEXT_OBJECT, text, seen.end) >= 0;
  }

  /** `b: {"c": 1}, "d": 2}`: a bracket is missing before the value, not one too many after. */
  _followsKey() {
    return this._inProse && KEY_BEFORE.test(this._beforeText);
  }

  /**
   * True for a quote of this text's strings: the bracket before it may be in a string.
   * @param {string | undefined} char
   */
  _isQuote(char) {
    const odd = Object.hasOwn(QUOTES, this._opened) ? this._opened : "";
    return char === '"' || (odd !== "" && (char === odd || char === CLOSERS[odd]));
  }

  /**
   * True if brackets after the value may show that one is missing, or another too many.
   *
   * Braces after an object are only too many. In front of a list, or of an object in one, a bracket
   * may be missing.
   * @param {string} closers
   */
  _closersMislead(closers) {
    const onlyBraces = this._object && /^[})]*$/.test(closers) && !this._followsKey();
    return this._deeper || this._shallower || !onlyBraces || this._mayBeEarlier();
  }

  _endRoot() {
    this._leave(this._rootEnd - this._offset);
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
    const found = new Map();
    const add = /** @type {(opened: number, cost: number) => void} */ (opened, cost) => {
      if (cost < (found.get(opened) ?? Infinity)) found.set(opened, cost);
    };
    for (const [opened, cost] of ways) {
      add(opened, cost + (closer === "}" && before === "}" ? 1 : 2));
      for (let missing = 0; missing < Math.min(opened, 3); missing += 1) {
        const left = opened - missing - 1;
        add(left, cost + missing + (expected[left] === closer ? 0 : 1));
      }
    }
    ways = new Map([...found].filter(([, cost]) => cost <= 4));
    before = closer;
  }
  if (then === "key") return new Map([...ways].filter(([at]) => at > 0 && expected[at - 1] === "}"));
  if (then === "value") return new Map([...ways].filter(([at]) => at > 0 && expected[at - 1] !== "}"));
  return new Map([...ways].map(([at, cost]) => [at, cost + at]));
}

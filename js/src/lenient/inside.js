/**
 * Leniency: the strict machine with an answer where it refuses.
 *
 * Each rule looks at the refused character, says where reading goes on and in which state, and is
 * reported. What cannot be told yet is held until it can (the shapes of `lookahead.js`). So valid JSON
 * never meets a rule, nothing is read twice, and nothing that was shown is taken back.
 *
 * A reading is taken only if it is the only sensible one. Brackets and quotes can look like two; each
 * has a module of its own. Here is what chooses the rule for a character between tokens, what is done
 * about commas, and the end of the text.
 */

import { InvalidJSON, Truncated } from "../errors.js";
import {
  AFTER,
  COLON,
  DIGITS,
  END,
  FIRST_ELEMENT,
  FIRST_KEY,
  KEY,
  NEXT_KEY,
  STRING,
  VALUE,
} from "../machine.js";
import { ANY_CLOSER, BracketMachine } from "./brackets.js";
import { SPACE, endOf, lastVisible } from "./characters.js";
import { SHAPE, closesNext } from "./lookahead.js";
import {
  ASIDE,
  BARE_KEY,
  BARE_VALUE,
  BEFORE,
  BLOCK_COMMENT,
  BLOCK_STRING,
  CLOSING,
  CODE,
  FENCE,
  IGNORED,
  LENIENT,
  LINE_COMMENT,
  ODD_KEY,
  ODD_STRING,
  PROSE,
  THOUGHTS,
} from "./states.js";
import { ODD_SPACES, ODD_WORDS, QUOTES } from "./tables.js";
import { ALL_WORDS, beginsBare } from "./words.js";

const BEGINS_VALUE = '"{[-0123456789tfn' + ODD_WORDS.map(([word]) => word[0]).join("");
const JSON_SPACE = /[ \t\n\r]*/y;
const ANY_SPACE = new RegExp(`[${SPACE}]`, "g");
const REMEMBERED = 64;

/**
 * What the states of leniency are to the strict machine; a comment is what it interrupted.
 * @type {{[state: number]: number}}
 */
const STRICT = {
  [BEFORE]: VALUE,
  [PROSE]: VALUE,
  [THOUGHTS]: VALUE,
  [FENCE]: VALUE,
  [ASIDE]: VALUE,
  [CODE]: VALUE,
  [IGNORED]: END,
  [CLOSING]: END,
  [BARE_KEY]: KEY,
  [ODD_KEY]: KEY,
  [ODD_STRING]: STRING,
  [BLOCK_STRING]: STRING,
  [BARE_VALUE]: VALUE,
};

/** The machine with an answer where the strict one refuses. */
export class LenientMachine extends BracketMachine {
  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} [expected]
   * @param {number} [from]
   */
  _unexpected(text, pos, expected, from = pos) {
    const state = this._state;
    if (state === STRING || state === KEY) {
      return text[from] === "\\" ? this._oddEscape(text, from, pos) : this._control(text, pos);
    }
    let end = -1;
    if (state === DIGITS) end = this._mendNumber(text, pos);
    else if (state === END) end = this._mendAfter(text, pos);
    else if (state < STRING) end = this._mend(text, pos, text[pos]);
    return end >= 0 ? end : super._unexpected(text, pos, expected, from);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _skip(text, pos) {
    switch (this._state) {
      case BARE_KEY:
        return this._bareKey(text, pos);
      case ODD_STRING:
      case ODD_KEY:
        return this._oddString(text, pos);
      case CLOSING:
        return this._closing(text, pos);
      case BLOCK_STRING:
        return this._blockString(text, pos);
      case BARE_VALUE:
        return this._bareValue(text, pos);
      default:
        return super._skip(text, pos);
    }
  }

  _outside() {
    return ![ODD_STRING, BLOCK_STRING, BARE_VALUE].includes(this._state) && super._outside();
  }

  // ---- between tokens --------------------------------------------------------------------

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   * @returns {number}
   */
  _mend(text, pos, char) {
    const open = this._frames.length !== 0;
    if (ODD_SPACES.includes(char)) return this._mayRepair("odd-spaces", pos) ? pos + 1 : -1;
    if ("：，".includes(char) && open) return this._mendFullwidth(pos, char);
    if (Object.hasOwn(QUOTES, char)) return this._mendQuote(text, pos, char);
    if ("+.".includes(char) && this._state <= FIRST_ELEMENT) {
      const end = this._mendSign(text, pos, char);
      if (end >= 0) return end;
    }
    if (!open) return char === "(" ? this._mendTuple(pos) : this._mendWord(text, pos);
    if (char === "/") {
      const end = this._mendComment(text, pos);
      if (end >= 0 && this._held === "") this._refuseOutside(pos);
      return end;
    }
    if (char === "#") return this._mendHash(pos);
    if (char === "`") return this._mendTicks(text, pos);
    if (char === ":" || this._state === COLON) return -1;
    // After a colon: no value is invented.
    if (this._state === VALUE && this._object) return this._mendOddValue(text, pos, char);
    if (char === ",") return this._mendComma(pos);
    if ("]})".includes(char)) return this._mendCloser(text, pos, char);
    if (".…".includes(char)) return this._mendEllipsis(text, pos);
    if (this._state === AFTER) return this._mendMissingComma(text, pos, char);
    if (!this._object) return this._mendOddValue(text, pos, char);
    if (char === "{" && this._state === NEXT_KEY) return this._mendMissingBrace(pos);
    return this._mendBareKey(text, pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  _mendOddValue(text, pos, char) {
    if (char === "(") return this._mendTuple(pos);
    const end = this._mendWord(text, pos);
    return end >= 0 ? end : this._mendBareValue(text, pos);
  }

  /**
   * @param {number} pos
   * @param {string} char
   */
  _mendFullwidth(pos, char) {
    const fits = this._state === (char === "：" ? COLON : AFTER);
    if (!fits || !this._mayRepair("fullwidth", pos)) return -1;
    if (char === "：") this._state = VALUE;
    else this._addComma();
    return pos + 1;
  }

  /** @param {number} pos */
  _mendHash(pos) {
    if (!this._mayRepair("comments", pos)) return -1;
    this._refuseOutside(pos);
    this._beginComment(LINE_COMMENT);
    return pos + 1;
  }

  /**
   * `""// no`, `""...`: an empty string and something else, or a string after its quotes.
   * @param {number} pos
   */
  _refuseOutside(pos) {
    if (this._stringAt === this._token && this._offset + pos === this._token + 2) {
      throw this._twoReadings("this is no text", "a quote is misplaced", pos);
    }
  }

  /**
   * A fence that ends a value that was cut off; or a string between ticks.
   * @param {string} text
   * @param {number} pos
   */
  _mendTicks(text, pos) {
    const isFence = SHAPE.FENCE.whole(text, pos) >= 0;
    if (!isFence && SHAPE.FENCE.cut(text, pos)) return this._hold(text, pos);
    if (this._state === VALUE && this._object) {
      return isFence ? this._openBlock("```", pos) : this._mendQuote(text, pos, "`");
    }
    if (isFence) return this._mendClosingFence(pos);
    return this._state <= FIRST_ELEMENT ? this._mendQuote(text, pos, "`") : -1;
  }

  /**
   * A fence between tokens: the value was cut off before it.
   * @param {number} pos
   */
  _mendClosingFence(pos) {
    if (!this.rules.has("cut-off") || !this.rules.has("fences")) return -1;
    if (this._state === FIRST_KEY || this._state === FIRST_ELEMENT) {
      throw this._twoReadings("the text stopped here", "a quote is missing", pos);
    }
    if (ANY_CLOSER.includes(this._lastString()[1])) throw this._bracketInString(pos);
    if (this._shallower) {
      throw this._twoReadings("the text stopped here", "a bracket before was wrong", pos);
    }
    if (this._hasRepeats()) throw this._keyTwice(pos);
    this._mayRepair("cut-off", pos, 0);
    this._closeAll(pos);
    return pos;
  }

  /**
   * Text after the value. A scalar that something of JSON follows is none.
   * @param {string} text
   * @param {number} pos
   */
  _mendAfter(text, pos) {
    const char = text[pos];
    if (!this._many && this._rootEnd < 0) {
      if (":：".includes(char)) {
        const got = `but got '${char}' (if the answer begins before this text, pass prefix="{")`;
        throw this._error(InvalidJSON, "the end of the text", got, pos);
      }
      const mark = this._sees(SHAPE.MARK, text, pos);
      if (mark === null) return this._hold(text, pos);
      const adjacent = this._numberEnd === this._offset + pos && !mark;
      const sentence = this._line === this._stringLine && !mark && !ODD_SPACES.includes(char);
      if (adjacent || sentence || ",:}]\"'{[，：".includes(char)) {
        const other = "it is a part of something else";
        throw this._twoReadings("this ends the value", other, pos);
      }
    }
    return super._mendAfter(text, pos);
  }

  // ---- commas ----------------------------------------------------------------------------

  /**
   * A comma too many. In a list a value may be missing before it.
   * @param {number} pos
   */
  _mendComma(pos) {
    if (!this._object || (this._state === FIRST_KEY && this._frames.length > 1)) {
      const missing = `${this._object ? "a bracket" : "a value"} is missing before it`;
      throw this._twoReadings("the comma is one too many", missing, pos);
    }
    return this._mayRepair("trailing-commas", pos) ? pos + 1 : -1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  _mendMissingComma(text, pos, char) {
    const quote = char === '"' || Object.hasOwn(QUOTES, char);
    const begins = this._object
      ? this.rules.has("bare-keys") && beginsBare(text, pos)
      : BEGINS_VALUE.includes(char);
    if (!(quote || begins) || !this.rules.has("missing-commas")) return -1;
    if (this._numberEnd === this._offset + pos) {
      // [12"a"] may be a string without its quote.
      if (!"\"'".includes(char) || !this._object) return -1;
      if (pos + 1 === text.length && !this._last) return this._hold(text, pos);
      if (text[pos + 1] === char) return -1; // 12"" may be a string after its quotes, too
    }
    if (quote) {
      const after = endOf(JSON_SPACE, text, pos + 1);
      if (after === text.length && after - pos < REMEMBERED && !this._last) {
        return this._hold(text, pos);
      }
      if (text[after] === "," && after - pos < REMEMBERED) char = ",";
    }
    const here = "a comma is missing here";
    if (char === "," || this._endsInComma()) {
      throw this._twoReadings(here, "it is in a string beside it", pos);
    }
    if (this._trailing === this._lastClosed && this._lastClosed >= this._token) {
      throw this._twoReadings(here, "the bracket before it belongs after it", pos);
    }
    const scalar = this._lastClosed < this._token;
    const mixed = !this._object && scalar === "{[".includes(char);
    if (mixed || (!scalar && this._lastSize === 0 && !this._object)) {
      throw this._twoReadings(here, "a bracket is in the wrong place", pos);
    }
    this._mendNoComma(pos);
    return pos;
  }

  /** True if the last token is a string that ends in a comma: a quote may be misplaced. */
  _endsInComma() {
    const isLast = this._stringAt === this._token && this._token > this._lastClosed;
    return isLast && lastVisible(this._shown) === ",";
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _mendEllipsis(text, pos) {
    const found = SHAPE.ELLIPSIS.whole(text, pos);
    if (found >= 0 && this.rules.has("ellipses")) {
      const first = this._state === FIRST_KEY || this._state === FIRST_ELEMENT;
      const closes = first ? false : closesNext(text, found, this._last);
      if (closes === null) return this._hold(text, pos);
      if (!closes) throw this._twoReadings("there is nothing here", "values were left out", pos);
    }
    const end = this._mendMark("ellipses", SHAPE.ELLIPSIS, text, pos);
    if (end >= 0 && this._held === "") this._refuseOutside(pos);
    const comma = this._state === NEXT_KEY || this._state === VALUE;
    if (end >= 0 && this._held === "" && comma) this._takeCommaBack();
    return end;
  }

  // ---- the end ---------------------------------------------------------------------------

  _finish() {
    this._last = this._flushing = true;
    const held = this._held + this._half;
    this._held = this._half = "";
    this._read(held, 0);
    if (this._state === IGNORED) this._endsRepair("trailing-text", this._offset);
    if (this._state >= LENIENT) this._tail = new Uint8Array(0); // of text that is not read
    if (this._state === STRING && /^[”’]/.test(this._tailText) && this._frames.length !== 0) {
      this._endCurly();
    }
    if (this._state === CLOSING) this._endRoot();
    if (this._state === IGNORED && this._rootEnd < 0) this._refuseSecondNumber();
    if (this._state === LINE_COMMENT) this._refuseComment(this._held.length, Truncated, true);
    const inString = [STRING, ODD_STRING, BLOCK_STRING].includes(this._state);
    const quoted = inString && this._stringAt === this._token;
    const atRoot = this._frames.length === 0;
    const apostrophe = this._state === ODD_STRING && this._opened === "'" && atRoot;
    const inProse = [PROSE, ASIDE, CODE].includes(this._state);
    this._strictly();
    if (apostrophe) {
      const [one, other] = ["the text stopped in a string", "it begins with an apostrophe"];
      throw this._twoReadings(one, other, this._held.length, Truncated);
    }
    if (inProse && !this._many) throw this._errorHere(InvalidJSON, "a value", "but the text has none");
    const isOpen = !atRoot || this._state === STRING;
    if (isOpen && this.rules.has("cut-off") && this._mayClose && !this._cut) {
      this._refuseSwallowed(quoted);
      this._mayRepair("cut-off", this._held.length, 0);
      this._cutOff();
    } else {
      super._finish();
    }
  }

  /** `1`, a line of dashes, `2`: two values. */
  _refuseSecondNumber() {
    if (this._trailingDigits && !this._trailingLetters && !this._many) {
      const one = "the value is before this";
      throw this._twoReadings(one, "it is in this text", this._held.length);
    }
  }

  /** The text ends after a curly quote and brackets: `{"a": "b”}`. */
  _endCurly() {
    const tail = this._tailText;
    const end = this._held.length;
    const closers = tail.slice(1).replace(ANY_SPACE, "");
    const expected = [...this._brackets()].reverse().join("");
    const meant = closers !== "" && closers === expected && !this._curly;
    if (meant && this.rules.has("curly-quotes")) {
      this._mayRepair("curly-quotes", end);
      this._tailText = "";
      this._finishString(this._held, end - 1);
      this._replay(tail.slice(1), end);
    }
  }

  /**
   * A string that only the end of the text ends may have swallowed what came after it.
   * @param {boolean} inString
   */
  _refuseSwallowed(inString) {
    const end = this._held.length;
    let swallowed;
    if (this._state === KEY) {
      swallowed = /[:{}[\],]/.test(this._begun);
    } else if (this._state === STRING) {
      const closer = lastVisible(this._shown + this._tailText);
      const curly = this._tailText.startsWith("”") && !this._curly;
      const unsure = this._quoted || this._afterValue || this._closedInText || curly;
      swallowed = inString && (unsure || ANY_CLOSER.includes(closer));
    } else {
      swallowed = ANY_CLOSER.includes(this._lastString()[1]);
    }
    if (swallowed) {
      const [one, other] = ["the text stopped in a string", "a quote is missing"];
      throw this._twoReadings(one, other, end, Truncated);
    }
    if (this._shallower) {
      const [one, other] = ["the text stopped early", "a bracket before was wrong"];
      throw this._twoReadings(one, other, end, Truncated);
    }
    if (this._hasRepeats()) throw this._keyTwice(end, Truncated);
    this._refuseDoubled(end, Truncated);
    if (this._frames.length === 1) this._refuseShifted(end, Truncated);
  }

  /** Close what is open. Half a key, escape or number is dropped, half a word has one end. */
  _cutOff() {
    const end = this._held.length;
    if (this._state === STRING) {
      this._finishString(this._held, end - 1);
    } else if (this._held !== "" && this._state <= FIRST_ELEMENT) {
      const found = ALL_WORDS.find(([word]) => word.startsWith(this._held));
      if (found !== undefined) this._sink.scalar(found[1], undefined, this._offset);
    }
    while (this._frames.length !== 0) this._leave(end);
  }

  /** Be in the state of the strict machine that comes nearest to this one. */
  _strictly() {
    if (this._state === LINE_COMMENT || this._state === BLOCK_COMMENT) this._state = this._resume;
    this._state = STRICT[this._state] ?? this._state;
  }

  /** @param {number} pos */
  _position(pos) {
    this._strictly();
    return super._position(pos);
  }
}

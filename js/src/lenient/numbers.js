/** Numbers: `+5`, `.5`, `5.`, `1_000`, `-Infinity`, and what may end one. */

import { DIGITS, FRACTION, INTEGER, MINUS, POINT, ZERO } from "../machine.js";
import { charAt, isDecimal } from "./characters.js";
import { WORD } from "./lookahead.js";
import { BARE_VALUE } from "./states.js";
import { WordMachine } from "./words.js";
import { ODD_SPACES } from "./tables.js";

const END_OF_NUMBER = "\"'“‘[{)#`，：…" + ODD_SPACES;

/** The machine that reads numbers in other ways of writing, if they can mean nothing else. */
export class NumberMachine extends WordMachine {
  // Where the last number ended that ends in a point.
  _pointAt = -2;

  _startDocument() {
    super._startDocument();
    this._pointAt = -2;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _endsNumber(text, pos) {
    const char = text[pos];
    if (this._frames.length !== 0) {
      return END_OF_NUMBER.includes(char) || (char === "/" && /^[/*]/.test(text.slice(pos + 1, pos + 2)));
    }
    return super._endsNumber(text, pos) || `\`/${ODD_SPACES}`.includes(char);
  }

  /**
   * In a number: `-Infinity`, `-.5`, `5.`, `1_000`, a comment right after it, a bare word.
   * @param {string} text
   * @param {number} pos
   */
  _mendNumber(text, pos) {
    const state = this._digits;
    const char = text[pos];
    const after = charAt(text, pos + 1);
    if (state === MINUS && char === "I") return this._mendInfinity(text, pos);
    if (this._frames.length === 0) return -1;
    if ("._/".includes(char) && after === "" && !this._last) return this._hold(text, pos);
    const on = this.rules.has("numbers");
    if (on && state === MINUS && char === "." && isDecimal(after)) {
      this._mayRepair("numbers", pos);
      this._begun += "0";
      this._digits = ZERO;
      return pos;
    }
    const ends = ",]} \t\n\r".includes(char) || this._endsNumber(text, pos);
    if (on && state === POINT && ends) {
      this._mayRepair("numbers", pos);
      this._pointAt = this._offset + pos;
      this._begun += "0";
      this._digits = FRACTION;
      return pos;
    }
    if (on && char === "_" && (state === INTEGER || state === FRACTION) && isDecimal(after)) {
      this._mayRepair("numbers", pos);
      return pos + 1;
    }
    if (!ends && this._mayRepair("bare-values", pos)) {
      this._stop = this._token + this._limits.string;
      this._state = BARE_VALUE;
      return pos;
    }
    return -1;
  }

  /**
   * `+5` and `.5`
   * @param {string} text
   * @param {number} pos
   * @param {string} char
   */
  _mendSign(text, pos, char) {
    if (this._frames.length === 0 || !this.rules.has("numbers")) return -1;
    const after = charAt(text, pos + 1);
    if (after === "" && !this._last) return this._hold(text, pos);
    if (!(isDecimal(after) || (char === "+" && after === "."))) return -1;
    this._mayRepair("numbers", pos);
    if (char === ".") {
      this._token = this._offset + pos;
      this._stop = this._token + this._limits.number;
      this._state = DIGITS;
      this._digits = POINT;
      this._begun = "0.";
    }
    return pos + 1;
  }

  /**
   * -Infinity: the minus was read as that of a number.
   * @param {string} text
   * @param {number} pos
   */
  _mendInfinity(text, pos) {
    const end = this._mendMark("nan", WORD.Infinity, text, pos);
    if (end >= 0 && this._held === "") {
      this._begun = "";
      this._sink.scalar(null, undefined, this._token);
      this._ended(end);
    }
    return end;
  }
}

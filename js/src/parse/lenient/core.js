/**
 * What all readers of leniency need: to report a repair, to look ahead, to hold what is not known.
 *
 * `Leniency` is the strict machine and holds the readers. A reader gets the machine with each call, and
 * keeps nothing of it. What a reader does is in its own module; which of them is asked for a character
 * is in `inside.js`.
 *
 * The strict machine counts lines and pairs of surrogates as it reads. What leniency reads itself it
 * has to count with `_pass`, each character once; so `_offset + pos` is the right offset if all of the
 * text before `pos` was passed.
 */

import { InvalidJSON } from "../../errors.js";
import { AFTER, Machine, NEXT_KEY, VALUE } from "../machine.js";
import { Brackets } from "./brackets.js";
import { Comments } from "./comments.js";
import { TextEnd } from "./ending.js";
import { Prose } from "./prose.js";
import { Quotes } from "./quotes.js";
import { ruleNames } from "./rules.js";
import { BEFORE } from "./states.js";
import { Strings } from "./strings.js";
import { REACH } from "./tables.js";
import { Tokens } from "./tokens.js";
import { Words } from "./words.js";

/** @typedef {import("./lookahead.js").Shape} Shape */
/** @typedef {import("./rules.js").Rule} Rule */

/** The machine with the state that its readers share. */
export class Leniency extends Machine {
  /** The rules that are on. @type {Set<string>} */
  rules;

  /**
   * @param {import("../machine.js").Sink} sink
   * @param {true | Rule | Iterable<Rule>} repair
   * @param {((repair: import("../machine.js").Repair) => void) | undefined} onRepair
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
    // The text has ended: what waits for more of it is decided now.
    this._last = false;
    // Half of a pair of surrogates at the end of a piece.
    this._half = "";
    // The repair that was reported last has not ended.
    this._passes = false;
    // How many repairs this document has, and if a key without quotes is among them.
    this._repaired = 0;
    this._bareKeys = false;
    this.prose = new Prose();
    this.comments = new Comments();
    this.words = new Words();
    this.text = new Strings();
    this.quotes = new Quotes();
    this.brackets = new Brackets();
    this.tokens = new Tokens();
    this.ending = new TextEnd();
  }

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
    this._repaired += 1;
    if (this._repaired > this._limits.repairs) throw this._over("repairs", this._limits.repairs, pos);
    const offset = this._offset + pos;
    this._endRepair(offset);
    const column = offset - this._lineStart + 1;
    const end = offset + size;
    const repair = { rule, offset, line: this._line, column, document: this.document, end };
    this.repairs.push(repair);
    this._onRepair?.(repair);
    return true;
  }

  /**
   * The repair that was reported last ends before this offset, if it is still open.
   *
   * It is open where text is passed over (`_passes`). It ends where that text does, where the next
   * repair begins, or where the text is refused: so its end does not depend on the pieces.
   * @param {number} end
   */
  _endRepair(end) {
    const last = this.repairs.at(-1);
    if (this._passes && last !== undefined) last.end = Math.max(end, last.offset + 1);
    this._passes = false;
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
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   */
  _sees(shape, text, pos) {
    return shape.sees(text, pos, this._last);
  }

  /**
   * Report a mark of this shape and go past it, or hold what may become one.
   * @param {Rule} rule
   * @param {Shape} shape
   * @param {string} text
   * @param {number} pos
   */
  _fixMark(rule, shape, text, pos) {
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
}

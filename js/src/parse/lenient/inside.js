/**
 * `LenientMachine`: the strict machine that asks a reader where it would refuse.
 *
 * It reads as the strict machine does until a character fits nowhere, or the state is one that JSON
 * does not have. Then one of the readers it holds is asked:
 *
 *     reader      module        asked for
 *     prose       prose.js      text, fences and thoughts around the value
 *     comments    comments.js   comments, around the value and in it
 *     tokens      tokens.js     a character between tokens: commas, fences, ellipses
 *     words       words.js      words without quotes, numbers in other ways of writing
 *     text        strings.js    text of a string: odd quotes, escapes, control characters
 *     quotes      quotes.js     a quote in a string: does it end it?
 *     brackets    brackets.js   brackets that contradict each other, the root's bracket
 *     ending      ending.js     the end of the text
 *
 * In a state that JSON does not have, `READERS` names the method. A character that fits nowhere goes to
 * `_unexpected`: between tokens to `Tokens.fix`, which chooses by character, after the value to
 * `Tokens.fixAfter`, in a number to `Words.fixNumber`. In strings and at brackets the hooks of the
 * strict machine, below, name it. The end of the text is `TextEnd.finish`.
 *
 * A reader says where reading goes on and in which state, or -1 if it has no answer: then the text is
 * refused. A reading is taken only if it is the only sensible one.
 */

import { DIGITS, END, KEY, STRING } from "../machine.js";
import { Leniency } from "./core.js";
import {
  ASIDE,
  BARE_KEY,
  BARE_VALUE,
  BEFORE,
  BLOCK_COMMENT,
  BLOCK_STRING,
  CLOSING,
  CODE,
  IGNORED,
  LENIENT,
  LINE_COMMENT,
  ODD_KEY,
  ODD_STRING,
  PROSE,
  THOUGHTS,
} from "./states.js";

/**
 * For each state of leniency the method of its reader.
 * @type {{[state: number]: (m: Leniency, text: string, pos: number) => number}}
 */
const READERS = {
  [BEFORE]: (m, text, pos) => m.prose.before(m, text, pos),
  [PROSE]: (m, text, pos) => m.prose.prose(m, text, pos),
  [THOUGHTS]: (m, text, pos) => m.prose.thoughts(m, text, pos),
  [ASIDE]: (m, text, pos) => m.prose.aside(m, text, pos),
  [CODE]: (m, text, pos) => m.prose.code(m, text, pos),
  [IGNORED]: (m, text, pos) => m.prose.ignored(m, text, pos),
  [LINE_COMMENT]: (m, text, pos) => m.comments.line(m, text, pos),
  [BLOCK_COMMENT]: (m, text, pos) => m.comments.block(m, text, pos),
  [BARE_KEY]: (m, text, pos) => m.words.bareKey(m, text, pos),
  [BARE_VALUE]: (m, text, pos) => m.words.bareValue(m, text, pos),
  [ODD_STRING]: (m, text, pos) => m.text.oddString(m, text, pos),
  [ODD_KEY]: (m, text, pos) => m.text.oddString(m, text, pos),
  [BLOCK_STRING]: (m, text, pos) => m.text.blockString(m, text, pos),
  [CLOSING]: (m, text, pos) => m.brackets.closing(m, text, pos),
};

/** The machine with an answer where the strict one refuses. */
export class LenientMachine extends Leniency {
  /** @param {ConstructorParameters<typeof Leniency>} options */
  constructor(...options) {
    super(...options);
    this._startDocument();
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
    const last = text.charCodeAt(text.length - 1);
    this._half = last >= 0xd800 && last < 0xdc00 ? text.slice(-1) : "";
    super.feed(this._half === "" ? text : text.slice(0, -1));
  }

  /** Forget what was remembered of the document before. */
  _startDocument() {
    this._repaired = 0;
    this._bareKeys = false;
    this.words.startDocument(this);
    this.text.startDocument(this);
    this.brackets.startDocument();
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} [expected]
   * @param {number} [from]
   */
  _unexpected(text, pos, expected, from = pos) {
    const state = this._state;
    if (state === STRING || state === KEY) {
      return text[from] === "\\" ? this.text.oddEscape(this, text, from, pos) : this.text.control(this, text, pos);
    }
    let end = -1;
    if (state === DIGITS) end = this.words.fixNumber(this, text, pos);
    else if (state === END) end = this.tokens.fixAfter(this, text, pos);
    else if (state < STRING) end = this.tokens.fix(this, text, pos, text[pos]);
    return end >= 0 ? end : super._unexpected(text, pos, expected, from);
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @returns {number}
   */
  _skip(text, pos) {
    const reader = READERS[this._state];
    return reader === undefined ? super._skip(text, pos) : reader(this, text, pos);
  }

  // ---- the hooks of the strict machine -----------------------------------------------------

  /**
   * Text of the number or literal that is being read; null if there is none.
   *
   * At the root it may still be prose, and a minus or another letter the beginning of no JSON; and it
   * may be a string without quotes.
   * @returns {string | null}
   */
  get pendingText() {
    const text = super.pendingText;
    const certain = text && this._frames.length !== 0 && text !== "-";
    return certain && !this.rules.has("bare-values") ? text : null;
  }

  _outside() {
    if ([ODD_STRING, BLOCK_STRING, BARE_VALUE].includes(this._state)) return false;
    return this._state >= LENIENT ? this._frames.length === 0 : super._outside();
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
    if (this.prose.between) {
      this._state = END;
      this.prose.between = false;
    }
    super._leaveEnded();
  }

  _finish() {
    this.ending.finish(this);
  }

  /** @param {number} pos */
  _position(pos) {
    this.ending.strictly(this);
    this._endRepair(this._offset + pos);
    return super._position(pos);
  }

  /**
   * @param {string} run
   */
  _take(run) {
    return this.text.take(this, run);
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {number} visible
   */
  _escape(text, pos, visible) {
    return this.text.escape(this, text, pos, visible);
  }

  _hasLiteral() {
    return this.text.hasLiteral(this);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _afterLiteral(text, pos) {
    return this.text.oneEscape(this, text, pos, '"');
  }

  /**
   * @param {string} text
   * @param {number} quote
   */
  _endString(text, quote) {
    return this.quotes.endString(this, text, quote);
  }

  /**
   * @param {string} text
   * @param {number} quote
   */
  _endKeyAt(text, quote) {
    return this.quotes.endKeyAt(this, text, quote);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _stringElement(text, pos) {
    return this.brackets.stringElement(this, text, pos);
  }

  /**
   * @param {number} pos
   */
  _close(pos) {
    return this.brackets.close(this, pos);
  }

  /**
   * @param {string} key
   * @param {number} quote
   */
  _repeats(key, quote) {
    return this.brackets.repeats(this, key, quote);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  _endsNumber(text, pos) {
    return this.words.endsNumber(this, text, pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} expected
   * @param {number} from
   */
  _refuse(text, pos, expected, from) {
    return this.words.refuse(this, text, pos, expected, from);
  }
}

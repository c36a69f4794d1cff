/**
 * Text in, events out: the state machine that decides what is JSON. No I/O, no recursion.
 *
 * Rule 1: nesting and grammar are checked here and nowhere else; a sink trusts what it is told.
 * Rule 2: what cannot be decided yet (half an escape, half a literal, half a surrogate pair) stays
 *         in `_held`, at most eleven characters, and is put before the next piece.
 *
 * Strings are read in UTF-16 units, but offsets and limits count characters (code points), as in
 * Python: `_offset` is the number of the first character of the piece being read, and is lowered by
 * one at each surrogate pair that is passed. So `_offset + pos` is always the character at `pos`.
 */

import { LIMITS } from "../defaults.js";
import { InvalidJSON, LimitExceeded, StreamClosed, Truncated, quoted, truncated } from "../errors.js";
import { shortPath } from "./path-text.js";
import { decode, toBytes, wholeLength } from "./utf8.js";

/** @typedef {import("../paths.js").Path} Path */
/**
 * What the machine tells. Each call is an event that has happened; offsets are of tokens.
 * @typedef {object} Sink
 * @property {(offset: number) => void} startObject
 * @property {(offset: number) => void} startArray
 * @property {(offset: number) => void} endContainer
 * @property {(key: string, offset: number) => void} key
 * @property {(offset: number) => void} startString
 * @property {(run: string) => void} text
 * @property {() => void} endString
 * @property {(value: any, text: string | undefined, offset: number) => void} scalar
 * @property {(offset: number) => void} endDocument
 * @property {() => void} nextDocument
 */
/**
 * Size limits for untrusted input, in characters of source text and per document.
 * @typedef {object} Limits
 * @property {number} [depth] of nested containers (256)
 * @property {number} [text] (64 Mi)
 * @property {number} [string] (16 Mi)
 * @property {number} [number] (400)
 * @property {number} [keys] of one object (100 000)
 */
/**
 * @typedef {object} MachineOptions
 * @property {boolean} [many] Read several documents in a row: NDJSON, concatenated, RFC 7464.
 * @property {Limits} [limits]
 */
/**
 * `prefix`: text that was sent before the answer, such as `{`.
 * @typedef {{limits?: Limits, prefix?: string}} ParserOptions
 */

// What the machine expects, or is in. Up to FIRST_ELEMENT a value may begin, up to NEXT_KEY a quote.
const VALUE = 0;
const FIRST_ELEMENT = 1; // after "[": a value or "]"
const FIRST_KEY = 2; // after "{": a key or "}"
const NEXT_KEY = 3; // after "," in an object
const COLON = 4;
const AFTER = 5; // after a value in a container: "," or the closing bracket
const END = 6; // after the root value: white space
const STRING = 7; // in a string value
const KEY = 8; // in a key
const DIGITS = 9; // in a number
const SKIPPED = 10; // after an error in one of many documents: anything up to a newline

const EXPECTED = [
  "a value",
  "a value or ']'",
  "a key or '}'",
  "a key",
  "':'",
  "",
  "the end of the text",
  "the end of the string",
  "the end of the key",
  "a digit",
  "a newline",
];

/** What could be in a string where something else is. */
const ESCAPE = "an escape";
const HEX = "a hexadecimal digit";
const NO_CONTROL = "no control character in a string";

// RFC 8259 section 6: the states of a number. From ZERO on it may end.
const START = 0;
const MINUS = 1;
const POINT = 2;
const MARK = 3; // of the exponent
const SIGN = 4;
const ZERO = 5;
const INTEGER = 6;
const FRACTION = 7;
const EXPONENT = 8;

/** @type {{[letter: string]: [string, boolean | null]}} */
const LITERALS = { t: ["true", true], f: ["false", false], n: ["null", null] };
/** @type {{[letter: string]: string}} */
const ESCAPES = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
// A high surrogate as an escape at the end of what is visible: its low one may still come.
const CUT_PAIR = /^(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?$/;
const LOW = /^\\u[dD][c-fC-F][0-9a-fA-F]{2}/;
// RFC 7464: what may be before each of many documents; what ends a line or record.
/** Between two documents (RFC 7464). */
export const SEPARATOR = "\x1e";
const RECORD_END = /[\n\x1e]/g;

/**
 * The state after the character `c` in a number; -1 if it cannot be there.
 * @param {number} state
 * @param {number} c
 */
function step(state, c) {
  if (c >= 48 && c <= 57) {
    if (state <= MINUS) return c === 48 ? ZERO : INTEGER;
    if (state === POINT) return FRACTION;
    if (state === MARK || state === SIGN) return EXPONENT;
    return state === ZERO ? -1 : state;
  }
  if (c === 45) return state === START ? MINUS : state === MARK ? SIGN : -1;
  if (c === 43) return state === MARK ? SIGN : -1;
  if (c === 46) return state === ZERO || state === INTEGER ? POINT : -1;
  if (c === 101 || c === 69) return state >= ZERO && state < EXPONENT ? MARK : -1;
  return -1;
}

/**
 * Check the options of a parser and fill in its limits.
 * @param {MachineOptions} options
 */
function checked({ many = false, limits = {} }) {
  for (const [name, limit] of Object.entries(limits)) {
    const isLimit = Object.hasOwn(LIMITS, name) && typeof limit === "number";
    if (!isLimit || !(limit >= (name === "text" ? 1 : 0))) {
      throw new TypeError(`there is no limit "${name}" of ${limit}`);
    }
  }
  return { many, limits: { ...LIMITS, ...limits } };
}

/** The state machine: text → events, told to the sink before `feed` returns. */
export class Machine {
  _sink;
  _many;
  _limits;
  _state = VALUE;
  // The open container: is it an object, its last key, how many keys or elements it has before this
  // value. The outer ones are in `_frames`.
  _object = false;
  #key = "";
  _count = 0;
  /** @type {[object: boolean, key: string, count: number][]} */
  _frames = [];
  // The token being read: where it began, where its limit is, its text so far.
  _token = 0;
  _stop = 0;
  _begun = "";
  _digits = START;
  _held = "";
  /** The text ends here, but not the answer. */
  _cut = false;
  /** A UTF-8 sequence that was cut off. @type {Uint8Array} */
  _tail = new Uint8Array(0);
  #bom = true;
  _offset = 0;
  // The first character that is beyond the limit of the text, that limit, and whether it has become
  // nearer while a piece is read.
  _bound;
  _size;
  #moved = false;
  _line = 1;
  _lineStart = 0;
  #closed = false;
  // Is a piece simply read? Not if closed, within a UTF-8 sequence, or with many documents.
  #simple;
  _flushing = false;
  /** With many documents: what ended some of them early. @type {(InvalidJSON | LimitExceeded)[]} */
  errors = [];

  /**
   * @param {Sink} sink
   * @param {MachineOptions} [options]
   */
  constructor(sink, options = {}) {
    const { many, limits } = checked(options);
    this._sink = sink;
    this._many = many;
    this._limits = limits;
    this._bound = this._size = limits.text;
    this.#simple = !many;
  }

  /**
   * Read one piece.
   * @param {string | ArrayBuffer | ArrayBufferView} data
   */
  feed(data) {
    if (typeof data !== "string") {
      this.#feedBytes(toBytes(data));
    } else if (this.#simple && this._offset + this._held.length + data.length <= this._bound) {
      if (this._held !== "") {
        data = this._held + data;
        this._held = "";
      }
      const end = this._read(data, 0);
      if (end < data.length) this.#carefully(data.slice(end));
    } else {
      this.#carefully(data);
    }
  }

  /**
   * The text has ended: complete a root number, or say what is missing. With `cut` the answer goes on
   * behind the text: nothing is completed.
   * @param {import("../errors.js").Cut | null} [cut]
   */
  flush(cut = null) {
    if (this.#closed) return;
    this._cut = cut !== null;
    try {
      try {
        this._finish();
      } catch (error) {
        throw cut !== null && error instanceof InvalidJSON ? truncated(cut, error) : error;
      }
      // A refusal is not the value, and more documents might have come.
      if (cut !== null && (cut.reason === "refused" || (this._many && cut.reason !== "lost"))) {
        throw truncated(cut, this._errorHere(Truncated, "", ""));
      }
    } catch (error) {
      if (!this._many || !isOurs(error)) throw error;
      this.errors.push(error);
    }
    this.#closeStream();
  }

  /**
   * Text of the number or literal that is being read; null if there is none.
   * @returns {string | null}
   */
  get pendingText() {
    if (this._state === DIGITS) return this._begun;
    return this._state <= FIRST_ELEMENT && /^[tfn]/.test(this._held) ? this._held : null;
  }

  /**
   * Read `prefix` before the first piece; it does not count for offsets.
   * @param {string} prefix
   */
  putBefore(prefix) {
    this._held = prefix;
    this._offset = -[...prefix].length;
  }

  /**
   * From this character on, the text may be so long.
   * @param {number} offset
   * @param {number} size
   */
  limitText(offset, size) {
    this.#moved = offset + size < this._bound;
    this._size = size;
    this._bound = offset + size;
  }

  _finish() {
    if (this._tail.length) {
      const inText = this.#atBom() || this._state === STRING || this._state === KEY;
      const kind = inText ? Truncated : InvalidJSON;
      throw this._errorHere(kind, "the rest of a UTF-8 character", "but the text ended");
    }
    if (/[\ud800-\udbff]$/.test(this._held)) {
      this._flushing = true;
      this.#run("");
    }
    if (this._state === DIGITS && this._frames.length === 0 && this._digits >= ZERO) {
      if (this._cut) throw this._errorHere(Truncated, "the rest of the number", "but the text ended");
      this._endNumber(0);
    }
    if (this._state !== END && !(this._many && this._outside())) {
      throw this._errorHere(Truncated, this.#expected(), "but the text ended");
    }
  }

  /** True before any text but perhaps the beginning of a byte order mark. */
  #atBom() {
    return this.#bom && this._offset === 0 && this._held === "";
  }

  /** True before, after and between documents. */
  _outside() {
    const between = [VALUE, END, SKIPPED].includes(this._state);
    return between && this._frames.length === 0 && this._held === "";
  }

  /** @param {Uint8Array} bytes */
  #feedBytes(bytes) {
    if (this.#closed) throw new StreamClosed();
    if (this._tail.length) {
      const joined = new Uint8Array(this._tail.length + bytes.length);
      joined.set(this._tail);
      joined.set(bytes, this._tail.length);
      bytes = joined;
    }
    if (this.#atBom()) {
      const mark = [0xef, 0xbb, 0xbf].findIndex((byte, at) => bytes[at] !== byte);
      if (mark === bytes.length) {
        this.#keepTail(bytes);
        return;
      }
      if (mark < 0) bytes = bytes.subarray(3);
    }
    this.#bom = false;
    this._tail = new Uint8Array(0);
    const size = wholeLength(bytes);
    for (let at = 0; ; ) {
      const [text, used] = decode(bytes.subarray(at, size));
      this.#carefully(text);
      at += used;
      if (at >= size) break;
      if (this._state !== SKIPPED) {
        this._leaveEnded();
        const byte = `but got byte 0x${bytes[at].toString(16)}`;
        this.#giveUp(this._errorHere(InvalidJSON, "UTF-8", byte), "", this._held.length);
      }
      this.#carefully("\ufffd"); // in a line that was given up, where it counts as a character
      at += 1;
    }
    this.#keepTail(bytes.subarray(size));
  }

  /** @param {Uint8Array} bytes */
  #keepTail(bytes) {
    this._tail = bytes.slice();
    this.#simple = !this._many && bytes.length === 0;
  }

  /** What is wrong after one of many documents is the fault of the next one. */
  _leaveEnded() {
    if (this._many && this._state === END) this._nextDocument(VALUE, this._held.length);
  }

  /**
   * Read where the stream may be closed, a limit passed, one of many documents invalid.
   * @param {string} text
   */
  #carefully(text) {
    if (this.#closed) throw new StreamClosed();
    if (this._tail.length) {
      throw this._errorHere(InvalidJSON, "the rest of a UTF-8 character", "but a string came");
    }
    for (let start = 0; ; ) {
      const room = this._bound - this._offset - this._held.length;
      const end = after(text, start, room);
      start = end - this.#run(text.slice(start, end));
      if (start === text.length) return;
      const { length } = this._held;
      if (this._offset + length < this._bound) continue; // another limit began
      if (this._many && this._outside()) this._bound = this._offset + this._size;
      else this.#giveUp(this._over("text", this._size, length), "", length);
    }
  }

  /**
   * Read, and with many documents go on where one was given up.
   * @param {string} part
   * @returns {number} how many units at its end were left, because another limit began
   */
  #run(part) {
    const text = this._held + part;
    this._held = "";
    for (let pos = 0; ; ) {
      try {
        return text.length - this._read(text, pos);
      } catch (error) {
        if (!this._many || !isOurs(error)) throw error;
        pos = /** @type {number} */ (error.offset) - this._offset;
        this.#giveUp(error, text, pos);
        this._held = ""; // half a literal, part of `text`
      }
    }
  }

  /**
   * One of many documents is lost: keep its error, go on after the next newline. A bracket in the
   * first column is after a newline already: a line was cut off before it.
   * @param {InvalidJSON | LimitExceeded} error
   * @param {string} text
   * @param {number} pos
   */
  #giveUp(error, text, pos) {
    if (!this._many) throw error;
    this.errors.push(error);
    this.#closed = false;
    const char = text[pos];
    const atOnce = error.column === 1 && (char === "{" || char === "[");
    const begins = (atOnce && error instanceof InvalidJSON) || char === SEPARATOR;
    this._nextDocument(begins ? VALUE : SKIPPED, pos);
  }

  /**
   * Begin another document with the character at `pos` of this piece.
   * @param {number} state
   * @param {number} pos
   */
  _nextDocument(state, pos) {
    this._sink.nextDocument(); // first, so that it can still ask what is pending
    this._state = state;
    this._object = false;
    this._frames = [];
    this._begun = "";
    this._bound = this._offset + pos + this._size;
  }

  /**
   * Read a piece that is within the limit of the text.
   * @param {string} text
   * @param {number} pos
   * @returns {number} its length; less if a limit began in it that it passes
   */
  _read(text, pos) {
    const end = text.length;
    while (pos < end) {
      if (this.#moved && this.#passes(pos, end)) return pos;
      const state = this._state;
      if (state >= STRING) {
        if (state <= KEY) pos = this.#string(text, pos, end);
        else if (state === DIGITS) pos = this.#inNumber(text, pos, end);
        else pos = this._skip(text, pos);
        continue;
      }
      const c = text.charCodeAt(pos);
      if (c === 32 || c === 10 || c === 13 || c === 9) {
        pos += 1;
        if (c === 10) {
          this._line += 1;
          this._lineStart = this._offset + pos;
        }
      } else if (c === 34 && state <= NEXT_KEY) {
        if (state <= FIRST_ELEMENT) this._sink.startString(this._offset + pos);
        pos = this._openString(state <= FIRST_ELEMENT ? STRING : KEY, pos);
      } else if (c === 44 && state === AFTER) {
        pos += 1;
        if (this._object) {
          this._state = NEXT_KEY;
        } else {
          this._state = VALUE;
          this._count += 1;
        }
      } else if (c === 58 && state === COLON) {
        pos += 1;
        this._state = VALUE;
      } else if ((c === 123 || c === 91) && state <= FIRST_ELEMENT) {
        pos = this._open(pos, c === 123);
      } else if (
        (c === 125 && this._object && (state === AFTER || state === FIRST_KEY)) ||
        (c === 93 && !this._object && (state === AFTER || state === FIRST_ELEMENT))
      ) {
        pos = this._close(pos);
      } else if (state > FIRST_ELEMENT) {
        pos = this._unexpected(text, pos);
      } else if (c === 45 || (c >= 48 && c <= 57)) {
        this._token = this._offset + pos;
        this._stop = this._token + this._limits.number;
        this._state = DIGITS;
        this._digits = START;
        this._begun = "";
      } else {
        pos = this.#literal(text, pos);
      }
    }
    this._offset += end - this._held.length;
    return end;
  }

  /**
   * A limit began: true if the rest of the piece passes it and has to be read anew.
   * @param {number} pos
   * @param {number} end
   */
  #passes(pos, end) {
    this.#moved = false;
    if (this._offset + end <= this._bound) return false;
    this._offset += pos;
    return true;
  }

  /**
   * In the rest of a line that was given up.
   * @param {string} text
   * @param {number} pos
   */
  _skip(text, pos) {
    RECORD_END.lastIndex = pos;
    const match = RECORD_END.exec(text);
    const end = match === null ? text.length : match.index + 1;
    this._offset -= end - pos - [...text.slice(pos, end)].length; // the pairs in it
    if (match === null) return end;
    if (match[0] === "\n") {
      this._line += 1;
      this._lineStart = this._offset + end;
    }
    this._state = VALUE;
    this._bound = this._offset + end + this._size;
    return end;
  }

  /**
   * @param {number} state
   * @param {number} pos
   */
  _openString(state, pos) {
    this._state = state;
    this._begun = "";
    this._token = this._offset + pos;
    this._stop = this._token + 1 + this._limits.string;
    return pos + 1;
  }

  /**
   * @param {number} pos
   * @param {boolean} object
   */
  _open(pos, object) {
    if (this._frames.length >= this._limits.depth) {
      throw this._over("depth", this._limits.depth, pos);
    }
    this._frames.push([this._object, this.#key, this._count]);
    this._object = object;
    this._count = 0;
    this._token = this._offset + pos;
    if (object) {
      this._state = FIRST_KEY;
      this._sink.startObject(this._token);
    } else {
      this._state = FIRST_ELEMENT;
      this._sink.startArray(this._token);
    }
    return pos + 1;
  }

  /**
   * End the open container at the bracket at `pos`.
   * @param {number} pos
   */
  _close(pos) {
    const around = /** @type {any} */ (this._frames.pop());
    this._object = around[0];
    this.#key = around[1];
    this._count = around[2];
    this._sink.endContainer(this._offset + pos);
    this._ended(pos + 1);
    return pos + 1;
  }

  /**
   * Ends a value, and the document if it is the root.
   * @param {number} pos just behind it
   */
  _ended(pos) {
    if (this._frames.length !== 0) {
      this._state = AFTER;
    } else {
      this._state = END;
      this._sink.endDocument(this._offset + pos);
    }
  }

  /**
   * In a string or key: take its characters up to the quote or the end of the piece.
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  #string(text, pos, end) {
    let run = "";
    let at = pos;
    for (;;) {
      const visible = Math.min(end, this._stop - this._offset);
      const start = at;
      let c = 0;
      while (at < visible) {
        c = text.charCodeAt(at);
        if (c === 34 || c === 92 || c < 32 || (c >= 0xd800 && c < 0xe000)) break;
        at += 1;
      }
      run += text.slice(start, at);
      if (at < end && text.charCodeAt(at) === 34) {
        if (run !== "") this._take(run);
        return this._state === STRING ? this._endString(at) : this._endKey(at);
      }
      if (at >= visible) break;
      if (c === 92) {
        const decoded = this._escape(text, at, visible);
        if (typeof decoded === "string") {
          run += decoded;
          at += decoded.length === 2 ? 12 : text[at + 1] === "u" ? 6 : 2;
          continue;
        }
        if (run !== "") this._take(run);
        if (decoded < 0) {
          this._held = text.slice(at);
          return end;
        }
        if (decoded >= visible) throw this._over("string", this._limits.string, visible);
        return this._unexpected(text, decoded, decoded === at + 1 ? ESCAPE : HEX, at);
      }
      if (c < 32) {
        if (run !== "") this._take(run);
        return this._unexpected(text, at, NO_CONTROL);
      }
      // A surrogate: a pair is one character, half a pair may become one with the next piece.
      if (c < 0xdc00) {
        if (at + 1 === end && !this._flushing) {
          if (run !== "") this._take(run);
          this._held = text[at];
          return end;
        }
        if (isLow(text.charCodeAt(at + 1))) {
          this._offset -= 1;
          run += text[at];
          at += 1;
        }
      }
      run += text[at];
      at += 1;
    }
    if (run !== "") this._take(run);
    if (at < end) throw this._over("string", this._limits.string, this._stop - this._offset);
    return end;
  }

  /**
   * The text that the escape at `pos` stands for. If there is none: where it is wrong or passes the
   * limit, or -1 if its rest may come with the next piece.
   *
   * A high surrogate is decoded together with its low one, or once what follows shows that it stands
   * alone, as JSON.parse accepts.
   * @param {string} text
   * @param {number} pos of the backslash
   * @param {number} visible where the piece or the limit ends
   * @returns {string | number}
   */
  _escape(text, pos, visible) {
    const cut = visible === text.length ? -1 : visible;
    if (pos + 1 >= visible) return cut;
    if (text[pos + 1] !== "u") return ESCAPES[text[pos + 1]] ?? pos + 1;
    for (let at = pos + 2; at < pos + 6; at += 1) {
      if (at >= visible) return cut;
      if (!isHex(text.charCodeAt(at))) return at;
    }
    const unit = parseInt(text.slice(pos + 2, pos + 6), 16);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.slice(pos + 6, Math.min(pos + 12, visible));
      if (LOW.test(next)) return String.fromCharCode(unit, parseInt(next.slice(2), 16));
      if (CUT_PAIR.test(next) && !(text[pos + 6] === '"')) return cut;
    }
    return String.fromCharCode(unit);
  }

  /**
   * Text of a string or key.
   * @param {string} run
   */
  _take(run) {
    if (this._state === KEY) this._begun += run;
    else this._sink.text(run);
  }

  /** @param {number} quote */
  _endString(quote) {
    this._sink.endString();
    this._ended(quote + 1);
    return quote + 1;
  }

  /** @param {number} quote */
  _endKey(quote) {
    const key = this._begun;
    this._begun = "";
    this._count += 1;
    if (this._count > this._limits.keys) throw this._over("keys", this._limits.keys, quote);
    this.#key = key;
    this._state = COLON;
    this._sink.key(key, this._token);
    return quote + 1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  #inNumber(text, pos, end) {
    const start = pos;
    const visible = Math.min(end, this._stop - this._offset);
    let state = this._digits;
    while (pos < visible) {
      const next = step(state, text.charCodeAt(pos));
      if (next < 0) break;
      state = next;
      pos += 1;
    }
    this._begun += text.slice(start, pos);
    this._digits = state;
    if (pos === end) return pos;
    if (pos === visible && step(state, text.charCodeAt(pos)) >= 0) {
      throw this._over("number", this._limits.number, pos);
    }
    if (state < ZERO || !(",]} \t\n\r".includes(text[pos]) || this._endsNumber(text, pos))) {
      return this._unexpected(text, pos);
    }
    this._endNumber(pos);
    return pos;
  }

  /**
   * True if a number may end before `text[pos]`, which is no delimiter of JSON's; otherwise it is
   * none: 2024-05-01 is not 2024. Of many documents one may begin without a delimiter.
   * @param {string} text
   * @param {number} pos
   */
  _endsNumber(text, pos) {
    return this._many && this._frames.length === 0 && '{["tfn\x1e'.includes(text[pos]);
  }

  /** @param {number} pos just behind the number */
  _endNumber(pos) {
    const text = this._begun;
    this._begun = "";
    this._sink.scalar(Number(text), text, this._token);
    this._ended(pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  #literal(text, pos) {
    const literal = LITERALS[text[pos]];
    if (literal === undefined) return this._unexpected(text, pos);
    const [word, value] = literal;
    this._token = this._offset + pos;
    if (text.startsWith(word, pos)) {
      this._sink.scalar(value, undefined, this._token);
      pos += word.length;
      this._ended(pos);
      return pos;
    }
    let at = pos + 1;
    while (at < text.length && text[at] === word[at - pos]) at += 1;
    this._held = text.slice(pos, at); // which is pending, also after the error
    return at < text.length ? this._refuse(text, at, quoted(word), pos) : at;
  }

  /**
   * Refuse a character that cannot be where it is.
   * @param {string} text
   * @param {number} pos
   * @param {string} [expected]
   * @param {number} [from] where its token begins
   */
  _unexpected(text, pos, expected = "", from = pos) {
    if (this._many && this._frames.length === 0) {
      const between = this._state === VALUE || this._state === END;
      if (text[pos] === SEPARATOR && between && expected === "") return pos + 1;
      if (this._state === END) {
        this._nextDocument(VALUE, pos);
        return pos;
      }
    }
    return this._refuse(text, pos, expected, from);
  }

  /**
   * Throw the error of the character at `pos`; of half a pair, only when its other half is known.
   * @param {string} text
   * @param {number} pos
   * @param {string} expected
   * @param {number} from where its token begins
   */
  _refuse(text, pos, expected, from) {
    const char = String.fromCodePoint(/** @type {number} */ (text.codePointAt(pos)));
    if (/^[\ud800-\udbff]$/.test(char) && pos + 1 === text.length && !this._flushing) {
      this._held = text.slice(from);
      return pos + 1;
    }
    throw this._error(InvalidJSON, expected || this.#expected(), `but got ${quoted(char)}`, pos);
  }

  #expected() {
    const complete = this._state === DIGITS && this._digits >= ZERO;
    if (complete && this._frames.length === 0) return EXPECTED[END];
    if (this._state === AFTER || complete) return `',' or '${this._object ? "}" : "]"}'`;
    const literal = this._state <= FIRST_ELEMENT ? LITERALS[this._held[0]] : undefined;
    return literal === undefined ? EXPECTED[this._state] : quoted(literal[0]);
  }

  /**
   * The path of the open container, or of the value in it that is being read.
   * @param {boolean} value
   * @returns {Path}
   */
  _path(value) {
    /** @type {Path} */
    const path = this._frames.slice(1).map(([object, key, count]) => (object ? key : count));
    if (value && this._frames.length !== 0) path.push(this._object ? this.#key : this._count);
    return path;
  }

  /**
   * Offset, line, column and path of the character at `pos` for an error; closes the stream.
   * @param {number} pos
   */
  _position(pos) {
    this.#closeStream();
    const state = this._state;
    const inValue = state <= FIRST_ELEMENT || state === COLON || state === STRING || state === DIGITS;
    const offset = this._offset + pos;
    const path = this._path(inValue);
    return { offset, line: this._line, column: offset - this._lineStart + 1, path };
  }

  /**
   * @param {typeof InvalidJSON} kind
   * @param {string} expected
   * @param {string} got
   * @param {number} pos
   */
  _error(kind, expected, got, pos) {
    const position = this._position(pos);
    const message = `expected ${expected} ${got} ${where(position)}`;
    return new kind(message, expected, position);
  }

  /**
   * An error between two pieces: right after all that was read or held.
   * @param {typeof InvalidJSON} kind
   * @param {string} expected
   * @param {string} got
   */
  _errorHere(kind, expected, got) {
    return this._error(kind, expected, got, this._held.length);
  }

  /**
   * @param {string} limit
   * @param {number} size
   * @param {number} pos
   */
  _over(limit, size, pos) {
    const position = this._position(pos);
    return new LimitExceeded(`more than ${size} (${limit}) ${where(position)}`, limit, position);
  }

  #closeStream() {
    this.#closed = true;
    this.#simple = false;
  }
}

/**
 * Path and text of the number or literal that a machine is reading; null if there is none.
 * @param {Machine} machine
 * @returns {{path: Path, text: string} | null}
 */
export function pendingOf(machine) {
  const text = machine.pendingText;
  return text === null ? null : { path: machine._path(true), text };
}

/** @param {{offset: number, path: Path}} position */
function where({ offset, path }) {
  return `at character ${offset}, in ${shortPath(path)}`;
}

/**
 * @param {unknown} error
 * @returns {error is InvalidJSON | LimitExceeded}
 */
function isOurs(error) {
  return error instanceof InvalidJSON || error instanceof LimitExceeded;
}

/** @param {number} unit */
function isLow(unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** @param {number} c */
function isHex(c) {
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102);
}

/**
 * Where `count` characters after `start` end.
 * @param {string} text
 * @param {number} start
 * @param {number} count
 */
function after(text, start, count) {
  if (text.length - start <= count) return text.length;
  let at = start;
  for (; count > 0 && at < text.length; count -= 1) {
    at += /** @type {number} */ (text.codePointAt(at)) > 0xffff ? 2 : 1;
  }
  return at;
}

/**
 * Text in, events out: the state machine that decides what is JSON. No I/O, no recursion.
 *
 * Rule 1: nesting and grammar are checked here and nowhere else; a sink trusts what it is told.
 * Rule 2: what cannot be decided yet (half an escape, half a literal, half a surrogate pair) stays
 *         in `#held`, at most eleven characters, and is put before the next piece.
 * Rule 3: every refusal goes through `#unexpected`, the place where leniency can be added.
 *
 * Strings are read in UTF-16 units, but offsets and limits count characters (code points), as in
 * Python: `#offset` is the number of the first character of the piece being read, and is lowered by
 * one at each surrogate pair that is passed. So `#offset + pos` is always the character at `pos`.
 */

import { InvalidJSON, LimitExceeded, StreamClosed, Truncated, quoted } from "./errors.js";
import { formatPath } from "./paths.js";
import { decode, toBytes, wholeLength } from "./utf8.js";
import { conversion } from "./values.js";

/** @typedef {import("./paths.js").Path} Path */
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
 * @typedef {object} ParserOptions
 * @property {boolean} [many] Read several documents in a row: NDJSON, concatenated, RFC 7464.
 * @property {"last" | "error"} [duplicates] What a key that comes twice in an object does.
 * @property {import("./values.js").Numbers} [numbers] How numbers become values.
 * @property {Limits} [limits]
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

const DEFAULT_LIMITS = {
  depth: 256,
  text: 64 * 2 ** 20,
  string: 16 * 2 ** 20,
  number: 400,
  keys: 100_000,
};

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
 * @param {ParserOptions} options
 */
function checked({ many = false, duplicates = "last", numbers = "number", limits = {} }) {
  if (duplicates !== "last" && duplicates !== "error") {
    throw new TypeError(`duplicates is "last" or "error", not ${String(duplicates)}`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw new TypeError(`there is no limit "${name}"`);
    if (typeof limit !== "number" || !(limit >= (name === "text" ? 1 : 0))) {
      throw new TypeError(`limits are not negative, and text is at least 1: ${name} is ${limit}`);
    }
  }
  return { many, duplicates, numbers, limits: { ...DEFAULT_LIMITS, ...limits } };
}

/** The state machine: text → events, told to the sink before `feed` returns. */
export class Machine {
  #sink;
  #many;
  #unique;
  #number;
  #limits;
  #state = VALUE;
  // The open container: is it an object, its last key, how many keys or elements it has before this
  // value, and its keys when they must be unique. The outer ones are in `#frames`.
  #object = false;
  #key = "";
  #count = 0;
  /** @type {Set<string> | null} */
  #seen = null;
  /** @type {{object: boolean, key: string, count: number, seen: Set<string> | null}[]} */
  #frames = [];
  // The token being read: where it began, where its limit is, its text so far.
  #token = 0;
  #stop = 0;
  #begun = "";
  #digits = START;
  #held = "";
  /** A UTF-8 sequence that was cut off. @type {Uint8Array} */
  #tail = new Uint8Array(0);
  #bom = true;
  #offset = 0;
  // The first character that is beyond the limit of the text, that limit, and whether it has become
  // nearer while a piece is read.
  #bound;
  #size;
  #moved = false;
  #line = 1;
  #lineStart = 0;
  #closed = false;
  // Is a piece simply read? Not if closed, within a UTF-8 sequence, or with many documents.
  #simple;
  #flushing = false;
  /** With many documents: the number of the one being read. */
  document = 0;
  /** With many documents: what ended some of them early. @type {(InvalidJSON | LimitExceeded)[]} */
  errors = [];

  /**
   * @param {Sink} sink
   * @param {ParserOptions} [options]
   */
  constructor(sink, options = {}) {
    const { many, duplicates, numbers, limits } = checked(options);
    this.#sink = sink;
    this.#many = many;
    this.#unique = duplicates === "error";
    this.#number = conversion(numbers);
    this.#limits = limits;
    this.#bound = this.#size = limits.text;
    this.#simple = !many;
  }

  /**
   * Read one piece.
   * @param {string | ArrayBuffer | ArrayBufferView} data
   */
  feed(data) {
    if (typeof data !== "string") {
      this.#feedBytes(toBytes(data));
    } else if (this.#simple && this.#offset + this.#held.length + data.length <= this.#bound) {
      if (this.#held !== "") {
        data = this.#held + data;
        this.#held = "";
      }
      const end = this.#read(data, 0);
      if (end < data.length) this.#carefully(data.slice(end));
    } else {
      this.#carefully(data);
    }
  }

  /** The text has ended: complete a root number, or say what is missing. */
  flush() {
    if (this.#closed) return;
    try {
      this.#finish();
    } catch (error) {
      if (!this.#many || !isOurs(error)) throw error;
      this.errors.push(error);
    }
    this.#close();
  }

  /**
   * Path and text of the number or literal that is being read; null if there is none.
   * @returns {{path: Path, text: string} | null}
   */
  get pending() {
    const digits = this.#state === DIGITS;
    if (!digits && !(this.#state <= FIRST_ELEMENT && /^[tfn]/.test(this.#held))) return null;
    return { path: this.#path(true), text: digits ? this.#begun : this.#held };
  }

  /**
   * From this character on, the text may be so long.
   * @param {number} offset
   * @param {number} size
   */
  limitText(offset, size) {
    this.#moved = offset + size < this.#bound;
    this.#size = size;
    this.#bound = offset + size;
  }

  #finish() {
    if (this.#tail.length) {
      const inText = this.#atBom() || this.#state === STRING || this.#state === KEY;
      throw this.#errorHere(
        inText ? Truncated : InvalidJSON,
        "the rest of a UTF-8 character",
        "but the text ended",
      );
    }
    if (/[\ud800-\udbff]$/.test(this.#held)) {
      this.#flushing = true;
      this.#run("");
    }
    if (this.#state === DIGITS && this.#frames.length === 0 && this.#digits >= ZERO) {
      this.#endNumber(0);
    }
    if (this.#state !== END && !(this.#many && this.#outside())) {
      throw this.#errorHere(Truncated, this.#expected(), "but the text ended");
    }
  }

  /** True before any text but perhaps the beginning of a byte order mark. */
  #atBom() {
    return this.#bom && this.#offset === 0 && this.#held === "";
  }

  /** True before, after and between documents. */
  #outside() {
    const { length } = this.#frames;
    const between = this.#state === VALUE || this.#state === END || this.#state === SKIPPED;
    return between && length === 0 && this.#held === "";
  }

  /** @param {Uint8Array} bytes */
  #feedBytes(bytes) {
    if (this.#closed) throw new StreamClosed();
    if (this.#tail.length) {
      const joined = new Uint8Array(this.#tail.length + bytes.length);
      joined.set(this.#tail);
      joined.set(bytes, this.#tail.length);
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
    this.#tail = new Uint8Array(0);
    const size = wholeLength(bytes);
    for (let at = 0; ; ) {
      const [text, used] = decode(bytes.subarray(at, size));
      this.#carefully(text);
      at += used;
      if (at >= size) break;
      if (this.#state !== SKIPPED) {
        this.#leaveEnded();
        const byte = `but got byte 0x${bytes[at].toString(16)}`;
        this.#giveUp(this.#errorHere(InvalidJSON, "UTF-8", byte), "", this.#held.length);
      }
      this.#carefully("\ufffd"); // in a line that was given up, where it counts as a character
      at += 1;
    }
    this.#keepTail(bytes.subarray(size));
  }

  /** @param {Uint8Array} bytes */
  #keepTail(bytes) {
    this.#tail = bytes.slice();
    this.#simple = !this.#many && bytes.length === 0;
  }

  /** What is wrong after one of many documents is the fault of the next one. */
  #leaveEnded() {
    if (this.#many && this.#state === END) this.#nextDocument(VALUE, this.#held.length);
  }

  /**
   * Read where the stream may be closed, a limit passed, one of many documents invalid.
   * @param {string} text
   */
  #carefully(text) {
    if (this.#closed) throw new StreamClosed();
    if (this.#tail.length) {
      throw this.#errorHere(InvalidJSON, "the rest of a UTF-8 character", "but a string came");
    }
    for (let start = 0; ; ) {
      const room = this.#bound - this.#offset - this.#held.length;
      const end = after(text, start, room);
      start = end - this.#run(text.slice(start, end));
      if (start === text.length) return;
      const { length } = this.#held;
      if (this.#offset + length < this.#bound) continue; // another limit began
      if (this.#many && this.#outside()) this.#bound = this.#offset + this.#size;
      else this.#giveUp(this.#over("text", this.#size, length), "", length);
    }
  }

  /**
   * Read, and with many documents go on where one was given up.
   * @param {string} part
   * @returns {number} how many units at its end were left, because another limit began
   */
  #run(part) {
    const text = this.#held + part;
    this.#held = "";
    for (let pos = 0; ; ) {
      try {
        return text.length - this.#read(text, pos);
      } catch (error) {
        if (!this.#many || !isOurs(error)) throw error;
        pos = /** @type {number} */ (error.offset) - this.#offset;
        this.#giveUp(error, text, pos);
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
    if (!this.#many) throw error;
    this.errors.push(error);
    this.#closed = false;
    const char = text[pos];
    const atOnce = error.column === 1 && (char === "{" || char === "[");
    const begins = (atOnce && error instanceof InvalidJSON) || char === SEPARATOR;
    this.#nextDocument(begins ? VALUE : SKIPPED, pos);
  }

  /**
   * Begin another document with the character at `pos` of this piece.
   * @param {number} state
   * @param {number} pos
   */
  #nextDocument(state, pos) {
    this.#sink.nextDocument(); // first, so that it can still ask what is pending
    this.#state = state;
    this.#object = false;
    this.#seen = null;
    this.#frames = [];
    this.#begun = "";
    this.#bound = this.#offset + pos + this.#size;
    this.document += 1;
  }

  /**
   * Read a piece that is within the limit of the text.
   * @param {string} text
   * @param {number} pos
   * @returns {number} its length; less if a limit began in it that it passes
   */
  #read(text, pos) {
    const end = text.length;
    while (pos < end) {
      const state = this.#state;
      if (state >= STRING) {
        if (state <= KEY) pos = this.#string(text, pos, end, state);
        else if (state === DIGITS) pos = this.#inNumber(text, pos, end);
        else pos = this.#skip(text, pos);
        continue;
      }
      const c = text.charCodeAt(pos);
      if (c === 32 || c === 10 || c === 13 || c === 9) {
        pos += 1;
        if (c === 10) {
          this.#line += 1;
          this.#lineStart = this.#offset + pos;
        }
      } else if (c === 34 && state <= NEXT_KEY) {
        this.#token = this.#offset + pos;
        pos += 1;
        this.#stop = this.#offset + pos + this.#limits.string;
        if (state <= FIRST_ELEMENT) {
          this.#state = STRING;
          this.#sink.startString(this.#token);
          if (this.#moved && this.#passes(pos, end)) return pos;
        } else {
          this.#state = KEY;
          this.#begun = "";
        }
      } else if (c === 44 && state === AFTER) {
        pos += 1;
        if (this.#object) {
          this.#state = NEXT_KEY;
        } else {
          this.#state = VALUE;
          this.#count += 1;
        }
      } else if (c === 58 && state === COLON) {
        pos += 1;
        this.#state = VALUE;
      } else if (c === 123 && state <= FIRST_ELEMENT) {
        this.#open(pos, true);
        pos += 1;
        if (this.#moved && this.#passes(pos, end)) return pos;
      } else if (c === 91 && state <= FIRST_ELEMENT) {
        this.#open(pos, false);
        pos += 1;
        if (this.#moved && this.#passes(pos, end)) return pos;
      } else if (
        (c === 125 && this.#object && (state === AFTER || state === FIRST_KEY)) ||
        (c === 93 && !this.#object && (state === AFTER || state === FIRST_ELEMENT))
      ) {
        const { object, key, count, seen } = /** @type {any} */ (this.#frames.pop());
        this.#object = object;
        this.#key = key;
        this.#count = count;
        this.#seen = seen;
        this.#sink.endContainer(this.#offset + pos);
        pos += 1;
        this.#ended(pos);
      } else if (state > FIRST_ELEMENT) {
        pos = this.#unexpected(text, pos);
      } else if (c === 45 || (c >= 48 && c <= 57)) {
        this.#token = this.#offset + pos;
        this.#stop = this.#token + this.#limits.number;
        this.#state = DIGITS;
        this.#digits = START;
        this.#begun = "";
      } else {
        pos = this.#literal(text, pos);
      }
    }
    this.#offset += end - this.#held.length;
    return end;
  }

  /**
   * A limit began: true if the rest of the piece passes it and has to be read anew.
   * @param {number} pos
   * @param {number} end
   */
  #passes(pos, end) {
    this.#moved = false;
    if (this.#offset + end <= this.#bound) return false;
    this.#offset += pos;
    return true;
  }

  /**
   * In the rest of a line that was given up.
   * @param {string} text
   * @param {number} pos
   */
  #skip(text, pos) {
    RECORD_END.lastIndex = pos;
    const found = RECORD_END.exec(text);
    const end = found === null ? text.length : found.index + 1;
    this.#offset -= text.slice(pos, end).match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
    if (found === null) return end;
    if (found[0] === "\n") {
      this.#line += 1;
      this.#lineStart = this.#offset + end;
    }
    this.#state = VALUE;
    this.#bound = this.#offset + end + this.#size;
    return end;
  }

  /**
   * @param {number} pos
   * @param {boolean} object
   */
  #open(pos, object) {
    if (this.#frames.length >= this.#limits.depth) {
      throw this.#over("depth", this.#limits.depth, pos);
    }
    this.#frames.push({
      object: this.#object,
      key: this.#key,
      count: this.#count,
      seen: this.#seen,
    });
    this.#object = object;
    this.#count = 0;
    if (object) {
      this.#state = FIRST_KEY;
      this.#seen = this.#unique ? new Set() : null;
      this.#sink.startObject(this.#offset + pos);
    } else {
      this.#state = FIRST_ELEMENT;
      this.#sink.startArray(this.#offset + pos);
    }
  }

  /**
   * Ends a value, and the document if it is the root.
   * @param {number} pos just behind it
   */
  #ended(pos) {
    if (this.#frames.length !== 0) {
      this.#state = AFTER;
    } else {
      this.#state = END;
      this.#sink.endDocument(this.#offset + pos);
    }
  }

  /**
   * In a string or key: take its characters up to the quote or the end of the piece.
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   * @param {number} state
   */
  #string(text, pos, end, state) {
    let run = "";
    let at = pos;
    for (;;) {
      const visible = Math.min(end, this.#stop - this.#offset);
      const start = at;
      let c = 0;
      while (at < visible) {
        c = text.charCodeAt(at);
        if (c === 34 || c === 92 || c < 32 || (c >= 0xd800 && c < 0xe000)) break;
        at += 1;
      }
      run += text.slice(start, at);
      if (at < end && text.charCodeAt(at) === 34) return this.#endString(state, run, at);
      if (at >= visible) break;
      if (c === 92) {
        const found = this.#escape(text, at, visible);
        if (typeof found === "string") {
          run += found;
          at += found.length === 2 ? 12 : text[at + 1] === "u" ? 6 : 2;
          continue;
        }
        this.#take(state, run);
        if (found < 0) {
          this.#held = text.slice(at);
          return end;
        }
        if (found >= visible) throw this.#over("string", this.#limits.string, visible);
        const expected = found === at + 1 ? "an escape" : "a hexadecimal digit";
        return this.#unexpected(text, found, expected, at);
      }
      if (c < 32) {
        this.#take(state, run);
        return this.#unexpected(text, at, "no control character in a string");
      }
      // A surrogate: a pair is one character, half a pair may become one with the next piece.
      if (c < 0xdc00) {
        if (at + 1 === end && !this.#flushing) {
          this.#take(state, run);
          this.#held = text[at];
          return end;
        }
        if (isLow(text.charCodeAt(at + 1))) {
          this.#offset -= 1;
          run += text[at];
          at += 1;
        }
      }
      run += text[at];
      at += 1;
    }
    this.#take(state, run);
    if (at < end) throw this.#over("string", this.#limits.string, at);
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
  #escape(text, pos, visible) {
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
   * @param {number} state
   * @param {string} run
   */
  #take(state, run) {
    if (state === KEY) this.#begun += run;
    else if (run !== "") this.#sink.text(run);
  }

  /**
   * @param {number} state
   * @param {string} run
   * @param {number} quote
   */
  #endString(state, run, quote) {
    if (state === STRING) {
      if (run !== "") this.#sink.text(run);
      this.#sink.endString();
      this.#ended(quote + 1);
      return quote + 1;
    }
    const key = this.#begun + run;
    this.#begun = "";
    if (this.#seen !== null) {
      if (this.#seen.has(key)) {
        const got = `but got ${quoted(key)}`;
        throw this.#error(InvalidJSON, "no key twice in an object", got, quote);
      }
      this.#seen.add(key);
    }
    this.#count += 1;
    if (this.#count > this.#limits.keys) throw this.#over("keys", this.#limits.keys, quote);
    this.#key = key;
    this.#state = COLON;
    this.#sink.key(key, this.#token);
    return quote + 1;
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {number} end
   */
  #inNumber(text, pos, end) {
    const start = pos;
    const visible = Math.min(end, this.#stop - this.#offset);
    let state = this.#digits;
    while (pos < visible) {
      const next = step(state, text.charCodeAt(pos));
      if (next < 0) break;
      state = next;
      pos += 1;
    }
    this.#begun += text.slice(start, pos);
    this.#digits = state;
    if (pos === end) return pos;
    if (pos === visible && step(state, text.charCodeAt(pos)) >= 0) {
      throw this.#over("number", this.#limits.number, pos);
    }
    if (state < ZERO || !this.#delimits(text[pos])) return this.#unexpected(text, pos);
    this.#endNumber(pos);
    return pos;
  }

  /**
   * True if a number may end before this character; otherwise it is none: 2024-05-01 is not 2024. Of
   * many documents one may begin without a delimiter.
   * @param {string} char
   */
  #delimits(char) {
    if (",]} \t\n\r".includes(char)) return true;
    return this.#many && this.#frames.length === 0 && '{["tfn\x1e'.includes(char);
  }

  /** @param {number} pos just behind the number */
  #endNumber(pos) {
    const text = this.#begun;
    this.#begun = "";
    this.#sink.scalar(this.#number(text), text, this.#token);
    this.#ended(pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  #literal(text, pos) {
    const literal = LITERALS[text[pos]];
    if (literal === undefined) return this.#unexpected(text, pos);
    const [word, value] = literal;
    if (text.startsWith(word, pos)) {
      this.#sink.scalar(value, undefined, this.#offset + pos);
      pos += word.length;
      this.#ended(pos);
      return pos;
    }
    let at = pos + 1;
    while (at < text.length && text[at] === word[at - pos]) at += 1;
    if (at < text.length) return this.#unexpected(text, at, quoted(word), pos);
    this.#held = text.slice(pos);
    return at;
  }

  /**
   * Refuse a character that cannot be where it is.
   * @param {string} text
   * @param {number} pos
   * @param {string} [expected]
   * @param {number} [from] where its token begins
   */
  #unexpected(text, pos, expected = "", from = pos) {
    const char = String.fromCodePoint(/** @type {number} */ (text.codePointAt(pos)));
    if (this.#many && this.#frames.length === 0) {
      const between = this.#state === VALUE || this.#state === END;
      if (char === SEPARATOR && between && expected === "") return pos + 1;
      if (this.#state === END) {
        this.#nextDocument(VALUE, pos);
        return pos;
      }
    }
    if (/^[\ud800-\udbff]$/.test(char) && pos + 1 === text.length && !this.#flushing) {
      this.#held = text.slice(from);
      return pos + 1;
    }
    throw this.#error(InvalidJSON, expected || this.#expected(), `but got ${quoted(char)}`, pos);
  }

  #expected() {
    const complete = this.#state === DIGITS && this.#digits >= ZERO;
    if (complete && this.#frames.length === 0) return EXPECTED[END];
    if (this.#state === AFTER || complete) return `',' or '${this.#object ? "}" : "]"}'`;
    const literal = this.#state <= FIRST_ELEMENT ? LITERALS[this.#held[0]] : undefined;
    return literal === undefined ? EXPECTED[this.#state] : quoted(literal[0]);
  }

  /**
   * The path of the open container, or of the value in it that is being read.
   * @param {boolean} value
   * @returns {Path}
   */
  #path(value) {
    /** @type {Path} */
    const path = this.#frames.slice(1).map(({ object, key, count }) => (object ? key : count));
    if (value && this.#frames.length !== 0) path.push(this.#object ? this.#key : this.#count);
    return path;
  }

  /**
   * Offset, line, column and path of the character at `pos` for an error; closes the stream.
   * @param {number} pos
   */
  #position(pos) {
    this.#close();
    const state = this.#state;
    const inValue = state <= FIRST_ELEMENT || state === COLON || state === STRING || state === DIGITS;
    const offset = this.#offset + pos;
    const path = this.#path(inValue);
    return { offset, line: this.#line, column: offset - this.#lineStart + 1, path };
  }

  /**
   * @param {typeof InvalidJSON} kind
   * @param {string} expected
   * @param {string} got
   * @param {number} pos
   */
  #error(kind, expected, got, pos) {
    const position = this.#position(pos);
    const message = `expected ${expected} ${got} ${where(position)}`;
    return new kind(message, expected, position);
  }

  /**
   * An error between two pieces: right after all that was read or held.
   * @param {typeof InvalidJSON} kind
   * @param {string} expected
   * @param {string} got
   */
  #errorHere(kind, expected, got) {
    return this.#error(kind, expected, got, this.#held.length);
  }

  /**
   * @param {string} limit
   * @param {number} size
   * @param {number} pos
   */
  #over(limit, size, pos) {
    const position = this.#position(pos);
    return new LimitExceeded(`more than ${size} (${limit}) ${where(position)}`, limit, position);
  }

  #close() {
    this.#closed = true;
    this.#simple = false;
  }
}

/** @param {{offset: number, path: Path}} position */
function where({ offset, path }) {
  return `at character ${offset}, in ${formatPath(path)}`;
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

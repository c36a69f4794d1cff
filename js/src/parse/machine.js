/**
 * Text → events: the state machine that reads JSON. No I/O, no recursion.
 *
 * The machine keeps a state (what it expects, or is reading) and a stack of open containers, so it can
 * stop after any character and go on with the next piece. The pieces `{"a": [tr` and `ue]}`:
 *
 *     {      FIRST_KEY       startContainer, with a new frame on the stack
 *     "a"    KEY, COLON      key "a", which the frame keeps
 *     :      VALUE
 *     [      FIRST_ELEMENT   startContainer, with a frame for the array
 *     tr                     not decided yet: kept in `#held`, no event
 *     ue     AFTER           read as `tr` + `ue`: scalar true
 *     ]      AFTER           endContainer, and the frame of the array is popped
 *     }      END             endContainer, endDocument
 *
 * Rule 1: nesting and grammar are checked here and nowhere else; a sink trusts its events.
 * Rule 2: what cannot be decided yet (half an escape, half a literal, half a surrogate pair) stays in
 *         `#held`, at most eleven units, and is read again in front of the next piece.
 * Rule 3: offsets count characters (code points), as in Python. `#offset` is the number of the first
 *         character of the piece, lowered by one at each surrogate pair: `#offset + pos` is always the
 *         number of the character at `pos`.
 */

import { LIMITS } from "../constants.js";
import { InvalidJSON, LimitExceeded, StreamClosed, Truncated, quote } from "../errors.js";
import { shortPath } from "../paths.js";
import { decode, wholeLength } from "./utf8.js";

/** @import { Details } from "../errors.js" */
/** @import { Path } from "../paths.js" */
/**
 * Size limits for untrusted input. `text`, `string` and `number` count UTF-16 units, as `length` does.
 * @typedef {object} Limits
 * @property {number} [depth] of nested containers (256)
 * @property {number} [text] (64 Mi)
 * @property {number} [string] (16 Mi)
 * @property {number} [number] (400)
 * @property {number} [keys] of one object (100 000)
 */
/**
 * `prefix`: text that was sent before the answer, such as `{`. It does not count for offsets.
 * @typedef {{limits?: Limits, prefix?: string}} ParserOptions
 */
/**
 * What receives the events. An offset is where a token begins. `frame` is the innermost open container; when
 * one starts or ends, it is its own frame.
 * @typedef {object} Sink
 * @property {Frame | null} [frame]
 * @property {(offset: number) => void} startContainer
 * @property {(offset: number) => void} endContainer
 * @property {(key: string, offset: number) => void} key
 * @property {(offset: number) => void} startString
 * @property {(run: string) => void} text
 * @property {() => void} endString
 * @property {(value: any, text: string | undefined, offset: number) => void} scalar
 * @property {(offset: number) => void} endDocument
 */
/** How an answer was cut: a `Truncated`, or its reason and message. @typedef {{reason?: string, message: string}} Cut */

/** An open container: an object with its last key, or an array with the index of its element. */
export class Frame {
  /** For builders: the container, and its copy. @type {any} */
  container;
  /** @type {any} */
  copy;
  /** The number of keys. */
  size = 0;

  /**
   * @param {Frame | null} parent
   * @param {boolean} isObject
   */
  constructor(parent, isObject) {
    this.parent = parent;
    this.isObject = isObject;
    /** @type {number} */
    this.depth = parent === null ? 1 : parent.depth + 1;
    /** @type {string | number} */
    this.key = isObject ? "" : 0;
  }
}

/**
 * Return the keys and indices from the root to what a frame is at.
 * @param {Frame | null | undefined} frame
 * @returns {Path}
 */
export function pathOf(frame) {
  const path = [];
  for (let at = frame ?? null; at !== null; at = at.parent) path.push(at.key);
  return path.reverse();
}

// What the machine expects, or is reading. Up to FIRST_ELEMENT a value may begin, up to NEXT_KEY a quote.
const VALUE = 0;
const FIRST_ELEMENT = 1;
const FIRST_KEY = 2;
const NEXT_KEY = 3;
const COLON = 4;
const AFTER = 5;
const END = 6;
const STRING = 7;
const KEY = 8;
const DIGITS = 9;
const CLOSED = 10;

const EXPECTED = [
  ...["a value", "a value or ']'", "a key or '}'", "a key", "':'", ""],
  ...["the end of the text", "the end of the string", "the end of the key", "a digit"],
];

/** @type {{[letter: string]: [string, boolean | null]}} */
const LITERALS = { t: ["true", true], f: ["false", false], n: ["null", null] };
const NUMBER_RUN = /[-+.\deE]*/y;
// The longest beginning of a number, and a complete number (RFC 8259 section 6).
const NUMBER_START = /^-?(?:(?:0|[1-9]\d*)(?:(?:\.\d+)?[eE][+-]?\d*|\.\d*)?)?/;
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
// A surrogate pair is one escape, the longest.
const ESCAPE = /\\(["\\/bfnrt]|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4})/y;
const LONGEST_ESCAPE = "\\ud800\\udc00";
const ESCAPE_START = /\\(u[\da-fA-F]{0,3})?/y;
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g;

/** Return true if the first half of a surrogate pair is at the end. @param {string} text */
function endsInHalf(text) {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00;
}

/** The strict machine: RFC 8259. Events reach the sink before `feed` returns. */
export class Machine {
  #sink;
  #limits;
  #state = VALUE;
  /** @type {Frame | null} */
  #frame = null;
  // The token being read: its offset, its text (a key or number), the length of a string so far.
  #token = 0;
  #text = "";
  #length = 0;
  #endsInDigit = false;
  #held = "";
  /** A UTF-8 sequence that was cut off. @type {number[]} */
  #tail = [];
  #offset = 0;
  // How many units came before this piece.
  #units = 0;
  #line = 1;
  #lineStart = 0;

  /**
   * @param {Sink} sink
   * @param {ParserOptions} [options]
   */
  constructor(sink, { prefix = "", limits = {}, ...others } = {}) {
    for (const name of Object.keys(others)) throw new TypeError(`there is no option "${name}"`);
    for (const [name, limit] of Object.entries(limits)) {
      if (!(name in LIMITS && limit >= 0)) throw new TypeError(`invalid limit "${name}": ${limit}`);
    }
    this.#sink = sink;
    this.#limits = { ...LIMITS, ...limits };
    this.#held = prefix;
    this.#offset = -[...prefix].length;
  }

  // ---- pieces ----

  /**
   * Read one piece.
   * @param {string | ArrayBuffer | ArrayBufferView} data
   */
  feed(data) {
    if (this.#state === CLOSED) throw new StreamClosed("the stream is closed");
    if (typeof data !== "string") return this.#feedBytes(data);
    if (this.#tail.length !== 0) throw this.#invalidBytes();
    const room = this.#limits.text - this.#units;
    if (data.length > room) {
      this.#run(this.#held + data.slice(0, room));
      throw this.#limitError("text", this.offset);
    }
    this.#units += data.length;
    this.#run(this.#held === "" ? data : this.#held + data);
  }

  /**
   * End the text: complete a root number, or throw what is missing. With `cut` the provider says that the
   * answer stopped early: nothing is completed.
   * @param {Cut | null} [cut]
   */
  flush(cut = null) {
    if (this.#state === CLOSED) return;
    if (this.#tail.length !== 0) {
      const isTruncated = this.#state === STRING || this.#state === KEY || this.#units === 0;
      throw isTruncated || cut !== null ? this.#truncated("the rest of a UTF-8 character", cut) : this.#invalidBytes();
    }
    if (endsInHalf(this.#held)) this.#run(this.#held, true);
    if (this.#state === DIGITS && this.#frame === null && NUMBER.test(this.#text)) {
      if (cut !== null) throw this.#truncated("the rest of the number", cut);
      this.#endNumber(0);
    }
    if (this.#state !== END) throw this.#truncated(this.#expected(), cut);
    this.#state = CLOSED;
    if (cut?.reason === "refused") throw new Truncated(cut.message, { path: [], reason: cut.reason });
  }

  /** The number of the next character. */
  get offset() {
    return this.#offset + this.#held.length;
  }

  /** @param {ArrayBuffer | ArrayBufferView} data */
  #feedBytes(data) {
    if (data instanceof ArrayBuffer) data = new Uint8Array(data);
    if (!ArrayBuffer.isView(data)) throw new TypeError("a piece of text is a string or bytes");
    const bytes = new Uint8Array(this.#tail.length + data.byteLength);
    bytes.set(this.#tail);
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), this.#tail.length);
    const size = wholeLength(bytes);
    this.#tail = [];
    const [text, isValid] = decode(bytes.subarray(0, size));
    this.feed(this.#units === 0 && text[0] === "\ufeff" ? text.slice(1) : text);
    if (!isValid) throw this.#invalidBytes();
    this.#tail = [...bytes.subarray(size)];
  }

  /**
   * Read a piece, a token at a time. Half a surrogate pair waits for its other half, unless it is the last.
   * @param {string} text
   * @param {boolean} [isLast]
   */
  #run(text, isLast = false) {
    const half = !isLast && endsInHalf(text) ? text.slice(-1) : "";
    if (half !== "") text = text.slice(0, -1);
    this.#held = "";
    const end = text.length;
    let pos = 0;
    while (pos < end) {
      const state = this.#state;
      if (state >= STRING) {
        pos = state === DIGITS ? this.#number(text, pos) : this.#string(text, pos);
        continue;
      }
      const c = text.charCodeAt(pos);
      if (c === 34 && state <= NEXT_KEY) {
        this.#token = this.#offset + pos;
        this.#text = "";
        this.#length = 0;
        this.#state = state <= FIRST_ELEMENT ? STRING : KEY;
        if (state <= FIRST_ELEMENT) this.#sink.startString(this.#token);
        pos += 1;
      } else if (c === 32 || c === 10 || c === 13 || c === 9) {
        pos += 1;
        if (c === 10) {
          this.#line += 1;
          this.#lineStart = this.#offset + pos;
        }
      } else if (c === 44 && state === AFTER) {
        const frame = /** @type {Frame} */ (this.#frame);
        this.#state = frame.isObject ? NEXT_KEY : VALUE;
        if (!frame.isObject) frame.key = /** @type {number} */ (frame.key) + 1;
        pos += 1;
      } else if (c === 58 && state === COLON) {
        this.#state = VALUE;
        pos += 1;
      } else if (state <= FIRST_ELEMENT) {
        pos = this.#value(text, pos, c);
      } else if (this.#closes(c)) {
        pos = this.#close(pos);
      } else {
        pos = this.#unexpected(text, pos);
      }
    }
    this.#offset += end - this.#held.length;
    this.#held += half;
  }

  // ---- values ----

  /**
   * Read a value that is not a string, or the end of an empty array.
   * @param {string} text
   * @param {number} pos
   * @param {number} c
   */
  #value(text, pos, c) {
    if (c === 123 || c === 91) return this.#open(pos, c === 123);
    if (c === 45 || (c >= 48 && c <= 57)) {
      this.#token = this.#offset + pos;
      this.#text = "";
      this.#state = DIGITS;
      return pos;
    }
    if (c === 93 && this.#state === FIRST_ELEMENT) return this.#close(pos);
    const literal = LITERALS[text[pos]];
    return literal === undefined ? this.#unexpected(text, pos) : this.#literal(text, pos, ...literal);
  }

  /**
   * @param {number} pos
   * @param {boolean} isObject
   */
  #open(pos, isObject) {
    const frame = new Frame(this.#frame, isObject);
    if (frame.depth > this.#limits.depth) throw this.#limitError("depth", this.#offset + pos);
    this.#frame = this.#sink.frame = frame;
    this.#state = isObject ? FIRST_KEY : FIRST_ELEMENT;
    this.#sink.startContainer(this.#offset + pos);
    return pos + 1;
  }

  /** Return true if this bracket may close the open container now. @param {number} c */
  #closes(c) {
    if (this.#state === AFTER) return c === (this.#frame?.isObject ? 125 : 93);
    return c === 125 && this.#state === FIRST_KEY;
  }

  /** @param {number} pos */
  #close(pos) {
    this.#sink.endContainer(this.#offset + pos);
    this.#frame = this.#sink.frame = /** @type {Frame} */ (this.#frame).parent;
    this.#endValue(pos + 1);
    return pos + 1;
  }

  /** Go to the state after a value. @param {number} pos just behind it */
  #endValue(pos) {
    this.#state = this.#frame === null ? END : AFTER;
    if (this.#frame === null) this.#sink.endDocument(this.#offset + pos);
  }

  /**
   * @param {string} text
   * @param {number} pos
   * @param {string} word
   * @param {boolean | null} value
   */
  #literal(text, pos, word, value) {
    if (text.startsWith(word, pos)) {
      this.#sink.scalar(value, undefined, this.#offset + pos);
      this.#endValue(pos + word.length);
      return pos + word.length;
    }
    let at = pos + 1;
    while (at < text.length && text[at] === word[at - pos]) at += 1;
    this.#held = text.slice(pos, at); // also what is pending after the error
    return at < text.length ? this.#unexpected(text, at, quote(word)) : at;
  }

  // ---- numbers ----

  /**
   * Read the characters of a number up to its end or the end of the piece.
   * @param {string} text
   * @param {number} pos
   */
  #number(text, pos) {
    NUMBER_RUN.lastIndex = pos;
    NUMBER_RUN.test(text);
    const before = this.#text.length;
    const run = text.slice(pos, NUMBER_RUN.lastIndex);
    this.#text += run;
    // After three characters, digits only follow digits: no need to check all of it again.
    if (before < 3 || !this.#endsInDigit || /\D/.test(run)) this.#text = NUMBER_START.exec(this.#text)?.[0] ?? "";
    this.#endsInDigit = /\d$/.test(run);
    const stop = pos + this.#text.length - before;
    const room = this.#limits.number - before;
    if (stop - pos > room) throw this.#limitError("number", this.#offset + pos + room);
    if (stop === text.length) return stop;
    if (!",]} \t\n\r".includes(text[stop]) || !NUMBER.test(this.#text)) return this.#unexpected(text, stop);
    this.#endNumber(stop);
    return stop;
  }

  /** @param {number} pos just behind the number */
  #endNumber(pos) {
    this.#sink.scalar(Number(this.#text), this.#text, this.#token);
    this.#endValue(pos);
  }

  // ---- strings and keys ----

  /**
   * Read the characters of a string or key up to its quote or the end of the piece.
   * @param {string} text
   * @param {number} pos
   */
  #string(text, pos) {
    const end = text.length;
    let run = "";
    for (let at = pos; ; ) {
      const start = at;
      let c = 0;
      let hasSurrogates = false;
      for (; at < end; at += 1) {
        c = text.charCodeAt(at);
        if (c === 34 || c === 92 || c < 32) break;
        if (c >= 0xd800 && c < 0xe000) hasSurrogates = true;
      }
      if (hasSurrogates) this.#offset -= text.slice(start, at).match(PAIRS)?.length ?? 0;
      run += text.slice(start, at);
      if (at < end && c === 92) {
        const sequence = this.#escape(text, at);
        if (sequence !== null) {
          run += JSON.parse(`"${sequence}"`);
          at += sequence.length;
          continue;
        }
      }
      if (run !== "") this.#take(run);
      if (at === end || this.#held !== "") return end;
      if (c === 34) return this.#endString(at);
      return c < 32 ? this.#unexpected(text, at, "no control character in a string") : this.#badEscape(text, at);
    }
  }

  /**
   * Return the escape at `pos`; null if it is wrong, or if it is incomplete and therefore held. An incomplete one is an
   * escape if it continues like the longest.
   * @param {string} text
   * @param {number} pos
   */
  #escape(text, pos) {
    ESCAPE.lastIndex = pos;
    const sequence = ESCAPE.exec(text + LONGEST_ESCAPE.slice(text.length - pos))?.[0] ?? null;
    if (sequence === null || pos + sequence.length <= text.length) return sequence;
    this.#held = text.slice(pos);
    return null;
  }

  /**
   * @param {string} text
   * @param {number} pos
   */
  #badEscape(text, pos) {
    ESCAPE_START.lastIndex = pos;
    ESCAPE_START.test(text);
    const at = ESCAPE_START.lastIndex;
    return this.#unexpected(text, at, at === pos + 1 ? "an escape" : "a hexadecimal digit");
  }

  /** Emit text of a string, or keep the text of a key. @param {string} run */
  #take(run) {
    const { string: limit } = this.#limits;
    const room = limit - this.#length;
    this.#length += run.length;
    const part = run.length > room ? run.slice(0, room) : run;
    if (this.#state === KEY) this.#text += part;
    else if (part !== "") this.#sink.text(part);
    if (run.length > room) throw this.#limitError("string", this.#token + 1 + limit);
  }

  /** @param {number} pos of the closing quote */
  #endString(pos) {
    if (this.#state === STRING) {
      this.#sink.endString();
      this.#endValue(pos + 1);
      return pos + 1;
    }
    const frame = /** @type {Frame} */ (this.#frame);
    frame.size += 1;
    if (frame.size > this.#limits.keys) throw this.#limitError("keys", this.#offset + pos);
    frame.key = this.#text;
    this.#state = COLON;
    this.#sink.key(this.#text, this.#token);
    return pos + 1;
  }

  // ---- errors ----

  /**
   * Refuse a character that cannot be where it is.
   * @param {string} text
   * @param {number} pos
   * @param {string} [expected]
   * @returns {never}
   */
  #unexpected(text, pos, expected = this.#expected()) {
    const char = String.fromCodePoint(/** @type {number} */ (text.codePointAt(pos)));
    throw this.#error(InvalidJSON, `expected ${expected} but got ${quote(char)}`, this.#offset + pos, { expected });
  }

  #expected() {
    const isWhole = this.#state === DIGITS && NUMBER.test(this.#text);
    if (isWhole && this.#frame === null) return EXPECTED[END];
    if (isWhole || this.#state === AFTER) return `',' or '${this.#frame?.isObject ? "}" : "]"}'`;
    const literal = this.#state <= FIRST_ELEMENT ? LITERALS[this.#held[0]] : undefined;
    return literal === undefined ? EXPECTED[this.#state] : quote(literal[0]);
  }

  #invalidBytes() {
    return this.#error(InvalidJSON, "expected UTF-8 but got something else", this.offset, { expected: "UTF-8" });
  }

  /**
   * Return the error of a text that stopped early.
   * @param {string} expected
   * @param {Cut | null} cut
   */
  #truncated(expected, cut) {
    const message = `expected ${expected} but the text ended`;
    const details = { expected, reason: cut?.reason ?? "ended" };
    return this.#error(Truncated, cut === null ? message : `${cut.message}; ${message}`, this.offset, details);
  }

  /**
   * @param {keyof Limits} limit
   * @param {number} offset
   */
  #limitError(limit, offset) {
    return this.#error(LimitExceeded, `more than ${this.#limits[limit]} (${limit})`, offset, { limit });
  }

  /**
   * Close the stream and return its error.
   * @param {typeof InvalidJSON | typeof LimitExceeded} Kind
   * @param {string} message
   * @param {number} offset
   * @param {Details} details
   */
  #error(Kind, message, offset, details) {
    const state = this.#state;
    const isInValue = state <= FIRST_ELEMENT || state === COLON || state === STRING || state === DIGITS;
    const path = pathOf(isInValue ? this.#frame : this.#frame?.parent);
    const place = { offset, line: this.#line, column: offset - this.#lineStart + 1, path };
    this.#state = CLOSED;
    return new Kind(`${message} at character ${offset}, in ${shortPath(path)}`, { ...place, ...details });
  }
}

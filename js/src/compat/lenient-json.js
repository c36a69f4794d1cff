/** The parser of `partial-json` for a text that is read once: it takes what it can, and stops. */

import { put } from "../parse/values.js";

/** What may be incomplete. */
export const STR = 1;
export const NUM = 2;
export const ARR = 4;
export const OBJ = 8;
export const NULL = 16;
export const BOOL = 32;
export const NAN = 64;
export const INFINITY = 128;
export const _INFINITY = 256;
export const INF = INFINITY | _INFINITY;
export const SPECIAL = NULL | BOOL | INF | NAN;
export const ATOM = STR | NUM | SPECIAL;
export const COLLECTION = ARR | OBJ;
export const ALL = ATOM | COLLECTION;
export const Allow = {
  ...{ STR, NUM, ARR, OBJ, NULL, BOOL, NAN, INFINITY, _INFINITY },
  ...{ INF, SPECIAL, ATOM, COLLECTION, ALL },
};

/** The text is incomplete in a way that is not allowed. */
export class PartialJSON extends Error {}
/** The text is not JSON. */
export class MalformedJSON extends Error {}

/** Words, what they mean, what allows half of one, and how much of it must be there. */
/** @type {[string, any, number, number][]} */
const WORDS = [
  ["null", null, NULL, 1],
  ["true", true, BOOL, 1],
  ["false", false, BOOL, 1],
  ["Infinity", Infinity, INFINITY, 1],
  ["-Infinity", -Infinity, _INFINITY, 2],
  ["NaN", NaN, NAN, 1],
];

/** One text, read from its beginning to where it stops being JSON. */
export class OneText {
  #text;
  #allow;
  #at = 0;

  /**
   * @param {string} text
   * @param {number} allow
   */
  constructor(text, allow) {
    this.#text = text;
    this.#allow = allow;
  }

  /** @returns {any} */
  value() {
    this.#skipSpace();
    const text = this.#text;
    if (this.#at >= text.length) this.#partial("Unexpected end of input");
    const first = text[this.#at];
    if (first === '"') return this.#string();
    if (first === "{") return this.#object();
    if (first === "[") return this.#array();
    for (const [word, value, allowed, least] of first >= "0" && first <= "9" ? [] : WORDS) {
      const rest = text.slice(this.#at, this.#at + word.length);
      const half = rest.length < word.length && rest.length >= least && word.startsWith(rest);
      if (rest === word || (half && this.#allow & allowed)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#number();
  }

  #string() {
    const text = this.#text;
    const start = this.#at;
    let end = start + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    if (end < text.length) {
      this.#at = end + 1;
      try {
        return JSON.parse(text.slice(start, end + 1));
      } catch (error) {
        return this.#malformed(String(error));
      }
    }
    this.#at = text.length;
    if (!(this.#allow & STR)) this.#partial("Unterminated string literal");
    // Without a backslash at the end that escapes nothing yet.
    const open = text.slice(start, end > text.length ? -1 : undefined);
    try {
      return JSON.parse(`${open}"`);
    } catch {
      return JSON.parse(`${text.slice(start, text.lastIndexOf("\\"))}"`);
    }
  }

  #object() {
    this.#at += 1;
    this.#skipSpace();
    /** @type {any} */
    const object = {};
    const isAllowed = (this.#allow & OBJ) !== 0;
    try {
      while (this.#text[this.#at] !== "}") {
        this.#skipSpace();
        // What would throw here is caught below; an error costs more than a small text.
        if (isAllowed && this.#isAtEnd) return object;
        const key = this.#string();
        this.#skipSpace();
        this.#at += 1; // a colon
        if (isAllowed && this.#isAtEnd) return object;
        put(object, key, this.value());
        this.#skipSpace();
        if (this.#text[this.#at] === ",") this.#at += 1;
      }
    } catch {
      if (isAllowed) return object;
      this.#partial("Expected '}' at end of object");
    }
    this.#at += 1;
    return object;
  }

  #array() {
    this.#at += 1;
    /** @type {any[]} */
    const array = [];
    try {
      while (this.#text[this.#at] !== "]") {
        this.#skipSpace();
        if (this.#allow & ARR && this.#isAtEnd) return array;
        array.push(this.value());
        this.#skipSpace();
        if (this.#text[this.#at] === ",") this.#at += 1;
      }
    } catch {
      if (this.#allow & ARR) return array;
      this.#partial("Expected ']' at end of array");
    }
    this.#at += 1;
    return array;
  }

  #number() {
    const text = this.#text;
    const start = this.#at;
    if (start === 0) return this.#rootNumber();
    if (text[this.#at] === "-") this.#at += 1;
    while (this.#at < text.length && !",]}".includes(text[this.#at])) this.#at += 1;
    const number = text.slice(start, this.#at);
    if (this.#at === text.length && !(this.#allow & NUM)) this.#partial("Unterminated number literal");
    try {
      return JSON.parse(number);
    } catch (error) {
      if (number === "-") this.#partial("Not sure what '-' is");
      const half = text.lastIndexOf("e");
      try {
        return JSON.parse(half < start ? "" : text.slice(start, half));
      } catch {
        return this.#malformed(String(error));
      }
    }
  }

  #rootNumber() {
    const text = this.#text;
    if (text === "-") this.#malformed("Not sure what '-' is");
    try {
      return JSON.parse(text);
    } catch (error) {
      if (this.#allow & NUM) {
        try {
          return JSON.parse(text.slice(0, Math.max(0, text.lastIndexOf("e"))));
        } catch {
          // neither
        }
      }
      return this.#malformed(String(error));
    }
  }

  get #isAtEnd() {
    return this.#at >= this.#text.length;
  }

  #skipSpace() {
    const text = this.#text;
    while (this.#at < text.length && " \n\r\t".includes(text[this.#at])) this.#at += 1;
  }

  /** @param {string} message @returns {never} */
  #partial(message) {
    throw new PartialJSON(`${message} at position ${this.#at}`);
  }

  /** @param {string} message @returns {never} */
  #malformed(message) {
    throw new MalformedJSON(`${message} at position ${this.#at}`);
  }
}

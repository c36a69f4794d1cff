/**
 * Strings and calls as Python writes them: `'it\'s'`, `[f(a=1, b=["x", None]), g()]`.
 *
 * Read are strings (without a prefix or with `r` or `u`, triple quotes, one behind another), numbers,
 * `True`, `False`, `None`, lists, tuples and dicts. Anything else is no call.
 */

/** @param {string} text */
export function pythonString(text) {
  const reader = new Python(text);
  const value = reader.strings();
  reader.end();
  return value;
}

/**
 * Name and arguments, as JSON, of each call in a list; throws `SyntaxError` if it is none.
 * @param {string} text
 */
export function pythonCalls(text) {
  return new Python(text).calls();
}

const SPACE = /(?:[ \t\f\r\n]|\\\r?\n|#[^\n]*)*/y;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const STRING = /([rRuU]?)("""|'''|"|')/y;
const NUMBER =
  /0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const ESCAPE = /\\(?:([\n\\'"abfnrtv])|\r\n|([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/y;
/** @type {{[letter: string]: string}} */
const ESCAPES = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
/** @type {{[name: string]: string}} */
const NAMED = { True: "true", False: "false", None: "null" };

class Python {
  #text;
  #at = 0;

  /** @param {string} text */
  constructor(text) {
    this.#text = text;
  }

  calls() {
    /** @type {[string, string][]} */
    const calls = [];
    this.#need("[");
    while (!this.#take("]")) {
      if (calls.length !== 0) this.#need(",");
      if (calls.length !== 0 && this.#take("]")) break;
      calls.push(this.#call());
    }
    this.end();
    return calls;
  }

  /** One string, or several one behind another. */
  strings() {
    let text = this.#string();
    if (text === null) throw new SyntaxError("no string");
    for (let more = this.#string(); more !== null; more = this.#string()) text += more;
    return text;
  }

  end() {
    this.#match(SPACE);
    if (this.#at !== this.#text.length) throw new SyntaxError("more text");
  }

  /** @returns {[string, string]} */
  #call() {
    const name = [this.#name()];
    while (this.#take(".")) name.push(this.#name());
    /** @type {Map<string, string>} */
    const byName = new Map();
    this.#need("(");
    while (!this.#take(")")) {
      if (byName.size !== 0) this.#need(",");
      if (byName.size !== 0 && this.#take(")")) break;
      const key = this.#name();
      this.#need("=");
      if (byName.has(key)) throw new SyntaxError("an argument comes twice");
      byName.set(key, this.#value());
    }
    const members = [...byName].map(([key, value]) => `${JSON.stringify(key)}: ${value}`);
    return [name.join("."), `{${members.join(", ")}}`];
  }

  /** A value, as JSON. @returns {string} */
  #value() {
    if (this.#take("[")) return this.#items("]");
    if (this.#take("{")) return this.#members();
    if (this.#take("(")) return this.#tuple();
    this.#match(SPACE);
    const quote = /["']/.test(this.#text[this.#at] ?? "") || /^[rRuU]["']/.test(this.#text.slice(this.#at, this.#at + 2));
    if (quote) return JSON.stringify(this.strings());
    if (this.#take("-")) return negative(this.#number());
    if (this.#take("+")) return this.#number();
    const name = this.#match(NAME);
    if (name === null) return this.#number();
    if (!Object.hasOwn(NAMED, name[0])) throw new SyntaxError("a name is no value");
    return NAMED[name[0]];
  }

  /** @param {string} close */
  #items(close) {
    /** @type {string[]} */
    const values = [];
    while (!this.#take(close)) {
      if (values.length !== 0) this.#need(",");
      if (values.length !== 0 && this.#take(close)) break;
      values.push(this.#value());
    }
    return `[${values.join(", ")}]`;
  }

  #tuple() {
    if (this.#take(")")) return "[]";
    const first = this.#value();
    if (this.#take(")")) return first; // only brackets
    this.#need(",");
    const rest = this.#items(")");
    return rest === "[]" ? `[${first}]` : `[${first}, ${rest.slice(1)}`;
  }

  #members() {
    /** @type {Map<string, string>} */
    const members = new Map();
    while (!this.#take("}")) {
      if (members.size !== 0) this.#need(",");
      if (members.size !== 0 && this.#take("}")) break;
      const key = this.#value();
      this.#need(":");
      if (key[0] === "[" || key[0] === "{") throw new SyntaxError("no key");
      members.set(key[0] === '"' ? key : `"${key}"`, this.#value());
    }
    return `{${[...members].map(([key, value]) => `${key}: ${value}`).join(", ")}}`;
  }

  /** The text of a string; null if none comes. */
  #string() {
    this.#match(SPACE);
    const opening = this.#match(STRING);
    if (opening === null) return null;
    const [, prefix, quote] = opening;
    const isRaw = prefix.toLowerCase() === "r";
    let text = "";
    while (!this.#text.startsWith(quote, this.#at)) {
      const char = this.#text[this.#at];
      if (char === undefined || (char === "\n" && quote.length === 1)) throw new SyntaxError("an open string");
      if (char !== "\\") {
        text += char;
        this.#at += 1;
        continue;
      }
      const match = isRaw ? null : this.#match(ESCAPE);
      if (match === null) {
        // An escape that means nothing stays as it is; in a raw string each does.
        text += this.#text.slice(this.#at, this.#at + 2);
        if (!isRaw && /[NxuU]/.test(this.#text[this.#at + 1] ?? "N")) throw new SyntaxError("an escape");
        this.#at += 2;
        continue;
      }
      const [, letter, octal, ...hex] = match;
      const digits = hex.find((it) => it !== undefined);
      if (letter !== undefined) text += ESCAPES[letter];
      else if (octal !== undefined) text += String.fromCodePoint(Number.parseInt(octal, 8));
      else if (digits !== undefined) text += String.fromCodePoint(Number.parseInt(digits, 16));
    }
    this.#at += quote.length;
    return text;
  }

  /** A number, as JSON. */
  #number() {
    this.#match(SPACE);
    const match = this.#match(NUMBER);
    if (match === null || /^0\d*[1-9]/.test(match[0].replaceAll("_", "").replace(/[.eE].*/, ""))) {
      if (match === null || !/[.eE]/.test(match[0]) || /^0[xX]/.test(match[0])) throw new SyntaxError("no number");
    }
    const text = match[0].replaceAll("_", "").toLowerCase();
    if (/^0[xob]/.test(text)) return String(BigInt(text));
    if (!/[.e]/.test(text)) return String(BigInt(text));
    const number = Number(text);
    if (!Number.isFinite(number)) throw new SyntaxError("too large");
    return Number.isInteger(number) && Math.abs(number) < 1e16 ? `${number}.0` : String(number);
  }

  #name() {
    this.#match(SPACE);
    const match = this.#match(NAME);
    if (match === null) throw new SyntaxError("no name");
    return match[0];
  }

  /** Take this sign if it comes now. @param {string} sign */
  #take(sign) {
    this.#match(SPACE);
    const comes = this.#text.startsWith(sign, this.#at);
    if (comes) this.#at += sign.length;
    return comes;
  }

  /** @param {string} sign */
  #need(sign) {
    if (!this.#take(sign)) throw new SyntaxError(`no ${sign}`);
  }

  /** @param {RegExp} pattern */
  #match(pattern) {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }
}

/** @param {string} number */
function negative(number) {
  return number === "0" ? "0" : `-${number}`;
}

/**
 * JSON values as JavaScript holds them, without losing what JavaScript would lose.
 *
 * Objects are ordinary ones, as `JSON.parse` makes them, and every key is an own property: a key
 * `__proto__` is defined, never assigned. A number that a double would change is an `ExactNumber`.
 * Which values are open or finished is not known here.
 */

/**
 * @typedef {null | boolean | number | bigint | string | ExactNumber | any[] | {[key: string]: any}} Value
 */

// RFC 8259 section 6.
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const DECIMAL = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
// So many digits always survive as a double, if no exponent moves them out of its range.
const SAFE_DIGITS = 15;
// What a text has somewhere if one of its numbers may not survive. (Strings may have it too.)
const DOUBTFUL = /[0-9.]{16}|[0-9][eE]/;

/** A number that no double holds, as its source text. `Number(exact)` is the nearest double. */
export class ExactNumber {
  /** @param {string} text a JSON number */
  constructor(text) {
    if (typeof text !== "string" || !NUMBER.test(text)) {
      throw new TypeError(`not the text of a number: ${JSON.stringify(text)}`);
    }
    this.text = text;
    Object.freeze(this);
  }

  toString() {
    return this.text;
  }

  valueOf() {
    return Number(this.text);
  }

  /** Exact where the engine has `JSON.rawJSON`; elsewhere a string, which is not rounded either. */
  toJSON() {
    const raw = /** @type {any} */ (JSON).rawJSON;
    return raw === undefined ? this.text : raw(this.text);
  }
}

/**
 * Is this the text of a JSON number?
 * @param {unknown} text
 * @returns {text is string}
 */
export function isNumberText(text) {
  return typeof text === "string" && NUMBER.test(text);
}

/**
 * The number that a JSON number means: a `number` if that says the same, else an `ExactNumber`.
 * @param {string} text
 * @returns {number | ExactNumber}
 */
export function toNumber(text) {
  const number = Number(text);
  if (text.length <= SAFE_DIGITS && !/[eE]/.test(text)) return number;
  return Number.isFinite(number) && isHeld(text, number) ? number : new ExactNumber(text);
}

/**
 * The number that a JSON number means: a `number`, but for an integer beyond 2^53 a BigInt.
 * @param {string} text
 * @returns {number | bigint}
 */
export function toBigInt(text) {
  const number = Number(text);
  return Number.isSafeInteger(number) || /[.eE]/.test(text) ? number : BigInt(text);
}

/**
 * Does a JSON number survive a reader that has only doubles? An integer must be exact.
 * @param {string} text
 */
export function survives(text) {
  const number = Number(text);
  if (!Number.isFinite(number)) return false;
  return /[.eE]/.test(text) || BigInt(text) === BigInt(number);
}

/**
 * How a JSON number becomes a value. `"exact"`: one that a double would change is an `ExactNumber`,
 * which has its digits. `"bigint"`: an integer beyond 2^53 is a BigInt.
 * @typedef {"number" | "exact" | "bigint"} Numbers
 */

/** @type {{[numbers: string]: (text: string) => any}} */
const CONVERSIONS = { number: Number, exact: toNumber, bigint: toBigInt };

/**
 * The function that makes numbers of this kind.
 * @param {Numbers} numbers
 */
export function conversion(numbers) {
  if (Object.hasOwn(CONVERSIONS, numbers)) return CONVERSIONS[numbers];
  throw new TypeError(`numbers is "number", "exact" or "bigint", not ${String(numbers)}`);
}

/**
 * Does a double say what this text says? An integer exactly; what has a point or an exponent, if
 * its shortest form has the same digits, as for 0.1.
 * @param {string} text
 * @param {number} number
 */
function isHeld(text, number) {
  if (!/[.eE]/.test(text)) return BigInt(text) === BigInt(number);
  return canonical(text) === canonical(String(number));
}

/**
 * Digits without zeros around them, and their exponent: equal for numbers that are equal.
 * @param {string} text
 */
function canonical(text) {
  const [, whole, fraction = "", exponent = "0"] = /** @type {RegExpExecArray} */ (
    DECIMAL.exec(text)
  );
  const all = whole + fraction;
  let first = 0;
  while (first < all.length && all[first] === "0") first += 1;
  let last = all.length;
  while (last > first && all[last - 1] === "0") last -= 1;
  if (first === last) return "0";
  const digits = all.slice(first, last);
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - last);
  return `${text[0] === "-" ? "-" : ""}${digits}e${power}`;
}

/**
 * Is it an object as JSON has it: no array, no null, no number?
 * @param {unknown} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

/**
 * Give an object a member of its own, whatever the key.
 * @param {{[key: string]: any}} object
 * @param {string} key
 * @param {any} value
 */
export function put(object, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[key] = value;
  }
}

/**
 * The member or element of this name that a value has of its own.
 * @param {any} holder
 * @param {string | number} step
 */
export function own(holder, step) {
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

/**
 * A copy of a container, one level deep.
 * @template {any[] | {[key: string]: any}} T
 * @param {T} container
 * @returns {T}
 */
export function copyOf(container) {
  return /** @type {T} */ (Array.isArray(container) ? container.slice() : { ...container });
}

/**
 * `JSON.parse`, but a number that a double would change is an `ExactNumber` (or as `numbers` says).
 * SyntaxError as there.
 * @param {string} text
 * @param {Numbers} [numbers]
 * @returns {Value}
 */
export function parse(text, numbers = "exact") {
  const value = JSON.parse(text);
  if (numbers === "number" || !DOUBTFUL.test(text)) return value;
  return new Exact(text, conversion(numbers)).read();
}

/** A reader of text that is known to be JSON: it judges nothing. No recursion. */
class Exact {
  #text;
  #number;
  #at = 0;
  /** @type {any[]} */
  #open = [];
  /** @type {string[]} */
  #keys = [];

  /**
   * @param {string} text
   * @param {(text: string) => any} number
   */
  constructor(text, number) {
    this.#text = text;
    this.#number = number;
  }

  read() {
    for (;;) {
      const token = this.#next();
      let value;
      if (token === "{" || token === "[") {
        this.#open.push(token === "{" ? {} : []);
        this.#keys.push("");
        continue;
      } else if (token === "}" || token === "]") {
        value = this.#open.pop();
        this.#keys.pop();
      } else if (token === '"') {
        value = this.#string();
        if (this.#isKey()) {
          this.#keys[this.#keys.length - 1] = value;
          continue;
        }
      } else {
        value = this.#scalar();
      }
      if (this.#open.length === 0) return value;
      this.#put(value);
    }
  }

  /** The next character that means something by itself. */
  #next() {
    while (" \t\n\r,:".includes(this.#text[this.#at])) this.#at += 1;
    this.#at += 1;
    return this.#text[this.#at - 1];
  }

  #string() {
    const start = this.#at - 1;
    const end = endOfString(this.#text, start);
    this.#at = end;
    return JSON.parse(this.#text.slice(start, end));
  }

  /** Is the string that was just read followed by a colon? */
  #isKey() {
    let at = this.#at;
    while (" \t\n\r".includes(this.#text[at] ?? "-")) at += 1;
    return this.#text[at] === ":";
  }

  #scalar() {
    const start = this.#at - 1;
    while (/[-+.0-9a-zA-Z]/.test(this.#text[this.#at] ?? "")) this.#at += 1;
    const word = this.#text.slice(start, this.#at);
    return NUMBER.test(word) ? this.#number(word) : JSON.parse(word);
  }

  /** @param {any} value */
  #put(value) {
    const container = this.#open[this.#open.length - 1];
    if (Array.isArray(container)) container.push(value);
    else put(container, this.#keys[this.#keys.length - 1], value);
  }
}

/**
 * Where the JSON string that begins at `start` ends, just behind its quote; -1 if it does not.
 * @param {string} text
 * @param {number} start
 */
export function endOfString(text, start) {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

/**
 * `JSON.stringify`, but an `ExactNumber` is written as the number it is, in every engine, and
 * depth is no matter.
 * @param {any} value
 * @param {number | string} [indent] as in `JSON.stringify`
 * @returns {string}
 */
export function stringify(value, indent = 0) {
  const step =
    typeof indent === "string"
      ? indent.slice(0, 10)
      : " ".repeat(Math.max(0, Math.min(10, indent)));
  /** @type {string[]} */
  const out = [];
  /** @type {Level[]} */
  const levels = [];
  write(value, out, levels);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const line = step && "\n" + step.repeat(levels.length);
    if (level.at < level.size) {
      out.push(level.at ? "," : "", line);
      if (level.keys) out.push(JSON.stringify(level.keys[level.at]), step ? ": " : ":");
      const item = level.holder[level.keys ? level.keys[level.at] : level.at];
      level.at += 1;
      write(item, out, levels);
    } else {
      levels.pop();
      if (level.size) out.push(step && "\n" + step.repeat(levels.length));
      out.push(level.keys ? "}" : "]");
    }
  }
  return out.join("");
}

/** @typedef {{holder: any, keys: string[] | null, size: number, at: number}} Level */

/**
 * @param {any} value
 * @param {string[]} out
 * @param {Level[]} levels
 */
function write(value, out, levels) {
  if (value instanceof ExactNumber) {
    out.push(value.text);
  } else if (Array.isArray(value)) {
    out.push("[");
    levels.push({ holder: value, keys: null, size: value.length, at: 0 });
  } else if (isObject(value)) {
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    out.push("{");
    levels.push({ holder: value, keys, size: keys.length, at: 0 });
  } else if (Number.isInteger(value) && Math.abs(value) > 2 ** 53 && Math.abs(value) < 1e21) {
    // JavaScript would fill up with zeros, which say another integer to those who read it exactly.
    out.push(String(BigInt(value)));
  } else {
    out.push(JSON.stringify(value) ?? "null");
  }
}

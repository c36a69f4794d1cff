/** Numbers that no double holds. */

import { EXACT } from "./values.js";

// RFC 8259 section 6.
export const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const DECIMAL = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
// This many digits always survive as a double, if no exponent moves them out of its range.
const SAFE_DIGITS = 15;

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

  get [EXACT]() {
    return true;
  }

  /**
   * The number that a JSON number means: a `number` if that says the same, else an `ExactNumber`.
   * @param {string} text
   * @returns {number | ExactNumber}
   */
  static of(text) {
    const number = Number(text);
    if (text.length <= SAFE_DIGITS && !/[eE]/.test(text)) return number;
    return Number.isFinite(number) && isHeld(text, number) ? number : new ExactNumber(text);
  }
}

/**
 * True if a double is the number of this text: an integer exactly, one with a point or exponent if
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
  const [, whole, fraction = "", exponent = "0"] = /** @type {RegExpExecArray} */ (DECIMAL.exec(text));
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

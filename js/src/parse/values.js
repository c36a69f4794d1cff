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

/**
 * True for a JSON object: no array, null or number.
 * @param {unknown} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
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

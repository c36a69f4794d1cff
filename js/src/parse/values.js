/**
 * JSON values as JavaScript holds them, without losing what JavaScript would lose.
 *
 * Objects are ordinary ones, as `JSON.parse` makes them, and every key is an own property: a key
 * `__proto__` is defined, never assigned. A number that a double would change is an `ExactNumber`.
 * Which values are open or finished is not known here.
 */

/**
 * @typedef {null | boolean | number | bigint | string | import("./exact.js").ExactNumber | any[] | {[key: string]: any}} Value
 */

/** What an `ExactNumber` has, and no value of JSON: who needs no such numbers does not load their class. */
export const EXACT = Symbol("exact number");

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
 * How a JSON number becomes a value. The class `ExactNumber`: one that a double would change is one of
 * these, which has its digits. `"bigint"`: an integer beyond 2^53 is a BigInt.
 * @typedef {"number" | "bigint" | typeof import("./exact.js").ExactNumber} Numbers
 */

/**
 * The function that makes numbers of this kind.
 * @param {Numbers} numbers
 * @returns {(text: string) => any}
 */
export function conversion(numbers) {
  if (numbers === "number") return Number;
  if (numbers === "bigint") return toBigInt;
  if (typeof numbers?.of === "function") return numbers.of;
  throw new TypeError(`numbers is "number", "bigint" or ExactNumber, not ${String(numbers)}`);
}

/**
 * True for a JSON object: no array, null or number.
 * @param {unknown} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(EXACT in value);
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

/**
 * Reading fields of events, which may hold anything: each function returns the expected type.
 *
 * A field of another type counts as absent (null), so that an odd event never throws.
 */

import { isObject } from "../parse/values.js";

/** @typedef {{[field: string]: any}} Fields */

/**
 * An id, or null. Not an id: the empty text, and the "null" that some clients fill in.
 * @param {unknown} value
 */
export function asId(value) {
  return typeof value === "string" && value !== "" && value !== "null" ? value : null;
}

/** @param {unknown} value */
export function asIndex(value) {
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** A text that is not empty, or null. @param {unknown} value */
export function asText(value) {
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * The message of an error, which is a text or an object with a `message`.
 * @param {unknown} value
 */
export function asError(value) {
  return asText(value) ?? asText(asObject(value).message) ?? "the provider reported an error";
}

/**
 * The object, or an empty one in place of anything else.
 * @param {unknown} value
 * @returns {Fields}
 */
export function asObject(value) {
  return isObject(value) ? value : {};
}

/**
 * The objects in a list; none if this is no list.
 * @param {unknown} value
 * @returns {Fields[]}
 */
export function items(value) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * The field of one of two names, for fields that come in camelCase and in snake_case.
 * @param {Fields} holder
 * @param {string} name
 * @param {string} other
 */
export function either(holder, name, other) {
  return holder[name] ?? holder[other];
}

/**
 * The value, or undefined if there is nothing in it: no text, number, element or field.
 * @param {any} value
 */
export function filled(value) {
  const empty = Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
  return value && !empty ? value : undefined;
}

/**
 * A function that tells if the `type` of an event begins with one of these.
 * @param {...string} prefixes
 * @returns {(event: Fields) => boolean}
 */
export function typed(...prefixes) {
  return ({ type }) => typeof type === "string" && prefixes.some((prefix) => type.startsWith(prefix));
}

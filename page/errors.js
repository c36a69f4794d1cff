/** Errors in the events of a stream, as the page shows them. */

import { formatNumber, shorten, skipCharacters } from "./escaping.js";
import { LIMITS } from "../js/src/defaults.js";
import { LimitExceeded, Truncated } from "../js/src/errors.js";
import { PathError, formatPath, parsePath } from "../js/src/paths.js";
import { isObject } from "../js/src/parse/values.js";

/** What each limit of the page means. @type {Record<string, string>} */
const LIMIT_WORDS = {
  depth: `the value is nested more than ${LIMITS.depth} levels deep, and is not read further`,
  text: `the text is longer than ${formatNumber(LIMITS.text)} characters, and is not read further`,
  string: `a string is longer than ${formatNumber(LIMITS.string)} characters, and is not read further`,
  number: `a number has more than ${LIMITS.number} digits, and is not read further`,
  keys: `an object has more than ${formatNumber(LIMITS.keys)} keys, and is not read further`,
};

/** The code of what a provider says went wrong. */
export const PROVIDER = "PROVIDER";

/**
 * @typedef {object} StreamError
 * @property {string} code
 * @property {string} message for people; no fact is read out of it
 * @property {number | null} offset in Unicode characters
 * @property {import("../js/src/paths.js").Path} path
 * @property {boolean} [isPlaced] true if it is already shown beside its value
 */

/**
 * The error that an event reports; null if it reports none.
 * @param {any} data
 * @returns {StreamError | null}
 */
export function errorOf(data) {
  if (!isObject(data) || data.status !== "ERROR" || !isObject(data.error)) return null;
  const { code, message, offset, path } = data.error;
  return {
    code: String(code),
    message: String(message),
    offset: Number.isSafeInteger(offset) && offset >= 0 ? offset : null,
    path: typeof path === "string" ? (pathOf(path) ?? []) : [],
  };
}

/**
 * What a lone event of any provider says went wrong, `{"error": {"message": …}}` for instance; null if
 * it says nothing of the kind.
 * @param {any} event
 */
export function reportedError(event) {
  if (!isObject(event)) return null;
  const { type, error, errors, message, detail } = event;
  const inner = isObject(error) ? error : Array.isArray(errors) && isObject(errors[0]) ? errors[0] : null;
  const text = inner?.message ?? (typeof error === "string" ? error : type === "error" ? (message ?? detail) : null);
  return typeof text === "string" && text !== "" ? text : null;
}

/** The path in a text; null if it is not one. @param {string} text */
export function pathOf(text) {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof PathError) return null;
    throw error;
  }
}

/**
 * What is wrong with a text, without the place.
 * @param {import("../js/src/errors.js").JsonrillError} error
 * @param {string} text
 */
export function inWords(error, text) {
  const { offset = 0, path = [] } = error;
  const { expected = "" } = /** @type {Partial<import("../js/src/errors.js").InvalidJSON>} */ (error);
  if (error instanceof LimitExceeded) return LIMIT_WORDS[error.limit] ?? withoutPlace(error.message, offset, path);
  if (expected === "") return withoutPlace(error.message, offset, path);
  if (error instanceof Truncated) return `the text ends here, but ${expected} is missing`;
  const start = skipCharacters(text, offset);
  return `${expected} is expected, but there is ${nameOf(text.slice(start, skipCharacters(text, 1, start)))}`;
}

/** @param {string} character */
function nameOf(character) {
  /** @type {Record<string, string>} */
  const names = {
    "": "nothing",
    "\n": "a line break",
    "\r": "a line break",
    "\t": "a tab",
    "'": "a single quote",
    " ": "a space",
    "`": "a back-tick",
  };
  return names[character] ?? `'${character}'`;
}

/**
 * A message without the place at its end, which the page shows in its own way.
 * @param {string} message
 * @param {number | null | undefined} offset in characters
 * @param {import("../js/src/paths.js").Path} path
 */
export function withoutPlace(message, offset, path) {
  const place = ` at character ${offset}, in ${formatPath(path)}`;
  return message.endsWith(place) ? message.slice(0, -place.length) : message;
}

/**
 * An error in a sentence, the same everywhere: its line and column first, a deep path shortened.
 * @param {import("./outline.js").Fault} fault
 */
export function describe({ message, line, column, path }) {
  const where = shorten(formatPath(path), 60);
  if (line !== undefined)
    return sentence(`line ${line}, column ${column}${path.length ? ` in ${where}` : ""}: ${shorten(message)}`);
  return path.length ? `${where}: ${shorten(message)}.` : sentence(shorten(message));
}

/** @param {string} text */
export function sentence(text) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?…]$/.test(text) ? "" : "."}`;
}

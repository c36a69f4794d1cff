/** Errors in the events of a stream, as the page shows them. */

import { shorten } from "./escaping.js";
import { PathError, formatPath, parsePath } from "../js/src/paths.js";
import { isObject } from "../js/src/parse/values.js";

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
    path: typeof path === "string" ? pathOf(path) : [],
  };
}

/** @param {string} text */
function pathOf(text) {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof PathError) return [];
    throw error;
  }
}

/**
 * An error for people: its line and column first, a deep path shortened.
 * @param {import("./outline.js").Fault} fault
 */
export function describe({ code, message, line, column, path }) {
  if (line === undefined || column === undefined) return `${code}: ${message}`;
  const place = path.length ? `, in ${shorten(formatPath(path), 60)}` : "";
  return `${code}: line ${line}, column ${column}${place}: ${message}`;
}

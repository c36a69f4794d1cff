/** Errors in the events of a stream, as the page shows them. */

import { PathError, parsePath } from "../lib/paths.js";
import { isObject } from "../lib/values.js";

/**
 * @typedef {object} StreamError
 * @property {string} code
 * @property {string} message for people; no fact is read out of it
 * @property {number | null} offset in Unicode characters
 * @property {import("../lib/paths.js").Path} path
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

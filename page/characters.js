/** Offsets in a text. JavaScript counts UTF-16 units; jsonrill and people count characters. */

import { formatPath } from "../js/src/index.js";
import { shorten } from "./format.js";

/**
 * Return the number of units in the first characters of a text.
 * @param {string} text
 * @param {number} points
 */
export function unitsOf(text, points) {
  if (!/[\ud800-\udbff]/.test(text)) return points;
  let units = 0;
  for (let left = points; left > 0; left -= 1) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  return units;
}

/**
 * Name a place in a text: its line and column, both from 1, and its path. Columns count characters.
 * @param {string} text
 * @param {number} offset
 * @param {(string | number)[]} path
 */
export function describePlace(text, offset, path) {
  const lines = text.slice(0, offset).split("\n");
  return `line ${lines.length}, column ${[...(lines.at(-1) ?? "")].length + 1}, in ${shorten(formatPath(path), 80)}`;
}

/** Return how many backslashes a text ends with. @param {string} text */
export function countBackslashes(text) {
  let count = 0;
  while (text[text.length - 1 - count] === "\\") count += 1;
  return count;
}

/**
 * Return the offset of the quote that ends a string.
 * @param {string} text
 * @param {number} from
 */
export function closingQuote(text, from) {
  const pattern = /\\[^]|"/g;
  pattern.lastIndex = from;
  let match = pattern.exec(text);
  while (match !== null && match[0] !== '"') match = pattern.exec(text);
  return match?.index ?? text.length - 1;
}

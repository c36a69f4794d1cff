/** Cuts a text that came at once into pieces. */

import { skipCharacters } from "./escaping.js";

// More pieces than this are not told apart.
const MAX_RECORDS = 50_000;

/**
 * Cuts a text into pieces of this many Unicode characters, or larger ones if there were too many.
 * @param {string} text
 * @param {number} pieceSize
 */
export function pieces(text, pieceSize) {
  const size = Math.max(pieceSize, Math.ceil(text.length / MAX_RECORDS));
  /** @type {string[]} */
  const cut = [];
  for (let at = 0; at < text.length; ) {
    const end = skipCharacters(text, size, at);
    cut.push(text.slice(at, end));
    at = end;
  }
  return cut;
}

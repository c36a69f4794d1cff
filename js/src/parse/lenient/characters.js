/** Kinds of characters, the same as Python's: which letters, digits and spaces Unicode has. */

/** For a class in a pattern: white space. */
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const START = new RegExp(`^[${SPACE}]+`);
const END = new RegExp(`[${SPACE}]$`);
const ALL_SPACE = new RegExp(`^[${SPACE}]+$`);
const ALNUM = /^[\p{L}\p{N}]$/u;
const ALPHA = /^\p{L}$/u;

/** @param {string} text */
export const isSpace = (text) => ALL_SPACE.test(text);
/** @param {string} char */
export const isAlnum = (char) => ALNUM.test(char);
/** @param {string} char */
export const isAlpha = (char) => ALPHA.test(char);

/**
 * Text without white space around it.
 * @param {string} text
 */
export function trimmed(text) {
  return trimmedEnd(text.replace(START, ""));
}

/**
 * Text without white space at its end.
 * @param {string} text
 */
export function trimmedEnd(text) {
  let end = text.length;
  while (end > 0 && END.test(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

/**
 * The last character that is no white space; "" if there is none.
 * @param {string} text
 */
export function lastVisible(text) {
  return lastOf(trimmedEnd(text).slice(-2));
}

/**
 * The character at `pos`, both halves if it is a pair; "" after the end.
 * @param {string} text
 * @param {number} pos
 */
export function charAt(text, pos) {
  const code = text.codePointAt(pos);
  return code === undefined ? "" : String.fromCodePoint(code);
}

/**
 * True if a letter is at `pos`.
 * @param {string} text
 * @param {number} pos
 */
export function isLetter(text, pos) {
  return isAlpha(charAt(text, pos));
}

/**
 * The last character of a text; "" if there is none.
 * @param {string} text
 */
export function lastOf(text) {
  return [...text.slice(-2)].at(-1) ?? "";
}

/**
 * The end of the match of a sticky pattern at `pos`; -1 if there is none.
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} pos
 */
export function endOf(pattern, text, pos) {
  pattern.lastIndex = pos;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/**
 * Where a global pattern is found from `pos` on; -1 if it is not.
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} pos
 */
export function find(pattern, text, pos) {
  pattern.lastIndex = pos;
  return pattern.exec(text)?.index ?? -1;
}

/**
 * Where the white space of JSON ends that begins at `pos`.
 * @param {string} text
 * @param {number} pos
 */
export function spaceEnd(text, pos) {
  for (;;) {
    const code = text.charCodeAt(pos);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return pos;
    pos += 1;
  }
}

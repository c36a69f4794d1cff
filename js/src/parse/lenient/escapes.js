/**
 * A backslash that is not escaped: a path, a regular expression or a formula in a string.
 *
 * `{"p": "C:\docs\file.txt"}`: `\d` is no escape of JSON's, so backslashes are text in this string, and
 * `\f` is one, too. What decides is the text around it, never how the text was cut.
 */

import { charAt, endOf, isAlnum } from "./characters.js";
import {
  BACKSLASH_LAST,
  CONTROL,
  IN_REGEX,
  NETWORK,
  PATH,
  PATH_AFTER,
  PATH_CUT,
  PYTHON,
  PYTHON_CODE,
  PYTHON_CODE_CUT,
  REGEX,
  REGEX_AFTER,
  TEX,
  TEX_NAME,
  TEX_NAMES,
} from "./tables.js";

/**
 * True if the backslash at `pos` is text like one before it; null if more text must come to tell.
 * @param {string} whole the text of the string so far
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {boolean | null}
 */
export function isLiteral(whole, text, pos, last) {
  if (whole.startsWith(":\\", 1)) return true;
  // Since the first such backslash, with the character before it.
  const before = whole.slice(Math.max(whole.indexOf("\\") - 1, whole.length - 200, 0));
  const char = text[pos + 1];
  const after = pos + 1 + (char === "u" ? 5 : char === "x" ? 3 : 1);
  if (text.length < after + 2 && !last) return null;
  const controls = "bf".includes(char);
  if (!before.includes(" ") || controls) {
    if (REGEX.test(before)) return true;
    const follows = controls || endOf(REGEX_AFTER, text, after) >= 0;
    if (follows && BACKSLASH_LAST.test(before)) return true;
  }
  if (PATH.test(before)) {
    if (endOf(PATH_AFTER, text, pos + 1) >= 0) return true;
    const cut = endOf(PATH_CUT, text, pos + 1) >= 0 && text.length - pos < 80;
    if (cut) return last ? true : null;
  }
  if (!TEX.test(before)) return false;
  const end = endOf(TEX_NAME, text, pos + 1);
  if (end < 0) return false;
  const name = text.slice(pos + 1, end);
  if (end < text.length) return TEX_NAMES.includes(name) || text[end] === "{";
  if (name.length >= 24) return false;
  return last ? TEX_NAMES.some((one) => one.startsWith(name)) : null;
}

/**
 * True if the backslash at `pos`, the first that begins no escape, may not be text: it begins an escape
 * of another language or half of one, `\x41`, `\u{1F600}`, `\u20`, the end of a line, and in a text that
 * has quotes of Python's (`python`) `\0` and its like. Or the string has an escape before it that is
 * doubtful now. null if more text must come to tell.
 * @param {string} whole the text of the string so far
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @param {boolean} python
 */
export function isUnsure(whole, text, pos, last, python) {
  const char = charAt(text, pos + 1);
  if (char === "\r" || char === "\n" || text.startsWith("u{", pos + 1)) return true;
  if (isAlnum(char) && (CONTROL.test(whole) || endOf(NETWORK, whole, 0) >= 0)) return true;
  if (whole.slice(1) === ":" || IN_REGEX.test(whole.slice(-1))) return false;
  if (python && char !== "" && PYTHON.includes(char)) return true;
  const cut = endOf(PYTHON_CODE_CUT, text, pos + 1) >= 0 && !last;
  return cut ? null : endOf(PYTHON_CODE, text, pos + 1) >= 0;
}

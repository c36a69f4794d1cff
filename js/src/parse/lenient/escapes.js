/**
 * A backslash that is not escaped: a path, a regular expression or a formula in a string.
 *
 * `{"p": "C:\docs\file.txt"}`: `\d` is no escape of JSON's, so backslashes are text in this string, and
 * `\f` is one, too. What decides is the text around it, never how the text was cut.
 */

import { charAt, endOf, isAlnum, isAlpha } from "./characters.js";
import {
  BACKSLASH_LAST,
  PATH,
  PATH_AFTER,
  PATH_CUT,
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
 * @param {string} before the text of the string since the first such backslash, and a character more
 * @param {boolean} drive the string begins with `C:\`
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {boolean | null}
 */
export function isLiteral(before, drive, text, pos, last) {
  if (drive) return true;
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
 * What an escape of Python's stands for, from the letter at `pos` on, and where it ends; "" if it is
 * none, null if more text must come to tell. `\v` and `\0` may as well begin a name.
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {string | null}
 */
export function pythonEscape(text, pos, last) {
  const char = text[pos];
  const after = charAt(text, pos + 1);
  if (char === "x" || char === "U") {
    const end = endOf(PYTHON_CODE, text, pos);
    if (end < 0) return endOf(PYTHON_CODE_CUT, text, pos) >= 0 && !last ? null : "";
    const code = parseInt(text.slice(pos + 1, end), 16);
    return code < 0x110000 && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : "";
  }
  if (after === "" && !last) return null;
  if ("0v".includes(char) && !isAlnum(after)) return char === "0" ? "\0" : "\v";
  return char === "0" && isAlpha(after) ? "\0" : "";
}

/** What the readers and the splitter do with text. White space and words are those of Python. */

/** The white space of Python, for the class of a pattern. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BEFORE = new RegExp(`^[${SPACE}]+`);
const BEHIND = new RegExp(`[${SPACE}]+$`);

/** The source of a pattern for a character of a name. */
export const WORD = "[\\p{L}\\p{N}_.\\-]";

/** White space that is held back; with more of it a tag is text. */
export const MOST_SPACE = 1000;

/** @param {string} text */
export function trimStart(text) {
  return text.replace(BEFORE, "");
}

/** @param {string} text */
export function trim(text) {
  // Two steps: one pattern for the end alone would be tried at every space of a long text.
  let end = text.length;
  while (end > 0 && BEHIND.test(text[end - 1])) end -= 1;
  return trimStart(text.slice(0, end));
}

/**
 * How many characters at the end of the text, from `at` on, may be the beginning of the literal.
 * @param {string} text
 * @param {number} at
 * @param {string} literal
 */
export function overlap(text, at, literal) {
  for (let size = Math.min(literal.length - 1, text.length - at); size > 0; size -= 1) {
    if (text.endsWith(literal.slice(0, size))) return size;
  }
  return 0;
}

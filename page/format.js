/** Numbers, durations and untrusted text as people read them. */

// Control characters except tab and newline; bidirectional controls; zero-width spaces; line
// separators; lone surrogates; the tag block, which can hide text inside other text.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

/**
 * Replace each character that is invisible or reorders the text around it, for example with `‹U+202E›`.
 * @param {string} text
 */
export function escapeText(text) {
  return text.replace(INVISIBLE, (character) => {
    if (character === "\r") return "␍"; // every line of a Windows file has one
    const code = /** @type {number} */ (character.codePointAt(0));
    return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
  });
}

/**
 * Return the text, or its beginning and its end if it is longer than `limit`.
 * @param {string} text
 * @param {number} [limit]
 */
export function shorten(text, limit = 300) {
  if (text.length <= limit) return text;
  const rest = Math.round(limit * 0.3);
  return `${text.slice(0, limit - rest)} … ${text.slice(-rest)}`;
}

/**
 * Write 12345 as `12 345`, with narrow no-break spaces.
 * @param {number} number
 */
export function formatNumber(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * Write a count with its noun: `1 match`, `2 matches`.
 * @param {number} count
 * @param {string} singular
 * @param {string} [plural]
 */
export function formatCount(count, singular, plural = `${singular}s`) {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/**
 * Write 1234 milliseconds as `1.23 s`.
 * @param {number} milliseconds
 */
export function formatDuration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(2)} s`;
}

/**
 * Return the value of a JSON text; undefined if it is not JSON.
 * @param {string} text
 * @returns {any}
 */
export function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * @param {any} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

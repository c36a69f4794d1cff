/**
 * Text of strangers, made fit to be looked at: what would not be seen, or would change what is
 * seen around it, becomes a sign of its own. Nothing else is changed.
 */

// Controls but tab and newline; marks that reorder text; spaces without width; line separators;
// lone surrogates; characters of the tag block, which hide text inside of text.
const UNSEEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

/**
 * The text with a sign, `‹U+202E›`, for each character that cannot be seen; `␍` for a return.
 * @param {string} text
 * @returns {string}
 */
export function visible(text) {
  return text.replace(UNSEEN, sign);
}

/** @param {string} found */
function sign(found) {
  if (found === "\r") return "␍"; // at the end of each line of many a file
  const code = /** @type {number} */ (found.codePointAt(0));
  return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
}

/**
 * The text if it is short; else its beginning and its end, for a line that must stay one.
 * @param {string} text
 * @param {number} [most]
 */
export function brief(text, most = 300) {
  if (text.length <= most) return text;
  return `${text.slice(0, cut(text, most - 100))} … ${text.slice(cut(text, text.length - 90))}`;
}

/**
 * A place near this one that is not inside of a surrogate pair.
 * @param {string} text
 * @param {number} at
 */
export function cut(text, at) {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

/**
 * Where in a JavaScript string a number of characters ends, as Python and RFC 8259 count them.
 * @param {string} text
 * @param {number} characters
 * @returns {number}
 */
export function unitsOf(text, characters) {
  let at = 0;
  for (let left = characters; left > 0 && at < text.length; left -= 1) {
    const code = /** @type {number} */ (text.codePointAt(at));
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

/**
 * 12345 as `12 345`, 20480 bytes as `20.0 KB`.
 * @param {number} bytes
 */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** @param {number} number */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function counted(number, one, many = one + "s") {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

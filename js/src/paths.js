/**
 * Where a value sits in a document: an array of keys (strings) and indices (numbers); the root
 * is `[]`. Two spellings: text (`root.users[1]["a.b"]`, one-to-one with the array) and JSON Pointer
 * (RFC 6901, read against a value).
 */

import { isObject } from "./parse/values.js";
import { formatPath } from "./parse/path-text.js";

export { formatPath } from "./parse/path-text.js";

/** @typedef {(string | number)[]} Path */

// A name, an index, a quoted key, any key, any index.
const STEP = /\.([A-Za-z_][A-Za-z0-9_]*)|\[(0|[1-9][0-9]*)\]|\[(")|(\.\*)|(\[\*\])/y;
const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** A text that is no path, or a pointer that leads nowhere. */
export class PathError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "PathError";
  }
}

// The elements of a list as ijson writes them: items.item.id. A key may be called item, too.
const IJSON = /([A-Za-z_]\w*s)\.item(?=\.|$)/;

/** Any key of an object, in a pattern. */
export const ANY_KEY = Symbol("any key");
/** Any index of an array, in a pattern. */
export const ANY_INDEX = Symbol("any index");

/** @typedef {(string | number | symbol)[]} Pattern */

/**
 * The inverse of `formatPath`; PathError when `text` is no path. `root.` may be left out.
 * @param {string} text
 * @returns {Path}
 */
export function parsePath(text) {
  const steps = parsePattern(text);
  if (steps.some((step) => typeof step === "symbol")) {
    throw new PathError(`a path without wildcards is wanted here, not ${JSON.stringify(text)}`);
  }
  return /** @type {Path} */ (steps);
}

/**
 * `days[*].title` as `["days", ANY_INDEX, "title"]`; `root.` may be left out.
 * @param {string} text
 * @returns {Pattern}
 */
export function parsePattern(text) {
  if (text === "root") return [];
  const item = IJSON.exec(text);
  if (item !== null && !/^root[.[]/.test(text)) {
    const list = text.slice(0, item.index + item[1].length);
    const meant = `${list}[*]${text.slice(item.index + item[0].length)}`;
    throw new PathError(
      `not a path: ${JSON.stringify(text)}; for any element write \`${meant}\`, for a key \`item\` \`${list}["item"]\``,
    );
  }
  let rest = text;
  if (/^root[.[]/.test(text)) rest = text.slice(4);
  else if (!text.startsWith("[")) rest = "." + text;
  /** @type {Pattern} */
  const steps = [];
  for (let at = 0; at < rest.length; ) {
    STEP.lastIndex = at;
    const match = STEP.exec(rest);
    if (match === null) {
      const start = Math.max(0, at + text.length - rest.length);
      throw new PathError(`not a path: ${JSON.stringify(text)}${remedy(text, start)}`);
    }
    at = STEP.lastIndex;
    if (match[1] !== undefined) {
      steps.push(match[1]);
    } else if (match[2] !== undefined) {
      steps.push(index(match[2], text));
    } else if (match[3] !== undefined) {
      const [key, end] = unquoted(rest, at - 1);
      steps.push(key);
      at = end;
    } else {
      steps.push(match[4] === undefined ? ANY_INDEX : ANY_KEY);
    }
  }
  return steps;
}

/**
 * What to write instead of a text that is not a path from `start` on.
 * @param {string} text
 * @param {number} start
 */
function remedy(text, start) {
  if (text.startsWith("$")) return `; leave out \`${text.slice(0, 2)}\``;
  if (text.startsWith("[]", start)) return "; for any element write `[*]`";
  if (text.startsWith(".*")) return "; for any key write `*`";
  if (text.startsWith(".") && text.includes("[]")) return `; write \`${text.slice(1).replaceAll("[]", "[*]")}\``;
  if (/^\.[0-9]/.test(text.slice(start))) return "; for an element write `[0]`";
  if (text.startsWith("/") || text.startsWith(".")) return "; write it like `days[0].title`";
  return `, from ${JSON.stringify(text.slice(start))} on`;
}

/**
 * True if a path with `step` fits a pattern with `want` there; `step` may be a wildcard too.
 * @param {string | number | symbol} want
 * @param {string | number | symbol} step
 */
export function fits(want, step) {
  if (want === step) return true;
  return want === (typeof step === "number" ? ANY_INDEX : typeof step === "string" ? ANY_KEY : "");
}

/**
 * @param {string} digits
 * @param {string} where
 */
function index(digits, where) {
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) {
    throw new PathError(`too large an index: ${JSON.stringify(where)}`);
  }
  return number;
}

/**
 * Where the JSON string that begins at `start` ends, just behind its quote; -1 if it does not.
 * @param {string} text
 * @param {number} start
 */
function endOfString(text, start) {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

/**
 * @param {string} text
 * @param {number} start where its quote is
 * @returns {[string, number]} the key, and where the path goes on
 */
function unquoted(text, start) {
  const end = endOfString(text, start);
  if (end === -1 || text[end] !== "]") {
    throw new PathError(`not a path: a quoted key in ${JSON.stringify(text)} does not end`);
  }
  try {
    return [JSON.parse(text.slice(start, end)), end + 1];
  } catch {
    throw new PathError(`not a path: a key in ${JSON.stringify(text)} is not a JSON string`);
  }
}

/**
 * `["a/b", 0]` as the JSON Pointer `/a~1b/0`.
 * @param {Path} path
 * @returns {string}
 */
export function toPointer(path) {
  return path.map((step) => "/" + String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/**
 * The path a JSON Pointer means in `value`: a digit token is an index only in an array.
 *
 * The last token may name a member or element that is not there yet; `-` is the element after
 * the last one. Anything else that leads nowhere is a PathError.
 * @param {string} pointer
 * @param {any} value
 * @returns {Path}
 */
export function fromPointer(pointer, value) {
  if (pointer && !pointer.startsWith("/")) {
    throw new PathError(`a JSON Pointer is empty or starts with '/': ${JSON.stringify(pointer)}`);
  }
  /** @type {Path} */
  const path = [];
  const tokens = pointer.split("/").slice(1);
  tokens.forEach((token, number) => {
    const step = stepOf(token, value, path);
    path.push(step);
    if (Object.hasOwn(value, step)) value = value[step];
    else if (number + 1 < tokens.length) throw new PathError(`there is no ${formatPath(path)}`);
  });
  return path;
}

/**
 * @param {string} token
 * @param {any} value
 * @param {Path} path
 */
function stepOf(token, value, path) {
  if (/~(?![01])/.test(token)) {
    throw new PathError(`'~' must be followed by 0 or 1 in a JSON Pointer: ${token}`);
  }
  if (Array.isArray(value)) {
    if (token === "-") return value.length;
    if (!INDEX.test(token)) {
      throw new PathError(`${JSON.stringify(token)} is no index of the array at ${formatPath(path)}`);
    }
    return index(token, token);
  }
  if (!isObject(value)) throw new PathError(`${formatPath(path)} is neither an object nor an array`);
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

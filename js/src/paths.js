/**
 * Where a value is in a document: an array of keys (strings) and indices (numbers); the root is `[]`.
 * As text `root.users[1]["a.b"]`, where `root.` may be left out.
 */

/** @typedef {(string | number)[]} Path */
/** @typedef {(string | number | symbol)[]} Pattern */

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
// A name or any key; in brackets an index, a quoted key or any index.
const STEP = /\.([A-Za-z_][A-Za-z0-9_]*|\*)|\[(0|[1-9]\d{0,14}|"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|\*)\]/g;

/** Any key of an object, in a pattern. */
export const ANY_KEY = Symbol("any key");
/** Any index of an array, in a pattern. */
export const ANY_INDEX = Symbol("any index");

/**
 * Format `["users", 1, "a.b"]` as `root.users[1]["a.b"]`.
 * @param {Path} path
 * @returns {string}
 */
export function formatPath(path) {
  return "root" + path.map(stepText).join("");
}

/**
 * Format a path for messages. A long one is shortened to its beginning and its end.
 * @param {Path} path
 */
export function shortPath(path) {
  return formatPath(path).replace(/^([^]{60})[^]+([^]{60})$/, "$1…$2");
}

/**
 * Format `["a/b", 0]` as the JSON Pointer `/a~1b/0`.
 * @param {Path} path
 */
export function toPointer(path) {
  return path.map((step) => "/" + String(step).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/** @param {string | number} step */
function stepText(step) {
  if (typeof step === "number") return `[${step}]`;
  return NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/**
 * Parse a path that `formatPath` writes; throw TypeError for anything else.
 * @param {string} text
 * @returns {Path}
 */
export function parsePath(text) {
  const steps = parsePattern(text);
  if (steps.some((step) => typeof step === "symbol")) {
    throw new TypeError(`not a path without wildcards: ${text}`);
  }
  return /** @type {Path} */ (steps);
}

/**
 * Parse `days[*].title` as `["days", ANY_INDEX, "title"]`.
 * @param {string} text
 * @returns {Pattern}
 */
export function parsePattern(text) {
  /** @type {Pattern} */
  const steps = [];
  const rest = String(text)
    .replace(/^root(?=[.[]|$)|^(?!\[)/, (root) => (root ? "" : "."))
    .replace(STEP, (_, name, inner) => {
      if (name === "*") steps.push(ANY_KEY);
      else if (inner === "*") steps.push(ANY_INDEX);
      else steps.push(name ?? JSON.parse(inner));
      return "";
    });
  if (typeof text === "string" && rest === "") return steps;
  const remedy = String(text).includes("[]") ? "for any element write `[*]`" : "write it like `days[0].title`";
  throw new TypeError(`not a path: ${JSON.stringify(text)}; ${remedy}`);
}

/**
 * Return true if a path with `step` fits a pattern with `want` there.
 * @param {string | number | symbol} want
 * @param {string | number} step
 */
export function fits(want, step) {
  return want === step || want === (typeof step === "number" ? ANY_INDEX : ANY_KEY);
}

/**
 * Return the value at `path` in `value`; undefined if there is none.
 * @param {any} value
 * @param {Path} path
 */
export function lookup(value, path) {
  for (const step of path) {
    const isThere = Array.isArray(value) ? typeof step === "number" : typeof step === "string";
    if (!isThere || typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/**
 * Return true if there is a complete value at `path`. `openPath` is the path of the open value; null if there is none.
 * @param {any} value
 * @param {Path | string} path
 * @param {Path | null} openPath
 */
export function isComplete(value, path, openPath) {
  const steps = typeof path === "string" ? parsePath(path) : path;
  if (openPath !== null && steps.every((step, at) => step === openPath[at])) return false;
  return lookup(value, steps) !== undefined;
}

/**
 * Values at JSONPaths, in document order → compact JSON text that only grows.
 *
 * For providers that send values instead of text. One chain of containers and at most one string are
 * open; a path that lies elsewhere closes them. Closed containers cannot grow: a part that would need
 * that is an error, and leaves the text as it was. For example, these parts write this text:
 *
 *     $.city = "Par", more follows    {"city":"Par
 *     $.city = "is"                   is"
 *     $.days[0] = 1                   ,"days":[1
 *     close()                         ]}
 */

import { quoted } from "../errors.js";
import { formatPath } from "../parse/path-text.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("./statements.js").ArgumentPart} ArgumentPart */
/**
 * An open container: the step that leads to it, and what it has so far.
 * @typedef {{step: string | number | null, isObject: boolean, keys: Set<string>, length: number}} Container
 */

// RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
const STEP = /\.([^.[\]'"\s*]+)|\[([0-9]{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/suy;
const CONTROL = /[\x00-\x1f]/g;

/** Parts that do not follow what has been written. */
export class WriterError extends Error {}

/** Writes one document: `write` its parts as they come, then `close` it. */
export class Writer {
  /** @type {Container[]} */
  #open = [];
  /** The path of the open string. @type {string | null} */
  #string = null;
  #started = false;

  /**
   * The text that this part adds.
   * @param {ArgumentPart} part
   */
  write(part) {
    const { path, isArray } = readPath(part.path);
    const { value, more } = part;
    if (this.#string !== null && formatPath(path) === this.#string) return this.#more(part);
    if (value === undefined) {
      if (more || this.#knows(path)) return "";
      return this.#place(path) + this.#begin(path.at(-1) ?? null, !isArray);
    }
    const text = this.#place(path) + JSON.stringify(value);
    if (!more || typeof value !== "string") return text;
    this.#string = formatPath(path);
    return text.slice(0, -1);
  }

  /** The text that ends the document. */
  close() {
    const text = this.#leaveString() + this.#closeTo(0);
    if (this.#started) return text;
    this.#started = true;
    return "{}";
  }

  /** More of the open string, or its end. @param {ArgumentPart} part */
  #more({ path, value, more }) {
    if (value !== undefined && typeof value !== "string") {
      throw new WriterError(`${path} is a string that has not ended`);
    }
    const text = value === undefined ? "" : JSON.stringify(value).slice(1, -1);
    return more ? text : text + this.#leaveString();
  }

  #leaveString() {
    const wasOpen = this.#string !== null;
    this.#string = null;
    return wasOpen ? '"' : "";
  }

  /** True if something has been written at `path`. @param {Path} path */
  #knows(path) {
    const common = this.#common(path);
    if (common === path.length) return this.#started;
    return common < this.#open.length && has(this.#open[common], path[common]);
  }

  /** How many steps of `path` lead through open containers. @param {Path} path */
  #common(path) {
    let common = 0;
    while (common < path.length && this.#open[common + 1]?.step === path[common]) common += 1;
    return common;
  }

  /** The text before a value at `path`: what closes and opens, commas and keys. @param {Path} path */
  #place(path) {
    const common = Math.min(this.#common(path), Math.max(path.length - 1, 0));
    this.#check(path, common);
    let text = this.#leaveString();
    if (this.#started) text += this.#closeTo(common + 1);
    else if (path.length) text = this.#begin(null, typeof path[0] === "string");
    this.#started = true;
    for (let at = common; at < path.length; at += 1) {
      text += this.#member(path[at]);
      if (at + 1 < path.length) text += this.#begin(path[at], typeof path[at + 1] === "string");
    }
    return text;
  }

  /**
   * Throw if no value can be appended at `path`. Changes nothing.
   * @param {Path} path
   * @param {number} common
   */
  #check(path, common) {
    const written = () => new WriterError(`${formatPath(path)} has already been written`);
    if (this.#started && (path.length === 0 || this.#open.length === 0)) throw written();
    /** @type {Container | null} */
    let parent = this.#started ? this.#open[common] : null;
    for (const step of path.slice(common)) {
      const fits = parent === null || (typeof step === "string") === parent.isObject;
      if (!fits || (typeof step === "number" && step > (parent?.length ?? 0))) {
        throw new WriterError(`${formatPath(path)} does not follow what has been written`);
      }
      if (parent !== null && has(parent, step)) throw written();
      parent = null;
    }
  }

  /** @param {string | number} step */
  #member(step) {
    const parent = this.#open[this.#open.length - 1];
    const comma = parent.length ? "," : "";
    parent.length += 1;
    if (typeof step === "number") return comma;
    parent.keys.add(step);
    return `${comma}${JSON.stringify(step)}:`;
  }

  /**
   * @param {string | number | null} step
   * @param {boolean} isObject
   */
  #begin(step, isObject) {
    this.#open.push({ step, isObject, keys: new Set(), length: 0 });
    return isObject ? "{" : "[";
  }

  /** The text that closes all open containers but the first `count`. @param {number} count */
  #closeTo(count) {
    const closed = this.#open.splice(count).reverse();
    return closed.map(({ isObject }) => (isObject ? "}" : "]")).join("");
  }
}

/**
 * @param {Container} container
 * @param {string | number} step
 */
function has(container, step) {
  return typeof step === "string" ? container.keys.has(step) : step < container.length;
}

/**
 * The path of `$.a['b'][0]`, and whether a trailing `[]` says that an array is there.
 * @param {string} text
 */
function readPath(text) {
  const isArray = text.endsWith("[]");
  const end = isArray ? text.length - 2 : text.length;
  const read = text.slice(0, end);
  /** @type {(string | number)[]} */
  const path = [];
  STEP.lastIndex = read.startsWith("$") ? 1 : 0;
  while (STEP.lastIndex < end) {
    const match = STEP.exec(read);
    if (match === null) throw new WriterError(`not a JSONPath to one value: ${quoted(text)}`);
    const [, name, index, single, double] = match;
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? keyOf(single?.replaceAll("\\'", "'").replaceAll('"', '\\"') ?? double));
  }
  return { path, isArray };
}

/** The key that is written so between quotes. @param {string} text */
function keyOf(text) {
  if (!text.includes("\\")) return text;
  const escaped = (/** @type {string} */ char) => `\\u00${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
  try {
    return /** @type {string} */ (JSON.parse(`"${text.replace(CONTROL, escaped)}"`));
  } catch {
    throw new WriterError(`not a key: ${quoted(text)}`);
  }
}

/** Arguments that arrive as values at JSONPaths. */

import { InvalidJSON } from "../errors.js";
import { copyOf, put } from "../parse/values.js";

/** @import { ArgumentPart } from "../providers/statements.js" */

// RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
const STEP = /\.([^.[\]'"\s*]+)|\[([0-9]{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/suy;

/**
 * Return the value with this part: containers on its path are copied, and text is appended to a string. Throws
 * InvalidJSON if the path does not fit the value.
 * @param {any} value
 * @param {ArgumentPart} part
 */
export function assign(value, { path, value: part }) {
  const isArray = path.endsWith("[]");
  const steps = readPath(isArray ? path.slice(0, -2) : path);
  const root = { value };
  /** @type {any} */
  let parent = root;
  /** @type {string | number} */
  let key = "value";
  for (const step of steps) {
    const previous = Object.hasOwn(parent, key) ? parent[key] : undefined;
    const inner = previous === undefined ? (typeof step === "number" ? [] : {}) : previous;
    const isObject = typeof inner === "object" && inner !== null && !Array.isArray(inner);
    const fits = typeof step === "number" ? Array.isArray(inner) && step <= inner.length : isObject;
    if (!fits) throw new InvalidJSON(`${path} does not follow the values before it`);
    put(parent, key, copyOf(inner));
    parent = parent[key];
    key = step;
  }
  const previous = Object.hasOwn(parent, key) ? parent[key] : undefined;
  if (part === undefined) put(parent, key, previous ?? (isArray ? [] : {}));
  else put(parent, key, typeof previous === "string" && typeof part === "string" ? previous + part : part);
  return root.value;
}

/** @param {string} path */
function readPath(path) {
  const steps = [];
  STEP.lastIndex = path.startsWith("$") ? 1 : 0;
  for (let match = STEP.exec(path); match !== null; match = STEP.exec(path)) {
    const [, name, index, single, double] = match;
    steps.push(index === undefined ? (name ?? (single ?? double).replace(/\\(.)/gs, "$1")) : Number(index));
  }
  return steps;
}

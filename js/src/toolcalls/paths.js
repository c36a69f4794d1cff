/** Arguments that come as values at JSONPaths. */

import { copyOf, put } from "../parse/values.js";

/** @import { ArgumentPart } from "../providers/statements.js" */

// RFC 9535, normalized paths and the shorthand: .name, [0], ['key'], ["key"].
const STEP = /\.([^.[\]'"\s*]+)|\[([0-9]{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/suy;

/**
 * The value with this part; what is on its path is copied. More of a string is appended to it.
 * @param {any} value
 * @param {ArgumentPart} part
 */
export function assign(value, { path, value: part }) {
  const isArray = path.endsWith("[]");
  const steps = readPath(isArray ? path.slice(0, -2) : path);
  const root = { value };
  /** @type {any} */
  let holder = root;
  /** @type {string | number} */
  let key = "value";
  for (const step of steps) {
    const inner = Object.hasOwn(holder, key) ? holder[key] : undefined;
    const isThere = typeof inner === "object" && inner !== null;
    put(holder, key, isThere ? copyOf(inner) : typeof step === "number" ? [] : {});
    holder = holder[key];
    key = step;
  }
  const before = Object.hasOwn(holder, key) ? holder[key] : undefined;
  if (part === undefined) put(holder, key, before ?? (isArray ? [] : {}));
  else put(holder, key, typeof before === "string" && typeof part === "string" ? before + part : part);
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

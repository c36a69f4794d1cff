/**
 * The API of the package `partial-json`, and `parsePartialJson` of the AI SDK's shape: called with
 * all the text so far, again and again, they read only what is new.
 */

import { ALL, ARR, BOOL, NULL, NUM, OBJ, OneText, PartialJSON, STR } from "./lenient-json.js";
import { Reader, remembered } from "./remembered.js";

export * from "./lenient-json.js";

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const UNSAFE = /"__proto__"\s*:|"constructor"\s*:\s*\{[^}]*"prototype"\s*:/;

/**
 * What `parsePartialJson` gives.
 * @typedef {{value: any, state: "undefined-input" | "successful-parse" | "repaired-parse"
 *   | "failed-parse"}} PartialJsonResult
 */

/**
 * The value of a text that may stop anywhere; `allow` says what may be incomplete.
 * @param {string} text
 * @param {number} [allow]
 * @returns {any}
 */
export function parse(text, allow = ALL) {
  if (typeof text !== "string") throw new TypeError(`expecting str, got ${typeof text}`);
  const trimmed = text.trim();
  if (trimmed === "") throw new Error(`${text} is empty`);
  const reader = remembered(trimmed);
  const tree = reader?.tree;
  const isOdd = tree === undefined || tree.isOdd || tree.containers.length === 0;
  if (reader === null || isOdd || (reader.failed && !tree.done)) {
    return new OneText(trimmed, allow).value();
  }
  if (tree.done) return tree.value([]);
  const kinds = tree.opened.map((at) => (Array.isArray(tree.containers[at]) ? ARR : OBJ));
  const closed = kinds.findIndex((kind) => !(kind & allow));
  if (closed === 0) throw new PartialJSON(`Expected '${kinds[0] === ARR ? "]" : "}"}' at position ${trimmed.length}`);
  if (closed > 0) return tree.value([], closed);
  return tree.value(pending(reader, allow));
}

export { parse as parseJSON };

/**
 * The value that is being read, in a list, if it is shown.
 * @param {Reader} reader
 * @param {number} allow
 * @returns {any[]}
 */
function pending(reader, allow) {
  if (reader.tree.string !== null) return allow & STR ? [reader.openText] : [];
  const { half } = reader;
  if (half === null) return [];
  if (/^[tf]/.test(half)) return allow & BOOL ? [half[0] === "t"] : [];
  if (half[0] === "n") return allow & NULL ? [null] : [];
  return allow & NUM ? number(/e[-+]?$/.test(half) ? half.slice(0, half.lastIndexOf("e")) : half) : [];
}

/** @param {string} text @returns {number[]} */
function number(text) {
  return /[0-9]$/.test(text) ? [Number(text)] : [];
}

/**
 * As the AI SDK's: the value of a text that may stop anywhere, and how it was read.
 * @param {string | undefined} text
 * @returns {Promise<PartialJsonResult>}
 */
export async function parsePartialJson(text) {
  if (text === undefined) return { value: undefined, state: "undefined-input" };
  const reader = remembered(text) ?? readOnce(text);
  const { tree } = reader;
  /** @type {PartialJsonResult} */
  const failed = { value: undefined, state: "failed-parse" };
  // The AI SDK reads no text that could change the prototype of an object.
  if (UNSAFE.test(text)) return failed;
  if (tree.done) {
    return { value: tree.value([]), state: reader.failed ? "repaired-parse" : "successful-parse" };
  }
  const shown = reader.failed ? [] : completed(reader);
  const isRoot = tree.containers.length === 0;
  if (reader.failed || (isRoot && shown.length === 0)) return failed;
  if (!isRoot && reader.half === "-" && Array.isArray(tree.inner) && tree.inner.length === 0) return failed;
  if (isRoot && reader.half !== null && NUMBER.test(reader.half)) {
    return { value: Number(reader.half), state: "successful-parse" };
  }
  return { value: tree.value(shown), state: "repaired-parse" };
}

/** @param {string} text */
function readOnce(text) {
  const reader = new Reader();
  reader.readTo(text);
  return reader;
}

/**
 * The value that is being read, in a list: the AI SDK completes literals and cuts numbers.
 * @param {Reader} reader
 * @returns {any[]}
 */
function completed(reader) {
  const { half, tree } = reader;
  if (tree.string !== null) return [reader.openText];
  if (half === null) return [];
  if (half[0] === "n") return [null];
  if (/^[tf]/.test(half)) return [half[0] === "t"];
  // It does not expect a plus in a number: in an object, what follows is not looked at.
  const plus = half.indexOf("+");
  const known = plus < 0 || (Array.isArray(tree.inner) && NUMBER.test(half)) ? half : half.slice(0, plus);
  return number(known.replace(/[-.eE]+$/, ""));
}

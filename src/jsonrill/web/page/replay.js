/**
 * A text that somebody pasted or dropped → what it is, and the records it is published as. No DOM.
 */

import { SSEDecoder } from "../lib/sse.js";
import { isObject } from "../lib/values.js";

/** @typedef {"text" | "many" | "snapshots" | "events" | "sse"} Kind */
/** @typedef {{provider: string | null, calls: boolean}} Recognised */
/** @typedef {{options: Record<string, any>, lines: string[], input: string, many: boolean,
 *   suits: string}} Plan */

// A stream of the server has at most 100 000 records.
const MOST_RECORDS = 50_000;
const SSE_LINE = /^(?:data|event|id|retry)?:/;
// So many characters of the lines are enough to recognise a provider.
const ENOUGH = 30_000;

export const KIND_NAMES = {
  text: "JSON text",
  many: "several documents",
  snapshots: "snapshots",
  events: "provider events",
  sse: "a provider's event stream",
};

/**
 * What this text most likely is, and whether it has tool calls. Whose events they are is known to
 * the server alone.
 * @param {string} text
 * @param {Kind | "auto"} chosen
 * @param {(lines: string[]) => Promise<Recognised>} recognise asks the server about the first lines
 * @returns {Promise<{kind: Kind, calls: boolean}>}
 */
export async function detect(text, chosen, recognise) {
  const kind = chosen === "auto" ? likely(text) : chosen;
  const lines = kind === "sse" ? dataOf(text) : linesOf(text);
  const asks = chosen === "auto" ? kind === "sse" || areObjects(lines) : kind === "sse" || kind === "events";
  if (kind === "text" || !asks) return { kind, calls: false };
  const { provider, calls } = await recognise(beginning(lines));
  return { kind: chosen === "auto" && kind !== "sse" && provider !== null ? "events" : kind, calls };
}

/**
 * @param {string} text
 * @returns {Kind}
 */
function likely(text) {
  const lines = linesOf(text);
  if (lines.length > 1 && lines.every((line) => SSE_LINE.test(line))) return "sse";
  if (parsed(text) !== undefined || lines.length < 2) return "text";
  const values = lines.map(parsed);
  const whole = values.filter((value) => value !== undefined);
  // A log may have a broken line, and is often cut off in its last one.
  if (whole.length < values.length) return isLog(values[0], whole.length, lines.length) ? "many" : "text";
  return growing(values) ? "snapshots" : "many";
}

/** @param {string[]} lines */
function areObjects(lines) {
  return lines.every((line) => isObject(parsed(line)));
}

/** @param {string[]} lines */
function beginning(lines) {
  let left = ENOUGH;
  return lines.filter((line) => (left -= line.length) >= 0);
}

/**
 * @param {any} first
 * @param {number} whole so many lines are JSON
 * @param {number} all
 */
function isLog(first, whole, all) {
  return typeof first === "object" && first !== null && 2 * whole >= all;
}

/**
 * @param {string} text
 * @returns {any} undefined if it is not JSON
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Does each value hold at least the keys of the one before it, and say more in the end?
 * @param {any[]} values
 */
function growing(values) {
  const grows = values.every((value, at) => at === 0 || holds(value, values[at - 1]));
  return grows && JSON.stringify(values.at(-1)).length > JSON.stringify(values[0]).length;
}

/**
 * @param {any} later
 * @param {any} earlier
 */
function holds(later, earlier) {
  if (Array.isArray(later)) return Array.isArray(earlier) && later.length >= earlier.length;
  if (!isObject(later) || !isObject(earlier)) return false;
  return Object.keys(earlier).every((key) => Object.hasOwn(later, key));
}

/**
 * How to publish it, cut into pieces of so many characters where it is text.
 * @param {string} text
 * @param {Kind} kind
 * @param {number} piece
 * @param {boolean} [calls] whether it has tool calls
 * @returns {Plan}
 */
export function plan(text, kind, piece, calls = false) {
  const many = kind === "many";
  if (kind === "text" || many) {
    const lines = pieces(text, piece).map((part) => JSON.stringify(part));
    return { options: many ? { many } : {}, lines, input: "text", many, suits: "fragments" };
  }
  const lines = kind === "sse" ? dataOf(text) : linesOf(text);
  const input = kind === "snapshots" ? "snapshots" : "events";
  return { options: { input }, lines, input, many: false, suits: calls ? "calls" : "fragments" };
}

/**
 * Text in pieces of so many characters; no character is cut in two.
 * @param {string} text
 * @param {number} piece
 */
export function pieces(text, piece) {
  const size = Math.max(piece, Math.ceil(text.length / MOST_RECORDS));
  /** @type {string[]} */
  const found = [];
  for (let at = 0; at < text.length; ) {
    let end = at;
    for (let left = size; left > 0 && end < text.length; left -= 1) {
      end += /** @type {number} */ (text.codePointAt(end)) > 0xffff ? 2 : 1;
    }
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

/** @param {string} text */
function linesOf(text) {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
}

/** @param {string} text */
function dataOf(text) {
  const events = new SSEDecoder().feed(text + "\n\n");
  return events
    .map((event) => event.data.replace(/[\r\n]+/g, " "))
    .filter((data) => isObject(parsed(data)));
}

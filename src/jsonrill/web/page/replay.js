/**
 * A text that somebody pasted or dropped → what it is, and the records it is published as. No DOM.
 */

import { SSEDecoder } from "../lib/sse.js";
import { isObject } from "../lib/values.js";

/** @typedef {"text" | "many" | "snapshots" | "events" | "sse"} Kind */
/** @typedef {{options: Record<string, any>, lines: string[], input: string, many: boolean,
 *   suits: string}} Plan */

// A stream of the server has at most 100 000 records.
const MOST_RECORDS = 50_000;
const SSE_LINE = /^(?:data|event|id|retry)?:/;
// What only providers' events have; and what anybody's records may have, where its value tells.
const EVENT_KEYS = [
  ...["choices", "candidates", "event_type", "messageStart", "messageStop"],
  ...["contentBlockStart", "contentBlockDelta", "contentBlockStop"],
];
const VAGUE_KEYS = ["type", "kind", "metadata"];
const EVENT_TYPES =
  /^(?:(?:message|content|response|conversation|function|tools?|agent)[._]|text-|tool-|start-step|RUN_|TEXT_|TOOL_)/;
const TOOLS = /tool|function_?call/i;

export const KIND_NAMES = {
  text: "JSON text",
  many: "several documents",
  snapshots: "snapshots",
  events: "provider events",
  sse: "a provider's event stream",
};

/**
 * What this text most likely is.
 * @param {string} text
 * @returns {Kind}
 */
export function detect(text) {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
  if (lines.length > 1 && lines.every((line) => SSE_LINE.test(line))) return "sse";
  if (parsed(text) !== undefined || lines.length < 2) return "text";
  const values = lines.map(parsed);
  const whole = values.filter((value) => value !== undefined);
  // A log may have a broken line, and is often cut off in its last one.
  if (whole.length < values.length) return isLog(values[0], whole.length, lines.length) ? "many" : "text";
  if (values.every(isEvent) && values.some(isProviders)) return "events";
  return growing(values) ? "snapshots" : "many";
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

/** @param {any} value */
function isEvent(value) {
  return isObject(value) && [...EVENT_KEYS, ...VAGUE_KEYS].some((key) => Object.hasOwn(value, key));
}

/** @param {any} event */
function isProviders(event) {
  if (EVENT_KEYS.some((key) => Object.hasOwn(event, key))) return true;
  return EVENT_TYPES.test(String(event.type ?? event.kind));
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
 * @returns {Plan}
 */
export function plan(text, kind, piece) {
  const many = kind === "many";
  if (kind === "text" || many) {
    const lines = pieces(text, piece).map((part) => JSON.stringify(part));
    return { options: many ? { many } : {}, lines, input: "text", many, suits: "fragments" };
  }
  const lines = kind === "sse" ? dataOf(text) : linesOf(text);
  const input = kind === "snapshots" ? "snapshots" : "events";
  const suits = input === "events" && lines.some((line) => TOOLS.test(line)) ? "calls" : "fragments";
  return { options: { input }, lines, input, many: false, suits };
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

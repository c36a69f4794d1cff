/** Detects the format of a pasted or dropped text, and turns it into pieces. No DOM. */

import { skipCharacters } from "./escaping.js";
import { SSEDecoder } from "../lib/sse.js";
import { isObject } from "../lib/values.js";

/** @typedef {"text" | "many" | "snapshots" | "events" | "sse"} Format */
/** @typedef {{provider: string | null, calls: boolean}} Recognised */
/**
 * @typedef {object} Plan
 * @property {string[]} sources pieces of text, events or snapshots
 * @property {{input: string, many: boolean}} stream
 * @property {string} suits the format of the pane that shows it best
 */

// More pieces than this are not told apart.
const MAX_RECORDS = 50_000;
const SSE_LINE = /^(?:data|event|id|retry)?:/;
// This many characters are enough to recognise a provider.
const SAMPLE = 30_000;

/**
 * The format of a text, and whether it contains tool calls. Only the server knows the providers, so
 * it is asked about lines that may be events.
 * @param {string} text
 * @param {Format | "auto"} chosen
 * @param {(lines: string[]) => Promise<Recognised>} recognise asks the server about the first lines
 * @returns {Promise<{format: Format, calls: boolean}>}
 */
export async function detect(text, chosen, recognise) {
  const isAuto = chosen === "auto";
  const format = isAuto ? guess(text) : chosen;
  const lines = recordsOf(text, format);
  const mayBeEvents = isAuto && format !== "text" && lines.every((line) => isObject(parsed(line)));
  if (format !== "sse" && format !== "events" && !mayBeEvents) return { format, calls: false };
  let left = SAMPLE;
  const sample = lines.filter((line) => (left -= line.length) >= 0);
  const { provider, calls } = await recognise(sample);
  return { format: provider !== null && mayBeEvents && format !== "sse" ? "events" : format, calls };
}

/**
 * The most likely format, as far as it shows without knowledge of providers.
 * @param {string} text
 * @returns {Format}
 */
function guess(text) {
  const lines = linesOf(text);
  if (lines.length > 1 && lines.every((line) => SSE_LINE.test(line))) return "sse";
  if (lines.length < 2 || parsed(text) !== undefined) return "text";
  const values = lines.map(parsed);
  const valid = values.filter((value) => value !== undefined);
  if (valid.length === values.length) return areGrowing(values) ? "snapshots" : "many";
  // NDJSON may have a broken line, and is often cut off in its last one.
  const isBrokenLog = isContainer(values[0]) && 2 * valid.length >= lines.length;
  return isBrokenLog ? "many" : "text";
}

/** @param {any} value */
function isContainer(value) {
  return Array.isArray(value) || isObject(value);
}

/**
 * The value of a JSON text; undefined if it is not JSON.
 * @param {string} text
 * @returns {any}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * True if each value has at least the fields of the one before, and the last is longer than the first.
 * @param {any[]} values
 */
function areGrowing(values) {
  const grows = values.every((value, at) => at === 0 || extendsValue(value, values[at - 1]));
  return grows && JSON.stringify(values.at(-1)).length > JSON.stringify(values[0]).length;
}

/**
 * @param {any} later
 * @param {any} earlier
 */
function extendsValue(later, earlier) {
  if (Array.isArray(later)) return Array.isArray(earlier) && later.length >= earlier.length;
  if (!isObject(later) || !isObject(earlier)) return false;
  return Object.keys(earlier).every((key) => Object.hasOwn(later, key));
}

/**
 * How to read a text.
 * @param {string} text
 * @param {Format} format
 * @param {number} pieceSize characters in a piece of JSON text
 * @param {boolean} [calls] whether it contains tool calls
 * @returns {Plan}
 */
export function plan(text, format, pieceSize, calls = false) {
  const many = format === "many";
  const suits = calls ? "calls" : "tree";
  if (format === "text" || many) {
    return { sources: pieces(text, pieceSize), stream: { input: "text", many }, suits };
  }
  const input = format === "snapshots" ? "snapshots" : "events";
  return { sources: recordsOf(text, format), stream: { input, many }, suits };
}

/**
 * Cuts a text into pieces of this many Unicode characters, or larger ones if there were too many.
 * @param {string} text
 * @param {number} pieceSize
 */
export function pieces(text, pieceSize) {
  const size = Math.max(pieceSize, Math.ceil(text.length / MAX_RECORDS));
  /** @type {string[]} */
  const found = [];
  for (let at = 0; at < text.length; ) {
    const end = skipCharacters(text, size, at);
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

/**
 * The records of a text with a record per line, or of an event stream.
 * @param {string} text
 * @param {Format} format
 */
function recordsOf(text, format) {
  if (format !== "sse") return linesOf(text);
  const events = new SSEDecoder().feed(text + "\n\n");
  return events
    .map((event) => event.data.replace(/[\r\n]+/g, " "))
    .filter((data) => isObject(parsed(data)));
}

/** @param {string} text */
function linesOf(text) {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
}

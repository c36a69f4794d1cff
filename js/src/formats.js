/** The formats of a jsonrill server: detect the format of an event, and name the functions that read it. */

import { SourceFailed, UnknownSource } from "./errors.js";
import { isObject } from "./parse/values.js";
import { parsePath, toPointer } from "./paths.js";

/** @import { Path } from "./paths.js" */
/** @import { Receiver } from "./receive.js" */

const VALUE = "open(url) or useStream(url)";
const PARTS = "parts(openEvents(url)) or useParts(url)";
const READERS = {
  deltas: "useValue(url) or open(url)",
  updates: VALUE,
  fragments: VALUE,
  text: VALUE,
  calls: "toolCalls(openEvents(url)) or useParts(url)",
  parts: PARTS,
  raw: PARTS,
  "ai-sdk": PARTS,
  "ag-ui": PARTS,
};

/** Return true for the first message of the wire. @param {any} data */
export function isSnapshot(data) {
  return isObject(data) && typeof data.n === "number" && "value" in data;
}

/** Return true for a fragment that is an event of its own. @param {any} data */
export function isFragment(data) {
  return typeof data?.path === "string" && typeof data.kind === "string";
}

/**
 * Return the format that an event has.
 * @param {any} data
 * @returns {keyof typeof READERS}
 */
function formatOf(data) {
  const format = valueFormatOf(data);
  if (format !== null) return format;
  const { kind, type } = Object(data);
  if (/^tools?_/.test(kind)) return "calls";
  if (typeof kind === "string") return "parts";
  if (/^(?:start|text-|reasoning-|tool-|finish)/.test(type)) return "ai-sdk";
  return /^[A-Z]+_[A-Z_]+$/.test(type) ? "ag-ui" : "raw";
}

/** Return the format that an event has, if it describes a value; else null. @param {any} data */
export function valueFormatOf(data) {
  if (isSnapshot(data) || (Array.isArray(data) && typeof data[0] === "number")) return "deltas";
  if (Array.isArray(data) || isFragment(data)) return "fragments";
  if (typeof data === "string") return "text";
  return data?.status === "PARTIAL" || data?.status === "COMPLETED" ? "updates" : null;
}

/**
 * Return the error for an event in a format that `reader` does not read.
 * @param {string} reader
 * @param {any} data
 */
export function wrongFormat(reader, data) {
  const format = formatOf(data);
  return new UnknownSource(`${reader} does not read the format ${format}; ${READERS[format]} does`);
}

/**
 * Return an error that the server reports.
 * @param {{[field: string]: any}} error
 */
export function serverError({ code, message, path, offset, line, column }) {
  const place = typeof path === "string" ? parsePath(path) : undefined;
  return new SourceFailed(String(message), { code: String(code), path: place, offset, line, column });
}

/**
 * Return the receiver's value and progress.
 * @param {Receiver} receiver
 */
export function receivedState(receiver) {
  const snapshot = receiver.copy();
  const isComplete = (/** @type {Path | string} */ path = []) =>
    snapshot.isComplete(toPointer(typeof path === "string" ? parsePath(path) : path));
  return { value: receiver.value, complete: receiver.ended, openPath: null, isComplete };
}

/** What the errors of an answer say to a person, of the text that was read. Loaded when one is thrown. */

import { createMachine, ValueBuilder, KEPT } from "../streams/core.js";
import { InvalidJSON, JsonrillError, Truncated, quoted } from "../errors.js";
import { joined } from "./joined.js";

// How many characters a message quotes.
const QUOTED = 60;
const PAGE = /^<(?:!doctype|html|head|body|\?xml)\b/i;
const BLANK = /^[\ufeff \t\r\n]*/;

/**
 * The error with what was read, and with the words that a person needs.
 * @param {unknown} error
 * @param {import("./driving.js").Kept} kept
 */
export function explained(error, kept) {
  if (!(error instanceof JsonrillError)) return error;
  error.text ??= joined(kept);
  const read = error.text;
  const told = error instanceof InvalidJSON && isAtTheBeginning(error, read) ? ofTheBeginning(error, read) : error;
  if (told.value === undefined && read !== "") told.value = lastGood([...read], error.offset);
  return told;
}

/**
 * True if nothing of a value has been read.
 * @param {InvalidJSON} error
 * @param {string} text
 */
function isAtTheBeginning({ offset, path, expected }, text) {
  if (offset === undefined || path?.length) return false;
  const blank = /** @type {RegExpExecArray} */ (BLANK.exec(text))[0].length;
  return offset <= blank || (expected === "a value" && offset >= [...text].length);
}

/**
 * @param {InvalidJSON} error
 * @param {string} text
 */
function ofTheBeginning(error, text) {
  const begun = text.replace(BLANK, "");
  if (error instanceof Truncated && error.reason !== "ended") {
    const [why] = error.message.split("; expected");
    if (begun === "") return saying(error, `${why}: there is no text`);
    return saying(error, why.includes(":") ? why : `${why}: ${shown(begun)}`);
  }
  if (begun === "") return saying(error, "the text is empty");
  if (PAGE.test(begun)) return saying(error, `this is an HTML page, not JSON: ${shown(begun)}`);
  if (begun.startsWith("```")) return saying(error, `the JSON is in a fence: ${shown(begun)}`);
  if (!/^[\p{L}#*>_]/u.test(begun)) return error;
  return saying(error, `the answer is text, not JSON: ${shown(begun)}`);
}

/**
 * The error with this message; text that is not JSON is not truncated.
 * @param {InvalidJSON} error
 * @param {string} message
 */
function saying(error, message) {
  if (error instanceof Truncated && error.reason === "ended" && error.text?.trim()) {
    const told = new InvalidJSON(message, error.expected, error);
    return Object.assign(told, { text: error.text, value: error.value, fragments: error.fragments });
  }
  error.message = message;
  return error;
}

/** The beginning of a text, in quotes. @param {string} text */
function shown(text) {
  const line = text
    .slice(0, 4 * QUOTED)
    .trim()
    .replace(/\s+/g, " ");
  return quoted(line.length <= QUOTED ? line : `${line.slice(0, QUOTED - 1)}…`);
}

/**
 * @param {string[]} chars
 * @param {number | undefined} offset
 */
function lastGood(chars, offset) {
  if ((offset ?? 0) > chars.length || chars.length >= KEPT) return undefined;
  const growing = new ValueBuilder();
  try {
    createMachine(growing).feed(chars.slice(0, offset).join(""));
  } catch {
    // What was good before it stays.
  }
  return growing.value;
}

/** A pasted text → a recording, what was recognised and what is wrong with it. No DOM. */

import { described, PROVIDERS, recognise } from "./recognise.js";
import { endOf } from "../ending.js";
import { formatCount } from "../escaping.js";
import { INTERVALS } from "../player.js";
import { Recording } from "../recording.js";
import { pieces } from "../replay.js";

/** @typedef {import("./recognise.js").Recognised} Recognised */
/** @typedef {import("./recognise.js").Chosen} Chosen */
/**
 * What is wrong with a recording, and what to change; both are `""` if nothing is wrong.
 * @typedef {{problem: string, advice: string}} Verdict
 */
/**
 * @typedef {object} Read
 * @property {Recording} recording
 * @property {string} description of what was recognised, a sentence
 * @property {string} note about the whole text; `""` if there is none
 * @property {string} suits the view that shows it best; `""`: any
 */
/** @typedef {Read & Verdict} Built */

/**
 * Reads a text in a format, or in the one that is recognised.
 * @param {string} text
 * @param {{title?: string, pieceSize?: number, format?: Chosen}} [options]
 * @returns {Built}
 */
export function build(text, { title = "Pasted text", pieceSize = 4, format = "auto" } = {}) {
  const recognised = recognise(text, format);
  const many = recognised.format === "many";
  const input = recognised.format === "many" ? "text" : recognised.format;
  const recording = new Recording({ input, many, title, timed: recognised.timed });
  fill(recording, recognised, pieceSize);
  const { duplicates } = recording.outline;
  const repeated = formatCount(duplicates, "key comes", "keys come");
  return {
    recording,
    description: described(recognised),
    note: duplicates > 0 ? `${repeated} more than once in the same object; the last value counts.` : "",
    suits: recognised.calls && !recognised.hasText ? "calls" : "",
    ...verdict(recording, recognised),
  };
}

/**
 * @param {Recording} recording
 * @param {Recognised} recognised
 * @param {number} pieceSize
 */
function fill(recording, { format, items, timed, isDone }, pieceSize) {
  const isComplete = items.length === 1 && (format === "text" || format === "many");
  // A line that is not JSON cannot be a snapshot; `unread` reports it.
  const good = format === "snapshots" ? items.filter(({ data }) => isJson(data)) : items;
  const parts = isComplete ? pieces(items[0].data, pieceSize).map((data) => ({ data, at: null })) : good;
  const step = INTERVALS[recording.input];
  parts.forEach(({ data, at }, index) => {
    recording.add(data, { at: timed && at !== null ? at : (index + 1) * step });
  });
  recording.isDone = isDone;
  recording.end("complete");
}

/**
 * What is wrong with a recording, and what would help.
 * @param {Recording} recording that has ended
 * @param {Recognised} recognised
 * @returns {Verdict}
 */
function verdict(recording, recognised) {
  const wrong = unread(recording, recognised);
  return wrong ? { problem: wrong, advice: "" } : endOf(recording);
}

/**
 * What of a text could not be read at all; `""` if nothing.
 * @param {Recording} recording
 * @param {Recognised} recognised
 */
function unread({ length, input, text, answer, errors, cut }, { notes, items, provider }) {
  if (length === 0) return notes[0] ?? (input === "events" ? "No event could be read." : "There is no text to read.");
  if (input === "snapshots") {
    const wrong = items.findIndex(({ data }) => !isJson(data));
    return wrong < 0 ? "" : `Line ${wrong + 1} is not JSON and was left out.`;
  }
  if (answer === null || text !== "" || answer.parts.length > 0 || errors.length > 0) return "";
  if (provider === null) return "These events are of no provider that is known here.";
  return cut === null ? `These ${PROVIDERS[provider] ?? provider} events hold neither text nor calls.` : "";
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

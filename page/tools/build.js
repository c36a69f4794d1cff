/**
 * A pasted text → a recording, what was recognised, what is wrong with it and what would help. No DOM.
 */

import { check, schemaOf, SchemaError } from "./check.js";
import { diagnose, repairedPlaces } from "./offers.js";
import { described, PROVIDERS, recognise } from "./recognise.js";
import { endOf } from "../ending.js";
import { formatCount } from "../escaping.js";
import { Recording } from "../recording.js";
import { pieces } from "../replay.js";
import * as CODES from "../../js/src/codes.js";
import { stringify } from "../../js/src/jsontext.js";

/** @typedef {import("./recognise.js").Recognised} Recognised */
/** @typedef {import("./recognise.js").Chosen} Chosen */
/** @typedef {import("./recognise.js").Format} Format */
/**
 * How the user wants a text to be read; what is left out is recognised.
 * @typedef {object} Wishes
 * @property {Chosen} [format]
 * @property {string} [provider]
 * @property {boolean} [repair]
 * @property {boolean} [many]
 * @property {string} [prefix]
 * @property {string} [entity]
 * @property {string} [schema] as JSON text
 * @property {number} [response] of a HAR file
 */
/** A change of the wishes that helps, as a button. @typedef {{label: string, change: Wishes}} Suggestion */
/**
 * What is wrong with a recording, what to change, and how else it can be read.
 * @typedef {{problem: string, advice: string, suggestions: Suggestion[]}} Verdict
 */
/**
 * @typedef {object} Read
 * @property {Recording} recording
 * @property {Recognised} recognised
 * @property {string} description of what was recognised, a sentence
 * @property {{start: number, end: number, rule: string, label: string}[]} places that were repaired,
 *   as offsets in the text of the recording
 * @property {string[]} notes about the check of the schema
 * @property {string} suits the view that shows it best; `""`: any
 */
/** @typedef {Read & Verdict} Built */

// Milliseconds between two pieces that came without times.
const STEPS = { text: 25, many: 25, snapshots: 160, events: 70 };

/**
 * Reads a text as it is wished.
 * @param {string} text
 * @param {{title?: string, pieceSize?: number}} about
 * @param {Wishes} [wishes]
 * @returns {Built}
 */
export function build(text, { title = "Pasted text", pieceSize = 4 }, wishes = {}) {
  const { format = "auto", response = -1 } = wishes;
  const provider = /** @type {any} */ (wishes.provider || "auto");
  // With "many" a text is several documents, whatever it looks like.
  const chosen = wishes.many && format === "auto" ? "many" : format;
  const recognised = recognise(text, { chosen, provider, response });
  const reading = { ...recognised.options, ...wishes };
  const input = recognised.format === "many" ? "text" : recognised.format;
  const many = recognised.format === "many";
  const { repair = false, prefix = "", entity = "" } = reading;
  const span = recognised.timed ? null : recognised.span;
  const recording = new Recording({
    ...{ input, many, repair: repair === true, prefix: typeof prefix === "string" ? prefix : "", provider, span },
    ...{ title: recognised.title || title, timed: recognised.timed },
    ...(entity ? { entity } : {}),
    schema: schemaIn(reading.schema),
  });
  fill(recording, recognised, pieceSize);
  const notes = checked(recording, reading.schema);
  const { duplicates } = recording.outline;
  if (duplicates > 0)
    notes.push(`${formatCount(duplicates, "key comes", "keys come")} more than once in the same object; the last value counts.`);
  const built = {
    recording,
    recognised,
    description: described(recognised),
    suits: recognised.calls && !recognised.hasText ? "calls" : "",
  };
  return { ...built, ...verdict(recording, recognised), places: placesOf(recording), notes };
}

/** @param {Recording} recording */
export function placesOf({ text, outline }) {
  return repairedPlaces(text, outline.repairs, true);
}

/**
 * @param {Recording} recording
 * @param {Recognised} recognised
 * @param {number} pieceSize
 */
function fill(recording, { format, items, timed, isDone }, pieceSize) {
  const isComplete = items.length === 1 && (format === "text" || format === "many");
  // A line that is no JSON is said to be wrong, and cannot be a snapshot.
  const good = format === "snapshots" ? items.filter(({ data }) => isJson(data)) : items;
  const parts = isComplete ? pieces(items[0].data, pieceSize).map((data) => ({ data, at: null })) : good;
  parts.forEach(({ data, at }, index) => {
    recording.add(data, { at: timed && at !== null ? at : (index + 1) * STEPS[format] });
  });
  recording.isDone = isDone;
  recording.end("complete");
}

/**
 * The same pieces, read in another way.
 * @param {Recording} recording that has ended
 * @param {{repair?: boolean, many?: boolean, prefix?: string}} change
 */
export function readAgain(recording, change) {
  const { options, pieces, state, reason, isDone, errors } = recording;
  const again = new Recording({ ...options, ...change });
  for (const { source, at, id, type } of pieces) again.add(source, { at, id, type });
  again.isDone = isDone;
  again.end(/** @type {"complete"} */ (state), reason);
  // Only the server knows its schema.
  if (options.checked) for (const fault of errors.filter(({ code }) => code === CODES.INVALID_SCHEMA)) again.addError(fault);
  return again;
}

/**
 * What is wrong with a recording, and what would help.
 * @param {Recording} recording that has ended
 * @param {Recognised | null} [recognised] what was recognised, if it is of a text
 * @returns {Verdict}
 */
export function verdict(recording, recognised = null) {
  const wrong = recognised === null ? "" : unread(recording, recognised);
  if (wrong) return { problem: wrong, advice: "", suggestions: recognised === null ? [] : others(recognised) };
  const { problem, advice } = endOf(recording);
  return { problem, advice, suggestions: suggested(recording) };
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
  return cut === null ? `These ${PROVIDERS[provider]} events hold neither text nor calls.` : "";
}

/**
 * Other ways to read it, each of which has been tried.
 * @param {Recording} recording
 * @returns {Suggestion[]}
 */
function suggested({ input, text, textErrors, calls, many, options }) {
  if (input === "snapshots") return [];
  const { repair, prefix } = options;
  if (textErrors.some(({ code }) => code !== CODES.INVALID_SCHEMA)) {
    const { offers } = diagnose(text, { repair, many, prefix });
    const isAnswer = input === "events";
    return offers.filter(({ change }) => !isAnswer || change.repair).map(({ label, change }) => ({ label, change }));
  }
  // Arguments that were cut off stay so: a tool must not be started with half of them.
  const broken = calls.filter((call) => call.error !== null && call.history.at(-1)?.status === "error");
  const helped = broken.filter(({ raw }) => diagnose(raw.text).offers.some(({ change }) => change.repair));
  return !repair && helped.length > 0 ? [{ label: "Repair the arguments", change: { repair: true } }] : [];
}

/**
 * Other formats in which the text can be read.
 * @param {Recognised} recognised
 * @returns {Suggestion[]}
 */
function others({ format }) {
  if (format === "text") return [];
  const asText = { label: "Read as JSON text", change: { format: /** @type {const} */ ("text") } };
  return [{ label: "Read as several documents", change: { format: "many" } }, asText];
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

/** The schema in a text; undefined if there is none. @param {unknown} text */
function schemaIn(text) {
  try {
    return typeof text === "string" ? schemaOf(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks the value against a schema, and adds what is wrong to the recording, at the piece that showed it.
 * @param {Recording} recording
 * @param {unknown} schema
 * @returns {string[]}
 */
function checked(recording, schema) {
  if (typeof schema !== "string" || schema.trim() === "") return [];
  const value = recording.valueAt(recording.length);
  if (value === undefined || (recording.input === "events" && !recording.hasDocument)) return ["There is no value to validate."];
  const plain = JSON.parse(stringify(value));
  try {
    const rules = schemaOf(schema);
    /** @type {ReturnType<typeof check>[]} */
    const results = recording.many ? plain.map((/** @type {any} */ one) => check(rules, one)) : [check(rules, plain)];
    results.forEach(({ violations }, at) => {
      for (const violation of violations) {
        const path = recording.many ? [at, ...violation.path] : violation.path;
        const node = recording.input === "snapshots" ? null : recording.outline.nearest(path);
        const offset = node === null || node.start < 0 ? null : node.start;
        const piece = node === null || node.closed === Infinity ? recording.length : node.closed;
        recording.addError({ code: CODES.INVALID_SCHEMA, message: violation.message, offset, path, piece });
      }
    });
    const unchecked = [...new Set(results.flatMap((result) => result.unchecked))];
    return unchecked.length > 0 ? [`Not checked here: ${unchecked.join(", ")}.`] : [];
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return [error.message];
  }
}

/** `3 places were repaired: a comma too many, …`. @param {Read["places"]} places */
export function repairedText(places) {
  if (places.length === 0) return "";
  const kinds = [...new Set(places.map(({ label }) => label))];
  const shown = kinds.slice(0, 4).join(", ") + (kinds.length > 4 ? " and more" : "");
  return `${formatCount(places.length, "place")} ${places.length === 1 ? "was" : "were"} repaired: ${shown}.`;
}

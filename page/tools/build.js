/**
 * A pasted text → a recording, what was recognised, what is wrong with it and what would help. No DOM.
 */

import { check, schemaOf, SchemaError, violationText } from "./check.js";
import { explain, diagnose, repairedPlaces } from "./offers.js";
import { described, PROVIDERS, recognise } from "./recognise.js";
import { formatCount } from "../escaping.js";
import { Recording } from "../recording.js";
import { pieces } from "../replay.js";
import { stringify } from "../../js/src/jsontext.js";

/** @typedef {import("./recognise.js").Found} Found */
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
 * @typedef {object} Built
 * @property {Recording} recording
 * @property {Found} found
 * @property {string} description of what was recognised, a sentence
 * @property {string} problem why it cannot be read; `""` if it can
 * @property {Suggestion[]} suggestions
 * @property {{start: number, end: number, rule: string, label: string}[]} places that were repaired,
 *   as offsets in the text of the recording
 * @property {string[]} violations of the schema
 * @property {string} suits the view that shows it best; `""`: any
 */

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
  const found = recognise(text, { chosen, provider, response });
  const given = { ...found.options, ...wishes };
  const input = found.format === "many" ? "text" : found.format;
  const many = found.format === "many";
  const { repair = false, prefix = "", entity = "" } = given;
  const span = found.timed ? null : found.span;
  const recording = new Recording({
    ...{ input, many, repair: repair === true, prefix: typeof prefix === "string" ? prefix : "", provider, span },
    ...{ title: found.title || title, timed: found.timed },
    ...(entity ? { entity } : {}),
  });
  fill(recording, found, pieceSize);
  const violations = checked(recording, given.schema);
  const built = { recording, found, description: described(found), suits: found.calls && !found.hasText ? "calls" : "" };
  const { problem, suggestions } = verdict(built, wishes);
  const places = repairedPlaces(recording.text, recording.outline.repairs, true);
  return { ...built, problem, suggestions, places, violations };
}

/**
 * @param {Recording} recording
 * @param {Found} found
 * @param {number} pieceSize
 */
function fill(recording, { format, items, timed }, pieceSize) {
  const isComplete = items.length === 1 && (format === "text" || format === "many");
  // A line that is no JSON is said to be wrong, and cannot be a snapshot.
  const good = format === "snapshots" ? items.filter(({ data }) => isJson(data)) : items;
  const parts = isComplete ? pieces(items[0].data, pieceSize).map((data) => ({ data, at: null })) : good;
  parts.forEach(({ data, at }, index) => {
    recording.add(data, { at: timed && at !== null ? at : (index + 1) * STEPS[format] });
  });
  recording.end("complete");
}

/**
 * What is wrong with a text, and what would help.
 * @param {{recording: Recording, found: Found}} built
 * @param {Wishes} wishes
 * @returns {{problem: string, suggestions: Suggestion[]}}
 */
function verdict({ recording, found }, wishes) {
  const { text, input, many, options } = recording;
  if (recording.length === 0) {
    const problem = found.notes[0] ?? (input === "events" ? "No event could be read." : "There is no text to read.");
    return { problem, suggestions: others(found) };
  }
  if (input === "events") return ofEvents(recording, found, wishes);
  if (input === "snapshots") {
    const wrong = found.items.findIndex(({ data }) => !isJson(data));
    if (wrong < 0) return { problem: "", suggestions: [] };
    return { problem: `Line ${wrong + 1} is not JSON and was left out.`, suggestions: others(found) };
  }
  if (recording.outline.errors.length === 0) return { problem: "", suggestions: [] };
  const { error, offers } = diagnose(text, { repair: options.repair, many, prefix: options.prefix });
  if (error === null) return { problem: "", suggestions: [] };
  const suggestions = offers.map(({ label, change }) => ({ label, change: /** @type {Wishes} */ (change) }));
  return { problem: explain(error, text), suggestions };
}

/**
 * @param {Recording} recording
 * @param {Found} found
 * @param {Wishes} wishes
 * @returns {{problem: string, suggestions: Suggestion[]}}
 */
function ofEvents({ text, answer, calls, outline, hasDocument, options }, found, wishes) {
  const hasSaid = text !== "" || calls.length > 0 || (answer?.parts.length ?? 0) > 0;
  if (!hasSaid) {
    const problem = found.provider === null
      ? "These events are of no provider that is known here."
      : `These ${PROVIDERS[found.provider]} events hold neither text nor calls.`;
    return { problem, suggestions: wishes.provider ? [{ label: "Detect the provider", change: { provider: "" } }, ...others(found)] : others(found) };
  }
  // An answer in prose is no error. One that was meant to be JSON, and is not, can be helped.
  const seemsJson = /^\s*(?:\x60{3}|[[{"])/.test(text);
  if (!seemsJson || calls.length > 0 || (hasDocument && outline.errors.length === 0)) return { problem: "", suggestions: [] };
  const { error, offers } = diagnose(text, { repair: options.repair });
  if (error === null) return { problem: "", suggestions: [] };
  const useful = offers.filter(({ change }) => Object.keys(change).every((key) => key === "repair"));
  return { problem: explain(error, text), suggestions: useful.map(({ label, change }) => ({ label, change })) };
}

/**
 * Other formats in which the text can be read.
 * @param {Found} found
 * @returns {Suggestion[]}
 */
function others({ format }) {
  return format === "text" ? [] : [
    { label: "Read as several documents", change: { format: "many" } },
    { label: "Read as JSON text", change: { format: "text" } },
  ];
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

/**
 * Checks the value against a schema, and adds what is wrong to the recording, at the piece that showed it.
 * @param {Recording} recording
 * @param {unknown} schema
 * @returns {string[]}
 */
function checked(recording, schema) {
  if (typeof schema !== "string" || schema.trim() === "") return [];
  const value = recording.valueAt(recording.length);
  if (value === undefined || recording.input === "events" && !recording.hasDocument) return ["There is no value to validate."];
  const plain = JSON.parse(stringify(value));
  try {
    const rules = schemaOf(schema);
    /** @type {ReturnType<typeof check>[]} */
    const results = recording.many ? plain.map((/** @type {any} */ one) => check(rules, one)) : [check(rules, plain)];
    const told = results.flatMap(({ violations }, at) =>
      violations.map((violation) => {
        const path = recording.many ? [at, ...violation.path] : violation.path;
        const node = recording.input === "snapshots" ? null : recording.outline.nearest(path);
        const offset = node === null || node.start < 0 ? null : node.start;
        const piece = node === null || node.closed === Infinity ? recording.length : node.closed;
        recording.addError({ code: "INVALID_SCHEMA", message: violation.message, offset, path, piece });
        return violationText({ path, message: violation.message });
      }),
    );
    const unchecked = [...new Set(results.flatMap((result) => result.unchecked))];
    if (unchecked.length > 0) told.push(`Not checked here: ${unchecked.join(", ")}.`);
    return told;
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return [error.message];
  }
}

/** `3 places were repaired: a comma too many, …`. @param {Built["places"]} places */
export function repairedText(places) {
  if (places.length === 0) return "";
  const kinds = [...new Set(places.map(({ label }) => label))];
  const shown = kinds.slice(0, 4).join(", ") + (kinds.length > 4 ? " and more" : "");
  return `${formatCount(places.length, "place")} ${places.length === 1 ? "was" : "were"} repaired: ${shown}.`;
}

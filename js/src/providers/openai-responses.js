/**
 * OpenAI Responses: items with an id of their own, deltas that name the item, numbered events.
 *
 * Function calls, MCP calls (their id is the item's, their result comes with them) and custom tools
 * (free text). The full arguments come twice more at the end, and are only compared with the streamed.
 * Some clients write the names of fields in camelCase.
 */

import { asId, asIndex, asObject, asText, either, filled, items } from "./fields.js";
import { asUsage, failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */

const REFUSAL = "response.refusal.delta";
/** @type {Map<unknown, "text" | "reasoning">} */
const TEXTS = new Map([
  ["response.output_text.delta", "text"],
  [REFUSAL, "text"],
  ["response.reasoning_text.delta", "reasoning"],
  ["response.reasoning_summary_text.delta", "reasoning"],
]);
// The items that are calls → the field that holds their arguments.
/** @type {Map<unknown, "arguments" | "input">} */
const CALLS = new Map([
  ["function_call", "arguments"],
  ["mcp_call", "arguments"],
  ["custom_tool_call", "input"],
]);
// The events about their arguments, without the `.delta` or `.done` at the end.
const ARGUMENTS = new Map([...CALLS].map(([kind, field]) => [`response.${kind}_${field}`, field]));
const BEGINS = ["response.created", "response.queued", "response.in_progress"];
const FINISHES = ["response.completed", "response.incomplete", "response.failed"];

/** With an `event_id` it is of the Realtime API. @param {Fields} event */
export function accepts(event) {
  const { type } = event;
  return typeof type === "string" && type.startsWith("response.") && !("event_id" in event);
}

/** A translation of events. It remembers the last `sequence_number`, to skip events that come again. */
export function translation() {
  const isRepeated = repetitions();
  return (/** @type {Fields} */ event) => {
    const { type } = event;
    if (type === "error") return [failed(filled(event.error) ?? event)]; // never a repetition, whatever number it has
    if (typeof type !== "string" || isRepeated(type, event)) return [];
    return statements(type, event);
  };
}

/**
 * @param {string} type
 * @param {Fields} event
 * @returns {Statement[]}
 */
function statements(type, event) {
  const index = indexOf(event);
  const kind = TEXTS.get(type);
  if (kind !== undefined) {
    const text = asText(event.delta);
    const refusal = type === REFUSAL;
    return text === null ? [] : [{ kind, text, choice: 0, block: index, refusal }];
  }
  if (type.startsWith("response.output_item.")) {
    return itemStatements(asObject(event.item), index, type.endsWith(".done"));
  }
  if (!type.startsWith("response.")) return [];
  return argumentStatements(type, event) ?? lifecycle(type, event);
}

/** @param {Fields} event */
function indexOf(event) {
  return asIndex(either(event, "output_index", "outputIndex"));
}

/** A function that tells if an event came before. */
function repetitions() {
  let last = -1;
  /** @type {Fields} */
  let lastEvent = {};
  // Some servers write the same number on every event.
  let trusted = true;
  /** @type {string | null} */
  let response = null;
  const known = new Set();
  return (/** @type {string} */ type, /** @type {Fields} */ event) => {
    const number = asIndex(either(event, "sequence_number", "sequenceNumber"));
    if (number === null) return false;
    if (number === last && JSON.stringify(lastEvent) !== JSON.stringify(event)) trusted = false;
    const its = asId(asObject(event.response).id);
    const { id, call_id, callId } = asObject(event.item);
    const item = asId(id) ?? asId(call_id ?? callId);
    if (number <= last) {
      // Another response begins, whose events are numbered from 0 again.
      const another = BEGINS.includes(type)
        ? its !== null && its !== response
        : type === "response.output_item.added" && item !== null && !known.has(item);
      if (!another) return trusted;
    }
    if (its !== null && its !== response) {
      response = its;
      known.clear();
    }
    if (item !== null) known.add(item);
    last = number;
    lastEvent = event;
    return false;
  };
}

/**
 * The statement of an event about a call's arguments: a delta, or all of them once more; null for
 * other events.
 * @param {string} type
 * @param {Fields} event
 * @returns {Statement[] | null}
 */
function argumentStatements(type, event) {
  const dot = type.lastIndexOf(".");
  const field = ARGUMENTS.get(type.slice(0, dot));
  const what = type.slice(dot + 1);
  if (field === undefined || (what !== "delta" && what !== "done")) return null;
  /** @type {CallDelta} */
  const delta = {
    kind: "call",
    alias: asId(either(event, "item_id", "itemId")),
    index: indexOf(event),
    name: asText(event.name),
    free: field === "input",
  };
  if (what === "delta") delta.text = asText(event.delta);
  // An item that was cut off before its first argument ends in the same way.
  else if (asText(event[field]) !== null) delta.end = { text: event[field] };
  return [delta];
}

/**
 * @param {Fields} item
 * @param {number | null} index
 * @param {boolean} done
 * @returns {Statement[]}
 */
function itemStatements(item, index, done) {
  const field = CALLS.get(item.type);
  if (field === undefined) return [];
  const alias = asId(item.id);
  const hosted = item.type === "mcp_call";
  const text = item[field];
  /** @type {CallDelta} */
  const call = {
    kind: "call",
    // An MCP call has no id but its item's.
    id: asId(either(item, "call_id", "callId")) ?? (hosted ? alias : null),
    index,
    name: asText(item.name),
    alias,
    free: field === "input",
    hosted,
  };
  if (!done) {
    call.preset = asText(text) ?? undefined;
    return [call];
  }
  const { status } = item;
  const incomplete = status === "incomplete";
  if (asText(text) !== null || incomplete || status === "completed") {
    call.end = { text: asText(text), incomplete, sure: true };
  }
  const { output = null, error = null } = item;
  if (!hosted || (output === null && error === null)) return [call];
  const isError = error !== null;
  return [call, { kind: "result", id: call.id ?? null, result: isError ? error : output, isError }];
}

/**
 * @param {string} type
 * @param {Fields} event
 * @returns {Statement[]}
 */
function lifecycle(type, event) {
  const response = asObject(event.response);
  if (BEGINS.includes(type)) {
    const message = asId(response.id);
    return message === null ? [] : [{ kind: "begin", message }];
  }
  if (!FINISHES.includes(type)) return [];
  const output = items(response.output).flatMap((item, index) => itemStatements(item, index, true));
  const details = asObject(either(response, "incomplete_details", "incompleteDetails"));
  const why = details.reason || type.replace("response.", "");
  const finish = type === "response.failed" ? failed(response.error) : finished(why, { last: true });
  return [...output, ...asUsage(response.usage), finish];
}

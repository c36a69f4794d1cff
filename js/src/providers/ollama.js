/**
 * Ollama's own API: `/api/chat` and `/api/generate`, one JSON object a line.
 *
 * Text and thoughts come in pieces, calls complete in one event, mostly without an id. (Its OpenAI
 * endpoint sends chat completions.)
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, filled, items } from "./fields.js";
import { failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

const COUNTS = ["prompt_eval_count", "eval_count", "total_duration", "eval_duration"];

/** @param {Fields} event */
export function accepts({ done, message, response }) {
  return typeof done === "boolean" && (isObject(message) || typeof response === "string");
}

/** A translation of events, which name no response: the one after the last of one begins one. */
export function translation() {
  let isOpen = false;
  return (/** @type {Fields} */ event) => {
    const out = statements(event);
    if (out.length === 0 && !accepts(event)) return out; // an event of another provider
    if (!isOpen) out.unshift({ kind: "begin" });
    isOpen = out.at(-1)?.kind !== "finish";
    return out;
  };
}

/** @param {Fields} event */
function statements(event) {
  const error = filled(event.error);
  /** @type {Statement[]} */
  const out = [];
  if (error !== undefined) {
    out.push(failed(error));
    return out;
  }
  const message = asObject(event.message);
  const thought = asText(message.thinking) ?? asText(event.thinking);
  if (thought !== null) out.push({ kind: "reasoning", text: thought });
  const text = asText(message.content) ?? asText(event.response);
  if (text !== null) out.push({ kind: "text", text });
  out.push(...items(message.tool_calls).map(callDelta));
  if (event.done === true) {
    const names = COUNTS.filter((name) => (event[name] ?? null) !== null);
    const counts = Object.fromEntries(names.map((name) => [name, event[name]]));
    if (names.length !== 0) out.push({ kind: "usage", counts });
    out.push(finished(event.done_reason, { last: true }));
  }
  return out;
}

/**
 * @param {Fields} call
 * @returns {Statement}
 */
function callDelta(call) {
  const { index, name, arguments: args } = asObject(call.function);
  const end = typeof args === "string" ? { text: args } : { value: filled(args) ?? {} };
  return { kind: "call", id: asId(call.id), index: asIndex(index), name: asText(name), end };
}

/**
 * jsonrill's own wire events: `tools_call_update` (deltas with their fragments), `tool_result`,
 * `tools_aggregate` (the final state of a message). The fields of calls are in snake_case; camelCase
 * is read, too.
 *
 * The system that defined them sends an envelope, with the fields in `payload`. A later version of it
 * sends `tool_call_update`, one call at a time, and `tool_call_result`.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asText, first, items } from "./fields.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */
/** @typedef {import("../fragments.js").WireFragment} WireFragment */
/** @typedef {import("../toolcalls/call.js").Problem} Problem */
/**
 * What one event says about one call. `json_update_fragments` is absent if no argument text came, `[]` if
 * some came but nothing is new.
 * @typedef {{tool_call_id?: string, index?: number, function_name?: string, encoding?: "text",
 *   function_args?: string, json_update_fragments?: WireFragment[],
 *   status?: "complete" | "error" | "truncated", error?: Problem}} ToolCallUpdate
 */
/** @typedef {{tool_call_id: string, result: any, is_error?: boolean}} ToolCallResult */
/** The final state of a call; `args` only where they do not follow from the text. @typedef {Omit<ToolCallUpdate, "json_update_fragments"> & {args?: any}} ToolCallState */
/**
 * @typedef {{kind: "tools_call_update", messageId: string, tool_call_updates: ToolCallUpdate[]}
 *   | ({kind: "tool_result", messageId: string} & ToolCallResult)
 *   | {kind: "tools_aggregate", messageId: string, tool_calls: ToolCallState[],
 *       tool_results?: ToolCallResult[]}} ToolCallEvent
 */

const UPDATES = ["tools_call_update", "tool_call_update"];
const RESULTS = ["tool_result", "tool_call_result"];
const KINDS = [...UPDATES, ...RESULTS, "tools_aggregate"];
const ENDED = ["complete", "error", "truncated"];
// The timestamp in a message's id in an envelope, which changes with each chunk.
const TIME = /-[0-9A-F]{15}(?=-)/g;

/** @param {Fields} event */
export function accepts(event) {
  return KINDS.includes(first(event, "kind", "$type"));
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const kind = first(event, "kind", "$type");
  const isEnveloped = isObject(event.payload);
  const fields = isEnveloped ? event.payload : event;
  const id = asId(event, "messageId", "generation_id");
  const message = isEnveloped ? (id?.replaceAll(TIME, "") ?? null) : id;
  if (UPDATES.includes(kind)) {
    const single = fields.toolCallUpdate ?? (kind === "tool_call_update" ? fields : null);
    const list = fields.tool_call_updates ?? [single];
    return items({ list }, "list").map((call) => callDelta(call, message));
  }
  if (RESULTS.includes(kind)) return [result(fields)];
  if (kind !== "tools_aggregate") return [];
  const calls = items(fields, "tool_calls", "toolCalls").map((call) => ({
    ...callDelta(call, message),
    fragments: null,
    value: call.args,
  }));
  return [{ kind: "aggregate", message, calls }, ...items(fields, "tool_results", "toolResults").map(result)];
}

/**
 * Return a delta with its fragments, or the final state of a call.
 * @param {Fields} call
 * @param {string | null} message
 * @returns {CallDelta}
 */
function callDelta(call, message) {
  const { json_update_fragments: fragments, error, status } = call;
  return {
    kind: "call",
    id: asId(call, "tool_call_id", "toolCallId"),
    index: asIndex(call, "index"),
    name: asText(call, "function_name"),
    text: asText(call, "function_args"),
    message,
    free: call.encoding === "text",
    received: true,
    fragments: Array.isArray(fragments) ? fragments : null,
    status: ENDED.includes(status) ? status : null,
    error: isObject(error) ? error : null,
  };
}

/**
 * @param {Fields} fields
 * @returns {Statement}
 */
function result(fields) {
  const isError = first(fields, "is_error", "isError") === true;
  return { kind: "result", id: asId(fields, "tool_call_id", "toolCallId"), result: fields.result ?? null, isError };
}

/**
 * jsonrill's own wire events: `tools_call_update` (deltas with their fragments), `tool_result`,
 * `tools_aggregate` (the final state of a message). The fields of calls are in snake_case; camelCase
 * is read, too.
 */

import { isObject } from "../values.js";
import { asId, asIndex, asText, either, items } from "./fields.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */
/** @typedef {import("../fragments.js").WireFragment} WireFragment */
/** @typedef {import("../call-arguments.js").Problem} Problem */
/**
 * What one event says of one call. `json_update_fragments` is absent if no argument text came, `[]` if
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

const KINDS = ["tools_call_update", "tool_result", "tools_aggregate"];
const ENDED = ["complete", "error", "truncated"];

/** @param {Fields} event */
export function accepts({ kind }) {
  return KINDS.includes(kind);
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const message = asId(event.messageId);
  switch (event.kind) {
    case "tools_call_update":
      return items(event.tool_call_updates).map((call) => callDelta(call, message));
    case "tool_result":
      return [result(event)];
    case "tools_aggregate": {
      const calls = items(either(event, "tool_calls", "toolCalls")).map((call) => ({
        ...callDelta(call, message),
        fragments: null,
        value: call.args,
      }));
      const results = items(either(event, "tool_results", "toolResults"));
      return [{ kind: "aggregate", message, calls }, ...results.map(result)];
    }
    default:
      return [];
  }
}

/**
 * A delta with its fragments, or the final state of a call.
 * @param {Fields} call
 * @param {string | null} message
 * @returns {CallDelta}
 */
function callDelta(call, message) {
  const { json_update_fragments: fragments, error, status } = call;
  return {
    kind: "call",
    id: asId(either(call, "tool_call_id", "toolCallId")),
    index: asIndex(call.index),
    name: asText(call.function_name),
    text: asText(call.function_args),
    message,
    free: call.encoding === "text",
    received: true,
    fragments: Array.isArray(fragments) ? fragments : null,
    status: ENDED.includes(status) ? status : null,
    error: isObject(error) ? error : null,
  };
}

/**
 * @param {Fields} said
 * @returns {Statement}
 */
function result(said) {
  const id = asId(either(said, "tool_call_id", "toolCallId"));
  const isError = either(said, "is_error", "isError") === true;
  return { kind: "result", id, result: said.result ?? null, isError };
}

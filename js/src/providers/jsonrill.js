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

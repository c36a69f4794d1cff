/**
 * Anthropic Messages: content blocks with an index, of text, of thoughts and of calls.
 *
 * Tools of the user, of the server and of MCP servers. The `input` in a block's start is a placeholder, never text;
 * only a non-empty one counts, and only if no delta follows.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, failed, finished, items, textOf, typed, usage } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { Statement } from "./statements.js" */

const CALLS = ["tool_use", "server_tool_use", "mcp_tool_use"];
// Known deltas that are not part of a call.
const DELTAS = ["text_delta", "thinking_delta", "signature_delta", "citations_delta"];

export const accepts = typed("content_block_", "message_start", "message_delta", "message_stop");

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const index = asIndex(event, "index");
  switch (event.type) {
    case "content_block_delta":
      return isObject(event.delta) ? delta(index, event.delta) : [];
    case "content_block_start":
      return start(index, asObject(event, "content_block"));
    case "content_block_stop":
      return index === null ? [] : [{ kind: "call", index, opens: false, end: {} }];
    case "message_start":
      return isObject(event.message) ? message(event.message) : [];
    case "message_delta": {
      const reason = asText(asObject(event, "delta"), "stop_reason");
      return reason === null ? [] : [...usage(event, "usage"), finished(reason)];
    }
    case "message_stop":
      return [{ kind: "finish" }];
    case "error":
      return [failed(event.error)];
    default:
      return [];
  }
}

/**
 * Return the statements of the start of a message. A call made by the model's own code has all of it in the start.
 * @param {Fields} started
 * @returns {Statement[]}
 */
function message(started) {
  const reason = asText(started, "stop_reason");
  const blocks = items(started, "content").flatMap((block, index) => start(index, block));
  const finish = items(started, "content").length !== 0 && reason !== null ? [finished(reason)] : [];
  return [{ kind: "begin", message: asId(started, "id") }, ...usage(started, "usage"), ...blocks, ...finish];
}

/**
 * @param {number | null} index
 * @param {Fields} change
 * @returns {Statement[]}
 */
function delta(index, change) {
  const { type } = change;
  if (type === "input_json_delta" && "partial_json" in change && index !== null) {
    // The block's start says whether this is a call: results are streamed as JSON, too.
    return [{ kind: "call", index, text: asText(change, "partial_json"), opens: false }];
  }
  if (type === "text_delta") return textOf("text", asText(change, "text"), 0, index);
  if (type === "thinking_delta") return textOf("reasoning", asText(change, "thinking"), 0, index);
  return DELTAS.includes(type) || index === null ? [] : [{ kind: "call", index, opens: false, unread: true }];
}

/**
 * @param {number | null} index
 * @param {Fields} block
 * @returns {Statement[]}
 */
function start(index, block) {
  const { type, input, content } = block;
  if (CALLS.includes(type)) {
    const preset = isObject(input) && Object.keys(input).length === 0 ? undefined : input || undefined;
    const hosted = type !== "tool_use";
    return [{ kind: "call", id: asId(block, "id"), index, name: asText(block, "name"), hosted, preset }];
  }
  if (type === "text") return textOf("text", asText(block, "text"), 0, index);
  if (type === "thinking") return textOf("reasoning", asText(block, "thinking"), 0, index);
  if (typeof block.tool_use_id !== "string" || !("content" in block)) return [];
  // MCP results have a flag, results of server tools content of a type `…_error`.
  const isError = block.is_error === true || /_error$/.test(asText(content, "type") ?? "");
  return [{ kind: "result", id: block.tool_use_id, result: content, isError }];
}

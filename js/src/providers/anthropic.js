/**
 * Anthropic Messages: content blocks with an index, of text, of thoughts and of calls.
 *
 * Tools of the user, of the server and of MCP servers. The `input` in a block's start is a
 * placeholder, never text; only a non-empty one counts, and only if no delta follows.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, filled, typed } from "./fields.js";
import { asUsage, failed, finished, unread } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

const CALLS = ["tool_use", "server_tool_use", "mcp_tool_use"];
// The deltas that are known and say nothing of a call.
const DELTAS = ["text_delta", "thinking_delta", "signature_delta", "citations_delta"];

export const accepts = typed("content_block_", "message_start", "message_delta", "message_stop");

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const index = asIndex(event.index);
  switch (event.type) {
    case "content_block_delta":
      return isObject(event.delta) ? delta(index, event.delta) : [];
    case "content_block_start":
      return isObject(event.content_block) ? start(index, event.content_block) : [];
    case "content_block_stop":
      return index === null ? [] : [{ kind: "call", index, opens: false, end: {} }];
    case "message_start":
      return isObject(event.message) ? message(event.message) : [];
    case "message_delta": {
      const reason = asObject(event.delta).stop_reason;
      if (typeof reason !== "string") return [];
      return [...asUsage(event.usage), finished(reason)];
    }
    case "message_stop":
      return [{ kind: "finish", last: true }];
    case "error":
      return [failed(event.error)];
    default:
      return [];
  }
}

/**
 * The start of a message; that of a call which code of the model makes has all of it.
 * @param {Fields} started
 * @returns {Statement[]}
 */
function message({ id, usage, content, stop_reason: reason }) {
  /** @type {Statement[]} */
  const statements = [{ kind: "begin", message: asId(id) }, ...asUsage(usage)];
  if (!Array.isArray(content) || content.length === 0) return statements;
  content.forEach((block, index) => statements.push(...start(index, asObject(block))));
  if (asText(reason) !== null) statements.push(finished(reason));
  return statements;
}

/**
 * @param {number | null} index
 * @param {Fields} change
 * @returns {Statement[]}
 */
function delta(index, change) {
  const { type, text, thinking } = change;
  if (type === "input_json_delta" && "partial_json" in change && index !== null) {
    // The block before it says what it is: a result, too, may come as JSON.
    return [{ kind: "call", index, text: asText(change.partial_json), opens: false }];
  }
  if (type === "text_delta" && asText(text) !== null) {
    return [{ kind: "text", text, choice: 0, block: index }];
  }
  if (type === "thinking_delta" && asText(thinking) !== null) {
    return [{ kind: "reasoning", text: thinking, choice: 0, block: index }];
  }
  return DELTAS.includes(type) ? [] : unread(index);
}

/**
 * @param {number | null} index
 * @param {Fields} block
 * @returns {Statement[]}
 */
function start(index, block) {
  const { type, text, content } = block;
  if (CALLS.includes(type)) {
    const [id, name] = [asId(block.id), asText(block.name)];
    const preset = filled(block.input);
    return [{ kind: "call", id, index, name, hosted: type !== "tool_use", preset }];
  }
  if (type === "text" && asText(text) !== null) {
    return [{ kind: "text", text, choice: 0, block: index }];
  }
  if (type === "thinking" && asText(block.thinking) !== null) {
    return [{ kind: "reasoning", text: block.thinking, choice: 0, block: index }];
  }
  if (typeof block.tool_use_id === "string" && "content" in block) {
    // MCP results have a flag, those of server tools content of a type `…_error`.
    const isError = block.is_error === true || (asText(asObject(content).type) ?? "").endsWith("_error");
    return [{ kind: "result", id: block.tool_use_id, result: content, isError }];
  }
  return [];
}

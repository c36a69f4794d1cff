/**
 * Gemini: whole calls, values at JSONPaths (`partialArgs`), and the Interactions API.
 *
 * generateContent sends no indices and often no ids: a name opens a call, an empty `functionCall`, or one that does
 * not continue, ends it. Field names come in camelCase from the API and in snake_case from some clients.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, failed, finished, first, items, textOf, usage } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { ArgumentPart, CallDelta, Statement } from "./statements.js" */

const CALLS = ["function_call", "mcp_server_tool_call"];
const RESULTS = ["function_result", "mcp_server_tool_result"];
// Known deltas of steps that are not part of a call.
const DELTAS = ["text", "thought_summary", "thought_signature"];

/** @param {Fields} event */
export function accepts(event) {
  const isFeedback = isObject(first(event, "promptFeedback", "prompt_feedback"));
  return Array.isArray(event.candidates) || isFeedback || /^(?:step|interaction)\./.test(String(event.event_type));
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  if ("event_type" in event) return interaction(event);
  const message = asId(event, "responseId", "response_id");
  const statements = items(event, "candidates").flatMap((candidate) => {
    const choice = asIndex(candidate, "index") ?? 0;
    const parts = items(asObject(candidate, "content"), "parts").flatMap((part) => partStatements(part, message, choice));
    const reason = first(candidate, "finishReason", "finish_reason");
    const detail = asText(candidate, "finishMessage", "finish_message");
    return reason ? [...parts, finished(reason, { message, choice, detail })] : parts;
  });
  const feedback = asObject(event, "promptFeedback", "prompt_feedback");
  const blocked = asText(feedback, "blockReason", "block_reason");
  if (blocked !== null) {
    const detail = asText(feedback, "blockReasonMessage", "block_reason_message");
    statements.push(finished("blocked", { message, detail: detail ?? `the prompt was blocked: ${blocked}` }));
  }
  if (event.error) statements.push(failed(event.error));
  return [...statements, ...usage(event, "usageMetadata", "usage_metadata")];
}

/**
 * Return the statements of a part: a call, text or a thought; its signature makes it a block.
 * @param {Fields} part
 * @param {string | null} message
 * @param {number} choice
 * @returns {Statement[]}
 */
function partStatements(part, message, choice) {
  const call = first(part, "functionCall", "function_call");
  const block = isObject(call) ? null : asText(part, "thoughtSignature", "thought_signature");
  const text = textOf(part.thought === true ? "reasoning" : "text", asText(part, "text"), choice, block);
  return isObject(call) ? [callDelta(call, message, choice), ...text] : text;
}

/**
 * @param {Fields} call
 * @param {string | null} message
 * @param {number} choice
 * @returns {CallDelta}
 */
function callDelta(call, message, choice) {
  const [id, name, value] = [asId(call, "id"), asText(call, "name"), call.args ?? undefined];
  const parts = items(call, "partialArgs", "partial_args").map(argumentPart);
  const end = first(call, "willContinue", "will_continue") === true ? null : {};
  // An empty call only ends the open one.
  const opens = name !== null || id !== null || parts.length !== 0 || value !== undefined;
  return { kind: "call", id, name, message, choice, value, parts, end, opens };
}

/**
 * @param {Fields} part
 * @returns {ArgumentPart}
 */
function argumentPart(part) {
  const more = first(part, "willContinue", "will_continue") === true;
  const path = asText(part, "jsonPath", "json_path") ?? "$";
  for (const kind of ["string", "number", "bool"]) {
    const value = first(part, `${kind}Value`, `${kind}_value`);
    if (value !== undefined) return { path, value, more };
  }
  // Protocol buffers may write a null value as null; but clients fill all empty fields with null.
  const isNull = ("nullValue" in part && !("stringValue" in part)) || first(part, "nullValue", "null_value") !== undefined;
  return { path, value: isNull ? null : undefined, more };
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
function interaction(event) {
  const index = asIndex(event, "index");
  const fields = asObject(event, "interaction");
  switch (event.event_type) {
    case "step.delta":
      return isObject(event.delta) ? stepDelta(index, event.delta) : [];
    case "step.start":
      return step(index, asObject(event, "step"));
    case "step.stop":
      return index === null ? [] : [{ kind: "call", index, opens: false, end: {} }];
    case "interaction.created":
      return "id" in fields ? [{ kind: "begin", message: asId(fields, "id") }] : [];
    case "interaction.completed": {
      // The API has no other word for an answer that reached its limit.
      const word = fields.status === "incomplete" ? "max_tokens" : fields.status;
      return [...usage(fields, "usage"), finished(word)];
    }
    case "error":
      return [failed(event.error)];
    default:
      return [];
  }
}

/**
 * @param {number | null} index
 * @param {Fields} delta
 * @returns {Statement[]}
 */
function stepDelta(index, delta) {
  if ("arguments" in delta || "partial_arguments" in delta) {
    // Searches and code that Google runs itself have arguments, too, but are not calls.
    const args = "arguments" in delta ? delta.arguments : delta.partial_arguments;
    const input = isObject(args) ? { value: args } : { text: asText({ args }, "args") };
    return [{ kind: "call", index, opens: false, ...input }];
  }
  if (delta.type === "text") return textOf("text", asText(delta, "text"), 0, index);
  if (delta.type === "thought_summary") return textOf("reasoning", asText(asObject(delta, "content"), "text"), 0, index);
  return DELTAS.includes(delta.type) || index === null ? [] : [{ kind: "call", index, opens: false, unread: true }];
}

/**
 * @param {number | null} index
 * @param {Fields} fields
 * @returns {Statement[]}
 */
function step(index, fields) {
  const { type, arguments: args } = fields;
  if (CALLS.includes(type)) {
    const preset = isObject(args) && Object.keys(args).length === 0 ? undefined : args || undefined;
    const hosted = type !== "function_call";
    return [{ kind: "call", id: asId(fields, "id"), index, name: asText(fields, "name"), hosted, preset }];
  }
  if (!RESULTS.includes(type)) return [];
  return [{ kind: "result", id: asId(fields, "call_id"), result: fields.result ?? null, isError: fields.is_error === true }];
}

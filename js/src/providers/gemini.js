/**
 * Gemini: whole calls, values at JSONPaths (`partialArgs`), and the Interactions API.
 *
 * generateContent sends no indices and often no ids: a name opens a call, an empty `functionCall` or
 * one that does not continue ends it. Field names come in camelCase from the API and in snake_case
 * from some clients.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, either, filled, items } from "./fields.js";
import { asUsage, failed, finished, unread } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */
/** @typedef {import("./statements.js").ArgumentPart} ArgumentPart */

const CALLS = ["function_call", "mcp_server_tool_call"];
const RESULTS = ["function_result", "mcp_server_tool_result"];

/** @param {Fields} event */
export function accepts(event) {
  const kind = event.event_type;
  return (
    Array.isArray(event.candidates) ||
    isObject(either(event, "promptFeedback", "prompt_feedback")) ||
    (typeof kind === "string" && (kind.startsWith("step.") || kind.startsWith("interaction.")))
  );
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  if ("event_type" in event) return interaction(event);
  const message = asId(either(event, "responseId", "response_id"));
  /** @type {Statement[]} */
  const statements = [];
  for (const candidate of items(event.candidates)) {
    const choice = asIndex(candidate.index) ?? 0;
    for (const part of items(asObject(candidate.content).parts)) {
      statements.push(...partStatements(part, message, choice));
    }
    const reason = filled(either(candidate, "finishReason", "finish_reason"));
    if (reason !== undefined) statements.push(finished(reason, { message, choice }));
  }
  const blocked = asObject(either(event, "promptFeedback", "prompt_feedback"));
  const reason = asText(either(blocked, "blockReason", "block_reason"));
  if (reason !== null) {
    const why = asText(either(blocked, "blockReasonMessage", "block_reason_message"));
    const detail = why ?? `the prompt was blocked: ${reason}`;
    statements.push({ kind: "finish", message, reason: "filtered", detail });
  }
  const error = filled(event.error);
  if (error !== undefined) statements.push(failed(error));
  return [...statements, ...asUsage(either(event, "usageMetadata", "usage_metadata"))];
}

/**
 * The statements of a part: a call, text or a thought; its signature makes it a block.
 * @param {Fields} part
 * @param {string | null} message
 * @param {number} choice
 */
function partStatements(part, message, choice) {
  const call = either(part, "functionCall", "function_call");
  /** @type {Statement[]} */
  const statements = [];
  let block = null;
  if (isObject(call)) statements.push(callDelta(call, message, choice));
  else block = asText(either(part, "thoughtSignature", "thought_signature"));
  const text = asText(part.text);
  if (text !== null) {
    statements.push({ kind: part.thought === true ? "reasoning" : "text", text, choice, block });
  }
  return statements;
}

/**
 * @param {Fields} call
 * @param {string | null} message
 * @param {number} choice
 * @returns {CallDelta}
 */
function callDelta(call, message, choice) {
  const id = asId(call.id);
  const name = asText(call.name);
  const value = call.args ?? undefined;
  const parts = items(either(call, "partialArgs", "partial_args")).map(argumentPart);
  const end = either(call, "willContinue", "will_continue") === true ? null : {};
  // An empty call is nothing but the end of the open one.
  const opens = name !== null || id !== null || parts.length !== 0 || value !== undefined;
  return { kind: "call", id, name, message, choice, value, parts, end, opens };
}

/**
 * @param {Fields} part
 * @returns {ArgumentPart}
 */
function argumentPart(part) {
  const more = either(part, "willContinue", "will_continue") === true;
  const path = asText(either(part, "jsonPath", "json_path")) ?? "$";
  for (const kind of ["string", "number", "bool"]) {
    const value = either(part, `${kind}Value`, `${kind}_value`) ?? undefined;
    if (value !== undefined) return { path, value, more };
  }
  // Protocol buffers may write a null value as null; but clients fill all empty fields with null.
  const saidNull = "nullValue" in part && !("stringValue" in part);
  const isNull = saidNull || (either(part, "nullValue", "null_value") ?? null) !== null;
  return { path, value: isNull ? null : undefined, more };
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
function interaction(event) {
  const index = asIndex(event.index);
  switch (event.event_type) {
    case "step.delta":
      return isObject(event.delta) ? stepDelta(index, event.delta) : [];
    case "step.start":
      return isObject(event.step) ? step(index, event.step) : [];
    case "step.stop":
      return index === null ? [] : [{ kind: "call", index, opens: false, end: {} }];
    case "interaction.created": {
      const { interaction: created } = event;
      return isObject(created) && "id" in created ? [{ kind: "begin", message: asId(created.id) }] : [];
    }
    case "interaction.completed": {
      const { status, usage } = asObject(event.interaction);
      // Its only word for an answer that reached its limit.
      const word = status === "incomplete" ? "max_tokens" : status;
      return [...asUsage(usage), finished(word, { last: true })];
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
    const input = isObject(args) ? { value: args } : { text: asText(args) };
    return [{ kind: "call", index, opens: false, ...input }];
  }
  if (delta.type === "text" && asText(delta.text) !== null) {
    return [{ kind: "text", text: delta.text, choice: 0, block: index }];
  }
  const thought = delta.type === "thought_summary" ? asText(asObject(delta.content).text) : null;
  if (thought !== null) return [{ kind: "reasoning", text: thought, choice: 0, block: index }];
  const isKnown = ["text", "thought_summary", "thought_signature"].includes(delta.type);
  return isKnown ? [] : unread(index);
}

/**
 * @param {number | null} index
 * @param {Fields} fields
 * @returns {Statement[]}
 */
function step(index, fields) {
  if (CALLS.includes(fields.type)) {
    const [id, name] = [asId(fields.id), asText(fields.name)];
    const hosted = fields.type !== "function_call";
    return [{ kind: "call", id, index, name, hosted, preset: filled(fields.arguments) }];
  }
  if (RESULTS.includes(fields.type)) {
    const isError = fields.is_error === true;
    return [{ kind: "result", id: asId(fields.call_id), result: fields.result ?? null, isError }];
  }
  return [];
}

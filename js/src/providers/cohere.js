/**
 * Cohere v2 chat: text, thoughts and a plan; calls by their index, each with a start and an end.
 *
 * The model's plan for its tools (`tool_plan`) is reasoning. An index counts calls and blocks of text
 * separately. The client for JavaScript writes the names of fields in camelCase.
 */

import { asId, asIndex, asObject, asText, either } from "./fields.js";
import { asUsage, failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

/** @type {Set<unknown>} */
const EVENTS = new Set(
  (
    "message-start content-start content-delta content-end tool-plan-delta tool-call-start " +
    "tool-call-delta tool-call-end citation-start citation-end message-end"
  ).split(" "),
);

/** @param {Fields} event */
export function accepts({ type }) {
  return EVENTS.has(type);
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const index = asIndex(event.index);
  const delta = asObject(event.delta);
  const message = asObject(delta.message);
  switch (event.type) {
    case "message-start":
      return [{ kind: "begin", message: asId(event.id) }];
    case "content-start":
    case "content-delta": {
      const content = asObject(message.content);
      const thought = asText(content.thinking);
      if (thought !== null) return [{ kind: "reasoning", text: thought, choice: 0, block: index }];
      const text = asText(content.text);
      return text === null ? [] : [{ kind: "text", text, choice: 0, block: index }];
    }
    case "tool-plan-delta": {
      const text = asText(either(message, "tool_plan", "toolPlan"));
      return text === null ? [] : [{ kind: "reasoning", text }];
    }
    case "tool-call-start":
    case "tool-call-delta": {
      const call = asObject(either(message, "tool_calls", "toolCalls"));
      const { name, arguments: text } = asObject(call.function);
      return [{ kind: "call", id: asId(call.id), index, name: asText(name), text: asText(text) }];
    }
    case "tool-call-end":
      return [{ kind: "call", index, opens: false, end: {} }];
    case "message-end": {
      const error = asText(delta.error);
      const reason = either(delta, "finish_reason", "finishReason");
      return [...asUsage(delta.usage), error ? failed(error) : finished(reason, { last: true })];
    }
    default:
      return [];
  }
}

/**
 * Mistral: chat completions, mostly with whole calls in one chunk, and conversations.
 *
 * Text comes as a string or as chunks of text and of thoughts, in chat completions as a list of them.
 * Clients fill in the id "null" and the index 0 where the server sent none, so that an index 0 without
 * an id says nothing. The client for JavaScript writes the names of fields in camelCase.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asText, either, typed } from "./fields.js";
import { content, translate as chat } from "./openai-chat.js";
import { asUsage, failed } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

// Its chat completions look like OpenAI's, and are recognised as such.
export const accepts = typed("function.call.", "conversation.response.", "message.output.", "tool.execution.");

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  if ("choices" in event) {
    const statements = chat(event, asId(event.id));
    for (const one of statements) {
      if (one.kind === "call" && one.id === null && one.index === 0) one.index = null;
    }
    return statements;
  }
  const index = asIndex(either(event, "output_index", "outputIndex"));
  switch (event.type) {
    case "function.call.delta": {
      const { name, arguments: text } = event;
      const id = asId(either(event, "tool_call_id", "toolCallId"));
      const input = isObject(text) ? { value: text } : { text: asText(text) };
      return [{ kind: "call", id, index, name: asText(name), ...input }];
    }
    case "message.output.delta":
      return content(event.content, 0, index);
    case "conversation.response.started":
      return [{ kind: "begin" }];
    case "conversation.response.done":
      return [...asUsage(event.usage), { kind: "finish", last: true }];
    case "conversation.response.error":
      return [failed(event)];
    default:
      return [];
  }
}

/** AG-UI: text, and calls whose start, args, end and result events name them; chunks need not. */

import { asId, asObject, asText, typed } from "./fields.js";
import { failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

/** @type {Map<unknown, "text" | "reasoning">} */
const TEXTS = new Map([
  ["TEXT_MESSAGE_CONTENT", "text"],
  ["TEXT_MESSAGE_CHUNK", "text"],
  ["REASONING_MESSAGE_CONTENT", "reasoning"],
  ["REASONING_MESSAGE_CHUNK", "reasoning"],
  ["THINKING_TEXT_MESSAGE_CONTENT", "reasoning"],
]);

export const accepts = typed(
  ...["TOOL_CALL_", "RUN_", "TEXT_MESSAGE_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"],
  ...["REASONING_", "THINKING_"],
);

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const id = asId(event.toolCallId);
  const text = asText(event.delta);
  const kind = TEXTS.get(event.type);
  if (kind !== undefined) return text === null ? [] : [{ kind, text }];
  switch (event.type) {
    case "TOOL_CALL_ARGS":
      return [{ kind: "call", id, text }];
    case "TOOL_CALL_START":
    case "TOOL_CALL_CHUNK": {
      const [name, message] = [asText(event.toolCallName), asId(event.parentMessageId)];
      return [{ kind: "call", id, name, text, message }];
    }
    case "TOOL_CALL_END":
      return [{ kind: "call", id, opens: false, end: {} }];
    case "TOOL_CALL_RESULT":
      return [{ kind: "result", id, result: event.content ?? null }];
    case "RUN_STARTED":
      return [{ kind: "begin", message: asId(event.runId) }];
    case "RUN_FINISHED":
      // What jsonrill itself writes of an answer that is not complete.
      return [finished(asObject(event.result).finishReason, { last: true })];
    case "RUN_ERROR":
      return [failed(event)];
    default:
      return [];
  }
}

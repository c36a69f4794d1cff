/** Translate AG-UI events. Every tool-call event carries the call's id, except chunk events, which may omit it. */

import { asId, asObject, asText, failed, finished, textOf, typed } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { Statement } from "./statements.js" */

const TEXTS = ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"];
const THOUGHTS = ["REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK", "THINKING_TEXT_MESSAGE_CONTENT"];

export const accepts = typed(
  ...["TOOL_CALL_", "RUN_", "TEXT_MESSAGE_", "STEP_", "STATE_", "MESSAGES_SNAPSHOT"],
  ...["REASONING_", "THINKING_"],
);

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const { type } = event;
  const [id, text] = [asId(event, "toolCallId"), asText(event, "delta")];
  if (TEXTS.includes(type)) return textOf("text", text);
  if (THOUGHTS.includes(type)) return textOf("reasoning", text);
  switch (type) {
    case "TOOL_CALL_ARGS":
      return [{ kind: "call", id, text }];
    case "TOOL_CALL_START":
    case "TOOL_CALL_CHUNK":
      return [{ kind: "call", id, name: asText(event, "toolCallName"), text, message: asId(event, "parentMessageId") }];
    case "TOOL_CALL_END":
      return [{ kind: "call", id, opens: false, end: {} }];
    case "TOOL_CALL_RESULT":
      return [{ kind: "result", id, result: event.content ?? null }];
    case "RUN_STARTED":
      return [{ kind: "begin", message: asId(event, "runId") }];
    case "RUN_FINISHED":
      // jsonrill itself writes this reason for an answer that is not complete.
      return [finished(asObject(event, "result").finishReason)];
    case "RUN_ERROR":
      return [failed(event)];
    default:
      return [];
  }
}

/**
 * The streams of the Vercel AI SDK: text, reasoning, and calls that every event names.
 *
 * The UI message stream, which goes to browsers, and `fullStream`, which the program itself reads; some names of
 * fields differ. After the tool's own validation, a call's input is repeated as a value; a call that was not streamed
 * has only this value.
 */

import { asId, asText, errorText, failed, finished, first, textOf, usage } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { Statement } from "./statements.js" */

const EVENTS =
  /^(?:start|start-step|finish-step|finish|abort|tool-call|tool-result|tool-error)$|^(?:text|reasoning|tool-input|tool-output)-/;

/** An event with a path is from assistant-ui's stream, which has the same types. @param {Fields} event */
export function accepts({ type, path }) {
  return typeof type === "string" && !Array.isArray(path) && EVENTS.test(type);
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const type = String(event.type);
  const call = asId(event, "toolCallId") ?? (type.startsWith("tool-input-") ? asId(event, "id") : null);
  if (call !== null) return callStatements(type, call, event);
  const text = asText(event, "delta") ?? asText(event, "text", "textDelta");
  switch (type) {
    case "text-delta":
      return textOf("text", text);
    case "reasoning-delta":
      return textOf("reasoning", text);
    case "start":
      return [{ kind: "begin", message: asId(event, "messageId") }];
    case "finish":
      return [...usage(event, "totalUsage", "usage"), finished(event.finishReason)];
    case "abort":
      return [finished(type)];
    case "error":
      return [failed(first(event, "errorText", "error"))];
    default:
      return [];
  }
}

/**
 * @param {string} type
 * @param {string} id
 * @param {Fields} event
 * @returns {Statement[]}
 */
function callStatements(type, id, event) {
  const name = asText(event, "toolName");
  const hosted = event.providerExecuted === true;
  const error = first(event, "errorText", "error");
  const isInvalid = event.invalid === true || type === "tool-input-error";
  switch (type) {
    case "tool-input-start":
      return [{ kind: "call", id, name, free: event.inputEncoding === "text", hosted }];
    case "tool-input-delta":
      return [{ kind: "call", id, text: asText(event, "inputTextDelta") ?? asText(event, "delta") }];
    case "tool-input-available":
    case "tool-call":
    case "tool-input-error": {
      const why = error === undefined ? "the input is not valid" : errorText(error);
      return [{ kind: "call", id, name, hosted, end: isInvalid ? { error: why } : { value: event.input } }];
    }
    case "tool-output-available":
    case "tool-result":
      return [{ kind: "result", id, result: event.output ?? null }];
    case "tool-output-error":
      return [{ kind: "result", id, result: error ?? null, isError: true }];
    case "tool-error":
      return [{ kind: "result", id, result: errorText(error), isError: true }];
    default:
      return [];
  }
}

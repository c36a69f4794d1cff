/**
 * The streams of the Vercel AI SDK: text, reasoning, and calls that every event names.
 *
 * The UI message stream, which goes to browsers, and `fullStream`, which the program itself reads; some
 * names of fields differ. A call's input comes once more as a value, after the tool's own validation;
 * a call that was not streamed consists of it alone.
 */

import { asError, asId, asText } from "./fields.js";
import { asUsage, failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

const EVENTS = new Set("start start-step finish-step finish abort tool-call tool-result tool-error".split(" "));
const PREFIXES = ["text-", "reasoning-", "tool-input-", "tool-output-"];
/** @type {unknown[]} */

/** @param {Fields} event */
export function accepts({ type, path }) {
  // With a path it is of assistant-ui's stream, which has the same names.
  if (typeof type !== "string" || Array.isArray(path)) return false;
  return EVENTS.has(type) || PREFIXES.some((prefix) => type.startsWith(prefix));
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const { type } = event;
  if (typeof type !== "string") return [];
  const call = asId(event.toolCallId) ?? (type.startsWith("tool-input-") ? asId(event.id) : null);
  if (call !== null) return callStatements(type, call, event);
  switch (type) {
    case "text-delta":
    case "reasoning-delta": {
      const text = asText(event.delta) ?? asText(event.text ?? event.textDelta);
      const kind = type === "text-delta" ? "text" : "reasoning";
      return text === null ? [] : [{ kind, text }];
    }
    case "start":
      return [{ kind: "begin", message: asId(event.messageId) }];
    case "finish": {
      const finish = finished(event.finishReason, { last: true });
      return [...asUsage(event.totalUsage ?? event.usage), finish];
    }
    case "abort":
      return [finished(type, { last: true })];
    case "error":
      return [failed(event.errorText ?? event.error, false)];
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
  const name = asText(event.toolName);
  const hosted = event.providerExecuted === true;
  switch (type) {
    case "tool-input-start":
      return [{ kind: "call", id, name, free: event.inputEncoding === "text", hosted }];
    case "tool-input-delta":
      return [{ kind: "call", id, text: asText(event.inputTextDelta) ?? asText(event.delta) }];
    case "tool-input-available":
    case "tool-call":
      if (event.invalid === true) return [invalid(id, name, event.error)];
      return [{ kind: "call", id, name, hosted, end: { value: event.input } }];
    case "tool-input-error":
      return [invalid(id, name, event.errorText)];
    case "tool-output-available":
    case "tool-result":
      return [{ kind: "result", id, result: event.output ?? null }];
    case "tool-output-error":
      return [{ kind: "result", id, result: event.errorText ?? null, isError: true }];
    case "tool-error":
      return [{ kind: "result", id, result: asError(event.error), isError: true }];
    default:
      return [];
  }
}

/**
 * @param {string} id
 * @param {string | null} name
 * @param {unknown} error
 * @returns {Statement}
 */
function invalid(id, name, error) {
  const message = asText(error) ?? asText(/** @type {any} */ (error)?.message);
  return { kind: "call", id, name, end: { error: message ?? "the input is not valid" } };
}

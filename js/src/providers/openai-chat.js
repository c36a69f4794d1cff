/**
 * OpenAI chat completions, and the many servers that speak it: `choices[].delta`.
 *
 * Reasoning has its own field, or is a chunk of the content. A call is identified by its index, its id is sent once,
 * and only the `finish_reason` ends it. Also read: the older `function_call` (one, without an id), custom tools (free
 * text), and text completions (`choices[].text`). Some clients write field names in camelCase.
 *
 * The `id` of a chunk names its response; some servers send another id with every chunk.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText, failed, finished, first, items, textOf, usage } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { CallDelta, Statement } from "./statements.js" */

// The most response ids to remember.
const MAX_IDS = 1000;

/** @param {Fields} event */
export function accepts({ choices }) {
  return Array.isArray(choices);
}

/**
 * Return a translation of chunks. It remembers the response of each id: a new id begins a response, unless its chunk can
 * only continue one. From then on all new ids belong to the current response, until it ends.
 */
export function translation() {
  /** @type {Map<string, string>} */
  const responses = new Map();
  /** The response of the last chunk; null after its end if ids are changing. @type {string | null} */
  let message = null;
  let isChanging = false;

  /**
   * @param {string} id
   * @param {Fields} event
   */
  function add(id, event) {
    if (responses.size === MAX_IDS) responses.clear();
    if (message !== null) isChanging ||= continues(event);
    responses.set(id, message !== null && isChanging ? message : id);
  }

  return (/** @type {Fields} */ event) => {
    const wasChanging = isChanging;
    const id = asId(event, "id");
    if (id !== null && !responses.has(id)) add(id, event);
    message = id === null ? null : (responses.get(id) ?? null);
    const statements = translate(event, message);
    for (const statement of statements) {
      if (!isChanging || statement.kind !== "finish") continue;
      message = null;
      // Earlier calls may have been assigned to other responses.
      if (!wasChanging) statement.message = statement.choice = null;
    }
    return statements;
  };
}

/**
 * Return whether this chunk cannot begin a response, because it continues or ends one.
 * @param {Fields} event
 */
function continues(event) {
  const [choice] = items(event, "choices");
  const delta = asObject(choice, "delta");
  const calls = items(delta, "tool_calls", "toolCalls");
  if (calls.length !== 0) return calls.every(isLater);
  const keys = Object.keys(delta).filter((key) => delta[key]);
  return Boolean(first(choice, "finish_reason", "finishReason")) && keys.every((key) => key === "role");
}

/** Return true if a chunk with this call is not the first of its response. @param {Fields} call */
function isLater(call) {
  const startsCall = call.id || asObject(call, "function").name;
  return !startsCall || Boolean(asIndex(call, "index"));
}

/**
 * Return the statements of a chunk of this response.
 * @param {Fields} event
 * @param {string | null} message
 */
function translate(event, message) {
  const { error } = event;
  const statements = items(event, "choices").flatMap((item) => {
    const choice = asIndex(item, "index") ?? 0;
    // A server that does not stream answers with the message at once.
    const delta = asObject(item, "delta" in item ? "delta" : "message");
    const contents = [...textOf("text", asText(item, "text"), choice), ...deltaStatements(delta, message, choice)];
    const reason = asId(item, "finish_reason", "finishReason"); // some servers write "null"
    if (reason === null || error) return contents; // with an error comes a `finish_reason` that says less
    const native = first(item, "native_finish_reason", "nativeFinishReason");
    return [...contents, finished(reason, { message, choice }, native)];
  });
  return [...statements, ...usage(event, "usage"), ...(error ? [failed(error)] : [])];
}

/**
 * @param {Fields} delta
 * @param {string | null} message
 * @param {number} choice
 */
function deltaStatements(delta, message, choice) {
  // Several fields may repeat the same thought.
  const thought = first(delta, "reasoning_content", "reasoningContent") || delta.reasoning;
  const thoughts = thoughtsOf(thought || first(delta, "reasoning_details", "reasoningDetails"), choice);
  const statements = [...thoughts, ...content(delta.content, choice)];
  const refusal = asText(delta, "refusal");
  if (refusal !== null) statements.push({ kind: "text", text: refusal, choice, refusal: true });
  const calls = items(delta, "tool_calls", "toolCalls");
  const legacyCall = first(delta, "function_call", "functionCall");
  if (isObject(legacyCall)) calls.push({ function: legacyCall, index: 0 });
  return [...statements, ...calls.map((call) => callDelta(call, message, choice))];
}

/**
 * Return the statements of a `content`: a text, a chunk of text or thoughts, or a list of chunks.
 * @param {unknown} value
 * @param {number} choice
 * @returns {Statement[]}
 */
function content(value, choice) {
  if (Array.isArray(value)) return value.filter(isObject).flatMap((chunk) => content(chunk, choice));
  if (!isObject(value)) return textOf("text", asText({ value }, "value"), choice);
  if (value.type === "thinking") return thoughtsOf(value.thinking, choice);
  return value.type === "text" ? textOf("text", asText(value, "text"), choice) : [];
}

/**
 * Return the statements of reasoning: a text, or a list of texts or summaries.
 * @param {unknown} value
 * @param {number} choice
 */
function thoughtsOf(value, choice) {
  const list = typeof value === "string" ? [{ text: value }] : value;
  return items({ list }, "list").flatMap((chunk) =>
    textOf("reasoning", asText(chunk, "text") ?? asText(chunk, "summary"), choice),
  );
}

/**
 * @param {Fields} call
 * @param {string | null} message
 * @param {number} choice
 * @returns {CallDelta}
 */
function callDelta(call, message, choice) {
  /** @type {CallDelta} */
  const delta = { kind: "call", id: asId(call, "id"), index: asIndex(call, "index"), message, choice };
  const { function: body, custom } = call;
  if (isObject(body)) {
    const { arguments: args = null } = body;
    const isValue = typeof args === "object" && args !== null;
    const unread = args !== null && typeof args !== "string" && !isValue;
    const text = asText(body, "arguments");
    return { ...delta, name: asText(body, "name"), text, value: isValue ? args : undefined, unread };
  }
  if (!isObject(custom)) return delta;
  return { ...delta, name: asText(custom, "name"), text: asText(custom, "input"), free: true };
}

/**
 * OpenAI chat completions, and the many servers that speak like it: `choices[].delta`.
 *
 * Reasoning comes in a field of its own, or in chunks beside those of the text. A call is named by its
 * index, its id comes once, and nothing ends it but the `finish_reason`. Also here: the older
 * `function_call` (one, without an id) and custom tools (free text). Some clients write the names of
 * fields in camelCase.
 *
 * Text completions (`choices[].text`) are read, too.
 *
 * The `id` of a chunk tells which response it belongs to; some servers send another with every chunk.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asText, either, filled, items } from "./fields.js";
import { asUsage, failed, finished } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */

// The most response ids that are remembered.
const MOST = 1000;

/** @param {Fields} event */
export function accepts({ choices }) {
  return Array.isArray(choices);
}

/**
 * A translation of chunks. It remembers their ids, to see if they are those of responses: an id that
 * has not come before begins a response, unless its chunk can only continue one. From then on such
 * ids mean nothing, until one of them comes again.
 */
export function translation() {
  /** The last id, and the response that its chunk belongs to. @type {unknown} */
  let last;
  /** @type {string | null} */
  let message = null;
  const seen = new Set();
  let changing = false;
  let ended = false;

  /**
   * @param {string | null} id
   * @param {Fields} event
   */
  function response(id, event) {
    if (id === null) return null;
    if (seen.has(id)) {
      changing = false;
      return id;
    }
    if (seen.size === MOST) seen.clear();
    seen.add(id);
    if (message === null || ended) {
      ended = false;
      return id;
    }
    changing ||= continues(event);
    return changing ? message : id;
  }

  return (/** @type {Fields} */ event) => {
    const knew = changing;
    if (event.id !== last) {
      message = response(asId(event.id), event);
      last = event.id;
    }
    const statements = translate(event, message);
    for (const one of changing ? statements : []) {
      if (one.kind !== "finish") continue;
      ended = true;
      // Calls before this chunk may have been taken for those of other responses.
      if (!knew) one.message = one.choice = null;
    }
    return statements;
  };
}

/**
 * True for a chunk with which no response begins: more of a call, a later call, or an end.
 * @param {Fields} event
 */
function continues(event) {
  const [choice] = items(event.choices);
  if (choice === undefined) return false;
  const delta = isObject(choice.delta) ? choice.delta : {};
  const calls = items(either(delta, "tool_calls", "toolCalls"));
  if (calls.length !== 0) return calls.every(isLater);
  const keys = Object.keys(delta).filter((key) => filled(delta[key]));
  const finished = filled(either(choice, "finish_reason", "finishReason"));
  return finished !== undefined && keys.every((key) => key === "role");
}

/** @param {Fields} call */
function isLater(call) {
  const named = filled(call.id) ?? (isObject(call.function) ? filled(call.function.name) : undefined);
  return named === undefined || Boolean(asIndex(call.index));
}

/**
 * The statements of a chunk of this response.
 * @param {Fields} event
 * @param {string | null} message
 */
export function translate(event, message) {
  /** @type {Statement[]} */
  const statements = [];
  const error = filled(event.error);
  for (const one of items(event.choices)) {
    const choice = asIndex(one.index) ?? 0;
    // A server that does not stream answers with the message at once.
    const delta = "delta" in one ? one.delta : one.message;
    // Of the older completions, which vLLM and others have.
    statements.push(...content(one.text, choice));
    if (isObject(delta)) statements.push(...deltaStatements(delta, message, choice));
    // With an error comes a `finish_reason` that says less.
    const reason = asText(either(one, "finish_reason", "finishReason"));
    if (reason !== null && error === undefined) {
      const native = either(one, "native_finish_reason", "nativeFinishReason");
      statements.push(finished(reason, { message, choice }, native));
    }
  }
  statements.push(...asUsage(filled(event.usage)));
  if (error !== undefined) statements.push(failed(error, false));
  return statements;
}

/**
 * @param {Fields} delta
 * @param {string | null} message
 * @param {number} choice
 */
function deltaStatements(delta, message, choice) {
  const statements = thoughts(reasoning(delta), choice);
  statements.push(...content(delta.content, choice));
  const refusal = asText(delta.refusal); // in place of an answer
  if (refusal !== null) statements.push({ kind: "text", text: refusal, choice, refusal: true });
  for (const call of items(either(delta, "tool_calls", "toolCalls"))) {
    statements.push(callDelta(call, message, choice));
  }
  const old = either(delta, "function_call", "functionCall");
  if (isObject(old)) statements.push(callDelta({ function: old, index: 0 }, message, choice));
  return statements;
}

/**
 * The statements of a `content`: a text, a chunk of text or thoughts, or a list of chunks.
 * @param {unknown} value
 * @param {number} choice
 * @param {number | null} [block]
 * @returns {Statement[]}
 */
export function content(value, choice, block = null) {
  if (typeof value === "string") return value ? [{ kind: "text", text: value, choice, block }] : [];
  if (Array.isArray(value)) return items(value).flatMap((chunk) => content(chunk, choice, block));
  if (!isObject(value)) return [];
  if (value.type === "thinking") return thoughts(value.thinking, choice, block);
  return value.type === "text" && typeof value.text === "string" ? content(value.text, choice, block) : [];
}

/** What the model thinks, which several fields may say at once. @param {Fields} delta */
function reasoning(delta) {
  return (
    filled(either(delta, "reasoning_content", "reasoningContent")) ??
    filled(delta.reasoning) ??
    either(delta, "reasoning_details", "reasoningDetails")
  );
}

/**
 * The statements of what the model thinks: a text, or a list of texts or summaries.
 * @param {unknown} value
 * @param {number} choice
 * @param {number | null} [block]
 * @returns {Statement[]}
 */
function thoughts(value, choice, block = null) {
  const texts = typeof value === "string" ? [value] : items(value).map((chunk) => chunk.text || chunk.summary);
  return texts.filter((text) => asText(text) !== null).map((text) => ({ kind: "reasoning", text, choice, block }));
}

/**
 * @param {Fields} call
 * @param {string | null} message
 * @param {number} choice
 * @returns {CallDelta}
 */
function callDelta(call, message, choice) {
  /** @type {CallDelta} */
  const delta = { kind: "call", id: asId(call.id), index: asIndex(call.index), message, choice };
  if (isObject(call.function)) {
    const { name, arguments: text } = call.function;
    delta.name = asText(name);
    if (isObject(text) || Array.isArray(text)) delta.value = text;
    else delta.text = asText(text);
    delta.unread = text != null && typeof text !== "string" && delta.value === undefined;
  } else if (isObject(call.custom)) {
    delta.name = asText(call.custom.name);
    delta.text = asText(call.custom.input);
    delta.free = true;
  }
  return delta;
}

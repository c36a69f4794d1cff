/**
 * OpenAI Responses: items with an id of their own, deltas that name the item.
 *
 * Reads function calls, MCP calls (which have the item's id and bring their result) and custom tools (free text).
 * Later events repeat the complete texts and arguments. Texts are used only if they were not streamed; arguments are
 * compared with the streamed ones. Some clients write field names in camelCase.
 */

import { asId, asIndex, asObject, asText, failed, finished, items, textOf, usage } from "./fields.js";

/** @import { Fields } from "./fields.js" */
/** @import { CallDelta, Statement } from "./statements.js" */

const THOUGHTS = ["response.reasoning_text.delta", "response.reasoning_summary_text.delta"];
// The items that are calls → the field that holds their arguments.
/** @type {Map<unknown, "arguments" | "input">} */
const CALLS = new Map([
  ["function_call", "arguments"],
  ["mcp_call", "arguments"],
  ["custom_tool_call", "input"],
]);
// The events about their arguments, without the `.delta` or `.done` at the end.
const ARGUMENTS = new Map([...CALLS].map(([kind, field]) => [`response.${kind}_${field}`, field]));
const BEGINS = ["response.created", "response.queued", "response.in_progress"];
const FINISHES = ["response.completed", "response.incomplete", "response.failed"];

/** An event with an `event_id` is from the Realtime API. @param {Fields} event */
export function accepts(event) {
  return typeof event.type === "string" && event.type.startsWith("response.") && !("event_id" in event);
}

/** Return a translation of events. It remembers which texts were streamed: their items repeat them. */
export function translation() {
  const blocks = new Set();
  return (/** @type {Fields} */ event) => {
    if (event.type === "response.created") blocks.clear();
    return translate(event).filter((statement) => {
      if (statement.kind !== "text") return true;
      const isRepeated = statement.ends && blocks.has(statement.block);
      blocks.add(statement.block);
      return !isRepeated;
    });
  };
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const type = String(event.type);
  const [index, text] = [asIndex(event, "output_index", "outputIndex"), asText(event, "delta")];
  if (type === "error") return [failed(event.error || event)];
  if (type === "response.output_text.delta") return textOf("text", text, 0, index);
  if (type === "response.refusal.delta") {
    return text === null ? [] : [{ kind: "text", text, choice: 0, block: index, refusal: true }];
  }
  if (THOUGHTS.includes(type)) return textOf("reasoning", text, 0, index);
  // An empty line comes between two summaries of the reasoning.
  const isNext = type === "response.reasoning_summary_part.added" && asIndex(event, "summary_index", "summaryIndex");
  if (isNext) return textOf("reasoning", "\n\n", 0, index);
  if (type.startsWith("response.output_item.")) {
    return itemStatements(asObject(event, "item"), index, type.endsWith(".done"));
  }
  return argumentStatements(type, index, event) ?? lifecycle(type, asObject(event, "response"));
}

/**
 * Return the statement of a delta of a call's arguments, or of all of them once more; null for other events.
 * @param {string} type
 * @param {number | null} index
 * @param {Fields} event
 * @returns {Statement[] | null}
 */
function argumentStatements(type, index, event) {
  const [stem, step] = [type.replace(/\.\w+$/, ""), type.slice(type.lastIndexOf(".") + 1)];
  const field = ARGUMENTS.get(stem);
  if (field === undefined || (step !== "delta" && step !== "done")) return null;
  // Some servers name the call instead of its item.
  const [id, alias] = [asId(event, "call_id", "callId"), asId(event, "item_id", "itemId")];
  /** @type {CallDelta} */
  const delta = { kind: "call", id, alias, index, name: asText(event, "name"), free: field === "input" };
  // Without text it may be an item that was cut off before its first argument.
  if (step === "delta") delta.text = asText(event, "delta");
  else if (asText(event, field) !== null) delta.end = { text: asText(event, field) };
  return [delta];
}

/**
 * @param {Fields} item
 * @param {number | null} index
 * @param {boolean} done
 * @returns {Statement[]}
 */
function itemStatements(item, index, done) {
  const { type, status, output = null, error = null } = item;
  const field = CALLS.get(type);
  if (field === undefined) {
    const text = items(item, "content")
      .map((part) => asText(part, "text") ?? "")
      .join("");
    const isText = done && type === "message" && text !== "";
    return isText ? [{ kind: "text", text, choice: 0, block: index, ends: true }] : [];
  }
  const [alias, text, hosted] = [asId(item, "id"), asText(item, field), type === "mcp_call"];
  // An MCP call has no other id than its item.
  const id = asId(item, "call_id", "callId") ?? (hosted ? alias : null);
  /** @type {CallDelta} */
  const call = { kind: "call", id, index, name: asText(item, "name"), alias, free: field === "input", hosted };
  if (!done) return [{ ...call, preset: text ?? undefined }];
  const incomplete = status === "incomplete";
  if (text !== null || incomplete || status === "completed") call.end = { text, incomplete, sure: true };
  if (!hosted || (output === null && error === null)) return [call];
  return [call, { kind: "result", id, result: error ?? output, isError: error !== null }];
}

/**
 * @param {string} type
 * @param {Fields} response
 * @returns {Statement[]}
 */
function lifecycle(type, response) {
  const message = asId(response, "id");
  if (BEGINS.includes(type)) return message === null ? [] : [{ kind: "begin", message }];
  if (!FINISHES.includes(type)) return [];
  const output = items(response, "output").flatMap((item, index) => itemStatements(item, index, true));
  const details = asObject(response, "incomplete_details", "incompleteDetails");
  const why = details.reason || type.replace("response.", "");
  const finish = type === "response.failed" ? failed(response.error) : finished(why);
  return [...output, ...usage(response, "usage"), finish];
}

/**
 * The parts of answers, as `parts()` and Python's `run_tools()` yield them and JSON keeps
 * them: of one turn or of many, with the results of tools in between.
 *
 * A program that joins several loops numbers the parts of each from 0: a part that cannot belong to the
 * turn at hand, such as more of a text that is complete, begins another one.
 */

import { isObject, own } from "../parse/values.js";
import { asId, asIndex, asText } from "./fields.js";
import { MEANINGS } from "./finish.js";
import { failed } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").CallDelta} CallDelta */
/** @typedef {import("./statements.js").End} End */

const KINDS = ["text", "reasoning", "call", "result"];

/** The end of a source says that its answer is at its end; no event does. */
export const ends = false;

/** @param {Fields} event */
export function accepts({ kind, index, call, delta }) {
  if (!KINDS.includes(kind) || asIndex(index) === null) return false;
  return kind === "call" || kind === "result" ? isObject(call) : delta !== undefined;
}

/** @returns {import("./statements.js").Translate} */
export function translation() {
  let turn = 0;
  /** The number that the sender gave the turn at hand. @type {number | null} */
  let sentTurn = null;
  /** Of the turn at hand, by the index of a part. @type {Map<number, {kind: string, id: string | null, ended: boolean}>} */
  const seen = new Map();

  /**
   * @param {string} kind
   * @param {number} index
   * @param {string | null} id
   * @param {Fields} event
   */
  function beginsTurn(kind, index, id, event) {
    const before = sentTurn;
    sentTurn = asIndex(event.turn) ?? 0;
    if (before !== null && before !== sentTurn) return true;
    const known = seen.get(index);
    if (known === undefined) return false;
    // News of a call that has ended, such as an error, bring no more of its arguments.
    const isNews = kind === "call" && known.id === id && asText(event.delta) === null;
    return known.kind !== kind || (known.ended && !isNews);
  }

  return (event) => {
    const { kind } = event;
    const index = asIndex(event.index);
    if (!KINDS.includes(kind) || index === null) {
      // The end of an event stream of parts whose source failed.
      return event.status === "ERROR" ? [failed(event.error)] : [];
    }
    const call = isObject(event.call) ? event.call : {};
    const id = asId(call.id);
    if (kind === "result") return [resultOf(id, event)];
    /** @type {Statement[]} */
    const statements = [];
    if (beginsTurn(kind, index, id, event)) {
      turn += 1;
      seen.clear();
      statements.push({ kind: "begin", message: `turn-${turn}` });
    }
    seen.set(index, { kind, id, ended: hasEnded(kind, call, event) });
    const text = asText(event.delta);
    if (kind === "call") statements.push(callDelta(index, call, text, `turn-${turn}`));
    else if (text !== null || event.complete === true) {
      const ends = event.complete === true;
      statements.push({ kind: kind === "reasoning" ? kind : "text", text: text ?? "", block: index, ends });
    }
    const meaning = meaningOf(event.reason);
    if (meaning) statements.push({ kind: "finish", reason: event.reason, detail: detailOf(event, meaning) });
    return statements;
  };
}

/**
 * @param {number} index
 * @param {Fields} call
 * @param {string | null} text
 * @param {string} message
 * @returns {CallDelta}
 */
function callDelta(index, call, text, message) {
  return {
    kind: "call",
    id: asId(call.id),
    index,
    name: asText(call.name),
    text,
    message,
    // Whatever becomes of its id, it is the call of this part.
    alias: `part-${index}`,
    free: call.encoding === "text",
    hosted: call.hosted === true,
    end: endOf(call),
  };
}

/**
 * @param {Fields} call
 * @returns {End | null}
 */
function endOf({ status, args, error }) {
  // Without arguments there is no text to compare them with.
  if (status === "complete") return { sure: true, value: isEmpty(args) ? undefined : args };
  if (status === "truncated") return { incomplete: true };
  if (status !== "error") return null;
  return { error: asText(isObject(error) ? error.message : null) ?? "the call is in error" };
}

/** @param {any} args */
function isEmpty(args) {
  return !args || (typeof args === "object" && Object.keys(args).length === 0);
}

/**
 * @param {string} kind
 * @param {Fields} call
 * @param {Fields} event
 */
function hasEnded(kind, { status = "streaming" }, { complete, reason }) {
  return kind === "call" ? status !== "streaming" : complete === true || meaningOf(reason) !== null;
}

/** What a reason for which an answer was cut means; null if it is none. @param {unknown} reason */
function meaningOf(reason) {
  const isCut = typeof reason === "string" && reason !== "error";
  return isCut ? (own(MEANINGS, reason) ?? null) : null;
}

/**
 * What the provider said of the end, which the error has behind what the reason means.
 * @param {Fields} event
 * @param {string} meaning
 */
function detailOf({ error }, meaning) {
  const message = asText(error);
  return message?.startsWith(`${meaning}: `) ? message.slice(meaning.length + 2) : null;
}

/**
 * @param {string | null} id
 * @param {Fields} event
 * @returns {Statement}
 */
function resultOf(id, { result = null, error = null }) {
  return { kind: "result", id, result: error ?? result, isError: error !== null };
}

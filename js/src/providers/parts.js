/**
 * The parts of answers, as JSON keeps them: of one turn or of many, with the results of tools in between.
 *
 * A program that joins several loops numbers the parts of each from 0. A part that cannot belong to the current turn,
 * for example more of a complete text, begins another turn.
 */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText } from "./fields.js";
import { MEANINGS } from "./finish.js";

/** @import { Fields } from "./fields.js" */
/** @import { End, Statement, Translate } from "./statements.js" */

const KINDS = ["text", "reasoning", "call", "result"];
const CUTS = Object.keys(MEANINGS).filter((reason) => reason !== "error");

/** No event marks the end of an answer; the end of the source does. */
export const ends = false;

/** @param {Fields} event */
export function accepts({ kind, index, call, delta }) {
  if (!KINDS.includes(kind) || !Number.isInteger(index)) return false;
  return kind === "call" || kind === "result" ? isObject(call) : delta !== undefined;
}

/** @returns {Translate} */
export function translation() {
  let turn = 0;
  /** The number that the sender gave the current turn. @type {number | null} */
  let sentTurn = null;
  /** The parts of the current turn, by index. @type {Map<number, {kind: string, id: string | null, hasEnded: boolean}>} */
  const turnParts = new Map();

  /**
   * @param {string} kind
   * @param {number} index
   * @param {string | null} id
   * @param {Fields} event
   */
  function beginsTurn(kind, index, id, event) {
    const before = sentTurn;
    sentTurn = asIndex(event, "turn") ?? 0;
    if (before !== null && before !== sentTurn) return true;
    const known = turnParts.get(index);
    if (known === undefined) return false;
    // An update of a call that has ended has no new arguments, unless the call is in error.
    const hasMore = event.delta && asObject(event, "call").status !== "error";
    const isNews = kind === "call" && known.id === id && !hasMore;
    return known.kind !== kind || (known.hasEnded && !isNews);
  }

  return (event) => {
    if (!accepts(event)) return [];
    const { kind, index, reason, error = null, result = null } = event;
    const call = asObject(event, "call");
    const id = asId(call, "id");
    if (kind === "result") return [{ kind, id, result: error ?? result, isError: error !== null }];
    const [text, ends, end] = [asText(event, "delta"), event.complete === true, endOf(call)];
    /** @type {Statement[]} */
    const statements = [];
    if (beginsTurn(kind, index, id, event)) {
      turn += 1;
      turnParts.clear();
      statements.push({ kind: "begin", message: `turn-${turn}` });
    }
    const isCut = CUTS.includes(reason);
    turnParts.set(index, { kind, id, hasEnded: kind === "call" ? end !== null : ends || isCut });
    if (kind === "call") {
      // The alias finds the call of this part even if its id changes.
      const which = { id, index, name: asText(call, "name"), message: `turn-${turn}`, alias: `part-${index}` };
      const [free, hosted] = [call.encoding === "text", call.hosted === true];
      statements.push({ kind, ...which, text, free, hosted, end });
    } else if (text !== null || ends) {
      statements.push({ kind, text: text ?? "", block: index, ends });
    }
    // The error is the reason's meaning and, after it, the provider's explanation.
    const [, detail = null] = String(error).split(`${MEANINGS[reason]}: `);
    if (isCut) statements.push({ kind: "finish", reason, detail });
    return statements;
  };
}

/**
 * @param {Fields} call
 * @returns {End | null}
 */
function endOf({ status, args, error }) {
  const isEmpty = !args || (typeof args === "object" && Object.keys(args).length === 0);
  // Without arguments there is no text to compare them with.
  if (status === "complete") return { sure: true, value: isEmpty ? undefined : args };
  if (status === "truncated") return { incomplete: true };
  return status === "error" ? { error: asText(error, "message") ?? "the call is in error" } : null;
}

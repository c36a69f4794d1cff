/**
 * Statements: what a provider's event says, in records that are the same for all providers.
 *
 * A provider's module turns one decoded event into statements; everything else reads statements.
 * `identity.js` decides which call a statement is about, from `message`, `choice`, `id`, `alias`,
 * `index` and `name`. A field that is null or left out says nothing.
 */

import { isObject } from "../values.js";

/**
 * A value at a JSONPath; `more`: the rest of a string follows. Without a value: the end of a string,
 * or a container.
 * @typedef {{path: string, value?: any, more: boolean}} ArgumentPart
 */
/**
 * The arguments of a call have ended. They may come once more, as `text` or as a `value`, to compare
 * with those that were streamed. `cut`: the provider says that they are not complete. `sure: false`:
 * this event ends a call without arguments and one cut off before its first character.
 * @typedef {{text?: string | null, value?: any, cut?: boolean, sure?: boolean,
 *   error?: string | null}} End
 */
/**
 * What one event says about one call. `text` is new argument text; in its place may come the complete
 * arguments (`value`) or values at paths (`parts`). `preset`: arguments stated at the start, which
 * count if nothing else comes. `alias`: another id under which later events name the call.
 * `opens: false`: this cannot open a call. `free`: the text is no JSON. `hosted`: the provider runs
 * the tool. The fields from `received` on are of jsonrill's own wire events.
 * @typedef {{kind: "call", id?: string | null, index?: number | null, name?: string | null,
 *   text?: string | null, message?: string | null, choice?: number, alias?: string | null,
 *   opens?: boolean, free?: boolean, hosted?: boolean, value?: any, parts?: ArgumentPart[],
 *   preset?: any, end?: End | null, received?: boolean, fragments?: unknown[] | null,
 *   status?: string | null, error?: {[field: string]: any} | null}} CallDelta
 */
/**
 * More of the answer's text, or of the model's reasoning. `block` tells texts apart, if an answer has
 * several.
 * @typedef {{kind: "text" | "reasoning", text: string, choice?: number,
 *   block?: number | string | null}} Said
 */
/** A response begins; the one before it has ended. @typedef {{kind: "begin", message?: string | null}} Begin */
/**
 * A response has ended: this one, or (without message and choice) everything that is open. `cut`: it
 * was stopped before the model had finished. `malformed`: why calls that are not complete are
 * malformed. `error`: the error of the provider. `last`: no event of this response follows.
 * @typedef {{kind: "finish", message?: string | null, choice?: number | null, cut?: boolean,
 *   malformed?: string | null, error?: string | null, last?: boolean}} Finish
 */
/** The result of a tool call. @typedef {{kind: "result", id: string | null, result?: any, isError?: boolean}} Result */
/**
 * The final state of all calls of a message, which replaces what was streamed.
 * @typedef {{kind: "aggregate", message: string | null, calls: CallDelta[]}} Aggregate
 */
/** The token counts, as the provider wrote them. @typedef {{kind: "usage", counts: {[name: string]: any}}} Usage */
/** @typedef {Begin | Said | CallDelta | Result | Aggregate | Usage | Finish} Statement */
/** @typedef {(event: any) => Statement[]} Translate */

/**
 * The statement of a `usage` field; none if it is no object.
 * @param {unknown} value
 * @returns {Statement[]}
 */
export function asUsage(value) {
  return isObject(value) ? [{ kind: "usage", counts: value }] : [];
}

/**
 * The statements about this choice, and those about all of them.
 * @param {Statement[]} said
 * @param {number} choice
 */
export function ofChoice(said, choice) {
  return said.filter((one) => {
    if (one.kind === "finish") return (one.choice ?? choice) === choice;
    const isOne = one.kind === "text" || one.kind === "reasoning" || one.kind === "call";
    return !isOne || (one.choice ?? 0) === choice;
  });
}

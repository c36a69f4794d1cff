/**
 * Statements: the content of a provider's events, in records that are the same for all providers.
 *
 * A provider's module turns one decoded event into statements; everything else reads statements.
 * `identity.js` decides which call a statement is about, from `message`, `choice`, `id`, `alias`,
 * `index` and `name`. A field that is null or left out is unknown.
 */

/**
 * A value at a JSONPath; `more`: the rest of a string follows. Without a value: the end of a string,
 * or a container.
 * @typedef {{path: string, value?: any, more: boolean}} ArgumentPart
 */
/**
 * The arguments of a call have ended. They may come once more, as `text` or as a `value`, to compare
 * with the streamed ones. `incomplete`: the provider says that they are not complete. `sure`: a call
 * without arguments is complete; else the end of its response decides, because the same event ends a
 * call that was cut off before their first character.
 * @typedef {{text?: string | null, value?: any, incomplete?: boolean, sure?: boolean,
 *   error?: string | null}} End
 */
/**
 * What one event says about one call. `text` is new argument text; in its place may come the complete
 * arguments (`value`) or values at paths (`parts`). `preset`: arguments stated at the start, which
 * count if no others follow. `alias`: another id under which later events name the call.
 * `opens: false`: this cannot open a call. `free`: the text is not JSON. `hosted`: the provider runs
 * the tool. `unread`: the event has unknown content, so that a call without other content is not a call
 * without arguments. The fields from `received` on are of jsonrill's own wire events.
 * @typedef {{kind: "call", id?: string | null, index?: number | null, name?: string | null,
 *   text?: string | null, message?: string | null, choice?: number, alias?: string | null,
 *   opens?: boolean, free?: boolean, hosted?: boolean, unread?: boolean, value?: any, parts?: ArgumentPart[],
 *   preset?: any, end?: End | null, received?: boolean, fragments?: unknown[] | null,
 *   status?: string | null, error?: {[field: string]: any} | null}} CallDelta
 */
/**
 * More of the answer's text, or of the model's reasoning. `block` tells texts apart, if an answer has
 * several. `refusal`: the model says why it does not answer. `ends`: the text is complete; else the next
 * part or the end of the answer completes it.
 * @typedef {{kind: "text" | "reasoning", text: string, choice?: number,
 *   block?: number | string | null, refusal?: boolean, ends?: boolean}} TextStatement
 */
/** A response begins; the one before it has ended. @typedef {{kind: "begin", message?: string | null}} Begin */
/**
 * A response has ended: this one, or (without message and choice) everything that is open. `reason`:
 * why, if the event states it; else the response is complete, unless another event states a reason. `detail`:
 * the provider's explanation, for example an error's message. `malformed`: the calls that
 * are not complete are malformed.
 * @typedef {{kind: "finish", message?: string | null, choice?: number | null,
 *   reason?: Reason | null, detail?: string | null, malformed?: boolean}} Finish
 */
/** How an answer ended. @typedef {import("./finish.js").Reason} Reason */
/** The result of a tool call. @typedef {{kind: "result", id: string | null, result?: any, isError?: boolean}} Result */
/**
 * The final state of all calls of a message, which replaces what was streamed.
 * @typedef {{kind: "aggregate", message: string | null, calls: CallDelta[]}} Aggregate
 */
/** The token counts, as the provider wrote them. @typedef {{kind: "usage", counts: {[name: string]: any}}} Usage */
/** @typedef {Begin | TextStatement | CallDelta | Result | Aggregate | Usage | Finish} Statement */
/** @typedef {(event: any) => Statement[]} Translate */

/**
 * Return the statements about this choice, and those about all of them.
 * @param {Statement[]} statements
 * @param {number} choice
 */
export function ofChoice(statements, choice) {
  return statements.filter((statement) => {
    if (statement.kind === "finish") return (statement.choice ?? choice) === choice;
    const hasChoice = statement.kind === "text" || statement.kind === "reasoning" || statement.kind === "call";
    return !hasChoice || (statement.choice ?? 0) === choice;
  });
}

/** Return true if an answer with this reason is complete. @param {Reason | null | undefined} reason */
export function isComplete(reason) {
  return reason === "complete" || reason === "calls";
}

/** Return true if the answer was cut. @param {Finish} finish */
export function isCut({ reason }) {
  return reason != null && !isComplete(reason);
}

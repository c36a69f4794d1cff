/**
 * Statements: what a provider's event says, in records that are the same for all providers.
 *
 * A provider's module turns one decoded event into statements; everything else reads statements.
 * `identity.js` decides which call a statement is about, from `message`, `choice`, `id`, `alias`,
 * `index` and `name`. A field that is null or left out says nothing.
 */

import { isObject } from "../parse/values.js";
import { asError } from "./fields.js";
import { MEANINGS, REASONS, WORDS } from "./finish.js";

/**
 * A value at a JSONPath; `more`: the rest of a string follows. Without a value: the end of a string,
 * or a container.
 * @typedef {{path: string, value?: any, more: boolean}} ArgumentPart
 */
/**
 * The arguments of a call have ended. They may come once more, as `text` or as a `value`, to compare
 * with those that were streamed. `incomplete`: the provider says that they are not complete. `sure`: a call
 * without arguments is complete; else the end of its response decides, because the same event ends a
 * call that was cut off before their first character.
 * @typedef {{text?: string | null, value?: any, incomplete?: boolean, sure?: boolean,
 *   error?: string | null}} End
 */
/**
 * What one event says about one call. `text` is new argument text; in its place may come the complete
 * arguments (`value`) or values at paths (`parts`). `preset`: arguments stated at the start, which
 * count if nothing else comes. `alias`: another id under which later events name the call.
 * `opens: false`: this cannot open a call. `free`: the text is no JSON. `hosted`: the provider runs
 * the tool. `unread`: it brings something that is not known, so that a call to which nothing else comes
 * is not one without arguments. The fields from `received` on are of jsonrill's own wire events.
 * @typedef {{kind: "call", id?: string | null, index?: number | null, name?: string | null,
 *   text?: string | null, message?: string | null, choice?: number, alias?: string | null,
 *   opens?: boolean, free?: boolean, hosted?: boolean, unread?: boolean, value?: any, parts?: ArgumentPart[],
 *   preset?: any, end?: End | null, received?: boolean, fragments?: unknown[] | null,
 *   status?: string | null, error?: {[field: string]: any} | null}} CallDelta
 */
/**
 * More of the answer's text, or of the model's reasoning. `block` tells texts apart, if an answer has
 * several. `refusal`: the model says why it does not answer. `ends`: the text is complete; else another
 * part or the end of the answer says so.
 * @typedef {{kind: "text" | "reasoning", text: string, choice?: number,
 *   block?: number | string | null, refusal?: boolean, ends?: boolean}} TextStatement
 */
/** A response begins; the one before it has ended. @typedef {{kind: "begin", message?: string | null}} Begin */
/**
 * A response has ended: this one, or (without message and choice) everything that is open. `reason`:
 * why, if the event says it; else it is complete, unless another event says something else. `detail`:
 * what the provider says of that, the message of an error, for instance. `malformed`: the calls that
 * are not complete are malformed. `last`: no event of this response follows.
 * @typedef {{kind: "finish", message?: string | null, choice?: number | null,
 *   reason?: Reason | null, detail?: string | null, malformed?: boolean, last?: boolean}} Finish
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
 * The statement of a `usage` field; none if it is no object.
 * @param {unknown} value
 * @returns {Statement[]}
 */
export function asUsage(value) {
  return isObject(value) ? [{ kind: "usage", counts: value }] : [];
}

/**
 * The statements about this choice, and those about all of them.
 * @param {Statement[]} statements
 * @param {number} choice
 */
export function ofChoice(statements, choice) {
  return statements.filter((one) => {
    if (one.kind === "finish") return (one.choice ?? choice) === choice;
    const isOne = one.kind === "text" || one.kind === "reasoning" || one.kind === "call";
    return !isOne || (one.choice ?? 0) === choice;
  });
}

/**
 * What a provider's word for the end of an answer means; null if it is not a word. Spelling does not
 * matter (`MAX_TOKENS`, `max-tokens`). An unknown word is `lost`: nothing says that the answer is complete.
 * @param {unknown} word
 * @returns {Reason | null}
 */
function finishReason(word) {
  if (typeof word !== "string" || word === "") return null;
  return WORDS.get(letters(word)) ?? "lost";
}

/** @param {string} word */
function letters(word) {
  const name = word.slice(word.lastIndexOf(".") + 1).toLowerCase();
  return name.replace(/[^\p{L}\p{N}]/gu, "");
}

/**
 * Of the words of a gateway and of the provider behind it, the one that says more was missing. A word
 * of the provider that is not known says nothing beside one of the gateway.
 * @param {unknown} word
 * @param {unknown} native
 */
function worse(word, native) {
  const behind = typeof native === "string" ? WORDS.get(letters(native)) : undefined;
  if (behind === undefined) return word;
  const reason = finishReason(word);
  const isWorse = reason === null || REASONS.indexOf(behind) > REASONS.indexOf(reason);
  return isWorse ? native : word;
}

/**
 * The statement of the provider's word for why a response has ended. `native` is the word of the
 * provider behind it, where there are two.
 * @param {unknown} stated
 * @param {{message?: string | null, choice?: number | null, last?: boolean}} [whose]
 * @param {unknown} [native]
 * @returns {Finish}
 */
export function finished(stated, whose = {}, native = null) {
  const word = worse(stated, native);
  const reason = finishReason(word);
  const detail = reason === "error" ? String(word) : null;
  const malformed = detail?.toLowerCase().startsWith("malformed") ?? false;
  return { kind: "finish", ...whose, reason, detail, malformed };
}

/**
 * The statement of an error of the provider, which is a text or an object with a `message`.
 * @param {unknown} error
 * @param {boolean} [last]
 * @returns {Finish}
 */
export function failed(error, last = true) {
  return { kind: "finish", reason: "error", detail: asError(error), last };
}

/**
 * The statement of a delta of an unknown type, about the call at this index, if there is one.
 * @param {number | null} index
 * @returns {Statement[]}
 */
export function unread(index) {
  return index === null ? [] : [{ kind: "call", index, opens: false, unread: true }];
}

/** True if an answer that ended so has all of its text. @param {Reason | null | undefined} reason */
export function isComplete(reason) {
  return reason === "complete" || reason === "calls";
}

/** True if the model had not finished. @param {Finish} finish */
export function isCut({ reason }) {
  return reason != null && !isComplete(reason);
}

/** Fills in what a caller wants to know of an answer: its text, its end, its token counts. */
export class Watch {
  #ending = new Ending();
  #answer;
  #choice;
  /** @type {{[name: string]: any}} */
  #counts = {};

  /**
   * @param {import("../answer.js").Answer} answer
   * @param {number} [choice]
   */
  constructor(answer, choice = 0) {
    answer.begin();
    this.#answer = answer;
    this.#choice = choice;
  }

  /** @param {Statement[]} statements */
  read(statements) {
    for (const one of statements) {
      if (one.kind === "usage") Object.assign(this.#counts, one.counts);
      else if (one.kind === "text" && (one.choice ?? 0) === this.#choice) this.#answer.add(one.text);
    }
    this.#ending.feed(statements);
    this.#answer.finish = this.#ending.of(this.#choice);
  }

  /** The stream has been read to its end; `ends` is that of `Ending.cut`. @param {boolean} ends */
  end(ends) {
    const cut = this.#ending.cut(this.#choice, ends);
    // Of a stream that was lost on the way, the last counts have not come.
    const isWhole = !cut || this.#answer.finish !== null;
    if (isWhole && Object.keys(this.#counts).length !== 0) this.#answer.usage = this.#counts;
    if (cut) this.#answer.finish = /** @type {Reason} */ (cut.reason);
  }
}

// How much of a refusal is quoted.
const QUOTED = 500;

/** Keeps track of how the choices of an answer ended. */
export class Ending {
  /** All choices that have come; null: not ended. @type {Map<number, Reason | null>} */
  #choices = new Map();
  /** What the model says in those in which it refuses to answer. @type {Map<number, string>} */
  #refusing = new Map();
  /** Those that wait for the results of calls. @type {Set<number>} */
  #calling = new Set();
  /** What the provider said of the end. @type {Map<number, string>} */
  #details = new Map();

  /** @param {Statement[]} statements */
  feed(statements) {
    for (const one of statements) {
      if (one.kind === "text" || one.kind === "reasoning" || one.kind === "call") this.#grow(one);
      else if (one.kind === "begin") for (const its of this.#all()) its.clear();
      else if (one.kind === "result") this.#calling.clear();
      else if (one.kind === "finish") this.#finish(one);
      else if (one.kind === "aggregate") {
        const isLost = one.calls.some(({ status }) => status === "truncated");
        this.#finish({ kind: "finish", reason: isLost ? "lost" : null });
      }
    }
  }

  /** How this choice ended; null if it has not. @param {number} choice @returns {Reason | null} */
  of(choice) {
    const reason = this.#choices.get(choice) ?? null;
    if (reason !== "complete") return reason;
    // Not every provider has words of its own for these.
    if (this.#refusing.has(choice)) return "refused";
    return this.#calling.has(choice) ? "calls" : reason;
  }

  /**
   * How this choice was cut, once its stream has ended; null if it was not. `ends`: the format of the
   * stream has an event for the end, without which it is lost.
   * @param {number} choice
   * @param {boolean} ends
   * @returns {import("../errors.js").Cut | null}
   */
  cut(choice, ends) {
    const known = this.of(choice);
    const refuses = this.#refusing.has(choice) && (known === null || known === "refused");
    const reason = refuses ? "refused" : (known ?? (ends ? "lost" : null));
    if (reason === null || reason === "error" || isComplete(reason)) return null;
    const detail = (refuses && this.#refusing.get(choice)) || this.#details.get(choice);
    return { reason, message: detail ? `${MEANINGS[reason]}: ${detail}` : MEANINGS[reason] };
  }

  #all() {
    return [this.#choices, this.#refusing, this.#calling, this.#details];
  }

  /** @param {TextStatement | CallDelta} statement */
  #grow(statement) {
    const { choice = 0 } = statement;
    const ended = (this.#choices.get(choice) ?? null) !== null;
    // An agent's next response, which nothing else begins.
    if (ended && (statement.text || statement.kind !== "call")) for (const its of this.#all()) its.delete(choice);
    if (!this.#choices.has(choice)) this.#choices.set(choice, null);
    if (statement.kind === "call") {
      if (statement.name && !statement.hosted) this.#calling.add(choice);
    } else if (statement.refusal) {
      this.#refusing.set(choice, ((this.#refusing.get(choice) ?? "") + statement.text).slice(0, QUOTED));
    }
  }

  /** @param {Finish} finish */
  #finish(finish) {
    const { choice = null, reason = null, detail = null } = finish;
    const all = this.#choices.size === 0 ? [0] : [...this.#choices.keys()];
    for (const one of choice === null ? all : [choice]) {
      const known = this.#choices.get(one) ?? null;
      // Some end it twice, and give the reason once; an answer that was cut stays so.
      if (known !== null && !(isComplete(known) && reason !== null)) continue;
      this.#choices.set(one, reason ?? "complete");
      if (detail !== null) this.#details.set(one, detail);
    }
  }
}

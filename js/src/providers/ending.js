/** How the choices of an answer ended, and why one was cut. */

import { MEANINGS } from "./finish.js";
import { isComplete } from "./statements.js";

/** @import { Cut } from "../parse/machine.js" */
/** @import { CallDelta, Finish, Reason, Statement, TextStatement } from "./statements.js" */

// The most characters of a refusal to quote.
const MAX_QUOTE = 500;

/** Keeps track of how the choices of an answer ended. */
export class Ending {
  /** All choices that have come; null: not ended. @type {Map<number, Reason | null>} */
  #choices = new Map();
  /** The model's text in choices where it refuses to answer. @type {Map<number, string>} */
  #refusing = new Map();
  /** The choices that wait for the results of calls. @type {Set<number>} */
  #calling = new Set();
  /** The provider's explanation of the end. @type {Map<number, string>} */
  #details = new Map();

  /** @param {Statement[]} statements */
  feed(statements) {
    for (const statement of statements) {
      if (statement.kind === "text" || statement.kind === "reasoning" || statement.kind === "call") this.#grow(statement);
      else if (statement.kind === "begin") for (const state of this.#all()) state.clear();
      else if (statement.kind === "result") this.#calling.clear();
      else if (statement.kind === "finish") this.#finish(statement);
      else if (statement.kind === "aggregate") {
        const isLost = statement.calls.some(({ status }) => status === "truncated");
        this.#finish({ kind: "finish", reason: isLost ? "lost" : null });
      }
    }
  }

  /** Return how this choice ended; null if it has not. @param {number} choice @returns {Reason | null} */
  of(choice) {
    const reason = this.#choices.get(choice) ?? null;
    if (reason !== "complete") return reason;
    // Not every provider has its own reasons for these.
    if (this.#refusing.has(choice)) return "refused";
    return this.#calling.has(choice) ? "calls" : reason;
  }

  /**
   * Return how this choice was cut, once its stream has ended; null if it was not. `ends`: the stream's
   * format marks the end, so a stream without the mark is lost.
   * @param {number} choice
   * @param {boolean} ends
   * @returns {Cut | null}
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
    // The next response of an agent, which no event begins.
    if (ended && (statement.text || statement.kind !== "call")) for (const state of this.#all()) state.delete(choice);
    if (!this.#choices.has(choice)) this.#choices.set(choice, null);
    if (statement.kind === "call") {
      if (statement.name && !statement.hosted) this.#calling.add(choice);
    } else if (statement.refusal) {
      this.#refusing.set(choice, ((this.#refusing.get(choice) ?? "") + statement.text).slice(0, MAX_QUOTE));
    }
  }

  /** @param {Finish} finish */
  #finish(finish) {
    const { choice = null, reason = null, detail = null } = finish;
    const all = this.#choices.size === 0 ? [0] : [...this.#choices.keys()];
    for (const index of choice === null ? all : [choice]) {
      const known = this.#choices.get(index) ?? null;
      // Some providers end a choice twice, and give the reason once. A cut answer stays cut.
      if (known !== null && !(isComplete(known) && reason !== null)) continue;
      this.#choices.set(index, reason ?? "complete");
      if (detail !== null) this.#details.set(index, detail);
    }
  }
}

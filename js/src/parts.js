/**
 * The parts of an answer, in the order in which they begin: text, reasoning, calls, results.
 *
 * A text or a thought is complete when another part begins or the answer ends. Calls may grow side by side, so a
 * call keeps its index while later parts come. For example, an answer with a thought, a call and a text:
 *
 *     reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
 *     call 1 '{"city":'        call 1 '"Rome"}' complete
 *     text 2 "One moment."     text 2 "" complete
 */

import { Ending } from "./providers/ending.js";
import { MEANINGS } from "./providers/finish.js";
import { Reader } from "./providers/reader.js";
import { ofChoice } from "./providers/statements.js";
import { Calls } from "./toolcalls/calls.js";

/** @import { Cut, Limits } from "./parse/machine.js" */
/** @import { Provider } from "./providers/reader.js" */
/** @import { Statement, TextStatement } from "./providers/statements.js" */
/** @import { Call, ToolCall } from "./toolcalls/call.js" */
/** @import { CallUpdate } from "./toolcalls/calls.js" */
/**
 * `choice` selects one of several answers.
 * @typedef {{choice?: number, provider?: Provider, limits?: Limits}} PartsOptions
 */
/**
 * The fields of every part. `index` numbers the parts, `turn` the answers of a conversation. `delta` is the new
 * text, `text` all of it; for a call, the argument text. `complete`: a text has ended, or the arguments of a call
 * are a complete value. It is true at most once for each part. `error` and `reason` explain why a text was cut.
 * @typedef {{readonly index: number, readonly turn: number, readonly delta: string, readonly text: string,
 *   readonly complete: boolean, readonly error: string | null, readonly reason: string | null}} AnyPart
 */
/**
 * An immutable snapshot of one part of an answer. A result has the `result` or `error` that the tool returned.
 * @typedef {AnyPart & ({readonly kind: "text" | "reasoning", readonly call: null, readonly result: undefined}
 *   | {readonly kind: "call", readonly call: ToolCall, readonly result: undefined}
 *   | {readonly kind: "result", readonly call: ToolCall, readonly result: any})} Part
 */

class PartSnapshot {
  /** @param {object} fields */
  constructor(fields) {
    Object.assign(this, fields);
  }

  /** Return the part on the wire: its delta, and a call's arguments once they are complete. */
  toJSON() {
    const { kind, index, turn, delta, complete, call, result, error, reason } = /** @type {Part} */ (/** @type {any} */ (this));
    const which = { kind, index, ...(turn && { turn }), ...(call && { call: callFields(call, kind, complete) }) };
    if (kind === "result") return { ...which, result, error };
    return { ...which, delta, complete, ...(error && { error }), ...(reason && { reason }) };
  }
}

/**
 * @param {ToolCall} call
 * @param {string} kind
 * @param {boolean} complete
 */
function callFields({ id, name, status, args, encoding, hosted, error }, kind, complete) {
  if (kind !== "call") return { id, name, status };
  const more = { ...(complete && { args }), ...(hosted && { hosted }), ...(error && { error }) };
  return { id, name, status, ...(encoding === "text" && { encoding }), ...more };
}

/** Reads a provider's events and returns the parts of the answer as they grow. */
export class Parts {
  /** Turns events into statements, for `read`. */
  reader;
  #choice;
  #calls;
  /** The part that text is added to. @type {{kind: "text" | "reasoning", block: unknown, index: number, text: string} | null} */
  #open = null;
  /** @type {Map<Call, number>} */
  #indices = new Map();
  /** The calls that have had a complete part. @type {Set<Call>} */
  #completed = new Set();
  #count = 0;
  // The number of the current response, and the index of its first part.
  #turn = 0;
  #first = 0;
  /** True if a part explains why the answer was cut. */
  #isExplained = false;
  #ending = new Ending();
  /** The error of the provider. @type {string | null} */
  error = null;
  /** The token counts, as the provider wrote them. @type {{[name: string]: any} | null} */
  usage = null;

  /** @param {PartsOptions} [options] */
  constructor({ choice = 0, provider = "auto", limits } = {}) {
    if (!Number.isInteger(choice) || choice < 0) {
      throw new TypeError(`choice must be a whole number from 0 up, not ${String(choice)}`);
    }
    this.#choice = choice;
    this.reader = new Reader(provider);
    this.#calls = new Calls({ limits, keep: Infinity });
  }

  /** How the answer ended; null if the provider has not ended it. */
  get outcome() {
    return this.#ending.of(this.#choice);
  }

  /**
   * Return the parts that one event changes.
   * @param {unknown} event
   */
  feed(event) {
    return this.read(this.reader.feed(event));
  }

  /**
   * Return the parts that the statements of one event change.
   * @param {Statement[]} statements
   * @returns {Part[]}
   */
  read(statements) {
    const chosen = ofChoice(statements, this.#choice);
    this.#ending.feed(chosen);
    // A call that came before token counts is complete, not one that comes in the same event.
    const isCount = (/** @type {Statement} */ { kind }) => kind === "usage";
    const sorted = chosen.some(isCount)
      ? [...chosen.filter(isCount), ...chosen.filter((statement) => !isCount(statement))]
      : chosen;
    return sorted.flatMap((statement) => {
      const parts = this.#act(statement);
      if (statement.kind === "begin") {
        if (this.#count > this.#first) this.#turn += 1;
        this.#first = this.#count;
      }
      return parts;
    });
  }

  /**
   * The parts at the end of the stream: calls that have not ended are truncated. `hasEnded`: the stream marked
   * its end, such as with `[DONE]`.
   * @param {boolean} [hasEnded]
   */
  flush(hasEnded = false) {
    const last = this.reader.endsWithSource ? this.read([{ kind: "finish" }]) : [];
    const cut = this.#ending.cut(this.#choice, this.reader.ends && !hasEnded);
    return [...last, ...this.#changes(this.#calls.end([]), cut), ...this.#closeText(cut), ...this.#explain(cut)];
  }

  /**
   * @param {Statement} statement
   * @returns {Part[]}
   */
  #act(statement) {
    if (statement.kind === "text" || statement.kind === "reasoning") return this.#text(statement);
    const isFinish = statement.kind === "finish";
    const cut = this.#ending.cut(this.#choice, isFinish);
    const parts = this.#changes(this.#calls.read([statement]), cut);
    if (isFinish && statement.reason === "error") this.error ??= statement.detail ?? MEANINGS.error;
    if (statement.kind === "usage") this.usage = { ...this.usage, ...statement.counts };
    if (statement.kind === "begin") parts.push(...this.#closeText());
    if (isFinish) parts.push(...this.#closeText(cut), ...this.#explain(cut));
    return parts;
  }

  /**
   * @param {TextStatement} statement
   * @returns {Part[]}
   */
  #text({ kind, text, block = null, ends = false }) {
    /** @type {Part[]} */
    let parts = [];
    if (this.#open === null || this.#open.kind !== kind || this.#open.block !== block) {
      parts = this.#closeText();
      this.#open = { kind, block, index: this.#begin(), text: "" };
    }
    this.#open.text += text;
    if (text || !ends) parts.push(this.#part(kind, this.#open.index, { delta: text, text: this.#open.text }));
    return ends ? [...parts, ...this.#closeText()] : parts;
  }

  /** Return the index of a new part. */
  #begin() {
    this.#isExplained = false;
    this.#count += 1;
    return this.#count - 1;
  }

  /**
   * End the open text. If it was cut, it is not complete, and its `error` says why.
   * @param {Cut | null} [cut]
   */
  #closeText(cut = null) {
    const open = this.#open;
    this.#open = null;
    if (open === null) return [];
    const error = cut?.message ?? (this.#ending.of(this.#choice) === "error" ? this.error : null);
    this.#isExplained ||= cut !== null;
    const fields = { text: open.text, complete: error === null, error, reason: cut?.reason };
    return [this.#part(open.kind, open.index, fields)];
  }

  /**
   * Return an empty text that says why the answer was cut, if no other part does.
   * @param {Cut | null} cut
   */
  #explain(cut) {
    if (cut === null || this.#isExplained) return [];
    this.#open = { kind: "text", block: null, index: this.#begin(), text: "" };
    return this.#closeText(cut);
  }

  /**
   * @param {CallUpdate[]} updates
   * @param {Cut | null} cut
   * @returns {Part[]}
   */
  #changes(updates, cut) {
    return updates.flatMap(({ call, text, isResult }) => {
      if (isResult) return [this.#result(call)];
      let index = this.#indices.get(call);
      const parts = index === undefined ? this.#closeText() : [];
      if (index === undefined) {
        index = this.#begin();
        this.#indices.set(call, index);
      }
      // A name may come after the arguments; until then the call cannot be used.
      const isNamed = call.name !== null || call.status === "complete";
      const complete = call.completeArgs && isNamed && !this.#completed.has(call);
      if (complete) this.#completed.add(call);
      const isCut = call.status === "truncated" && cut !== null;
      this.#isExplained ||= isCut;
      const fields = { delta: text ?? "", complete, call: call.snapshot(), reason: isCut ? cut.reason : null };
      return [...parts, this.#part("call", index, fields)];
    });
  }

  /** @param {Call} call */
  #result(call) {
    const { result } = call;
    const error = !call.resultIsError ? null : typeof result === "string" ? result : JSON.stringify(result);
    const value = call.resultIsError ? undefined : result;
    this.#count += 1;
    return this.#part("result", this.#count - 1, { complete: true, call: call.snapshot(), result: value, error });
  }

  /**
   * @param {"text" | "reasoning" | "call" | "result"} kind
   * @param {number} index
   * @param {{delta?: string, text?: string, complete?: boolean, call?: ToolCall, result?: any, error?: string | null,
   *   reason?: string | null}} fields
   * @returns {Part}
   */
  #part(kind, index, { delta = "", text = "", complete = false, call, result, error = null, reason = null }) {
    const which = { kind, index, turn: this.#turn, delta, text: call?.raw ?? text, complete };
    return /** @type {any} */ (new PartSnapshot({ ...which, call: call ?? null, result, error, reason }));
  }
}

/**
 * @param {Part} part
 * @param {object} fields
 */
function withFields(part, fields) {
  return /** @type {Part} */ (/** @type {any} */ (new PartSnapshot({ ...part, ...fields })));
}

/** Collects parts as they grow, for views: a changed part is a new object, the others stay the same objects. */
export class PartList {
  /** @type {readonly Part[]} */
  #parts = [];

  /**
   * Add a changed part and return the list. A complete part stays complete, and a call has its result, too.
   * @param {Part} part
   */
  add(part) {
    const parts = this.#parts.slice();
    const { kind, index, call } = part;
    const isComplete = part.complete || (parts[index]?.complete ?? false);
    parts[index] = isComplete === part.complete ? part : withFields(part, { complete: isComplete });
    if (kind === "result") {
      const at = parts.findIndex((other) => other?.kind === "call" && other.call.id === call.id);
      if (at >= 0) parts[at] = withFields(parts[at], { call });
    }
    this.#parts = parts;
    return this.#parts;
  }
}

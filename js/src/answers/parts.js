/**
 * The parts of an answer, in the order in which they begin: text, reasoning, calls, results.
 *
 * A text or a thought is complete when another part begins or the answer ends. Calls may grow beside
 * each other, so a call keeps its index while later parts come. For example, an answer with a thought,
 * a call and a text:
 *
 *     reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
 *     call 1 '{"city":'        call 1 '"Rome"}' complete
 *     text 2 "One moment."     text 2 "" complete
 */

import { Calls } from "../toolcalls/calls.js";
import { readText } from "../toolcalls/arguments.js";
import { Reader } from "../providers/index.js";
import { Ending, ofChoice, Watch } from "../providers/statements.js";

/** @typedef {import("../answer.js").Answer} Answer */
/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("../toolcalls/call.js").ToolCall} ToolCall */
/** @typedef {import("../toolcalls/calls.js").CallUpdate} CallUpdate */
/** @typedef {import("../providers/statements.js").Statement} Statement */
/** @typedef {import("../providers/statements.js").TextStatement} TextStatement */
/**
 * `choice` selects one of several answers.
 * @typedef {Omit<import("../toolcalls/calls.js").CallOptions, "keep"> & {choice?: number,
 *   provider?: import("../providers/index.js").Provider}} PartsOptions
 */
/** @typedef {"text" | "reasoning" | "call" | "result"} PartKind */
/**
 * A part by its kind: of `call` and `result` there is a call, of the others none.
 * @typedef {(Part & {kind: "text" | "reasoning", call: null, value: string})
 *   | (Part & {kind: "call", call: ToolCall}) | (Part & {kind: "result", call: ToolCall})} AnyPart
 */

/**
 * A change of one part of an answer, or its end. It shows what was true when it was made.
 *
 * `index` numbers the parts, `turn` the answers of a conversation; `delta` is the text that is new.
 * `complete`: a text has ended, or the arguments of a call are a complete value; it is true once for
 * each part. A text that was cut ends with an `error`, and like a call that was cut it has the
 * `reason`. `call` is the call, also of a result, and `status` its status; of a result, `result` or
 * `error` is what the tool returned.
 */
export class Part {
  #text;
  // The length of the argument text: the call grows on.
  #length;
  /** @type {any} */
  result = undefined;
  /** @type {string | null} */
  error = null;
  /** @type {string | null} */
  reason = null;

  /**
   * @param {PartKind} kind
   * @param {number} index
   * @param {string} delta
   * @param {boolean} complete
   * @param {ToolCall | null} call
   * @param {string} text
   */
  constructor(kind, index, delta, complete, call, text) {
    this.kind = kind;
    this.index = index;
    this.delta = delta;
    this.complete = complete;
    this.call = call;
    this.turn = 0;
    this.status = call?.status ?? null;
    this.#text = text;
    this.#length = call?.raw.length ?? 0;
  }

  /** The text of the part up to here; of a call, the argument text so far. */
  get text() {
    return this.call === null ? this.#text : this.call.raw.slice(0, this.#length);
  }

  /** The arguments of the call, as far as they are known; else the text. It is safe to keep. */
  get value() {
    const { call, text } = this;
    if (call === null || call.encoding === "text") return text;
    return text.length === call.raw.length ? call.args : readText(text).value;
  }

  /** The part as JSON wants it: its delta, and of a call its arguments once complete. */
  toJSON() {
    const { kind, index, turn, delta, complete, call, result, error, reason } = this;
    const which = { kind, index, ...(turn && { turn }) };
    const where = { ...which, ...(call && { call: this.#callFields(call) }) };
    if (kind === "result") return { ...where, result, error };
    return { ...where, delta, complete, ...(error && { error }), ...(reason && { reason }) };
  }

  /** @param {ToolCall} call */
  #callFields({ id, name, encoding, hosted, error }) {
    const fields = { id, name, status: this.status };
    if (this.kind !== "call") return fields;
    return {
      ...fields,
      ...(this.complete && { args: this.value }),
      ...(encoding === "text" && { encoding }),
      ...(hosted && { hosted }),
      ...(this.status === "error" && { error }),
    };
  }
}

/** Reads a provider's events and returns the parts of the answer as they grow. */
export class Parts {
  #reader;
  #choice;
  #calls;
  /** The part that text is added to. @type {{kind: PartKind, block: unknown, index: number, text: string} | null} */
  #open = null;
  /** @type {Map<ToolCall, number>} */
  #indices = new Map();
  /** The calls of which a part was complete. @type {Set<ToolCall>} */
  #completed = new Set();
  #count = 0;
  /** The number of the response at hand, and the index of its first part. */
  #turn = 0;
  #first = 0;
  /** True if a part says why the answer was cut. */
  #isTold = false;
  #ending = new Ending();
  /** The error of the provider. @type {string | null} */
  error = null;
  /** The token counts, as the provider wrote them. @type {{[name: string]: any} | null} */
  usage = null;
  /** @type {Watch | null} */
  #watch = null;

  /** @param {PartsOptions} [options] */
  constructor({ choice = 0, provider = "auto", ...options } = {}) {
    if (!Number.isInteger(choice) || choice < 0) {
      throw new TypeError(`choice is a whole number from 0 up, not ${String(choice)}`);
    }
    this.#choice = choice;
    this.#reader = new Reader(provider);
    this.#calls = new Calls({ ...options, keep: Infinity });
  }

  /** Let the caller's object know of the text, the end and the token counts. @param {Answer} answer */
  tell(answer) {
    this.#watch = new Watch(answer, this.#choice);
  }

  /** How the answer ended; null if the provider has not ended it. */
  get outcome() {
    return this.#ending.of(this.#choice);
  }

  /** The calls of the answer, in the order in which they began. */
  get calls() {
    return this.#calls.calls;
  }

  /**
   * The parts that one event changes.
   * @param {unknown} event
   */
  add(event) {
    // A call that came before token counts is complete, not one that comes in the same event.
    return this.#read(ofChoice(this.#reader.feed(event), this.#choice));
  }

  /** @param {Statement[]} statements */
  #read(statements) {
    this.#ending.feed(statements);
    this.#watch?.read(statements);
    const counts = statements.filter(({ kind }) => kind === "usage");
    const rest = counts.length ? statements.filter(({ kind }) => kind !== "usage") : statements;
    return [...counts, ...rest].flatMap((one) => {
      const parts = this.#ofTurn(this.#act(one));
      if (one.kind === "begin") {
        if (this.#count > this.#first) this.#turn += 1;
        this.#first = this.#count;
      }
      return parts;
    });
  }

  /**
   * The parts at the end of the stream: calls that have not ended are truncated. `isDone`: the stream
   * said that it is at its end, such as with `[DONE]`.
   * @param {boolean} [isDone]
   */
  flush(isDone = false) {
    const last = this.#reader.endsWithSource ? this.#read([{ kind: "finish" }]) : [];
    const ends = this.#reader.ends && !isDone;
    const cut = this.#ending.cut(this.#choice, ends);
    this.#watch?.end(ends);
    last.push(...this.#changes(this.#calls.end([]), cut), ...this.#closeText(cut));
    return this.#ofTurn([...last, ...this.#tell(cut)]);
  }

  /** @param {Part[]} parts */
  #ofTurn(parts) {
    for (const part of parts) part.turn = this.#turn;
    return parts;
  }

  /**
   * @param {Statement} statement
   * @returns {Part[]}
   */
  #act(statement) {
    switch (statement.kind) {
      case "text":
      case "reasoning":
        return this.#text(statement);
      case "usage":
        this.usage = { ...this.usage, ...statement.counts };
        this.#calls.read([statement]);
        return [];
      default: {
        const cut = this.#ending.cut(this.#choice, statement.kind === "finish");
        const parts = this.#changes(this.#calls.read([statement]), cut);
        if (statement.kind === "begin") parts.push(...this.#closeText());
        if (statement.kind === "finish") parts.push(...this.#closeText(cut), ...this.#tell(cut));
        if (statement.kind === "finish" && statement.reason === "error") this.error ??= statement.detail ?? null;
        return parts;
      }
    }
  }

  /** @param {TextStatement} statement */
  #text({ kind, text, block = null, ends = false }) {
    /** @type {Part[]} */
    let parts = [];
    if (this.#open === null || this.#open.kind !== kind || this.#open.block !== block) {
      parts = this.#closeText();
      this.#open = { kind, block, index: this.#begin(), text: "" };
    }
    this.#open.text += text;
    if (text || !ends) parts.push(new Part(kind, this.#open.index, text, false, null, this.#open.text));
    return ends ? [...parts, ...this.#closeText()] : parts;
  }

  /** The index of a part that begins. */
  #begin() {
    this.#isTold = false;
    this.#count += 1;
    return this.#count - 1;
  }

  /**
   * End the open text; one that was cut is not complete, and its `error` says why.
   * @param {Cut | null} [cut]
   */
  #closeText(cut = null) {
    const entry = this.#open;
    this.#open = null;
    if (entry === null) return [];
    const last = new Part(entry.kind, entry.index, "", cut === null, null, entry.text);
    last.error = cut?.message ?? null;
    this.#blame(last, cut);
    return [last];
  }

  /**
   * Let a part say why the answer was cut.
   * @param {Part} part
   * @param {Cut | null} cut
   */
  #blame(part, cut) {
    if (cut === null) return;
    part.reason = cut.reason;
    this.#isTold = true;
  }

  /**
   * An empty text that says why the answer was cut, if no other part does.
   * @param {Cut | null} cut
   */
  #tell(cut) {
    if (cut === null || this.#isTold) return [];
    this.#open = { kind: "text", block: null, index: this.#begin(), text: "" };
    return this.#closeText(cut);
  }

  /**
   * @param {CallUpdate[]} updates
   * @param {Cut | null} [cut]
   */
  #changes(updates, cut = null) {
    return updates.flatMap(({ call, text, isResult }) => {
      if (isResult) return [this.#result(call)];
      let index = this.#indices.get(call);
      const parts = index === undefined ? this.#closeText() : [];
      if (index === undefined) {
        index = this.#begin();
        this.#indices.set(call, index);
      }
      const isComplete = call.completeArgs && !this.#completed.has(call);
      if (isComplete) this.#completed.add(call);
      const part = new Part("call", index, text ?? "", isComplete, call, "");
      if (call.status === "truncated") this.#blame(part, cut);
      return [...parts, part];
    });
  }

  /** @param {ToolCall} call */
  #result(call) {
    const part = new Part("result", this.#count, "", true, call, "");
    this.#count += 1;
    const { result } = call;
    if (!call.resultIsError) part.result = result;
    else part.error = typeof result === "string" ? result : JSON.stringify(result);
    return part;
  }
}

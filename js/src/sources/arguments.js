/** The arguments of tool calls in a provider's statements, as the text of one document after another. */

import { Calls } from "../toolcalls/calls.js";
import { InvalidJSON } from "../errors.js";
import { SEPARATOR } from "../streams/core.js";
import { Ending, ofChoice } from "../providers/statements.js";
import { SourceFailed } from "./failures.js";

/** @typedef {import("../toolcalls/call.js").ToolCall} ToolCall */
/** @typedef {import("./decoding.js").Wanted} Wanted */
/** @typedef {import("../providers/statements.js").Statement} Statement */

// Errors that the reader of the text finds by itself.
const IN_THE_TEXT = ["INVALID_JSON", "TRUNCATED", "LIMIT_EXCEEDED"];

/** A call, and its argument text that has not been handed on. */
class Waiting {
  /** @type {string[]} */
  texts = [];
  // In characters, as the offset of an error.
  size = 0;
  failed = false;

  /** @param {ToolCall} call */
  constructor(call) {
    this.call = call;
  }

  /**
   * Add text. After an error in it the rest is left out: it must not look like a document.
   * @param {string} text
   */
  add(text) {
    if (this.failed) return;
    const { error } = this.call;
    let chars = [...text];
    if (error !== null && IN_THE_TEXT.includes(error.code)) {
      this.failed = true;
      const offset = error.offset ?? this.size + chars.length;
      chars = chars.slice(0, Math.max(offset + 1 - this.size, 0));
    }
    this.size += chars.length;
    this.texts.push(chars.join(""));
  }
}

/**
 * The argument text of the calls of one tool, or (true) of any.
 *
 * Calls come one after another, each but the first after a record separator. Of calls that are
 * interleaved the later one waits until the arguments of the earlier one are complete.
 * @implements {Wanted}
 */
export class ArgumentText {
  /** True once all that is wanted has arrived. */
  isDone = false;
  #tool;
  #choice;
  #first;
  #calls;
  /** @type {Map<ToolCall, Waiting>} */
  #queue = new Map();
  // Calls that were handed on, and those that are not wanted.
  /** @type {Map<ToolCall, Waiting>} */
  #passed = new Map();
  /** @type {Set<ToolCall>} */
  #unwanted = new Set();
  /** @type {Waiting | null} */
  #begun = null;
  #count = 0;
  #ending = new Ending();

  /**
   * @param {string | boolean} tool
   * @param {number} choice
   * @param {boolean} first
   */
  constructor(tool, choice, first) {
    this.#calls = new Calls();
    this.#tool = tool;
    this.#choice = choice;
    this.#first = first;
  }

  get missing() {
    if (this.#count !== 0) return null;
    if (this.#tool === true) return "the answer has no tool calls: leave out tool to read its text";
    const others = new Set([...this.#unwanted].map(({ name }) => name ?? "?"));
    const named = others.size === 0 ? "" : `, but of ${[...others].join(", ")}`;
    return `the answer has no call of ${this.#tool}${named}`;
  }

  /** @param {Statement[]} statements */
  pieces(statements) {
    const its = ofChoice(statements, this.#choice);
    this.#ending.feed(its);
    for (const { call, text } of this.#calls.read(its)) {
      // More text after complete arguments is an error, which `flush` reports.
      if (this.#passed.has(call) || this.#unwanted.has(call)) continue;
      const waiting = this.#queue.get(call) ?? new Waiting(call);
      this.#queue.set(call, waiting);
      // A `{}` may be replaced; if it is not, it is handed on when the call is closed.
      if (text && !call.isPlaceholder) waiting.add(text);
    }
    return this.#emit(false);
  }

  /** How the calls were cut, once their stream has ended. @param {boolean} ends */
  cut(ends) {
    const passed = [...this.#passed.keys()];
    if (passed.length !== 0 && passed.every(({ status }) => status === "complete")) return null;
    return this.#ending.cut(this.#choice, ends);
  }

  /** What waited for calls that have not ended; an error that the text does not show. */
  *flush() {
    this.#calls.end([]);
    yield* this.#emit(true);
    for (const { call, failed } of this.#passed.values()) {
      // Those that failed in their text are reported by the reader of the text.
      if (call.error !== null && !failed) throw failure(call);
    }
  }

  /** @param {boolean} isLast */
  *#emit(isLast) {
    while (this.#queue.size !== 0 && !this.isDone) {
      const [[call, waiting]] = this.#queue;
      const isClosed = isLast || call.status !== "streaming";
      if (waiting.texts.length === 0 && !isClosed) return;
      if (this.#tool !== true && call.name !== this.#tool) {
        this.#queue.delete(call);
        this.#unwanted.add(call);
        continue;
      }
      if (this.#begun !== waiting) {
        this.#begun = waiting;
        this.#count += 1;
        if (this.#count > 1) yield SEPARATOR;
      }
      const { texts } = waiting;
      waiting.texts = [];
      yield* texts;
      if (isClosed) {
        if (waiting.size === 0 && call.status === "complete") yield "{}";
      } else if (!(call.argsEnded && this.#isNextBegun())) {
        return;
      }
      this.#queue.delete(call);
      this.#passed.set(call, waiting);
      this.isDone = this.#first;
    }
  }

  /** True if a call behind the first one in the queue has text and may be wanted. */
  #isNextBegun() {
    const behind = [...this.#queue.values()].slice(1);
    return behind.some(({ call, texts }) => texts.length !== 0 && (this.#tool === true || this.#tool === call.name));
  }
}

/** @param {ToolCall} call */
function failure({ id, name, error }) {
  if (error !== null && IN_THE_TEXT.includes(error.code)) {
    const { message, offset, line, column } = error;
    return new InvalidJSON(message, "", { offset, line, column });
  }
  return new SourceFailed(`the call ${id} of ${name}: ${error?.message}`);
}

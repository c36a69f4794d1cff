/**
 * The parts of an answer as a list for views: what has changed is a new object, all else is the same
 * one, so that `===` tells what to draw again.
 */

import { progress } from "../build/state.js";

/** @typedef {import("../answers/parts.js").Part} Part */
/** @typedef {import("../answers/parts.js").PartKind} PartKind */
/** @typedef {import("../toolcalls/call.js").ToolCall} ToolCall */
/** @typedef {import("../toolcalls/call.js").Status} CallStatus */
/**
 * A tool call as it is at the moment. `args` are the arguments as far as they are known, and what of them
 * is complete; `result` is what the tool returned if the provider tells.
 * @typedef {import("../build/state.js").Progress & {readonly id: string, readonly name: string | null, readonly args: any,
 *   readonly raw: string, readonly status: CallStatus, readonly completeArgs: boolean,
 *   readonly error: {readonly code: string, readonly message: string} | null, readonly hosted: boolean,
 *   readonly answered: boolean, readonly result: any, readonly resultIsError: boolean}} CallState
 */
/**
 * What every part has. `text`: its text up to now, of a call the argument text.
 * @typedef {{readonly index: number, readonly turn: number, readonly text: string, readonly complete: boolean}} AnyPartState
 */
/**
 * A part of an answer as it is at the moment. `call` is that of a call or of a result.
 * @typedef {AnyPartState & (
 *     {readonly kind: "text" | "reasoning", readonly call: null, readonly result: undefined, readonly error: null}
 *   | {readonly kind: "call", readonly call: CallState, readonly result: undefined, readonly error: null}
 *   | {readonly kind: "result", readonly call: CallState, readonly result: unknown, readonly error: string | null})} PartState
 */

/** Collects parts as they grow. */
export class PartList {
  /** The last change of each part. @type {Part[]} */
  #parts = [];
  /** @type {PartState[]} */
  #shown = [];
  /** @type {Set<number>} */
  #changed = new Set();
  /** @type {Map<ToolCall, number>} */
  #calls = new Map();

  /** @param {Part} part */
  add(part) {
    const { kind, index, call } = part;
    this.#parts[index] = part;
    this.#changed.add(index);
    if (call === null) return;
    if (kind === "call") this.#calls.set(call, index);
    // A result is news of its call, too.
    this.#changed.add(this.#calls.get(call) ?? index);
  }

  /** The list as it is now. */
  get list() {
    if (this.#changed.size !== 0) this.#shown = this.#shown.slice();
    for (const index of this.#changed) this.#shown[index] = shown(this.#parts[index]);
    this.#changed.clear();
    return this.#shown;
  }
}

/**
 * @param {Part} part
 * @returns {PartState}
 */
function shown({ kind, index, turn, text, complete, call, result, error }) {
  // One change of a call is complete, which need not be its last one.
  const isComplete = kind === "call" && call ? call.completeArgs : complete;
  const state = { kind, index, turn, text, complete: isComplete, call: call && stateOf(call), result, error };
  return /** @type {any} */ (state);
}

/**
 * @param {ToolCall} call
 * @returns {CallState}
 */
function stateOf(call) {
  const { id, name, args, raw, status, completeArgs, error } = call;
  const { hosted, answered, result, resultIsError } = call;
  const done = { completeArgs, error, hosted, answered, result, resultIsError };
  return { id, name, args, ...progress(args, call.openPath), raw, status, ...done };
}

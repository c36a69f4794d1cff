/**
 * The receiving end of the wire for growing JSON (docs/wire.md): messages in, a value out.
 */

import { contains, LIMITS, Patch, refuse, tokensOf, valueAt } from "./deltas.js";
import { Gap, InvalidMessage, SourceFailed } from "./errors.js";
import { isObject } from "./parse/values.js";

export { applyDelta } from "./deltas.js";
export { Gap, InvalidMessage, JsonrillError, SourceFailed } from "./errors.js";

/** @typedef {import("./deltas.js").Operation} Operation */
/** @typedef {{code: string, message: string, [field: string]: any}} WireError */
/**
 * A snapshot: everything up to change `n`.
 * @typedef {{n: number, value: any, last?: string, done?: string[], ordered?: boolean, end?: boolean,
 *   error?: WireError}} Snapshot
 */
/** A part of a change; a string is a short append. @typedef {Operation | ["done", string] | ["end"] | ["error", WireError] | string} Step */
/** A message of the wire. @typedef {Snapshot | [number, ...Step[]] | Step[] | string} Message */

const NO_SNAPSHOT = "is not a snapshot or change; open() reads other formats";

/**
 * Follows one sender: feed each message, parsed, and read `value`. A value is never changed in place: the
 * next one shares everything that is equal. `T` is the sender's type, `DeepPartial` of it for a model's text.
 * @template [T=any]
 */
export class Receiver {
  /** The number of the last change in the value. */
  n = 0;
  /** True if the stream is over. */
  ended = false;
  /** The sender's error, if it ended the stream. @type {WireError | null} */
  error = null;
  /** As in a snapshot, like `last` and `done`. */
  ordered = false;
  /** @type {string | null} */
  last = null;
  /** @type {string[]} */
  done = [];
  #limits;
  #patch;
  // Whether a message was missed or rejected since the last snapshot, and whether the last snapshot was rejected:
  // then the changes after it belong to another value.
  #isLost = true;
  #needsSnapshot = true;

  /** @param {{limits?: Partial<typeof LIMITS>}} [options] */
  constructor({ limits } = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#patch = new Patch(undefined, this.#limits);
  }

  /** The sender's value; undefined before the first message. @returns {T | undefined} */
  get value() {
    return this.#patch.value;
  }

  /**
   * Apply a message and return true if the value changed. A repeated change is ignored. Throw `Gap` if a message is
   * missing, `InvalidMessage` if this one is wrong; the value then stays until a snapshot repairs it.
   * @param {any} message
   * @returns {boolean}
   */
  feed(message) {
    try {
      return isObject(message) ? this.#adopt(message) : this.#change(message);
    } catch (error) {
      this.#isLost = true;
      this.#needsSnapshot ||= isObject(message);
      throw error;
    }
  }

  /**
   * Return true if there is a value at this JSON Pointer, and it is final.
   * @param {string} [pointer]
   */
  isComplete(pointer = "") {
    if (this.n === 0 || valueAt(this.value, pointer) === undefined) return false;
    if (this.ended && this.error === null) return true;
    if (this.done.some((mark) => contains(mark, pointer))) return true;
    const last = this.last;
    return this.ordered && last !== null && !contains(pointer, last) && !contains(last, pointer);
  }

  /** Return a copy that does not change with this receiver. */
  copy() {
    const copy = Object.assign(new Receiver(), this);
    copy.#patch = new Patch(this.value);
    return copy;
  }

  /** @param {{[key: string]: any}} message */
  #adopt(message) {
    const { n, value, last = "", done = [], ordered = false, end = false, error, v = 1 } = message;
    if (v !== 1) refuse(v, "is not a supported version of the wire");
    const areFlags = typeof ordered === "boolean" && typeof end === "boolean";
    const isSnapshot = isNumber(n) && value !== undefined && Array.isArray(done) && areFlags;
    if (!isSnapshot || (error !== undefined && (end || !isError(error)))) refuse(message, NO_SNAPSHOT);
    const patch = new Patch(undefined, this.#limits);
    patch.apply(["set", "", value]);
    tokensOf(last, this.#limits.depth);
    if (done.some((/** @type {any} */ mark) => valueAt(value, mark) === undefined)) refuse(done, NO_SNAPSHOT);
    this.#patch = patch;
    this.#isLost = this.#needsSnapshot = false;
    Object.assign(this, { n, ordered, done, last: message.last ?? null, error: error ?? null, ended: end || !!error });
    return true;
  }

  /** @param {any} message */
  #change(message) {
    let steps = typeof message === "string" ? [message] : message;
    if (!Array.isArray(steps)) refuse(message, NO_SNAPSHOT);
    if (typeof steps[0] === "string" || Array.isArray(steps[0])) {
      if (this.#isLost) throw new Gap("a change without a number needs a snapshot first; JSON text must be decoded");
    } else {
      const n = steps[0];
      if (!isNumber(n)) refuse(n, "is not the number of a message");
      if (this.#needsSnapshot || n > this.n + 1) throw new Gap(`message ${n} came after message ${this.n}: ask for a snapshot`);
      if (n <= this.n) return false;
      steps = steps.slice(1);
    }
    return this.advance(steps);
  }

  /**
   * Apply all or none of the steps of the next change; return true if the value changed.
   * @param {any[]} steps
   */
  advance(steps) {
    if (steps.length === 0) refuse(steps, NO_SNAPSHOT);
    let { last, error, ended } = this;
    let isChanged = false;
    const marks = [];
    // One operation that fails changes nothing. Several are applied to a copy.
    const patch = steps.length === 1 ? this.#patch : new Patch(this.value, this.#limits);
    for (const item of steps) {
      const step = typeof item === "string" ? ["append", last, item] : item;
      const [name, argument] = Array.isArray(step) ? step : [];
      if (ended) refuse(name, "came after the end");
      if (name === "done" && step.length === 2 && valueAt(patch.value, argument) !== undefined) {
        marks.push(argument);
      } else if (name === "end" && step.length === 1) {
        ended = true;
      } else if (name === "error" && step.length === 2 && isError(argument)) {
        [ended, error] = [true, argument];
      } else {
        patch.apply(step);
        [last, isChanged] = [argument, true];
      }
    }
    this.#patch = patch;
    if (marks.length > 0) this.done = [...this.done, ...marks];
    Object.assign(this, { n: this.n + 1, last, ended, error });
    return isChanged;
  }
}

/** @param {any} n */
function isNumber(n) {
  return Number.isSafeInteger(n) && n >= 1;
}

/** @param {any} error */
export function isError(error) {
  return isObject(error) && typeof error.code === "string" && typeof error.message === "string";
}

/**
 * Yield the value after each message that changed it. Messages are parsed; a `Response` or a stream of bytes is read
 * as lines or server-sent events. `SourceFailed` has the sender's error. If messages stop before the end, throw `Gap`.
 * @template [T=any]
 * @param {AsyncIterable<any> | Iterable<any> | Response | ReadableStream<Uint8Array> | PromiseLike<Response>} messages
 * @param {{limits?: Partial<typeof LIMITS>}} [options]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export async function* receive(messages, options) {
  const receiver = new Receiver(options);
  for await (const message of decodeMessages(elementsOf(messages))) {
    if (receiver.feed(message)) yield receiver.value;
    if (receiver.ended) break;
  }
  const { ended, error } = receiver;
  if (error !== null) throw new SourceFailed(`the sender reports ${error.code}: ${error.message}`);
  if (!ended) throw new Gap("the messages stopped before the end");
}

/**
 * Yield the elements of a source, or the bytes of a response or stream.
 * @param {any} source
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export async function* elementsOf(source) {
  const opened = await source;
  if (opened.ok === false) throw new SourceFailed(`the response has status ${opened.status}`, { status: opened.status });
  const body = typeof opened === "string" ? [opened] : (opened.body ?? opened);
  if (!body.getReader) return yield* body;
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel(); // also stops the response if the caller left the loop
  }
}

/**
 * Yield the messages of a source. In bytes each is one line, in an event stream after `data:`.
 * @param {AsyncIterable<any>} elements
 */
async function* decodeMessages(elements) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const element of elements) {
    if (!(element instanceof Uint8Array)) {
      yield element;
      continue;
    }
    const [end, ...lines] = decoder.decode(element, { stream: true }).split("\n");
    rest += end;
    for (const line of lines) {
      yield* parseLine(rest);
      rest = line;
    }
  }
  yield* parseLine(rest, true); // perhaps a part of a message
}

/**
 * @param {string} line
 * @param {boolean} [mayBeCut]
 */
function* parseLine(line, mayBeCut = false) {
  const text = line.replace(/^data:/, "").trim();
  if (text === "" || text === "[DONE]" || /^(:|event:|id:|retry:)/.test(text)) return;
  try {
    yield JSON.parse(text);
  } catch {
    if (!mayBeCut) throw new InvalidMessage(`not JSON: ${text.slice(0, 80)}`);
  }
}

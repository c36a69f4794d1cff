/** The events of a jsonrill server → the values they tell of, in one step. */

import { applyDelta } from "../deltas.js";
import { Document } from "../build/document.js";
import { JsonrillError } from "../errors.js";
import { ServerError } from "./server-error.js";
import { openEvents } from "./events.js";
import { Rebuilder } from "../build/rebuilder.js";
import { lastPath } from "../build/lookup.js";
import { progress } from "../build/state.js";
import { stoppable } from "../sources/stopping.js";
import { isObject } from "../parse/values.js";

/** @typedef {import("../build/located.js").LocatedBuilder} LocatedBuilder */
/**
 * `value` is what is known so far, `complete` whether that is all. For the updates of a server,
 * `entity` and `index` say which entity it is. `id` is the position from which another reader goes
 * on with `after`.
 * @template T
 * @typedef {import("../build/state.js").Progress & {value: import("../build/builder.js").DeepPartial<T>,
 *   complete: boolean, id: string, entity?: string, index?: number}} Opened
 */
/**
 * What gives the events of a stream, and can be closed.
 * @typedef {AsyncIterable<import("./events.js").SSEEvent> & {close(): void}} Events
 */
/** @typedef {import("./stream.js").Options & {live?: boolean}} OpenOptions */

/**
 * Read the events of a stream of a jsonrill server: the value after each, across lost connections. Of
 * the format `raw` it is the value in the answer's text. An error that the server reports is thrown.
 * @template [T=unknown]
 * @param {string | URL} url
 * @param {OpenOptions} [options]
 * @returns {AsyncGenerator<Opened<T>, void, undefined>}
 */
export function open(url, { live = false, ...options } = {}) {
  return opening(url, (value) => (live ? value.live : value.value), options);
}

/**
 * The same, with what `show` makes of a value that is rebuilt. Updates bring theirs as they are. `connect`
 * opens the events.
 * @param {string | URL} url
 * @param {(value: Rebuilder | Document | LocatedBuilder) => any} show
 * @param {Omit<OpenOptions, "live">} options
 * @param {(url: string | URL, options: any) => Events} [connect]
 * @returns {AsyncGenerator<Opened<any>, void, undefined>}
 */
export function opening(url, show, { signal, ...options }, connect = openEvents) {
  /** @type {Events | undefined} */
  let events;
  async function* opened() {
    const reader = new Reader(show);
    events = connect(url, { ...options, onEvent: undefined });
    const taken = events[Symbol.asyncIterator]();
    for (;;) {
      const { done, value: event } = await taken.next();
      if (done) return reader.flush();
      const data = JSON.parse(event.data);
      if (isOfProvider(data)) return yield* answered(data, event.id, taken, show);
      for (const change of reader.read(data)) yield { ...change, id: event.id };
    }
  }
  return stoppable(opened(), () => events?.close(), signal);
}

/**
 * The value in the answer of a provider, whose events were logged.
 * @param {any} first
 * @param {string} firstId
 * @param {AsyncIterator<import("./events.js").SSEEvent>} rest
 * @param {(value: any) => any} show
 */
async function* answered(first, firstId, rest, show) {
  const { loggedValues } = await import("../streams/logged.js");
  let id = firstId;
  async function* logged() {
    yield first;
    for (;;) {
      const { done, value: event } = await rest.next();
      if (done) return;
      id = event.id;
      yield checked(JSON.parse(event.data));
    }
  }
  const whole = (/** @type {any} */ value) => ({ value, complete: true, ...progress(value, null) });
  const seen = (/** @type {any} */ value) => shown(value, show);
  for await (const change of loggedValues(logged(), seen, whole)) yield { ...change, id };
}

/**
 * @param {Rebuilder | Document | LocatedBuilder} growing
 * @param {(value: any) => any} show
 */
function shown(growing, show) {
  const value = show(growing);
  return { value, complete: growing.complete, ...progress(value, growing.openPath) };
}

const STATUSES = ["PARTIAL", "COMPLETED", "ERROR"];

/** True for a logged event of a provider: the server's own have a status or a kind. @param {any} data */
function isOfProvider(data) {
  return isObject(data) && !isObject(data.error) && !STATUSES.includes(data.status) && !data.kind;
}

/**
 * A logged event; an error that the server reports is thrown.
 * @param {any} data
 */
export function checked(data) {
  if (isObject(data) && data.status === "ERROR" && isObject(data.error)) throw new ServerError(data.error);
  return data;
}

/** Events of any format → values. */
class Reader {
  #show;
  /** @type {Rebuilder | null} */
  #rebuilder = null;
  /** @type {Document | null} */
  #document = null;
  /** Of the updates: the value of each open entity. @type {Map<string, any>} */
  #entities = new Map();

  /**
   * @param {(value: Rebuilder | Document) => any} show
   */
  constructor(show) {
    this.#show = show;
  }

  /**
   * @param {any} data
   * @returns {Iterable<any>}
   */
  read(data) {
    if (isObject(data) && isObject(data.error)) throw new ServerError(data.error);
    if (Array.isArray(data)) return this.#fragments(data);
    if (typeof data === "string") return this.#chunk(data);
    if (isObject(data) && typeof data.status === "string") return [this.#update(data)];
    throw new JsonrillError("open() reads updates, fragments, chunks and raw events; use ToolCalls for calls");
  }

  /** Throw if the stream was closed before its document was complete. */
  flush() {
    this.#document?.flush();
    if (this.#rebuilder?.started && !this.#rebuilder.complete) {
      throw new JsonrillError("the stream was closed before its document was complete");
    }
  }

  /** @param {unknown[]} items */
  *#fragments(items) {
    for (const item of items) {
      if (this.#rebuilder === null || this.#rebuilder.complete) {
        // Of many documents, another one begins.
        if (this.#rebuilder !== null) yield this.#shown(this.#rebuilder);
        this.#rebuilder = new Rebuilder();
      }
      this.#rebuilder.add(item);
    }
    if (this.#rebuilder?.started) yield this.#shown(this.#rebuilder);
  }

  /** @param {string} chunk */
  #chunk(chunk) {
    this.#document ??= new Document();
    this.#document.feed(chunk);
    return this.#document.started ? [this.#shown(this.#document)] : [];
  }

  /** @param {Rebuilder | Document} growing */
  #shown(growing) {
    return shown(growing, this.#show);
  }

  /** @param {{[key: string]: any}} update */
  #update({ status, data, delta, entity, index }) {
    const key = JSON.stringify([entity, index]);
    const value = data === undefined ? applyDelta(this.#entities.get(key) ?? null, delta) : data;
    const complete = status === "COMPLETED";
    if (complete) this.#entities.delete(key);
    else this.#entities.set(key, value);
    // What arrived last may still grow; an update does not tell.
    return { value, complete, entity, index, ...progress(value, complete ? null : lastPath(value)) };
  }
}

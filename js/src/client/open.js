/** The events of a jsonrill server → the values they tell of, in one step. */

import { applyDelta } from "../partial-stream/delta.js";
import { Document } from "../build/document.js";
import { JsonrillError, ServerError } from "../errors.js";
import { openEvents } from "./events.js";
import { Rebuilder } from "../build/rebuilder.js";
import { parse } from "../jsontext.js";
import { stoppable } from "../sources/stopping.js";
import { isObject } from "../parse/values.js";

/** @typedef {import("../parse/values.js").Numbers} Numbers */
/**
 * `value` is what is known so far, `complete` whether that is all. For the updates of a server,
 * `entity` and `index` say which entity it is. `id` is the position from which another reader goes
 * on with `after`.
 * @template T
 * @typedef {{value: import("../build/growing.js").DeepPartial<T>, complete: boolean, id: string,
 *   entity?: string, index?: number}} Opened
 */
/** @typedef {import("./stream.js").Options & {live?: boolean, numbers?: Numbers}} OpenOptions */

/**
 * Read the events of a stream of a jsonrill server (`format=fragments`, `updates` or `chunks`): the
 * value after each, across lost connections. An error that the server reports is thrown.
 * @template [T=any]
 * @param {string | URL} url
 * @param {OpenOptions} [options]
 * @returns {AsyncGenerator<Opened<T>, void, undefined>}
 */
export function open(url, { live = false, ...options } = {}) {
  return opening(url, (value) => (live ? value.live : value.value), options);
}

/**
 * The same, with what `show` makes of a value that is rebuilt. Updates bring theirs as they are.
 * @param {string | URL} url
 * @param {(value: Rebuilder | Document) => any} show
 * @param {Omit<OpenOptions, "live">} options
 * @returns {AsyncGenerator<Opened<any>, void, undefined>}
 */
export function opening(url, show, { numbers = "number", signal, ...options }) {
  /** @type {import("./stream.js").EventStream | undefined} */
  let events;
  async function* opened() {
    const reader = new Reader(show, numbers);
    events = openEvents(url, { ...options, onEvent: undefined });
    for await (const { data, id } of events) {
      for (const found of reader.read(parse(data, numbers))) yield { ...found, id };
    }
    reader.flush();
  }
  return stoppable(opened(), () => events?.close(), signal);
}

/** Events of any format → values. */
class Reader {
  #show;
  #numbers;
  /** @type {Rebuilder | null} */
  #rebuilder = null;
  /** @type {Document | null} */
  #document = null;
  /** Of the updates: the value of each open entity. @type {Map<string, any>} */
  #entities = new Map();

  /**
   * @param {(value: Rebuilder | Document) => any} show
   * @param {Numbers} numbers
   */
  constructor(show, numbers) {
    this.#show = show;
    this.#numbers = numbers;
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
    throw new JsonrillError("open() reads updates, fragments and chunks; use ToolCalls for calls");
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
        this.#rebuilder = new Rebuilder({ numbers: this.#numbers });
      }
      this.#rebuilder.add(item);
    }
    if (this.#rebuilder?.started) yield this.#shown(this.#rebuilder);
  }

  /** @param {string} chunk */
  #chunk(chunk) {
    this.#document ??= new Document({ numbers: this.#numbers });
    this.#document.feed(chunk);
    return this.#document.started ? [this.#shown(this.#document)] : [];
  }

  /** @param {Rebuilder | Document} growing */
  #shown(growing) {
    return { value: this.#show(growing), complete: growing.complete };
  }

  /** @param {{[key: string]: any}} update */
  #update({ status, data, delta, entity, index }) {
    const key = JSON.stringify([entity, index]);
    const value = data === undefined ? applyDelta(this.#entities.get(key) ?? null, delta) : data;
    const complete = status === "COMPLETED";
    if (complete) this.#entities.delete(key);
    else this.#entities.set(key, value);
    return { value, complete, entity, index };
  }
}

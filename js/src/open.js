/** The events of a jsonrill server → the values they describe, whatever their format. */

import { Document } from "./build/document.js";
import { connect } from "./client.js";
import { applyDelta } from "./deltas.js";
import { drive, FRAME, isPiece } from "./driver.js";
import { Truncated, UnknownSource } from "./errors.js";
import { isRestart } from "./eventstream.js";
import { isFragment, isSnapshot, receivedState, serverError, wrongFormat } from "./formats.js";
import { Rebuilder } from "./fragments.js";
import { isObject } from "./parse/values.js";
import { Receiver } from "./receive.js";
import { explain, progress } from "./streams.js";

/** @import { DeepPartial } from "./build/builder.js" */
/** @import { ConnectOptions } from "./client.js" */
/** @import { Operation } from "./deltas.js" */
/** @import { Path } from "./paths.js" */
/** @import { Progress } from "./streams.js" */
/**
 * An update of the Partial Stream Spec, as the server sends it.
 * @typedef {{index?: number, status: "PARTIAL" | "COMPLETED" | "ERROR", data?: unknown, entity?: string,
 *   delta?: Operation[], error?: {code: string, message: string, [field: string]: any}}} Update
 */
/**
 * `value` is the value so far; `complete` is true if it is final. For updates, `entity` and `index` identify the
 * entity. `id` is the position from which another reader continues with `after`.
 * @template T
 * @typedef {Progress & {readonly value: DeepPartial<T>, readonly complete: boolean, readonly id: string,
 *   readonly entity?: string, readonly index?: number}} Opened
 */
/** @typedef {ConnectOptions & {live?: boolean, every?: number}} OpenOptions */

/**
 * Read the growing value from the events of a jsonrill server, across lost connections. It reads the formats updates,
 * fragments, text and deltas, and a body of JSON text. For another format, the error names the function that reads it.
 * Unless `every` is 0, it skips states that are replaced within 16 ms, but never the last state of an entity.
 * @template [T=unknown]
 * @param {string | URL | Response | PromiseLike<Response>} source
 * @param {OpenOptions} [options]
 * @returns {AsyncGenerator<Opened<T>, void, undefined>}
 */
export function open(source, { live = false, every = live ? 0 : FRAME, ...options } = {}) {
  const stage = new OpenStage();
  const show = (/** @type {any} */ item) => stage.state(item, live);
  return drive(connect(source, options, true), stage, { signal: options.signal, every, show });
}

/** Turns events of any format into states of a value. */
class OpenStage {
  /** @type {unknown} */
  error = null;
  #id = "";
  /** @type {Document | Rebuilder | null} */
  #growing = null;
  /** @type {Receiver | null} */
  #receiver = null;
  /** Of updates: the value of each open entity. @type {Map<string, any>} */
  #entities = new Map();

  /** @param {any} element a piece of text, or a server-sent event */
  feed(element) {
    try {
      if (isPiece(element)) return this.#text(element);
      this.#id = element.id;
      if (isRestart(element)) return this.#restart();
      return this.#read(JSON.parse(element.data));
    } catch (error) {
      if (element instanceof Uint8Array) explain(error, new TextDecoder().decode(element));
      this.error =
        error instanceof SyntaxError ? new UnknownSource("the events are not JSON: is this a jsonrill server?") : error;
      return [];
    }
  }

  /** Throw if the stream was closed before its value was complete. */
  flush() {
    try {
      if (this.#growing instanceof Document) this.#growing.flush();
      const isOpen = this.#growing instanceof Rebuilder && this.#growing.started && !this.#growing.complete;
      if (isOpen || (this.#receiver !== null && !this.#receiver.ended)) {
        throw new Truncated("the stream was closed before its value was complete", { reason: "lost" });
      }
    } catch (error) {
      this.error = error;
    }
    return [];
  }

  /** Reset the state, because the server starts again. */
  #restart() {
    this.#growing = this.#receiver = null;
    this.#entities.clear();
    return [];
  }

  /** @param {any} data */
  #read(data) {
    if (isObject(data) && data.status === "ERROR" && isObject(data.error)) throw serverError(data.error);
    if (this.#receiver !== null || isSnapshot(data)) return this.#message(data);
    if (typeof data === "string") return this.#text(data);
    if (isFragment(data)) return this.#fragments([data]);
    if (Array.isArray(data) && data.every(isObject)) return this.#fragments(data);
    if (isObject(data) && (data.status === "PARTIAL" || data.status === "COMPLETED")) return [this.#update(data)];
    throw wrongFormat("open()", data);
  }

  /** @param {any} piece */
  #text(piece) {
    this.#growing ??= new Document();
    const hasChanged = /** @type {Document} */ (this.#growing).feed(piece);
    return hasChanged || this.#growing.complete ? [this.#growing] : [];
  }

  /** @param {unknown[]} items */
  #fragments(items) {
    const out = [];
    for (const item of items) {
      // Another document begins.
      if (this.#growing?.complete) out.push(this.#growing);
      if (this.#growing === null || this.#growing.complete) this.#growing = new Rebuilder();
      /** @type {Rebuilder} */ (this.#growing).feed([item]);
    }
    return this.#growing?.started ? [...out, this.#growing] : out;
  }

  /**
   * Return the state to yield for an item: of the growing value, or of an entity.
   * @param {any} item
   * @param {boolean} live
   */
  state(item, live) {
    const id = this.#id;
    if (item instanceof Receiver) return { ...receivedState(item), id };
    if (!(item instanceof Document || item instanceof Rebuilder)) return item;
    const value = live ? item.live : item.value;
    return { value, complete: item.complete, ...progress(value, item.openPath), id };
  }

  /** @param {any} data */
  #message(data) {
    this.#receiver ??= new Receiver();
    const receiver = this.#receiver;
    const hasChanged = receiver.feed(data);
    if (receiver.error !== null) throw serverError(receiver.error);
    return hasChanged || receiver.ended ? [receiver] : [];
  }

  /** @param {{[key: string]: any}} update */
  #update({ status, data, delta, entity, index }) {
    const key = JSON.stringify([entity, index]);
    const value = data === undefined ? applyDelta(this.#entities.get(key) ?? null, delta) : data;
    const complete = status === "COMPLETED";
    if (complete) this.#entities.delete(key);
    else this.#entities.set(key, value);
    // An update does not say whether its last value may still grow.
    return { value, complete, entity, index, ...progress(value, complete ? null : lastPath(value)), id: this.#id };
  }
}

/**
 * Return the path of the last value in a value.
 * @param {any} value
 */
function lastPath(value) {
  /** @type {Path} */
  const path = [];
  for (let inner = value; typeof inner === "object" && inner !== null; ) {
    const last = Array.isArray(inner) ? inner.length - 1 : Object.keys(inner).at(-1);
    if (last === undefined || last === -1) break;
    path.push(last);
    inner = inner[last];
  }
  return path;
}

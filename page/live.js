/** Reads a stream of the server into a recording, over one connection, while it is written. */

import { errorOf, withoutPlace } from "./errors.js";
import { Recording } from "./recording.js";
import { Subscription } from "./subscription.js";

/** @typedef {import("./api.js").Api} Api */
/** @typedef {import("./api.js").Handle} Handle */
/** @typedef {import("../js/src/client/events.js").State} State */
/** @typedef {State | "off"} LiveState */
/** @typedef {Pick<ConstructorParameters<typeof Subscription>[1], "onEvent" | "onState">} Listener */
/**
 * `last`: the number of its last record when it is opened, because when those came is not known.
 * @typedef {{input: string, many: boolean, options?: Record<string, any>, last?: number}} Stream
 */

export class Live {
  isDisconnected = false;
  /** How the stream ended, if the server told it. @type {"stopped" | "failed" | null} */
  _end = null;

  /**
   * @param {Api} api
   * @param {Handle} handle
   * @param {Stream} stream
   * @param {string} title
   * @param {(state: LiveState, detail: import("../js/src/client/events.js").Detail) => void} onState
   */
  constructor(api, handle, stream, title, onState) {
    const { input, many, options = {}, last = 0 } = stream;
    this.api = api;
    this._start = performance.now();
    this.handle = handle;
    this._onState = onState;
    const isSnapshots = input === "snapshots";
    // Snapshots are read as the text that the server writes from them.
    const kind = input === "events" ? "events" : "text";
    this.recording = new Recording({ input: kind, many, title, entity: options.entity, live: true, timed: last === 0 });
    this._events = this._subscription({ format: isSnapshots ? "text" : "raw" }, !isSnapshots, {
      onEvent: (event) => this._receive(event),
      onState: (state, detail) => this._enter(state, detail),
    });
    this._subscriptions = [this._events];
    if (!options.schema) return;
    // Only the server knows the schema.
    const listener = { onEvent: (/** @type {{data: string}} */ { data }) => this._check(data), onState: () => {} };
    this._subscriptions.push(this._subscription({ format: "updates", send: "delta" }, false, listener));
  }

  open() {
    this.isDisconnected = false;
    for (const subscription of this._subscriptions) subscription.open();
  }

  /**
   * Reads the same stream in another format, as long as this one is connected.
   * @param {Record<string, string>} query
   * @param {Listener} listener
   */
  subscribe(query, listener) {
    const subscription = this._subscription(query, false, listener);
    this._subscriptions.push(subscription);
    if (!this.isDisconnected) subscription.open();
    return subscription;
  }

  /** Connects at once instead of later. */
  retry() {
    for (const subscription of this._subscriptions) {
      subscription.disconnect();
      subscription.open();
    }
  }

  get counters() {
    this._events.updateCounters();
    return this._events.counters;
  }

  disconnect() {
    this.isDisconnected = true;
    for (const subscription of this._subscriptions) subscription.disconnect();
    this._onState("off", {});
  }

  close() {
    for (const subscription of this._subscriptions) subscription.close();
  }

  /**
   * @param {Record<string, string>} query
   * @param {boolean} contiguous
   * @param {Listener} listener
   */
  _subscription(query, contiguous, listener) {
    const url = this.api.url(this.handle.urls.events);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return new Subscription(url, { headers: () => this.api.headers(), contiguous, ...listener });
  }

  /** @param {{id: string, type: string, data: string}} event */
  _receive({ id, type, data }) {
    const at = performance.now() - this._start;
    // Text is a JSON string. Anything else is an event of the provider, or the error of the end.
    const isText = data.startsWith('"');
    const error = isText ? null : errorOf(JSON.parse(data));
    if (error !== null) return this._fail(error);
    if (isText) this.recording.add(JSON.parse(data), { at, id, type });
    else if (this.recording.input === "events") this.recording.add(data, { at, id, type });
  }

  /** @param {import("./errors.js").StreamError} error */
  _fail({ code, message }) {
    this._end = code === "CANCELLED" ? "stopped" : "failed";
    if (this._end === "failed") this.recording.addError({ code, message, offset: null, path: [] });
  }

  /** @param {string} data */
  _check(data) {
    const error = errorOf(JSON.parse(data));
    if (error === null || error.code !== "INVALID_SCHEMA") return;
    const { code, message, offset, path } = error;
    const { outline } = this.recording;
    this.recording.addError({
      code,
      message: withoutPlace(message, offset, path),
      offset: offset === null ? null : outline.unitOf(offset),
      path,
    });
  }

  /**
   * @param {State} state
   * @param {import("../js/src/client/events.js").Detail} detail
   */
  _enter(state, detail) {
    if (state === "closed") this.recording.end(this._end ?? "complete");
    if (state === "failed") this.recording.end("failed", this.api.reasonOf(this.api.asLost(detail.error), detail.reason));
    this._onState(state, detail);
  }
}

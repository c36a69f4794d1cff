/**
 * Server-sent events over fetch, across lost connections.
 *
 * After a loss the stream continues after its last id, until `event: CLOSE`, a 204, or an error that a retry would not
 * change. A stream without ids is requested only once, because another request might start and bill a new generation.
 */

import { SILENCE } from "./constants.js";
import { drive, failedResponse } from "./driver.js";
import { SourceFailed } from "./errors.js";
import { isEventStream, isRestart, SSEDecoder } from "./eventstream.js";

/** @import { SSEEvent } from "./eventstream.js" */
/** @typedef {"connecting" | "open" | "waiting" | "closed"} ConnectionState */
/**
 * `after`: the last id that you already have. `retry`: milliseconds before the first retry after a loss, unless the
 * server sets them. `maxDelay`: the longest wait. `timeout`: milliseconds without a byte until the connection counts
 * as lost (0: never).
 * `reconnect`: false never requests again, true always does; by default only a GET is repeated, and only if ids were
 * sent. `limit`: characters of an event. `onState` gets each state of the connection.
 * @typedef {object} ConnectOptions
 * @property {HeadersInit} [headers]
 * @property {RequestInit} [init]
 * @property {string} [after]
 * @property {AbortSignal} [signal]
 * @property {(state: ConnectionState, detail: {reason?: string, delay?: number}) => void} [onState]
 * @property {number} [retry]
 * @property {number} [maxDelay]
 * @property {number} [timeout]
 * @property {boolean} [reconnect]
 * @property {number} [limit]
 * @property {typeof globalThis.fetch} [fetch]
 */

// How many ids are remembered to detect duplicate events.
const MAX_IDS = 10_000;
// A server may say `retry: 0`; after a failure, wait at least this long.
const MIN_DELAY = 100;
// The longest wait that `Retry-After` can request: an hour.
const MAX_RETRY_AFTER = 3_600_000;

/** A connection was lost, or could not be made. */
class Lost extends SourceFailed {
  /** Milliseconds to wait before the next try, as the server requests. */
  delay = 0;
  /** True if the server may have meant to end the stream. */
  hasEnded = false;
}

/**
 * Yield the events of a stream, each once. Events of the type CLOSE end it and are not yielded.
 * @param {string | URL} url
 * @param {ConnectOptions} [options]
 * @returns {AsyncGenerator<SSEEvent, void, undefined>}
 */
export function openEvents(url, options = {}) {
  return drive(connect(url, options), { feed: (event) => [event], flush: () => [] }, { signal: options.signal });
}

/**
 * Return the events of a stream as a source that the driver can close while it waits. With `acceptsText` a response
 * that is not an event stream yields the pieces of its body. A `Response` object is read once.
 * @param {string | URL | Response | PromiseLike<Response>} target
 * @param {ConnectOptions} options
 * @param {boolean} [acceptsText]
 */
export function connect(target, options, acceptsText = false) {
  const controller = controllerOf(options.signal);
  const connection = new Connection(target, options, controller.signal, acceptsText);
  return Object.assign(connection.events(), { controller });
}

/** Return a controller that is aborted with this signal. @param {AbortSignal} [signal] */
function controllerOf(signal) {
  const controller = new AbortController();
  signal?.addEventListener("abort", () => controller.abort(), { signal: controller.signal });
  return controller;
}

/** One stream of events, over one request or more. */
class Connection {
  #target;
  #isUrl;
  #options;
  #signal;
  #acceptsText;
  #lastEventId;
  /** @type {Set<string>} */
  #seenIds = new Set();
  #failures = 0;
  /** @type {number | null} */
  #retry = null;

  /**
   * @param {any} target
   * @param {ConnectOptions} options
   * @param {AbortSignal} signal
   * @param {boolean} acceptsText
   */
  constructor(target, options, signal, acceptsText) {
    this.#target = target;
    this.#isUrl = typeof target === "string" || target instanceof URL;
    if (this.#isUrl) new Request(target); // a wrong address must not look like a lost connection
    this.#options = options;
    this.#signal = signal;
    this.#acceptsText = acceptsText;
    this.#lastEventId = options.after ?? "";
    if (this.#lastEventId !== "") this.#seenIds.add(this.#lastEventId);
  }

  async *events() {
    for (;;) {
      this.#enter("connecting");
      const attempt = controllerOf(this.#signal);
      try {
        const reason = yield* this.#attempt(attempt.signal);
        if (reason) return this.#enter("closed", { reason });
        throw Object.assign(new Lost("the connection ended"), { hasEnded: true });
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!(error instanceof Lost)) throw error;
        if (this.#isEnd(error)) return this.#enter("closed", { reason: "ended" });
        await this.#wait(error);
      } finally {
        attempt.abort();
      }
    }
  }

  /**
   * Make one request. Return the reason why the stream has ended, or "" if it has not.
   * @param {AbortSignal} signal
   * @returns {AsyncGenerator<any, string, undefined>}
   */
  async *#attempt(signal) {
    const response = await this.#guard(this.#isUrl ? this.#request(signal) : Promise.resolve(this.#target));
    if (response.status === 204) return "204";
    const isEvents = response.ok && isEventStream(response.headers.get("content-type") ?? "");
    if (!isEvents && !(response.ok && this.#acceptsText)) throw await refusal(response, this.#lastEventId !== "");
    this.#enter("open");
    const decoder = new SSEDecoder({ limit: this.#options.limit, lastEventId: this.#lastEventId });
    const reader = response.body?.getReader();
    try {
      for (;;) {
        const { done, value } = reader ? await this.#guard(reader.read()) : { done: true, value: undefined };
        if (done) {
          decoder.feed(""); // throws if the last event was too large
          return isEvents ? "" : "ended";
        }
        if (!isEvents) {
          yield value;
          continue;
        }
        for (const event of decoder.feed(value)) {
          if (event.type === "CLOSE") return "CLOSE";
          if (this.#isNew(event)) yield event;
        }
        this.#advance(decoder.lastEventId);
        this.#retry = decoder.retry ?? this.#retry;
      }
    } finally {
      reader?.cancel().catch(() => {});
    }
  }

  /** @param {AbortSignal} signal */
  #request(signal) {
    const { fetch = globalThis.fetch, init = {} } = this.#options;
    const headers = new Headers(this.#options.headers);
    headers.set("accept", this.#acceptsText ? "text/event-stream, */*;q=0.5" : "text/event-stream");
    if (this.#lastEventId !== "") headers.set("last-event-id", toByteString(this.#lastEventId));
    return fetch(this.#target, { cache: "no-store", ...init, headers, signal });
  }

  /**
   * Return the result of a step; throws `Lost` if it fails or takes too long.
   * @template T
   * @param {Promise<T>} step
   * @returns {Promise<T>}
   */
  async #guard(step) {
    const { timeout = SILENCE } = this.#options;
    const result = await this.#race(step, timeout).catch((error) => {
      throw new Lost(`the connection failed: ${error?.message ?? error}`);
    });
    if (result === undefined) throw new Lost("the connection is silent");
    return result;
  }

  /**
   * Return the result of a step; undefined after `timeout` (0: never), or when the connection is closed.
   * @template T
   * @param {Promise<T>} step
   * @param {number} timeout
   * @returns {Promise<T | undefined>}
   */
  async #race(step, timeout) {
    let wake = () => {};
    const interrupted = new Promise((resolve) => {
      wake = () => resolve(undefined);
    });
    const timer = timeout > 0 ? setTimeout(wake, timeout) : undefined;
    this.#signal.addEventListener("abort", wake);
    try {
      return await Promise.race([step, interrupted]);
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", wake);
    }
  }

  /** Return false for a repeated event. @param {SSEEvent} event */
  #isNew(event) {
    if (isRestart(event)) this.#seenIds.clear();
    if (!event.hasId) return true;
    if (event.id !== "" && this.#seenIds.has(event.id)) return false;
    this.#advance(event.id);
    this.#seenIds.add(event.id);
    if (this.#seenIds.size > MAX_IDS) for (const oldest of [...this.#seenIds].slice(0, MAX_IDS / 2)) this.#seenIds.delete(oldest);
    return true;
  }

  /** Continue from this id, even if no event came with it; ignore a repeated one. @param {string} id */
  #advance(id) {
    if (id === this.#lastEventId || this.#seenIds.has(id)) return;
    this.#failures = 0;
    this.#lastEventId = id;
  }

  /** Return true if a stream without ids has ended; throw if it is lost and cannot be requested again. @param {Lost} lost */
  #isEnd(lost) {
    const reason = this.#reasonToStop();
    if (reason === "") return false;
    if (lost.hasEnded && this.#lastEventId === "") return true;
    lost.message += ` (${reason})`;
    throw lost;
  }

  /** Return the reason not to repeat the request after a loss, or "" to repeat it. */
  #reasonToStop() {
    const { reconnect, init } = this.#options;
    const method = init?.method?.toUpperCase() ?? "GET";
    if (!this.#isUrl) return "a response is read once";
    if (reconnect === true) return "";
    if (reconnect === false || method !== "GET") return `a ${method} is repeated with reconnect: true only`;
    return this.#lastEventId === "" ? "without ids it would start again: see reconnect" : "";
  }

  /**
   * Wait before the next retry: longer after each one without a new id, and with jitter, so that clients that lost
   * their connections together do not all reconnect at once.
   * @param {Lost} lost
   */
  async #wait(lost) {
    const { retry = 1000, maxDelay = 30_000 } = this.#options;
    const least = this.#failures > 0 ? Math.min(MIN_DELAY, maxDelay) : 0;
    const base = Math.max(this.#retry ?? retry, lost.delay, least);
    const longest = Math.max(base, maxDelay);
    const delay = Math.round(Math.min(longest, base * 2 ** Math.min(this.#failures, 20)) * (1 + Math.random() / 2));
    this.#failures += 1;
    this.#enter("waiting", { reason: lost.message, delay });
    await this.#race(new Promise(() => {}), Math.max(1, delay)); // 0 would wait for ever
  }

  /**
   * @param {ConnectionState} state
   * @param {{reason?: string, delay?: number}} [detail]
   */
  #enter(state, detail = {}) {
    if (!this.#signal.aborted) this.#options.onState?.(state, detail);
  }
}

/**
 * Return the error for a response that is not an event stream; a `Lost` is retried. If the stream has begun, another
 * content type comes from a proxy and is retried, too.
 * @param {Response} response
 * @param {boolean} hasBegun
 */
async function refusal(response, hasBegun) {
  const { status, ok, headers } = response;
  if (!ok && status < 500 && status !== 408 && status !== 429) return failedResponse(response);
  await response.body?.cancel();
  const type = headers.get("content-type") ?? "a body without a type";
  const message = ok ? `expected an event stream but got ${type}` : `the server answered ${status}`;
  if (ok && !hasBegun) return new SourceFailed(message, { status });
  const requested = headers.get("retry-after") ?? "";
  const wait = Number(requested) * 1000 || Date.parse(requested) - Date.now() || 0;
  return Object.assign(new Lost(message, { status }), { delay: Math.min(Math.max(0, wait), MAX_RETRY_AFTER) });
}

/**
 * Return the UTF-8 bytes of a text, each as a character, as headers require.
 * @param {string} text
 */
function toByteString(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

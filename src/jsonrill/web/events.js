/**
 * A stream of server-sent events that survives its connections.
 *
 * `openEvents` reads with fetch (headers, exact errors), `openEventSource` with the browser's own
 * EventSource; both give the same `EventStream`. It goes on after the last id it has seen, until
 * `event: CLOSE`, a 204, an answer that no second try would change, or until it is closed here.
 * What the events say is not known here.
 */

import { SSEDecoder } from "./sse.js";

export { LimitError, SSEDecoder } from "./sse.js";

/** @typedef {import("./sse.js").SSEEvent} SSEEvent */
/** @typedef {"connecting" | "open" | "waiting" | "closed" | "failed"} State */
/**
 * `reason`: why it is in this state; `delay`: milliseconds until the next try.
 * @typedef {{reason?: string, delay?: number, error?: Error}} Detail
 */
/**
 * `after`: the last id that is known already. `retry`, `maxDelay`: milliseconds before the first
 * try after a loss, if the server does not say, and at most. `timeout`: so many milliseconds
 * without a byte are a lost connection (0: never). `types`: what else an EventSource listens to.
 * @typedef {object} Options
 * @property {HeadersInit} [headers]
 * @property {RequestInit} [init]
 * @property {string} [after]
 * @property {AbortSignal} [signal]
 * @property {(event: SSEEvent) => void} [onEvent]
 * @property {(state: State, detail: Detail) => void} [onState]
 * @property {number} [retry]
 * @property {number} [maxDelay]
 * @property {number} [timeout]
 * @property {number} [limit]
 * @property {string[]} [types]
 * @property {boolean} [withCredentials]
 * @property {typeof globalThis.fetch} [fetch]
 * @property {any} [EventSource]
 * @property {() => number} [random]
 */

const CLOSE = "CLOSE";
// So many ids are remembered to know an event that comes again.
const MOST_IDS = 10_000;
// So many answers in a row that are no event stream: then it is no accident.
const MOST_STRANGE = 3;
// Timers cannot wait longer.
const LONGEST = 2 ** 31 - 1;
// A `Retry-After` beyond an hour is hardly meant for somebody who looks at a page.
const LONGEST_ASKED = 3_600_000;
// A server may say `retry: 0`; one that answers nothing is not asked more often than this.
const LEAST_DELAY = 100;

/** The server's answer means that trying again is of no use. */
export class EventsError extends Error {
  /**
   * @param {string} message
   * @param {number} [status] of the HTTP answer
   */
  constructor(message, status) {
    super(message);
    this.name = "EventsError";
    this.status = status;
  }
}

/** A connection was lost, or not made: `delay` is what the server asked to wait. */
class Lost extends Error {
  /**
   * @param {string} reason
   * @param {number} [delay]
   */
  constructor(reason, delay = 0) {
    super(reason);
    this.delay = delay;
  }
}

/**
 * The events of one stream: `for await (const event of stream)`, or callbacks.
 *
 * Events of the type CLOSE end it and are not delivered. An event whose id was delivered before is
 * not delivered again.
 */
export class EventStream {
  /** @param {Options} options */
  constructor(options) {
    this._options = options;
    /** @type {State} */
    this.state = "connecting";
    /** Where to go on from, here or with `after` in another stream. */
    this.lastEventId = options.after ?? "";
    /** What came over the wire; with an EventSource: the characters of data. */
    this.bytes = 0;
    /** Events delivered; those that came again are in `duplicates`. */
    this.events = 0;
    this.duplicates = 0;
    this.reconnects = 0;
    /** @type {Set<string>} */
    this._seen = new Set();
    /** @type {SSEEvent[]} */
    this._queue = [];
    this._wake = () => {};
    this._drained = () => {};
    this._stop = new AbortController();
    this._failures = 0;
    /** @type {number | null} */
    this._retry = null;
    /** @type {(reason: string) => void} */
    this._resolve = () => {};
    /** @type {(error: Error) => void} */
    this._reject = () => {};
    /**
     * How it ended: "CLOSE", "204" or "closed" (here); rejected if it failed.
     * @type {Promise<string>}
     */
    this.done = new Promise((resolve, reject) => {
      this._resolve = resolve;
      this._reject = reject;
    });
    this.done.catch(() => {}); // who does not look is told by onState or the loop
    this._remember(this.lastEventId);
    const { signal } = options;
    if (signal?.aborted) queueMicrotask(() => this.close());
    else signal?.addEventListener("abort", () => this.close(), { signal: this._stop.signal });
  }

  /** Is it over? */
  get ended() {
    return this.state === "closed" || this.state === "failed";
  }

  /** Stop. `lastEventId` tells where another one can go on. */
  close() {
    this._finish("closed");
  }

  /** @returns {AsyncGenerator<SSEEvent, void, undefined>} */
  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        const event = this._queue.shift();
        if (event !== undefined) {
          yield event;
        } else if (this.ended) {
          await this.done;
          return;
        } else {
          this._drained();
          await new Promise((resolve) => (this._wake = () => resolve(undefined)));
        }
      }
    } finally {
      this.close();
    }
  }

  // ---- for those who read ----

  /**
   * @param {State} state
   * @param {Detail} [detail]
   */
  _enter(state, detail = {}) {
    if (this.ended) return;
    this.state = state;
    try {
      this._options.onState?.(state, detail);
    } catch (error) {
      // Whoever only watches must not break what is watched: it is reported as uncaught.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /**
   * Hand an event on, unless it came before.
   * @param {SSEEvent} event
   */
  _deliver(event) {
    if (this.ended) return;
    if (event.ownId && this._seen.has(event.id) && event.type !== CLOSE) {
      this.duplicates += 1;
      return;
    }
    this.lastEventId = event.id;
    if (event.ownId) this._remember(event.id);
    if (event.type === CLOSE) {
      this._finish(CLOSE);
      return;
    }
    this._failures = 0;
    this.events += 1;
    if (this._options.onEvent) {
      this._options.onEvent(event);
    } else {
      this._queue.push(event);
      this._wake();
    }
  }

  /**
   * Go on from this id, even if no event came with it; but not from one that came again.
   * @param {string} id
   */
  _reached(id) {
    if (!this.ended && !this._seen.has(id)) this.lastEventId = id;
  }

  /** @param {string} id */
  _remember(id) {
    if (id === "") return;
    this._seen.add(id);
    if (this._seen.size > MOST_IDS) {
      const [oldest] = this._seen;
      this._seen.delete(oldest);
    }
  }

  /** Wait until whoever iterates has taken what there is. */
  async _taken() {
    while (this._queue.length !== 0 && !this.ended) {
      await new Promise((resolve) => (this._drained = () => resolve(undefined)));
    }
  }

  /**
   * How long to wait before the next try: longer after each that brought nothing, and not the
   * same for all that lost their connection at once.
   * @param {number} asked
   */
  _delay(asked) {
    const { retry = 1000, maxDelay = 30_000, random = Math.random } = this._options;
    const least = this._failures > 0 ? Math.min(LEAST_DELAY, maxDelay) : 0;
    const base = Math.max(this._retry ?? retry, asked, least);
    const longest = Math.max(base, maxDelay);
    const delay = Math.min(longest, base * 2 ** Math.min(this._failures, 20));
    this._failures += 1;
    return Math.min(LONGEST, Math.round(delay * (1 + random() / 2)));
  }

  /**
   * Wait for the next try; less if it is closed.
   * @param {Lost} lost
   */
  async _wait(lost) {
    const delay = this._delay(lost.delay);
    this._enter("waiting", { reason: lost.message, delay });
    await pause(delay, this._stop.signal);
    if (this.ended) return;
    this.reconnects += 1;
    this._enter("connecting");
  }

  /** @param {string} reason */
  _finish(reason) {
    if (this.ended) return;
    this._enter("closed", { reason });
    this._over();
    this._resolve(reason);
  }

  /** @param {Error} error */
  _fail(error) {
    if (this.ended) return;
    this._enter("failed", { reason: error.message, error });
    this._over();
    this._reject(error);
  }

  _over() {
    this._stop.abort();
    this._wake();
    this._drained();
  }
}

/**
 * Read a stream of events with fetch, from now on.
 * @param {string | URL} url
 * @param {Options} [options]
 * @returns {EventStream}
 */
export function openEvents(url, options = {}) {
  const stream = new EventStream(options);
  void read(stream, url, options);
  return stream;
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
function read(stream, url, options) {
  return again(stream, () => connection(stream, url, options));
}

/**
 * Try until the stream is over: what is lost is tried again, other errors end it.
 * @param {EventStream} stream
 * @param {() => Promise<void>} attempt
 */
async function again(stream, attempt) {
  await null; // nobody is called back before they have the stream
  let strange = 0;
  stream._enter("connecting");
  while (!stream.ended) {
    try {
      await attempt();
    } catch (error) {
      if (stream.ended) return;
      strange = error instanceof Strange ? strange + 1 : 0;
      if (strange === MOST_STRANGE) stream._fail(new EventsError(textOf(error), 200));
      else if (error instanceof Lost) await stream._wait(error);
      else stream._fail(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** An answer that is no event stream: a page of something in between, perhaps. */
class Strange extends Lost {}

/**
 * One connection, to its end. It never ends well: `Lost`, or what ends the stream.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
async function connection(stream, url, options) {
  const { timeout = 45_000 } = options;
  const watch = new Watch(timeout, stream._stop.signal);
  try {
    const response = await watch.during(request(stream, url, options, watch.signal));
    if (response.status === 204) return stream._finish("204");
    await judge(response);
    stream._enter("open");
    await body(stream, response, options, watch);
  } finally {
    watch.stop();
  }
  throw new Lost("the connection ended");
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 * @param {AbortSignal} signal
 */
function request(stream, url, options, signal) {
  const { fetch = globalThis.fetch, init = {} } = options;
  const headers = new Headers(options.headers);
  headers.set("accept", "text/event-stream");
  if (stream.lastEventId !== "") headers.set("last-event-id", inBytes(stream.lastEventId));
  new Request(url, { headers }); // a wrong address must not look like a lost connection
  return fetch(url, { cache: "no-store", ...init, headers, signal });
}

/**
 * @param {EventStream} stream
 * @param {Response} response
 * @param {Options} options
 * @param {Watch} watch
 */
async function body(stream, response, { limit }, watch) {
  const decoder = new SSEDecoder({ limit, lastEventId: stream.lastEventId });
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await watch.during(reader.read());
    if (done) return;
    stream.bytes += value.byteLength;
    for (const event of decoder.feed(value)) stream._deliver(event);
    stream._reached(decoder.lastEventId);
    stream._retry = decoder.retry ?? stream._retry;
    await stream._taken();
    if (stream.ended) return;
  }
}

/**
 * Is this answer an event stream? If not: is there hope?
 * @param {Response} response
 */
async function judge(response) {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  if (status === 200 && /^text\/event-stream *(;|$)/i.test(type)) return;
  if (status === 200) {
    await response.body?.cancel();
    throw new Strange(`not an event stream but ${type || "something without a type"}`);
  }
  if (status >= 500 || status === 408 || status === 429) {
    await response.body?.cancel();
    throw new Lost(`the server answered ${status}`, retryAfter(response));
  }
  throw new EventsError(`the server answered ${status}${await reasonOf(response)}`, status);
}

/**
 * Milliseconds that the server asks to wait.
 * @param {Response} response
 */
function retryAfter(response) {
  const text = response.headers.get("retry-after") ?? "";
  const wait = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), LONGEST_ASKED) : 0;
}

/**
 * What the server says about its refusal, if it says it briefly.
 * @param {Response} response
 */
async function reasonOf(response) {
  try {
    const text = await response.text();
    const problem = /json/.test(response.headers.get("content-type") ?? "") && JSON.parse(text);
    const said = problem ? (problem.detail ?? problem.message ?? problem.error?.message) : text;
    return typeof said === "string" && said !== "" ? `: ${said.trim().slice(0, 200)}` : "";
  } catch {
    return "";
  }
}

/** Ends a connection that says nothing for too long, and with the stream. */
class Watch {
  /**
   * @param {number} timeout
   * @param {AbortSignal} outer
   */
  constructor(timeout, outer) {
    this._timeout = timeout;
    this._controller = new AbortController();
    this._outer = outer;
    this._abort = () => this._controller.abort();
    outer.addEventListener("abort", this._abort);
  }

  get signal() {
    return this._controller.signal;
  }

  /**
   * What a step of the connection gives; `Lost` if it fails or takes too long.
   * @template T
   * @param {Promise<T>} step
   * @returns {Promise<T>}
   */
  async during(step) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const silence = new Promise((_, reject) => {
      if (this._timeout > 0 && this._timeout <= LONGEST) {
        timer = setTimeout(() => reject(new Lost("the connection is silent")), this._timeout);
      }
    });
    try {
      return /** @type {T} */ (await Promise.race([step, silence]));
    } catch (error) {
      step.catch(() => {});
      this._abort();
      throw error instanceof Lost ? error : new Lost(`the connection failed: ${textOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  stop() {
    this._outer.removeEventListener("abort", this._abort);
    this._abort();
  }
}

/**
 * Read a stream of events with the browser's EventSource, from now on. It cannot send headers.
 *
 * The browser reconnects by itself, but gives up at the first error status without a word: then
 * one fetch asks why, and if there is hope a new EventSource goes on after the last id.
 * @param {string | URL} url
 * @param {Options} [options]
 * @returns {EventStream}
 */
export function openEventSource(url, options = {}) {
  const stream = new EventStream(options);
  void follow(stream, url, options);
  return stream;
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
function follow(stream, url, options) {
  return again(stream, async () => {
    await source(stream, url, options);
    if (!stream.ended) await ask(stream, url, options);
  });
}

/**
 * One EventSource, until the browser gives up on it or the stream is over.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 * @returns {Promise<void>}
 */
function source(stream, url, options) {
  const { types = [], withCredentials = false } = options;
  const Source = options.EventSource ?? globalThis.EventSource;
  const events = new Source(resumed(url, stream.lastEventId), { withCredentials });
  /** The id of the event before on this connection. @type {string | null} */
  let before = null;
  return new Promise((resolve, reject) => {
    const leave = () => {
      events.close();
      resolve();
    };
    stream._stop.signal.addEventListener("abort", leave, { once: true });
    events.onopen = () => {
      before = null;
      stream._enter("open");
    };
    events.onerror = () => {
      if (events.readyState === Source.CLOSED) return leave();
      stream.reconnects += 1;
      stream._enter("connecting", { reason: "the connection ended" });
    };
    /** @param {MessageEvent} message */
    const take = ({ type, data, lastEventId: id }) => {
      try {
        stream.bytes += data.length;
        // It does not tell whether the id is the event's own. The same as just before may not be.
        const ownId = id !== before;
        before = id;
        stream._deliver({ type, data, id, ownId });
      } catch (error) {
        events.close();
        reject(error);
      }
    };
    for (const type of new Set(["message", CLOSE, ...types])) events.addEventListener(type, take);
  });
}

/**
 * Why did the browser give up? Nothing is thrown if the answer is an event stream after all.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
async function ask(stream, url, options) {
  const watch = new Watch(options.timeout ?? 45_000, stream._stop.signal);
  const init = { ...options.init };
  if (options.withCredentials) init.credentials = "include";
  try {
    const response = await watch.during(request(stream, url, { ...options, init }, watch.signal));
    if (response.status === 204) return stream._finish("204");
    await judge(response);
  } finally {
    watch.stop();
  }
  throw new Lost("the browser gave up");
}

/**
 * The address that goes on after this id.
 * @param {string | URL} url
 * @param {string} id
 */
function resumed(url, id) {
  if (id === "") return String(url);
  const [address, query = ""] = String(url).split("#")[0].split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  parameters.set("after", id);
  return `${address}?${parameters}`;
}

/** A header holds bytes: those of the UTF-8 form, as an EventSource sends them. @param {string} text */
function inBytes(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** @param {unknown} error */
function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {number} delay
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(delay, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, delay);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

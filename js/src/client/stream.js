/**
 * One stream of events, however many connections it takes: its state, its counts, what was
 * delivered already, when to try again, and those who read it. What a connection is, is not known
 * here.
 */

import { stoppable } from "../sources/stopping.js";

/** @typedef {import("../eventstream/sse.js").SSEEvent} SSEEvent */
/** @typedef {"connecting" | "open" | "waiting" | "closed" | "failed"} State */
/**
 * `reason`: why it is in this state; `delay`: milliseconds until the next try.
 * @typedef {{reason?: string, delay?: number, error?: Error}} Detail
 */
/**
 * `after`: the last id that is known already. `retry`, `maxDelay`: milliseconds before the first
 * try after a loss, if the server does not say, and at most. `timeout`: milliseconds
 * without a byte are a lost connection (0: never).
 * `reconnect`: false never requests again, true always does; by default only a GET is repeated, and
 * only if ids were sent, because the server may start anew what is requested again.
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
 * @property {boolean} [reconnect]
 * @property {number} [limit]
 * @property {typeof globalThis.fetch} [fetch]
 * @property {() => number} [random]
 */

const CLOSE = "CLOSE";
// The number of ids that are remembered to know an event that comes again.
const MOST_IDS = 10_000;
// Timers cannot wait longer.
const LONGEST = 2 ** 31 - 1;
// A server may say `retry: 0`; one that answers nothing is not asked more often than this.
const LEAST_DELAY = 100;

/**
 * A connection was lost, or not made: `delay` is what the server asked to wait. `ended`: the server
 * may have meant to end it.
 */
export class Lost extends Error {
  /**
   * @param {string} reason
   * @param {number} [delay]
   * @param {boolean} [ended]
   */
  constructor(reason, delay = 0, ended = false) {
    super(reason);
    this.delay = delay;
    this.ended = ended;
    /** Of the HTTP response, if there was one. @type {number | undefined} */
    this.status = undefined;
  }
}

/**
 * The events of one stream: `for await (const event of stream)`, or callbacks.
 *
 * Events of the type CLOSE end it and are not delivered. An event whose id was delivered before is
 * not delivered again.
 */
export class EventStream {
  #options;
  /** @type {Set<string>} */
  #seen = new Set();
  /** @type {SSEEvent[]} */
  #queue = [];
  #wake = () => {};
  #drained = () => {};
  #failures = 0;
  /** @type {(reason: string) => void} */
  #resolve = () => {};
  /** @type {(error: Error) => void} */
  #reject = () => {};

  /** @param {Options} options */
  constructor(options) {
    this.#options = options;
    /** @type {State} */
    this.state = "connecting";
    /** Where to go on from, here or with `after` in another stream. */
    this.lastEventId = options.after ?? "";
    /** The number of bytes received. */
    this.bytes = 0;
    /** Events delivered; those that came again are in `duplicates`. */
    this.events = 0;
    this.duplicates = 0;
    this.reconnects = 0;
    this._stop = new AbortController();
    /** @type {number | null} */
    this._retry = null;
    /**
     * How it ended: "CLOSE", "204", "closed" (here) or, without ids, "ended" (the server ended
     * the response without a CLOSE); rejected if it failed.
     * @type {Promise<string>}
     */
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done.catch(() => {}); // who does not look is told by onState or the loop
    this.#remember(this.lastEventId);
    const { signal } = options;
    if (signal?.aborted) queueMicrotask(() => this.close());
    else signal?.addEventListener("abort", () => this.close(), { signal: this._stop.signal });
  }

  /** True once the stream has ended. */
  get ended() {
    return this.state === "closed" || this.state === "failed";
  }

  /** Stop. `lastEventId` tells where another one can go on. */
  close() {
    this._finish("closed");
  }

  /** @returns {AsyncGenerator<SSEEvent, void, undefined>} */
  [Symbol.asyncIterator]() {
    return stoppable(this.#taken(), () => this.close());
  }

  async *#taken() {
    try {
      for (;;) {
        const event = this.#queue.shift();
        if (event !== undefined) {
          yield event;
        } else if (this.ended) {
          await this.done;
          return;
        } else {
          this.#drained();
          await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
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
      this.#options.onState?.(state, detail);
    } catch (error) {
      // An observer must not break the stream: its error is reported as uncaught.
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
    if (event.ownId && this.#seen.has(event.id) && event.type !== CLOSE) {
      this.duplicates += 1;
      return;
    }
    this.lastEventId = event.id;
    if (event.ownId) this.#progress(event.id);
    if (event.type === CLOSE) {
      this._finish(CLOSE);
      return;
    }
    this.events += 1;
    if (this.#options.onEvent) {
      this.#options.onEvent(event);
    } else {
      this.#queue.push(event);
      this.#wake();
    }
  }

  /**
   * Go on from this id, even if no event came with it; but not from one that came again.
   * @param {string} id
   */
  _reached(id) {
    if (this.ended || this.#seen.has(id)) return;
    if (id !== this.lastEventId) this.#failures = 0;
    this.lastEventId = id;
  }

  /**
   * Remember an id that is new: after it, waiting begins anew.
   * @param {string} id
   */
  #progress(id) {
    if (id !== "") this.#failures = 0;
    this.#remember(id);
  }

  /** @param {string} id */
  #remember(id) {
    if (id === "") return;
    this.#seen.add(id);
    if (this.#seen.size > MOST_IDS) {
      const [oldest] = this.#seen;
      this.#seen.delete(oldest);
    }
  }

  /**
   * Wait until the iterating caller has taken all updates.
   */
  async _taken() {
    while (this.#queue.length !== 0 && !this.ended) {
      await new Promise((resolve) => (this.#drained = () => resolve(undefined)));
    }
  }

  /** Why nothing is requested again after a loss; "" if it is. */
  get _noReconnect() {
    const { reconnect, init } = this.#options;
    const method = init?.method?.toUpperCase() ?? "GET";
    if (reconnect === true) return "";
    if (reconnect === false) return "reconnect is false";
    if (method !== "GET") return `a ${method} is repeated with reconnect: true only`;
    return this.lastEventId === "" ? "without ids it would begin anew: see reconnect" : "";
  }

  /**
   * How long to wait before the next try: longer after each that brought no new id, and not the
   * same for all that lost their connection at once.
   * @param {number} asked
   */
  #delay(asked) {
    const { retry = 1000, maxDelay = 30_000, random = Math.random } = this.#options;
    const least = this.#failures > 0 ? Math.min(LEAST_DELAY, maxDelay) : 0;
    const base = Math.max(this._retry ?? retry, asked, least);
    const longest = Math.max(base, maxDelay);
    const delay = Math.min(longest, base * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    return Math.min(LONGEST, Math.round(delay * (1 + random() / 2)));
  }

  /**
   * Wait for the next try; less if it is closed.
   * @param {Lost} lost
   */
  async _wait(lost) {
    const delay = this.#delay(lost.delay);
    this._enter("waiting", { reason: lost.message, delay });
    await pause(delay, this._stop.signal);
    if (this.ended) return;
    this.reconnects += 1;
    this._enter("connecting");
  }

  /**
   * @param {string} reason
   */
  _finish(reason) {
    if (this.ended) return;
    this._enter("closed", { reason });
    this.#over();
    this.#resolve(reason);
  }

  /**
   * @param {Error} error
   */
  _fail(error) {
    if (this.ended) return;
    this._enter("failed", { reason: error.message, error });
    this.#over();
    this.#reject(error);
  }

  #over() {
    this._stop.abort();
    this.#wake();
    this.#drained();
  }
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

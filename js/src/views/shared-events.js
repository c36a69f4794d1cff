/**
 * The events of a run for all who read it: one connection, whatever number of components and, where the
 * browser has Web Locks and BroadcastChannel, of tabs. A browser opens six connections to a server of
 * HTTP/1.1, in all its tabs.
 *
 * The tab that has the lock reads the run, and tells the others what it reads. When it is closed, another
 * one gets the lock and goes on after the last event that it knows.
 */

import { openEvents } from "../client/events.js";

/** @typedef {import("../client/events.js").SSEEvent} SSEEvent */
/** @typedef {import("../client/stream.js").Options} Options */
/** @typedef {import("../client/stream.js").State} State */
/** @typedef {import("../client/stream.js").Detail} Detail */
/**
 * From one tab to the others: `events` from number `at` on, the state of the connection, the end of the run.
 * `asks`: please say everything again.
 * @typedef {{asks?: true, at?: number, events?: SSEEvent[], state?: State, detail?: Detail,
 *   end?: {error: unknown}}} Message
 */

/** @type {Map<string, SharedRun>} */
const RUNS = new Map();

/**
 * The events of a run from the first one on. The connection is closed when its last reader has left.
 * @param {string | URL} url
 * @param {Options} options
 */
export function sharedEvents(url, { onState, signal, ...options }) {
  const { fetch, init, headers, after } = options;
  const key = JSON.stringify([String(url), [...new Headers(headers)], init, after]);
  // A program's own fetch is known to one tab alone.
  let run = fetch ? undefined : RUNS.get(key);
  if (run === undefined) {
    run = new SharedRun(url, options, () => RUNS.delete(key));
    if (!fetch) RUNS.set(key, run);
    if (fetch || !hasTabs()) run.connect();
    else run.share(`jsonrill ${key}`);
  }
  return run.reader(onState);
}

function hasTabs() {
  return typeof BroadcastChannel === "function" && typeof globalThis.navigator?.locks?.request === "function";
}

/** One run in this tab. */
class SharedRun {
  #url;
  #options;
  #forget;
  /** @type {SSEEvent[]} */
  #log = [];
  /** @type {[State, Detail]} */
  #state = ["connecting", {}];
  /** @type {{error: unknown} | null} */
  #end = null;
  /** Called when there is something new. @type {Set<() => void>} */
  #readers = new Set();
  #closing = new AbortController();
  /** @type {BroadcastChannel | null} */
  #channel = null;
  #leads = false;

  /**
   * @param {string | URL} url
   * @param {Options} options
   * @param {() => void} forget
   */
  constructor(url, options, forget) {
    this.#url = url;
    this.#options = options;
    this.#forget = forget;
  }

  /**
   * The events for one reader.
   * @param {((state: State, detail: Detail) => void) | undefined} onState
   */
  reader(onState) {
    let wake = () => {};
    let isClosed = false;
    /** @type {[State, Detail] | null} */
    let told = null;
    const news = () => {
      if (told !== this.#state) onState?.(...(told = this.#state));
      wake();
    };
    const close = () => {
      isClosed = true;
      this.#readers.delete(news);
      if (this.#readers.size === 0) this.#close();
      wake();
    };
    this.#readers.add(news);
    queueMicrotask(news);
    const taken = async function* (/** @type {SharedRun} */ run) {
      try {
        for (let at = 0; !isClosed; ) {
          if (at < run.#log.length) yield run.#log[at++];
          else if (run.#end === null) await new Promise((resolve) => (wake = () => resolve(undefined)));
          else if (run.#end.error) throw run.#end.error;
          else return;
        }
      } finally {
        close();
      }
    };
    return { close, [Symbol.asyncIterator]: () => taken(this) };
  }

  /** Read the run, from behind what is known of it. */
  async connect() {
    const { signal } = this.#closing;
    const after = this.#log.at(-1)?.id ?? this.#options.after;
    const onState = (/** @type {State} */ state, /** @type {Detail} */ detail) => this.#tell({ state, detail });
    const stream = openEvents(this.#url, { ...this.#options, after, onState, signal });
    try {
      for await (const event of stream) this.#tell({ at: this.#log.length, events: [event] });
      this.#tell({ end: { error: null } });
    } catch (error) {
      this.#tell({ end: { error } });
    }
  }

  /**
   * Read the run in one of the tabs that have it open.
   * @param {string} name
   */
  share(name) {
    const channel = (this.#channel = new BroadcastChannel(name));
    channel.onmessage = ({ data }) => {
      if (!data.asks) this.#hear(data);
      else if (this.#leads) this.#post({ at: 0, events: this.#log, state: this.#state[0], detail: this.#state[1] });
    };
    this.#post({ asks: true });
    const lead = () => {
      this.#leads = true;
      return this.#end ? undefined : this.connect();
    };
    navigator.locks.request(name, { signal: this.#closing.signal }, lead).catch(() => {});
  }

  /** Note what is new, and tell it to the other tabs. @param {Message} message */
  #tell(message) {
    this.#post(message);
    this.#hear(message);
  }

  /** @param {Message} message */
  #hear({ at = 0, events = [], state, detail = {}, end }) {
    if (at > this.#log.length) return this.#post({ asks: true });
    this.#log.push(...events.slice(this.#log.length - at));
    if (state) this.#state = [state, detail];
    if (end) this.#end = end;
    for (const news of [...this.#readers]) news();
    if (end) this.#close();
  }

  /** @param {Message} message */
  #post(message) {
    try {
      this.#channel?.postMessage(message);
    } catch {
      // An error that cannot be copied: the other tabs get the lock, and see for themselves.
    }
  }

  #close() {
    this.#forget();
    this.#closing.abort();
    this.#channel?.close();
    this.#channel = null;
  }
}

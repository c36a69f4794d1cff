/**
 * A store for views, of any framework, over anything that `for await` reads.
 *
 * Reading begins with the first subscriber and stops after the last one unsubscribes. Subscribers get a new state at
 * most once per frame. A framework may unsubscribe and subscribe again at once (React's StrictMode does), so reading
 * stops a moment later, unless there is a subscriber again.
 */

/**
 * `idle`: reading has not begun. `stopped`: `stop()` was called, the last view unsubscribed, or the run was cancelled.
 * @typedef {"idle" | "streaming" | "complete" | "error" | "stopped"} Status
 */
/**
 * `error` is set if reading failed; the last good state stays. `stop()` closes the source, `restart()` reads from the
 * beginning again.
 * @typedef {{readonly status: Status, readonly isLoading: boolean, readonly error: Error | undefined,
 *   readonly stop: () => void, readonly restart: () => void}} Reading
 */
/**
 * `subscribe` calls back at once and with each new state, and returns a function to unsubscribe (Svelte's contract).
 * @template S
 * @typedef {{subscribe: (view: (state: S) => void) => () => void, readonly state: S}} Store
 */
/**
 * Reads until the signal is aborted; `note` sets other fields of the state.
 * @typedef {(signal: AbortSignal, body: any, note: (fields: object) => void) => AsyncIterable<any>} Read
 */

// How long to wait for a frame, because a hidden page draws none.
const PAUSE = 100;
// The length of a frame where nothing draws frames.
const FRAME = 16;

/**
 * Return a store whose `value` is the latest item of `read`, which is an async iterable or a function that makes one.
 * The function should pass its signal on, and may be called again.
 * @template T
 * @param {AsyncIterable<T> | ((signal: AbortSignal) => AsyncIterable<T>)} read
 * @param {{initial?: T}} [options]
 * @returns {Store<Reading & {readonly value: T | undefined}>}
 */
export function observe(read, { initial } = {}) {
  const begin = typeof read === "function" ? read : once(read);
  const observed = new Observed(begin, { value: initial }, (value) => ({ value }));
  return {
    subscribe(view) {
      view(observed.state());
      return observed.subscribe(() => view(observed.state()));
    },
    get state() {
      return observed.state();
    },
  };
}

/** @param {AsyncIterable<any>} source */
function once(source) {
  let isRead = false;
  return () => {
    if (isRead) throw new TypeError("a source is read once: give a function, which can be called again");
    isRead = true;
    return source;
  };
}

/** A state that changes at most once per frame, and its views. */
export class Observed {
  #read;
  #fieldsOf;
  #waitsForBody;
  #empty;
  /** @type {any} */
  #state;
  /** @type {Set<() => void>} */
  #views = new Set();
  /** @type {AbortController | null} */
  #controller = null;
  /** @type {{body: any} | null} */
  #submitted = null;
  /** The fields of the next state, and the item whose fields are read at the frame. @type {any} */
  #next = {};
  /** @type {{item: any} | null} */
  #latest = null;
  /** The state that the next one extends, if it is not the last one. @type {any} */
  #base = null;
  /** @type {(() => void) | null} */
  #cancelFrame = null;

  /**
   * @param {Read} read
   * @param {object} empty the fields of the state before anything has arrived
   * @param {(item: any) => object} fieldsOf
   * @param {boolean} [waits] it begins when something is submitted
   */
  constructor(read, empty, fieldsOf, waits = false) {
    this.#read = read;
    this.#fieldsOf = fieldsOf;
    this.#waitsForBody = waits;
    const { stop, restart, submit } = this;
    const isLoading = !waits;
    const status = waits ? "idle" : "streaming";
    this.#empty = { complete: false, ...empty, error: undefined, status, isLoading, stop, restart, submit };
    this.#state = this.#empty;
  }

  state = () => this.#state;

  /** The state that servers render, and browsers before they take over. */
  serverState = () => this.#empty;

  /** @param {() => void} view */
  subscribe = (view) => {
    this.#views.add(view);
    if (this.#controller === null) this.#begin();
    return () => {
      this.#views.delete(view);
      if (this.#views.size === 0) setTimeout(() => this.#stopIfUnused(), 0);
    };
  };

  /** Stop reading and close the source, but keep the state. */
  stop = () => {
    if (this.#controller === null || this.#status !== "streaming") return;
    this.#controller.abort();
    this.#set({ status: "stopped" });
  };

  /** Read from the beginning. */
  restart = () => {
    this.#controller?.abort();
    this.#reset();
    this.#set({});
    if (this.#views.size !== 0) this.#begin();
  };

  /** Send a body, and read the answer instead of the previous one. @param {any} [body] */
  submit = (body) => {
    this.#submitted = { body };
    this.restart();
  };

  get #status() {
    return this.#next.status ?? (this.#base ?? this.#state).status;
  }

  #stopIfUnused() {
    if (this.#views.size !== 0 || this.#controller === null) return;
    this.stop();
    this.#cancelFrame?.();
    this.#cancelFrame = null;
    this.#submitted = null;
    this.#reset();
    this.#state = this.#empty;
  }

  #reset() {
    this.#controller = this.#latest = null;
    this.#next = {};
    this.#base = this.#empty;
  }

  async #begin() {
    if (this.#waitsForBody && this.#submitted === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    this.#controller = controller;
    this.#set({ status: "streaming" });
    try {
      const note = (/** @type {object} */ fields) => signal.aborted || this.#set(fields);
      for await (const item of this.#read(signal, this.#submitted?.body, note)) {
        if (signal.aborted) return;
        this.#latest = { item };
        this.#set({});
      }
      if (!signal.aborted) this.#set({ status: "complete", complete: true });
    } catch (error) {
      if (signal.aborted) return;
      const isCancelled = /** @type {any} */ (error)?.code === "CANCELLED"; // cancelled by another client
      this.#set(isCancelled ? { status: "stopped" } : { status: "error", error });
    }
  }

  /** @param {object} fields */
  #set(fields) {
    Object.assign(this.#next, fields);
    this.#cancelFrame ??= onFrame(() => this.#draw());
  }

  #draw() {
    this.#cancelFrame = null;
    const fields = this.#latest === null ? {} : this.#fieldsOf(this.#latest.item);
    const state = { ...(this.#base ?? this.#state), ...fields, ...this.#next };
    this.#state = { ...state, isLoading: state.status === "streaming" };
    this.#latest = this.#base = null;
    this.#next = {};
    for (const view of [...this.#views]) view();
  }
}

/**
 * Call once with the next frame, or soon if the page is hidden or there are no frames.
 * @param {() => void} draw
 * @returns {() => void} cancels the call
 */
function onFrame(draw) {
  const hasFrames = typeof requestAnimationFrame === "function";
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const frame = hasFrames ? requestAnimationFrame(() => run()) : 0;
  const forget = () => {
    clearTimeout(timer);
    if (hasFrames) cancelAnimationFrame(frame);
  };
  const run = () => {
    forget();
    draw();
  };
  timer = setTimeout(run, hasFrames ? PAUSE : FRAME);
  return forget;
}

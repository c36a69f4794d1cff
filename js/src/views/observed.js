/**
 * A reading that views look at: it begins with the first view, ends with the last one, and gives each
 * at most one new state per frame. No framework is known here.
 *
 * A framework may leave and come back in one go (React's StrictMode does so on purpose), so a reading
 * stops a moment after its last view has left, if none came back.
 */

/**
 * `idle`: there is nothing to read. `stopped`: reading was stopped here, by `stop()`, by the signal or
 * because the last view has left.
 * @typedef {"idle" | "streaming" | "complete" | "error" | "stopped"} Status
 */
/** Fields of a state. @typedef {{[name: string]: any}} Fields */
/**
 * Reads until the signal is aborted. Each element returns fields of the next state; only those of the
 * last element before a frame are asked for. `note` sets fields beside them. `body` is what was submitted.
 * @typedef {(signal: AbortSignal, note: (fields: Fields) => void, body: unknown)
 *   => AsyncIterable<() => Fields>} Begin
 */

// How long to wait for a frame that may not come: a hidden page draws none.
const PAUSE = 100;
// One frame, where there are none.
const FRAME = 16;

/** A state that changes at most once per frame, and those who are told of it. */
export class Observed {
  #begin;
  #repeatable;
  #waits;
  #signal;
  /** What was submitted. @type {{body: unknown} | null} */
  #submitted = null;
  #empty;
  /** @type {any} */
  #state;
  /** @type {Set<() => void>} */
  #views = new Set();
  /** @type {AbortController | null} */
  #controller = null;
  /** The fields of the next state: what is set already, and what is asked for at the frame. */
  #fields = /** @type {Fields} */ ({});
  /** @type {(() => Fields) | null} */
  #latest = null;
  /** Forget the frame that is waited for. @type {(() => void) | null} */
  #cancel = null;
  /** For those who look for loops: true if views were told of a state since this was set to false. */
  told = false;

  /**
   * @param {Begin | null} begin null: there is nothing to read
   * @param {Fields} empty the state before anything has arrived
   * @param {{repeatable: boolean, waits?: boolean, signal?: AbortSignal}} how `repeatable`: it can begin
   *   again; `waits`: it begins when something is submitted; `signal`: stops it
   */
  constructor(begin, empty, { repeatable, waits = false, signal }) {
    this.#begin = begin;
    this.#signal = signal;
    this.#repeatable = repeatable;
    this.#waits = waits;
    const { stop, restart, submit } = this;
    const status = begin === null || waits ? "idle" : "streaming";
    const isLoading = status === "streaming";
    const actions = waits ? { stop, restart, submit } : { stop, restart };
    this.#empty = { ...empty, complete: false, error: undefined, status, isLoading, ...actions };
    this.#state = this.#empty;
  }

  /** @param {() => void} view */
  subscribe = (view) => {
    this.#views.add(view);
    if (this.#controller === null) this.#begins();
    return () => {
      this.#views.delete(view);
      if (this.#views.size === 0) setTimeout(() => this.#left(), 0);
    };
  };

  state = () => this.#state;

  /** The state that servers render, and browsers before they take over. */
  serverState = () => this.#empty;

  /** Stop reading and close the source. What has arrived stays. */
  stop = () => {
    if (this.#controller === null || this.#controller.signal.aborted) return;
    if (this.#isOver) return;
    this.#controller.abort();
    this.#note({ status: "stopped" });
  };

  /** Read from the beginning. */
  restart = () => {
    if (!this.#repeatable) {
      throw new TypeError("a source that was read is gone: give a function, which is called again");
    }
    this.#again();
  };

  /** Ask, in place of what was asked before. @param {unknown} [body] */
  submit = (body) => {
    this.#submitted = { body };
    this.#again();
  };

  #again() {
    this.#controller?.abort();
    this.#reset();
    this.#note(this.#submitted ? { status: "streaming" } : {});
    if (this.#views.size !== 0) this.#begins();
  }

  /** Read, unless there is nothing to ask for yet. */
  #begins() {
    if (!this.#waits || this.#submitted) void this.#read();
  }

  get #isOver() {
    const status = this.#fields.status ?? this.#state.status;
    return status !== "streaming";
  }

  #left() {
    if (this.#views.size !== 0 || this.#controller === null) return;
    this.stop();
    this.#cancel?.();
    this.#draw();
    if (!this.#repeatable) return;
    this.#submitted = null;
    this.#reset();
    this.#state = this.#empty;
  }

  /** Be as if nothing was read; views are told at the next frame. */
  #reset() {
    this.#controller = null;
    this.#latest = null;
    this.#fields = { ...this.#empty };
  }

  async #read() {
    const begin = this.#begin;
    if (begin === null) return;
    const controller = new AbortController();
    const { signal } = controller;
    this.#controller = controller;
    this.#signal?.addEventListener("abort", this.stop, { signal });
    if (this.#signal?.aborted) return this.stop();
    const note = (/** @type {Fields} */ fields) => {
      if (!signal.aborted) this.#note(fields);
    };
    try {
      for await (const latest of begin(signal, note, this.#submitted?.body)) {
        if (signal.aborted) return;
        this.#latest = latest;
        this.#note({});
      }
      if (!this.#isOver) note({ complete: true, status: "complete" });
    } catch (error) {
      note(ending(error));
    }
  }

  /** @param {Fields} fields */
  #note(fields) {
    Object.assign(this.#fields, fields);
    this.#cancel ??= onFrame(() => this.#draw());
  }

  #draw() {
    this.#cancel = null;
    const shown = this.#latest?.();
    this.#latest = null;
    const state = { ...this.#state, ...this.#fields, ...shown };
    this.#state = { ...state, isLoading: state.status === "streaming" };
    this.#fields = {};
    this.told = true;
    for (const view of [...this.#views]) view();
  }
}

// What a reader can do when the server's part is over; its own words are for those who run it.
const INTERRUPTED = ["PRODUCER_LOST", "PRODUCER_STOPPED"];
const WORDS = "The answer was interrupted on the server, and will not go on. Please ask again.";

/**
 * The fields of a state after an error. What a person cancelled is stopped, not failed.
 * @param {any} error
 */
function ending(error) {
  if (error?.code === "CANCELLED") return { status: "stopped" };
  if (INTERRUPTED.includes(error?.code)) error.message = WORDS;
  return { error: error instanceof Error ? error : new Error(String(error)), status: "error" };
}

/**
 * Call once with the next frame; soon, where the page is hidden or there are no frames.
 * @param {() => void} draw
 * @returns {() => void} forgets it
 */
function onFrame(draw) {
  const has = typeof requestAnimationFrame === "function";
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const frame = has ? requestAnimationFrame(() => run()) : 0;
  const forget = () => {
    clearTimeout(timer);
    if (has) cancelAnimationFrame(frame);
  };
  const run = () => {
    forget();
    draw();
  };
  const tick = () => {
    if (has && globalThis.document?.visibilityState !== "hidden") timer = setTimeout(tick, PAUSE);
    else run();
  };
  timer = setTimeout(tick, has ? PAUSE : FRAME);
  return forget;
}

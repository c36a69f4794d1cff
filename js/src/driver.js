/**
 * A source and a stage that reads it: the only file that waits.
 *
 * A stage turns elements into lists of items, without I/O: `feed(element)`, `flush(cut)`. If it fails, it returns
 * the items before the error and sets `error`; the driver yields the items and throws the error. Leaving the loop
 * early closes the source, so that `break` stops a generation.
 */

import { SourceFailed, Truncated } from "./errors.js";

/** @import { Cut } from "./parse/machine.js" */
/** @typedef {string | ArrayBuffer | ArrayBufferView} Piece */
/**
 * Text, or what yields text in pieces or a provider's events: a fetch `Response`, a `Blob` or `File`, a
 * `ReadableStream`, a Node stream, an SDK's stream, any sync or async iterable; or a promise of one.
 * @typedef {Piece | Response | Blob | ReadableStream<any> | Iterable<any> | AsyncIterable<any>
 *   | {readonly fullStream: AsyncIterable<any>}} Opened
 */
/** @typedef {Opened | PromiseLike<Opened>} Source */
/**
 * `begin` gets the media type of a response. `isDone`: the stage needs no more of the source. `error`: why it
 * stopped. `flush` may return a promise.
 * @typedef {object} Stage
 * @property {(media: string) => void} [begin]
 * @property {(element: any) => any[]} feed
 * @property {(cut: Cut | null) => any[] | Promise<any[]>} flush
 * @property {boolean} [isDone]
 * @property {unknown} [error]
 */
/**
 * `signal`: when it is aborted, the source is closed at once and its reason is thrown. `every`: milliseconds before
 * the same item is yielded again after a change; the last change is always yielded. `show` converts an
 * item when it is yielded.
 * @typedef {{signal?: AbortSignal, every?: number, show?: (item: any) => any}} DriveOptions
 */

/** Milliseconds of one frame of a screen. */
export const FRAME = 16;
// The most characters of a failed response's body in its error.
const MAX_BODY = 500;

/** @param {any} source */
export function isPiece(source) {
  return typeof source === "string" || ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
}

/** Describe an element that is not text, for an error message. @param {any} element */
export function describe(element) {
  if (typeof element === "string") return JSON.stringify(element.slice(0, 60));
  const keys = Object.keys(Object(element)).slice(0, 12).join(", ");
  return keys ? `an object with ${keys}` : typeof element;
}

/**
 * Run `stage` over a source and yield its items. An unsupported source is a TypeError at once.
 * @param {Source} source
 * @param {Stage} stage
 * @param {DriveOptions} [options]
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export function drive(source, stage, options = {}) {
  return /** @type {any} */ (new Driver(source, stage, options));
}

/**
 * The loop. It is not an async generator, which would cost three times as much per step, and which could not
 * be left while it waits for a source that stalls.
 */
class Driver {
  #source;
  #stage;
  #options;
  /** @type {Iterator<any> | AsyncIterator<any> | null} */
  #elements = null;
  #hasBegun = false;
  #isPulling = false;
  /** True once reading has stopped. */
  #isOver = false;
  /** The error that the next call of `next` throws. @type {{error: unknown} | null} */
  #failure = null;
  /** The items of the stage that have not been yielded. @type {any[]} */
  #items = [];
  /** The callers that wait for the next item. @type {{resolve: (result: any) => void, reject: (error: unknown) => void}[]} */
  #waiting = [];
  // The last item that was yielded, and when it may be yielded again.
  /** @type {any} */
  #last;
  #due = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {any} source
   * @param {Stage} stage
   * @param {DriveOptions} options
   */
  constructor(source, stage, options) {
    this.#source = source;
    if (typeof source?.then !== "function") this.#elements = elementsOf(source);
    this.#stage = stage;
    this.#options = options;
    if (options.signal?.aborted) this.#abort();
    else options.signal?.addEventListener("abort", this.#abort);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#serve();
    });
  }

  /** @param {any} [value] */
  async return(value) {
    this.#items = [];
    this.#failure = null;
    await this.#close();
    this.#serve();
    return { done: true, value };
  }

  /** @param {unknown} error */
  async throw(error) {
    await this.return();
    throw error;
  }

  /** Give the available items to waiting callers, then continue to read. */
  #serve() {
    while (this.#waiting.length !== 0) {
      if (this.#items.length !== 0 && this.#isDue(this.#items[0])) {
        const item = (this.#last = this.#items.shift());
        const { show } = this.#options;
        this.#waiting.shift()?.resolve({ done: false, value: show === undefined ? item : show(item) });
      } else if (!this.#isOver) {
        if (!this.#isPulling) void this.#pull();
        return;
      } else if (this.#failure !== null) {
        this.#waiting.shift()?.reject(this.#failure.error);
        this.#failure = null;
      } else {
        this.#waiting.shift()?.resolve({ done: true, value: undefined });
      }
    }
  }

  /** Return true if an item may be yielded now; else a timer calls back when it may be. @param {any} item */
  #isDue(item) {
    const { every = 0 } = this.#options;
    if (every === 0 || this.#isOver) return true;
    const now = performance.now();
    if (item !== this.#last || now >= this.#due) {
      this.#due = now + every;
      return true;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#serve();
    }, this.#due - now);
    return false;
  }

  #pull() {
    this.#isPulling = true;
    try {
      const step = this.#hasBegun ? this.#elements?.next() : this.#begin();
      Promise.resolve(step).then(this.#take, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Return the first element of the source, which may be a promise. */
  async #begin() {
    this.#hasBegun = true;
    const source = (this.#source = await this.#source);
    const elements = (this.#elements ??= elementsOf(source));
    if (this.#isOver) return this.#closeSource();
    if (source.ok === false) throw await failedResponse(source);
    this.#stage.begin?.(source.headers?.get?.("content-type") ?? (source.arrayBuffer && source.type) ?? "");
    return elements.next();
  }

  /** Give an element to the stage, or end the stage. */
  #take = (/** @type {any} */ result) => {
    if (this.#isOver) return;
    try {
      const { done, value } = result;
      if (done) void this.#end(null);
      else this.#add(value == null ? [] : this.#stage.feed(value), false); // providers send null for empty deltas
    } catch (error) {
      this.#stop(error);
    }
  };

  /** Handle a source that failed. If it was cut, the stage decides what that means. */
  #fail = (/** @type {unknown} */ error) => {
    this.#elements = null;
    if (error instanceof Truncated && !this.#isOver) void this.#end(error);
    else this.#stop(error);
  };

  /** End the stage. @param {Cut | null} cut */
  async #end(cut) {
    this.#elements = null; // it needs no closing
    try {
      this.#add(await this.#stage.flush(cut), true);
    } catch (error) {
      this.#stop(error);
    }
  }

  /**
   * @param {any[]} items
   * @param {boolean} isEnd
   */
  #add(items, isEnd) {
    if (this.#isOver) return;
    this.#isPulling = false;
    if (this.#items.length === 0) this.#items = items;
    else this.#items.push(...items.filter((item) => item !== this.#items.at(-1)));
    const { error, isDone } = this.#stage;
    if (error != null) return this.#stop(error);
    if (isEnd || isDone) void this.#close();
    this.#serve();
  }

  /** End with an error. @param {unknown} error */
  #stop(error) {
    if (this.#isOver) return;
    this.#failure = { error };
    void this.#close();
    this.#serve();
  }

  #abort = () => {
    this.#items = [];
    this.#stop(this.#options.signal?.reason);
  };

  /** Stop reading. Pending calls of `next` do not wait for the source to close. */
  async #close() {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#abort);
    if (!this.#hasBegun) this.#begin().catch(() => {});
    else if (this.#isPulling) void this.#closeSource();
    else await this.#closeSource();
  }

  /**
   * Close the source, and ignore errors. A source with a pending read needs more than `return`: SDK streams have
   * a controller, Node streams `destroy`.
   */
  async #closeSource() {
    const elements = this.#elements;
    if (elements === null) return;
    this.#elements = null;
    try {
      const closing = elements.return?.();
      if (this.#isPulling) {
        this.#source.controller?.abort?.();
        this.#source.destroy?.();
      }
      await closing;
    } catch {
      // The caller has left the loop and cannot handle it.
    }
  }
}

/**
 * Return an iterator over the elements of a source.
 * @param {any} source
 * @returns {AsyncIterator<any> | Iterator<any>}
 */
function elementsOf(source) {
  if (isPiece(source)) return [source].values();
  const isResponse = typeof source?.ok === "boolean"; // perhaps from another window, or a library's
  let body = isResponse ? (source.body ?? []) : (source?.fullStream ?? source);
  if (body?.arrayBuffer) body = body.stream(); // a Blob
  // Not every browser can iterate over a ReadableStream, and none closes it while it is read.
  if (body?.getReader) {
    /** @type {ReadableStreamDefaultReader<any> | undefined} */
    let opened;
    const reader = () => (opened ??= body.getReader());
    return /** @type {any} */ ({ next: () => reader().read(), return: () => reader().cancel() });
  }
  const iterate = body?.[Symbol.asyncIterator] ?? body?.[Symbol.iterator];
  if (iterate) return iterate.call(body);
  const hint = source?.choices || source?.content || source?.output ? " (request it with stream: true)" : "";
  const kind = source?.constructor?.name ?? source;
  throw new TypeError(`a source is a string, bytes, a Response, a Blob, a stream or an iterable, not ${kind}${hint}`);
}

/**
 * Return the error for a response with an error status. It quotes the beginning of the body.
 * @param {Response} response
 */
export async function failedResponse(response) {
  const { status } = response;
  const text = await response.text().catch(() => "");
  const body = text.replace(/\s+/g, " ").trim().slice(0, MAX_BODY);
  return new SourceFailed(`the response has status ${status}${body && `: ${body}`}`, { status });
}

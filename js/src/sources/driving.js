/**
 * What can be read from → its elements, and a stage that reads them. The only file that knows what a
 * source is; leaving the loop early closes the source, so that `break` stops a generation.
 */

import { Stoppable } from "./stopping.js";

/** @typedef {string | ArrayBuffer | ArrayBufferView} Piece */
/**
 * Text, or what gives text in pieces or a provider's events: a fetch `Response`, a `Blob` or `File`, a
 * `ReadableStream`, a Node stream, the stream of an SDK, any sync or async iterable of strings, bytes or
 * events; or a promise of one of these.
 * @typedef {Piece | Response | Blob | ReadableStream<any> | Iterable<any> | AsyncIterable<any>
 *   | {readonly fullStream: AsyncIterable<any>}} Text
 */
/** @typedef {Text | PromiseLike<Text>} Source */
/**
 * How to read a provider's stream. `tool`: the arguments of this tool's calls in place of the answer's
 * text (true: of any tool), each a document of its own. `choice`: which of several answers. `sse`: the
 * text is an event stream, whatever its type. `provider`: whose events these are. `answer`: gets the
 * text, the end and the token counts of the answer. `signal`: when it is aborted, the source is closed at
 * once and its reason is thrown.
 * @typedef {{tool?: string | boolean, choice?: number, sse?: boolean, answer?: import("../answer.js").Answer,
 *   provider?: import("../providers/index.js").Provider, signal?: AbortSignal}} SourceOptions
 */
/**
 * `first`: of several calls only the first counts. `events`: the answer may have no text.
 * @typedef {SourceOptions & {first?: boolean, events?: boolean, prefix?: string}} Reading
 */
/**
 * An iterator over the elements of a source, and what is known of it before the first one: the media
 * type of a response, and the response itself if its status is an error. `kept` is the text that was
 * read of the answer. `closers`: what has ways of its own to be closed. `isLeft`: its reader has left.
 * @typedef {{elements: AsyncIterator<any> | Iterator<any>, media: string, failure: Response | null,
 *   kept: Kept, closers: any[], isLeft: boolean}} Opened
 */
/**
 * Reads one piece (undefined: the end) and puts what it finds into `out`, and functions, which are called in
 * their turn and awaited: they check what comes before, or find a `value`; true if it needs no more.
 * At the end `cut` tells how the answer was cut, and `isDone` that the stream said it is at its end.
 * @template T
 * @typedef {(piece: any, out: T[], cut: import("../errors.js").Cut | null, isDone?: boolean) => unknown} Stage
 */
/**
 * What is known of more than text. `decoder`: what reads a source with this first element (undefined: it is
 * empty), if that is not text. `explained`: an error in the words of a person.
 * @typedef {{decoder(first: any, read: Opened, options: Reading): Promise<Decode | undefined> | undefined,
 *   explained(error: unknown, read: Opened, options: Reading): Promise<unknown>}} Knowledge
 */
/**
 * Puts a decoder before a stage.
 * @typedef {(stage: Stage<any>, options: Reading, opened: Opened) => Stage<any> | Promise<Stage<any>>} Decode
 */

/** How many characters of an answer are kept for its errors. */
export const KEPT = 2 ** 16;
const ACCEPTED = "a source is a string, bytes, a Response, a Blob, a stream, or an iterable of strings, bytes or events";

/**
 * Throw a TypeError at once for what is no source.
 * @param {any} source
 */
export function checkSource(source) {
  const methods = ["then", "getReader", Symbol.asyncIterator, Symbol.iterator];
  const has = (/** @type {string | symbol} */ name) => typeof source?.[name] === "function";
  if (isPiece(source) || isResponse(source) || isBlob(source) || source?.fullStream || methods.some(has)) return;
  const kind = source === null ? "null" : (source?.constructor?.name ?? typeof source);
  const hint = source?.choices || source?.content || source?.output ? " (ask with stream: true)" : "";
  throw new TypeError(`${ACCEPTED}, not ${kind}${hint}`);
}

/**
 * @param {Source} source
 * @returns {Promise<Opened>}
 */
async function opened(source) {
  /** @type {any} */
  const input = await source;
  checkSource(input);
  let media = "";
  let failure = null;
  let body = input.fullStream ?? input;
  if (isPiece(input)) {
    body = [input];
  } else if (isResponse(input)) {
    media = input.headers?.get("content-type") ?? "";
    if (!input.ok) failure = input;
    body = input.body ?? [];
  } else if (isBlob(input)) {
    media = input.type;
    body = input.stream();
  }
  // Not every browser can iterate over a ReadableStream, and none closes it while it is read.
  const iterate = body.getReader ? null : (body[Symbol.asyncIterator] ?? body[Symbol.iterator]);
  const elements = iterate ? iterate.call(body) : iteratorOf(body);
  return { elements, media, failure, kept: new Kept(), closers: [input, body], isLeft: false };
}

/** @param {any} source */
export function isPiece(source) {
  const bytes = ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
  return typeof source === "string" || bytes;
}

/** Also one of another window, or of a library. @param {any} source */
export function isResponse(source) {
  return typeof source?.status === "number" && "body" in source;
}

/** @param {any} source */
function isBlob(source) {
  return typeof source?.stream === "function" && typeof source.arrayBuffer === "function";
}

/**
 * A ReadableStream as an iterator.
 * @param {ReadableStream<any>} stream
 * @returns {AsyncIterator<any>}
 */
function iteratorOf(stream) {
  const reader = stream.getReader();
  const cancel = () => reader.cancel();
  return /** @type {any} */ ({ next: () => reader.read(), return: cancel });
}

/**
 * Run `stage` over the pieces of a source, and over `undefined` at its end; yields what it puts into
 * `out`. What it found before it throws is yielded first.
 * @template T
 * @param {Source} source
 * @param {Stage<T> | Promise<Stage<T>>} stage
 * @param {Reading} options
 * @param {Knowledge} [knowledge] without it, the source is text
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function driven(source, stage, options, knowledge) {
  return /** @type {any} */ (new Stoppable(new Elements(source, stage, options, knowledge), options.signal));
}

/**
 * What a stage finds in a source. A step is told by a callback: as an async generator it would cost three times as
 * much, as an async function half as much again. What has to be awaited besides the source, `#step` does.
 */
class Elements {
  #source;
  #stage;
  #options;
  #knowledge;
  /** @type {Promise<Opened> | undefined} */
  #opening;
  /** @type {Opened | null} */
  #read = null;
  #isText = false;
  #isOpen = false;
  // What the stage found, how much of it was yielded, and whether no more is read.
  /** @type {any[]} */
  #out = [];
  #yielded = 0;
  #isOver = false;

  /**
   * @param {Source} source
   * @param {Stage<any> | Promise<Stage<any>>} stage
   * @param {Reading} options
   * @param {Knowledge} [knowledge]
   */
  constructor(source, stage, options, knowledge) {
    this.#source = source;
    this.#stage = stage;
    this.#options = options;
    this.#knowledge = knowledge;
  }

  /**
   * @param {(result: any) => void} come
   * @param {(error: unknown) => void} fail
   */
  ask(come, fail) {
    const read = this.#read;
    const step = () => this.#step().then(come, fail);
    if (read === null || this.#isOver || this.#yielded < this.#out.length) return step();
    return Promise.resolve(this.#next(read))
      .then((result) => {
        this.#take(result);
        const out = this.#out;
        if (out.length === 1 && typeof out[0] !== "function") come({ done: false, value: out.pop() });
        else step();
      })
      .catch(fail); // also a result that is not one
  }

  /** @returns {Promise<IteratorResult<any, any>>} */
  async #step() {
    const read = (this.#read ??= await this.#open());
    try {
      for (;;) {
        while (this.#yielded < this.#out.length) {
          const one = this.#out[this.#yielded++];
          if (typeof one !== "function") return { done: false, value: one };
          const result = await one();
          if (result) return { done: false, value: result.value };
        }
        if (this.#isOver) return this.return();
        this.#take(await this.#next(read));
      }
    } catch (error) {
      if (!this.#isOpen && !this.#isOver) throw error; // the source's
      await this.return();
      throw (await this.#knowledge?.explained(error, read, this.#options)) ?? error;
    }
  }

  /** @param {Opened} read */
  #next(read) {
    this.#isOpen = false; // a source that fails is not closed
    return read.elements.next();
  }

  /** @param {IteratorResult<any, any>} result */
  #take({ done, value }) {
    if (this.#yielded !== 0) this.#out = [];
    this.#yielded = 0;
    this.#isOver = /** @type {Opened} */ (this.#read).isLeft;
    if (this.#isOver) return;
    this.#isOpen = !done;
    if (done) this.#feed(undefined);
    else if (value != null) this.#feed(value); // deltas have a null in place of no text
  }

  /** @param {any} element */
  #feed(element) {
    try {
      if (this.#isText && element !== undefined) {
        /** @type {Opened} */ (this.#read).kept.add(element);
        this.#options.answer?.add(element);
      }
      this.#isOver = this.#reads(element, this.#out, null) === true || !this.#isOpen;
    } catch (error) {
      this.#isOver = true;
      this.#out.push(() => {
        throw error;
      });
    }
  }

  /** What reads an element: the first tells what it is. @type {Stage<any>} */
  #reads = (first, out) => out.push(() => this.#begin(first, /** @type {Opened} */ (this.#read)));

  /**
   * Read a source that begins so.
   * @param {any} first
   * @param {Opened} read
   */
  async #begin(first, read) {
    const stage = await this.#stage;
    const decode = await this.#knowledge?.decoder(first, read, this.#options);
    if (!decode) this.#options.answer?.begin();
    this.#isText = !decode;
    this.#reads = decode ? await decode(stage, this.#options, read) : stage;
    this.#feed(first);
  }

  /** The loop was left: an error of the source is ignored from here on. @param {any} [value] */
  async return(value) {
    if (this.#isOpen) await close(/** @type {Opened} */ (this.#read).elements);
    return { done: true, value };
  }

  /**
   * Close a source that is waited for, by every way that it has: SDKs have a controller, streams of Node
   * are destroyed.
   */
  async close() {
    try {
      const read = await this.#open();
      read.isLeft = true;
      void close(read.elements);
      for (const one of read.closers) {
        one.controller?.abort?.();
        one.destroy?.();
      }
    } catch {
      // It was never opened.
    }
  }

  #open() {
    return (this.#opening ??= opened(this.#source));
  }
}

/** What was read of an answer, up to a limit; `joined.js` has its text. */
export class Kept {
  /** @type {Piece[]} */
  pieces = [];
  #room;

  constructor(room = KEPT) {
    this.#room = room;
  }

  /** @param {Piece} piece */
  add(piece) {
    if (this.#room <= 0 || !isPiece(piece)) return;
    this.#room -= typeof piece === "string" ? piece.length : piece.byteLength;
    this.pieces.push(piece);
  }
}

/**
 * The loop was left: an error of the source is ignored from here on.
 * @param {AsyncIterator<any> | Iterator<any>} elements
 */
async function close(elements) {
  try {
    await elements.return?.();
  } catch {
    // It was left.
  }
}

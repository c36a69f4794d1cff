/**
 * What can be read from → its elements, and a stage that reads them. The only file that knows what a
 * source is; leaving the loop early closes the source, so that `break` stops a generation.
 */

import { stoppable } from "./stopping.js";

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
 * `many` and `repair` are those of the reader of the text. `first`: of several calls only the first counts. `events`:
 * the answer may have no text. `split` is that of `parts`.
 * @typedef {SourceOptions & {many?: boolean, first?: boolean, events?: boolean, split?: unknown, prefix?: string,
 *   repair?: import("../parse/machine.js").ParserOptions["repair"]}} Reading
 */
/**
 * An iterator over the elements of a source, and what is known of it before the first one: the media
 * type of a response, and the response itself if its status is an error. `kept` is the text that was
 * read of the answer. `closers`: what has ways of its own to be closed. `isLeft`: its reader has left.
 * @typedef {{elements: AsyncIterator<any> | Iterator<any>, media: string, failure: Response | null,
 *   kept: Kept, closers: any[], isLeft: boolean}} Opened
 */
/**
 * Reads one piece (undefined: the end) and puts what it finds into `out`, and functions that check what
 * comes before it; true if it needs no more.
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
  const given = await source;
  checkSource(given);
  let media = "";
  let failure = null;
  let body = given.fullStream ?? given;
  if (isPiece(given)) {
    body = [given];
  } else if (isResponse(given)) {
    media = given.headers?.get("content-type") ?? "";
    if (!given.ok) failure = given;
    body = given.body ?? [];
  } else if (isBlob(given)) {
    media = given.type;
    body = given.stream();
  }
  // Not every browser can iterate over a ReadableStream, and none closes it while it is read.
  const iterate = body.getReader ? null : (body[Symbol.asyncIterator] ?? body[Symbol.iterator]);
  const elements = iterate ? iterate.call(body) : iteratorOf(body);
  return { elements, media, failure, kept: new Kept(), closers: [given, body], isLeft: false };
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
 * `out`, which it awaits. What it found before it throws is yielded first.
 * @template T
 * @param {Source} source
 * @param {Stage<T> | Promise<Stage<T>>} stage
 * @param {Reading} options
 * @param {Knowledge} [knowledge] without it, the source is text
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function driven(source, stage, options, knowledge) {
  /** @type {Promise<Opened> | undefined} */
  let opening;
  const open = () => (opening ??= opened(source));
  const leave = () =>
    open()
      .then(abandon)
      .catch(() => {});
  return stoppable(elementsOf(open, stage, options, knowledge), leave, options.signal);
}

/**
 * @template T
 * @param {() => Promise<Opened>} open
 * @param {Stage<T> | Promise<Stage<T>>} given
 * @param {Reading} options
 * @param {Knowledge} [knowledge]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
async function* elementsOf(open, given, options, knowledge) {
  const read = await open();
  const { elements } = read;
  let stage = await given;
  let isText = true;
  let isFirst = true;
  let isOpen = false;
  try {
    for (;;) {
      isOpen = false; // a source that fails is not closed
      const { done, value } = await elements.next();
      if (read.isLeft) return;
      isOpen = !done;
      // Deltas have a null in place of no text.
      if (!done && value == null) continue;
      const element = done ? undefined : value;
      if (isFirst) {
        isFirst = false;
        const decode = await knowledge?.decoder(element, read, options);
        isText = decode === undefined;
        if (decode) stage = await decode(stage, options, read);
        else options.answer?.begin();
      }
      if (isText && !done) {
        read.kept.add(element);
        options.answer?.add(element);
      }
      /** @type {T[]} */
      const out = [];
      let failure;
      let isOver;
      try {
        isOver = stage(element, out, null) === true;
      } catch (error) {
        failure = { error };
      }
      for (const one of out) {
        const refused = typeof one === "function" && (await failureOf(/** @type {any} */ (one)));
        if (refused) {
          failure = refused;
          break;
        }
        if (typeof one !== "function") yield one;
      }
      if (failure) throw (await knowledge?.explained(failure.error, read, options)) ?? failure.error;
      if (done || isOver) return;
    }
  } finally {
    if (isOpen) await close(elements);
  }
}

/**
 * What a check throws.
 * @param {() => Promise<void>} check
 */
async function failureOf(check) {
  try {
    await check();
    return null;
  } catch (error) {
    return { error };
  }
}

/** What was read of an answer, up to a limit. */
export class Kept {
  /** @type {Piece[]} */
  #pieces = [];
  #room;

  constructor(room = KEPT) {
    this.#room = room;
  }

  /** @param {Piece} piece */
  add(piece) {
    if (this.#room <= 0 || !isPiece(piece)) return;
    this.#room -= typeof piece === "string" ? piece.length : piece.byteLength;
    this.#pieces.push(piece);
  }

  get text() {
    const utf8 = new TextDecoder();
    const texts = this.#pieces.map((it) => (typeof it === "string" ? it : utf8.decode(it, { stream: true })));
    return texts.join("");
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

/**
 * Close a source that is waited for, by every way that it has: SDKs have a controller, streams of Node
 * are destroyed.
 * @param {Opened} read
 */
function abandon(read) {
  read.isLeft = true;
  void close(read.elements);
  for (const one of read.closers) {
    one.controller?.abort?.();
    one.destroy?.();
  }
}

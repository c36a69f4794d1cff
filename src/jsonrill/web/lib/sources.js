/**
 * What text can be read from → its pieces. The only file that knows what a source is; leaving the
 * loop early closes the source, so that `break` stops a generation.
 */

/** @typedef {string | ArrayBuffer | ArrayBufferView} Piece */
/**
 * Text, or what gives text in pieces: a fetch `Response`, a `ReadableStream`, a Node stream, any
 * sync or async iterable of strings or bytes; or a promise of one of these.
 * @typedef {Piece | Response | ReadableStream<Piece> | Iterable<Piece> | AsyncIterable<Piece>} Text
 */
/** @typedef {Text | Promise<Text>} Source */

const ACCEPTED =
  "a source is a string, bytes, a Response, a ReadableStream, a Node stream, or an iterable of " +
  "strings or bytes";

/**
 * Throw a TypeError at once for what is no source.
 * @param {any} source
 */
export function checkSource(source) {
  const known =
    isPiece(source) ||
    typeof source?.then === "function" ||
    isResponse(source) ||
    typeof source?.getReader === "function" ||
    typeof source?.[Symbol.asyncIterator] === "function" ||
    typeof source?.[Symbol.iterator] === "function";
  if (known) return;
  const kind = source === null ? "null" : (source?.constructor?.name ?? typeof source);
  throw new TypeError(`${ACCEPTED}, not ${kind}`);
}

/**
 * An iterator over the pieces of a source.
 * @param {Source} source
 * @returns {Promise<AsyncIterator<Piece> | Iterator<Piece>>}
 */
export async function iteratorOf(source) {
  /** @type {any} */
  let given = await source;
  checkSource(given);
  if (isPiece(given)) return [given].values();
  if (isResponse(given)) given = bodyOf(given);
  // Not every browser can iterate over a ReadableStream.
  const iterate = given[Symbol.asyncIterator] ?? given[Symbol.iterator];
  return iterate === undefined ? new StreamIterator(given) : iterate.call(given);
}

/** @param {any} source */
function isPiece(source) {
  const bytes = ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
  return typeof source === "string" || bytes;
}

/** Also one of another window, or of a library. @param {any} source */
function isResponse(source) {
  return typeof source?.status === "number" && "body" in source;
}

/** @param {Response} response */
function bodyOf(response) {
  const type = response.headers.get("content-type") ?? "";
  if (!response.ok) {
    throw new TypeError(`the server answered ${response.status}: check response.ok before reading`);
  }
  if (/^text\/event-stream\b/i.test(type)) {
    throw new TypeError("this response is an event stream: open(url) reads those of jsonrill");
  }
  return response.body ?? [];
}

/** A ReadableStream as an iterator. */
class StreamIterator {
  #reader;

  /** @param {ReadableStream<Piece>} stream */
  constructor(stream) {
    this.#reader = stream.getReader();
  }

  /** @returns {Promise<IteratorResult<Piece>>} */
  next() {
    return /** @type {Promise<any>} */ (this.#reader.read());
  }

  /** @returns {Promise<IteratorReturnResult<undefined>>} */
  async return() {
    await this.#reader.cancel();
    return { done: true, value: undefined };
  }
}

/**
 * Run `stage` over the pieces of a source, and over `undefined` at its end; yields what it puts into
 * `out`. What it found before it throws is yielded first. When it returns true, nothing more is read.
 * @template T
 * @param {Source} source
 * @param {(piece: Piece | undefined, out: T[]) => boolean | void} stage
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export async function* drive(source, stage) {
  const pieces = await iteratorOf(source);
  let open = false;
  try {
    for (;;) {
      open = false; // a source that fails is not closed
      const { done, value } = await pieces.next();
      open = !done;
      /** @type {T[]} */
      const out = [];
      let failure;
      let over;
      try {
        over = stage(done ? undefined : value, out);
      } catch (error) {
        failure = { error };
      }
      for (const one of out) yield one;
      if (failure) throw failure.error;
      if (done || over) return;
    }
  } finally {
    if (open) await close(pieces);
  }
}

/**
 * The loop was left: an error of the source is ignored from here on.
 * @param {AsyncIterator<Piece> | Iterator<Piece>} pieces
 */
async function close(pieces) {
  try {
    await pieces.return?.();
  } catch {
    // It was left.
  }
}

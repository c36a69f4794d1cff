/**
 * Read a provider's stream: `content` yields its text, `toolCalls` its calls, `parts` everything.
 *
 * The source is an SDK's stream, its events, a response with server-sent events or JSON lines, or the events
 * of a jsonrill server (`openEvents`).
 */

import { describe, drive, isPiece } from "./driver.js";
import { SourceFailed, Truncated, UnknownSource } from "./errors.js";
import { EventText, isEventStream, isRestart } from "./eventstream.js";
import { serverError, valueFormatOf } from "./formats.js";
import { isObject } from "./parse/values.js";
import { PartList, Parts } from "./parts.js";
import { Ending } from "./providers/ending.js";
import { plain, Reader } from "./providers/reader.js";
import { ofChoice } from "./providers/statements.js";
import { ToolCalls } from "./toolcalls/calls.js";

/** @import { Source } from "./driver.js" */
/** @import { Part, PartsOptions } from "./parts.js" */
/** @import { Provider } from "./providers/reader.js" */
/** @import { Statement } from "./providers/statements.js" */
/** @import { ToolCall } from "./toolcalls/call.js" */
/** @import { CallOptions } from "./toolcalls/calls.js" */
/**
 * `provider`: the provider of the events; a function reads your own events. `sse`: the text is an event stream,
 * whatever its type. `signal`: when it is aborted, the source is closed at once and its reason is thrown.
 * @typedef {{provider?: Provider, sse?: boolean, signal?: AbortSignal}} EventOptions
 */
/**
 * The calls of tools whose arguments are known, by name.
 * @template T
 * @typedef {unknown extends T ? ToolCall : {[N in keyof T & string]: ToolCall<N, T[N]>}[keyof T & string]} CallOf
 */

// The most elements before the first one that is recognised.
const MAX_UNKNOWN = 32;
const ACCEPTED =
  "A source is a provider's stream or its events; `provider` takes a function for other events, values() reads text, " +
  "and open(url) reads the events of a jsonrill server";

/** Turns elements into the statements of each event. Throws if no event is from a known provider. */
class EventReader {
  #reader;
  #sse;
  /** @type {EventText | null} */
  #text = null;
  #isKnown;
  /** @type {any} */
  #first = null;
  #unknown = 0;

  /** @param {EventOptions & {reader?: Reader}} options */
  constructor({ provider, sse = false, reader = new Reader(provider) }) {
    this.#reader = reader;
    this.#sse = sse;
    this.#isKnown = typeof provider === "function";
  }

  /** @param {string} media */
  begin(media) {
    this.#sse ||= isEventStream(media);
  }

  /** @param {any} element */
  feed(element) {
    if (isRestart(element)) throw new SourceFailed("the server restarted the stream: read it again", { code: "RESTART" });
    if (!isPiece(element)) return [this.#read(element)];
    this.#text ??= new EventText(this.#sse);
    return this.#text.feed(element).map((event) => this.#read(event));
  }

  /** Return the statements of the last event; UnknownSource if no event was recognised. */
  flush() {
    const last = (this.#text?.flush() ?? []).map((event) => this.#read(event));
    if (!this.#isKnown && this.#unknown !== 0) throw this.#unknownSource();
    return last;
  }

  /** True if the provider marks the end of an answer, unless the event stream has marked it already. */
  get marksEnd() {
    return this.#reader.ends && !this.#text?.hasEnded;
  }

  /** @param {any} event */
  #read(event) {
    const fields = plain(event);
    if (fields?.status === "ERROR" && isObject(fields.error)) throw serverError(fields.error);
    const statements = this.#reader.read(fields);
    this.#isKnown ||= statements.length !== 0 || (this.#reader.named === "auto" && this.#reader.provider !== null);
    if (!this.#isKnown) {
      this.#first ??= event;
      this.#unknown += 1;
      if (this.#unknown >= MAX_UNKNOWN) throw this.#unknownSource();
    }
    return statements;
  }

  #unknownSource() {
    const data = decode(this.#first);
    const format = valueFormatOf(data);
    const message = format
      ? `a function for model answers does not read the format ${format}; open(url) or useStream(url) does`
      : `no event of a known provider: the first of ${this.#unknown} elements is ${describe(data ?? this.#first)}. ${ACCEPTED}`;
    return new UnknownSource(message);
  }
}

/** Return the data of an event: an object, or JSON in an event or text; undefined for other text. @param {any} event */
function decode(event) {
  const text = event?.data ?? event;
  try {
    return typeof text === "string" ? JSON.parse(text) : event;
  } catch {
    return undefined;
  }
}

/**
 * Return a stage that passes the statements of each event to `read`. At the end of the stream, `end` returns the last
 * items and an error. Its argument says whether the provider should have marked the end of the answer.
 * @param {EventReader} reader
 * @param {(statements: Statement[]) => any[]} read
 * @param {(marksEnd: boolean) => [any[], Error | null]} end
 */
function createStage(reader, read, end) {
  const stage = {
    error: /** @type {unknown} */ (null),
    begin: (/** @type {string} */ media) => reader.begin(media),
    feed: (/** @type {any} */ element) => collectUntilError(() => reader.feed(element)),
    flush: () => collectUntilError(() => reader.flush(), true),
  };
  /**
   * Return the items, up to an error; the error is set on the stage.
   * @param {() => Statement[][]} events
   * @param {boolean} [isEnd]
   */
  function collectUntilError(events, isEnd = false) {
    /** @type {any[]} */
    const out = [];
    try {
      for (const statements of events()) out.push(...read(statements));
      if (!isEnd) return out;
      const [last, error] = end(reader.marksEnd);
      out.push(...last);
      stage.error = error;
    } catch (error) {
      stage.error = error;
    }
    return out;
  }
  return stage;
}

/**
 * Yield the text of the answer in a provider's stream, without reasoning and calls: `values(content(stream))`. An
 * answer that was cut ends with `Truncated`, whose `reason` is length, filtered, refused or lost; an error of the
 * provider is a SourceFailed.
 * @param {Source} source
 * @param {EventOptions & {choice?: number}} [options] `choice`: which of several answers
 * @returns {AsyncGenerator<string, void, undefined>}
 */
export function content(source, { choice = 0, signal, ...options } = {}) {
  const ending = new Ending();
  const read = (/** @type {Statement[]} */ statements) => {
    const chosen = ofChoice(statements, choice);
    ending.feed(chosen);
    let text = "";
    for (const statement of chosen) {
      if (statement.kind === "text" && !statement.refusal) text += statement.text;
      if (statement.kind === "finish" && statement.reason === "error") throw failure(statement.detail);
    }
    return text === "" ? [] : [text];
  };
  const reader = new EventReader(options);
  const stage = createStage(reader, read, (marksEnd) => {
    const cut = ending.cut(choice, marksEnd);
    return [[], cut && new Truncated(cut.message, { reason: cut.reason })];
  });
  return drive(source, stage, { signal });
}

/** @param {string | null | undefined} detail */
function failure(detail) {
  return new SourceFailed(`the provider reported an error: ${detail}`);
}

/**
 * Yield a snapshot of each call in a provider's stream when it changes. `calls` is a `ToolCalls` that keeps the calls
 * of several turns. An error of the provider is thrown at the end.
 * @template [T=unknown]
 * @param {Source} source
 * @param {CallOptions & EventOptions & {calls?: ToolCalls}} [options]
 * @returns {AsyncGenerator<CallOf<T>, void, undefined>}
 */
export function toolCalls(source, { calls, signal, provider, sse, ...options } = {}) {
  const reading = calls ?? new ToolCalls({ ...options, provider });
  // Other streams may be read into the same calls: this one ends only its own messages.
  /** @type {Set<string>} */
  const messages = new Set();
  /** @type {SourceFailed | null} */
  let failed = null;
  const read = (/** @type {Statement[]} */ statements) => {
    for (const statement of statements) {
      if (statement.kind === "finish" && statement.reason === "error") failed ??= failure(statement.detail);
    }
    const changed = reading.read(statements);
    for (const { messageId } of changed) messages.add(messageId);
    return changed;
  };
  const reader = new EventReader({ sse, provider: reading.reader.named, reader: reading.reader });
  const stage = createStage(reader, read, () => [messages.size === 0 ? [] : reading.flush(...messages), failed]);
  return drive(source, stage, { signal });
}

/**
 * Yield the parts of an answer as they grow: text, reasoning, calls and results, in order. Each is a snapshot;
 * `complete` is true at most once for each part. An error of the provider is thrown at the end.
 * @param {Source} source
 * @param {PartsOptions & EventOptions} [options]
 * @returns {AsyncGenerator<Part, void, undefined>}
 */
export function parts(source, options = {}) {
  return partsOf(source, options);
}

/**
 * Yield all parts of an answer so far, after each event; parts that did not change are the same objects.
 * @param {Source} source
 * @param {PartsOptions & EventOptions} [options]
 * @returns {AsyncGenerator<readonly Part[], void, undefined>}
 */
export function partLists(source, options = {}) {
  const list = new PartList();
  return partsOf(source, options, (part) => list.add(part));
}

/**
 * @param {Source} source
 * @param {PartsOptions & EventOptions} options
 * @param {(part: Part) => any} [show]
 */
function partsOf(source, { signal, sse, provider, ...options }, show) {
  const reading = new Parts({ provider, ...options });
  const reader = new EventReader({ sse, provider, reader: reading.reader });
  /** @type {(marksEnd: boolean) => [Part[], Error | null]} */
  const end = (marksEnd) => [reading.flush(!marksEnd), reading.error === null ? null : failure(reading.error)];
  const stage = createStage(reader, (statements) => reading.read(statements), end);
  return drive(source, stage, { signal, show });
}

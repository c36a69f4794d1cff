/**
 * How the elements of a source become events, and the text that is wanted of them. No I/O:
 * `reading.js` iterates, and loads this module when it is needed.
 */

import { InvalidJSON, truncated } from "../errors.js";
import { EventText } from "./event-text.js";
import { isEventStream } from "../eventstream/media.js";
import { Reader } from "../providers/index.js";
import { Ending, ofChoice, Watch } from "../providers/statements.js";
import { SourceFailed, UnknownSource } from "./failures.js";
import { isPiece } from "../streams/core.js";
import { isObject } from "../parse/values.js";

/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("./reading.js").Opened} Opened */
/** @typedef {import("./reading.js").Reading} Reading */
/** @typedef {import("../providers/statements.js").Statement} Statement */
/**
 * Turns elements into pieces of text, or into events. `isDone`: no more of the source is wanted.
 * `cut`: how the answer was cut, at its end. `saidDone`: the text said that it is at its end.
 * @typedef {{feed(element: any): Iterable<any>, flush(): Iterable<any>, readonly isDone: boolean,
 *   cut?: Cut | null, readonly saidDone?: boolean}} Decoder
 */
/**
 * What is wanted of a provider's events. `missing` says why it has not come, and the remedy.
 * @typedef {{pieces(statements: Statement[]): Iterable<string>, flush(): Iterable<string>,
 *   cut(ends: boolean): Cut | null, readonly missing: string | null, readonly isDone: boolean}} Wanted
 */

const ACCEPTED =
  "a source is text, a provider's stream or its events, or a Response; `provider` takes a function for " +
  "other events, and open(url) reads the events of a jsonrill server";
// The number of elements that may come before the first one that is recognised.
const MOST_UNKNOWN = 32;
// What a JSON text begins with, and how much of a text that begins with something else is read, to see
// if the model refused or was stopped.
const BEGINS_JSON = /^[ \t\r\n]*(?:[{["\d`<\ufeff-]|(?:t(?:r|$)|f(?:a|$)|n(?:u|$)))/;
const PROSE = 120;
// How much of the body of a failed response its error shows.
const SHOWN = 500;

/**
 * Put the decoder before a stage that reads text: of the answer, or of the arguments of calls. What
 * knows calls is loaded for the latter alone.
 * @type {import("./reading.js").Decode}
 */
export async function decode(stage, options, opened) {
  const { tool, choice = 0, first = false } = options;
  if (!Number.isInteger(choice) || choice < 0) {
    throw new TypeError(`choice is a whole number from 0 up, not ${String(choice)}`);
  }
  /** @type {Wanted} */
  let wanted = new AnswerText(choice);
  if (tool) {
    const { ArgumentText } = await import("./arguments.js");
    wanted = new ArgumentText(tool, choice, first);
  }
  return decoded(stage, opened, () => new AnswerDecoder(wanted, options, opened));
}

/**
 * Put the decoder before a stage that reads events.
 * @type {import("./reading.js").Decode}
 */
export function decodeEvents(stage, { provider = "auto" }, opened) {
  return decoded(stage, opened, () => new EventDecoder(provider, isEventStream(opened.media)));
}

/**
 * @param {import("./reading.js").Stage<any>} stage
 * @param {Opened} opened
 * @param {() => Decoder} make
 * @returns {import("./reading.js").Stage<any>}
 */
function decoded(stage, { failure }, make) {
  /** @type {Decoder} */
  const decoder = failure === null ? make() : new FailedResponse(failure);
  return (element, out) => {
    const isEnd = element === undefined;
    for (const piece of isEnd ? decoder.flush() : decoder.feed(element)) {
      if (stage(piece, out, null) === true) return true;
    }
    if (isEnd || decoder.isDone) stage(undefined, out, decoder.cut ?? null, decoder.saidDone);
    return decoder.isDone;
  };
}

/** Passes on a provider's events, decodes text that holds them, and notices unknown ones. */
class EventDecoder {
  isDone = false;
  #sse;
  /** @type {EventText | null} */
  #text = null;
  /** Until an event is recognised: a reader, which tells if it says something. @type {Reader | null} */
  #reader = null;
  // A provider that is named reads all events: those that say something are its own.
  #isNamed;
  /** @type {any} */
  #first = null;
  #unknown = 0;

  /**
   * @param {import("../providers/index.js").Provider} provider
   * @param {boolean} sse
   */
  constructor(provider = "auto", sse) {
    this.#sse = sse;
    this.#isNamed = provider !== "auto";
    if (typeof provider !== "function") this.#reader = new Reader(provider);
  }

  /** The events that are complete with this element. @param {any} element */
  feed(element) {
    if (!isPiece(element)) return this.#counted([element]);
    this.#text ??= new EventText(this.#sse);
    return this.#counted(this.#text.feed(element));
  }

  /** The last event; an error if none was recognised. */
  *flush() {
    if (this.#text !== null) yield* this.#counted(this.#text.flush());
    if (this.#unknown !== 0 && this.#reader !== null) throw this.#complaint();
  }

  /** True if the text said that it is at its end. */
  get saidDone() {
    return this.#text?.saidDone ?? false;
  }

  /** True if there were no events. */
  get isEmpty() {
    return this.#reader !== null && this.#unknown === 0;
  }

  /** @param {any[]} events */
  *#counted(events) {
    for (const event of events) {
      yield event;
      if (this.#reader !== null) this.#count(event, this.#reader);
    }
  }

  /**
   * @param {any} event
   * @param {Reader} reader
   */
  #count(event, reader) {
    if (reader.feed(event).length !== 0 || (reader.provider !== null && !this.#isNamed)) {
      this.#reader = this.#first = null;
      return;
    }
    if (this.#unknown === 0) this.#first = event;
    this.#unknown += 1;
    if (this.#unknown >= MOST_UNKNOWN) throw this.#complaint();
  }

  #complaint() {
    const first = described(this.#first);
    const fact =
      this.#unknown === 1
        ? `the only element is not an event of a known provider: ${first}`
        : `none of ${this.#unknown} elements is an event of a known provider; the first is ${first}`;
    return new UnknownSource(`${fact}. ${ACCEPTED[0].toUpperCase()}${ACCEPTED.slice(1)}`);
  }
}

/** Reads a provider's events, or text that holds them, and returns the text that is wanted. */
class AnswerDecoder {
  #events;
  #reader;
  #choice;
  #mayBeEmpty;
  #wanted;
  #kept;
  /** @type {Watch | null} */
  #watch;
  /** The beginning of an answer that cannot be JSON, until enough is known. @type {string | null} */
  #prose;
  /** @type {Cut | null} */
  cut = null;

  /**
   * @param {Wanted} wanted
   * @param {Reading} options
   * @param {Opened} opened
   */
  constructor(wanted, options, opened) {
    const { choice = 0, sse = false, provider, events = false, tool, prefix, answer } = options;
    this.#prose = events || tool || prefix ? null : "";
    this.#kept = opened.kept;
    this.#watch = answer ? new Watch(answer, choice) : null;
    this.#events = new EventDecoder(provider, sse || isEventStream(opened.media));
    this.#reader = new Reader(provider);
    this.#choice = choice;
    this.#mayBeEmpty = events;
    this.#wanted = wanted;
  }

  get isDone() {
    return this.#wanted.isDone;
  }

  /** The text that an element adds. @param {any} element */
  feed(element) {
    const pieces = this.#read(this.#events.feed(element));
    return this.#prose === null ? pieces : this.#held(pieces);
  }

  /** The text at the end; an error if the source is not what was asked for. */
  *flush() {
    yield* this.#held(this.#read(this.#events.flush()));
    yield* this.#wanted.flush();
    const ends = this.#reader.ends && !this.#events.saidDone;
    this.#watch?.end(ends);
    this.cut = this.#wanted.cut(ends);
    if (this.#prose) {
      if (this.cut)
        throw truncated(this.cut, new InvalidJSON("expected a value", "a value", { offset: [...this.#prose].length }));
      yield this.#prose;
    }
    if (this.cut && this.cut.reason !== "lost") return;
    const { missing } = this.#wanted;
    if (missing === null || this.#mayBeEmpty || this.#events.isEmpty) return;
    throw new UnknownSource(missing);
  }

  /**
   * The pieces, but for a while not those of prose: its end tells why it came.
   * @param {Iterable<string>} pieces
   */
  *#held(pieces) {
    for (const piece of pieces) {
      if (this.#prose === null) {
        yield piece;
        continue;
      }
      this.#prose += piece;
      if (BEGINS_JSON.test(this.#prose) || this.#prose.length > PROSE) {
        const text = this.#prose;
        this.#prose = null;
        yield text;
      }
    }
  }

  /** @param {Iterable<any>} events */
  *#read(events) {
    for (const event of events) {
      const statements = this.#reader.feed(event);
      this.#watch?.read(statements);
      for (const piece of this.#wanted.pieces(statements)) {
        this.#kept.add(piece);
        yield piece;
      }
      for (const one of ofChoice(statements, this.#choice)) {
        if (one.kind === "finish" && one.reason === "error") {
          this.#watch?.end(true);
          throw new SourceFailed(`the provider reported an error: ${one.detail}`);
        }
      }
    }
  }
}

/** The text of one choice, without reasoning and calls. @implements {Wanted} */
class AnswerText {
  isDone = false;
  #ending = new Ending();
  #choice;
  #hasText = false;
  #hasCalls = false;
  // The names of the calls, as far as they matter: before the first text.
  /** @type {Set<string>} */
  #calls = new Set();
  // A choice that has text while the one that is read has none.
  /** @type {number | null} */
  #elsewhere = null;

  /** @param {number} choice */
  constructor(choice) {
    this.#choice = choice;
  }

  /** @param {Statement[]} statements */
  pieces(statements) {
    this.#ending.feed(statements);
    let text = "";
    for (const one of statements) {
      if (one.kind === "text") {
        if ((one.choice ?? 0) === this.#choice) text += one.text;
        else this.#elsewhere = one.choice ?? 0;
      } else if (one.kind === "call" && !this.#hasText) {
        this.#hasCalls = true;
        if (one.name) this.#calls.add(one.name);
      }
    }
    this.#hasText ||= text !== "";
    return text === "" ? [] : [text];
  }

  flush() {
    return [];
  }

  /** How the answer was cut, once its stream has ended. @param {boolean} ends */
  cut(ends) {
    return this.#ending.cut(this.#choice, ends);
  }

  get missing() {
    if (this.#hasText) return null;
    if (this.#elsewhere !== null) {
      return `choice ${this.#choice} has no text, but choice ${this.#elsewhere} has`;
    }
    if (!this.#hasCalls) return null;
    const [name] = this.#calls;
    const calls = name === undefined ? "" : ` (${[...this.#calls].join(", ")})`;
    const option = name === undefined ? "" : `tool: ${JSON.stringify(name)} or `;
    return `the answer has tool calls${calls} and no text: pass ${option}tool: true for their arguments`;
  }
}

/** Reads the body of a response whose status is an error, and throws it with the body. */
class FailedResponse {
  isDone = false;
  #response;
  #utf8 = new TextDecoder();
  #body = "";

  /** @param {Response} response */
  constructor(response) {
    this.#response = response;
  }

  /**
   * Keep a block; throw when there is enough of the body.
   * @param {any} element
   * @returns {any[]}
   */
  feed(element) {
    const isText = typeof element === "string";
    this.#body += isText ? element : this.#utf8.decode(element, { stream: true });
    if (this.#body.length > 4 * SHOWN) throw this.#error();
    return [];
  }

  /** @returns {any[]} */
  flush() {
    throw this.#error();
  }

  #error() {
    const { status, statusText = "" } = this.#response;
    const body = this.#body.split(/\s+/).filter(Boolean).join(" ").slice(0, SHOWN);
    const named = `${status} ${statusText}`.trim();
    const quoted = body ? `: ${body}` : "";
    return new SourceFailed(`the response has status ${named}${quoted}`, status);
  }
}

/** An element's type and keys, for messages. @param {any} element @returns {string} */
function described(element) {
  if (typeof element === "string") {
    return `${JSON.stringify(element.slice(0, 60))}${element.length > 60 ? "..." : ""}`;
  }
  if (Array.isArray(element)) return `an array of (${element.slice(0, 4).map(described).join(", ")})`;
  if (!isObject(element)) return element === null ? "null" : `a ${typeof element}`;
  const name = element.constructor?.name ?? "Object";
  const keys = Object.keys(element).slice(0, 12);
  return keys.length === 0 ? name : `${name} with ${keys.join(", ")}`;
}

/**
 * The functions that read text: `values`, `states`, `fields`, `text`, `select`, `fragments`, `partial`.
 *
 * A provider's stream becomes text with `content`: `values(content(stream))`.
 */

import { LIMITS } from "./constants.js";
import { ValueBuilder } from "./build/builder.js";
import { Document } from "./build/document.js";
import { describe, drive, FRAME, isPiece } from "./driver.js";
import { FieldNotFound, InvalidJSON, JsonrillError, Truncated, UnknownSource, quote } from "./errors.js";
import { FragmentSink } from "./fragments.js";
import { Machine } from "./parse/machine.js";
import { isObject } from "./parse/values.js";
import { isComplete } from "./paths.js";
import { checkSchema, validate } from "./schema.js";
import { Selection, StringSink } from "./selection.js";

/** @import { DeepPartial } from "./build/builder.js" */
/** @import { Source } from "./driver.js" */
/** @import { Fragment } from "./fragments.js" */
/** @import { Cut, ParserOptions } from "./parse/machine.js" */
/** @import { Path } from "./paths.js" */
/** @import { StandardSchema } from "./schema.js" */
/**
 * `signal`: when it is aborted, the source is closed at once and its reason is thrown.
 * @typedef {ParserOptions & {signal?: AbortSignal}} TextOptions
 */
/**
 * `schema` validates the complete value. `every`: the milliseconds between two values, 16 by default; 0 yields
 * after each piece. `live`: yield the growing object itself, without copies, after each piece.
 * @template T
 * @typedef {TextOptions & {schema?: StandardSchema<T>, every?: number, live?: boolean}} ValuesOptions
 */
/**
 * `openPath`: the path of the value that still grows; null if none does. `isComplete(path)`: true if there is a
 * value at the path (without one: at the root), and it is complete.
 * @typedef {{readonly openPath: Path | null, readonly isComplete: (path?: Path | string) => boolean}} Progress
 */
/**
 * `value` is the value so far; once `complete` it is a `T`.
 * @template T
 * @typedef {Progress & ({readonly complete: true, readonly value: T}
 *   | {readonly complete: false, readonly value: DeepPartial<T>})} State
 */

// How many characters of the text a message quotes.
const MAX_QUOTE = 60;

/** Reads text with a machine. */
class TextStage {
  /** @type {unknown} */
  error = null;
  isDone = false;
  #machine;
  #sink;

  /**
   * `take` returns the new items, `end` the last ones if there was no error.
   * @param {{feed(piece: any): void, flush(cut: Cut | null): void}} machine
   * @param {{take: () => any[], end?: () => any[] | Promise<any[]>, builder?: ValueBuilder}} sink
   */
  constructor(machine, sink) {
    this.#machine = machine;
    this.#sink = sink;
  }

  /** @param {string} media */
  begin(media) {
    if (/^text\/event-stream\b/i.test(media)) throw notTextError("is an event stream");
  }

  /** @param {any} piece */
  feed(piece) {
    if (!isPiece(piece)) throw notTextError(`yields ${describe(piece)}`);
    return this.#read(() => this.#machine.feed(piece), piece);
  }

  /** @param {Cut | null} cut */
  async flush(cut) {
    const items = this.#read(() => this.#machine.flush(cut), "");
    return this.error === null ? [...items, ...((await this.#sink.end?.()) ?? [])] : items;
  }

  /**
   * Return the new items, also if this piece has an error.
   * @param {() => void} work
   * @param {any} piece
   */
  #read(work, piece) {
    try {
      work();
    } catch (error) {
      if (!(error instanceof JsonrillError)) throw error;
      explain(error, typeof piece === "string" ? piece : new TextDecoder().decode(piece));
      error.value = this.#sink.builder?.value;
      this.error = error;
    }
    return this.#sink.take();
  }
}

/** @param {string} reason */
function notTextError(reason) {
  return new UnknownSource(`the source ${reason}, not text: read it with values(content(stream)) or open(url)`);
}

/**
 * Explain an error at the first character of a text that is not JSON at all.
 * @param {unknown} error
 * @param {string} piece the one with the text's first character
 */
export function explain(error, piece) {
  if (!(error instanceof InvalidJSON) || error.expected !== "a value" || error.path?.length) return;
  const text = piece.trim();
  const shown = quote(text.slice(0, MAX_QUOTE).replace(/\s+/g, " "));
  if (/^<(!doctype|html|\?xml)\b/i.test(text)) error.message = `this is an HTML page, not JSON: ${shown}`;
  else if (text.startsWith("```")) error.message = `the JSON is in a code fence: ${shown}`;
  else if (/^[\p{L}#*>_]/u.test(text)) error.message = `the answer is text, not JSON: ${shown}`;
  else if (error.reason === "ended") error.message = "the text is empty";
}

/**
 * A growing value, or the schema's output for the complete one.
 * @typedef {{readonly value: any, readonly live: any, readonly isDone: boolean, readonly openPath: Path | null}} Growing
 */

/**
 * Yield the result of `show` after each change. `withEnd`: also if a piece only completes the value.
 * @param {Source} source
 * @param {(growing: Growing) => any} show
 * @param {ValuesOptions<any>} options
 * @param {boolean} [withEnd]
 */
function growingValues(source, show, { schema, live = false, every = live ? 0 : FRAME, signal, ...parsing }, withEnd = false) {
  checkSchema(schema);
  const builder = new ValueBuilder();
  let lastVersion = 0;
  const take = () => {
    const version = builder.version + Number(withEnd && builder.isDone);
    if (version === lastVersion) return [];
    lastVersion = version;
    return [builder];
  };
  const end = async () => {
    const value = schema && (await validate(schema, builder.value));
    return schema ? [{ value, live: value, isDone: true, openPath: null }] : [];
  };
  const stage = new TextStage(new Machine(builder, parsing), { take, end, builder });
  return drive(source, stage, { signal, every, show });
}

/**
 * Yield the value as it grows, safe to keep: a part that does not change is the same object in the next value. With a
 * schema, the last value is the schema's output.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<DeepPartial<T>, void, undefined>}
 */
export function values(source, options = {}) {
  return growingValues(source, (growing) => (options.live ? growing.live : growing.value), options);
}

/**
 * Yield each value with its progress.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<State<T>, void, undefined>}
 */
export function states(source, options = {}) {
  const { live, schema } = options;
  const show = (/** @type {Growing} */ growing) => {
    const value = live ? growing.live : growing.value;
    const complete = growing.isDone && (schema === undefined || !(growing instanceof ValueBuilder));
    return { value, complete, ...progress(value, growing.openPath) };
  };
  return growingValues(source, show, options, true);
}

/**
 * @param {any} value
 * @param {Path | null} openPath
 * @returns {Progress}
 */
export function progress(value, openPath) {
  return { openPath, isComplete: (path = []) => isComplete(value, path, openPath) };
}

/**
 * Name and value of a field of `T`.
 * @template T
 * @typedef {unknown extends T ? [string, unknown] : {[K in keyof T & string]-?: [K, Exclude<T[K], undefined>]}[keyof T & string]} Field
 */

/** Builds the growing value, and records each field when it is complete. */
class FieldBuilder extends ValueBuilder {
  /** @type {[string, any][]} */
  completed = [];

  endContainer() {
    super.endContainer();
    this.#record(this.frame?.parent);
  }

  endString() {
    super.endString();
    this.#record(this.frame);
  }

  /** @param {any} value */
  scalar(value) {
    super.scalar(value);
    this.#record(this.frame);
  }

  /** @param {import("./parse/machine.js").Frame | null | undefined} frame */
  #record(frame) {
    if (frame?.depth !== 1 || !frame.isObject) return;
    this.completed.push([String(frame.key), frame.container[frame.key]]);
  }
}

/**
 * Yield the name and value of each top-level field when it is complete; a duplicate one is yielded again. With a
 * schema, the complete value is validated at the end.
 * @template [T=unknown]
 * @param {Source} source
 * @param {TextOptions & {schema?: StandardSchema<T>}} [options]
 * @returns {AsyncGenerator<Field<T>, void, undefined>}
 */
export function fields(source, { schema, signal, ...parsing } = {}) {
  checkSchema(schema);
  const builder = new FieldBuilder();
  const take = () => builder.completed.splice(0);
  const end = () => {
    if (!isObject(builder.live)) throw new FieldNotFound("the value has no fields: it is not an object");
    return schema ? validate(schema, builder.value).then(() => []) : [];
  };
  return drive(source, new TextStage(new Machine(builder, parsing), { take, end, builder }), { signal });
}

/**
 * Yield the pieces of one string as it grows. When it is complete, the source is closed, unless `readAll`.
 * FieldNotFound is thrown at the end if it is missing or is not a string.
 * @param {Source} source
 * @param {string} field a path: `"answer"`, `"steps[0].title"`
 * @param {TextOptions & {readAll?: boolean}} [options]
 * @returns {AsyncGenerator<string, void, undefined>}
 */
export function text(source, field, { readAll = false, signal, ...parsing } = {}) {
  const sink = new StringSink(field);
  const take = () => {
    if (sink.isComplete && !readAll) {
      stage.isDone = true;
      stage.error = null; // errors after the string do not matter
    }
    return sink.take();
  };
  const end = () => {
    sink.check();
    return [];
  };
  const stage = new TextStage(new Machine(sink, parsing), { take, end });
  return drive(source, stage, { signal });
}

/**
 * Yield each value at a path when it is complete; other values are not kept. `"results"` and `"results[*]"` mean the
 * elements of that array. `limits.text` counts for each value, and a schema validates each.
 * @template [T=unknown]
 * @param {Source} source
 * @param {string} field
 * @param {TextOptions & {schema?: StandardSchema<T>}} [options]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function select(source, field, { schema, signal, limits, ...parsing } = {}) {
  checkSchema(schema);
  const selection = new Selection(field, limits?.text ?? LIMITS.text);
  const machine = new Machine(selection, { ...parsing, limits: { ...limits, text: Infinity } });
  const limited = {
    feed(/** @type {any} */ piece) {
      machine.feed(piece);
      selection.checkSize(machine.offset);
    },
    flush: (/** @type {Cut | null} */ cut) => machine.flush(cut),
  };
  const take = () => selection.take();
  const end = () => {
    selection.check();
    return [];
  };
  const stage = new TextStage(limited, { take, end });
  const items = drive(source, stage, { signal });
  return schema ? validateEach(items, schema) : items;
}

/**
 * @param {AsyncGenerator<any, void, undefined>} items
 * @param {StandardSchema<any>} schema
 */
async function* validateEach(items, schema) {
  for await (const item of items) yield await validate(schema, item);
}

/**
 * Yield each fragment of a text as soon as it is certain.
 * @param {Source} source
 * @param {TextOptions} [options]
 * @returns {AsyncGenerator<Fragment, void, undefined>}
 */
export function fragments(source, { signal, ...parsing } = {}) {
  const sink = new FragmentSink();
  return drive(source, new TextStage(new Machine(sink, parsing), { take: () => sink.take() }), { signal });
}

/**
 * Return the value of one text that may be cut off anywhere; InvalidJSON if it cannot be JSON.
 * @template [T=unknown]
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {ParserOptions} [options]
 * @returns {DeepPartial<T> | undefined} undefined: no value yet
 */
export function partial(text, options) {
  const document = /** @type {Document<T>} */ (new Document(options));
  document.feed(text);
  try {
    document.flush();
  } catch (error) {
    if (!(error instanceof Truncated)) throw error;
  }
  return document.value;
}

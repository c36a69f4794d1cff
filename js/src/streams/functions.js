/**
 * The functions: any source in, what it says out, while it arrives.
 *
 * Each returns an async generator. Leaving the loop closes the source; an error of the text is
 * thrown after everything that was good before it.
 */

import { createMachine } from "../parse/create.js";
import { Document } from "../build/document.js";
import { InvalidJSON, Truncated } from "../errors.js";
import { TextSink, ValueSink } from "../build/field-sink.js";
import { Growing } from "../build/growing.js";
import { SEPARATOR } from "../parse/machine.js";
import { Parser } from "../wire/parser.js";
import { PartialStream } from "../partial-stream/stream.js";
import { parsePath } from "../paths.js";
import { checkSchema, later } from "../schema/standard.js";
import { checkSource, drive } from "../sources/reading.js";
import { stoppable } from "../sources/stopping.js";

/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("../sources/reading.js").Source} Source */
/** @typedef {import("../sources/reading.js").SourceOptions} SourceOptions */
/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../parse/machine.js").ParserOptions} ParserOptions */
/** @typedef {import("../wire/fragments.js").Fragment} Fragment */
/**
 * @template T
 * @typedef {import("../build/growing.js").DeepPartial<T>} DeepPartial
 */
/**
 * @template [T=any]
 * @typedef {import("../schema/standard.js").StandardSchema<T>} StandardSchema
 */
/**
 * `live`: yield the live value, without a copy. `schema`: what the complete value must be.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {live?: boolean, schema?: StandardSchema<T>}} ValuesOptions
 */
/**
 * `schema`: what each value must be.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {schema?: StandardSchema<T>}} SelectOptions
 */
/** @typedef {Omit<ParserOptions, "many"> & SourceOptions} TextOptions */
/**
 * `readAll`: read the source to its end, although the field is complete.
 * @typedef {TextOptions & {readAll?: boolean}} OneTextOptions
 */
/** @typedef {import("../partial-stream/stream.js").PartialStreamOptions} PartialStreamOptions */
/**
 * @template [T=any]
 * @typedef {import("../partial-stream/update.js").Update<T>} Update
 */

/**
 * The value after each piece of text that changed it, safe to keep: what does not change is the same
 * object in the next value. With a schema, the last one is what the schema makes of it.
 *
 * With `many` a document that is not JSON does not stop the others; the first such error is thrown
 * at the end.
 * @template [T=any]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<DeepPartial<T>, void, undefined>}
 */
export function values(source, options = {}) {
  return growing(source, (value) => (options.live ? value.live : value.value), options);
}

/**
 * The same, with what `show` makes of the growing value after each piece that changed it. What the
 * schema makes of it, and the values of documents that one piece completes, are yielded as they are.
 * @param {Source} source
 * @param {(value: Growing) => any} show
 * @param {ValuesOptions<any>} options
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export function growing(source, show, { live, schema, ...options }) {
  checkSource(source);
  checkSchema(schema);
  if (schema !== undefined && options.many) {
    throw new TypeError('validate many documents with select(source, "root", options)');
  }
  // With a schema the arguments of each call are one document, which is validated at its end.
  const [reading, parsing] = apart(options, schema === undefined);
  const isSplit = schema !== undefined && reading.tool;
  let value = new Growing();
  let machine = createMachine(value, parsing);
  const stage = (/** @type {any} */ piece, /** @type {any[]} */ out, /** @type {Cut | null} */ cut) => {
    const isEnd = piece === undefined || (isSplit && piece === SEPARATOR);
    value.begin();
    try {
      if (isEnd) machine.flush(piece === undefined ? cut : null);
      else machine.feed(piece);
    } finally {
      append(out, value.finished);
      if (value.changed && value.started) out.push(show(value));
    }
    if (!isEnd) return;
    if (machine.errors.length !== 0) throw machine.errors[0];
    if (schema !== undefined) out.push(later(schema, value.value));
    value = new Growing();
    machine = createMachine(value, parsing);
  };
  return drive(source, stage, reading);
}

/**
 * The options of the source, and those of the parser. With `several`, the arguments of calls are one
 * text with many documents.
 * @template {SourceOptions & {many?: boolean}} O
 * @param {O} options
 * @param {boolean} several
 * @returns {[import("../sources/reading.js").Reading, Omit<O, keyof SourceOptions>]}
 */
function apart({ tool, choice, sse, provider, answer, signal, ...parsing }, several) {
  const { many, repair, prefix } = /** @type {ParserOptions} */ (parsing);
  const reading = { tool, choice, sse, provider, answer, signal, many, repair, prefix };
  // The provider says whether a call is complete.
  const read = tool ? { ...parsing, cutOff: false } : parsing;
  return [reading, tool && several ? { ...read, many: true } : read];
}

/**
 * Add items to a list; as arguments of `push` there may be too many.
 * @param {any[]} out
 * @param {any[]} items
 */
function append(out, items) {
  for (const item of items) out.push(item);
}

/**
 * @template T
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many"> & {schema: StandardSchema<T>}} options
 * @returns {Promise<T | DeepPartial<T> | undefined>}
 */
/**
 * The value of one text that may be cut off anywhere; InvalidJSON if it cannot be JSON. With a schema it
 * is a promise: of what that makes of the value, if the text is complete, else of the value so far.
 * @template [T=any]
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many">} [options]
 * @returns {DeepPartial<T> | undefined}
 */
/**
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many"> & {schema?: StandardSchema<any>}} [options]
 * @returns {any}
 */
export function partial(text, { schema, ...options } = {}) {
  checkSchema(schema);
  // What repair closes would be complete to a schema, and lack what may still come.
  const document = new Document(schema === undefined ? options : { ...options, cutOff: false });
  let isWhole = true;
  document.feed(text);
  try {
    document.flush();
  } catch (error) {
    // Unfinished text may have no value yet.
    const isEarly = error instanceof Truncated || (error instanceof InvalidJSON && document.value === undefined);
    if (!isEarly) throw error;
    isWhole = false;
  }
  if (schema === undefined) return document.value;
  return Promise.resolve(isWhole ? later(schema, document.value) : document.value);
}

/**
 * The value of a text that is complete: with `repair` nearly JSON, but never a cut off one, which is
 * Truncated. With a schema it is a promise of what that makes of the value.
 * @template [T=any]
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many"> & {schema?: StandardSchema<T>}} [options]
 * @returns {any}
 */
export function loads(text, { schema, ...options } = {}) {
  checkSchema(schema);
  /** @type {Document<T>} */
  const document = new Document({ ...options, cutOff: false });
  document.feed(text);
  document.flush();
  return schema === undefined ? document.value : Promise.resolve(later(schema, document.value));
}

/**
 * The fragments of a text, each as soon as it is certain.
 * @param {Source} source
 * @param {ParserOptions & SourceOptions} [options]
 * @returns {AsyncGenerator<Fragment, void, undefined>}
 */
export function fragments(source, options = {}) {
  checkSource(source);
  const [reading, parsing] = apart(options, true);
  const parser = new Parser(parsing);
  const stage = (/** @type {any} */ piece, /** @type {Fragment[]} */ out, /** @type {Cut | null} */ cut) => {
    try {
      append(out, piece === undefined ? parser.flush(cut) : parser.feed(piece));
    } catch (error) {
      append(out, /** @type {any} */ (error).fragments ?? []);
      throw error;
    }
    if (piece === undefined && parser.errors.length !== 0) throw parser.errors[0];
  };
  return drive(source, stage, reading);
}

/**
 * The text of one string as it grows: joined, the pieces are the field. When it is complete, the
 * source is closed. FieldNotFound at the end if it never came or is no string.
 * @param {Source} source
 * @param {string} field a path: `"answer"`, `"steps[0].title"`
 * @param {OneTextOptions} [options]
 * @returns {AsyncGenerator<string, void, undefined>}
 */
export function text(source, field, { readAll = false, ...options } = {}) {
  if (typeof field === "string") parsePath(field);
  return pieces(source, [field], ([, piece]) => piece, options, !readAll);
}

/**
 * The texts of several strings as they grow, each piece with the path of its string.
 * @param {Source} source
 * @param {...(string | TextOptions)} fields paths and patterns (`"title"`, `"items[*].summary"`);
 *   options may come last
 * @returns {AsyncGenerator<[Path, string], void, undefined>}
 */
export function texts(source, ...fields) {
  const options = typeof fields.at(-1) === "object" ? fields.pop() : undefined;
  if (fields.length === 0) throw new TypeError("texts() takes at least one field");
  return pieces(source, fields, (piece) => piece, options, false);
}

/**
 * @template T
 * @param {Source} source
 * @param {any[]} fields
 * @param {(piece: [Path, string]) => T} shown
 * @param {any} options
 * @param {boolean} stops read no more when a field is complete
 * @returns {AsyncGenerator<T, void, undefined>}
 */
function pieces(source, fields, shown, options, stops) {
  checkSource(source);
  const [reading, parsing] = apart(options ?? {}, false);
  const sink = new TextSink(fields);
  const machine = createMachine(sink, parsing);
  const isOver = () => stops && sink.ended;
  const stage = (/** @type {any} */ piece, /** @type {T[]} */ out, /** @type {Cut | null} */ cut) => {
    try {
      if (piece === undefined) machine.flush(cut);
      else machine.feed(piece);
    } catch (error) {
      if (!isOver()) throw error;
    } finally {
      append(out, sink.pieces.map(shown));
      sink.pieces = [];
    }
    if (piece === undefined && !isOver()) sink.check();
    return isOver();
  };
  return drive(source, stage, { ...reading, first: true });
}

/**
 * Each value at a path when it is complete; nothing else is kept. `"results"` and `"results[*]"` mean
 * the elements of that array. `limits.text` counts for each value.
 * @template [T=any]
 * @param {Source} source
 * @param {string} field
 * @param {SelectOptions<T>} [options]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function select(source, field, { schema, ...options } = {}) {
  checkSource(source);
  checkSchema(schema);
  const [reading, parsing] = apart(options, true);
  const size = options.limits?.text ?? 64 * 2 ** 20;
  const sink = new ValueSink(field, (offset, inValue) => {
    machine.limitText(offset, inValue ? size : Infinity);
  });
  const limits = { ...options.limits, text: Infinity };
  const machine = createMachine(sink, { ...parsing, limits });
  const stage = (/** @type {any} */ piece, /** @type {any[]} */ out, /** @type {Cut | null} */ cut) => {
    try {
      if (piece === undefined) machine.flush(cut);
      else machine.feed(piece);
    } finally {
      append(out, schema ? sink.values.map((value) => later(schema, value)) : sink.values);
      sink.values = [];
    }
    if (piece !== undefined) return;
    if (machine.errors.length !== 0) throw machine.errors[0];
    sink.check();
  };
  return drive(source, stage, reading);
}

/**
 * Updates of the entities in a text, in one of five modes. Errors of the text are updates, too; after
 * an ERROR of the stream the source is closed. With `every`, a PARTIAL is emitted at most once in that
 * many milliseconds.
 * @template [T=any]
 * @param {Source} source
 * @param {PartialStreamOptions & SourceOptions & {every?: number}} [options]
 * @returns {AsyncGenerator<Update<T>, void, undefined>}
 */
export function updates(source, { every, ...options } = {}) {
  checkSource(source);
  if (every !== undefined && !(every > 0 && every < Infinity)) {
    throw new TypeError("every is a number of milliseconds above 0");
  }
  const [reading, parsing] = apart(options, true);
  /** @type {PartialStream<T>} */
  const stream = new PartialStream(parsing);
  const stage = (/** @type {any} */ piece, /** @type {Update<T>[]} */ out, /** @type {Cut | null} */ cut) => {
    append(out, piece === undefined ? stream.flush(cut) : stream.feed(piece));
    return stream.ended;
  };
  const found = drive(source, stage, reading);
  return every === undefined ? found : stoppable(fewer(found, every), () => found.return());
}

/**
 * @template {Update} T
 * @param {AsyncGenerator<T, void, undefined>} found
 * @param {number} every
 */
async function* fewer(found, every) {
  const { paced } = await import("./pacing.js");
  yield* paced(found, every);
}

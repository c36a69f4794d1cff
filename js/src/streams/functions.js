/**
 * The functions: any source in, what it says out, while it arrives.
 *
 * Each returns an async generator. Leaving the loop closes the source; an error of the text is
 * thrown after everything that was good before it.
 */

import { createMachine } from "../parse/create.js";
import { Document } from "../build/document.js";
import { FieldNotFound, InvalidJSON, Truncated } from "../errors.js";
import { TextSink, ValueSink } from "../build/field-sink.js";
import { Parser } from "../wire/parser.js";
import { PartialStream } from "../partial-stream/stream.js";
import { append, apart, grown, grownStates, grownValues } from "./growing.js";
import { parsePath } from "../paths.js";
import { WholeFields } from "../schema/fields.js";
import { checks, NotedGrowing } from "../schema/parts.js";
import { checkSchema } from "../schema/check.js";
import { later, withSchema } from "../schema/standard.js";
import { checkSource, drive } from "../sources/reading.js";
import { stoppable } from "../sources/stopping.js";
import { isObject } from "../parse/values.js";

/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("../build/growing.js").Growing} Growing */
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
 * @template [T=unknown]
 * @typedef {import("../schema/standard.js").StandardSchema<T>} StandardSchema
 */
/**
 * @template T
 * @typedef {import("../build/state.js").ValueState<T>} ValueState
 */
/**
 * `live`: yield the live value, without a copy. `schema`: what the value must be; each field, and each
 * element of a list, is validated when it is complete.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {live?: boolean, schema?: StandardSchema<T>}} ValuesOptions
 */
/**
 * `schema`: what each value must be.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {schema?: StandardSchema<T>}} SelectOptions
 */
/**
 * `schema`: what the value must be.
 * @template T
 * @typedef {Omit<ParserOptions, "many"> & SourceOptions & {schema?: StandardSchema<T>}} FieldsOptions
 */
/**
 * Name and value of a field of `T`.
 * @template T
 * @typedef {unknown extends T ? [string, unknown] : {[K in keyof T & string]-?: [K, Exclude<T[K], undefined>]}[keyof T & string]} Field
 */
/** @typedef {Omit<ParserOptions, "many"> & SourceOptions} TextOptions */
/**
 * `readAll`: read the source to its end, although the field is complete.
 * @typedef {TextOptions & {readAll?: boolean}} OneTextOptions
 */
/** @typedef {import("../partial-stream/stream.js").PartialStreamOptions} PartialStreamOptions */
/**
 * @template [T=unknown]
 * @typedef {import("../partial-stream/update.js").Update<T>} Update
 */

/**
 * The value after each piece of text that changed it, safe to keep: what does not change is the same
 * object in the next value. With a schema, the last one is what the schema makes of it.
 *
 * With `many` a document that is not JSON does not stop the others; the first such error is thrown
 * at the end.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<DeepPartial<T>, void, undefined>}
 */
export function values(source, options = {}) {
  return grownValues(drive, source, options);
}

/**
 * The same as states: each value with what is complete in it.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<ValueState<T>, void, undefined>}
 */
export function states(source, options = {}) {
  return grownStates(drive, source, options);
}

/**
 * What `show` makes of the growing value after each piece that changed it, see `grown`.
 * @param {Source} source
 * @param {(value: Growing) => any} show
 * @param {(value: any) => any} whole
 * @param {ValuesOptions<any>} options
 * @param {new () => Growing} [Kind]
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export function growing(source, show, whole, options, Kind) {
  return grown(drive, source, show, whole, options, Kind);
}

/**
 * Name and value of each top-level field when it is complete. One that the schema changes once it has
 * the complete value, or that comes twice, is yielded again.
 * @template [T=unknown]
 * @param {Source} source
 * @param {FieldsOptions<T> | StandardSchema<T>} [options]
 * @returns {AsyncGenerator<Field<T>, void, undefined>}
 */
export function fields(source, options) {
  /** @type {any} */
  const { live, schema, ...rest } = withSchema(options) ?? {};
  checkSource(source);
  checkSchema(schema);
  const [reading, parsing] = apart(rest, false);
  const value = new NotedGrowing();
  const machine = createMachine(value, parsing);
  const whole = new WholeFields();
  const stage = (/** @type {any} */ piece, /** @type {any[]} */ out, /** @type {Cut | null} */ cut) => {
    value.begin();
    try {
      if (piece === undefined) machine.flush(cut);
      else machine.feed(piece);
    } finally {
      if (schema !== undefined) append(out, checks(schema, value));
      const names = isObject(value.live) ? value.completed.filter(({ length }) => length === 1) : [];
      for (const [name] of names) {
        out.push(whole.field(schema, String(name), value.live[name]));
      }
    }
    if (piece !== undefined) return;
    if (!isObject(value.live)) throw new FieldNotFound("the value has no fields: it is not an object", "root");
    // What it finds is yielded behind it.
    if (schema !== undefined) out.push(async () => append(out, await later(schema, value.value, whole.changed)));
  };
  return drive(source, stage, { ...reading, first: true });
}

/**
 * @template T
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {StandardSchema<T> | (Omit<ParserOptions, "many"> & {schema: StandardSchema<T>})} options
 * @returns {Promise<T | DeepPartial<T> | undefined>}
 */
/**
 * The value of one text that may be cut off anywhere; InvalidJSON if it cannot be JSON. With a schema it
 * is a promise: of what that makes of the value, if the text is complete, else of the value so far, whose
 * complete fields are validated.
 * @template [T=unknown]
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many">} [options]
 * @returns {DeepPartial<T> | undefined}
 */
/**
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {any} [options]
 * @returns {any}
 */
export function partial(text, options) {
  const { schema, ...parsing } = withSchema(options) ?? {};
  checkSchema(schema);
  const value = new NotedGrowing();
  // What repair closes would be complete to a schema, and lack what may still come.
  const machine = createMachine(value, schema === undefined ? parsing : { ...parsing, cutOff: false });
  const isWhole = isRead(machine, text, value);
  if (schema === undefined) return value.value;
  return isWhole ? Promise.resolve(later(schema, value.value)) : checked(schema, value);
}

/**
 * Read one text; false if it is not complete.
 * @param {import("../parse/machine.js").Machine} machine
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Growing} value
 */
function isRead(machine, text, value) {
  machine.feed(text);
  try {
    machine.flush();
    return true;
  } catch (error) {
    // Unfinished text may have no value yet.
    const isEarly = error instanceof Truncated || (error instanceof InvalidJSON && !value.started);
    if (!isEarly) throw error;
    return false;
  }
}

/**
 * The value so far, after its complete parts were validated.
 * @param {StandardSchema<any>} schema
 * @param {NotedGrowing} value
 */
async function checked(schema, value) {
  for (const check of checks(schema, value)) await check();
  return value.value;
}

/**
 * @template T
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {StandardSchema<T> | (Omit<ParserOptions, "many"> & {schema: StandardSchema<T>})} options
 * @returns {Promise<T>}
 */
/**
 * The value of a text that is complete: with `repair` nearly JSON, but never a cut off one, which is
 * Truncated. With a schema it is a promise of what that makes of the value.
 * @template [T=unknown]
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {Omit<ParserOptions, "many">} [options]
 * @returns {T}
 */
/**
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {any} [options]
 * @returns {any}
 */
export function loads(text, options) {
  const { schema, ...parsing } = withSchema(options) ?? {};
  checkSchema(schema);
  const document = new Document({ ...parsing, cutOff: false });
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
 * @template [T=unknown]
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
 * @template [T=unknown]
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

/** What is at some paths of a text: strings as they grow, values when they are complete. */

import { createMachine } from "../parse/create.js";
import { TextSink, ValueSink } from "../build/field-sink.js";
import { append, apart } from "./growing.js";
import { parsePath } from "../paths.js";
import { checkSchema } from "../schema/check.js";
import { later } from "../schema/standard.js";
import { checkSource, drive } from "../sources/reading.js";

/** @import { Cut } from "../errors.js" */
/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { Path } from "../paths.js" */
/** @import { StandardSchema } from "../schema/standard.js" */
/** @import { SourceOptions } from "../sources/driving.js" */
/** @import { Source } from "../sources/reading.js" */
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

/** What is at some paths of a text: strings as they grow, values when they are complete. */

import { createMachine } from "../parse/create.js";
import { TextSink, ValueSink } from "../build/field-sink.js";
import { append, apart } from "./growing.js";
import { checkSchema } from "../schema/check.js";
import { later } from "../schema/standard.js";
import { checkSource, drive } from "../sources/reading.js";

/** @import { Cut } from "../errors.js" */
/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { StandardSchema } from "../schema/standard.js" */
/** @import { SourceOptions } from "../sources/driving.js" */
/** @import { Source } from "../sources/reading.js" */
/**
 * `schema`: what each value must be.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {schema?: StandardSchema<T>}} SelectOptions
 */
/**
 * `readAll`: read the source to its end, although the field is complete.
 * @typedef {ParserOptions & SourceOptions & {readAll?: boolean}} TextOptions
 */

/**
 * The text of one string as it grows: joined, the pieces are the field. When it is complete, the
 * source is closed. FieldNotFound at the end if it never came or is no string.
 * @param {Source} source
 * @param {string} field a path: `"answer"`, `"steps[0].title"`
 * @param {TextOptions} [options]
 * @returns {AsyncGenerator<string, void, undefined>}
 */
export function text(source, field, { readAll = false, ...options } = {}) {
  checkSource(source);
  const [reading, parsing] = apart(options);
  const sink = new TextSink(field);
  const machine = createMachine(sink, parsing);
  const isOver = () => !readAll && sink.ended;
  const stage = (/** @type {any} */ piece, /** @type {string[]} */ out, /** @type {Cut | null} */ cut) => {
    try {
      if (piece === undefined) machine.flush(cut);
      else machine.feed(piece);
    } catch (error) {
      if (!isOver()) throw error;
    } finally {
      append(out, sink.pieces);
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
  const [reading, parsing, several] = apart(options);
  const size = options.limits?.text ?? 64 * 2 ** 20;
  const sink = new ValueSink(field, (offset, inValue) => {
    machine.limitText(offset, inValue ? size : Infinity);
  });
  const limits = { ...options.limits, text: Infinity };
  const machine = createMachine(sink, { ...parsing, limits }, several);
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

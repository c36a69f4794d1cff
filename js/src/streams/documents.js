/** One document: its fields when they are complete, and its value from one text at once. */

import { createMachine } from "../parse/create.js";
import { Document } from "../build/document.js";
import { FieldNotFound } from "../build/field-not-found.js";
import { InvalidJSON, Truncated } from "../errors.js";
import { append, apart } from "./growing.js";
import { WholeFields } from "../schema/fields.js";
import { checkParts, NotedBuilder, putCheck } from "../schema/parts.js";
import { checkSchema } from "../schema/check.js";
import { validated, withSchema } from "../schema/standard.js";
import { checkSource, drive } from "../sources/reading.js";
import { isObject } from "../parse/values.js";

/** @import { DeepPartial, ValueBuilder } from "../build/builder.js" */
/** @import { Cut } from "../errors.js" */
/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { StandardSchema } from "../schema/standard.js" */
/** @import { SourceOptions } from "../sources/driving.js" */
/** @import { Source } from "../sources/reading.js" */
/**
 * `schema`: what the value must be.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {schema?: StandardSchema<T>}} FieldsOptions
 */
/**
 * Name and value of a field of `T`.
 * @template T
 * @typedef {unknown extends T ? [string, unknown] : {[K in keyof T & string]-?: [K, Exclude<T[K], undefined>]}[keyof T & string]} Field
 */

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
  const [reading, parsing] = apart(rest);
  const value = new NotedBuilder();
  const machine = createMachine(value, parsing);
  const whole = new WholeFields();
  const stage = (/** @type {any} */ piece, /** @type {any[]} */ out, /** @type {Cut | null} */ cut) => {
    value.begin();
    try {
      if (piece === undefined) machine.flush(cut);
      else machine.feed(piece);
    } finally {
      if (schema !== undefined) putCheck(schema, value, out);
      const names = isObject(value.live) ? value.completed.filter(({ length }) => length === 1) : [];
      for (const [name] of names) {
        out.push(whole.field(schema, String(name), value.live[name]));
      }
    }
    if (piece !== undefined) return;
    if (!isObject(value.live)) throw new FieldNotFound("the value has no fields: it is not an object", "root");
    // What it finds is yielded behind it.
    if (schema !== undefined) out.push(async () => append(out, whole.changed(await validated(schema, value.value))));
  };
  return drive(source, stage, { ...reading, first: true });
}

/**
 * @template T
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {StandardSchema<T> | (ParserOptions & {schema: StandardSchema<T>})} options
 * @returns {Promise<T | DeepPartial<T> | undefined>}
 */
/**
 * The value of one text that may be cut off anywhere; InvalidJSON if it cannot be JSON. With a schema it
 * is a promise: of what that makes of the value, if the text is complete, else of the value so far, whose
 * complete fields are validated.
 * @template [T=unknown]
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {ParserOptions} [options]
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
  const value = new NotedBuilder();
  const machine = createMachine(value, parsing);
  const isWhole = isRead(machine, text, value);
  if (schema === undefined) return value.value;
  return isWhole ? validated(schema, value.value) : checked(schema, value);
}

/**
 * Read one text; false if it is not complete.
 * @param {import("../parse/machine.js").Machine} machine
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {ValueBuilder} value
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
 * @param {NotedBuilder} value
 */
async function checked(schema, value) {
  await checkParts(schema, value, value.completed);
  return value.value;
}

/**
 * @template T
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {StandardSchema<T> | (ParserOptions & {schema: StandardSchema<T>})} options
 * @returns {Promise<T>}
 */
/**
 * The value of a text that is complete; one that is cut off is Truncated. With a schema it is a promise of what that makes of the value.
 * @template [T=unknown]
 * @overload
 * @param {string | ArrayBuffer | ArrayBufferView} text
 * @param {ParserOptions} [options]
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
  const document = new Document(parsing);
  document.feed(text);
  document.flush();
  return schema === undefined ? document.value : validated(schema, document.value);
}

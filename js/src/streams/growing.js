/** The value that grows while its text is read, as its callers want to see it. */

import { createMachine } from "../parse/create.js";
import { ValueBuilder } from "../build/builder.js";
import { SEPARATOR } from "../parse/machine.js";
import { checkSchema } from "../schema/check.js";
import { checkSource } from "../sources/driving.js";

/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("../sources/driving.js").Source} Source */
/** @typedef {import("../sources/driving.js").SourceOptions} SourceOptions */
/** @typedef {import("../parse/machine.js").ParserOptions} ParserOptions */
/** @typedef {import("../schema/parts.js")} Validation */
/**
 * @template [T=unknown]
 * @typedef {import("../schema/standard.js").StandardSchema<T>} StandardSchema
 */
/**
 * `live`: yield the live value, without a copy. `schema`: what the value must be; each field, and each
 * element of a list, is validated when it is complete.
 * @template T
 * @typedef {ParserOptions & SourceOptions & {live?: boolean, schema?: StandardSchema<T>}} ValuesOptions
 */
/** Reads a source with a stage. @typedef {(source: Source, stage: any, options: any) => AsyncGenerator<any, void, undefined>} Drive */

/**
 * What `show` makes of the growing value after each piece that changed it, and `whole` of what is complete:
 * what the schema makes of it, and the values of documents that one piece completes.
 * @param {Drive} drive
 * @param {Source} source
 * @param {(value: ValueBuilder) => any} show
 * @param {(value: any) => any} whole
 * @param {ValuesOptions<any>} options
 * @param {new () => ValueBuilder} [Kind]
 * @returns {AsyncGenerator<any, void, undefined>}
 */
export function grown(drive, source, show, whole, { live, schema, ...options }, Kind = ValueBuilder) {
  checkSource(source);
  checkSchema(schema);
  if (schema !== undefined && options.many) {
    throw new TypeError('validate many documents with select(source, "root", options)');
  }
  // With a schema the arguments of each call are one document, which is validated at its end.
  const [reading, parsing] = apart(options, schema === undefined);
  const isSplit = schema !== undefined && reading.tool;
  let value = new Kind();
  let machine = createMachine(value, parsing);
  const stageWith = (/** @type {Validation | null} */ validation) => {
    const begin = () => {
      value = validation ? new validation.NotedBuilder() : new Kind();
      machine = createMachine(value, parsing);
    };
    begin();
    return (/** @type {any} */ piece, /** @type {any[]} */ out, /** @type {Cut | null} */ cut) => {
      const isEnd = piece === undefined || (isSplit && piece === SEPARATOR);
      value.begin();
      try {
        if (isEnd) machine.flush(piece === undefined ? cut : null);
        else machine.feed(piece);
      } finally {
        if (validation) validation.putCheck(/** @type {any} */ (schema), /** @type {any} */ (value), out);
        for (const one of value.finished) out.push(whole(one));
        if (value.changed && value.started) out.push(show(value));
      }
      if (!isEnd) return;
      if (machine.errors.length !== 0) throw machine.errors[0];
      if (validation) out.push(validation.later(/** @type {any} */ (schema), value.value, whole));
      begin();
    };
  };
  const stage = schema === undefined ? stageWith(null) : import("../schema/parts.js").then(stageWith);
  return drive(source, stage, reading);
}

/**
 * `grown`, as values; `live` without a copy.
 * @param {Drive} drive
 * @param {Source} source
 * @param {ValuesOptions<any>} options
 */
export function grownValues(drive, source, options) {
  return grown(
    drive,
    source,
    (value) => (options.live ? value.live : value.value),
    (value) => value,
    options,
  );
}

/**
 * The options of the source, which are all of them, and those of the parser. With `several`, the arguments of
 * calls are one text with many documents.
 * @template {SourceOptions & {many?: boolean}} O
 * @param {O} options
 * @param {boolean} several
 * @returns {[import("../sources/driving.js").Reading, Omit<O, keyof SourceOptions>]}
 */
export function apart(options, several) {
  const { tool, choice, sse, provider, answer, signal, ...parsing } = options;
  // The provider says whether a call is complete.
  const read = tool ? { ...parsing, cutOff: false } : parsing;
  return [options, tool && several ? { ...read, many: true } : read];
}

/**
 * Add items to a list; as arguments of `push` there may be too many.
 * @param {any[]} out
 * @param {any[]} items
 */
export function append(out, items) {
  for (const item of items) out.push(item);
}

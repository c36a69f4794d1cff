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
  // With a schema the arguments of each call are one document, which is validated at its end.
  const [reading, parsing, several] = apart(options);
  const isSplit = schema !== undefined && several;
  let value = new Kind();
  let machine = createMachine(value, parsing, several && !isSplit);
  const stageWith = (/** @type {Validation | null} */ validation) => {
    const begin = () => {
      value = validation ? new validation.NotedBuilder() : new Kind();
      machine = createMachine(value, parsing, several && !isSplit);
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
 * The options of the source, which are all of them, those of the parser, and whether several documents may come:
 * the arguments of calls.
 * @template {SourceOptions} O
 * @param {O} options
 * @returns {[import("../sources/driving.js").Reading, Omit<O, keyof SourceOptions>, boolean]}
 */
export function apart(options) {
  const { tool, choice, sse, provider, answer, signal, ...parsing } = options;
  return [options, parsing, Boolean(tool)];
}

/**
 * Add items to a list; as arguments of `push` there may be too many.
 * @param {any[]} out
 * @param {any[]} items
 */
export function append(out, items) {
  for (const item of items) out.push(item);
}

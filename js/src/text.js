/**
 * The smallest way in: values of a text that arrives in strings or bytes. Events of providers are not
 * known here, nor the longer words of errors; all else is as in `jsonrill`.
 */

import { grownValues } from "./streams/growing.js";
import { grownStates } from "./streams/located.js";
import { driven } from "./sources/driving.js";

export { InvalidJSON, JsonrillError, LimitExceeded, StreamClosed, Truncated } from "./errors.js";
export { InvalidSchema } from "./schema/invalid-schema.js";

/** @typedef {import("./parse/machine.js").ParserOptions} ParserOptions */
/** @typedef {string | ArrayBuffer | ArrayBufferView} Piece */
/**
 * A text, or what gives it in pieces.
 * @typedef {Piece | Response | Blob | ReadableStream<Piece> | Iterable<Piece> | AsyncIterable<Piece>} Text
 */
/** @typedef {Text | PromiseLike<Text>} TextSource */
/**
 * @template T
 * @typedef {import("./build/builder.js").DeepPartial<T>} DeepPartial
 */
/**
 * @template T
 * @typedef {import("./build/state.js").ValueState<T>} ValueState
 */
/**
 * @template T
 * @typedef {ParserOptions & {live?: boolean, signal?: AbortSignal,
 *   schema?: import("./schema/standard.js").StandardSchema<T>}} TextOptions
 */

/**
 * The value after each piece of text that changed it, as `values` of `jsonrill` yields it.
 * @template [T=unknown]
 * @param {TextSource} source
 * @param {TextOptions<T>} [options]
 * @returns {AsyncGenerator<DeepPartial<T>, void, undefined>}
 */
export function values(source, options = {}) {
  return grownValues(driven, source, options);
}

/**
 * The same as states: each value with what is complete in it.
 * @template [T=unknown]
 * @param {TextSource} source
 * @param {TextOptions<T>} [options]
 * @returns {AsyncGenerator<ValueState<T>, void, undefined>}
 */
export function states(source, options = {}) {
  return grownStates(driven, source, options);
}

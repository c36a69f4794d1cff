/**
 * A source that may hold a provider's events, and a stage that reads it. Text goes to the stage as it is.
 * Events are decoded, by a module that is loaded when the first of them has arrived: programs that read
 * text do not pay for it.
 */

import { driven, isPiece } from "./driving.js";
import { isEventStream, isLines } from "../eventstream/media.js";

export { checkSource, isPiece, isResponse, KEPT, Kept } from "./driving.js";

/** @typedef {import("./driving.js").Piece} Piece */
/** @typedef {import("./driving.js").Source} Source */
/** @typedef {import("./driving.js").SourceOptions} SourceOptions */
/** @typedef {import("./driving.js").Reading} Reading */
/** @typedef {import("./driving.js").Opened} Opened */
/** @typedef {import("./driving.js").Decode} Decode */
/**
 * @template T
 * @typedef {import("./driving.js").Stage<T>} Stage
 */

/**
 * As `driven`. `decode` says how to read events; else the options and the first element do.
 * @template T
 * @param {Source} source
 * @param {Stage<T> | Promise<Stage<T>>} stage
 * @param {Reading} [options]
 * @param {Decode} [decode]
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export function drive(source, stage, options = {}, decode) {
  const decoder = (/** @type {any} */ first, /** @type {Opened} */ read) =>
    decode ? Promise.resolve(decode) : holdsEvents(first, read, options) ? decoding() : undefined;
  return driven(source, stage, options, { decoder, explained: inWords });
}

async function decoding() {
  return (await import("./decoding.js")).decode;
}

/**
 * True if a source whose first element this is (undefined: it is empty) holds events.
 * @param {any} first
 * @param {Opened} source
 * @param {Reading} options
 */
function holdsEvents(first, { media, failure }, { tool, sse, choice, provider = "auto" }) {
  if (failure !== null || !(first === undefined || isPiece(first))) return true;
  if (tool || sse || choice || provider !== "auto") return true;
  return isEventStream(media) || isLines(media);
}

/**
 * The error with what was read, and in the words of a person.
 * @param {unknown} error
 * @param {Opened} opened
 */
async function inWords(error, { kept }) {
  const { explained } = await import("./explain.js");
  return explained(error, kept);
}

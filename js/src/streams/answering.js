/** The functions that read a provider's stream as what it is: an answer with text, calls and results. */

import { decode, decodeEvents } from "../sources/decoding.js";
import { Parts } from "../answers/parts.js";
import { SourceFailed } from "../sources/failures.js";
import { Watch } from "../providers/statements.js";
import { checkSource, drive } from "../sources/reading.js";
import { ToolCalls } from "../toolcalls/toolcalls.js";

/** @import { AnyPart, PartsOptions } from "../answers/parts.js" */
/** @import { Source, SourceOptions } from "../sources/reading.js" */
/** @import { ToolCall } from "../toolcalls/call.js" */
/** @import { ToolCallsOptions } from "../toolcalls/toolcalls.js" */

/**
 * The text of the answer in a provider's stream; `values` and the others read it, too. Reasoning and
 * tool calls are not part of the text.
 * @param {Source} source
 * @param {Pick<SourceOptions, "choice" | "sse" | "provider" | "answer" | "signal">} [options]
 * @returns {AsyncGenerator<string, void, undefined>}
 */
export function content(source, options) {
  checkSource(source);
  const stage = (/** @type {string | undefined} */ piece, /** @type {string[]} */ out) => {
    if (piece !== undefined) out.push(piece);
  };
  return drive(source, stage, { ...options, events: true }, decode);
}

/**
 * A call in a provider's stream, each time that it changes: it is the same object, which grows, and
 * the `args` it hands out are safe to keep. `calls` is a `ToolCalls` to keep, or for the next turn.
 * SourceFailed is thrown at the end if the provider reported an error.
 * @param {Source} source
 * @param {ToolCallsOptions & {calls?: ToolCalls} & Pick<SourceOptions, "answer" | "signal">} [options]
 * @returns {AsyncGenerator<ToolCall, void, undefined>}
 */
export function toolCalls(source, { calls, answer, signal, ...options } = {}) {
  checkSource(source);
  const reading = calls ?? new ToolCalls(options);
  // Other streams may be read into the same calls: this one ends only its own messages.
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {string | null} */
  let failure = null;
  const watch = answer && new Watch(answer);
  const stage = (/** @type {any} */ event, /** @type {ToolCall[]} */ out, /** @type {any} */ _, isDone = false) => {
    if (event === undefined) {
      watch?.end(reading.reader.ends && !isDone);
      if (seen.size !== 0) out.push(...reading.flush(...seen));
      if (failure !== null) throw new SourceFailed(failure);
      return;
    }
    const statements = reading.reader.feed(event);
    watch?.read(statements);
    for (const one of statements) {
      if (one.kind === "finish" && one.reason === "error") failure ??= one.detail ?? null;
    }
    for (const call of new Set(reading.read(statements).map((update) => update.call))) {
      seen.add(call.messageId);
      out.push(call);
    }
  };
  return drive(source, stage, { provider: reading.reader.named, signal }, decodeEvents);
}

/**
 * The parts of an answer as they grow: text, reasoning, calls and results, in order. SourceFailed is
 * thrown at the end if the provider reported an error; a call that was cut off is `truncated`.
 * @param {Source} source
 * @param {PartsOptions & Pick<SourceOptions, "answer" | "signal">} [options]
 * @returns {AsyncGenerator<AnyPart, void, undefined>}
 */
export function parts(source, { answer, signal, ...options } = {}) {
  checkSource(source);
  const reading = new Parts(options);
  if (answer) reading.tell(answer);
  const stage = (/** @type {any} */ event, /** @type {AnyPart[]} */ out, /** @type {any} */ _, isDone = false) => {
    const changed = event === undefined ? reading.flush(isDone) : reading.add(event);
    for (const part of changed) out.push(/** @type {AnyPart} */ (part));
    if (event === undefined && reading.error !== null) throw new SourceFailed(reading.error);
  };
  return drive(source, stage, { provider: options.provider, signal }, decodeEvents);
}

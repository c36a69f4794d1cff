/** The progress of the entities in a text. */

import { append, apart } from "./growing.js";
import { paced } from "./pacing.js";
import { PartialStream } from "../partial-stream/stream.js";
import { checkSource, drive } from "../sources/reading.js";
import { stoppable } from "../sources/stopping.js";

/** @import { Cut } from "../errors.js" */
/** @import { PartialStreamOptions } from "../partial-stream/stream.js" */
/** @import { Update } from "../partial-stream/update.js" */
/** @import { SourceOptions } from "../sources/driving.js" */
/** @import { Source } from "../sources/reading.js" */

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
  const all = drive(source, stage, reading);
  return every === undefined ? all : stoppable(paced(all, every), () => all.return());
}

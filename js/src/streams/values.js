/** The value after each piece. */

import { grownValues } from "./growing.js";
import { drive } from "../sources/reading.js";

/** @import { DeepPartial } from "../build/builder.js" */
/** @import { Source } from "../sources/reading.js" */
/** @import { ValuesOptions } from "./growing.js" */

/**
 * The value after each piece of text that changed it, safe to keep: what does not change is the same
 * object in the next value. With a schema, the last one is what the schema makes of it.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<DeepPartial<T>, void, undefined>}
 */
export function values(source, options = {}) {
  return grownValues(drive, source, options);
}

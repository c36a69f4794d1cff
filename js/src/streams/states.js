/** The value after each piece, with what is complete in it. */

import { grownStates } from "./located.js";
import { drive } from "../sources/reading.js";

/** @import { ValueState } from "../build/state.js" */
/** @import { Source } from "../sources/reading.js" */
/** @import { ValuesOptions } from "./growing.js" */

/**
 * The same as states: each value with what is complete in it.
 * @template [T=unknown]
 * @param {Source} source
 * @param {ValuesOptions<T>} [options]
 * @returns {AsyncGenerator<ValueState<T>, void, undefined>}
 */
export function states(source, options = {}) {
  return grownStates(drive, source, options);
}

/** The value that grows, with what is complete in it. */

import { LocatedBuilder } from "../build/located.js";
import { progress } from "../build/state.js";
import { grown } from "./growing.js";

/** @typedef {import("../sources/driving.js").Source} Source */
/** @typedef {import("./growing.js").Drive} Drive */

/**
 * `grown`, as values with what is complete in them.
 * @param {Drive} drive
 * @param {Source} source
 * @param {import("./growing.js").ValuesOptions<any>} options
 */
export function grownStates(drive, source, options) {
  const show = (/** @type {any} */ growing) => {
    const value = options.live ? growing.live : growing.value;
    const complete = growing.complete && options.schema === undefined;
    return { value, complete, ...progress(value, growing.openPath) };
  };
  const whole = (/** @type {any} */ value) => ({ value, complete: true, ...progress(value, null) });
  return grown(drive, source, show, whole, options, LocatedBuilder);
}

/** The value in a provider's events that a run has logged; loaded when the first of them arrives. */

import { drive } from "../sources/reading.js";
import { grown } from "./growing.js";
import { LocatedBuilder } from "../build/located.js";

/**
 * @param {AsyncIterable<any>} events
 * @param {(value: any) => any} show
 * @param {(value: any) => any} whole
 */
export function loggedValues(events, show, whole) {
  return grown(drive, events, show, whole, {}, LocatedBuilder);
}

/** The text of an example as a recording. */

import { INTERVALS } from "./player.js";
import { Recording } from "./recording.js";

/**
 * A recording of pieces whose times are not known.
 * @param {string[]} sources
 * @param {{input: string, many: boolean, title: string, interval?: number, entity?: any}} options
 */
export function recordingOf(sources, { input, many, title, interval, entity }) {
  const kind = /** @type {import("./recording.js").Input} */ (input);
  const recording = new Recording({ input: kind, many, title, entity, timed: false });
  const step = interval ?? INTERVALS[kind];
  sources.forEach((source, index) => recording.add(source, { at: (index + 1) * step }));
  recording.end("complete");
  return recording;
}

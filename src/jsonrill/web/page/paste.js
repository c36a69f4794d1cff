/** A pasted or dropped text as a recording. */

import { detect, plan } from "./replay.js";
import { INTERVALS } from "./player.js";
import { Recording } from "./recording.js";
import { Reader, recognise } from "../lib/providers/index.js";

/**
 * Finds out the format of a text and reads it.
 * @param {string} text
 * @param {import("./replay.js").Format | "auto"} chosen
 * @param {{title: string, pieceSize: number}} options
 */
export async function readPaste(text, chosen, { title, pieceSize }) {
  const found = await detect(text, chosen, async (lines) => {
    const reader = new Reader();
    const said = lines.flatMap((line) => reader.feed(line));
    return { provider: recognise(lines[0] ?? ""), calls: said.some(({ kind }) => kind === "call") };
  });
  if (found.format === "snapshots") checkLines(text);
  const { sources, stream, suits } = plan(text, found.format, pieceSize, found.calls);
  return { recording: recordingOf(sources, { ...stream, title }), format: found.format, suits };
}

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

/** @param {string} text */
function checkLines(text) {
  const lines = text.split(/\r\n|\r|\n/);
  const wrong = lines.findIndex((line) => line.trim() !== "" && !isJson(line));
  if (wrong !== -1) throw new Error(`line ${wrong + 1} is not JSON`);
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The place in a stream that a diagnosis names. */

import { describePlace } from "./characters.js";

/** @typedef {import("./answer.js").Track} Track */
/** @typedef {import("./outline.js").Fault} Fault */
/** @typedef {import("./outline.js").Outline} Outline */
/** @typedef {import("./recording.js").Recording} Recording */
/**
 * A place in the stream: characters of the document, or of the answer's part `track`. `label` names the problem.
 * @typedef {{offset: number, length: number, path: (string | number)[], position: number, label: string, track: Track | null}} Mark
 */

/**
 * Mark an item of the stream.
 * @param {number} position
 * @param {string} label
 * @param {(string | number)[]} [path]
 * @returns {Mark}
 */
export function markItem(position, label, path = []) {
  return { offset: 0, length: 0, path, position, label, track: null };
}

/**
 * Name a place in a document, and mark it.
 * @param {Recording} recording
 * @param {Pick<Fault, "offset" | "path">} fault
 * @param {Outline} outline
 * @param {string} label
 */
export function locate(recording, { offset, path }, outline, label) {
  const position = Math.min(recording.positionOf(offset), recording.length);
  const length = label === "cut off" ? 0 : label === "violates the schema" ? sizeOf(outline, offset, path) : 1;
  return { where: describePlace(outline.text, offset, path), mark: { offset, length, path, position, label, track: null } };
}

/**
 * Return the number of characters of the value at a path.
 * @param {Outline} outline
 * @param {number} offset
 * @param {(string | number)[]} path
 */
function sizeOf(outline, offset, path) {
  const node = outline.find(path);
  return node?.start === offset && !node.isContainer && node.end !== Infinity ? node.end - offset : 1;
}

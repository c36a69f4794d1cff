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
  const length = offset === outline.length ? 0 : label === "violates the schema" ? sizeOf(outline, offset, path) : 1;
  const place = describePlace(outline.text, offset, path);
  const where = label === "more text follows" ? place.replace(/, in (?=root.*$)/, ", after ") : place;
  return { where, mark: { offset, length, path, position, label, track: null } };
}

/**
 * Name the place where a part of an answer breaks, and mark it.
 * @param {Track} track
 * @param {string} [reason] what is wrong if all of it is JSON
 */
export function locateTrack(track, reason = "cut off") {
  const fault = track.outline.faults[0];
  const { offset = reason === "cut off" ? track.outline.length : 0, path = [] } = fault ?? {};
  const state = track.states.find(({ length }) => length > offset) ?? track.states[track.states.length - 1];
  const label = fault?.code === "TRUNCATED" || !fault ? reason : "not JSON";
  const mark = { offset, length: label === "cut off" ? 0 : 1, path, position: state.at, label, track };
  return { where: `${track.name}: ${describePlace(track.text, offset, path)}`, mark };
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

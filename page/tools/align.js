/**
 * Two attempts side by side: the lanes of both, aligned by path, each with its time. No DOM.
 */

import { formatPath } from "../../js/src/paths.js";

/** @typedef {import("./timeline.js").Lane} Lane */
/** `left`: only the first attempt has it. @typedef {"same" | "different" | "left" | "right"} Sameness */
/** @typedef {{path: string, left: Lane | null, right: Lane | null, sameness: Sameness}} AlignedRow */

/**
 * The values of both attempts by path. The order is that of the first; what only the second has comes
 * after what it follows there.
 * @param {readonly Lane[]} left
 * @param {readonly Lane[]} right
 * @returns {AlignedRow[]}
 */
export function align(left, right) {
  const first = byPath(left);
  const second = byPath(right);
  // What only the second attempt has, by the path before it; "" is the beginning.
  /** @type {Map<string, string[]>} */
  const after = new Map();
  let before = "";
  for (const path of second.keys()) {
    if (first.has(path)) before = path;
    else after.set(before, [...(after.get(before) ?? []), path]);
  }
  /** @type {AlignedRow[]} */
  const rows = [];
  const addRight = (/** @type {string} */ anchor) => {
    for (const path of after.get(anchor) ?? []) {
      rows.push({ path, left: null, right: second.get(path) ?? null, sameness: "right" });
    }
  };
  addRight("");
  for (const [path, lane] of first) {
    const other = second.get(path) ?? null;
    rows.push({ path, left: lane, right: other, sameness: other === null ? "left" : compared(lane, other) });
    addRight(path);
  }
  return rows;
}

/**
 * Lanes by path. The fields of a call are below the call: `get_weather().city`; its second call is
 * `get_weather() 2`.
 * @param {readonly Lane[]} lanes
 */
function byPath(lanes) {
  /** @type {Map<string, Lane>} */
  const byName = new Map();
  /** The labels from the part down. @type {string[]} */
  let steps = [];
  for (const lane of lanes) {
    let name;
    if (lane.path !== null) {
      name = formatPath(lane.path);
    } else {
      steps = [...steps.slice(0, lane.depth), lane.label];
      name = steps.join(".").replaceAll(".[", "[");
      if (lane.depth === 0) {
        for (let number = 2; byName.has(name); number += 1) name = `${lane.label} ${number}`;
        steps = [name];
      }
    }
    byName.set(name, lane); // a key that comes twice counts as its last value
  }
  return byName;
}

/**
 * Containers are the same if their kind is: what is in them has rows of its own.
 * @param {Lane} left
 * @param {Lane} right
 * @returns {Sameness}
 */
function compared(left, right) {
  if (left.kind !== right.kind) return "different";
  const isContainer = left.kind === "object" || left.kind === "array" || left.kind === "call";
  return isContainer || left.full === right.full ? "same" : "different";
}

/**
 * How many rows are of each kind.
 * @param {readonly AlignedRow[]} rows
 */
export function countsOf(rows) {
  const totals = { same: 0, different: 0, left: 0, right: 0 };
  for (const { sameness } of rows) totals[sameness] += 1;
  return totals;
}

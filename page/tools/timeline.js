/**
 * When each field of a stream was written: a recording in; lanes, figures and rates out. No DOM.
 *
 * Pieces count from 1, as in recording.js: a lane begins with the piece `start` and is complete with
 * the piece `end`, which is Infinity while it is open.
 */

import { countUpTo, countWhile } from "../growth.js";
import { formatPath } from "../../js/src/paths.js";
import { isObject } from "../../js/src/parse/values.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../tree-node.js").TreeNode} TreeNode */
/** @typedef {import("../tree-node.js").Type} Type */
/** @typedef {import("../../js/src/paths.js").Path} Path */
/**
 * What was written between two pieces: a value, or a part of an answer (a text, a thought, a call).
 * @typedef {object} Lane
 * @property {string} label
 * @property {Path | null} path null: it has no place in the tree
 * @property {number} depth
 * @property {Type | "call" | "text" | "reasoning"} kind
 * @property {number} start
 * @property {number} end
 * @property {number} offset its first character in the text; -1: not known
 * @property {string} full the text of a value that is no container
 */
/** @typedef {{lanes: Lane[], level: number, deepest: number, hidden: number}} Lanes */

// Fields of larger documents are counted, but have no lanes.
const MAX_LANES = 50_000;

/**
 * The lanes of a recording, down to a level: the one given, or the deepest of which all lanes fit into
 * `most`.
 * @param {Recording} recording
 * @param {number} most
 * @param {number} [level] 0: chosen
 * @returns {Lanes}
 */
export function lanesOf(recording, most, level = 0) {
  const all = recording.input === "snapshots" ? ofSnapshots(recording) : ofParts(recording);
  /** @type {number[]} */
  const counts = [];
  for (const { depth } of all) counts[depth] = (counts[depth] ?? 0) + 1;
  let chosen = level;
  for (let depth = 0, sum = 0; level === 0 && depth < counts.length; depth += 1) {
    sum += counts[depth] ?? 0;
    if (sum > most && depth > 1) break;
    chosen = depth;
  }
  const shown = all.filter(({ depth }) => depth <= chosen);
  const lanes = shown.slice(0, most);
  return { lanes, level: chosen, deepest: Math.max(0, counts.length - 1), hidden: shown.length - lanes.length };
}

/** @param {Recording} recording */
function ofParts({ answer, outline, hasDocument }) {
  /** @type {Lane[]} */
  const lanes = [];
  if (answer === null) {
    addNodes(lanes, outline.root, 0, true);
    return lanes;
  }
  if (hasDocument && outline.root !== null) addNodes(lanes, outline.root, 0, true);
  for (const part of answer.parts) {
    if (lanes.length >= MAX_LANES) break;
    if (part.kind === "text" && hasDocument && outline.root !== null) continue; // its fields are there
    const isCall = part.kind === "call";
    const label = isCall ? `${part.at(Infinity)?.name ?? "call"}()` : part.kind;
    const text = isCall ? part.raw.text : part.growth.text;
    const { kind, begun: start, ended: end } = part;
    lanes.push({ label, path: null, depth: 0, kind, start, end, offset: -1, full: text });
    if (isCall && part.outline?.root) addNodes(lanes, part.outline.root, 0, false);
  }
  return lanes;
}

/**
 * The lanes of a value and all below it; of the arguments of a call only those below.
 * @param {Lane[]} lanes
 * @param {TreeNode | null} root
 * @param {number} depth
 * @param {boolean} isDocument
 */
function addNodes(lanes, root, depth, isDocument) {
  const work = root === null ? [] : [root];
  for (let node = work.pop(); node !== undefined; node = work.pop()) {
    if (lanes.length >= MAX_LANES) return;
    if (isDocument || node !== root) {
      lanes.push({
        label: labelOf(node),
        path: isDocument ? node.path : null,
        depth: depth + node.depth,
        kind: node.type,
        start: node.born,
        end: Math.min(node.closed, node.brokenAt),
        offset: isDocument ? node.start : -1,
        full: node.isContainer ? sizeText(node.type, node.children.length) : node.text,
      });
    }
    for (let at = node.children.length - 1; at >= 0; at -= 1) work.push(node.children[at]);
  }
}

/** @param {TreeNode} node */
function labelOf(node) {
  if (node.parent === null) return "root";
  return typeof node.key === "number" ? `[${node.key}]` : node.key;
}

/**
 * Snapshots: a value begins when it is first there, and is complete when it changes for the last time.
 * @param {Recording} recording
 */
function ofSnapshots({ pieces, ended }) {
  /** @type {Map<string, Lane>} */
  const lanes = new Map();
  const last = pieces.length;
  let steps = 0;
  pieces.forEach(({ source }, index) => {
    if (steps > 20 * MAX_LANES && index < last - 1) return;
    /** @type {[any, Path, number][]} */
    const work = [[JSON.parse(source), [], 0]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [value, path, depth] = next;
      steps += 1;
      const text = Array.isArray(value) || isObject(value) ? JSON.stringify(value) : String(value);
      const name = formatPath(path);
      const lane = lanes.get(name);
      const key = path.at(-1) ?? "root";
      const kind = value === null ? "null" : Array.isArray(value) ? "array" : /** @type {Type} */ (typeof value);
      if (lane === undefined) {
        if (lanes.size >= MAX_LANES) continue;
        const label = typeof key === "number" ? `[${key}]` : key;
        lanes.set(name, { label, path, depth, kind, start: index + 1, end: index + 1, offset: -1, full: text });
      } else if (lane.full !== text) {
        Object.assign(lane, { kind, end: index + 1, full: text });
      }
      const below = Array.isArray(value)
        ? value.map((each, at) => /** @type {const} */ ([at, each]))
        : isObject(value)
          ? Object.entries(value)
          : [];
      for (const [step, each] of below.reverse()) work.push([each, [...path, step], depth + 1]);
    }
  });
  for (const lane of lanes.values()) if (!ended && lane.end === last) lane.end = Infinity;
  return inOrder([...lanes.values()]);
}

/** Lanes of which some began later than others below the same container, each after its container. */
function inOrder(/** @type {Lane[]} */ lanes) {
  /** @type {Map<string, Lane[]>} */
  const below = new Map();
  for (const lane of lanes) {
    if (lane.path === null || lane.path.length === 0) continue;
    const parent = formatPath(lane.path.slice(0, -1));
    below.set(parent, [...(below.get(parent) ?? []), lane]);
  }
  const root = lanes.find(({ depth }) => depth === 0);
  /** @type {Lane[]} */
  const sorted = [];
  const work = root === undefined ? [] : [root];
  for (let lane = work.pop(); lane !== undefined; lane = work.pop()) {
    sorted.push(lane);
    work.push(...(below.get(formatPath(/** @type {Path} */ (lane.path))) ?? []).reverse());
  }
  return sorted;
}

/**
 * @param {string} kind
 * @param {number} size
 */
function sizeText(kind, size) {
  if (kind === "array") return size === 1 ? "1 element" : `${size} elements`;
  return size === 1 ? "1 field" : `${size} fields`;
}

/**
 * How many characters the model wrote with each piece: text, reasoning and arguments.
 * @param {Recording} recording
 * @returns {number[]}
 */
export function writtenBy({ pieces, answer, input }) {
  if (input === "snapshots") {
    let before = 0;
    return pieces.map(({ source }) => {
      const more = Math.max(0, source.length - before);
      before = Math.max(before, source.length);
      return more;
    });
  }
  const written = pieces.map(({ text }) => text.length);
  for (const part of answer?.parts ?? []) {
    if (part.kind === "text") continue; // it is the text of the pieces
    const growth = part.kind === "call" ? part.raw : part.growth;
    growth.each((piece, added) => (written[piece - 1] += added));
  }
  return written;
}

/**
 * @typedef {object} Figures times in milliseconds since the start, null if they are not known
 * @property {number | null} firstToken
 * @property {number | null} firstField when the first field had a value
 * @property {number | null} total
 * @property {number | null} rate characters a second, from the first piece to the last
 * @property {number} characters
 * @property {number} fields of objects, at any level
 * @property {number} calls
 */

/**
 * What figures are counted from, so that those of any moment cost next to nothing.
 * @typedef {object} Tally
 * @property {number[]} sums characters that were written up to each piece
 * @property {number} first the first piece with a character; 0 if there is none
 * @property {number[]} starts the pieces in which fields begin, in order
 * @property {number} firstField the first piece in which a field has a value; 0 if there is none
 */

/**
 * @param {Recording} recording
 * @returns {Tally}
 */
export function tallyOf(recording) {
  let sum = 0;
  const sums = writtenBy(recording).map((count) => (sum += count));
  const first = sums.findIndex((each) => each > 0) + 1;
  /** @type {number[]} */
  const starts = [];
  let firstField = Infinity;
  const add = (/** @type {number} */ piece, /** @type {boolean} */ isContainer) => {
    starts.push(piece);
    if (!isContainer) firstField = Math.min(firstField, piece);
  };
  if (recording.input === "snapshots") {
    for (const lane of ofSnapshots(recording)) {
      if (typeof lane.path?.at(-1) === "string") add(lane.start, lane.kind === "object" || lane.kind === "array");
    }
  } else {
    const { answer, outline, hasDocument } = recording;
    const roots = [hasDocument ? outline.root : null, ...(answer?.calls ?? []).map((call) => call.outline?.root ?? null)];
    for (const root of roots) {
      const work = root === null ? [] : [root];
      for (let node = work.pop(); node !== undefined; node = work.pop()) {
        if (node.parent?.type === "object") add(node.born, node.isContainer);
        for (const child of node.children) work.push(child);
      }
    }
  }
  starts.sort((one, other) => one - other);
  return { sums, first, starts, firstField: firstField === Infinity ? 0 : firstField };
}

/**
 * The figures of a recording after this many pieces.
 * @param {Recording} recording
 * @param {Tally} tally
 * @param {number} position
 * @returns {Figures}
 */
export function figuresOf({ pieces, timed, calls }, { sums, first, starts, firstField }, position) {
  const upTo = Math.min(position, sums.length);
  const time = (/** @type {number} */ piece) => (timed && piece >= 1 && piece <= upTo ? pieces[piece - 1].at : null);
  const characters = upTo > 0 ? sums[upTo - 1] : 0;
  const begin = time(first);
  const total = time(upTo);
  const seconds = begin === null || total === null ? 0 : (total - begin) / 1000;
  return {
    // Times that begin with the first piece do not tell when the request was sent.
    firstToken: begin === 0 ? null : begin,
    firstField: time(firstField),
    total,
    // What came with the first piece took no time that is known.
    rate: seconds > 0 ? (characters - sums[first - 1]) / seconds : null,
    characters,
    fields: countUpTo(starts, upTo),
    calls: countWhile(calls, ({ begun }) => begun <= upTo),
  };
}

/**
 * Characters a second over time: `bins` numbers between the start and the last piece. Null without times.
 * @param {Recording} recording
 * @param {readonly number[]} written
 * @param {number} bins
 */
export function ratesOf({ pieces, timed }, written, bins) {
  const end = pieces.at(-1)?.at ?? 0;
  if (!timed || end <= 0) return null;
  const width = end / bins;
  const rates = new Array(bins).fill(0);
  pieces.forEach(({ at }, index) => {
    rates[Math.max(0, Math.min(bins - 1, Math.floor(at / width)))] += (written[index] * 1000) / width;
  });
  return { end, rates: /** @type {number[]} */ (rates) };
}

/**
 * Where a time axis has its marks: round numbers, about `count` of them.
 * @param {number} end
 * @param {number} count
 */
export function ticksOf(end, count) {
  if (!(end > 0)) return [0];
  const rough = end / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) ?? rough;
  const ticks = [];
  for (let at = 0; at <= end * 1.0001; at += step) ticks.push(Math.round(at * 1000) / 1000);
  return ticks;
}

/** 840 as `840 ms`, 2310 as `2.31 s`. @param {number} milliseconds */
export function formatTime(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

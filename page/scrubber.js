/** The bar that shows and chooses the moment: a slider with marks for what happened when. */

import { byId, make } from "./dom.js";
import { formatDuration, formatNumber, shorten, escapeText } from "./escaping.js";
import { describe } from "./errors.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{piece: number, kind: "first" | "entity" | "call" | "error", label: string}} Moment */

// More marks than this are not told apart.
const MOST = 60;
// Milliseconds between two drawings of the marks of a live stream.
const PAUSE = 300;

/**
 * What happened in a stream, and when: errors, the first field, complete entities, calls.
 * @param {Recording} recording
 * @returns {Moment[]}
 */
export function momentsOf(recording) {
  /** @type {Moment[]} */
  const moments = [];
  const first = recording.outline.root?.children[0];
  if (first && !recording.many && recording.hasDocument) {
    moments.push({ piece: first.born, kind: "first", label: "First field" });
  }
  for (const one of recording.errors.slice(0, MOST)) {
    moments.push({ piece: one.piece, kind: "error", label: shorten(describe(one), 120) });
  }
  for (const call of recording.calls.slice(0, MOST)) {
    moments.push({ piece: call.begun, kind: "call", label: `Call: ${call.history.at(-1)?.name ?? "…"}` });
  }
  for (const node of entitiesOf(recording)) {
    if (node.closed === Infinity) continue;
    moments.push({ piece: node.closed, kind: "entity", label: `Complete: ${shorten(node.pathText, 60)}` });
  }
  return moments;
}

/**
 * What counts as an entity: the elements of the list that the options name, else those of the first
 * list of objects at the top.
 * @param {Recording} recording
 */
function entitiesOf({ outline, options, many }) {
  const { root } = outline;
  if (root === null || !root.isContainer) return [];
  const { entity } = options;
  const named = typeof entity === "string" ? root.child(entity.replace(/\[\*\]$/, "")) : undefined;
  const isList = (/** @type {import("./tree-node.js").TreeNode} */ node) =>
    node.type === "array" && node.children[0]?.type === "object";
  const list = many ? root : (named ?? (isList(root) ? root : root.children.slice(0, 50).find(isList)));
  if (list?.type !== "array" || list.children.length > MOST) return [];
  return list.children;
}

export class Scrubber {
  _drawn = 0;
  _key = "";

  /** @param {{onSeek: (piece: number) => void}} listener */
  constructor({ onSeek }) {
    this.slider = byId("scrub", HTMLInputElement);
    this.slider.addEventListener("input", () => {
      const { value, max, valueAsNumber } = this.slider;
      onSeek(value === max ? Infinity : valueAsNumber);
    });
    byId("marks").addEventListener("click", (event) => {
      const mark = /** @type {HTMLElement} */ (event.target).closest("button");
      if (mark) onSeek(Number(mark.dataset.piece));
    });
  }

  clear() {
    this._key = "";
    byId("marks").replaceChildren();
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   * @param {boolean} moves whether the slider moves by itself
   */
  draw(recording, position, moves) {
    const { slider } = this;
    const { length } = recording;
    if (slider.max !== String(length)) slider.max = String(length);
    if (document.activeElement !== slider || moves || position > slider.valueAsNumber) {
      slider.value = String(position);
    }
    const time = recording.timed ? `, ${formatDuration(recording.timeOf(position))}` : "";
    slider.setAttribute("aria-valuetext", `piece ${position} of ${length}${time}`);
    const shown = `${formatNumber(position)} of ${formatNumber(length)}`;
    const output = byId("position");
    if (output.textContent !== shown) output.textContent = shown;
    output.title = time.slice(2);
    this._drawMarks(recording);
  }

  /** @param {Recording} recording */
  _drawMarks(recording) {
    const now = performance.now();
    if (!recording.ended && now < this._drawn + PAUSE) return;
    const key = `${recording.state} ${recording.ended ? 0 : recording.length}`;
    if (key === this._key) return;
    this._key = key;
    this._drawn = now;
    const marks = momentsOf(recording).map(({ piece, kind, label }) => {
      const mark = make("button", `mark-${kind}`);
      mark.type = "button";
      mark.tabIndex = -1;
      mark.dataset.piece = String(piece);
      mark.title = escapeText(label);
      mark.setAttribute("aria-label", escapeText(`${label}, piece ${piece}`));
      mark.style.setProperty("--at", String(piece / Math.max(1, recording.length)));
      return mark;
    });
    byId("marks").replaceChildren(...marks);
  }
}

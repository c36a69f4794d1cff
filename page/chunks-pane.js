/** The text that the server's chunker creates from snapshots, up to a point in time. The newest chunk is highlighted. */

import { followEnd, make } from "./dom.js";
import { escapeText } from "./format.js";

/** @typedef {import("./server.js").Rendered} Rendered */

export class ChunksPane {
  /** @type {Rendered[]} */
  #chunks = [];
  #signature = "";

  /** @param {HTMLElement} panel */
  constructor(panel) {
    this.#panel = panel;
  }

  #panel;

  reset() {
    this.#chunks = [];
    this.#panel.replaceChildren();
  }

  /** @param {Rendered} chunk */
  add(chunk) {
    if (typeof chunk.data === "string") this.#chunks.push(chunk);
  }

  /**
   * @param {number} position
   * @param {boolean} isEnd
   */
  show(position, isEnd) {
    const shown = this.#chunks.filter(({ record }) => isEnd || record <= position);
    const signature = `${shown.length} ${isEnd}`;
    if (signature === this.#signature && this.#panel.childElementCount > 0) return;
    this.#signature = signature;
    const newest = isEnd ? Infinity : (shown[shown.length - 1]?.record ?? 0);
    const spans = shown.map(({ record, data }) => make("span", record === newest ? "chunk newest" : "chunk", escapeText(data)));
    followEnd(this.#panel, () => this.#panel.replaceChildren(...spans, ...(isEnd ? [] : [make("span", "cursor")])));
  }
}

/** The text that the server's chunker creates from snapshots, up to a point in time. The newest chunk is highlighted. */

import { followEnd, showRows } from "./dom.js";
import { escapeText } from "./format.js";

/** @typedef {import("./server.js").Rendered} Rendered */

export class ChunksPane {
  /** @type {Rendered[]} */
  #chunks = [];

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
    const visible = this.#chunks.filter(({ record }) => isEnd || record <= position);
    const newest = isEnd ? Infinity : visible.at(-1)?.record;
    const chunks = visible.map(({ record, data }, key) => ({ key, data, signature: record === newest ? "newest" : "old" }));
    const rows = isEnd ? chunks : [...chunks, { key: "cursor", data: "", signature: "cursor" }];
    followEnd(this.#panel, () => showRows(this.#panel, rows, fill, "span"));
  }
}

/**
 * @param {{data: string, signature: string}} row
 * @param {HTMLElement} element
 */
function fill({ data, signature }, element) {
  element.className = signature;
  element.textContent = escapeText(data);
}

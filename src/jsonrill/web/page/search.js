/** Search in a tree: every node whose key or value has the text; found ones are shown in turn. */

import { visible } from "./escaping.js";

/** @typedef {import("./view.js").TreeView} TreeView */
/** @typedef {import("./tree-node.js").Node} Node */

// So many matches are counted and walked through.
export const MOST = 10_000;

/**
 * The nodes of a tree that have this text in their key or their value, in order.
 * @param {import("./tree.js").Tree} tree
 * @param {string} query
 * @returns {Node[]}
 */
export function matches(tree, query) {
  const wanted = query.toLowerCase();
  /** @type {Node[]} */
  const found = [];
  if (wanted === "") return found;
  for (const node of tree.nodes()) {
    const has =
      (node.parent !== null && String(node.key).toLowerCase().includes(wanted)) ||
      (!node.isContainer && node.text.toLowerCase().includes(wanted));
    if (has && found.push(node) >= MOST) break;
  }
  return found;
}

export class Search {
  /**
   * @param {TreeView} view
   * @param {string} highlight the name of its highlight in the style sheet
   */
  constructor(view, highlight) {
    this.view = view;
    this.query = "";
    /** @type {Node[]} */
    this.found = [];
    this.at = -1;
    this._name = highlight;
  }

  /** @param {string} query */
  find(query) {
    this._clear();
    this.query = query;
    this.found = matches(this.view.tree, query);
    this.at = -1;
    this._draw();
  }

  /** The tree has grown: search again, and stay where it was. */
  refresh() {
    const current = this.found[this.at];
    this._clear();
    this.found = matches(this.view.tree, this.query);
    this.at = current ? this.found.indexOf(current) : -1;
    this._draw();
  }

  /** @param {1 | -1} step */
  go(step) {
    const { length } = this.found;
    if (length === 0) return;
    const from = this.at === -1 && step === -1 ? 0 : this.at;
    this._current()?.classList.remove("current");
    this.at = (from + step + length) % length;
    const node = this.found[this.at];
    this.view.reveal(node);
    this.view.select(node);
    this._draw();
    this.view.follow.stop();
    if (node.view) this.view.follow.to(node.view.row);
  }

  _current() {
    return /** @type {HTMLElement | undefined} */ (this.found[this.at]?.view?.item);
  }

  _clear() {
    for (const node of this.found) node.view?.item.classList.remove("match", "current");
  }

  _draw() {
    /** @type {Range[]} */
    const ranges = [];
    for (const node of this.found) {
      if (node.view === null) continue;
      node.view.item.classList.add("match");
      for (const text of [node.view.key.firstChild, node.view.text]) this._ranges(text, ranges);
    }
    this._current()?.classList.add("current");
    // The words themselves, without touching the text; where the browser can.
    const registry = /** @type {any} */ (CSS).highlights;
    if (registry === undefined) return;
    if (ranges.length === 0) registry.delete(this._name);
    else registry.set(this._name, new /** @type {any} */ (globalThis).Highlight(...ranges));
  }

  /**
   * @param {Text | null} text
   * @param {Range[]} ranges
   */
  _ranges(text, ranges) {
    if (text === null) return;
    const data = text.data.toLowerCase();
    const wanted = visible(this.query).toLowerCase();
    for (let at = data.indexOf(wanted); at !== -1; at = data.indexOf(wanted, at + wanted.length)) {
      if (at + wanted.length > text.length) break;
      const range = new Range();
      range.setStart(text, at);
      range.setEnd(text, at + wanted.length);
      ranges.push(range);
    }
  }
}

/** Search in a tree view: finds nodes by key or value, highlights them and steps through them. */

import { escapeText } from "./escaping.js";

/** @typedef {import("./tree-view.js").TreeView} TreeView */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */

const MAX_MATCHES = 10_000;

/**
 * The nodes whose key or value contains the text, ignoring case, in document order.
 * @param {import("./tree.js").Tree} tree
 * @param {string} query
 * @returns {TreeNode[]}
 */
export function matches(tree, query) {
  const wanted = query.toLowerCase();
  /** @type {TreeNode[]} */
  const nodes = [];
  if (wanted === "") return nodes;
  for (const node of tree.nodes()) {
    const matched =
      (node.parent !== null && String(node.key).toLowerCase().includes(wanted)) ||
      (!node.isContainer && node.shown.toLowerCase().includes(wanted));
    if (matched && nodes.push(node) >= MAX_MATCHES) break;
  }
  return nodes;
}

export class Search {
  /**
   * @param {TreeView} view
   * @param {string} highlight the name of the highlight in the style sheet
   */
  constructor(view, highlight) {
    this.view = view;
    this.query = "";
    /** @type {TreeNode[]} */
    this.matches = [];
    /** The index of the current match; -1 for none. */
    this.at = -1;
    this._highlight = highlight;
  }

  /** @param {string} query */
  find(query) {
    this.query = query;
    this.at = -1;
    this.refresh();
  }

  /** Searches again, because the tree has grown, and keeps the current match. */
  refresh() {
    const current = this.matches[this.at];
    for (const node of this.matches) node.view?.item.classList.remove("match", "current");
    this.matches = matches(this.view.tree, this.query);
    this.at = this.matches.indexOf(current);
    this._draw();
  }

  /** @param {1 | -1} step */
  go(step) {
    const { length } = this.matches;
    if (length === 0) return;
    const from = this.at === -1 && step === -1 ? 0 : this.at;
    this._current?.classList.remove("current");
    this.at = (from + step + length) % length;
    const node = this.matches[this.at];
    this.view.reveal(node);
    this.view.select(node);
    this._draw();
    this.view.autoScroll.stop();
    if (node.view) this.view.autoScroll.to(node.view.row);
  }

  get _current() {
    return this.matches[this.at]?.view?.item;
  }

  _draw() {
    /** @type {Range[]} */
    const ranges = [];
    for (const { view } of this.matches) {
      if (view === null) continue;
      view.item.classList.add("match");
      for (const text of [view.key.firstChild, view.text]) {
        if (text instanceof Text) this._addRanges(text, ranges);
      }
    }
    this._current?.classList.add("current");
    // The matched words are highlighted without changing the text, in browsers that can.
    const registry = /** @type {any} */ (CSS).highlights;
    if (ranges.length === 0) registry?.delete(this._highlight);
    else registry?.set(this._highlight, new /** @type {any} */ (globalThis).Highlight(...ranges));
  }

  /**
   * @param {Text} text
   * @param {Range[]} ranges
   */
  _addRanges(text, ranges) {
    const data = text.data.toLowerCase();
    const wanted = escapeText(this.query).toLowerCase();
    for (let at = data.indexOf(wanted); at !== -1; at = data.indexOf(wanted, at + wanted.length)) {
      // Lower case can be longer than the text itself.
      if (at + wanted.length > text.length) break;
      const range = new Range();
      range.setStart(text, at);
      range.setEnd(text, at + wanted.length);
      ranges.push(range);
    }
  }
}

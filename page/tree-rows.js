/**
 * The rows of a tree: a document at a moment as one flat list in the order of the text.
 *
 * A container is expanded unless it is a complete element of a long list, or the user has expanded or collapsed it. A long
 * list shows its last elements while it grows, and its first ones when it is complete.
 */

import { formatPath, partial } from "../js/src/index.js";
import { countBackslashes } from "./characters.js";
import { formatCount, shorten } from "./format.js";

/** @typedef {import("./value-node.js").ValueNode} ValueNode */
/** @typedef {import("./recording.js").View} View */
/** @typedef {(string | number)[]} Path */
/** @typedef {{path: Path, label: string}} TreeMark */
/**
 * `more` offers the elements before (`count` is negative) or after those that are shown. `mark` is where a value
 * is missing. `badge` names a problem. `signature` changes with the content.
 * @typedef {{key: string, signature: string, kind: "value" | "more" | "mark", node: ValueNode, depth: number, text: string,
 *   isOpen: boolean, isSelected: boolean, isNew: boolean, badge: string, count: number}} Row
 */

// Elements of a container that are shown at once.
const WINDOW = 100;
// Complete elements of longer lists are collapsed.
const SHORT = 20;
const MAX_ROWS = 1500;
const MAX_STRING = 1000;

export class TreeRows {
  /** @type {View | null} */
  view = null;
  /** @type {TreeMark | null} */
  mark = null;
  /** The previous document, to show what is new. @type {View | null} */
  previous = null;
  /** @type {Path | null} */
  selected = null;
  /** Paths that the user expanded or collapsed. @type {Map<string, boolean>} */
  #toggled = new Map();
  /** Where the user moved the window of a long list. @type {Map<string, number>} */
  #windows = new Map();

  get #offset() {
    return this.view?.offset ?? 0;
  }

  /** @returns {Row[]} */
  list() {
    /** @type {Row[]} */
    const rows = [];
    const root = this.view?.outline.root;
    if (root?.isShown(this.#offset)) this.#add(root, rows, this.#markedNode(), this.#selectedNode());
    return rows;
  }

  #selectedNode() {
    const node = this.selected === null ? null : this.view?.outline.find(this.selected);
    return node && node.depth === this.selected?.length ? node : null;
  }

  /** Return the node of the mark, or the one that the marked value would be in. */
  #markedNode() {
    let node = this.mark === null ? null : (this.view?.outline.find(this.mark.path) ?? null);
    while (node !== null && !node.isShown(this.#offset)) node = node.parent;
    return node;
  }

  /**
   * @param {ValueNode} node
   * @param {Row[]} rows
   * @param {ValueNode | null} marked
   * @param {ValueNode | null} selected
   */
  #add(node, rows, marked, selected) {
    if (rows.length === MAX_ROWS) rows.push(this.#row(node, { kind: "more", text: "More rows are not shown: collapse some" }));
    if (rows.length > MAX_ROWS) return;
    const isOpen = node.isContainer && this.isExpanded(node);
    const isExact = node === marked && this.mark?.path.length === node.depth;
    const badge = isExact && this.mark ? this.mark.label : "";
    const text = node.isContainer ? this.#summary(node, isOpen) : this.#scalar(node);
    rows.push(this.#row(node, { text, isOpen, badge, isSelected: node === selected, isNew: this.#isNew(node) }));
    if (isOpen) this.#addChildren(node, rows, marked, selected);
    if (node !== marked || isExact || this.mark === null) return;
    const key = String(this.mark.path[node.depth]);
    rows.push(this.#row(node, { kind: "mark", text: key, depth: node.depth + 1, badge: this.mark.label }));
  }

  /**
   * @param {ValueNode} node
   * @param {Row[]} rows
   * @param {ValueNode | null} marked
   * @param {ValueNode | null} selected
   */
  #addChildren(node, rows, marked, selected) {
    const count = node.count(this.#offset);
    const start = this.#windowOf(node, count);
    const end = Math.min(count, start + WINDOW);
    if (start > 0) rows.push(this.#more(node, -start));
    for (const child of node.children.slice(start, end)) this.#add(child, rows, marked, selected);
    if (end < count) rows.push(this.#more(node, count - end));
  }

  /**
   * @param {ValueNode} node
   * @param {number} count
   */
  #more(node, count) {
    const text = `Show more: ${formatCount(Math.abs(count), "element")} ${count < 0 ? "before" : "after"}`;
    return this.#row(node, { kind: "more", text, depth: node.depth + 1, count });
  }

  /**
   * @param {ValueNode} node
   * @param {Partial<Row>} fields
   * @returns {Row}
   */
  #row(node, fields) {
    const plain = { isOpen: false, isSelected: false, isNew: false, badge: "", count: 0, text: "" };
    /** @type {Row} */
    const row = { key: "", signature: "", kind: "value", node, depth: node.depth, ...plain, ...fields };
    row.key = row.kind === "value" ? String(node.id) : `${node.id}-${row.kind}${Math.sign(row.count)}`;
    const { kind, isOpen, isSelected, isNew, badge, text } = row;
    row.signature = [kind, node.key, node.kind, node.isComplete(this.#offset), isOpen, isSelected, isNew, badge, text].join(" ");
    return row;
  }

  /** @param {ValueNode} node */
  #scalar(node) {
    const { outline, offset } = /** @type {View} */ (this.view);
    const source = outline.source(node, offset);
    if (node.kind !== "string") return source;
    if (source.length <= MAX_STRING) return String(partial(source) ?? "");
    if (node.isComplete(offset)) return `${partial(source.slice(0, MAX_STRING))} …`;
    // The end is growing, so show it. Do not cut after a backslash.
    const run = countBackslashes(source.slice(0, -MAX_STRING));
    return `… ${partial(`"${source.slice(-MAX_STRING - (run % 2))}`)}`;
  }

  /**
   * @param {ValueNode} node
   * @param {boolean} isOpen
   */
  #summary(node, isOpen) {
    const { outline, offset } = /** @type {View} */ (this.view);
    const count = node.count(offset);
    const size = node.kind === "array" ? `[${count}]` : `{${count}}`;
    return isOpen ? size : `${size} ${shorten(outline.source(node, Math.min(offset, node.start + 160)), 120)}`;
  }

  /** Return true if the previous document had another value here. @param {ValueNode} node */
  #isNew(node) {
    const { view, previous } = this;
    if (previous === null || view === null || node.isContainer) return false;
    const old = previous.outline.find(node.path);
    return old?.depth !== node.depth || previous.outline.source(old, previous.offset) !== view.outline.source(node, view.offset);
  }

  // ---- what is expanded ----

  reset() {
    this.#toggled.clear();
    this.#windows.clear();
    this.selected = this.previous = null;
  }

  /** @param {ValueNode} node */
  isExpanded(node) {
    const choice = this.#toggled.size > 0 ? this.#toggled.get(formatPath(node.path)) : undefined;
    if (choice !== undefined) return choice;
    if (!node.isComplete(this.#offset) || node.parent === null) return true;
    return node.parent.count(this.#offset) <= SHORT || this.#hasMark(node);
  }

  /**
   * @param {ValueNode} node
   * @param {boolean} isOpen
   */
  setExpanded(node, isOpen) {
    if (node.isContainer) this.#toggled.set(formatPath(node.path), isOpen);
  }

  /** Expand everything around a value, and move the windows to it. @param {Path} path */
  reach(path) {
    let inner = this.view?.outline.find(path) ?? null;
    for (let around = inner?.parent ?? null; around !== null && inner !== null; around = around.parent) {
      this.setExpanded(around, true);
      const index = around.children.indexOf(inner);
      const start = this.#windowOf(around, around.count(this.#offset));
      if (index < start || index >= start + WINDOW) this.#windows.set(formatPath(around.path), Math.max(0, index - 10));
      inner = around;
    }
  }

  /** Show the elements that a row offers. @param {Row} row */
  moveWindow({ node, count }) {
    const start = this.#windowOf(node, node.count(this.#offset));
    if (count !== 0) this.#windows.set(formatPath(node.path), Math.max(0, start + Math.sign(count) * WINDOW));
  }

  /** Return true if the mark is in this value. @param {ValueNode} node */
  #hasMark({ path }) {
    const place = this.mark?.path ?? [];
    return this.mark !== null && place.length >= path.length && path.every((key, index) => place[index] === key);
  }

  /**
   * Return the index of the first element that is shown.
   * @param {ValueNode} node
   * @param {number} count
   */
  #windowOf(node, count) {
    if (count <= WINDOW) return 0;
    const last = count - WINDOW;
    const chosenStart = this.#windows.size > 0 ? this.#windows.get(formatPath(node.path)) : undefined;
    if (chosenStart !== undefined) return Math.min(chosenStart, last);
    const index = this.#hasMark(node) ? node.children.findIndex(({ key }) => key === this.mark?.path[node.depth]) : -1;
    if (index >= 0) return Math.max(0, Math.min(index - 10, last));
    return node.isComplete(this.#offset) ? 0 : last;
  }
}

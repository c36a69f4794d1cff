/** The tree of the document with its search, and the path and value of what is selected. */

import { formatPath } from "../js/src/index.js";
import { byId, copyText, followEnd, reveal } from "./dom.js";
import { escapeText, formatCount } from "./format.js";
import { TreeView } from "./tree-view.js";

/** @typedef {import("./value-node.js").ValueNode} ValueNode */
/** @typedef {import("./recording.js").View} View */
/** @typedef {import("./tree-rows.js").TreeMark} TreeMark */

const MAX_MATCHES = 1000;

export class TreePane {
  #search = byId("search", HTMLInputElement);
  /** @type {ValueNode[]} */
  #matches = [];
  #match = 0;
  #list = byId("tree");

  /** @param {(node: ValueNode | null) => void} onSelect */
  constructor(onSelect) {
    this.#onSelect = onSelect;
    this.tree = new TreeView(this.#list, "Value", (path) => this.#showSelection(path));
    this.#search.addEventListener("input", () => this.#find());
    this.#search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.#goTo(this.#match + (event.shiftKey ? -1 : 1));
    });
    byId("match-before").addEventListener("click", () => this.#goTo(this.#match - 1));
    byId("match-after").addEventListener("click", () => this.#goTo(this.#match + 1));
    byId("copy-path").addEventListener(
      "click",
      () => void copyText(formatPath(this.tree.state.selected ?? []), byId("copy-path")),
    );
    byId("copy-value").addEventListener("click", () => void copyText(this.#value(), byId("copy-value")));
  }

  #onSelect;

  reset() {
    this.tree.state.reset();
    this.#search.value = "";
    this.#find();
    byId("selection").hidden = true;
    this.#list.scrollTop = 0;
  }

  /**
   * @param {View | null} view
   * @param {TreeMark | null} mark
   * @param {View | null} previous
   * @param {boolean} isMoved whether the user went to another moment
   */
  show(view, mark, previous, isMoved) {
    const isGrowing = view !== null && !view.outline.root?.isComplete(view.offset);
    const draw = () => this.tree.show(view, mark, previous);
    if (isGrowing) followEnd(this.#list, draw, isMoved);
    else draw();
  }

  /** @param {(string | number)[]} path */
  select(path) {
    this.tree.select(path);
    this.#showSelection(path);
  }

  revealMark() {
    reveal(this.#list.querySelector(".row.mark, .row.marked"), this.#list);
  }

  /** @param {(string | number)[]} path */
  #showSelection(path) {
    byId("selection").hidden = false;
    byId("path").textContent = escapeText(formatPath(path));
    this.#onSelect(this.tree.state.view?.outline.find(path) ?? null);
  }

  /** Return the JSON text of the selected value. */
  #value() {
    const { view, selected } = this.tree.state;
    const node = view?.outline.find(selected ?? []);
    if (!view || !node) return "";
    return node.isComplete(view.offset)
      ? view.outline.source(node, view.offset)
      : JSON.stringify(view.outline.value(node, view.offset));
  }

  // ---- search ----

  /** Find the text in keys and values up to this moment. */
  #find() {
    const query = this.#search.value.toLowerCase();
    const { view } = this.tree.state;
    this.#matches = query && view ? findMatches(view, query) : [];
    const { length } = this.#matches;
    byId("found").textContent =
      query === "" ? "" : length >= MAX_MATCHES ? `over ${MAX_MATCHES}` : formatCount(length, "match", "matches");
    for (const id of ["match-before", "match-after"]) byId(id, HTMLButtonElement).disabled = length === 0;
    if (length > 0) this.#goTo(0);
  }

  /** @param {number} index */
  #goTo(index) {
    const { length } = this.#matches;
    if (length === 0) return;
    this.#match = (index + length) % length;
    byId("found").textContent = `${this.#match + 1} of ${length}`;
    this.select(this.#matches[this.#match].path);
  }
}

/**
 * Return the values that contain a text in their key or, if they are not containers, in themselves.
 * @param {View} view
 * @param {string} query
 */
function findMatches({ outline, offset }, query) {
  const text = outline.text.toLowerCase();
  /** @type {Set<ValueNode>} */
  const nodes = new Set();
  for (let at = text.indexOf(query); at >= 0 && at < offset && nodes.size < MAX_MATCHES; at = text.indexOf(query, at + 1)) {
    const node = outline.nodeAt(at);
    if (node !== null && (!node.isContainer || at < node.start)) nodes.add(node);
  }
  return [...nodes];
}

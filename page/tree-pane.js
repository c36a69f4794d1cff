/** A tree in a panel, with search, levels, selection, copying and a button to follow what grows. */

import { AutoScroll } from "./autoscroll.js";
import { byId, copyText, make, within } from "./dom.js";
import { escapeText, formatCount, shorten } from "./escaping.js";
import { Search } from "./tree-search.js";
import { put } from "../js/src/parse/values.js";
import { TreeView } from "./tree-view.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */

// Milliseconds between two searches of a growing document.
const SEARCH_PAUSE = 500;
// Milliseconds for which the result of copying is shown.
const COPIED_TIME = 1500;

/** The bar below a view that shows the path of what is selected, and copies it. */
export class Selection {
  /** @type {{view: TreeView, node: TreeNode} | null} */
  selected = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  _timer = undefined;

  /**
   * @param {HTMLElement} panel
   * @param {(text: string) => void} announce
   */
  constructor(panel, announce) {
    this.panel = panel;
    this._announce = announce;
    for (const what of /** @type {const} */ (["value", "path", "pointer"])) {
      within(panel, `.copy-${what}`).addEventListener("click", () => void this.copy(what));
    }
    panel.addEventListener("keydown", (event) => this._key(event));
  }

  /**
   * @param {TreeView} view
   * @param {TreeNode | null} node
   */
  select(view, node) {
    const { selected } = this;
    if (selected && node && selected.view !== view) selected.view.select(null);
    if (node === null && selected && selected.view !== view) return;
    this.selected = node && { view, node };
    within(this.panel, ".selection").hidden = node === null;
    if (node) within(this.panel, ".path").textContent = escapeText(shorten(node.pathText));
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const inTree = /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]");
    if (!inTree || event.ctrlKey || event.metaKey || event.altKey || !this.selected) return;
    if (event.key === "c") void this.copy("value");
    else if (event.key === "p") void this.copy("path");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {"value" | "path" | "pointer"} what */
  async copy(what) {
    if (this.selected === null) return;
    const { node } = this.selected;
    const texts = {
      value: () => JSON.stringify(node.value, null, 2),
      path: () => node.pathText,
      pointer: () => node.pointer,
    };
    try {
      await copyText(texts[what]());
      this._showCopied(`Copied the ${what}`);
    } catch {
      this._showCopied("The browser did not allow copying");
    }
  }

  /** @param {string} text */
  _showCopied(text) {
    this._announce(text);
    const label = within(this.panel, ".copied");
    label.textContent = text;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => (label.textContent = "Copy"), COPIED_TIME);
  }
}

export class TreePane {
  /** @type {TreeView | null} */
  view = null;
  /** @type {Search | null} */
  search = null;
  /** True if nothing grows, so that there is nothing to follow. */
  isComplete = false;
  _searched = 0;
  /** @type {TreeNode | null} */
  _hovered = null;

  /**
   * @param {HTMLElement} panel
   * @param {{number: number, announce: (text: string) => void, onSelect?: (node: TreeNode | null) => void,
   *   onHover?: (node: TreeNode | null) => void}} options
   */
  constructor(panel, { number, announce, onSelect = () => {}, onHover = () => {} }) {
    const copy = byId("tree-template", HTMLTemplateElement).content.cloneNode(true);
    panel.append(copy);
    this.panel = panel;
    this.number = number;
    this.body = within(panel, ".body");
    this.query = within(panel, ".query", HTMLInputElement);
    this.level = within(panel, ".level", HTMLSelectElement);
    this.follow = within(panel, ".follow", HTMLButtonElement);
    this.selection = new Selection(panel, announce);
    this._onSelect = onSelect;
    this._onHover = onHover;
    this._listen();
  }

  /**
   * Shows another tree; null shows none.
   * @param {Tree | null} tree
   * @param {string} [label]
   */
  begin(tree, label = "The document") {
    // A new element has no listeners of the view before.
    const body = make("div", "scroller body");
    this.body.replaceWith(body);
    this.body = body;
    this.view = this.search = null;
    this.selection.selected = null;
    within(this.panel, ".selection").hidden = true;
    this.follow.hidden = true;
    this._hovered = null;
    if (tree !== null) this._makeView(tree, label);
    this._showFound();
  }

  /**
   * @param {Tree} tree
   * @param {string} label
   */
  _makeView(tree, label) {
    const scroll = new AutoScroll(this.body, true, (on) => (this.follow.hidden = on || this.isComplete));
    const view = new TreeView(this.body, tree, {
      label,
      scroll,
      onSelect: (node) => {
        this.selection.select(view, node);
        this._onSelect(node);
      },
    });
    this.view = view;
    if (this.level.value !== "all") view.level = Number(this.level.value);
    this.search = new Search(view, `found-${this.number}`);
    this.search.query = this.query.value;
    view.top.addEventListener("pointerover", (event) => this._hover(event));
    view.top.addEventListener("pointerleave", () => this._onHover((this._hovered = null)));
    view.top.addEventListener("copy", (event) => this._copy(event));
  }

  /**
   * @param {number} until
   * @param {boolean} isComplete
   */
  draw(until, isComplete) {
    const { view, search } = this;
    this.isComplete = isComplete;
    if (view === null) return false;
    this.follow.hidden = view.autoScroll.on || isComplete;
    const left = view.paint(until);
    if (search?.query && performance.now() > this._searched + SEARCH_PAUSE) {
      this._searched = performance.now();
      search.refresh();
      this._showFound();
    }
    return left;
  }

  /**
   * Shows a text instead of a tree.
   * @param {string} text
   */
  showBlank(text) {
    this.body.replaceChildren(make("p", "blank", text));
  }

  /** @param {Event} event */
  _hover(event) {
    const item = /** @type {any} */ (/** @type {HTMLElement} */ (event.target).closest(".item"));
    const node = item?.line?.node ?? null;
    if (node !== this._hovered) this._onHover((this._hovered = node));
  }

  /**
   * Copying what is marked gives JSON: the lines that are marked as members of their parent.
   * @param {ClipboardEvent} event
   */
  _copy(event) {
    const selection = getSelection();
    if (!selection || selection.isCollapsed || !event.clipboardData || !this.view) return;
    const range = selection.getRangeAt(0);
    /** @type {Set<TreeNode>} */
    const nodes = new Set();
    for (const row of this.view.top.querySelectorAll(".row")) {
      const node = /** @type {any} */ (row.parentElement).line?.node;
      if (node && range.intersectsNode(row)) nodes.add(node);
    }
    if (nodes.size < 2) return;
    const tops = [...nodes].filter((node) => node.parent === null || !nodes.has(node.parent));
    const value = tops.length === 1 ? tops[0].value : together(tops);
    event.preventDefault();
    event.clipboardData.setData("text/plain", JSON.stringify(value, null, 2));
  }

  _listen() {
    this.follow.addEventListener("click", () => {
      this.view?.followAgain();
      this.follow.hidden = true;
    });
    this.level.addEventListener("change", () => this._setLevel(this.level.value));
    this.query.addEventListener("input", () => {
      this.search?.find(this.query.value);
      this._go(1);
    });
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this._go(event.shiftKey ? -1 : 1);
    });
    const buttons = {
      ".expand": () => this._setLevel("all"),
      ".collapse": () => this._setLevel("1"),
      ".next": () => this._go(1),
      ".previous": () => this._go(-1),
    };
    for (const [selector, onClick] of Object.entries(buttons)) {
      within(this.panel, selector).addEventListener("click", onClick);
    }
  }

  /** @param {string} level */
  _setLevel(level) {
    this.level.value = level;
    this.view?.setLevel(level === "all" ? Infinity : Number(level));
  }

  /** @param {1 | -1} step */
  _go(step) {
    this.search?.go(step);
    this._showFound();
  }

  _showFound() {
    const { matches = [], at = -1, query = "" } = this.search ?? {};
    const count = matches.length;
    const shown = within(this.panel, ".found");
    if (query === "") shown.textContent = "";
    else if (count === 0) shown.textContent = "none";
    else shown.textContent = at < 0 ? `${count}` : `${at + 1}/${count}`;
    shown.title = query === "" ? "" : formatCount(count, "match", "matches");
    for (const step of [".next", ".previous"]) within(this.panel, step).hidden = count === 0;
  }
}

/**
 * One value of nodes that are not below each other: some members of their parent, if it is the same.
 * @param {TreeNode[]} nodes
 */
function together(nodes) {
  const { parent } = nodes[0];
  if (nodes.some((node) => node.parent !== parent) || parent === null || parent.type === "array") {
    return nodes.map((node) => node.value);
  }
  const holder = {};
  for (const node of nodes) put(holder, String(node.key), node.value);
  return holder;
}

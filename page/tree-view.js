/** A tree on the page: its rows as elements, the mouse and the keyboard. */

import { make, reveal, setAttributes, showRows } from "./dom.js";
import { escapeText } from "./format.js";
import { TreeRows } from "./tree-rows.js";

/** @typedef {import("./value-node.js").ValueNode} ValueNode */
/** @typedef {import("./recording.js").View} View */
/** @typedef {import("./tree-rows.js").Path} Path */
/** @typedef {import("./tree-rows.js").Row} Row */
/** @typedef {import("./tree-rows.js").TreeMark} TreeMark */

let trees = 0;

export class TreeView {
  state = new TreeRows();
  /** @type {Row[]} */
  #rows = [];
  #id = `tree-${(trees += 1)}`;
  #onSelect;

  /**
   * @param {HTMLElement} list
   * @param {string} label
   * @param {(path: Path) => void} onSelect
   */
  constructor(list, label, onSelect) {
    this.list = list;
    this.#onSelect = onSelect;
    setAttributes(list, { role: "tree", "aria-label": label, tabindex: 0 });
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("keydown", (event) => this.#press(event));
  }

  /**
   * @param {View | null} view
   * @param {TreeMark | null} mark
   * @param {View | null} [previous]
   */
  show(view, mark = null, previous = null) {
    Object.assign(this.state, { view, mark, previous });
    this.#draw();
  }

  /** Select a value, and expand what is around it. @param {Path} path */
  select(path) {
    this.state.selected = path;
    this.state.reach(path);
    this.#draw();
    reveal(this.list.querySelector("[aria-selected=true]"), this.list);
  }

  #draw() {
    this.#rows = this.state.list();
    showRows(this.list, this.#rows, (row, element) => this.#fill(row, element));
    const current = this.#rows.find(({ isSelected }) => isSelected);
    if (current) this.list.setAttribute("aria-activedescendant", this.#idOf(current));
    else this.list.removeAttribute("aria-activedescendant");
  }

  /** @param {Row} row */
  #idOf(row) {
    return `${this.#id}-${row.key}`;
  }

  /**
   * @param {Row} row
   * @param {HTMLElement} element
   */
  #fill(row, element) {
    const { node, kind, text, depth, badge, isSelected } = row;
    element.className = `row ${kind}`;
    element.id = this.#idOf(row);
    element.style.setProperty("--depth", String(depth));
    setAttributes(element, { role: "treeitem", "aria-level": depth + 1, "aria-selected": isSelected });
    element.removeAttribute("aria-expanded");
    element.replaceChildren();
    if (kind === "more") return element.append(text);
    const isIndex = kind === "mark" ? node.kind === "array" : typeof node.key === "number";
    const key = escapeText(kind === "mark" ? text : String(node.key)) || '""';
    if (depth > 0) element.append(make("span", isIndex ? "key index" : "key", key));
    if (kind === "value") this.#fillValue(row, element);
    if (badge !== "") element.append(make("span", "badge bad", badge));
  }

  /**
   * @param {Row} row
   * @param {HTMLElement} element
   */
  #fillValue({ node, text, isOpen, isNew, badge }, element) {
    if (node.isContainer) element.setAttribute("aria-expanded", String(isOpen));
    element.append(make("span", node.isContainer ? "preview" : `value ${node.kind}`, escapeText(text)));
    element.classList.toggle("open", !node.isComplete(this.state.view?.offset ?? 0));
    element.classList.toggle("new", isNew);
    element.classList.toggle("marked", badge !== "");
  }

  /** @param {MouseEvent} event */
  #click(event) {
    const element = /** @type {Element} */ (event.target).closest(".row");
    const row = this.#rows.find((candidate) => this.#idOf(candidate) === element?.id);
    if (row === undefined || row.kind === "mark") return;
    if (row.kind === "more") {
      this.state.moveWindow(row);
      return this.#draw();
    }
    this.state.selected = row.node.path;
    this.#expand(row.node, !row.isOpen);
    this.#onSelect(row.node.path);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const rows = this.#rows.filter(({ kind }) => kind !== "mark");
    const index = rows.findIndex(({ isSelected }) => isSelected);
    const { node = null, isOpen = false } = rows[index] ?? {};
    /** @type {Record<string, () => ValueNode | null | undefined>} */
    const moves = {
      ArrowDown: () => this.#neighbour(node, rows[index + 1]),
      ArrowUp: () => this.#neighbour(node, rows[Math.max(0, index - 1)]),
      Home: () => rows[0]?.node,
      End: () => rows.filter(({ kind }) => kind === "value").at(-1)?.node,
      ArrowRight: () => (isOpen ? node?.children[0] : this.#expand(node, true)),
      ArrowLeft: () => (isOpen ? this.#expand(node, false) : node?.parent),
      Enter: () => this.#expand(node, !isOpen),
    };
    if (!Object.hasOwn(moves, event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (!next) return;
    this.select(next.path);
    this.#onSelect(next.path);
  }

  /**
   * Return the value of the row above or below a value. If the row offers more elements, return the nearest of them.
   * @param {ValueNode | null} node
   * @param {Row | undefined} row
   */
  #neighbour(node, row) {
    if (row?.kind !== "more" || row.count === 0) return row?.node;
    const { children } = row.node;
    let child = node;
    while (child !== null && child.parent !== row.node) child = child.parent;
    if (child !== null) return children[children.indexOf(child) + Math.sign(row.count)];
    return row.count < 0 ? children[0] : children[row.node.count(this.state.view?.offset ?? 0) - 1];
  }

  /**
   * @param {ValueNode | null} node
   * @param {boolean} isOpen
   */
  #expand(node, isOpen) {
    if (node !== null) this.state.setExpanded(node, isOpen);
    this.#draw();
    return node;
  }
}

/** Mouse and keyboard in a tree view, as in the WAI-ARIA tree pattern: one line is a tab stop. */

import { LONG } from "./tree-line.js";

/** @typedef {import("./tree-line.js").Line} Line */

export class TreeInput {
  /** @param {import("./tree-view.js").TreeView} view */
  constructor(view) {
    this.view = view;
    view.top.addEventListener("click", (event) => this._click(event));
    view.top.addEventListener("keydown", (event) => this._key(event));
  }

  /** @param {MouseEvent} event */
  _click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const item = /** @type {any} */ (target.closest(".item"));
    if (item === null) return;
    if (item.foldOf) return this.view.showMore(item.foldOf.line, item.foldOf.before);
    const line = /** @type {Line} */ (item.line);
    if (target.closest(".unfold")) return line.toggleFold();
    this.view.select(line.node, true);
    const toggles = target.closest(".twist, .value.object, .value.array");
    if (toggles) this.view.setOpen(line.node, !line.open);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.tagName === "BUTTON") return;
    const item = /** @type {any} */ (target.closest("li"));
    if (item === null || !this._press(event.key, item)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * @param {string} key
   * @param {any} item
   * @returns {boolean} whether the key has a meaning
   */
  _press(key, item) {
    const line = /** @type {Line | undefined} */ (item.line);
    // Closed containers have no items, so all items are visible, in document order.
    const items = [...this.view.top.querySelectorAll(".item")];
    switch (key) {
      case "ArrowDown":
        return this._focus(items[items.indexOf(item) + 1]);
      case "ArrowUp":
        return this._focus(items[items.indexOf(item) - 1]);
      case "Home":
        return this._focus(items[0]);
      case "End":
        return this._focus(items[items.length - 1]);
      case "ArrowRight":
        if (line?.open) this._focus(line.group?.querySelector(".item"));
        else if (line) this.view.setOpen(line.node, true);
        return true;
      case "ArrowLeft":
        if (line?.node.isContainer && line.open) this.view.setOpen(line.node, false);
        else this._focus(item.parentElement.closest("li"));
        return true;
      case "Enter":
      case " ":
        if (item.foldOf) this.view.showMore(item.foldOf.line, item.foldOf.before);
        else if (line && line.node.shown.length > LONG) line.toggleFold();
        else if (line) this.view.setOpen(line.node, !line.open);
        return true;
    }
    return false;
  }

  /** @param {any} item the element of a line, if there is one */
  _focus(item) {
    if (item?.line) {
      this.view.select(item.line.node, true);
    } else if (item) {
      this.view.setTabStop(item);
      item.focus();
    }
    return true;
  }
}

/** Clicks and keys in a tree, as WAI-ARIA has them: one line is in the tab order, arrows do the rest. */

import { LONG } from "./lines.js";

/** @typedef {import("./lines.js").Line} Line */

export class Hands {
  /** @param {import("./view.js").TreeView} view */
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
    if (target.closest(".unfold")) {
      line.unfold();
      return;
    }
    const folds = target.closest(".twist, .value.object, .value.array");
    this.view.select(line.node, true);
    if (folds && line.node.isContainer) this.view.setOpen(line.node, !line.open);
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
   * @returns {boolean} whether the key meant something
   */
  _press(key, item) {
    const line = /** @type {Line | undefined} */ (item.line);
    switch (key) {
      case "ArrowDown":
        return this._focus(following(item));
      case "ArrowUp":
        return this._focus(preceding(item));
      case "Home":
        return this._focus(this.view.top.querySelector("li"));
      case "End":
        return this._focus(lastOf(this.view.top));
      case "ArrowRight":
        if (!line?.node.isContainer) return true;
        if (!line.open) this.view.setOpen(line.node, true);
        else this._focus(line.group?.querySelector(".item") ?? null);
        return true;
      case "ArrowLeft":
        if (line?.node.isContainer && line.open) this.view.setOpen(line.node, false);
        else this._focus(item.parentElement.closest("li"));
        return true;
      case "Enter":
      case " ":
        if (item.foldOf) this.view.showMore(item.foldOf.line, item.foldOf.before);
        else if (line?.node.isContainer) this.view.setOpen(line.node, !line.open);
        else if (line && line.node.text.length > LONG) line.unfold();
        return true;
    }
    return false;
  }

  /** @param {Element | null} item */
  _focus(item) {
    if (item === null) return true;
    const { line } = /** @type {any} */ (item);
    if (line) this.view.select(line.node, true);
    else {
      this.view.tabTo(/** @type {HTMLElement} */ (item));
      /** @type {HTMLElement} */ (item).focus();
    }
    return true;
  }
}

/** @param {HTMLElement} item */
function following(item) {
  const inner = item.querySelector(":scope > ul > .item");
  if (inner) return inner;
  for (let at = /** @type {Element | null} */ (item); at; ) {
    if (at.nextElementSibling?.matches(".item")) return at.nextElementSibling;
    at = at.parentElement?.closest("li") ?? null;
  }
  return null;
}

/** @param {HTMLElement} item */
function preceding(item) {
  const before = item.previousElementSibling;
  if (before === null) return item.parentElement?.closest("li") ?? null;
  return lastOf(before);
}

/**
 * The last line that is seen in a list, or of an item.
 * @param {Element} from
 */
function lastOf(from) {
  let at = from;
  for (;;) {
    const list = at.matches("ul") ? at : at.querySelector(":scope > ul");
    const last = list?.querySelector(":scope > .item:nth-last-child(1 of .item)");
    if (!last) return at.matches("li") ? at : null;
    at = last;
  }
}

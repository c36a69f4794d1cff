/**
 * One line of a tree: its elements, and how the value of its node is written into them. A string that
 * grows is one `Text.appendData`; a long one is folded. Text nodes only.
 */

import { make } from "./dom.js";
import { brief, counted, cut, visible } from "./escaping.js";

/** @typedef {import("./tree-node.js").Node} Node */

/** So many children are shown, and so many more each time that is asked for. */
export const PAGE = 200;
/** Strings longer than this are folded. */
export const LONG = 400;
const HEAD = 220;
const TAIL = 140;
const NAME = /^[A-Za-z_$][\w$]*$/;

let ids = 0;

/** What is kept for a node that has a line. */
export class Line {
  /**
   * @param {Node} node
   * @param {boolean} open
   */
  constructor(node, open) {
    this.node = node;
    this.open = open;
    this.type = "";
    this.version = node.version;
    this.item = make("li", "item");
    this.row = make("div", "row");
    this.twist = make("span", "twist");
    this.key = make("span", typeof node.key === "number" ? "key index" : "key");
    this.text = document.createTextNode("");
    this.value = make("span", "value", this.text);
    this.after = make("span", "after");
    /** @type {HTMLElement | null} */
    this.group = null;
    /** The lines that stand for children that are not shown. @type {HTMLElement | null} */
    this.more = null;
    /** @type {HTMLElement | null} */
    this.less = null;
    // Children from `start` on are shown, so many, and up to `limit` at most.
    this.start = 0;
    this.shown = 0;
    this.limit = PAGE;
    /** Is a long string shown whole? */
    this.whole = false;
    /** The text that is drawn. */
    this.drawn = "";
    this._build();
  }

  _build() {
    const { node, item, row } = this;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(node.depth + 1));
    item.setAttribute("aria-selected", "false");
    item.tabIndex = -1;
    row.id = `line-${(ids += 1)}`;
    item.setAttribute("aria-labelledby", row.id);
    /** @type {any} */ (item).line = this;
    this.twist.setAttribute("aria-hidden", "true");
    if (node.key !== "" || node.parent !== null) this.key.append(keyText(node));
    row.append(this.twist, this.key, this.value, this.after);
    item.append(row);
  }

  /** Write what the node has now. True if the line may be higher than before. */
  draw() {
    const { node } = this;
    let grew = false;
    if (node.type === "string") grew = this._drawString();
    else this._setText(node.isContainer ? summary(node) : node.text);
    this.value.classList.toggle("unfinished", node.open);
    if (node.badge || this.after.firstChild) this._drawBadge();
    return grew;
  }

  /** The node is of another type than what is drawn. */
  retype() {
    const { node } = this;
    this.type = node.type;
    this.version = node.version;
    this.value.className = `value ${node.type}`;
    this.drawn = this.text.data = "";
    this.item.classList.toggle("container", node.isContainer);
    if (node.isContainer) this.item.setAttribute("aria-expanded", String(this.open));
    else this.item.removeAttribute("aria-expanded");
  }

  /** Show a long string whole, or folded again. */
  unfold() {
    this.whole = !this.whole;
    this.draw();
  }

  /** @param {string} text */
  _setText(text) {
    if (this.drawn === text) return;
    this.drawn = this.text.data = text;
  }

  _drawString() {
    const { text, open } = this.node;
    const folded = text.length > LONG && !this.whole;
    const shown = folded ? foldedText(text, open) : text;
    const changed = shown !== this.drawn;
    if (changed && shown.startsWith(this.drawn)) {
      this.text.appendData(visible(shown.slice(this.drawn.length)));
    } else if (changed) {
      this.text.data = visible(shown);
    }
    this.drawn = shown;
    this._drawUnfold(text.length > LONG && !open ? text.length : 0);
    return changed;
  }

  /** @param {number} length 0 for no button */
  _drawUnfold(length) {
    let button = this.row.querySelector(".unfold");
    if (length === 0) {
      button?.remove();
      return;
    }
    if (button === null) {
      button = make("button", "unfold");
      button.setAttribute("type", "button");
      button.setAttribute("tabindex", "-1");
      this.row.insertBefore(button, this.after);
    }
    button.textContent = this.whole ? "fold" : `all ${counted(length, "character")}`;
  }

  _drawBadge() {
    const { badge, note } = this.node;
    this.after.replaceChildren();
    const word = badge.toLowerCase();
    if (badge) this.after.append(make("span", `badge ${word}`, word));
    if (note) this.after.append(make("span", "note", visible(note)));
  }
}

/** @param {Node} node */
function keyText(node) {
  const { key } = node;
  if (typeof key === "number" || node.isRoot || NAME.test(key)) return visible(brief(String(key)));
  return visible(brief(JSON.stringify(key)));
}

/** @param {Node} node */
function summary(node) {
  const count = node.children.length;
  return node.type === "object" ? `{${count || ""}}` : `[${count || ""}]`;
}

/**
 * The beginning of a long string; and its end while that grows.
 * @param {string} text
 * @param {boolean} open
 */
function foldedText(text, open) {
  const head = text.slice(0, cut(text, HEAD));
  return open ? `${head} … ${text.slice(cut(text, text.length - TAIL))}` : `${head} …`;
}

/**
 * One line of a tree view: its elements, and how the node's value is written into them. A growing
 * string is one `Text.appendData`; a long string is folded. Only text nodes are used.
 */

import { make, setAttributes } from "./dom.js";
import { characterStart, escapeText, formatCount, shorten } from "./escaping.js";

/** @typedef {import("./tree-node.js").TreeNode} TreeNode */

/** How many children are shown at first, and how many more each time the user asks. */
export const PAGE = 200;
/** Strings longer than this are folded. */
export const LONG = 400;
const HEAD = 220;
const TAIL = 140;
/** Characters in the preview of a closed container. */
const PREVIEW = 72;
const NAME = /^[A-Za-z_$][\w$]*$/;

let ids = 0;

export class Line {
  /**
   * @param {TreeNode} node
   * @param {boolean} open whether the children are shown
   */
  constructor(node, open) {
    this.node = node;
    this.open = open;
    this.type = "";
    this.version = node.version;
    this.twist = make("span", "twist");
    this.key = make("span", typeof node.key === "number" ? "key index" : "key");
    this.text = document.createTextNode("");
    this.value = make("span", "value", this.text);
    this.after = make("span", "after");
    this.row = make("div", "row", this.twist, this.key, this.value, this.after);
    this.item = make("li", "item", this.row);
    /** @type {HTMLElement | null} */
    this.group = null;
    /** The lines that stand for the hidden children after and before. @type {HTMLElement | null} */
    this.more = null;
    /** @type {HTMLElement | null} */
    this.less = null;
    // Children `start` to `start + shown` have lines; `limit` is the end that may be reached.
    this.start = 0;
    this.shown = 0;
    this.limit = PAGE;
    /** What a closed container begins with. @type {HTMLElement | null} */
    this.preview = null;
    /** True if the range of children was chosen by the user, so that it does not follow. */
    this.pinned = false;
    /** True if the user unfolded a long string. */
    this.unfolded = false;
    /** The text as drawn. */
    this.drawn = "";
    this.row.id = `line-${(ids += 1)}`;
    setAttributes(this.item, {
      role: "treeitem",
      "aria-level": node.depth + 1,
      "aria-selected": false,
      "aria-labelledby": this.row.id,
      tabindex: -1,
    });
    /** @type {any} */ (this.item).line = this;
    this.twist.setAttribute("aria-hidden", "true");
    if (node.key !== "" || node.parent !== null) this.key.append(keyText(node));
  }

  /** Draws the node. True if the line may have become higher. */
  draw() {
    const { node } = this;
    const grew = node.type === "string" && this._drawString();
    if (node.isContainer) this._drawContainer();
    else if (node.type !== "string") this._setText(node.text);
    this.value.classList.toggle("unfinished", node.isOpen);
    if (node.shownBadge || this.after.firstChild) this._drawBadge();
    return grew;
  }

  /** Adapts the line to the node's new type. */
  retype() {
    const { node, item } = this;
    this.type = node.type;
    this.version = node.version;
    this.value.className = `value ${node.type}`;
    this.drawn = this.text.data = "";
    this.preview?.remove();
    this.preview = null;
    item.classList.toggle("container", node.isContainer);
    if (node.isContainer) item.setAttribute("aria-expanded", String(this.open));
    else item.removeAttribute("aria-expanded");
  }

  /** Unfolds a long string, or folds it again. */
  toggleFold() {
    this.unfolded = !this.unfolded;
    this.draw();
  }

  _drawContainer() {
    const { node } = this;
    this._setText(summary(node));
    const shown = this.open ? "" : preview(node);
    if (shown === "" && this.preview === null) return;
    if (this.preview === null) this.value.after((this.preview = make("span", "preview")));
    if (this.preview.textContent !== shown) this.preview.textContent = shown;
  }

  /** @param {string} text */
  _setText(text) {
    if (this.drawn !== text) this.drawn = this.text.data = text;
  }

  _drawString() {
    const { shown: text, isOpen: open } = this.node;
    const isLong = text.length > LONG;
    const shown = isLong && !this.unfolded ? foldedText(text, open) : text;
    const changed = shown !== this.drawn;
    if (changed && shown.startsWith(this.drawn)) {
      this.text.appendData(escapeText(shown.slice(this.drawn.length)));
    } else if (changed) {
      this.text.data = escapeText(shown);
    }
    this.drawn = shown;
    this._drawFoldButton(isLong && !open);
    return changed;
  }

  /** @param {boolean} needed */
  _drawFoldButton(needed) {
    let button = this.row.querySelector(".unfold");
    if (!needed) return button?.remove();
    if (button === null) {
      button = make("button", "unfold");
      setAttributes(button, { type: "button", tabindex: -1 });
      this.after.before(button);
    }
    const count = formatCount(this.node.shown.length, "character");
    button.textContent = this.unfolded ? "show less" : `show all ${count}`;
  }

  _drawBadge() {
    const { shownBadge: badge, note } = this.node;
    const status = badge.toLowerCase();
    this.after.replaceChildren();
    if (!badge) return;
    const mark = make("span", `badge ${status.replace(" ", "-")}`, status);
    // What is wrong is said above the views, once.
    mark.title = escapeText(note);
    this.after.append(mark);
  }
}

/** @param {TreeNode} node */
function keyText({ key, isRoot }) {
  const isPlain = typeof key === "number" || isRoot || NAME.test(key);
  return escapeText(shorten(isPlain ? String(key) : JSON.stringify(key)));
}

/** @param {TreeNode} node */
function summary(node) {
  const count = node.size || "";
  return node.type === "object" ? `{${count}}` : `[${count}]`;
}

/**
 * The start of a container, in a few words.
 * @param {TreeNode} node
 */
function preview(node) {
  const { members } = node;
  let text = "";
  for (let at = 0; at < members.length && text.length < PREVIEW; at += 1) {
    const child = members[at];
    const key = node.type === "object" ? `${shorten(String(child.key), 24)}: ` : "";
    text += `${at > 0 ? ", " : ""}${key}${inShort(child)}`;
  }
  return escapeText(text.length > PREVIEW ? `${text.slice(0, characterStart(text, PREVIEW))} …` : text);
}

/** @param {TreeNode} node */
function inShort(node) {
  if (node.type === "object") return node.size ? "{…}" : "{}";
  if (node.type === "array") return node.size ? "[…]" : "[]";
  return node.type === "string" ? JSON.stringify(node.shown.slice(0, PREVIEW)) : node.text;
}

/**
 * The start of a long string; also its end while it grows.
 * @param {string} text
 * @param {boolean} open
 */
function foldedText(text, open) {
  const head = text.slice(0, characterStart(text, HEAD));
  return open ? `${head} … ${text.slice(characterStart(text, text.length - TAIL))}` : `${head} …`;
}

/**
 * A tree of nodes → DOM: each change becomes the one operation that shows it, `Text.appendData` for
 * a string that grows. Text nodes only; nothing of a document is ever read as markup.
 *
 * What is drawn is bounded: long lists and strings are folded, and containers start closed once
 * there are many lines. Keys and screen readers find an ordinary tree (WAI-ARIA).
 */

import { Follow } from "./follow.js";
import { counted, visible } from "./visible.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").Node} Node */

/** So many children are shown, and so many more each time that is asked for. */
export const PAGE = 200;
/** From so many lines on, and beyond the first page of a list, containers start closed. */
export const MOST_LINES = 3000;
/** Strings longer than this are folded. */
export const LONG = 400;
const HEAD = 220;
const TAIL = 140;
const MOST_FLASHES = 24;
const NAME = /^[A-Za-z_$][\w$]*$/;

let ids = 0;

/** What is kept for a node that has a line. */
class Line {
  /** @param {Node} node */
  constructor(node) {
    this.node = node;
    this.type = "";
    this.item = element("li", "item");
    this.row = element("div", "row");
    this.twist = element("span", "twist");
    this.value = element("span", "value");
    this.text = document.createTextNode("");
    this.after = element("span", "after");
    /** @type {HTMLElement | null} */
    this.group = null;
    /** @type {HTMLElement | null} */
    this.more = null;
    this.open = true;
    this.shown = 0;
    this.limit = PAGE;
    /** Is a long string shown whole? */
    this.whole = false;
    /** The text that is drawn. */
    this.drawn = "";
    this.key = element("span", typeof node.key === "number" ? "key index" : "key");
  }
}

export class TreeView {
  /**
   * @param {HTMLElement} scroller
   * @param {Tree} tree
   * @param {{label: string, onSelect?: (node: Node | null) => void, follows?: boolean,
   *   flashes?: boolean}} options
   */
  constructor(scroller, tree, { label, onSelect = () => {}, follows = true, flashes = true }) {
    this.scroller = scroller;
    this.tree = tree;
    this.top = element("ul", "tree");
    this.top.setAttribute("role", "tree");
    this.top.setAttribute("aria-label", label);
    scroller.replaceChildren(this.top);
    this.onSelect = onSelect;
    /** @type {Node | null} */
    this.selected = null;
    this.level = Infinity;
    this.lines = 0;
    /** What was opened or closed by hand, by pointer: it holds when the tree is built again. */
    /** @type {Map<string, boolean>} */
    this._byHand = new Map();
    /** @type {Node[]} */
    this._queue = [];
    this._version = tree.version;
    /** The line that has the caret, and the caret behind the last line of an open container. */
    /** @type {Line | null} */
    this._caret = null;
    this._end = element("li", "caret-line");
    this._end.setAttribute("role", "none");
    this._end.setAttribute("aria-hidden", "true");
    this._flashing = flashes;
    this.follow = new Follow(scroller, follows);
    /** Whether something may now be further down than it was. */
    this._grew = false;
    this._flashes = 0;
    this._calm = matchMedia("(prefers-reduced-motion: reduce)");
    this._listen();
  }

  // ---- drawing ----

  /**
   * Draw what has changed, until this time. True if something is left.
   * @param {number} until
   */
  paint(until) {
    const { tree } = this;
    if (tree.version !== this._version) this._restart();
    for (const node of tree.changed) this._queue.push(node);
    tree.changed.clear();
    let at = 0;
    for (; at < this._queue.length; at += 1) {
      if ((at & 31) === 31 && performance.now() > until) break;
      this._draw(this._queue[at], until);
    }
    this._queue.splice(0, at);
    this._moveCaret();
    this._flash();
    if (this._grew && this.follow.on && this._caret) this.follow.to(this._growingElement());
    this._grew = false;
    return this._queue.length > 0;
  }

  _restart() {
    this._version = this.tree.version;
    this._queue = [];
    this.lines = 0;
    this._caret = null;
    this._end.remove();
    this.top.replaceChildren();
    if (this.selected) this.select(null);
  }

  /**
   * @param {Node} node
   * @param {number} until
   */
  _draw(node, until) {
    let line = /** @type {Line | null} */ (node.view);
    if (line === null) {
      // The parent makes the lines of its children, when they are to be seen.
      if (node.parent !== null) return;
      line = this._make(node);
      line.item.tabIndex = 0;
      this.top.append(line.item);
    }
    this._drawRow(line);
    if (node.isContainer && line.open) this._fill(line, until);
  }

  /**
   * @param {Node} node
   * @returns {Line}
   */
  _make(node) {
    const line = new Line(node);
    node.view = line;
    line.open = this._startsOpen(node);
    const { item, row } = line;
    item.setAttribute("role", "treeitem");
    item.setAttribute("aria-level", String(node.depth + 1));
    item.setAttribute("aria-selected", "false");
    item.tabIndex = -1;
    row.id = `line-${(ids += 1)}`;
    item.setAttribute("aria-labelledby", row.id);
    /** @type {any} */ (item).line = line;
    line.twist.setAttribute("aria-hidden", "true");
    if (node.key !== "" || node.parent !== null) line.key.append(keyText(node));
    line.value.append(line.text);
    row.append(line.twist, line.key, line.value, line.after);
    item.append(row);
    this.lines += 1;
    this._grew = true;
    return line;
  }

  /** @param {Node} node */
  _startsOpen(node) {
    if (this._byHand.size) {
      const chosen = this._byHand.get(placeOf(node));
      if (chosen !== undefined) return chosen;
    }
    if (node.depth === 0) return true;
    return node.depth < this.level && node.index < PAGE && this.lines < MOST_LINES;
  }

  /** @param {Line} line */
  _drawRow(line) {
    const { node } = line;
    if (line.type !== node.type) this._drawType(line);
    if (node.type === "string") this._grew = drawString(line) || this._grew;
    else setText(line, node.isContainer ? summary(node) : node.text);
    line.value.classList.toggle("unfinished", node.open);
    if (node.badge || line.after.firstChild) drawBadge(line);
    if (node.isContainer && node.children.length < line.shown) this._empty(line);
  }

  /** @param {Line} line */
  _drawType(line) {
    const { node } = line;
    line.type = node.type;
    line.value.className = `value ${node.type}`;
    line.drawn = "";
    line.text.data = "";
    this._empty(line);
    line.item.classList.toggle("container", node.isContainer);
    if (node.isContainer) line.item.setAttribute("aria-expanded", String(line.open));
    else line.item.removeAttribute("aria-expanded");
  }

  /** @param {Line} line */
  _empty(line) {
    if (line.group) {
      this.lines -= line.shown;
      line.group.remove();
    }
    line.group = line.more = null;
    line.shown = 0;
  }

  /**
   * Lines for the children that have none yet and are to be seen.
   * @param {Line} line
   * @param {number} until
   */
  _fill(line, until) {
    const { children } = line.node;
    const end = Math.min(children.length, line.limit);
    if (line.shown === end && children.length <= line.limit) return;
    const group = (line.group ??= this._group(line));
    for (; line.shown < end; line.shown += 1) {
      if ((line.shown & 15) === 15 && performance.now() > until) {
        this._queue.push(line.node);
        return;
      }
      const child = children[line.shown];
      const made = this._make(child);
      this._drawRow(made);
      group.insertBefore(made.item, line.more ?? (this._end.parentNode === group ? this._end : null));
      if (child.children.length && made.open) this._queue.push(child);
    }
    this._drawMore(line);
  }

  /** @param {Line} line */
  _group(line) {
    const group = element("ul", "group");
    group.setAttribute("role", "group");
    line.item.append(group);
    return group;
  }

  /** @param {Line} line */
  _drawMore(line) {
    const hidden = line.node.children.length - line.shown;
    if (hidden <= 0) {
      line.more?.remove();
      line.more = null;
      return;
    }
    if (line.more === null) {
      line.more = element("li", "item more");
      line.more.setAttribute("role", "treeitem");
      line.more.setAttribute("aria-level", String(line.node.depth + 2));
      line.more.tabIndex = -1;
      line.more.append(document.createTextNode(""));
      /** @type {any} */ (line.more).moreOf = line;
      line.group?.insertBefore(line.more, this._end.parentNode === line.group ? this._end : null);
    }
    const text = `show ${Math.min(PAGE, hidden)} more of ${counted(hidden, "value")}`;
    /** @type {Text} */ (line.more.firstChild).data = text;
  }

  _moveCaret() {
    let node = this.tree.growing;
    while (node !== null && node.view === null) node = node.parent;
    const line = node === null ? null : /** @type {Line} */ (node.view);
    // Behind the last child of an open container, also if that is folded away.
    const group = line?.open ? line.group : null;
    if (line === this._caret && group === this._end.parentNode) return;
    this._caret?.row.classList.remove("growing");
    this._end.remove();
    if (group) group.append(this._end);
    else line?.row.classList.add("growing");
    this._caret = line;
  }

  _growingElement() {
    return this._end.parentNode === null ? /** @type {Line} */ (this._caret).row : this._end;
  }

  _flash() {
    const { fresh } = this.tree;
    if (this._flashing && !this._calm.matches && !document.hidden) {
      for (const node of fresh) {
        if (this._flashes >= MOST_FLASHES) break;
        if (node.view !== null) this._flashLine(node.view);
      }
    }
    fresh.clear();
  }

  /** @param {Line} line */
  _flashLine(line) {
    this._flashes += 1;
    const colours = [{ backgroundColor: "var(--flash)" }, { backgroundColor: "transparent" }];
    const animation = line.value.animate(colours, { duration: 900, easing: "ease-out" });
    animation.onfinish = animation.oncancel = () => {
      this._flashes -= 1;
    };
  }

  // ---- opening and closing ----

  /**
   * @param {Node} node
   * @param {boolean} open
   */
  setOpen(node, open) {
    const line = /** @type {Line | null} */ (node.view);
    if (line === null || !node.isContainer || line.open === open) return;
    this._byHand.set(placeOf(node), open);
    line.open = open;
    line.item.setAttribute("aria-expanded", String(open));
    if (open) this._fill(line, Infinity);
    else this._forgetBelow(line);
    this._settle();
  }

  /**
   * The lines below one that was closed are dropped: what is not seen costs nothing.
   * @param {Line} line
   */
  _forgetBelow(line) {
    const work = [...line.node.children];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      if (node.view === null) continue;
      if (node.view !== line && node.view.shown) this.lines -= node.view.shown;
      node.view = null;
      work.push(...node.children);
    }
    this._empty(line);
  }

  /** Draw at once what opening has put into the queue. */
  _settle() {
    this.paint(performance.now() + 50);
  }

  /**
   * Open everything down to this level, and close what is below it.
   * @param {number} level
   */
  setLevel(level) {
    this.level = level;
    this._byHand.clear();
    this.redraw();
  }

  /** Forget every line and draw again. */
  redraw() {
    for (const node of this.tree.nodes()) node.view = null;
    this._restart();
    if (this.tree.root) this._queue.push(this.tree.root);
    this._settle();
  }

  /**
   * Show a node, whatever it is folded into.
   * @param {Node} node
   */
  reveal(node) {
    /** @type {Node[]} */
    const way = [];
    for (let up = node.parent; up !== null; up = up.parent) way.push(up);
    for (const up of way.reverse()) {
      const line = /** @type {Line | null} */ (up.view);
      if (line === null) return;
      const next = up === node.parent ? node : way[way.indexOf(up) + 1];
      if (next.index >= line.limit) line.limit = (Math.floor(next.index / PAGE) + 1) * PAGE;
      if (line.open) this._fill(line, Infinity);
      else this.setOpen(up, true);
    }
    this._settle();
  }

  /** @param {Line} line */
  showMore(line) {
    line.limit += PAGE;
    const first = line.node.children[line.shown];
    this._fill(line, Infinity);
    this._settle();
    if (first) this.select(first, true);
  }

  // ---- selecting ----

  /**
   * @param {Node | null} node
   * @param {boolean} [focus]
   */
  select(node, focus = false) {
    const before = this.selected;
    const old = /** @type {Line | null} */ (before?.view ?? null);
    if (old) {
      old.item.setAttribute("aria-selected", "false");
      old.item.tabIndex = -1;
    }
    this.selected = node;
    const line = /** @type {Line | null} */ (node?.view ?? null);
    if (line) {
      line.item.setAttribute("aria-selected", "true");
      this._tabTo(line.item);
      if (focus) {
        this.follow.stop();
        line.item.focus({ preventScroll: true });
        this.follow.to(line.row);
      }
    }
    if (before !== node) this.onSelect(node);
  }

  /** @param {HTMLElement} item */
  _tabTo(item) {
    this.top.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    item.tabIndex = 0;
  }

  // ---- hands and keys ----

  _listen() {
    this.top.addEventListener("click", (event) => this._click(event));
    this.top.addEventListener("keydown", (event) => this._key(event));
  }

  /** @param {MouseEvent} event */
  _click(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const item = /** @type {any} */ (target.closest("li"));
    if (item === null) return;
    if (item.moreOf) return this.showMore(item.moreOf);
    const line = /** @type {Line} */ (item.line);
    if (target.closest(".unfold")) {
      line.whole = !line.whole;
      this._drawRow(line);
      return;
    }
    const folds = target.closest(".twist, .value.object, .value.array");
    this.select(line.node, true);
    if (folds && line.node.isContainer) this.setOpen(line.node, !line.open);
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
        return this._focus(this.top.querySelector("li"));
      case "End":
        return this._focus(lastOf(this.top));
      case "ArrowRight":
        if (!line?.node.isContainer) return true;
        if (!line.open) this.setOpen(line.node, true);
        else this._focus(line.group?.querySelector(".item") ?? null);
        return true;
      case "ArrowLeft":
        if (line?.node.isContainer && line.open) this.setOpen(line.node, false);
        else this._focus(item.parentElement.closest("li"));
        return true;
      case "Enter":
      case " ":
        if (item.moreOf) this.showMore(item.moreOf);
        else if (line?.node.isContainer) this.setOpen(line.node, !line.open);
        else if (line && line.node.text.length > LONG) {
          line.whole = !line.whole;
          this._drawRow(line);
        }
        return true;
    }
    return false;
  }

  /** @param {Element | null} item */
  _focus(item) {
    if (item === null) return true;
    const { line } = /** @type {any} */ (item);
    if (line) this.select(line.node, true);
    else {
      this._tabTo(/** @type {HTMLElement} */ (item));
      /** @type {HTMLElement} */ (item).focus();
    }
    return true;
  }
}

/**
 * @param {Node} node
 * @returns {string}
 */
function placeOf(node) {
  return node.parent === null ? "" : `${placeOf(node.parent)}/${node.key}`;
}

/** @param {Node} node */
function keyText(node) {
  const { key } = node;
  if (typeof key === "number" || node.isRoot || NAME.test(key)) return visible(String(key));
  return visible(JSON.stringify(key));
}

/** @param {Node} node */
function summary(node) {
  const count = node.children.length;
  return node.type === "object" ? `{${count || ""}}` : `[${count || ""}]`;
}

/**
 * @param {Line} line
 * @param {string} text
 */
function setText(line, text) {
  if (line.drawn === text) return;
  line.drawn = text;
  line.text.data = text;
}

/** @param {Line} line */
function drawString(line) {
  const { text, open } = line.node;
  const folded = text.length > LONG && !line.whole;
  const shown = folded ? foldedText(text, open) : text;
  const changed = shown !== line.drawn;
  if (changed) {
    if (shown.startsWith(line.drawn)) {
      line.text.appendData(visible(shown.slice(line.drawn.length)));
    } else {
      line.text.data = visible(shown);
    }
    line.drawn = shown;
  }
  drawUnfold(line, text.length > LONG && !open ? text.length : 0);
  return changed;
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

/**
 * A place near this one that is not inside of a surrogate pair.
 * @param {string} text
 * @param {number} at
 */
function cut(text, at) {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

/**
 * @param {Line} line
 * @param {number} length 0 for no button
 */
function drawUnfold(line, length) {
  let button = line.row.querySelector(".unfold");
  if (length === 0) {
    button?.remove();
    return;
  }
  if (button === null) {
    button = element("button", "unfold");
    button.setAttribute("type", "button");
    button.setAttribute("tabindex", "-1");
    line.row.insertBefore(button, line.after);
  }
  button.textContent = line.whole ? "fold" : `all ${counted(length, "character")}`;
}

/** @param {Line} line */
function drawBadge(line) {
  const { badge, note } = line.node;
  line.after.replaceChildren();
  if (badge) {
    const mark = element("span", `badge ${badge.toLowerCase()}`);
    mark.append(badge.toLowerCase());
    line.after.append(mark);
  }
  if (note) {
    const remark = element("span", "note");
    remark.append(visible(note));
    line.after.append(remark);
  }
}

/**
 * @param {string} name
 * @param {string} kind
 */
function element(name, kind) {
  const made = document.createElement(name);
  made.className = kind;
  return made;
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

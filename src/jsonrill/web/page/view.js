/**
 * A tree of nodes → DOM: each change becomes the one operation that shows it, `Text.appendData` for
 * a string that grows. Text nodes only; nothing of a document is ever read as markup.
 *
 * What is drawn is bounded: long lists and strings are folded, and containers start closed once
 * there are many lines. Keys and screen readers find an ordinary tree (WAI-ARIA).
 */

import { make } from "./dom.js";
import { Follow } from "./follow.js";
import { frames } from "./frames.js";
import { Hands } from "./input.js";
import { Line, PAGE } from "./lines.js";
import { counted } from "./escaping.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree-node.js").Node} Node */

/** From so many lines on, and beyond the first page of a list, containers start closed. */
export const MOST_LINES = 3000;
const MOST_FLASHES = 24;

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
    this.top = make("ul", "tree");
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
    this._end = make("li", "caret-line");
    this._end.setAttribute("role", "none");
    this._end.setAttribute("aria-hidden", "true");
    this._flashing = flashes;
    this.follow = new Follow(scroller, follows);
    /** Whether something may now be further down than it was. */
    this._grew = false;
    this._flashes = 0;
    this._calm = matchMedia("(prefers-reduced-motion: reduce)");
    new Hands(this);
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
    const line = new Line(node, this._startsOpen(node));
    node.view = line;
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
    if (line.type !== node.type || line.version !== node.version) {
      this._empty(line);
      line.start = 0;
      line.limit = PAGE;
      line.retype();
    }
    this._grew = line.draw() || this._grew;
  }

  /** @param {Line} line */
  _empty(line) {
    if (line.group) {
      this.lines -= line.shown;
      this._keepPlace(line, line.group);
      line.group.remove();
    }
    line.group = line.more = line.less = null;
    line.shown = 0;
  }

  /**
   * Lines go: what was selected, focused or the tab stop among them is not left to nobody.
   * @param {Line} line
   * @param {HTMLElement} group
   */
  _keepPlace(line, group) {
    const chosen = /** @type {Line | null} */ (this.selected?.view ?? null);
    if (chosen && group.contains(chosen.item)) this.select(null);
    if (group.querySelector('[tabindex="0"]') || !this.top.querySelector('[tabindex="0"]')) {
      line.item.tabIndex = 0;
    }
    if (group.contains(document.activeElement)) line.item.focus({ preventScroll: true });
  }

  /**
   * Lines for the children that have none yet and are to be seen.
   * @param {Line} line
   * @param {number} until
   */
  _fill(line, until) {
    const { children } = line.node;
    const end = Math.min(children.length, line.limit) - line.start;
    if (line.shown === end && children.length <= line.limit && line.start === 0) return;
    const group = (line.group ??= this._group(line));
    for (; line.shown < end; line.shown += 1) {
      if ((line.shown & 15) === 15 && performance.now() > until) {
        this._queue.push(line.node);
        return;
      }
      const child = children[line.start + line.shown];
      const made = this._make(child);
      this._drawRow(made);
      group.insertBefore(made.item, line.more ?? this._endOf(group));
      if (child.children.length && made.open) this._queue.push(child);
    }
    this._drawFolds(line, group);
  }

  /** The caret, if it is in this list: everything else comes before it. @param {HTMLElement} group */
  _endOf(group) {
    return this._end.parentNode === group ? this._end : null;
  }

  /** @param {Line} line */
  _group(line) {
    const group = make("ul", "group");
    group.setAttribute("role", "group");
    line.item.append(group);
    return group;
  }

  /**
   * The lines that stand for those before and behind what is shown.
   * @param {Line} line
   * @param {HTMLElement} group
   */
  _drawFolds(line, group) {
    if (line.start > 0 && line.less === null) {
      line.less = fold(line, true);
      group.prepend(line.less);
    }
    if (line.less) line.less.textContent = folded(line.start, "before");
    const hidden = line.node.children.length - line.start - line.shown;
    if (hidden <= 0) {
      line.more?.remove();
      line.more = null;
      return;
    }
    if (line.more === null) {
      line.more = fold(line, false);
      group.insertBefore(line.more, this._endOf(group));
    }
    line.more.textContent = folded(hidden, "more");
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
      this.lines -= node.view.shown;
      node.view = null;
      for (const child of node.children) work.push(child);
    }
    this._empty(line);
  }

  /** Draw at once what opening has put into the queue. */
  _settle() {
    const paint = (/** @type {number} */ until) => this.paint(until);
    if (paint(performance.now() + 50)) frames.ask(paint);
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
      this._reach(line, next.index);
      if (line.open) this._fill(line, Infinity);
      else this.setOpen(up, true);
    }
    this._settle();
  }

  /**
   * Let a child be among those that are shown; far away from them, it takes their place.
   * @param {Line} line
   * @param {number} index
   */
  _reach(line, index) {
    if (index >= line.start && index < line.limit) return;
    const page = Math.floor(index / PAGE) * PAGE;
    if (index < line.start || page > line.limit) {
      this._forgetBelow(line);
      line.start = page;
    }
    line.limit = page + PAGE;
  }

  /**
   * The next of those that are not shown, or the ones before.
   * @param {Line} line
   * @param {boolean} before
   */
  showMore(line, before) {
    const first = before ? Math.max(0, line.start - PAGE) : line.start + line.shown;
    if (before) {
      this._forgetBelow(line);
      line.start = first;
    } else {
      line.limit += PAGE;
    }
    this._fill(line, Infinity);
    this._settle();
    const node = line.node.children[first];
    if (node) this.select(node, true);
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
      this.tabTo(line.item);
      if (focus) {
        this.follow.stop();
        line.item.focus({ preventScroll: true });
        this.follow.to(line.row);
      }
    }
    if (before !== node) this.onSelect(node);
  }

  /** @param {HTMLElement} item */
  tabTo(item) {
    this.top.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    item.tabIndex = 0;
  }

}

/**
 * @param {Line} line
 * @param {boolean} before
 */
function fold(line, before) {
  const made = make("li", "item more");
  made.setAttribute("role", "treeitem");
  made.setAttribute("aria-level", String(line.node.depth + 2));
  made.tabIndex = -1;
  /** @type {any} */ (made).foldOf = { line, before };
  return made;
}

/**
 * @param {number} hidden
 * @param {string} word
 */
function folded(hidden, word) {
  return `show ${Math.min(PAGE, hidden)} ${word} of ${counted(hidden, "value")}`;
}

/**
 * @param {Node} node
 * @returns {string}
 */
function placeOf(node) {
  return node.parent === null ? "" : `${placeOf(node.parent)}/${node.key}`;
}


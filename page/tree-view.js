/**
 * Draws a tree of nodes into the DOM. Each change becomes one DOM operation, `Text.appendData` for a
 * growing string. Only text nodes are used; nothing of a document is ever parsed as markup.
 *
 * What is drawn is bounded: long lists and strings are folded, and containers start closed once there
 * are many lines. Keyboard and screen readers find an ordinary WAI-ARIA tree.
 */

import { AutoScroll } from "./autoscroll.js";
import { make, setAttributes } from "./dom.js";
import { formatCount } from "./escaping.js";
import { frames } from "./frames.js";
import { TreeInput } from "./tree-input.js";
import { Line, PAGE } from "./tree-line.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */

/** Beyond this many lines, and beyond the first page of a list, containers start closed. */
const MAX_LINES = 3000;
/** A list that grows is shown with its last PAGE elements, and up to this many more. */
const STEP = 50;
const MAX_FLASHES = 24;
const FLASH = [{ backgroundColor: "var(--flash)" }, { backgroundColor: "transparent" }];

export class TreeView {
  /**
   * @param {HTMLElement} scroller
   * @param {Tree} tree
   * @param {{label: string, onSelect?: (node: TreeNode | null) => void, follows?: boolean,
   *   flashes?: boolean, scroll?: AutoScroll}} options
   */
  constructor(scroller, tree, { label, onSelect = () => {}, follows = true, flashes = true, scroll }) {
    this.tree = tree;
    this.top = make("ul", "tree");
    setAttributes(this.top, { role: "tree", "aria-label": label });
    scroller.replaceChildren(this.top);
    this.onSelect = onSelect;
    /** @type {TreeNode | null} */
    this.selected = null;
    this.level = Infinity;
    this.lines = 0;
    /** What the user opened or closed, by `placeOf`: kept when the tree is built again. */
    /** @type {Map<string, boolean>} */
    this._openedByUser = new Map();
    /** @type {TreeNode[]} */
    this._queue = [];
    this._version = tree.version;
    /** The line with the caret. @type {Line | null} */
    this._caret = null;
    /** The caret after the last child of an open container. */
    this._caretLine = make("li", "caret-line");
    setAttributes(this._caretLine, { role: "none", "aria-hidden": true });
    this.autoScroll = scroll ?? new AutoScroll(scroller, follows);
    /** True if there was a caret that was followed. */
    this._hadCaret = false;
    /** True if what grows may be at another place than before. */
    this._grew = false;
    this._flashLimit = flashes ? MAX_FLASHES : 0;
    this._flashes = 0;
    this._reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
    new TreeInput(this);
  }

  // ---- drawing ----

  /**
   * Draws what has changed, until this time. True if something is left.
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
    if (this._grew && this.autoScroll.on && this._caret) {
      this._hadCaret = true;
      this._grew = this.autoScroll.to(this._caretLine.parentNode ? this._caretLine : this._caret.row);
    } else {
      if (this._grew && this._hadCaret) this.autoScroll.toEnd();
      this._grew = false;
    }
    if (this.selected && !isThere(this.selected)) this.select(null);
    return this._queue.length > 0 || this._grew;
  }

  _restart() {
    this._version = this.tree.version;
    this._queue = [];
    for (const item of this.top.querySelectorAll(".item")) {
      const { line } = /** @type {any} */ (item);
      if (line) line.node.view = null;
    }
    this.lines = 0;
    this._caret = null;
    this._caretLine.remove();
    this.top.replaceChildren();
    if (this.selected) this.select(null);
  }

  /**
   * @param {TreeNode} node
   * @param {number} until
   */
  _draw(node, until) {
    let line = node.view;
    if (!node.exists) {
      // The parent removes the lines of its members that are not there yet; the root has none.
      if (node.parent === null && line !== null) this._restart();
      return;
    }
    if (line === null) {
      // Other lines are made by their parent, once they are to be visible.
      if (node.parent !== null) return;
      line = this._makeLine(node);
      line.item.tabIndex = 0;
      this.top.append(line.item);
    }
    this._drawRow(line);
    if (node.isContainer && line.open) this._fill(line, until);
  }

  /** @param {TreeNode} node */
  _makeLine(node) {
    const line = new Line(node, this._startsOpen(node));
    node.view = line;
    this.lines += 1;
    this._grew = true;
    return line;
  }

  /** @param {TreeNode} node */
  _startsOpen(node) {
    const chosen = this._openedByUser.size ? this._openedByUser.get(placeOf(node)) : undefined;
    if (chosen !== undefined || node.depth === 0) return chosen ?? true;
    // Of a long list that is followed, each element may be open while it grows.
    const isVisible = node.index < PAGE || (node.isOpen && this.autoScroll.on);
    return node.depth < this.level && isVisible && this.lines < MAX_LINES;
  }

  /** @param {Line} line */
  _drawRow(line) {
    const { node } = line;
    if (line.type !== node.type || line.version !== node.version) {
      this._removeGroup(line);
      line.pinned = false;
      line.start = 0;
      line.limit = PAGE;
      line.retype();
    }
    this._grew = line.draw() || this._grew;
  }

  /**
   * Removes the lines of the children. A selection among them is cleared; focus and tab stop move to
   * the parent.
   * @param {Line} line
   */
  _removeGroup(line) {
    const { group, item } = line;
    if (group) {
      this.lines -= line.shown;
      if (this.selected?.view && group.contains(this.selected.view.item)) this.select(null);
      const stop = this.top.querySelector('[tabindex="0"]');
      if (stop === null || group.contains(stop)) item.tabIndex = 0;
      if (group.contains(document.activeElement)) item.focus({ preventScroll: true });
      group.remove();
    }
    line.group = line.more = line.less = null;
    line.shown = 0;
  }

  /**
   * Makes the missing lines of the children that are to be visible, and removes those of children that
   * are not there.
   * @param {Line} line
   * @param {number} [until]
   */
  _fill(line, until = Infinity) {
    const { node } = line;
    const { members } = node;
    if (node.hasGone && line.group) this._removeBelow(line);
    this._slide(line, members);
    const end = Math.min(members.length, line.limit) - line.start;
    while (line.shown > Math.max(0, end)) this._removeLast(line);
    if (line.shown === end && members.length <= line.limit && line.start === 0 && !line.more) return;
    if (line.group === null) {
      if (members.length === 0) return;
      line.group = make("ul", "group");
      line.group.setAttribute("role", "group");
      line.item.append(line.group);
    }
    for (; line.shown < end; line.shown += 1) {
      if ((line.shown & 15) === 15 && performance.now() > until) {
        this._queue.push(line.node);
        return;
      }
      const child = members[line.start + line.shown];
      const childLine = this._makeLine(child);
      this._drawRow(childLine);
      line.group.insertBefore(childLine.item, line.more ?? this._caretIn(line.group));
      if (child.size && childLine.open) this._queue.push(child);
    }
    this._drawFolds(line, line.group, members.length);
  }

  /**
   * Lets the range of a list that grows follow its end; moves it back if the list has become shorter.
   * @param {Line} line
   * @param {TreeNode[]} members
   */
  _slide(line, { length }) {
    if (line.start > 0 && line.start >= length) {
      this._removeBelow(line);
      line.start = Math.max(0, length - PAGE);
      line.limit = line.start + PAGE;
    }
    const { node } = line;
    if (!(node.isOpen || node.followed) || line.pinned || !this.autoScroll.on) return;
    const count = length - line.start;
    const isShort = !node.isOpen && line.start > 0 && count < PAGE;
    // In steps, because removing the first lines one by one moves all others.
    if (count < PAGE + STEP && !(isShort && length >= PAGE)) {
      if (length > line.limit) line.limit = line.start + PAGE + STEP;
      return;
    }
    // More new elements than a frame can draw: the last ones are enough until it is calm.
    const isFlood = node.isOpen && count - line.shown > STEP;
    const start = length - (isFlood ? STEP : PAGE);
    node.followed = true;
    if (start - line.start >= line.shown || start < line.start) this._removeBelow(line);
    else for (let left = start - line.start; left > 0; left -= 1) this._removeFirst(line);
    line.start = start;
    line.limit = start + PAGE + STEP;
  }

  /** @param {Line} line */
  _removeFirst(line) {
    const first = /** @type {any} */ (line.less?.nextElementSibling ?? line.group?.firstElementChild);
    this._removeItem(line, first);
  }

  /** @param {Line} line */
  _removeLast(line) {
    const last = line.more ?? (line.group && this._caretIn(line.group));
    this._removeItem(line, last?.previousElementSibling ?? line.group?.lastElementChild);
  }

  /**
   * @param {Line} parent
   * @param {any} item the element of one of its members
   */
  _removeItem(parent, item) {
    parent.shown -= 1;
    this.lines -= 1;
    const line = /** @type {Line | undefined} */ (item?.line);
    if (!line) return;
    this._removeBelow(line);
    if (this.selected === line.node) this.select(null);
    if (item.tabIndex === 0) parent.item.tabIndex = 0;
    if (item === document.activeElement) parent.item.focus({ preventScroll: true });
    if (this._caret === line) this._caret = null;
    line.node.view = null;
    item.remove();
  }

  /**
   * The caret line if it is in this group: everything else is inserted before it.
   * @param {HTMLElement} group
   */
  _caretIn(group) {
    return this._caretLine.parentNode === group ? this._caretLine : null;
  }

  /**
   * Draws the lines that stand for the hidden children before and after.
   * @param {Line} line
   * @param {HTMLElement} group
   * @param {number} count of all members
   */
  _drawFolds(line, group, count) {
    if (line.start > 0) {
      if (line.less === null) group.prepend((line.less = fold(line, true)));
      line.less.textContent = foldText(line.start, "previous");
    } else {
      line.less?.remove();
      line.less = null;
    }
    const hidden = count - line.start - line.shown;
    if (hidden > 0) {
      line.more ??= group.insertBefore(fold(line, false), this._caretIn(group));
      line.more.textContent = foldText(hidden, "more");
    } else {
      line.more?.remove();
      line.more = null;
    }
  }

  _moveCaret() {
    let node = this.tree.growing;
    while (node?.view === null) node = node.parent;
    const line = node?.view ?? null;
    // The caret of an open container is after its last child, even if that child is folded.
    const group = line?.open ? line.group : null;
    if (line === this._caret && group === this._caretLine.parentNode) return;
    this._caret?.row.classList.remove("growing");
    this._caretLine.remove();
    // Back to an earlier moment no line is new, but another one grows.
    this._grew ||= line !== null;
    if (group) group.append(this._caretLine);
    else line?.row.classList.add("growing");
    this._caret = line;
  }

  /** Lets values that are new flash briefly, unless motion is unwanted. */
  _flash() {
    const { fresh } = this.tree;
    const quiet = this._reducedMotion.matches || document.hidden;
    for (const { view } of quiet ? [] : fresh) {
      if (this._flashes >= this._flashLimit) break;
      if (view === null) continue;
      this._flashes += 1;
      const animation = view.value.animate(FLASH, { duration: 900, easing: "ease-out" });
      animation.onfinish = animation.oncancel = () => {
        this._flashes -= 1;
      };
    }
    fresh.clear();
  }

  /** Follows what grows again, and shows the end of the lists that do. */
  followAgain() {
    this.autoScroll.start();
    for (let node = this.tree.growing; node !== null; node = node.parent) {
      if (node.view) node.view.pinned = false;
      this.tree.changed.add(node);
    }
    this._grew = true;
    this._paintNow();
  }

  // ---- opening and closing ----

  /**
   * @param {TreeNode} node
   * @param {boolean} open
   */
  setOpen(node, open) {
    const line = node.view;
    if (line === null || !node.isContainer || line.open === open) return;
    this._openedByUser.set(placeOf(node), open);
    line.open = open;
    line.item.setAttribute("aria-expanded", String(open));
    if (open) this._fill(line);
    else this._removeBelow(line);
    line.draw();
    this._paintNow();
  }

  /**
   * Removes all lines below one: what is not visible costs nothing.
   * @param {Line} line
   */
  _removeBelow(line) {
    const work = [...line.node.children];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      if (node.view === null) continue;
      this.lines -= node.view.shown;
      if (this._caret === node.view) this._caret = null;
      node.view = null;
      for (const child of node.children) work.push(child);
    }
    this._removeGroup(line);
  }

  /** Draws at once, and what takes longer in the next frames. */
  _paintNow() {
    const paint = (/** @type {number} */ until) => this.paint(until);
    if (paint(performance.now() + 50)) frames.request(paint);
  }

  /**
   * Opens everything down to this level, and closes what is below.
   * @param {number} level
   */
  setLevel(level) {
    this.level = level;
    this._openedByUser.clear();
    this._restart();
    if (this.tree.root) this._queue.push(this.tree.root);
    this._paintNow();
  }

  /**
   * Makes a node visible by opening everything above it.
   * @param {TreeNode} node
   */
  reveal(node) {
    const path = [node];
    for (let up = node.parent; up !== null; up = up.parent) path.push(up);
    for (let at = path.length - 1; at > 0; at -= 1) {
      const line = path[at].view;
      if (line === null) return;
      this._reach(line, path[at - 1].index);
      if (line.open) this._fill(line);
      else this.setOpen(path[at], true);
    }
    this._paintNow();
  }

  /**
   * Includes a child in the visible range; if it is far away, the range moves there.
   * @param {Line} line
   * @param {number} index
   */
  _reach(line, index) {
    line.pinned = true;
    if (index >= line.start && index < line.limit) return;
    const page = Math.floor(index / PAGE) * PAGE;
    if (index < line.start || page > line.limit) {
      this._removeBelow(line);
      line.start = page;
    }
    line.limit = page + PAGE;
  }

  /**
   * Shows the next hidden children, or the previous ones, and selects the first of them.
   * @param {Line} line
   * @param {boolean} before
   */
  showMore(line, before) {
    line.pinned = true;
    const first = before ? Math.max(0, line.start - PAGE) : line.start + line.shown;
    if (before) {
      this._removeBelow(line);
      line.start = first;
    } else {
      line.limit += PAGE;
    }
    this._fill(line);
    this._paintNow();
    const node = line.node.members[first];
    if (node) this.select(node, true);
  }

  // ---- selecting ----

  /**
   * @param {TreeNode | null} node
   * @param {boolean} [focus]
   */
  select(node, focus = false) {
    const before = this.selected;
    before?.view?.item.setAttribute("aria-selected", "false");
    this.selected = node;
    const line = node?.view;
    if (line) {
      line.item.setAttribute("aria-selected", "true");
      this.setTabStop(line.item);
    }
    if (line && focus) {
      this.autoScroll.stop();
      line.item.focus({ preventScroll: true });
      this.autoScroll.to(line.row);
    }
    if (before !== node) this.onSelect(node);
  }

  /** @param {HTMLElement} item */
  setTabStop(item) {
    this.top.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    item.tabIndex = 0;
  }
}

/**
 * Makes the line that stands for hidden children.
 * @param {Line} line
 * @param {boolean} before
 */
function fold(line, before) {
  const item = make("li", "item more");
  setAttributes(item, { role: "treeitem", "aria-level": line.node.depth + 2, tabindex: -1 });
  /** @type {any} */ (item).foldOf = { line, before };
  return item;
}

/**
 * @param {number} hidden
 * @param {string} which
 */
function foldText(hidden, which) {
  return `show ${Math.min(PAGE, hidden)} ${which} of ${formatCount(hidden, "hidden value")}`;
}

/**
 * True if a node and all around it exist at the time of the clock.
 * @param {TreeNode} node
 */
function isThere(node) {
  for (let up = /** @type {TreeNode | null} */ (node); up !== null; up = up.parent) {
    if (!up.exists) return false;
  }
  return true;
}

/**
 * The keys from the root to a node, as one string.
 * @param {TreeNode} node
 * @returns {string}
 */
function placeOf(node) {
  return node.parent === null ? "" : `${placeOf(node.parent)}/${node.key}`;
}

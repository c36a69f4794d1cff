/** The view "Tree": the document at the moment that is shown. */

import { Outline, startOf } from "./outline.js";
import { Tree } from "./tree.js";
import { TreePane } from "./tree-pane.js";
import { registerView } from "./views.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */
/** @typedef {import("./views.js").Stage} Stage */

export class DocumentView {
  /** @type {Recording | null} */
  _recording = null;
  /** The tree of the last snapshot. */
  _snapshot = new Tree();
  _shown = -1;
  _isEndShown = false;

  /**
   * @param {HTMLElement} panel
   * @param {Stage} stage
   */
  constructor(panel, stage) {
    this.stage = stage;
    this.pane = new TreePane(panel, {
      number: 1,
      announce: stage.announce,
      onSelect: (node) => stage.link("selected", this._rangeOf(node), node !== null),
      onHover: (node) => stage.link("hovered", this._rangeOf(node), false),
    });
  }

  /** @param {Recording} recording */
  suits(recording) {
    return recording.input !== "events" || recording.hasDocument;
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._snapshot = new Tree();
    this._shown = -1;
    this._isEndShown = false;
    if (recording === null) this.pane.begin(null);
    else if (recording.input === "snapshots") this.pane.begin(this._snapshot);
    else {
      // Lines of another view of the same recording are not ours.
      recording.outline.restart();
      this.pane.begin(recording.outline);
    }
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    if (recording.input === "snapshots") this._showSnapshot(recording, position);
    else recording.outline.moveTo(position);
    this._shown = position;
    const isEnd = recording.ended && position >= recording.length;
    const left = this.pane.draw(until, isEnd);
    if (isEnd && !left && !this._isEndShown) this._showEnd(recording);
    this._isEndShown = isEnd && !left;
    return left;
  }

  /**
   * Shows the value in which the text is wrong; says so if there is no value.
   * @param {Recording} recording
   */
  _showEnd({ outline, textErrors }) {
    const { view } = this.pane;
    if (view?.tree.root === null) {
      return this.pane.showBlank(
        textErrors.length > 0 ? "No value was read before the error." : "There is no JSON value in this stream.",
      );
    }
    const offset = textErrors[0]?.offset ?? null;
    const node = offset === null || !view ? null : outline.nodeAt(Math.min(offset, outline.source.length - 1));
    if (node === null || !view) return undefined;
    view.reveal(node);
    if (node.view) view.autoScroll.to(node.view.row);
    return undefined;
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   */
  _showSnapshot(recording, position) {
    const tree = this._snapshot;
    if (this._shown === position) return;
    const value = recording.valueAt(position);
    if (value === undefined) tree.clear();
    else tree.set(value);
    tree.growAt(recording.growingAt(position));
  }

  /**
   * @param {TreeNode | null} node
   * @returns {[number, number] | null}
   */
  _rangeOf(node) {
    const tree = this.pane.view?.tree;
    if (node === null || !(tree instanceof Outline) || node.start < 0) return null;
    return [startOf(node), tree.endOf(node)];
  }

  /**
   * Selects the value that has this character.
   * @param {number} offset
   */
  selectAt(offset) {
    const node = this._nodeAt(offset);
    if (node) this.selectNode(node);
  }

  /** @param {TreeNode} node */
  selectNode(node) {
    const { view } = this.pane;
    view?.reveal(node);
    view?.select(node);
    view?.autoScroll.stop();
    if (node.view) view?.autoScroll.to(node.view.row);
  }

  /**
   * @param {import("../js/src/paths.js").Path} path
   */
  selectPath(path) {
    const tree = this.pane.view?.tree;
    const top = tree instanceof Outline && tree.many ? tree.root?.child(path[0] ?? 0) : tree?.root;
    const node = tree?.nearest(tree instanceof Outline && tree.many ? path.slice(1) : path, top ?? null);
    if (node?.exists) this.selectNode(node);
  }

  /**
   * Marks the line of the value that has this character, if it is in the page.
   * @param {number | null} offset
   */
  hoverAt(offset) {
    this.pane.panel.querySelector(".linked")?.classList.remove("linked");
    let node = offset === null ? null : this._nodeAt(offset);
    while (node && !node.view) node = node.parent;
    node?.view?.item.classList.add("linked");
    return this._rangeOf(node);
  }

  /** @param {number} offset */
  _nodeAt(offset) {
    const tree = this.pane.view?.tree;
    const node = tree instanceof Outline ? tree.nodeAt(offset) : null;
    return node?.exists ? node : null;
  }
}

registerView({
  id: "tree",
  label: "Tree",
  order: 10,
  mount: (panel, stage) => new DocumentView(panel, stage),
});

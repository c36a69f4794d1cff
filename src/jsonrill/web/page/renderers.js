/**
 * One renderer for each format: takes the data of its events and draws a tree, a text or cards.
 *
 * All have `add(data)`, `end()`, `clear()`, `paint(until)`, `isEmpty`. Only they know what an event of
 * their format contains.
 */

import { Cards } from "./cards.js";
import { errorOf } from "./errors.js";
import { FragmentError, WireReader } from "../lib/fragments.js";
import { TextView } from "./textview.js";
import { Tree } from "./tree.js";
import { parse } from "../lib/json.js";
import { isObject } from "../lib/values.js";
import { TreeView } from "./view.js";

/** A reader of fragments that keeps every digit of a number, to be shown. */
const newReader = () => new WireReader("jsonrill", "exact");

/** @typedef {import("./errors.js").StreamError} StreamError */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */
/** @typedef {(view: TreeView, node: TreeNode | null) => void} OnSelect */
/** @typedef {{onError: (error: StreamError) => void, onSelect: OnSelect, many: boolean}} Options */

/** Base of the renderers that draw one tree. */
export class TreeRenderer extends TreeView {
  /** How many fragments were invalid and left out. */
  rejected = 0;

  /**
   * @param {HTMLElement} element
   * @param {Options} options
   */
  constructor(element, options) {
    super(element, new Tree(), {
      label: "The document",
      onSelect: (node) => options.onSelect(this, node),
    });
    this._onError = options.onError;
  }

  get isEmpty() {
    return this.tree.root === null;
  }

  clear() {
    this.tree.clear();
    this.rejected = 0;
  }

  end() {
    this.tree.growAtEnd(null);
  }
}

class FragmentsRenderer extends TreeRenderer {
  _reader = newReader();

  /**
   * @param {HTMLElement} element
   * @param {Options} options
   */
  constructor(element, options) {
    super(element, options);
    this._many = options.many;
    this.clear();
  }

  clear() {
    super.clear();
    this._reader = newReader();
    if (!this._many) return;
    this.tree.holds = "documents";
    this.tree.beginMany();
  }

  /** @param {string} data */
  add(data) {
    const items = parse(data);
    const error = errorOf(items);
    if (Array.isArray(items)) for (const item of items) this._apply(item);
    else if (error !== null) this._fail(error);
  }

  /** @param {StreamError} error */
  _fail(error) {
    const { tree } = this;
    let top = tree.root;
    if (this._many) {
      // An error before the first fragment of a document belongs to none of those in the tree.
      top = (this._reader.started && top?.children.at(-1)) || null;
      this._reader = newReader();
    }
    const node = tree.nearest(error.path, top);
    if (node !== null) tree.mark(node, "ERROR");
    if (this._many) tree.breakOff();
    else tree.growAtEnd(null);
    this._onError(error);
  }

  /** @param {unknown} item */
  _apply(item) {
    try {
      const fragment = this._reader.read(item);
      if (fragment === null) return;
      if (fragment.kind === "JsonComplete" && this._many) this._reader = newReader();
      else this.tree.apply(fragment);
    } catch (error) {
      if (!(error instanceof FragmentError)) throw error;
      this.rejected += 1;
    }
  }
}

class UpdatesRenderer extends TreeRenderer {
  /**
   * @param {HTMLElement} element
   * @param {Options} options
   */
  constructor(element, options) {
    super(element, options);
    this.tree.holds = "entities";
  }

  /** @param {string} data */
  add(data) {
    const update = /** @type {any} */ (parse(data));
    if (!isObject(update)) return;
    const node = this.tree.entry(nameOf(update));
    if (update.data !== undefined) this.tree.assign(node, update.data);
    else if (Array.isArray(update.delta)) this.tree.change(node, update.delta);
    const error = errorOf(update);
    this.tree.mark(node, String(update.status), error?.message);
    this.tree.growAtEnd(update.status === "PARTIAL" ? node : null);
    if (error !== null) this._onError({ ...error, isPlaced: true });
  }
}

/** @param {{[key: string]: any}} update */
function nameOf({ entity, index }) {
  if (index === undefined) return entity === undefined ? "error" : String(entity);
  return entity === undefined ? `#${index}` : `${entity} #${index}`;
}

class ChunksRenderer extends TextView {
  /**
   * @param {HTMLElement} element
   * @param {Options} options
   */
  constructor(element, { onError }) {
    super(element, { style: "piece" });
    element.classList.add("text");
    this._onError = onError;
  }

  get isEmpty() {
    return this.text === "";
  }

  /** @param {string} data */
  add(data) {
    const chunk = parse(data);
    const error = errorOf(chunk);
    if (error !== null) this._onError(error);
    else super.add(typeof chunk === "string" ? chunk : data);
  }
}

export const RENDERERS = {
  fragments: FragmentsRenderer,
  updates: UpdatesRenderer,
  chunks: ChunksRenderer,
  calls: Cards,
};

/**
 * What a format looks like: the data of its events in, a tree, a text or cards out.
 *
 * One class for each, all with the same shape: `take(data)`, `end()`, `clear()`, `paint(until)`. What
 * an event says is known here alone.
 */

import { Cards } from "./cards.js";
import { FragmentError, WireReader } from "../lib/fragments.js";
import { PathError, parsePath } from "../lib/paths.js";
import { TextView } from "./textview.js";
import { Tree } from "./tree.js";
import { parse } from "../lib/json.js";
import { isObject } from "../lib/values.js";
import { TreeView } from "./view.js";

/** @typedef {import("./tree-node.js").Node} Node */
/** @typedef {{code: string, message: string}} Problem */
/** @typedef {{problem: Problem, offset: number | null, path: import("../lib/paths.js").Path,
 *   placed?: boolean}} Fault `placed`: it is shown beside what it is about */
/** @typedef {(view: TreeView, node: Node | null) => void} OnSelect */

/**
 * The error of an event, and where it is: what its fields say. Its message is for people alone.
 * @param {any} data
 * @returns {Fault | null}
 */
export function faultOf(data) {
  if (!isObject(data) || data.status !== "ERROR" || !isObject(data.error)) return null;
  const { code, message, offset, path } = data.error;
  return {
    problem: { code: String(code), message: String(message) },
    offset: Number.isSafeInteger(offset) && offset >= 0 ? offset : null,
    path: typeof path === "string" ? pathOf(path) : [],
  };
}

/** @param {string} text */
function pathOf(text) {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof PathError) return [];
    throw error;
  }
}

/** A tree, and what is common to those who show one. */
class TreeShow {
  /**
   * @param {HTMLElement} place
   * @param {{onFault: (fault: Fault) => void, onSelect: OnSelect}} options
   */
  constructor(place, options) {
    this.place = place;
    this.onFault = options.onFault;
    this.tree = new Tree();
    this.view = new TreeView(place, this.tree, {
      label: "The document",
      onSelect: (node) => options.onSelect(this.view, node),
    });
    this.misfits = 0;
  }

  get size() {
    return this.tree.size;
  }

  clear() {
    this.tree.clear();
    this.misfits = 0;
  }

  end() {
    this.tree.growAtEnd(null);
  }

  /** @param {number} until */
  paint(until) {
    return this.view.paint(until);
  }
}

export class FragmentsShow extends TreeShow {
  _reader = new WireReader("jsonrill", "exact");

  /**
   * @param {HTMLElement} place
   * @param {{onFault: (fault: Fault) => void, onSelect: OnSelect, many: boolean}} options
   */
  constructor(place, options) {
    super(place, options);
    this._many = options.many;
    this.clear();
  }

  clear() {
    super.clear();
    this._reader = new WireReader("jsonrill", "exact");
    if (!this._many) return;
    this.tree.holds = "documents";
    this.tree.beginMany();
  }

  /** @param {string} data */
  take(data) {
    const items = parse(data);
    if (Array.isArray(items)) {
      for (const item of items) this._apply(item);
      return;
    }
    const fault = faultOf(items);
    if (fault === null) return;
    const from = this._many ? this._broken() : this.tree.root;
    const node = from && this.tree.nearest(fault.path, from);
    if (node !== null) this.tree.mark(node, "ERROR");
    if (this._many) this.tree.breakOff();
    else this.tree.growAtEnd(null);
    this.onFault(fault);
  }

  /** The document that ends with an error, if anything came of it; another reader for the next. */
  _broken() {
    const begun = this._reader.started;
    this._reader = new WireReader("jsonrill", "exact");
    return begun ? (this.tree.root?.children.at(-1) ?? null) : null;
  }

  /** @param {unknown} item */
  _apply(item) {
    try {
      const fragment = this._reader.read(item);
      if (fragment === null) return;
      if (fragment.kind === "JsonComplete" && this._many) this._reader = new WireReader("jsonrill", "exact");
      else this.tree.apply(fragment);
    } catch (error) {
      if (!(error instanceof FragmentError)) throw error;
      this.misfits += 1;
    }
  }
}

export class UpdatesShow extends TreeShow {
  /**
   * @param {HTMLElement} place
   * @param {{onFault: (fault: Fault) => void, onSelect: OnSelect}} options
   */
  constructor(place, options) {
    super(place, options);
    this.tree.holds = "entities";
  }

  /** @param {string} data */
  take(data) {
    const update = /** @type {any} */ (parse(data));
    if (!isObject(update)) return;
    const node = this.tree.entry(nameOf(update));
    if (update.data !== undefined) this.tree.assign(node, update.data);
    else if (Array.isArray(update.delta)) this.tree.change(node, update.delta);
    const fault = faultOf(update);
    this.tree.mark(node, String(update.status), fault?.problem.message ?? "");
    this.tree.growAtEnd(update.status === "PARTIAL" ? node : null);
    if (fault !== null) this.onFault({ ...fault, placed: true });
  }
}

/** @param {{[key: string]: any}} update */
function nameOf({ entity, index }) {
  if (index === undefined) return entity === undefined ? "error" : String(entity);
  return entity === undefined ? `#${index}` : `${entity} #${index}`;
}

export class ChunksShow {
  /**
   * @param {HTMLElement} place
   * @param {{onFault: (fault: Fault) => void, style?: import("./textview.js").Style}} options
   */
  constructor(place, { onFault, style = "pieces" }) {
    this.place = place;
    place.classList.add("text");
    this.onFault = onFault;
    this.text = new TextView(place, { style });
    this.misfits = 0;
  }

  get size() {
    return this.text.text.length;
  }

  clear() {
    this.text.clear();
  }

  end() {
    this.text.end();
  }

  /** @param {string} data */
  take(data) {
    const piece = parse(data);
    const fault = faultOf(piece);
    if (typeof piece === "string") this.text.add(piece);
    else if (fault !== null) this.onFault(fault);
    else this.text.add(data);
  }

  /** @param {number} until */
  paint(until) {
    return this.text.paint(until);
  }
}

export class CallsShow {
  /**
   * @param {HTMLElement} place
   * @param {{onFault: (fault: Fault) => void, onSelect: OnSelect}} options
   */
  constructor(place, { onFault, onSelect }) {
    this.place = place;
    this.onFault = onFault;
    this._cards = new Cards(place, onSelect, (problem) =>
      onFault({ problem, offset: null, path: [], placed: true }),
    );
    this.misfits = 0;
  }

  get size() {
    return this._cards.size;
  }

  clear() {
    this._cards.clear();
  }

  end() {
    this._cards.end();
  }

  /** @param {string} data */
  take(data) {
    const event = parse(data);
    const fault = faultOf(event);
    if (fault !== null) this.onFault(fault);
    else this._cards.take(event);
  }

  /** @param {number} until */
  paint(until) {
    return this._cards.paint(until);
  }
}

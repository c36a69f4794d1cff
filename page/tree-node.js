/** One value of a growing document: its type, text, children and path. Knows nothing of the DOM. */

import { countWhile } from "./growth.js";
import { toPointer, formatPath } from "../js/src/paths.js";
import { isObject, put } from "../js/src/parse/values.js";

/** @typedef {import("../js/src/paths.js").Path} Path */
/** @typedef {"object" | "array" | "string" | "number" | "boolean" | "null"} Type */

/** The clock of a tree without a past: everything in it is there. */
const ALWAYS = { now: Infinity };

export class TreeNode {
  /**
   * @param {TreeNode | null} parent
   * @param {string | number} key
   * @param {Type} type
   */
  constructor(parent, key, type) {
    this.parent = parent;
    this.key = key;
    this.type = type;
    /** @type {number} */
    this.depth = parent === null ? 0 : parent.depth + 1;
    this.index = parent === null ? 0 : parent.children.length;
    /** Increases when the children are replaced: a view then redraws them. */
    this.version = 0;
    /** The text of a string, or the spelling of a number or literal. */
    this.text = "";
    /** True while the value is not complete. */
    this.open = false;
    /** @type {TreeNode[]} */
    this.children = [];
    /** The children of an object, once it has one. @type {Map<string, TreeNode> | null} */
    this.byKey = null;
    /** The value last assigned; the same object again needs no comparison. @type {any} */
    this.source = undefined;
    /** A status and a message shown beside the value. */
    this.badge = "";
    this.note = "";
    /** True where paths begin: each entity and each document has paths of its own. */
    this.isRoot = parent === null;
    // The past, in pieces: see outline.js.
    this.clock = ALWAYS;
    this.born = 0;
    this.closed = Infinity;
    this.gone = Infinity;
    this.brokenAt = Infinity;
    this.markedAt = 0;
    /** True if a view showed the end of this list while it grew. */
    this.followed = false;
    /** True if a member was replaced by a later one of the same key. */
    this.hasGone = false;
    /** How the text of a string grew. @type {import("./growth.js").Growth | null} */
    this.growth = null;
    // The characters of the text that are this value, and where its key begins; -1: not known.
    this.start = -1;
    this.end = -1;
    this.keyStart = -1;
    /** The line that shows this node, if it has one. @type {import("./tree-line.js").Line | null} */
    this.view = null;
  }

  get isContainer() {
    return this.type === "object" || this.type === "array";
  }

  /** True if there is such a value at the time of the clock. */
  get exists() {
    const { now } = this.clock;
    return now === Infinity || (this.born <= now && this.gone > now);
  }

  /** True while the value is not complete, at the time of the clock. */
  get isOpen() {
    const { now } = this.clock;
    return now === Infinity ? this.open : this.closed > now && this.brokenAt > now;
  }

  /** The text at the time of the clock. */
  get shown() {
    return this.textAt(this.clock.now);
  }

  /** @param {number} piece */
  textAt(piece) {
    return this.growth === null ? this.text : this.growth.at(piece);
  }

  /**
   * How many children there were after this many pieces, those that are gone included.
   * @param {number} piece
   */
  sizeAt(piece) {
    const { children } = this;
    const { length } = children;
    if (length === 0 || children[length - 1].born <= piece) return length;
    return countWhile(children, (child) => child.born <= piece);
  }

  /** The children at the time of the clock. */
  get members() {
    const { children } = this;
    const { now } = this.clock;
    const count = this.sizeAt(now);
    if (!this.hasGone) return count === children.length ? children : children.slice(0, count);
    return children.slice(0, count).filter((child) => child.gone > now);
  }

  /** The number of `members`. */
  get size() {
    return this.hasGone ? this.members.length : this.sizeAt(this.clock.now);
  }

  /** The mark beside the value at the time of the clock. */
  get shownBadge() {
    return this.markedAt <= this.clock.now ? this.badge : "";
  }

  /** @param {string | number} key */
  child(key) {
    return this.type === "array" ? this.children[Number(key)] : this.byKey?.get(String(key));
  }

  /** @returns {Path} */
  get path() {
    /** @type {Path} */
    const path = [];
    for (let node = /** @type {TreeNode} */ (this); !node.isRoot && node.parent; node = node.parent) {
      path.push(node.key);
    }
    return path.reverse();
  }

  get pathText() {
    return formatPath(this.path);
  }

  get pointer() {
    return toPointer(this.path);
  }

  /** The JavaScript value of this node and everything below it. */
  get value() {
    const root = ownValue(this);
    /** @type {[TreeNode, any][]} */
    const work = [[this, root]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [node, holder] = next;
      for (const child of node.members) {
        const value = ownValue(child);
        put(holder, String(child.key), value);
        work.push([child, value]);
      }
    }
    return root;
  }
}

/**
 * The value of a node without its children.
 * @param {TreeNode} node
 */
function ownValue(node) {
  if (node.type === "object") return {};
  if (node.type === "array") return [];
  if (node.type === "string") return node.shown;
  if (node.type === "number") return node.source ?? Number(node.text);
  return node.type === "null" ? null : node.text === "true";
}

/**
 * @param {any} value
 * @returns {Type}
 */
export function typeOf(value) {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return "number";
  if (isObject(value)) return "object";
  return typeof value === "string" ? "string" : "boolean";
}

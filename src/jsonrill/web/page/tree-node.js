/** One value of a growing document: its type, text, children and path. Knows nothing of the DOM. */

import { toPointer, formatPath } from "../lib/paths.js";
import { ExactNumber, isObject, put } from "../lib/values.js";

/** @typedef {import("../lib/paths.js").Path} Path */
/** @typedef {"object" | "array" | "string" | "number" | "boolean" | "null"} Type */

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
    /** The line that shows this node, if it has one. @type {import("./lines.js").Line | null} */
    this.view = null;
  }

  get isContainer() {
    return this.type === "object" || this.type === "array";
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
      for (const child of node.children) {
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
  if (node.type === "string") return node.text;
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
  if (value instanceof ExactNumber || typeof value === "number") return "number";
  if (isObject(value)) return "object";
  return typeof value === "string" ? "string" : "boolean";
}

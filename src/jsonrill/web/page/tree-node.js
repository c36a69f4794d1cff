/** One value of a document that grows: its type, its text, its children, its place. No DOM. */

import { toPointer, formatPath } from "../lib/paths.js";
import { ExactNumber, isObject, put } from "../lib/values.js";

/** @typedef {import("../lib/paths.js").Path} Path */
/** @typedef {"object" | "array" | "string" | "number" | "boolean" | "null"} Type */

export class Node {
  /**
   * @param {Node | null} parent
   * @param {string | number} key
   * @param {Type} type
   */
  constructor(parent, key, type) {
    this.parent = parent;
    this.key = key;
    this.type = type;
    /** @type {number} */
    this.depth = parent === null ? 0 : parent.depth + 1;
    this.index = 0;
    /** Counts how often its children were replaced: a view then begins again below it. */
    this.version = 0;
    /** The text of a string or the spelling of a number or literal. */
    this.text = "";
    this.open = false;
    /** @type {Node[]} */
    this.children = [];
    /** @type {Map<string | number, Node> | null} */
    this.byKey = null;
    /** The value that was last shown here, to know it again. @type {any} */
    this.source = undefined;
    /** A word and a remark that stand beside the value. */
    this.badge = "";
    this.note = "";
    /** Whether paths begin here: an entity is the root of its own. */
    this.isRoot = parent === null;
    /** What a view keeps for it. @type {any} */
    this.view = null;
  }

  get isContainer() {
    return this.type === "object" || this.type === "array";
  }

  /** @param {string | number} key */
  child(key) {
    if (this.type === "array") return this.children[Number(key)];
    return this.byKey?.get(String(key));
  }

  /** @returns {Path} */
  get path() {
    /** @type {Path} */
    const path = [];
    for (let node = /** @type {Node} */ (this); !node.isRoot && node.parent; node = node.parent) {
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

  /** The value of it and of all below it, as JavaScript has it. */
  get value() {
    const root = ownValue(this);
    /** @type {[Node, any][]} */
    const work = [[this, root]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [node, holder] = next;
      if (!node.isContainer) continue;
      for (const child of node.children) {
        const value = ownValue(child);
        if (Array.isArray(holder)) holder.push(value);
        else put(holder, String(child.key), value);
        work.push([child, value]);
      }
    }
    return root;
  }
}

/** @param {Node} node */
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

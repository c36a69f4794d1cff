/**
 * A document as a tree of nodes: takes values, and records which nodes changed.
 *
 * Knows nothing of the DOM. A value costs what it changes, not the size of the document. Fields keep
 * the order in which they arrived, whatever their keys. `outline.js` is such a tree of a text.
 */

import { TreeNode, typeOf } from "./tree-node.js";

/** @typedef {import("../js/src/paths.js").Path} Path */
/** @typedef {import("./tree-node.js").Type} Type */

export class Tree {
  constructor() {
    /** @type {TreeNode | null} */
    this.root = null;
    /** Nodes whose own line has to be redrawn. @type {Set<TreeNode>} */
    this.changed = new Set();
    /** Nodes that are new or have another value; a view highlights them. @type {Set<TreeNode>} */
    this.fresh = new Set();
    /** The value that is not complete yet. @type {TreeNode | null} */
    this.growing = null;
    /** The open containers and string, outermost first. @type {TreeNode[]} */
    this._stack = [];
    this._key = "";
    /** Increases when the tree is cleared: a view then starts over. */
    this.version = 0;
    /** The label of a root that only collects documents or entities; `""` for an ordinary root. */
    this.holds = "";
  }

  clear() {
    const { version, holds } = this;
    Object.assign(this, new Tree(), { version: version + 1, holds });
  }

  /** The innermost open value; there is one whenever it is needed. */
  get _top() {
    return this._stack[this._stack.length - 1];
  }

  /**
   * Adds a value where the text is.
   * @param {Type} type
   */
  _add(type) {
    const parent = this._top;
    if (parent === undefined) return this._newRoot(type);
    return this._put(parent, parent.type === "array" ? parent.children.length : this._key, type);
  }

  /** @param {Type} type */
  _newRoot(type) {
    if (this.root !== null) this.version += 1;
    this.root = new TreeNode(null, this.holds, type);
    this._touch(this.root);
    return this.root;
  }

  /**
   * Adds a field or element, or resets the one that is there.
   * @param {TreeNode} parent
   * @param {string | number} key
   * @param {Type} type
   */
  _put(parent, key, type) {
    const old = parent.child(key);
    if (old !== undefined) {
      this._retype(old, type);
      return old;
    }
    const node = new TreeNode(parent, key, type);
    node.isRoot = this.holds !== "" && parent === this.root;
    parent.children.push(node);
    if (parent.type === "object") (parent.byKey ??= new Map()).set(String(key), node);
    this._touch(node);
    this._grew(parent);
    return node;
  }

  /**
   * A container has one more member.
   * @param {TreeNode} parent
   */
  _grew(parent) {
    this.changed.add(parent);
  }

  /**
   * @param {TreeNode} node
   * @param {Type} type
   */
  _retype(node, type) {
    node.type = type;
    node.text = "";
    node.source = undefined;
    if (node.children.length) node.version += 1;
    node.children = [];
    node.byKey = null;
    this._touch(node);
  }

  /** @param {TreeNode} node */
  _touch(node) {
    this.changed.add(node);
    this.fresh.add(node);
  }

  /** @param {TreeNode | null} node */
  _setGrowing(node) {
    if (this.growing === node) return;
    if (this.growing !== null) this.changed.add(this.growing);
    this.growing = node;
    if (node !== null) this.changed.add(node);
  }

  /**
   * Assigns a value to the root.
   * @param {any} value
   */
  set(value) {
    this.assign(this.root ?? this._newRoot(typeOf(value)), value);
  }

  /**
   * The field of this name of a root that collects entities; added if it is missing.
   * @param {string} name
   */
  entry(name) {
    const root = this.root ?? this._newRoot("object");
    return root.child(name) ?? this._put(root, name, "null");
  }

  /**
   * Assigns a value to a node, and touches only the nodes that differ.
   * @param {TreeNode} top
   * @param {any} goal
   */
  assign(top, goal) {
    /** @type {[TreeNode, any][]} */
    const work = [[top, goal]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [node, value] = next;
      const type = typeOf(value);
      if (node.type !== type) this._retype(node, type);
      if (!node.isContainer) {
        this._setLeaf(node, value);
      } else if (node.source !== value) {
        node.source = value;
        this._setMembers(node, value, work);
      }
    }
  }

  /**
   * @param {TreeNode} node
   * @param {any} value
   * @param {[TreeNode, any][]} work
   */
  _setMembers(node, value, work) {
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    // A container that lost a member is rebuilt; growing ones never are.
    const kept = keys.filter((key) => node.child(key)).length;
    if (kept < node.children.length) this._retype(node, node.type);
    for (const key of keys) {
      const item = value[key];
      work.push([node.child(key) ?? this._put(node, key, typeOf(item)), item]);
    }
  }

  /**
   * @param {TreeNode} node
   * @param {any} value
   */
  _setLeaf(node, value) {
    const text = String(value);
    if (node.text === text) return;
    // A string that continues is not a new value: it is redrawn but not highlighted.
    if (node.type === "string" && node.text !== "") this.changed.add(node);
    else this._touch(node);
    node.text = text;
    if (node.type === "number") node.source = value;
  }

  /**
   * Marks the value at a path, below a node, as growing; null marks none.
   * @param {Path | null} path
   * @param {TreeNode | null} [top]
   */
  growAt(path, top = this.root) {
    this._setGrowing(path === null ? null : this.nearest(path, top));
  }

  /**
   * Sets the status, and optionally the message, shown beside a value.
   * @param {TreeNode} node
   * @param {string} badge
   * @param {string} [note]
   */
  mark(node, badge, note = "") {
    if (node.badge === badge && node.note === note) return;
    node.badge = badge;
    node.note = note;
    this.changed.add(node);
  }

  /**
   * The node at a path, or its closest ancestor that exists.
   * @param {Path} path
   * @param {TreeNode | null} [from]
   */
  nearest(path, from = this.root) {
    let node = from;
    for (const key of path) {
      const next = node?.child(key);
      if (next === undefined) break;
      node = next;
    }
    return node;
  }

  /** Yields every node in document order, parents first. */
  *nodes() {
    /** @type {TreeNode[]} */
    const work = this.root === null || !this.root.exists ? [] : [this.root];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      yield node;
      const { members } = node;
      for (let at = members.length - 1; at >= 0; at -= 1) work.push(members[at]);
    }
  }
}

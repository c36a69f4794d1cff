/**
 * A document as nodes that grow: fragments, deltas or whole values in; which nodes changed, out.
 *
 * No DOM is known here. A fragment, an operation of a delta or a value costs what it changes, never
 * the size of the document. Members keep the order in which they came, whatever their keys.
 */

import { Node, typeOf } from "./tree-node.js";

/** @typedef {import("../lib/paths.js").Path} Path */
/** @typedef {import("./tree-node.js").Type} Type */
/** @typedef {{kind: string, text?: string, value?: any}} FragmentLike */
/** @typedef {{op: string, path: string, value: any}} Operation */

export class Tree {
  constructor() {
    /** @type {Node | null} */
    this.root = null;
    /** Nodes whose own line has to be drawn again. @type {Set<Node>} */
    this.changed = new Set();
    /** Nodes that are new or have another value; for a view that shows that. @type {Set<Node>} */
    this.fresh = new Set();
    /** The value that is still being written. @type {Node | null} */
    this.growing = null;
    this.size = 0;
    this.complete = false;
    /** @type {Node[]} */
    this._stack = [];
    this._key = "";
    /** Counts how often everything was forgotten: a view then begins again. */
    this.version = 0;
    /** The name of a root that only holds documents; `""` for a root that is one. */
    this.holds = "";
  }

  clear() {
    this.root = null;
    this.changed.clear();
    this.fresh.clear();
    this.growing = null;
    this.size = 0;
    this.complete = false;
    this._stack = [];
    this._key = "";
    this.version += 1;
  }

  // ---- fragments ----

  /** Fragments of several documents follow: each becomes an element of the root. */
  beginMany() {
    this._begin("array");
  }

  /**
   * One fragment, in order. Whether it fits was judged before.
   * @param {FragmentLike} fragment
   */
  apply(fragment) {
    switch (fragment.kind) {
      case "StartObject":
        return this._begin("object");
      case "StartArray":
        return this._begin("array");
      case "StartString":
        return this._begin("string");
      case "Key":
        this._key = fragment.value;
        return;
      case "PartialString":
        return this._append(fragment.text ?? "");
      case "CompleteString":
        return this._endString(fragment.value);
      case "CompleteNumber":
        return this._leaf("number", fragment.text ?? fragment.value, fragment.value);
      case "CompleteBoolean":
        return this._leaf("boolean", fragment.value);
      case "CompleteNull":
        return this._leaf("null", null);
      case "EndObject":
      case "EndArray":
        return this._end();
      case "JsonComplete":
        this.complete = true;
        this._grow(null);
    }
  }

  /** Of several documents one ends early: the next is the next element of the root. */
  breakOff() {
    for (const node of this._stack.splice(1)) {
      node.open = false;
      this.changed.add(node);
    }
    this._grow(this._stack[0] ?? null);
  }

  /** @param {Type} type */
  _begin(type) {
    const node = this._place(type);
    node.open = true;
    this._stack.push(node);
    this._grow(node);
  }

  /** @param {string} text */
  _append(text) {
    const node = this._stack.at(-1);
    if (node === undefined) return;
    node.text += text;
    this.changed.add(node);
  }

  /** @param {unknown} value */
  _endString(value) {
    const node = this._stack.at(-1);
    if (node !== undefined && typeof value === "string") node.text = value;
    this._end();
  }

  /**
   * @param {Type} type
   * @param {any} text
   * @param {any} [source]
   */
  _leaf(type, text, source) {
    const node = this._place(type);
    node.text = String(text);
    node.source = source;
    this._grow(this._stack.at(-1) ?? null);
  }

  _end() {
    const node = this._stack.pop();
    if (node === undefined) return;
    node.open = false;
    this.changed.add(node);
    this.fresh.add(node);
    this._grow(this._stack.at(-1) ?? null);
  }

  /** @param {Type} type */
  _place(type) {
    const parent = this._stack.at(-1) ?? null;
    if (parent === null) return this._newRoot(type);
    return this._put(parent, parent.type === "array" ? parent.children.length : this._key, type);
  }

  /** @param {Type} type */
  _newRoot(type) {
    this.version += this.root === null ? 0 : 1;
    this.root = new Node(null, this.holds, type);
    this.size = 1;
    this._touch(this.root);
    return this.root;
  }

  /**
   * A member or element, new or in the place of the one that is there.
   * @param {Node} parent
   * @param {string | number} key
   * @param {Type} type
   */
  _put(parent, key, type) {
    const old = parent.child(key);
    if (old !== undefined) {
      this._retype(old, type);
      return old;
    }
    const node = new Node(parent, key, type);
    node.index = parent.children.length;
    node.isRoot = this.holds !== "" && parent === this.root;
    parent.children.push(node);
    if (parent.type === "object") (parent.byKey ??= new Map()).set(String(key), node);
    this.size += 1;
    this._touch(node);
    this.changed.add(parent);
    return node;
  }

  /**
   * @param {Node} node
   * @param {Type} type
   */
  _retype(node, type) {
    this.size -= below(node);
    node.type = type;
    node.text = "";
    node.source = undefined;
    if (node.children.length) node.version += 1;
    node.children = [];
    node.byKey = null;
    this._touch(node);
  }

  /** @param {Node} node */
  _touch(node) {
    this.changed.add(node);
    this.fresh.add(node);
  }

  /** @param {Node | null} node */
  _grow(node) {
    if (this.growing === node) return;
    if (this.growing !== null) this.changed.add(this.growing);
    this.growing = node;
    if (node !== null) this.changed.add(node);
  }

  // ---- deltas ----

  /**
   * The operations of one delta, below a node of this key of the root; see `entry`.
   * @param {Node} base
   * @param {Operation[]} delta
   */
  change(base, delta) {
    for (const { op, path, value } of delta) {
      const keys = path.split("/").slice(1).map(unescaped);
      const last = keys.pop();
      let node = base;
      for (const key of keys) {
        const next = node.child(key);
        if (next === undefined) return;
        node = next;
      }
      if (op === "append") {
        const target = last === undefined ? node : node.child(last);
        if (target !== undefined) {
          target.text += value;
          this.changed.add(target);
        }
      } else if (last === undefined) {
        this.assign(node, value);
      } else {
        this._member(node, last, value, op === "add");
      }
    }
  }

  /**
   * @param {Node} parent
   * @param {string} key
   * @param {any} value
   * @param {boolean} inserts
   */
  _member(parent, key, value, inserts) {
    const isArray = parent.type === "array";
    const at = isArray ? (key === "-" ? parent.children.length : Number(key)) : key;
    if (isArray && inserts && Number(at) < parent.children.length) {
      // Nothing that only grows does this: the elements behind it all move.
      const moved = parent.value;
      moved.splice(Number(at), 0, value);
      this.assign(parent, moved);
    } else {
      this.assign(this._put(parent, at, typeOf(value)), value);
    }
  }

  // ---- whole values ----

  /**
   * Make the root this value; what is there already, or is the very same object, is not touched.
   * @param {any} value
   */
  set(value) {
    if (this.root === null) this._newRoot(typeOf(value));
    this.assign(/** @type {Node} */ (this.root), value);
  }

  /**
   * The document of this name in a root that holds documents; made if there is none.
   * @param {string} name
   */
  entry(name) {
    if (this.root === null) this._newRoot("object");
    const root = /** @type {Node} */ (this.root);
    const found = root.child(name);
    if (found !== undefined) return found;
    return this._put(root, name, "null");
  }

  /**
   * Make a node this value, and touch only what differs.
   * @param {Node} top
   * @param {any} given
   */
  assign(top, given) {
    /** @type {[Node, any][]} */
    const work = [[top, given]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [node, value] = next;
      const type = typeOf(value);
      if (node.type !== type) this._retype(node, type);
      if (type === "object" || type === "array") {
        if (node.source === value) continue;
        node.source = value;
        this._setMembers(node, value, work);
      } else {
        this._setLeaf(node, value);
      }
    }
  }

  /**
   * @param {Node} node
   * @param {any} value
   * @param {[Node, any][]} work
   */
  _setMembers(node, value, work) {
    const keys = Array.isArray(value) ? null : Object.keys(value);
    const count = keys === null ? value.length : keys.length;
    // What lost a member or element is begun again; what only grows never is.
    const kept = keys === null ? Math.min(count, node.children.length) : keys.filter((key) => node.child(key)).length;
    if (kept < node.children.length) this._retype(node, node.type);
    for (let at = 0; at < count; at += 1) {
      const key = keys === null ? at : keys[at];
      const item = value[key];
      const old = node.child(key);
      if (old === undefined) work.push([this._put(node, key, typeOf(item)), item]);
      else if (!(old.isContainer && old.source === item)) work.push([old, item]);
    }
  }

  /**
   * @param {Node} node
   * @param {any} value
   */
  _setLeaf(node, value) {
    const text = String(value);
    if (node.text === text) return;
    // A string that went on is not a new value: it has grown.
    if (node.type === "string" && node.text !== "") this.changed.add(node);
    else this._touch(node);
    node.text = text;
    if (node.type === "number") node.source = value;
  }

  /**
   * The value at the end of the document, where it grows; null for none.
   * @param {Node | null} top
   */
  growAtEnd(top) {
    let node = top;
    while (node?.isContainer && node.children.length) node = node.children[node.children.length - 1];
    this._grow(node);
  }

  /**
   * A word beside a value.
   * @param {Node} node
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
   * What is at a path below a node; the last node on the way if the path leads further.
   * @param {Path} path
   * @param {Node | null} [from]
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

  /** Every node, parents first, in the order of the document. */
  *nodes() {
    /** @type {Node[]} */
    const work = this.root === null ? [] : [this.root];
    for (let node = work.pop(); node !== undefined; node = work.pop()) {
      yield node;
      for (let at = node.children.length - 1; at >= 0; at -= 1) work.push(node.children[at]);
    }
  }
}

/** @param {Node} node */
function below(node) {
  let count = 0;
  const work = [...node.children];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    count += 1;
    for (const child of next.children) work.push(child);
  }
  return count;
}

/** @param {string} token */
function unescaped(token) {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

/**
 * A document as a tree that knows its past: when each value began and was complete, and which
 * characters of the text it is made of.
 *
 * It is a sink of the parser. Nothing is ever removed from it: `moveTo(n)` sets the clock of all
 * nodes, and what they show (`members`, `shown`, `isOpen`) is what they were after `n` pieces. So a
 * step back costs what the step changed, whatever the size of the document. Pieces count from 1;
 * offsets are JavaScript offsets in the text.
 */

import { Growth, Journal, countUpTo, countWhile } from "./growth.js";
import { Tree } from "./tree.js";
import { inWords } from "./errors.js";
import { Truncated } from "../js/src/errors.js";
import { Machine } from "../js/src/parse/machine.js";
import { put } from "../js/src/parse/values.js";

/** @typedef {import("./tree-node.js").TreeNode} TreeNode */
/** @typedef {import("./tree-node.js").Type} Type */

// A move that touches more nodes than this is drawn from the start.
const MAX_CHANGES = 20_000;

/**
 * An error and the piece that showed it. `offset` is a JavaScript offset, `character` counts as the
 * library does; `call` is the name of the call whose arguments have it.
 * @typedef {object} Fault
 * @property {number} piece
 * @property {string} code
 * @property {string} message
 * @property {number | null} offset
 * @property {number} [character]
 * @property {string} [call]
 * @property {number} [line]
 * @property {number} [column]
 * @property {import("../js/src/paths.js").Path} path
 */

export class Outline extends Tree {
  /** The number of the piece being read. */
  piece = 0;
  /** All that was read. */
  source = "";
  /** @type {Fault[]} */
  errors = [];
  /** How many keys came again in the same object. */
  duplicates = 0;
  /** @type {Journal<TreeNode>} */
  _journal = new Journal();
  /** How many characters were read; the numbers of those that are two units long in JavaScript. */
  _characters = 0;
  /** @type {number[]} */
  _wide = [];
  _half = false;
  _keyStart = -1;
  /** True if no more can be read. */
  _failed = false;
  /** From this piece on nothing grows. */
  _closedAt = Infinity;
  _reported = 0;

  /** @param {{many?: boolean}} [options] */
  constructor({ many = false } = {}) {
    super();
    this.clock = { now: 0 };
    this.many = many;
    this._machine = new Machine(/** @type {any} */ (this), { many });
    if (!many) return;
    this.holds = "documents";
    const root = this._add("array");
    root.open = true;
    this._stack.push(root);
  }

  clear() {
    throw new Error("an outline is not cleared: make another one");
  }

  /**
   * Reads the next piece.
   * @param {string} text
   * @param {number} piece its number, from 1
   */
  feed(text, piece) {
    this._begin(piece);
    this.source += text;
    this._countCharacters(text);
    if (!this._failed) this._read(() => this._machine.feed(text));
  }

  /**
   * The text has ended with this piece.
   * @param {number} piece
   */
  flush(piece) {
    this._begin(piece);
    if (!this._failed) this._read(() => this._machine.flush());
    this._closedAt = Math.min(this._closedAt, piece);
  }

  /**
   * Nothing more comes, and that is no error.
   * @param {number} piece
   */
  stop(piece) {
    this._begin(piece);
    this._closedAt = Math.min(this._closedAt, piece);
  }

  /** @param {any} piece */
  _begin(piece) {
    this._journal.begin(piece);
    this.piece = piece;
  }

  /** @param {string} text */
  _countCharacters(text) {
    if (!/[\ud800-\udfff]/.test(text)) {
      this._half = this._half && text === "";
      this._characters += text.length;
      return;
    }
    for (const character of text) {
      // The halves of a pair may come in two pieces.
      if (this._half && character >= "\udc00" && character <= "\udfff") this._wide.push(this._characters - 1);
      else this._characters += 1;
      if (character.length === 2) this._wide.push(this._characters - 1);
      this._half = character.length === 1 && character >= "\ud800" && character <= "\udbff";
    }
  }

  /** @param {() => void} work */
  _read(work) {
    try {
      work();
      this._reportErrors(this._stack[1] ?? null);
    } catch (error) {
      this._failed = true;
      this._closedAt = this.piece;
      this._fail(/** @type {any} */ (error), this.root);
    }
  }

  /**
   * Reports what ended documents, of many, early.
   * @param {TreeNode | null} top the document that is left
   */
  _reportErrors(top) {
    const { errors } = this._machine;
    for (; this._reported < errors.length; this._reported += 1) {
      this._fail(/** @type {any} */ (errors[this._reported]), top);
    }
  }

  /**
   * @param {import("../js/src/errors.js").JsonrillError} error
   * @param {TreeNode | null} top
   */
  _fail(error, top) {
    if (error.code === undefined) throw error; // not about the text
    const { code, line, column, path = [], offset: character } = error;
    const offset = character === undefined ? null : this.unitOf(character);
    const message = inWords(error, this.source);
    this.errors.push({ piece: this.piece, code, message, offset, character, line, column, path });
    const node = this.nearest(path, top);
    if (node === null) return;
    // A key whose value could not be read has no line of its own.
    const key = node.path.length < path.length ? path.at(-1) : undefined;
    this._mark(node, error instanceof Truncated ? "CUT OFF" : "ERROR", key === undefined ? "" : `at ${key}`);
  }

  /**
   * Adds an error that the server found, such as a violation of a schema.
   * @param {Fault} fault
   */
  addError(fault) {
    this.errors.push(fault);
    const node = this.nearest(fault.path);
    if (node === null) return;
    this._mark(node, "ERROR", fault.message, fault.piece);
    this.changed.add(node);
  }

  /**
   * @param {TreeNode} node
   * @param {string} badge
   * @param {string} [note]
   * @param {number} [piece] from which on it is marked
   */
  _mark(node, badge, note = "", piece = this.piece) {
    Object.assign(node, { badge, note, markedAt: piece });
    this._touch(node);
  }

  /**
   * The JavaScript offset of a character.
   * @param {number} offset
   */
  unitOf(offset) {
    return this._wide.length === 0 ? offset : offset + countUpTo(this._wide, offset - 1);
  }

  // ---- as a sink of the parser ----

  /** @param {number} offset */
  startObject(offset) {
    this._open("object", offset);
  }

  /** @param {number} offset */
  startArray(offset) {
    this._open("array", offset);
  }

  /** @param {number} offset */
  endContainer(offset) {
    this._top.end = this.unitOf(offset) + 1;
    this._close();
  }

  /**
   * @param {string} key
   * @param {number} offset
   */
  key(key, offset) {
    this._key = key;
    this._keyStart = this.unitOf(offset);
  }

  /** @param {number} offset */
  startString(offset) {
    this._open("string", offset);
  }

  /** @param {string} run */
  text(run) {
    const node = this._top;
    node.growth ??= new Growth();
    node.growth.add(run, this.piece);
    node.text = node.growth.text;
    this._touch(node);
  }

  endString() {
    this._close();
  }

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    const type = value === null ? "null" : typeof value === "boolean" ? "boolean" : "number";
    const node = this._add(type);
    node.text = text ?? String(value);
    node.source = value;
    node.start = this.unitOf(offset);
    node.end = node.start + node.text.length;
    node.closed = this.piece;
  }

  endDocument() {}

  nextDocument() {
    if (!this.many) return;
    const left = this._stack.splice(1);
    this._reportErrors(left[0] ?? null);
    for (const node of left) {
      node.brokenAt = this.piece;
      this._touch(node);
    }
  }

  /**
   * @param {Type} type
   * @param {number} offset
   */
  _open(type, offset) {
    const node = this._add(type);
    node.open = true;
    node.start = this.unitOf(offset);
    this._stack.push(node);
  }

  _close() {
    const node = /** @type {TreeNode} */ (this._stack.pop());
    node.open = false;
    node.closed = this.piece;
    this._touch(node);
  }

  /**
   * A key that comes again is another node; the one before is gone from then on.
   * @param {TreeNode} parent
   * @param {string | number} key
   * @param {Type} type
   */
  _put(parent, key, type) {
    const old = parent.type === "object" ? parent.child(key) : undefined;
    if (old !== undefined) {
      old.gone = this.piece;
      parent.hasGone = true;
      parent.byKey?.delete(String(key));
      this._touch(old);
      this.duplicates += 1;
    }
    const node = super._put(parent, key, type);
    if (old !== undefined) this._mark(node, "DUPLICATE", "This key came before; its last value counts.");
    return node;
  }

  /** @param {Type} type */
  _add(type) {
    const node = super._add(type);
    node.born = this.piece;
    node.clock = this.clock;
    node.keyStart = this._keyStart;
    this._keyStart = -1;
    return node;
  }

  /** @param {TreeNode} node */
  _touch(node) {
    this._journal.touch(node);
  }

  /** What changes is found in the journal, when the clock moves. */
  _grew() {}

  // ---- time ----

  /**
   * Shows the document as it was after this many pieces.
   * @param {number} piece
   */
  moveTo(piece) {
    const { now } = this.clock;
    if (piece === now) return;
    const [from, to] = this._journal.between(now, piece);
    this.clock.now = piece;
    if (to - from > MAX_CHANGES) {
      this.restart();
    } else {
      for (let at = from; at < to; at += 1) {
        const node = this._journal.items[at];
        this.changed.add(node);
        if (node.parent !== null) this.changed.add(node.parent);
        if (piece > now && node.born > now) this.fresh.add(node);
      }
    }
    this._setGrowing(this.openAt(piece));
  }

  /** Lets a view draw everything again. */
  restart() {
    this.version += 1;
    this.changed.clear();
    this.fresh.clear();
    if (this.root !== null) this.changed.add(this.root);
  }

  /**
   * The innermost value that was open after this many pieces; null if none was.
   * @param {number} piece
   */
  openAt(piece) {
    if (piece >= this._closedAt) return null;
    const { root } = this;
    if (root === null || root.born > piece || root.closed <= piece) return null;
    let node = root;
    for (;;) {
      /** @type {TreeNode | undefined} */
      const last = node.children[node.sizeAt(piece) - 1];
      if (last === undefined || last.closed <= piece || last.brokenAt <= piece) return node;
      node = last;
    }
  }

  /**
   * The value after this many pieces; undefined if there was none yet.
   * @param {number} piece
   * @param {TreeNode | null} [top]
   */
  valueAt(piece, top = this.root) {
    if (top === null || top.born > piece || (this.many && top === this.root && top.sizeAt(piece) === 0)) {
      return undefined;
    }
    const root = own(top, piece);
    /** @type {[TreeNode, any][]} */
    const work = [[top, root]];
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const [node, holder] = next;
      const count = node.sizeAt(piece);
      for (let at = 0; at < count; at += 1) {
        const child = node.children[at];
        if (child.gone <= piece) continue;
        const value = own(child, piece);
        if (node.type === "array") holder.push(value);
        else put(holder, String(child.key), value);
        if (child.isContainer) work.push([child, value]);
      }
    }
    return root;
  }

  /**
   * The innermost value that has this character of the text, its key included; null if none has.
   * @param {number} offset
   */
  nodeAt(offset) {
    let node = this.root;
    for (let next = node; next !== null; ) {
      node = next;
      const child = node.children[countWhile(node.children, (one) => startOf(one) <= offset) - 1];
      next = child !== undefined && offset < this.endOf(child) ? child : null;
    }
    return node;
  }

  /**
   * The offset after the last character of a value that is known.
   * @param {TreeNode} node
   */
  endOf(node) {
    if (node.end >= 0) return node.end;
    if (node.type !== "string" || node.open) return this.source.length;
    let at = node.start + 1;
    while (at < this.source.length && this.source[at] !== '"') at += this.source[at] === "\\" ? 2 : 1;
    node.end = Math.min(at + 1, this.source.length);
    return node.end;
  }
}

/**
 * Where a member begins in the text: at its key, if it has one.
 * @param {TreeNode} node
 */
export function startOf(node) {
  return node.keyStart >= 0 ? node.keyStart : Math.max(node.start, 0);
}

/**
 * @param {TreeNode} node
 * @param {number} piece
 */
function own(node, piece) {
  if (node.type === "object") return {};
  if (node.type === "array") return [];
  if (node.type === "string") return node.textAt(piece);
  return node.source;
}

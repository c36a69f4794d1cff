/**
 * The values of a JSON text, each with the offsets at which it begins and ends.
 *
 * A moment of a text is an offset. At the moment `offset` a value exists if it begins before that offset, and
 * is complete if it ends there or earlier. So going back in time undoes nothing:
 *
 *     {"a": [1, "two"]}     a: 6–16, a[0]: 7–8, a[1]: 10–15
 *     offset 12             a is open, a[0] is complete, a[1] is the string "t"
 */

import { Parser, Truncated, partial } from "../js/src/index.js";
import { closingQuote, countBackslashes, unitsOf } from "./characters.js";
import { countBefore } from "./search.js";
import { ValueNode } from "./value-node.js";

/** @typedef {import("./value-node.js").Kind} Kind */
/** @typedef {(string | number)[]} Path */
/**
 * What is wrong with a text; `offset` counts UTF-16 units. `expected` names the limit that was exceeded.
 * @typedef {{code: string, message: string, expected: string, offset: number, path: Path, reason: string}} Fault
 */

export class Outline {
  /** All values in the order of the text. @type {ValueNode[]} */
  nodes = [];
  /** @type {Fault[]} */
  faults = [];
  /** The number of characters so far, in UTF-16 units. */
  length = 0;
  isEnded = false;
  #many;
  #text = "";
  /** @type {string[]} */
  #pieces = [];
  #piece = "";
  #half = "";
  /** How many backslashes the text ends with. */
  #backslashes = 0;
  #parser = new Parser();
  /** Where the present document begins, in code points. */
  #base = 0;
  #points = 0;
  /** The offsets of the characters that take two units, in code points. @type {number[]} */
  #wide = [];
  /** @type {ValueNode | null} */
  #open = null;
  /** @type {string | number} */
  #key = "";
  #keyStart = 0;
  #hasFailed = false;
  #isBlank = true;
  /** The length of the text without the line breaks at its end, where no string can be open. */
  #contentEnd = 0;
  #document = 0;

  /** @param {boolean} [many] each line is a document, and an element of the root */
  constructor(many = false) {
    this.#many = many;
    if (many) this.#open = this.#add("array", 0);
  }

  /** Return the outline of a whole text. @param {string} text */
  static of(text) {
    const outline = new Outline();
    outline.feed(text);
    outline.flush();
    return outline;
  }

  /** @returns {ValueNode | null} */
  get root() {
    return this.nodes[0] ?? null;
  }

  get text() {
    if (this.#pieces.length > 0) this.#text += this.#pieces.join("");
    this.#pieces = [];
    return this.#text;
  }

  /** @param {string} text */
  feed(text) {
    // The first half of a surrogate pair waits for the second.
    const joined = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.exec(joined)?.[0] ?? "";
    const piece = joined.slice(0, joined.length - this.#half.length);
    if (!this.#many) return this.#feed(piece);
    const lines = piece.split("\n");
    lines.forEach((line, index) => {
      if (index < lines.length - 1) {
        this.#feed(`${line}\n`);
        this.#nextDocument();
      } else if (line !== "") {
        this.#feed(line);
      }
    });
  }

  /** End the text. `reason` is why the provider cut it off, if it says so. */
  flush(reason = "") {
    if (this.#half !== "") this.#feed(this.#half);
    if (this.#many) this.#nextDocument();
    else this.#read(() => this.#parser.flush(), reason);
    if (this.#many && this.root !== null) this.root.end = this.length;
    this.isEnded = true;
  }

  /** @param {string} piece */
  #feed(piece) {
    this.#piece = piece;
    this.#pieces.push(piece);
    const content = piece.trimEnd().length;
    if (content > 0) this.#isBlank = false;
    if (!/[\r\n]/.test(piece.slice(content))) this.#contentEnd = this.length + piece.length;
    else if (content > 0) this.#contentEnd = this.length + content;
    this.#read(() => this.#parser.feed(piece), "");
    this.#count(piece);
    const run = countBackslashes(piece);
    this.#backslashes = run === piece.length ? this.#backslashes + run : run;
    this.length += piece.length;
  }

  #nextDocument() {
    if (!this.#isBlank) this.#read(() => this.#parser.flush(), "");
    // A line without any value is an element, too, so that the index of an element is that of its line.
    if (!this.#isBlank && this.root?.children.length === this.#document) this.#addBrokenLine();
    this.#parser = new Parser();
    this.#base = this.#points;
    this.#hasFailed = false;
    this.#isBlank = true;
    this.#open = this.root;
    this.#document = this.root?.children.length ?? 0;
  }

  #addBrokenLine() {
    this.#open = this.root;
    const start = this.#unit(0);
    this.#add("null", start).end = start;
  }

  /** Record the characters that take two units. @param {string} piece */
  #count(piece) {
    let pairs = 0;
    for (const { index } of piece.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) {
      this.#wide.push(this.#points + index - pairs);
      pairs += 1;
    }
    this.#points += piece.length - pairs;
  }

  /**
   * @param {() => any[]} work
   * @param {string} reason
   */
  #read(work, reason) {
    if (this.#hasFailed) return;
    try {
      for (const fragment of work()) this.#take(fragment);
    } catch (error) {
      const failure = /** @type {any} */ (error);
      for (const fragment of failure.fragments ?? []) this.#take(fragment);
      this.#hasFailed = true;
      const { code, message, expected = failure.limit ?? "", path = [] } = failure;
      const offset = failure instanceof Truncated ? this.#contentEnd : this.#unit(failure.offset ?? 0);
      const place = this.#many ? [this.#document, ...path] : path;
      this.faults.push({ code, message, expected, offset, path: place, reason });
    }
  }

  /** @param {any} fragment */
  #take({ kind, text, value, offset }) {
    const at = this.#unit(offset);
    if (kind === "StartObject") this.#open = this.#add("object", at);
    else if (kind === "StartArray") this.#open = this.#add("array", at);
    else if (kind === "Key") [this.#key, this.#keyStart] = [value, at];
    else if (kind === "StartString") this.#add("string", at);
    else if (kind === "CompleteString") this.#closeString();
    else if (kind === "CompleteNumber") this.#add("number", at).end = at + text.length;
    else if (kind === "CompleteBoolean") this.#add("boolean", at).end = at + String(value).length;
    else if (kind === "CompleteNull") this.#add("null", at).end = at + 4;
    else if (kind === "EndObject" || kind === "EndArray") this.#closeContainer(at + 1);
  }

  /**
   * @param {Kind} kind
   * @param {number} start
   */
  #add(kind, start) {
    const parent = this.#open;
    const isMember = parent?.kind === "object";
    const key = isMember ? this.#key : (parent?.children.length ?? 0);
    const node = new ValueNode(this.nodes.length, parent, key, kind, start, isMember ? this.#keyStart : start);
    this.nodes.push(node);
    parent?.children.push(node);
    return node;
  }

  /** @param {number} end */
  #closeContainer(end) {
    if (this.#open === null) return;
    this.#open.end = end;
    this.#open = this.#open.parent;
  }

  /** Find the closing quote of a string, which is in the present piece. */
  #closeString() {
    const node = this.nodes[this.nodes.length - 1];
    const isNew = node.start >= this.length;
    const before = isNew || this.#backslashes % 2 === 0 ? "" : "\\";
    const from = isNew ? node.start - this.length + 1 : 0;
    node.end = this.length + closingQuote(before + this.#piece, from) - before.length + 1;
  }

  /** Convert an offset of the present document from code points to units. @param {number} offset */
  #unit(offset) {
    const point = this.#base + offset;
    const wide = this.#wide;
    // The piece that is read now is not counted yet.
    if (point > this.#points) return this.length + unitsOf(this.#piece, point - this.#points);
    if (wide.length === 0) return point;
    return point + countBefore(wide.length, (index) => wide[index] < point);
  }

  // ---- the values at a moment ----

  /**
   * Return the moment after this many characters. A number at the end is complete once the text has ended.
   * @param {number} length
   */
  momentAfter(length) {
    return this.isEnded && length >= this.length ? length + 1 : length;
  }

  /**
   * Return the value of a node as far as it has arrived.
   * @param {ValueNode} node
   * @param {number} offset
   * @returns {any}
   */
  value(node, offset) {
    return partial(this.source(node, offset));
  }

  /**
   * Return the source text of a node as far as it has arrived and is JSON.
   * @param {ValueNode} node
   * @param {number} offset
   */
  source(node, offset) {
    const { faults } = this;
    const fault = faults[countBefore(faults.length, (index) => faults[index].offset < node.start)];
    return this.text.slice(node.start, Math.min(node.end, offset, fault?.offset ?? offset));
  }

  /**
   * Return the deepest value at a character of the text; null if there is none.
   * @param {number} offset
   * @returns {ValueNode | null}
   */
  nodeAt(offset) {
    const count = countBefore(this.nodes.length, (index) => this.nodes[index].keyStart <= offset);
    /** @type {ValueNode | null} */
    let node = this.nodes[count - 1] ?? null;
    while (node !== null && node.end <= offset) node = node.parent;
    return node;
  }

  /**
   * Return the value at a path, or the deepest one around it.
   * @param {Path} path
   * @returns {ValueNode | null}
   */
  find(path) {
    let node = this.root;
    for (const key of path) {
      const { kind = "null", children = [] } = node ?? {};
      // Of equal keys the last one counts.
      const next = kind === "array" ? children[Number(key)] : children.filter((child) => child.key === key).at(-1);
      if (next === undefined) return node;
      node = next;
    }
    return node;
  }
}

/** A value of a text: where it begins and ends, and its state at a moment. */

import { countBefore } from "./search.js";

/** @typedef {"object" | "array" | "string" | "number" | "boolean" | "null"} Kind */

/** A value of the text. `end` is the offset after its last character, infinite while it is open. */
export class ValueNode {
  end = Infinity;
  /** @type {ValueNode[]} */
  children = [];

  /**
   * @param {number} id its number in the order of the text
   * @param {ValueNode | null} parent
   * @param {string | number} key
   * @param {Kind} kind
   * @param {number} start
   * @param {number} keyStart the offset of its key, or `start`
   */
  constructor(id, parent, key, kind, start, keyStart) {
    this.id = id;
    this.parent = parent;
    this.key = key;
    this.kind = kind;
    this.start = start;
    this.keyStart = keyStart;
    /** @type {number} */
    this.depth = parent === null ? 0 : parent.depth + 1;
  }

  get isContainer() {
    return this.kind === "object" || this.kind === "array";
  }

  /** @returns {(string | number)[]} */
  get path() {
    return this.parent === null ? [] : [...this.parent.path, this.key];
  }

  /** @param {number} offset */
  isComplete(offset) {
    return this.end <= offset;
  }

  /**
   * Return true if the value exists. A number exists once the next character shows that it is complete.
   * @param {number} offset
   */
  isShown(offset) {
    if (this.kind === "number") return this.end < offset;
    return this.kind === "boolean" || this.kind === "null" ? this.end <= offset : this.start < offset;
  }

  /**
   * Return the number of children that exist.
   * @param {number} offset
   */
  count(offset) {
    return countBefore(this.children.length, (index) => this.children[index].isShown(offset));
  }
}

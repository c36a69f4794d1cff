/** Sinks for the values at a path: `StringSink` collects the pieces of a string, `Selection` complete values. */

import { ValueBuilder } from "./build/builder.js";
import { FieldNotFound, LimitExceeded } from "./errors.js";
import { pathOf } from "./parse/machine.js";
import { ANY_INDEX, fits, parsePath, parsePattern, shortPath } from "./paths.js";

/** @import { Frame } from "./parse/machine.js" */
/** @import { Pattern } from "./paths.js" */

/**
 * Return true if a value in this frame is at the path of the pattern.
 * @param {Frame | null} frame
 * @param {Pattern} pattern
 * @param {number} [length] of the pattern
 */
function isAt(frame, pattern, length = pattern.length) {
  if ((frame?.depth ?? 0) !== length) return false;
  let at = length - 1;
  for (let outer = frame; outer !== null; outer = outer.parent, at -= 1) {
    if (!fits(pattern[at], outer.key)) return false;
  }
  return true;
}

/** @param {unknown} value */
function kindOf(value) {
  return value === null ? "null" : typeof value === "boolean" ? "a boolean" : "a number";
}

/** @param {Frame | null} frame */
function containerKind(frame) {
  return frame?.isObject ? "an object" : "an array";
}

/** Collects the pieces of one string, and nothing else. */
export class StringSink {
  /** @type {Frame | null} */
  frame = null;
  /** True once the string is complete. */
  isComplete = false;
  #field;
  #pattern;
  /** @type {string[]} */
  #pieces = [];
  #isOpen = false;
  // The kind of the value at the path, if it is not a string.
  #other = "";

  /** @param {string} field */
  constructor(field) {
    this.#field = field;
    this.#pattern = parsePath(field);
  }

  startContainer() {
    this.#noteOther(containerKind(this.frame), this.frame?.parent ?? null);
  }

  endContainer() {}

  key() {}

  startString() {
    this.#isOpen = isAt(this.frame, this.#pattern);
  }

  /** @param {string} run */
  text(run) {
    if (this.#isOpen) this.#pieces.push(run);
  }

  endString() {
    this.isComplete ||= this.#isOpen;
    this.#isOpen = false;
  }

  /** @param {unknown} value */
  scalar(value) {
    this.#noteOther(kindOf(value), this.frame);
  }

  endDocument() {}

  /** Return the pieces since the last call. */
  take() {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Throw if the string was not found. */
  check() {
    if (this.isComplete) return;
    const problem = this.#other ? `is ${this.#other}, not a string` : "never came";
    throw new FieldNotFound(`the field ${this.#field} ${problem}`);
  }

  /**
   * @param {string} kind
   * @param {Frame | null} frame
   */
  #noteOther(kind, frame) {
    if (isAt(frame, this.#pattern)) this.#other = kind;
  }
}

/** Collects complete values at a path: of an array its elements, of null nothing. */
export class Selection extends ValueBuilder {
  #field;
  #limit;
  /** @type {Pattern} */
  #pattern;
  #isOfElements;
  /** The index of the first wildcard. */
  #wildcard;
  /** @type {any[]} */
  #values = [];
  #isBuilding = false;
  /** The offset of the value that is being built. */
  #start = 0;
  // Whether a value, the first wildcard's container and its members were found; the container's kind if it is wrong.
  #isFound = false;
  #isReached = false;
  #hasMembers = false;
  #other = "";

  /**
   * @param {string} field
   * @param {number} limit characters of each value
   */
  constructor(field, limit) {
    super();
    this.#field = field;
    this.#limit = limit;
    this.#pattern = parsePattern(field);
    this.#isOfElements = this.#pattern.at(-1) === ANY_INDEX;
    this.#wildcard = this.#pattern.findIndex((step) => typeof step === "symbol");
  }

  /** @param {number} offset */
  startContainer(offset) {
    if (this.#begin(containerKind(this.frame), this.frame?.parent ?? null, offset)) super.startContainer();
  }

  /** @param {number} offset */
  endContainer(offset) {
    if (!this.#isBuilding) return;
    super.endContainer();
    if (this.frame?.parent === this.base) this.#end(offset + 1);
  }

  /** @param {number} offset */
  startString(offset) {
    if (this.#begin("a string", this.frame, offset)) super.startString();
  }

  /** @param {string} run */
  text(run) {
    if (this.#isBuilding) super.text(run);
  }

  endString() {
    super.endString();
    if (this.#isBuilding && this.frame === this.base) this.#end(this.#start + this.openText.length);
  }

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    if (!this.#begin(kindOf(value), this.frame, offset)) return;
    super.scalar(value);
    if (this.frame === this.base) this.#end(offset + (text?.length ?? 0));
  }

  /** Return the values since the last call. */
  take() {
    const values = this.#values;
    this.#values = [];
    return values;
  }

  /** Throw if an open value is longer than the limit. @param {number} offset */
  checkSize(offset) {
    if (!this.#isBuilding || offset - this.#start <= this.#limit) return;
    const place = this.#start + this.#limit;
    const path = pathOf(this.base);
    const message = `more than ${this.#limit} (text) at character ${place}, in ${shortPath(path)}`;
    throw new LimitExceeded(message, { limit: "text", offset: place, path });
  }

  /** Throw if nothing was found, unless a list in which it could be is empty. */
  check() {
    if (this.#isFound || (this.#isReached && !this.#hasMembers && !this.#other)) return;
    const problem = this.#other ? `is ${this.#other}` : "never came";
    throw new FieldNotFound(`the field ${this.#field} ${problem}`);
  }

  /**
   * Begin a value; return true if it is built, as a selected value or as a part of one.
   * @param {string} kind
   * @param {Frame | null} frame
   * @param {number} offset
   */
  #begin(kind, frame, offset) {
    if (this.#isBuilding) return true;
    if (this.#wildcard >= 0) this.#record(kind, frame);
    const isThere = isAt(frame, this.#pattern);
    this.#isFound ||= isThere;
    const isValue = isThere && (this.#isOfElements || (kind !== "an array" && kind !== "null"));
    const isElement = !this.#isOfElements && typeof frame?.key === "number" && isAt(frame.parent, this.#pattern);
    this.#isBuilding = isValue || isElement;
    this.#start = offset;
    this.base = frame;
    return this.#isBuilding;
  }

  /**
   * Record the kind of the first wildcard's container, and whether it has members.
   * @param {string} kind
   * @param {Frame | null} frame
   */
  #record(kind, frame) {
    if (isAt(frame, this.#pattern, this.#wildcard + 1)) this.#hasMembers = true;
    if (!isAt(frame, this.#pattern, this.#wildcard)) return;
    const expected = this.#pattern[this.#wildcard] === ANY_INDEX ? "an array" : "an object";
    if (kind === expected || kind === "null") this.#isReached = true;
    else this.#other = `${kind}, not ${expected}`;
  }

  /** @param {number} offset just behind the value */
  #end(offset) {
    this.checkSize(offset);
    this.#isBuilding = false;
    this.#values.push(this.live);
  }
}

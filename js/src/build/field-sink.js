/**
 * Values by their path, while a document is read: `TextSink` gives the pieces of strings, `ValueSink`
 * complete values. Both are sinks of the machine, and keep nothing of the rest of the document.
 */

import { FieldNotFound } from "./field-not-found.js";
import { ValueBuilder } from "./builder.js";
import { ANY_INDEX, fits, parsePath, parsePattern } from "../paths.js";

/** @typedef {import("../paths.js").Pattern} Pattern */

/** A field that is looked for: a pattern, and what was found of it. */
class Field {
  /** A value of the right kind was found. */
  isMet = false;
  /** What was there instead: a value of another kind. */
  other = "";
  /** The container that its first wildcard is about was there. */
  reached = false;
  /** Something was in that container. */
  within = false;

  /** @param {string} text */
  constructor(text) {
    if (typeof text !== "string") {
      throw new TypeError(`a field is a path like "answer" or "items[*].title", not ${typeof text}`);
    }
    this.text = text;
    /** @type {Pattern} */
    this.steps = parsePattern(text);
    const wildcard = this.steps.findIndex((step) => typeof step === "symbol");
    this.wildcard = wildcard < 0 ? Infinity : wildcard;
  }

  /** Throw FieldNotFound unless it was found, or a list in which it could be is empty. */
  check() {
    if (this.isMet || (this.reached && !this.within && !this.other)) return;
    const what = this.other ? `is ${this.other}` : "never came";
    throw new FieldNotFound(`the field ${this.text} ${what}`, this.text);
  }
}

/**
 * A field that fits the path to a container, or to a value, with its first `depth` steps.
 * @typedef {{field: Field, depth: number}} Candidate
 */

/** Follows fields down a document. */
class FieldSink {
  /** @type {Candidate[]} */
  #first;
  // Of the open container: which fields may be in it, and its last key or its next index.
  /** @type {Candidate[]} */
  #alive = [];
  /** @type {string | number} */
  #step = "";
  /** @type {{alive: Candidate[], step: string | number}[]} */
  #frames = [];
  // How deep we are in a container in which no field can be.
  #skipped = 0;

  /** @param {Field[]} fields */
  constructor(fields) {
    this.#first = fields.map((field) => ({ field, depth: 0 }));
  }

  /** Throw FieldNotFound if a field was not found. */
  check() {
    for (const { field } of this.#first) field.check();
  }

  /**
   * A value begins: select the fields that fit its path so far.
   * @param {string} kind
   * @returns {Candidate[]}
   */
  begin(kind) {
    if (this.#skipped > 0) return [];
    let fitting = this.#first;
    if (this.#frames.length !== 0) {
      const step = this.#step;
      if (typeof step === "number") this.#step = step + 1;
      fitting = [];
      for (const { field, depth } of this.#alive) {
        if (!fits(field.steps[depth], step)) continue;
        if (depth === field.wildcard) field.within = true;
        fitting.push({ field, depth: depth + 1 });
      }
    }
    for (const { field, depth } of fitting) {
      if (depth !== field.wildcard) continue;
      const wanted = field.steps[depth] === ANY_INDEX ? "an array" : "an object";
      if (kind === wanted || kind === "null") field.reached = true;
      else field.other = `${kind}, not ${wanted}`;
    }
    return fitting;
  }

  /**
   * @param {Candidate[]} fitting
   * @param {string | number} step
   */
  open(fitting, step) {
    const alive = fitting.filter(({ field, depth }) => depth < field.steps.length);
    if (this.#skipped > 0 || alive.length === 0) {
      this.#skipped += 1;
      return;
    }
    this.#frames.push({ alive: this.#alive, step: this.#step });
    this.#alive = alive;
    this.#step = step;
  }

  /** @returns {void} */
  endContainer() {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const { alive, step } = /** @type {any} */ (this.#frames.pop());
    this.#alive = alive;
    this.#step = step;
  }

  /** @param {string} key */
  key(key) {
    if (this.#skipped === 0) this.#step = key;
  }

  endDocument() {}

  nextDocument() {
    this.#frames = [];
    this.#skipped = 0;
  }
}

/** @param {unknown} value */
function kindOf(value) {
  return value === null ? "null" : typeof value === "boolean" ? "a boolean" : "a number";
}

/** The pieces of a string. */
export class TextSink extends FieldSink {
  /** @type {string[]} */
  pieces = [];
  /** True once the string is complete. */
  ended = false;
  /** True in the string. */
  #isOpen = false;

  /** @param {string} text */
  constructor(text) {
    const field = new Field(text);
    parsePath(text);
    super([field]);
  }

  startObject() {
    this.open(this.#value("an object"), "");
  }

  startArray() {
    this.open(this.#value("an array"), 0);
  }

  startString() {
    const whole = this.begin("a string").filter(isComplete);
    for (const { field } of whole) field.isMet = true;
    this.#isOpen = whole.length !== 0;
  }

  /** @param {string} run */
  text(run) {
    if (this.#isOpen) this.pieces.push(run);
  }

  endString() {
    this.ended ||= this.#isOpen;
    this.#isOpen = false;
  }

  /** @param {unknown} value */
  scalar(value) {
    this.#value(kindOf(value));
  }

  /** @param {string} kind */
  #value(kind) {
    const fitting = this.begin(kind);
    for (const { field } of fitting.filter(isComplete)) field.other = `${kind}, not a string`;
    return fitting;
  }
}

/** @param {Candidate} candidate */
function isComplete({ field, depth }) {
  return depth === field.steps.length;
}

/** Complete values at one path. An array there stands for its elements, null for nothing. */
export class ValueSink extends FieldSink {
  /** @type {any[]} */
  values = [];
  #field;
  #limitText;
  // The value that is being built, and how many of its containers are open.
  /** @type {ValueBuilder | null} */
  #building = null;
  #depth = 0;

  /**
   * @param {string} text
   * @param {(offset: number, inValue: boolean) => void} limitText called where a value begins, ends
   */
  constructor(text, limitText) {
    const field = new Field(text);
    const elements = new Field(text);
    elements.steps.push(ANY_INDEX);
    super(field.steps.at(-1) === ANY_INDEX ? [field] : [field, elements]);
    this.#field = field;
    this.#limitText = limitText;
  }

  check() {
    this.#field.check();
  }

  /** @param {number} offset */
  startObject(offset) {
    const building = this.#building ?? this.#value("an object", offset, "");
    if (building === null) return;
    this.#depth += 1;
    building.startObject();
  }

  /** @param {number} offset */
  startArray(offset) {
    const building = this.#building ?? this.#value("an array", offset, 0);
    if (building === null) return;
    this.#depth += 1;
    building.startArray();
  }

  /** @param {number} [offset] */
  endContainer(offset = 0) {
    const building = this.#building;
    if (building === null) return super.endContainer();
    this.#depth -= 1;
    building.endContainer();
    return this.#depth === 0 ? this.#take(building, offset) : undefined;
  }

  /** @param {string} key */
  key(key) {
    if (this.#building === null) super.key(key);
    else this.#building.key(key);
  }

  /** @param {number} offset */
  startString(offset) {
    (this.#building ?? this.#value("a string", offset))?.startString();
  }

  /** @param {string} run */
  text(run) {
    this.#building?.text(run);
  }

  endString() {
    const building = this.#building;
    building?.endString();
    if (building !== null && this.#depth === 0) this.#take(building, 0);
  }

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    const building = this.#building ?? this.#value(kindOf(value), offset);
    building?.scalar(value);
    if (building !== null && this.#depth === 0) this.#take(building, offset);
  }

  nextDocument() {
    super.nextDocument();
    this.#building = null;
    this.#depth = 0;
    this.#limitText(0, false);
  }

  /**
   * A value begins: what builds it, if it is one that was asked for.
   * @param {string} kind
   * @param {number} offset
   * @param {string | number} [step] with which a container begins
   */
  #value(kind, offset, step) {
    const fitting = this.begin(kind);
    const wanted = fitting.filter(isComplete).some(({ field }) => {
      this.#field.isMet = true;
      const isElement = field.steps.at(-1) === ANY_INDEX;
      return isElement || (kind !== "an array" && kind !== "null");
    });
    if (wanted) {
      this.#limitText(offset, true);
      this.#building = new ValueBuilder();
      return this.#building;
    }
    if (step !== undefined) this.open(fitting, step);
    return null;
  }

  /**
   * @param {ValueBuilder} building
   * @param {number} offset
   */
  #take(building, offset) {
    this.values.push(building.live);
    this.#building = null;
    this.#limitText(offset, false);
  }
}

/**
 * What is remembered of texts that grow: each call has all of a text, and only its end is new.
 *
 * A text is recognised by comparing all of what is remembered with its beginning, so that no text
 * ever gets the value of another. Each value is a copy down to the leaves: a caller who changes one
 * does not change a later one. The containers are kept in one list, each with its place in the one
 * around it, so that copying them needs no walk through the value.
 */

import { InvalidJSON, LimitExceeded } from "../errors.js";
import { Machine } from "../parse/machine.js";
import { put } from "../parse/values.js";

// As many texts are remembered, and as many bytes with their values.
const MOST_TEXTS = 16;
const MOST_BYTES = 4 * 2 ** 20;
// What a character takes in a text and its value, and a container beside its text, roughly.
const CHARACTER_SIZE = 6;
const CONTAINER_SIZE = 150;
// Below this length a text is read at once, each time.
const SMALL = 1024;
const LIMITS = { text: Infinity, string: Infinity, number: Infinity, keys: Infinity };
const CUT_PAIR = /\\u([dD][89abAB][0-9a-fA-F]{2})(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?$/;

/** The value of a text that grows, without what is still being read. */
class Tree {
  /** @type {any} */
  root = undefined;
  done = false;
  /**
   * True if there was what `partial-json` has its own way with: an array of white space, after which
   * it loses its way, or a container for a key that came before, whose old value it may show.
   */
  isOdd = false;
  /** The open containers: where each is in the list. @type {number[]} */
  opened = [];
  /** The text so far of the string that is being read. @type {string | null} */
  string = null;
  /** @type {any[]} */
  containers = [];
  /** @type {number[]} */
  #parents = [-1];
  /** @type {(string | number)[]} */
  #steps = [""];
  /** @type {any} */
  #inner = undefined;
  #key = "";
  /** Where the last array began. */
  #start = 0;

  startObject() {
    this.#open({});
  }

  /** @param {number} offset */
  startArray(offset) {
    this.#start = offset;
    this.#open([]);
  }

  /** @param {number} offset */
  endContainer(offset) {
    if (Array.isArray(this.#inner) && this.#inner.length === 0 && offset > this.#start + 1) {
      this.isOdd = true;
    }
    this.opened.pop();
    this.#inner = this.containers[/** @type {number} */ (this.opened.at(-1))];
  }

  /** @param {string} key */
  key(key) {
    this.#key = key;
  }

  startString() {
    this.string = "";
  }

  /** @param {string} run */
  text(run) {
    this.string += run;
  }

  endString() {
    const text = this.string;
    this.string = null;
    this.scalar(text);
  }

  /** @param {any} value */
  scalar(value) {
    const inner = this.#inner;
    if (inner === undefined) this.root = value;
    else if (Array.isArray(inner)) inner.push(value);
    else {
      const replaced = Object.hasOwn(inner, this.#key) && inner[this.#key];
      put(inner, this.#key, value);
      if (typeof replaced === "object" && replaced !== null) this.#listAgain();
    }
  }

  endDocument() {
    this.done = true;
  }

  nextDocument() {}

  /** The innermost open container, as far as it is complete. */
  get inner() {
    return this.#inner;
  }

  /**
   * A copy of the value, with what is pending in the innermost open container. `level`: without the
   * open container at this level, and all inside it.
   * @param {any[]} pending
   * @param {number} [level]
   */
  value(pending, level) {
    if (this.containers.length === 0) return pending.length === 0 ? this.root : pending[0];
    const copies = this.containers.map((one) => (Array.isArray(one) ? one.slice() : { ...one }));
    for (let at = 1; at < copies.length; at += 1) {
      place(copies[this.#parents[at]], this.#steps[at], copies[at]);
    }
    if (level !== undefined) {
      const at = this.opened[level];
      const around = copies[this.#parents[at]];
      if (Array.isArray(around)) around.pop();
      else delete around[this.#steps[at]];
    } else if (pending.length !== 0) {
      const inner = copies[/** @type {number} */ (this.opened.at(-1))];
      place(inner, Array.isArray(inner) ? inner.length : this.#key, pending[0]);
    }
    return copies[0];
  }

  /** @param {any} container */
  #open(container) {
    const inner = this.#inner;
    const step = Array.isArray(inner) ? inner.length : this.#key;
    if (typeof step === "string" && inner !== undefined && Object.hasOwn(inner, step)) this.isOdd = true;
    this.scalar(container);
    if (inner !== undefined) {
      this.#parents.push(/** @type {number} */ (this.opened.at(-1)));
      this.#steps.push(step);
    }
    this.opened.push(this.containers.length);
    this.containers.push(container);
    this.#inner = container;
  }

  /** A key came again, and the container that it had is not part of the value any more. */
  #listAgain() {
    const opened = this.opened.map((at) => this.containers[at]);
    /** @type {[any, number, string | number][]} */
    const todo = [[this.containers[0], -1, ""]];
    this.containers = [];
    this.#parents = [];
    this.#steps = [];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const [container, parent, step] = next;
      const at = this.containers.push(container) - 1;
      this.#parents.push(parent);
      this.#steps.push(step);
      for (const [name, inner] of Object.entries(container)) {
        const place = Array.isArray(container) ? Number(name) : name;
        if (typeof inner === "object" && inner !== null) todo.push([inner, at, place]);
      }
    }
    this.opened = opened.map((container) => this.containers.indexOf(container));
  }
}

/**
 * @param {any} container
 * @param {string | number} step
 * @param {any} value
 */
function place(container, step, value) {
  if (typeof step === "number") container[step] = value;
  else put(container, step, value);
}

/**
 * The first half of a surrogate pair that ends a text, as it is or as an escape, else "".
 * @param {string} text
 */
function halfPair(text) {
  const last = text.charCodeAt(text.length - 1);
  if (last >= 0xd800 && last < 0xdc00) return text.slice(-1);
  const cut = CUT_PAIR.exec(text.slice(-12));
  if (cut === null) return "";
  const start = text.length - cut[0].length;
  let before = start;
  while (before > 0 && text[before - 1] === "\\") before -= 1;
  // After an odd number of backslashes this one is escaped itself.
  return (start - before) % 2 === 1 ? "" : String.fromCharCode(parseInt(cut[1], 16));
}

/** Reads a growing text once. `failed` when it cannot go on: the text is not JSON. */
export class Reader {
  tree = new Tree();
  text = "";
  failed = false;
  #machine = new Machine(this.tree, { limits: LIMITS });

  /** Read on, up to the end of `text`. @param {string} text */
  readTo(text) {
    const piece = text.slice(this.text.length);
    this.text = text;
    if (this.failed || piece === "") return;
    try {
      this.#machine.feed(piece);
    } catch (error) {
      if (!(error instanceof InvalidJSON || error instanceof LimitExceeded)) throw error;
      this.failed = true;
    }
  }

  /** The text of the number or literal that is being read. */
  get half() {
    return this.#machine.pendingText;
  }

  /** The open string, with half of a surrogate pair: what `JSON.parse` makes of it. */
  get openText() {
    return this.tree.string + halfPair(this.text);
  }

  get size() {
    return CHARACTER_SIZE * this.text.length + CONTAINER_SIZE * this.tree.containers.length;
  }
}

/** The texts, the one that was used last at the end. @type {Reader[]} */
let readers = [];

/**
 * A reader that has read this text; null if it is too small or too large to be remembered.
 * @param {string} text
 * @returns {Reader | null}
 */
export function remembered(text) {
  if (text.length < SMALL) return null;
  let reader = new Reader();
  for (const known of readers) {
    if (known.text.length > reader.text.length && text.startsWith(known.text)) reader = known;
  }
  readers = readers.filter((known) => known !== reader);
  reader.readTo(text);
  readers.push(reader);
  let size = 0;
  for (let at = readers.length - 1; at >= 0; at -= 1) {
    size += readers[at].size;
    if (size > MOST_BYTES || readers.length - at > MOST_TEXTS) {
      readers = readers.slice(at + 1);
      break;
    }
  }
  return reader;
}

/** The number of texts that are remembered, and the bytes that they take, for tests. */
export function usage() {
  return { texts: readers.length, bytes: readers.reduce((sum, { size }) => sum + size, 0) };
}

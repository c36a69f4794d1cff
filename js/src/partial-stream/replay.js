/**
 * Entries of a log → the value that they build, or the delta that describes them.
 *
 * An entry is a bare string, which is new text of the open string, or an `Entry`.
 */

import { LocatedBuilder } from "../build/located.js";
import { toPointer } from "../paths.js";
import { Place } from "../parse/place.js";
import { ExactNumber } from "../parse/exact.js";
import { isObject, own, put } from "../parse/values.js";

/** @typedef {import("./delta.js").Change} Change */
/** @typedef {import("../paths.js").Path} Path */
/** @typedef {{code: number, place: Place, value: any}} Entry */

export const OBJECT = 0;
export const ARRAY = 1;
export const STRING = 2;
export const SCALAR = 3;
export const SHOWN = 4; // provisional: a number that grows, a literal guessed
export const END = 5;
export const END_STRING = 6;

// What each of them does to the depth of what is open.
const DEEPER = [1, 1, 1, 0, 0, -1, -1];

/** All places in a log hang below this one: the entity's own. */
export const ROOT = new Place(null, "");

/** The state of an entity somewhere in its log. */
export class Reading extends LocatedBuilder {
  #shown = false;
  /** What was there before the provisional value. @type {any} */
  #under = undefined;

  /** @param {(string | Entry)[]} entries */
  read(entries) {
    for (const entry of entries) {
      if (typeof entry === "string") this.text(entry);
      else this.#apply(entry);
    }
  }

  /** @param {Entry} entry */
  #apply({ code, place, value }) {
    if (this.#shown) {
      this.#hide();
      this.#shown = false;
    }
    if (code === END) {
      this.endContainer();
      return;
    }
    if (code === END_STRING) {
      this.endString();
      return;
    }
    if (typeof place.key === "string") this.key(place.key);
    if (code === SCALAR) this.scalar(value);
    else if (code === STRING) this.startString();
    else if (code === SHOWN) this.#show(value);
    else if (code === OBJECT) this.startObject();
    else this.startArray();
  }

  /** @param {any} value */
  #show(value) {
    this.#under = isObject(this._inner) ? own(this._inner, this._key) : undefined;
    this.scalar(value);
    this.#shown = true;
  }

  #hide() {
    const inner = this._inner;
    this.version += 1;
    if (this._isArray) inner.pop();
    else if (inner === undefined) this.live = undefined;
    else if (this.#under === undefined) delete inner[this._key];
    else put(inner, this._key, this.#under);
  }

  /** The number of values that a copy of the open containers copies. */
  get width() {
    return this._spine.reduce((sum, one) => sum + 1 + Object.keys(one).length, 0);
  }

  /** @returns {Path | null} */
  get openPath() {
    if (!this.#shown) return super.openPath;
    if (this._inner === undefined) return [];
    const last = this._isArray ? this._inner.length - 1 : this._key;
    return [.../** @type {Path} */ (super.openPath), last];
  }
}

/**
 * Entries as a delta: text as `append`, a value that began as one `add` of all it holds.
 * @param {(string | Entry)[]} entries
 * @param {Place | null} string the string that was open before them
 * @param {Entry | null} shown the provisional value where the next value will be: that value takes
 *   its place, and goes on from it where they are alike
 * @returns {Change[]}
 */
export function changesOf(entries, string, shown) {
  /** @type {Change[]} */
  const changes = [];
  /** The change that shows the provisional value, if it is one of these. @type {Change | null} */
  let draft = null;
  for (let at = 0; at < entries.length; ) {
    const entry = entries[at];
    if (typeof entry === "string") {
      let text = entry;
      for (at += 1; typeof entries[at] === "string"; at += 1) text += entries[at];
      changes.push(change("append", string ?? ROOT, text));
      continue;
    }
    const { code, place } = entry;
    if (code >= END) {
      at += 1;
      continue;
    }
    if (shown !== null && code !== SHOWN && same(shown.value, entry.value)) {
      at += 1;
      string = place;
    } else {
      const grown = grownFrom(entries, at);
      at = grown.end;
      if (draft !== null) {
        draft.value = grown.value;
      } else {
        draft = change(shown === null ? "add" : "replace", place, grown.value);
        changes.push(draft);
      }
    }
    shown = code === SHOWN ? entry : null;
    if (shown === null) draft = null;
  }
  return changes;
}

/**
 * All that these entries tell of the value that begins at `at`, and where that ends.
 * @param {(string | Entry)[]} entries
 * @param {number} at
 */
function grownFrom(entries, at) {
  const { code, value } = /** @type {Entry} */ (entries[at]);
  if (code >= SCALAR) return { end: at + 1, value };
  const reading = new Reading();
  let end = at;
  for (let depth = 0; end < entries.length; ) {
    const entry = entries[end];
    reading.read([entry]);
    end += 1;
    if (typeof entry === "string") continue;
    depth += DEEPER[entry.code];
    if (depth === 0) break;
  }
  return { end, value: reading.live };
}

/**
 * The paths of the values that these entries complete, in that order.
 * @param {(string | Entry)[]} entries
 * @returns {Path[]}
 */
export function completedIn(entries) {
  /** @type {Path[]} */
  const paths = [];
  for (const entry of entries) {
    if (typeof entry === "string") continue;
    const path = entry.place.path.slice(1);
    if (entry.code === SCALAR) paths.push(...completePaths(entry.value, path));
    else if (entry.code >= END) paths.push(path);
  }
  return paths;
}

/**
 * The paths of all values in a complete one, in the order in which they end.
 * @param {any} value
 * @param {Path} [at] its own path
 * @returns {Path[]}
 */
export function completePaths(value, at = []) {
  /** @type {Path[]} */
  const paths = [];
  /** @type {{value: any, path: Path, seen: boolean}[]} */
  const todo = [{ value, path: at, seen: false }];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    const { path } = one;
    const isArray = Array.isArray(one.value);
    if (one.seen || !(isArray || isObject(one.value))) {
      paths.push(path);
      continue;
    }
    todo.push({ ...one, seen: true });
    for (const key of Object.keys(one.value).reverse()) {
      const step = isArray ? Number(key) : key;
      todo.push({ value: one.value[step], path: [...path, step], seen: false });
    }
  }
  return paths;
}

/**
 * @param {"add" | "append" | "replace"} op
 * @param {Place} place
 * @param {any} value
 * @returns {Change}
 */
export function change(op, place, value) {
  return { op, path: toPointer(place.path.slice(1)), value };
}

/**
 * True if both are arrays, or both are objects.
 * @param {any} one
 * @param {any} two
 */
function areAlike(one, two) {
  return Array.isArray(one) ? Array.isArray(two) : isObject(one) && isObject(two);
}

/**
 * True if both are the same JSON value.
 * @param {any} old
 * @param {any} value
 */
export function same(old, value) {
  /** @type {[any, any][]} */
  const todo = [[old, value]];
  for (let pair = todo.pop(); pair !== undefined; pair = todo.pop()) {
    const [one, two] = pair;
    if (one === two) continue;
    if (one instanceof ExactNumber && two instanceof ExactNumber && one.text === two.text) continue;
    if (!areAlike(one, two)) return false;
    const keys = Object.keys(one);
    if (keys.length !== Object.keys(two).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(two, key)) return false;
      todo.push([one[key], two[key]]);
    }
  }
  return true;
}

/**
 * The change from one value to another one, whatever they are.
 * @param {any} old
 * @param {any} value
 * @returns {Change[]}
 */
export function difference(old, value) {
  /** @type {Change[]} */
  const changes = [];
  /** @type {[Place, any, any][]} */
  const todo = [[ROOT, old, value]];
  for (let pair = todo.pop(); pair !== undefined; pair = todo.pop()) {
    const [place, one, two] = pair;
    if (one === two) continue;
    if (areAlike(one, two) && Object.keys(one).every((key) => Object.hasOwn(two, key))) {
      for (const key of Object.keys(two)) {
        const below = new Place(place, Array.isArray(two) ? Number(key) : key);
        if (Object.hasOwn(one, key)) todo.push([below, one[key], two[key]]);
        else changes.push(change("add", below, two[key]));
      }
    } else if (typeof one === "string" && typeof two === "string" && two.startsWith(one)) {
      changes.push(change("append", place, two.slice(one.length)));
    } else if (!same(one, two)) {
      changes.push(change("replace", place, two));
    }
  }
  return changes;
}

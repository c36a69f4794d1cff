/**
 * The log of one entity: its events in order, from which updates are built when they are read.
 *
 * An update is a position in the log, so making one costs the same however large the entity is; its
 * data is replayed from the entries before the position, its delta from those since the update before
 * (`replay.js`). The text `{"t":"He` + `llo","n":1` gives these entries, with two updates:
 *
 *     OBJECT at the root
 *     STRING at t
 *     "He"                 ← first update: data {"t": "He"}, delta [add "" {"t": "He"}]
 *     "llo"
 *     END_STRING
 *     SHOWN at n, 1        ← second: delta [append /t "llo", add /n 1]
 *
 * A number may still grow, so the 1 is SHOWN: provisional, replaced by the next entry. `Log` has
 * strings from their quote, in pieces as they arrive; `FinishedLog` has them when they are complete;
 * `Whole` keeps only the value and has no log. `Held` is in front of a log and hands it the values of
 * `onlyComplete` when they are complete. Each calls `ended` when its value is complete, and `givenUp`
 * when the rest of it will never come.
 */

import { LocatedBuilder } from "../build/located.js";
import { fits } from "../paths.js";
import { Placed } from "../parse/placed.js";
import {
  ARRAY,
  END,
  END_STRING,
  OBJECT,
  ROOT,
  Reading,
  SCALAR,
  SHOWN,
  STRING,
  change,
  changesOf,
  completedIn,
  difference,
  same,
} from "./replay.js";

/** @typedef {import("./delta.js").Change} Change */
/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../paths.js").Pattern} Pattern */
/** @typedef {import("../parse/place.js").Place} Place */
/** @typedef {import("./replay.js").Entry} Entry */
/** @typedef {{ended: () => void, givenUp: () => void}} Told */

// How much may be compared for each entry of a log.
const MOST_SPENT = 50;
// What a container is at its bracket.
/** @type {readonly any[]} */
const NO_ELEMENTS = Object.freeze([]);
const NO_MEMBERS = Object.freeze({});

/** An entity that is read only when it is complete: its value, and no log. */
export class Whole extends LocatedBuilder {
  #told;

  /** @param {Told} told */
  constructor(told) {
    super();
    this.#told = told;
  }

  endContainer() {
    super.endContainer();
    this.#end();
  }

  endString() {
    super.endString();
    this.#end();
  }

  /** @param {any} value */
  scalar(value) {
    super.scalar(value);
    this.#end();
  }

  #end() {
    if (this._inner === undefined) this.#told.ended();
  }

  nextDocument() {
    this.#told.givenUp();
  }

  /** The value so far, and the path of what still grows. @returns {[any, Path | null]} */
  known() {
    return [this.value, this.openPath];
  }
}

/**
 * One entity's changes in REALTIME: strings from their quote, in pieces as they come.
 * @extends {Placed<Set<string> | null>}
 */
export class Log extends Placed {
  /** @type {(string | Entry)[]} */
  entries = [];
  /** True if anything is new since the last update. */
  changed = false;
  /** Where in the log the last update was, and the string that was open then. */
  sent = 0;
  /** @type {Place | null} */
  sentString = null;
  /** The string that is open now. @type {Place | null} */
  string = null;
  /** What is in front of the log. @type {Held | null} */
  held = null;
  /** True if there is a key of whose value nothing is in the log. */
  waits = false;
  /** True if a key came twice, which may bring the value that was there: then `news` has to look. */
  doubtful = false;
  #told;
  /** @type {Entry | null} */
  #shown = null;
  /** Where the reader of the log stands. @type {Reading | null} */
  #reading = null;
  #read = 0;
  #twice = false;
  #spent = 0;
  // Where the container ended in which a value was shown that never came: repair cut it off.
  #takenBack = -1;

  /** @param {Told} told */
  constructor(told) {
    super(ROOT, null);
    this.#told = told;
  }

  startObject() {
    this.#open(OBJECT, "", new Set());
  }

  startArray() {
    this.#open(ARRAY, 0, null);
  }

  endContainer() {
    if (this.#shown !== null) {
      this.#shown = null;
      this.#takenBack = this.entries.length;
      this.changed = true;
    }
    this.entries.push({ code: END, place: this.container ?? ROOT, value: undefined });
    this.leave();
    this.end();
  }

  /** @param {string} key */
  key(key) {
    this.step = key;
    this.waits = true;
    const keys = /** @type {Set<string>} */ (this.inside);
    this.#twice = keys.has(key);
    keys.add(key);
  }

  startString() {
    this.string = this.next() ?? ROOT;
    this.put(STRING, this.string, "");
  }

  /** @param {string} run */
  text(run) {
    this.entries.push(run);
    this.changed = true;
  }

  endString() {
    this.entries.push({ code: END_STRING, place: this.string ?? ROOT, value: undefined });
    this.string = null;
    this.end();
  }

  /** @param {any} value */
  scalar(value) {
    this.put(SCALAR, this.next() ?? ROOT, value);
    this.end();
  }

  endDocument() {}

  nextDocument() {
    this.#told.givenUp();
  }

  /** A value was completed: the entity, if it was the outermost. */
  end() {
    if (this.depth === 0) this.#told.ended();
  }

  /**
   * Show `value` where the next one will be, until it is there.
   * @param {any} value
   */
  show(value) {
    if (this.#shown !== null && same(this.#shown.value, value)) return;
    this.#shown = { code: SHOWN, place: this.here() ?? ROOT, value };
    this.entries.push(this.#shown);
    this.doubtful ||= this.#twice;
    this.changed = true;
  }

  /** The path within the entity of the value that comes next. */
  waitingPath() {
    return (this.here() ?? ROOT).path.slice(1);
  }

  /**
   * The value without what is provisional, and the path of what still grows.
   * @returns {[any, Path | null]}
   */
  known() {
    let at = this.entries.length;
    while (at > 0 && isShown(this.entries[at - 1])) at -= 1;
    const reading = this.at(at);
    return [reading.value, reading.openPath];
  }

  /** Remember this position as that of the last update. */
  mark() {
    this.sent = this.entries.length;
    this.sentString = this.string;
    this.changed = this.doubtful = false;
  }

  /**
   * True if the value differs from that of the last update, although a key came twice.
   *
   * Comparing costs as much as the open containers are wide. Where a text makes that happen too
   * often, it is not worth it: what is sent again then does no harm.
   */
  news() {
    if (!this.changed || this.sent === 0) return this.changed;
    this.#spent += this.at(this.sent).width;
    if (this.#spent <= MOST_SPENT * this.entries.length) {
      const old = this.at(this.sent).value;
      if (same(old, this.at(this.entries.length).live)) this.mark();
    }
    return this.changed;
  }

  /**
   * The changes from position `since`, when `string` was the open string, to `at`.
   * @param {number} since
   * @param {Place | null} string
   * @param {number} at
   * @returns {Change[]}
   */
  delta(since, string, at) {
    if (since === 0) return [change("add", ROOT, this.at(at).value)];
    if (since <= this.#takenBack && this.#takenBack < at) {
      const old = this.at(since).value;
      return difference(old, this.at(at).value);
    }
    const last = this.entries[since - 1];
    return changesOf(this.entries.slice(since, at), string, isShown(last) ? last : null);
  }

  /**
   * The paths of the values that became complete between two positions.
   * @param {number} since
   * @param {number} at
   */
  completed(since, at) {
    return completedIn(this.entries.slice(since, at));
  }

  /**
   * The entity as it was at a position of the log.
   * @param {number} at
   */
  at(at) {
    if (this.#reading === null || at < this.#read) {
      this.#reading = new Reading();
      this.#read = 0;
    }
    if (at > this.#read) {
      this.#reading.read(this.entries.slice(this.#read, at));
      this.#read = at;
    }
    return this.#reading;
  }

  /**
   * @param {number} code
   * @param {string | number} step
   * @param {Set<string> | null} keys
   */
  #open(code, step, keys) {
    const place = this.next() ?? ROOT;
    this.put(code, place, code === ARRAY ? NO_ELEMENTS : NO_MEMBERS);
    this.enter(place, step, keys);
  }

  /**
   * @param {number} code
   * @param {Place} place
   * @param {any} value
   */
  put(code, place, value) {
    this.entries.push({ code, place, value });
    this.waits = false;
    const shown = this.#shown;
    this.#shown = null;
    if (this.#twice) {
      this.#twice = false;
      this.doubtful = true;
    }
    if (shown !== null ? !same(shown.value, value) : this.depth > 0) this.changed = true;
  }
}

/**
 * @param {string | Entry} entry
 * @returns {entry is Entry}
 */
function isShown(entry) {
  return typeof entry !== "string" && entry.code === SHOWN;
}

/** One entity's changes in PROGRESSIVE: a string is there when it is complete. */
export class FinishedLog extends Log {
  #text = "";

  startString() {
    this.string = this.next() ?? ROOT;
    this.#text = "";
  }

  /** @param {string} run */
  text(run) {
    this.#text += run;
  }

  endString() {
    const place = this.string ?? ROOT;
    this.string = null;
    this.put(SCALAR, place, this.#text);
    this.end();
  }

  /** @returns {[any, Path | null]} */
  known() {
    if (this.string !== null) {
      this.put(STRING, this.string, "");
      this.entries.push(this.#text);
    }
    return super.known();
  }
}

/**
 * Hands on to a log what arrives, but the values at some patterns as one, when they are complete.
 *
 * With `["filename"]` the log of `{"filename": "a.t` has no filename; at the closing quote it gets the
 * scalar "a.txt". Of a container it gets nothing either until that is closed.
 * @extends {Placed<Pattern[]>}
 */
export class Held extends Placed {
  #log;
  /** The value that is held back, while it is being read. @type {Whole | null} */
  #whole = null;

  /**
   * @param {Log} log
   * @param {Pattern[]} patterns
   */
  constructor(log, patterns) {
    super(null, patterns);
    this.#log = log;
  }

  startObject() {
    this.#start("", "startObject");
  }

  startArray() {
    this.#start(0, "startArray");
  }

  endContainer() {
    if (this.#whole === null) this.leave();
    this.#sink().endContainer();
  }

  /** @param {string} key */
  key(key) {
    if (this.#whole === null) this.step = key;
    this.#sink().key(key);
  }

  startString() {
    this.#begin(this.#ofNext());
    this.#sink().startString();
  }

  /** @param {string} run */
  text(run) {
    this.#sink().text(run);
  }

  endString() {
    this.#sink().endString();
  }

  /** @param {any} value */
  scalar(value) {
    if (this.#whole === null) this.pass();
    this.#sink().scalar(value);
  }

  endDocument() {}

  nextDocument() {
    this.#log.nextDocument();
  }

  /** True if what is being read, or comes next, is shown only when it is complete. */
  holdsNext() {
    return this.#whole !== null || isEnd(this.#ofNext());
  }

  #sink() {
    return this.#whole ?? this.#log;
  }

  /**
   * @param {string | number} step
   * @param {"startObject" | "startArray"} event
   */
  #start(step, event) {
    const patterns = this.#ofNext();
    this.#begin(patterns);
    if (this.#whole === null) this.enter(null, step, patterns);
    this.#sink()[event]();
  }

  /** What is left of the patterns that lead to the value that comes next, or into it. */
  #ofNext() {
    if (this.depth === 0) return this.inside;
    const fitting = this.inside.filter(([want]) => fits(want, this.step));
    return fitting.map((pattern) => pattern.slice(1));
  }

  /**
   * A value begins: hold it back, if that is what these patterns say.
   * @param {Pattern[]} patterns
   */
  #begin(patterns) {
    if (this.#whole !== null) return;
    this.pass();
    if (!isEnd(patterns)) return;
    const ended = () => {
      const { live } = /** @type {Whole} */ (this.#whole);
      this.#whole = null;
      this.#log.scalar(live);
    };
    this.#whole = new Whole({ ended, givenUp: () => this.nextDocument() });
  }
}

/**
 * True if one of these patterns has no more steps.
 * @param {Pattern[]} patterns
 */
function isEnd(patterns) {
  return patterns.some(({ length }) => length === 0);
}

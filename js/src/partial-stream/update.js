/**
 * An update: the progress of one entity.
 *
 * It keeps a position in the log of its entity, not a copy: its data and delta are built when they
 * are first read, and making or keeping an update costs the same however large the entity is.
 */

import { isComplete } from "../build/lookup.js";
import { completePaths, difference } from "./replay.js";

/** @typedef {import("./delta.js").Change} Change */
/** @typedef {import("./log.js").Log} Log */
/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../parse/machine.js").Repair} Repair */
/** @typedef {import("../parse/place.js").Place} Place */
/** @typedef {"PARTIAL" | "COMPLETED" | "ERROR"} Status */
/**
 * What went wrong, as `JsonrillError.toJSON` says it; `path` is text.
 * @typedef {{code: string, message: string, offset?: number, line?: number, column?: number,
 *   path?: string, limit?: string}} UpdateError
 */
/**
 * One entity of a document: its number, its declared name, where it is.
 * @typedef {object} Entity
 * @property {number} [index]
 * @property {string} [name]
 * @property {Place | null} place
 * @property {number} document
 */

/** Marks data and deltas that are built when they are first read. */
export const UNREAD = Symbol("unread");

/**
 * The state of one entity, safe to keep. A field that an update does not have is undefined.
 * @template [T=unknown]
 */
export class Update {
  #entity;
  #log;
  /** @type {any} */
  #data;
  /** @type {any} */
  #delta;
  // The update before this one was at `since`, when `string` was the open string.
  #since;
  #string;
  #at;
  /** @type {Path | null} */
  #open;
  #repairs;

  /**
   * The update of an entity as its log has it now.
   * @param {Entity} entity
   * @param {Status} status
   * @param {Log | null} log
   * @param {any} data UNREAD, or the data; undefined: has none
   * @param {any} delta UNREAD; undefined: has none
   * @param {{all: Repair[], start: number, end: number}} repairs those between start and end
   * @param {UpdateError} [error]
   * @param {Path | null} [open] the path of what still grows, if there is no log
   */
  constructor(entity, status, log, data, delta, repairs, error, open = null) {
    this.#entity = entity;
    this.#log = log;
    this.#data = data;
    this.#delta = delta;
    this.#since = log === null ? 0 : log.sent;
    this.#string = log === null ? null : log.sentString;
    this.#at = log === null ? 0 : log.entries.length;
    this.#open = open;
    this.#repairs = repairs;
    /** PARTIAL while the entity grows, then COMPLETED or ERROR. */
    this.status = status;
    /** Of an ERROR: what went wrong. */
    this.error = error;
  }

  /** Counts the entities of one name from 0; undefined if an ERROR is about none. */
  get index() {
    return this.#entity.index;
  }

  /** The declared name. */
  get entity() {
    return this.#entity.name;
  }

  /**
   * The path of the entity in its document.
   * @returns {Path}
   */
  get path() {
    return this.#entity.place?.path ?? [];
  }

  /** The number of the entity's document in the stream, from 0. */
  get document() {
    return this.#entity.document;
  }

  /** With `repair`: the repairs that were needed to read the document this far. */
  get repairs() {
    const { all, start, end } = this.#repairs;
    return all.slice(start, end);
  }

  /**
   * What is known of the entity: all of it at COMPLETED, what was good at ERROR.
   * @returns {import("../build/builder.js").DeepPartial<T> | undefined}
   */
  get data() {
    if (this.#data === UNREAD) this.#data = this.#log?.at(this.#at).value;
    return this.#data;
  }

  /**
   * What is new since the entity's update before, with `send: "delta"` or `"both"`.
   * @returns {Change[] | undefined}
   */
  get delta() {
    if (this.#delta === UNREAD) this.#delta = this.#change();
    return this.#delta;
  }

  /**
   * The paths, within the data, of the values that became complete with this update.
   * @returns {Path[]}
   */
  get completed() {
    const log = this.#log;
    const paths = log === null ? completePaths(this.data) : log.completed(this.#since, this.#at);
    if (this.status !== "ERROR") return paths;
    // Which may have removed one again.
    const open = this.openPath;
    return paths.filter((path) => isComplete(this.data, path, open));
  }

  /**
   * The path, within the data, of the value that still grows; null if nothing does.
   * @returns {Path | null}
   */
  get openPath() {
    if (this.status !== "PARTIAL" || this.#log === null) return this.#open;
    return this.#log.at(this.#at).openPath;
  }

  /**
   * True if there is a value at this path, within the data (without one: all of it), and it is complete.
   * @param {Path | string} [path]
   */
  isComplete(path = []) {
    const log = this.status === "ERROR" ? null : this.#log;
    const value = log === null ? this.data : log.at(this.#at).live;
    return isComplete(value, path, this.openPath);
  }

  /**
   * The update as it is on the wire; what it does not have is left out.
   * @returns {{[field: string]: any}}
   */
  toJSON() {
    const { index, status, data, entity, delta, error } = this;
    const fields = { index, status, data, entity, delta, error };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }

  /** The changes since the update before; compared, if an error removed something. */
  #change() {
    const log = this.#log;
    if (log !== null && this.status !== "ERROR") {
      return log.delta(this.#since, this.#string, this.#at);
    }
    const { data } = this;
    if (log !== null && this.#since > 0) return difference(log.at(this.#since).value, data);
    if (data === null && this.status === "ERROR") return [];
    return [{ op: "add", path: "", value: data }];
  }

  /**
   * Make `later` tell also what `earlier` would have; false if they are of two entities.
   * @param {Update} earlier
   * @param {Update} later
   */
  static absorb(earlier, later) {
    if (earlier.#entity !== later.#entity) return false;
    later.#since = earlier.#since;
    later.#string = earlier.#string;
    return true;
  }
}

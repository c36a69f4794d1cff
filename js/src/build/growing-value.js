/** What `Document` and `Rebuilder` show of their growing value. */

import { isComplete } from "./lookup.js";

/** @import { Path } from "../paths.js" */
/** @import { DeepPartial } from "./builder.js" */
/** @import { LocatedBuilder } from "./located.js" */

/** @template [T=unknown] */
export class GrowingValue {
  #growing;

  /** @param {LocatedBuilder} growing */
  constructor(growing) {
    this.#growing = growing;
  }

  /**
   * What is known, without a copy: one object that changes with the next `feed`. Look, do not keep.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get live() {
    return this.#growing.live;
  }

  /**
   * What is known, safe to keep: it stays as it is, and what does not change is the same object in
   * the next value. Looking costs a copy of the open containers.
   * @returns {DeepPartial<T> | undefined} undefined: no value yet
   */
  get value() {
    return this.#growing.value;
  }

  /** Grows with every change of the value. */
  get version() {
    return this.#growing.version;
  }

  /** True if a value has begun. */
  get started() {
    return this.#growing.started;
  }

  /** True if the document is complete. */
  get complete() {
    return this.#growing.complete;
  }

  /**
   * The path of the value that still grows; null before the first and after the last.
   * @returns {Path | null}
   */
  get openPath() {
    return this.#growing.openPath;
  }

  /**
   * True if there is a value at `path`, by default at the root, and it is complete.
   * @param {Path | string} [path]
   */
  isComplete(path = []) {
    return isComplete(this.#growing.live, path, this.#growing.openPath);
  }
}

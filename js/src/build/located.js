/** A value that grows, with the path of what still grows in it. */

import { ValueBuilder } from "./builder.js";

/** @typedef {import("../paths.js").Path} Path */

/** The growing value of those who show more of it than the value: readers of text alone pay less. */
export class LocatedBuilder extends ValueBuilder {
  /**
   * The path of the innermost value that still grows; null if there is none.
   * @returns {Path | null}
   */
  get openPath() {
    const { length } = this._spine;
    if (length === 0) return this._isOpen ? [] : null;
    const depths = this._isOpen ? length : length - 1;
    return this._spine
      .slice(0, depths)
      .map((one, depth) => (Array.isArray(one) ? one.length - 1 : (this._keys[depth + 1] ?? this._key)));
  }

  /**
   * End the open string as `value`, for senders whose partial texts were provisional.
   * @param {string} value
   */
  endStringAs(value) {
    if (value !== this._text) {
      this.version += 1;
      this._replace(value);
    }
    this.endString();
  }
}

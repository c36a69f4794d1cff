/** The paths of what a machine reads, each made from the one around it. */

import { stepText } from "./path-text.js";

/** @typedef {import("../paths.js").Path} Path */

/** A path as one step below its parent: making one costs the same at any depth. */
export class Place {
  /** @type {string | null} */
  #text = null;

  /**
   * @param {Place | null} parent null: the root's
   * @param {string | number} key
   */
  constructor(parent, key) {
    this.parent = parent;
    this.key = key;
  }

  /** @returns {Path} */
  get path() {
    /** @type {Path} */
    const path = [];
    for (let place = /** @type {Place | null} */ (this); place !== null; place = place.parent) {
      path.push(place.key);
    }
    return path.reverse();
  }

  /** The path as text; kept, because those below begin with it. */
  get text() {
    /** @type {Place[]} */
    const unknown = [];
    let place = /** @type {Place | null} */ (this);
    for (; place !== null && place.#text === null; place = place.parent) unknown.push(place);
    let text = place === null ? "root" : /** @type {string} */ (place.#text);
    for (const below of unknown.reverse()) below.#text = text += stepText(below.key);
    return text;
  }
}

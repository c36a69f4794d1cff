/** Where a sink of the machine is in the document, for all that need paths. */

import { Place } from "./place.js";

/**
 * Knows where it is. A subclass calls `next` when a value begins, `enter` and `leave` for containers,
 * and sets `step` to each key. What it keeps about the open container is in `inside`, so that there
 * is one stack. The document, or the part of it that the sink is told of, is at `root`.
 * @template T
 */
export class Placed {
  #root;
  #first;
  /** @type {Place | null} */
  #container = null;
  /** @type {{container: Place | null, step: string | number, inside: T}[]} */
  #frames = [];
  /** In an object the last key, in an array the index of the next element. @type {string | number} */
  step = "";
  /** @type {T} */
  inside;

  /**
   * @param {Place | null} root
   * @param {T} inside outside of all containers
   */
  constructor(root, inside) {
    this.#root = root;
    this.#first = this.inside = inside;
  }

  /** The number of open containers. */
  get depth() {
    return this.#frames.length;
  }

  /** The place of the open container. */
  get container() {
    return this.#container;
  }

  /** The place of the value that comes next. */
  here() {
    return this.#frames.length === 0 ? this.#root : new Place(this.#container, this.step);
  }

  /** The place of the value that begins now. */
  next() {
    const place = this.here();
    this.pass();
    return place;
  }

  /** Go past the value that begins now; its place is known. */
  pass() {
    if (typeof this.step === "number") this.step += 1;
  }

  /**
   * The value at `place` is a container; `step` is "" in an object, 0 in an array.
   * @param {Place | null} place
   * @param {string | number} step
   * @param {T} inside
   */
  enter(place, step, inside) {
    this.#frames.push({ container: this.#container, step: this.step, inside: this.inside });
    this.#container = place;
    this.step = step;
    this.inside = inside;
  }

  leave() {
    const { container, step, inside } = /** @type {any} */ (this.#frames.pop());
    this.#container = container;
    this.step = step;
    this.inside = inside;
  }

  /** Start over, before the root. */
  restart() {
    this.#container = null;
    this.step = "";
    this.inside = this.#first;
    this.#frames = [];
  }
}

/** The fields of a value as a schema makes them, one by one. */

import { later } from "./standard.js";

/** @typedef {import("./standard.js").StandardSchema} StandardSchema */

/** Remembers the fields that were yielded, to tell those that the complete value has otherwise. */
export class WholeFields {
  /** @type {Map<string, string | undefined>} */
  #yielded = new Map();

  /**
   * Name and value of a field; with what zod and valibot say of it alone, to be awaited.
   * @param {any} schema
   * @param {string} name
   * @param {any} value
   */
  field(schema, name, value) {
    const own = (schema?.shape ?? schema?.entries)?.[name];
    const shown = (/** @type {any} */ result) => {
      this.#yielded.set(name, form(result));
      return [name, result];
    };
    return own?.["~standard"] ? later(own, value, shown) : shown(value);
  }

  /** The fields that are not what was yielded. @param {any} value */
  changed = (value) => Object.entries(value).filter(([name, one]) => this.#yielded.get(name) !== form(one));
}

/** What tells two values apart that JSON writes alike, too. @param {any} value */
function form(value) {
  return `${Object.prototype.toString.call(value)} ${stringified(value)}`;
}

/** @param {any} value */
function stringified(value) {
  try {
    return JSON.stringify(value);
  } catch {
    return String(value); // a BigInt, for example
  }
}

/** The fragments of a text. */

import { append, apart } from "./growing.js";
import { Parser } from "../wire/parser.js";
import { checkSource, drive } from "../sources/reading.js";

/** @import { Cut } from "../errors.js" */
/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { SourceOptions } from "../sources/driving.js" */
/** @import { Source } from "../sources/reading.js" */
/** @import { Fragment } from "../wire/fragments.js" */

/**
 * The fragments of a text, each as soon as it is certain.
 * @param {Source} source
 * @param {ParserOptions & SourceOptions} [options]
 * @returns {AsyncGenerator<Fragment, void, undefined>}
 */
export function fragments(source, options = {}) {
  checkSource(source);
  const [reading, parsing, several] = apart(options);
  const parser = new Parser(parsing, several);
  const stage = (/** @type {any} */ piece, /** @type {Fragment[]} */ out, /** @type {Cut | null} */ cut) => {
    try {
      append(out, piece === undefined ? parser.flush(cut) : parser.feed(piece));
    } catch (error) {
      append(out, /** @type {any} */ (error).fragments ?? []);
      throw error;
    }
    if (piece === undefined && parser.errors.length !== 0) throw parser.errors[0];
  };
  return drive(source, stage, reading);
}

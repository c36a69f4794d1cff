/** Where a JSON value in a text ends, found without parsing it: it may come in any pieces. */

import { SPACE } from "./split-text.js";

const JSON_SPACE = " \t\n\r";
const STRUCTURE = { strict: /["{}[\]]/g, lenient: /["'{}[\]]/g };
/** @type {{[quote: string]: RegExp}} */
const IN_STRING = { '"': /["\\]/g, "'": /['\\]/g };
const SCALAR_END = new RegExp(`[${SPACE},:}\\][{"<]`, "g");

/**
 * The first match at or after a place.
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} at
 */
function search(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Follows one JSON value through a text. `take` returns how much of a text belongs to it. With
 * `repair` strings may be in single quotes, too.
 */
export class JsonSpan {
  started = false;
  isDone = false;
  /** True inside of a string, where a tag or a fence means nothing. */
  inString = false;
  #structure;
  #repair;
  #quote = '"';
  #depth = 0;
  #escaped = false;

  constructor(repair = false) {
    this.#repair = repair;
    this.#structure = repair ? STRUCTURE.lenient : STRUCTURE.strict;
  }

  /**
   * The place after the part of the value that the text has from `at` on; sets `isDone` at its end.
   * @param {string} text
   * @param {number} at
   */
  take(text, at) {
    if (!this.started) {
      while (at < text.length && JSON_SPACE.includes(text[at])) at += 1;
      if (at === text.length) return at;
      this.started = true;
      if (!'"{['.includes(text[at]) && !(this.#repair && text[at] === "'")) return this.#scalar(text, at);
    } else if (!this.inString && this.#depth === 0) {
      return this.#scalar(text, at);
    }
    while (at < text.length) {
      if (this.inString) {
        at = this.#string(text, at);
        if (this.inString) return at;
      } else {
        const match = search(this.#structure, text, at);
        if (match === null) return text.length;
        at = match.index + 1;
        if (match[0] === '"' || match[0] === "'") {
          this.inString = true;
          this.#quote = match[0];
          continue;
        }
        this.#depth += "{[".includes(match[0]) ? 1 : -1;
      }
      if (this.#depth <= 0) {
        this.isDone = true;
        return at;
      }
    }
    return at;
  }

  /**
   * The place after the string, or the end of the text.
   * @param {string} text
   * @param {number} at
   */
  #string(text, at) {
    while (at < text.length) {
      if (this.#escaped) {
        this.#escaped = false;
        at += 1;
        continue;
      }
      const match = search(IN_STRING[this.#quote], text, at);
      if (match === null) return text.length;
      at = match.index + 1;
      if (match[0] === this.#quote) {
        this.inString = false;
        return at;
      }
      this.#escaped = true;
    }
    return at;
  }

  /**
   * A number, literal or bare word ends at a delimiter, which is not part of it.
   * @param {string} text
   * @param {number} at
   */
  #scalar(text, at) {
    const match = search(SCALAR_END, text, at);
    this.isDone = match !== null;
    return match === null ? text.length : match.index;
  }
}

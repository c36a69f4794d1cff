/**
 * The arguments of one call: text in, a growing value out.
 *
 * `JsonArguments` parses text, for `FreeText` the text is the value, `Received` applies fragments from
 * the wire. After the end `Ended` keeps the result. None of them throws on data: what is wrong is in
 * `error`.
 */

import { Document } from "../build/document.js";
import { JsonrillError, LimitExceeded } from "../errors.js";
import { isJuf } from "../wire/fragments.js";
import { FragmentError, Rebuilder } from "../build/rebuilder.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../parse/machine.js").ParserOptions} ParserOptions */
/**
 * What is wrong with a call; offset, line and column are those in its `raw`, `path` is text.
 * @typedef {{code: string, message: string, offset?: number, line?: number, column?: number,
 *   path?: string, limit?: string, [field: string]: any}} Problem
 */
/**
 * `feed` returns false for text that is not taken. `isPlaceholder`: true for a `{}` that came alone;
 * the arguments that some providers send after it replace it. `openPath` is the path of the value that
 * still grows, or was cut off.
 * @typedef {{readonly raw: string, readonly value: any, readonly openPath: Path | null,
 *   readonly complete: boolean, readonly isPlaceholder: boolean, readonly error: Problem | null,
 *   feed(text: string): boolean, end(): Outcome}} Arguments
 */
/** What the text turned out to be. @typedef {"complete" | "empty" | "truncated"} Outcome */

// The most argument text that is kept, if no limit says otherwise.
const MOST_TEXT = 64 * 2 ** 20;

/** True if the text is nothing but the white space of JSON. @param {string} text */
export function isBlank(text) {
  return /^[ \t\n\r]*$/.test(text);
}

/** True if the text is an object without fields. @param {string} text */
function isEmptyObject(text) {
  return text === "{}" || /^[ \t\n\r]*\{[ \t\n\r]*\}[ \t\n\r]*$/.test(text);
}

/** True if the text only repeats a placeholder. @param {string} text */
function saysNothing(text) {
  return isBlank(text) || isEmptyObject(text);
}

/** Arguments before their first text, or after their end. @implements {Arguments} */
export class Ended {
  complete = false;
  isPlaceholder = false;
  error = null;

  /**
   * @param {string} [raw]
   * @param {any} [value]
   * @param {Path | null} [openPath]
   */
  constructor(raw = "", value = undefined, openPath = null) {
    this.raw = raw;
    this.value = value;
    this.openPath = openPath;
  }

  feed() {
    return false;
  }

  /** @returns {Outcome} */
  end() {
    return "empty";
  }
}

/** Argument text that should be JSON: it is parsed once. @implements {Arguments} */
export class JsonArguments {
  #document;
  #most;
  // True until there is text that is no placeholder.
  #isNew = true;
  raw = "";
  isPlaceholder = false;
  /** @type {Problem | null} */
  error = null;

  /**
   * @param {ParserOptions} options
   * @param {string} [text] the text so far, which is not a placeholder
   */
  constructor(options, text = "") {
    this.#document = new Document(options);
    this.#most = options.limits?.text ?? MOST_TEXT;
    if (text === "") return;
    this.#isNew = false;
    this.#parse(text);
  }

  get value() {
    return this.isPlaceholder ? {} : this.#document.value;
  }

  get openPath() {
    return this.isPlaceholder ? null : this.#document.openPath;
  }

  get complete() {
    return this.isPlaceholder || (this.#document.complete && this.error === null);
  }

  /** @param {string} text */
  feed(text) {
    if (this.error !== null) {
      // Text that is not JSON is kept, too, but not without bound.
      if (this.raw.length > this.#most) return false;
      this.raw += text;
      return true;
    }
    if (this.#isNew) {
      if (this.isPlaceholder) {
        if (saysNothing(text)) return false;
        this.raw = "";
        this.isPlaceholder = false;
      } else if (isEmptyObject(text)) {
        this.raw += text;
        this.isPlaceholder = true;
        return true;
      }
      this.#isNew = false;
    } else if (this.#document.complete && (text === this.raw || isEmptyObject(text))) {
      return false; // a repetition
    }
    this.#parse(text);
    return true;
  }

  /** @param {string} text */
  #parse(text) {
    this.raw += text;
    this.error = problemOf(() => this.#document.feed(text));
  }

  /** @returns {Outcome} */
  end() {
    if (isBlank(this.raw)) return "empty";
    if (this.isPlaceholder) this.#document.feed(this.raw);
    this.isPlaceholder = false;
    return problemOf(() => this.#document.flush()) === null ? "complete" : "truncated";
  }
}

/** Argument text that is not JSON: the value is the text itself. @implements {Arguments} */
export class FreeText {
  #most;
  raw = "";
  complete = false;
  isPlaceholder = false;
  /** @type {Path} */
  openPath = [];
  /** @type {Problem | null} */
  error = null;

  /** @param {ParserOptions} options */
  constructor(options) {
    this.#most = options.limits?.text ?? MOST_TEXT;
  }

  get value() {
    return this.raw;
  }

  /** @param {string} text */
  feed(text) {
    if (this.raw.length + text.length > this.#most) {
      const lines = (this.raw + text).slice(0, this.#most).split("\n");
      const column = /** @type {string} */ (lines.at(-1)).length + 1;
      const place = { offset: this.#most, line: lines.length, column, path: [] };
      this.error ??= /** @type {Problem} */ (new LimitExceeded(`more than ${this.#most} (text)`, "text", place).toJSON());
      return false;
    }
    this.raw += text;
    return true;
  }

  /** @returns {Outcome} */
  end() {
    return "complete";
  }
}

/**
 * Arguments that another jsonrill has parsed: its fragments are applied, its text is kept.
 * @implements {Arguments}
 */
export class Received {
  /** Made for the dialect of the first fragments. @type {Rebuilder | null} */
  #rebuilder = null;
  raw = "";
  isPlaceholder = false;
  error = null;
  /** False after text without fragments, or fragments that do not fit: the text must be parsed. */
  fits = true;

  get value() {
    return this.isPlaceholder ? {} : this.#rebuilder?.value;
  }

  /** @returns {Path | null} */
  get openPath() {
    return this.#rebuilder?.openPath ?? null;
  }

  get complete() {
    return this.isPlaceholder || (this.#rebuilder?.complete ?? false);
  }

  /**
   * Add the text and fragments of one event (null: none were sent); true if anything is new.
   * @param {string} text
   * @param {unknown[] | null} fragments
   */
  receive(text, fragments) {
    if (this.raw.length > MOST_TEXT) return false;
    if (this.isPlaceholder) {
      if (text === "" ? !fragments?.length : saysNothing(text)) return false;
      // Fragments alone mean that it was the value.
      if (text !== "") this.raw = "";
      this.isPlaceholder = false;
    } else if (fragments?.length === 0 && this.raw === "" && isEmptyObject(text)) {
      this.raw = text;
      this.isPlaceholder = true;
      return true;
    }
    if (text === "" && fragments === null) return false;
    this.raw += text;
    this.fits = fragments !== null && this.#apply(text, fragments);
    return this.fits || text !== "";
  }

  /** @param {string} text */
  feed(text) {
    return this.receive(text, null);
  }

  /** @returns {Outcome} */
  end() {
    this.isPlaceholder = false;
    if (this.complete) return "complete";
    return isBlank(this.raw) && !this.#rebuilder?.started ? "empty" : "truncated";
  }

  /**
   * Apply the fragments; false if they do not fit.
   * @param {string} text
   * @param {unknown[]} fragments
   */
  #apply(text, fragments) {
    if (fragments.length === 0) return true;
    if (this.#rebuilder === null) {
      const dialect = isJuf(fragments) ? "juf" : "jsonrill";
      // The fragments of the public generator lose escapes.
      if (dialect === "juf" && text !== "") return false;
      this.#rebuilder = new Rebuilder({ dialect });
    }
    try {
      this.#rebuilder.feed(fragments);
      return true;
    } catch (error) {
      if (error instanceof FragmentError) return false;
      throw error;
    }
  }
}

/**
 * The value of a text that has ended, and what is wrong with it.
 * @param {string} text
 */
export function readText(text) {
  const document = new Document();
  const error = problemOf(() => {
    document.feed(text);
    document.flush();
  });
  return { value: document.value, error };
}

/**
 * What is wrong with the text that `work` reads; null if nothing is.
 * @param {() => void} work
 * @returns {Problem | null}
 */
function problemOf(work) {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof JsonrillError)) throw error;
    return /** @type {Problem} */ (error.toJSON());
  }
}

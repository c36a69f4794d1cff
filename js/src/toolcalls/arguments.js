/**
 * The arguments of one call: text in, a growing value out.
 *
 * `JsonArguments` parses text, for `FreeText` the text is the value, `Received` applies fragments from
 * the wire and falls back to the text. After the end `Ended` keeps the result. None of them throws on
 * data: what is wrong is in `error`.
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

  /** @param {ParserOptions} options */
  constructor(options) {
    this.#document = new Document(options);
    this.#most = options.limits?.text ?? MOST_TEXT;
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
    this.raw += text;
    this.error = problemOf(() => this.#document.feed(text));
    return true;
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
 *
 * Text that came without fragments, or with fragments that do not fit, takes their place: from then on
 * the value is that of the text, once it is complete. What is wrong with it is the sender's to say.
 * @implements {Arguments}
 */
export class Received {
  /** Made for the dialect of the first fragments. @type {Rebuilder | null} */
  #rebuilder = null;
  /** @type {Document | null} */
  #fallback = null;
  raw = "";
  isPlaceholder = false;
  error = null;

  /** @param {boolean} free the text is no JSON but the value itself */
  constructor(free) {
    this.free = free;
  }

  get value() {
    if (this.free) return this.raw;
    if (this.isPlaceholder) return {};
    return this.#fallback?.complete ? this.#fallback.value : this.#rebuilder?.value;
  }

  /** @returns {Path | null} */
  get openPath() {
    if (this.free) return [];
    if (this.isPlaceholder || this.#fallback?.complete) return null;
    return this.#rebuilder?.openPath ?? null;
  }

  get complete() {
    if (this.free) return false;
    return this.isPlaceholder || (this.#fallback?.complete ?? false) || (this.#rebuilder?.complete ?? false);
  }

  /**
   * Add the text and fragments of one event (null: none were sent); true if anything is new.
   * @param {string | null} text
   * @param {unknown[] | null} fragments
   */
  receive(text, fragments) {
    if (this.raw.length > MOST_TEXT) return false;
    if (this.isPlaceholder) {
      if (text && saysNothing(text)) return false;
      if (!text) {
        // Fragments say that it was the value.
        this.isPlaceholder = !fragments?.length;
        if (fragments !== null) this.#applied(fragments);
        return fragments !== null;
      }
      this.raw = "";
      this.isPlaceholder = false;
    } else if (fragments?.length === 0 && text && this.raw === "" && isEmptyObject(text)) {
      this.raw += text;
      this.isPlaceholder = !this.free;
      return true;
    }
    if (text) this.raw += text;
    return this.#read(text ?? "", fragments) || Boolean(text);
  }

  /** @param {string} text */
  feed(text) {
    return this.receive(text, null);
  }

  /** @returns {Outcome} */
  end() {
    this.isPlaceholder = false;
    if (this.free || this.complete) return "complete";
    if (isBlank(this.raw)) return this.#rebuilder?.started ? "truncated" : "empty";
    this.#fallBack("");
    problemOf(() => this.#fallback?.flush());
    return this.complete ? "complete" : "truncated";
  }

  /**
   * Apply the fragments, or read the text in their place; true if the fragments are used.
   * @param {string} text
   * @param {unknown[] | null} fragments
   */
  #read(text, fragments) {
    if (fragments !== null && this.#fallback === null) {
      if (this.#applied(fragments) || this.free) return true;
    } else if (text === "" || this.free) {
      return false;
    }
    this.#fallBack(text);
    return false;
  }

  /** @param {unknown[]} fragments */
  #applied(fragments) {
    if (fragments.length === 0) return true;
    this.#rebuilder ??= new Rebuilder({ dialect: isJuf(fragments) ? "juf" : "jsonrill" });
    try {
      this.#rebuilder.feed(fragments);
      return true;
    } catch (error) {
      if (error instanceof FragmentError) return false;
      throw error;
    }
  }

  /** @param {string} text */
  #fallBack(text) {
    if (this.#fallback === null) {
      this.#fallback = new Document();
      text = this.raw;
    }
    problemOf(() => this.#fallback?.feed(text));
  }
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

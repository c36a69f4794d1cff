/**
 * One tool call, and its lifecycle: streaming → complete | error | truncated.
 *
 * A call takes what statements bring (`_take`). It ends because its provider says so (`_end`), because
 * its response ends (`_finish`), or because the stream stops (`_abandon`). Which statements are about
 * it is decided in `identity.js`.
 */

import { Ended, FreeText, isBlank, JsonArguments, readText, Received } from "./arguments.js";
import { isComplete } from "../build/lookup.js";
import { Writer, WriterError } from "../providers/writer.js";
import { isObject } from "../parse/values.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("../parse/machine.js").ParserOptions} ParserOptions */
/** @typedef {import("./arguments.js").Arguments} Arguments */
/** @typedef {import("./arguments.js").Problem} Problem */
/** @typedef {import("../providers/statements.js").CallDelta} CallDelta */
/** @typedef {import("../providers/statements.js").End} End */
/** @typedef {"streaming" | "complete" | "error" | "truncated"} Status */
/** New argument text; "" if there is none but something else is new, null if nothing is. @typedef {string | null} News */

/**
 * One call. It grows with the stream; the `args` it hands out are safe to keep.
 *
 * `raw` is the argument text as received; `args` its value as far as known: undefined before anything
 * is, the text itself for tools that take free text (`encoding`).
 */
export class ToolCall {
  #options;
  /** @type {Arguments} */
  #arguments = new Ended();
  // The arguments ended without a character: the end of the response decides if they were cut off.
  #void = false;
  // Something of it came that is not known: without anything else its arguments are not known.
  #unread = false;
  // True if the sender has read it already; it may leave out the name.
  #isReceived = false;
  /** @type {any} */
  #preset = undefined;
  /** @type {Writer | null} */
  #writer = null;

  /**
   * @param {string} id
   * @param {number | null} index
   * @param {string} messageId
   * @param {ParserOptions} options
   */
  constructor(id, index, messageId, options) {
    this.#options = options;
    this.id = id;
    this.index = index;
    this.messageId = messageId;
    /** @type {string | null} */
    this.name = null;
    /** @type {Status} */
    this.status = "streaming";
    /** @type {Problem | null} */
    this.error = null;
    /** "text": the arguments are free text, not JSON. @type {"json" | "text"} */
    this.encoding = "json";
    /** True once there is a result, which may be null. */
    this.answered = false;
    /** @type {any} */
    this.result = undefined;
    this.resultIsError = false;
    /** True if the provider runs the tool itself. */
    this.hosted = false;
    /** For identity: true if the id is the sender's own. */
    this.ownId = true;
    /** True while more of it may come. */
    this.open = true;
    /** True if its response has ended. */
    this.ended = false;
  }

  /** The argument text as received. */
  get raw() {
    return this.#arguments.raw;
  }

  /** The arguments as far as they are known, safe to keep. */
  get args() {
    return this.#arguments.value;
  }

  /**
   * The path, within the arguments, of the value that still grows, or was cut off.
   * @returns {Path | null}
   */
  get openPath() {
    return this.#arguments.openPath;
  }

  /**
   * True if there is a value at `path`, within the arguments, and it is complete; without a path: all
   * of them.
   * @param {Path | string} [path]
   */
  isComplete(path = []) {
    return isComplete(this.args, path, this.openPath);
  }

  /**
   * True once the arguments are a complete JSON value. It never becomes true twice: a placeholder, which
   * the arguments may replace, does not count.
   */
  get completeArgs() {
    if (this.status !== "streaming") return this.status === "complete";
    return this.#arguments.complete && !this.isPlaceholder;
  }

  /** For identity: true if argument text has arrived. */
  get begun() {
    return this.raw !== "";
  }

  /** For identity: true if they are a complete JSON value, though the call may be in error. */
  get argsEnded() {
    return this.status === "complete" || this.#arguments.complete;
  }

  /** True if it has ended. (One in error may still gain text, or its id.) */
  get settled() {
    return this.ended || this.status === "complete" || this.status === "truncated";
  }

  /** True for a `{}` that the arguments may still replace. */
  get isPlaceholder() {
    return this.#arguments.isPlaceholder;
  }

  // ---- what statements bring ----

  /**
   * Add the arguments of a delta, which come as text, values or fragments.
   * @param {CallDelta} delta
   * @returns {News}
   */
  _take(delta) {
    const { text, free = false } = delta;
    if (delta.hosted) this.hosted = true;
    if (delta.unread) this.#unread = true;
    if (free && this.#arguments instanceof Ended) {
      this.encoding = "text";
      this.#arguments = new FreeText(this.#options);
    }
    if (delta.received) return this.#receive(delta);
    if (text != null) return this.#append(text);
    if (delta.preset !== undefined) this.#preset = delta.preset;
    const written = this.#written(delta);
    return written ? this.#append(written) : null;
  }

  /**
   * End the arguments, as the provider says; it may repeat them, or state them only now.
   * @param {End} end
   * @returns {News}
   */
  _end({ text = null, value, incomplete = false, sure = false, error = null }) {
    const news = this.#stated(text, value);
    if (error !== null) this.#fail(problem("PROVIDER_ERROR", error));
    // The name may come with a later event: the end of the response decides.
    if (this.name === null && this.status === "streaming" && !incomplete && !sure) return news;
    return joined(news, this.#close({ incomplete, isVoid: !sure }));
  }

  /**
   * End the call with its response; `error` says why its arguments are malformed.
   * @param {{incomplete?: boolean, error?: string | null}} [how]
   * @returns {News}
   */
  _finish({ incomplete = false, error = null } = {}) {
    const news = incomplete ? null : this.#stated(null, undefined);
    return joined(news, this.#close({ incomplete, error }));
  }

  /**
   * End the call because the stream stopped: truncated, unless the arguments are complete. `{}` is
   * enough only if the tokens were counted after it: the arguments might follow.
   * @param {boolean} [counted]
   */
  _abandon(counted = false) {
    const { complete, isPlaceholder } = this.#arguments;
    const ended = this.#void || (complete && (counted || !isPlaceholder));
    if (this.status === "streaming" && !ended) {
      this.status = "truncated";
      this.#freeze(this.args);
    } else {
      this.#close({});
    }
  }

  /**
   * Replace what was streamed by the final state.
   * @param {CallDelta} delta
   */
  _replace(delta) {
    const raw = delta.text ?? "";
    let value = delta.value;
    let error = /** @type {Problem | null} */ (null);
    if (value === undefined) {
      if (delta.free) value = raw;
      else if (raw === this.raw && this.status !== "streaming") value = this.args;
      else if (isBlank(raw)) value = {};
      else ({ value, error } = readText(raw));
    }
    this.encoding = delta.free ? "text" : "json";
    this.status = /** @type {Status} */ (delta.status ?? "complete");
    this.error = /** @type {Problem | null} */ (delta.error ?? null);
    if (error !== null && this.status === "complete") {
      this.status = "error";
      this.error = error;
    }
    this.#arguments = new Ended(raw, value);
    this.open = false;
  }

  // ---- text, and what becomes text ----

  /**
   * @param {string} text
   * @returns {News}
   */
  #append(text) {
    if (this.#arguments instanceof Ended) this.#arguments = new JsonArguments(this.#options);
    const isTaken = this.#arguments.feed(text);
    if (this.#arguments.error !== null) this.#fail(this.#arguments.error);
    return isTaken ? text : null;
  }

  /**
   * The JSON text of a delta that brings values; null if it brings none.
   * @param {Partial<CallDelta>} delta
   */
  #written(delta) {
    if (delta.parts?.length || (this.#writer !== null && delta.end)) return this.#partsText(delta);
    if (delta.value === undefined) return null;
    if (this.raw === "" || this.isPlaceholder) return JSON.stringify(delta.value);
    this.#compare(null, delta.value);
    return null;
  }

  /** @param {Partial<CallDelta>} delta */
  #partsText({ parts = [], end }) {
    this.#writer ??= new Writer();
    const writer = this.#writer;
    if (this.status === "error") return "";
    try {
      const text = parts.map((part) => writer.write(part)).join("");
      return end ? text + writer.close() : text;
    } catch (error) {
      if (!(error instanceof WriterError)) throw error;
      this.#fail(problem("INVALID_JSON", error.message));
      return null;
    }
  }

  /**
   * Apply the fragments of a sender, or parse the text, and follow the sender's verdict.
   * @param {CallDelta} delta
   * @returns {News}
   */
  #receive({ text = null, fragments = null, status, error }) {
    this.#isReceived = true;
    if (status === "error") {
      const isKnown = Object.keys(error ?? {}).length > 0;
      const unknown = problem("PROVIDER_ERROR", "the sender gave no reason");
      this.#fail(isKnown ? /** @type {Problem} */ (error) : unknown);
    }
    if (this.#arguments instanceof Ended) this.#arguments = new Received();
    const isNew = this.#received(text ?? "", fragments);
    if (this.status === "streaming") {
      if (status === "complete") {
        this.#close({});
      } else if (status === "truncated") {
        this.status = "truncated";
        this.#freeze(this.args);
      }
    }
    return isNew ? (text ?? "") : null;
  }

  /**
   * @param {string} text
   * @param {unknown[] | null} fragments
   */
  #received(text, fragments) {
    const received = this.#arguments;
    if (!(received instanceof Received)) return text !== "" && this.#append(text) !== null;
    const isNew = received.receive(text, fragments);
    if (!received.fits && this.raw !== "") this.#parseText();
    return isNew;
  }

  /** Parse the text from its start, in place of fragments. */
  #parseText() {
    this.#arguments = new JsonArguments(this.#options, this.raw);
    if (this.#arguments.error !== null) this.#fail(this.#arguments.error);
  }

  // ---- the full arguments, said by the provider ----

  /**
   * Compare stated arguments with those that came; take them if none came.
   * @param {string | null} text
   * @param {any} value
   * @returns {News}
   */
  #stated(text, value) {
    if (this.raw !== "" && !this.isPlaceholder) {
      this.#compare(text, value);
      return null;
    }
    if (text === null) {
      const isPreset = value === undefined;
      const stated = isPreset ? this.#preset : value;
      const isText = typeof stated === "string" && (isPreset || this.encoding === "text");
      text = isText ? stated : this.#written({ value: stated });
    }
    return text ? this.#append(text) : null;
  }

  /**
   * @param {string | null} text
   * @param {any} value
   */
  #compare(text, value) {
    if (this.status !== "streaming" || this.#fits(text, value)) return;
    const message = "the arguments stated at the end are not those that were streamed";
    this.#fail(problem("ARGUMENTS_DIFFER", message));
  }

  /**
   * @param {string | null} text
   * @param {any} value
   */
  #fits(text, value) {
    if (this.encoding === "text") {
      const stated = text ?? value ?? null;
      return stated === null || stated === this.raw;
    }
    if (text !== null) {
      if (text === this.raw) return true;
      const stated = this.completeArgs ? loaded(text) : undefined;
      return stated !== undefined && extend(stated, this.args) && extend(this.args, stated);
    }
    return value === undefined || (this.completeArgs && extend(value, this.args));
  }

  // ---- the end ----

  /**
   * Set the final status. If `isVoid`, arguments without a character stay undecided.
   * @param {{incomplete?: boolean, error?: string | null, isVoid?: boolean}} how
   * @returns {News} "" for a placeholder that was the value
   */
  #close({ incomplete = false, error = null, isVoid = false }) {
    const [known, openPath] = [this.args, this.openPath];
    if (this.status === "streaming") {
      const wasPlaceholder = this.isPlaceholder;
      // A number at the root is complete only now.
      const isOpen = this.#arguments instanceof Received && !this.#arguments.complete;
      if (isOpen && !isBlank(this.raw)) this.#parseText();
      const outcome = this.#arguments.end();
      const isFine = !incomplete && error === null;
      if (outcome === "empty" && isFine && !this.#unread) {
        if (isVoid) this.#void = true;
        else this.#complete({});
        return null;
      }
      if (outcome === "complete" && (isFine || !wasPlaceholder)) {
        this.#complete(this.args);
        return wasPlaceholder ? "" : null;
      }
      if (error !== null) this.#fail(problem("PROVIDER_ERROR", error));
      else if (this.#arguments.error === null) this.status = "truncated";
    }
    this.#freeze(known, openPath);
    return null;
  }

  /** @param {any} value */
  #complete(value) {
    if (this.name === null && !this.#isReceived) {
      this.#fail(problem("NO_NAME", "the call ended without a name"));
    } else {
      this.status = "complete";
    }
    this.#freeze(value);
  }

  /**
   * @param {any} value
   * @param {Path | null} [openPath]
   */
  #freeze(value, openPath = this.openPath) {
    const cut = this.status === "complete" ? null : openPath;
    this.#arguments = new Ended(this.raw, value, cut);
    this.#writer = null;
    this.#preset = undefined;
    this.open = false;
  }

  /** @param {Problem} error */
  #fail(error) {
    if (this.status === "error") return;
    this.status = "error";
    this.error = error;
  }
}

/**
 * Both together; at most one of them has text.
 * @param {News} news
 * @param {News} more
 * @returns {News}
 */
export function joined(news, more) {
  return more || (news ?? more);
}

/**
 * @param {string} code
 * @param {string} message
 * @returns {Problem}
 */
function problem(code, message) {
  return { code, message };
}

/**
 * The value of the text, undefined if it is not JSON.
 * @param {string} text
 */
function loaded(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * True for the same value. A validator may have added fields that the model left out.
 * @param {any} stated
 * @param {any} streamed
 * @returns {boolean}
 */
function extend(stated, streamed) {
  if (Array.isArray(streamed)) {
    if (!Array.isArray(stated) || stated.length !== streamed.length) return false;
    return streamed.every((item, at) => extend(stated[at], item));
  }
  if (isObject(streamed)) {
    if (!isObject(stated)) return false;
    return Object.keys(streamed).every((key) => Object.hasOwn(stated, key) && extend(stated[key], streamed[key]));
  }
  return stated === streamed;
}

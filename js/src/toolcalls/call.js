/**
 * One tool call, and its lifecycle: streaming → complete | error | truncated.
 *
 * A call takes the content of statements (`take`). It ends because its provider says so (`end`), because its
 * response ends (`finish`), or because the stream stops (`abandon`). `identity.js` decides which statements
 * are about it. Nothing here throws on data: problems are set as `error`.
 *
 * Its arguments come as JSON text, which is parsed once; as free text, which is the value itself; as values at paths,
 * which become text at the end; or as the fragments of another jsonrill, with their text.
 */

import { Document } from "../build/document.js";
import { FragmentError, JsonrillError } from "../errors.js";
import { isForeign, Rebuilder } from "../fragments.js";
import { LIMITS } from "../constants.js";
import { isComplete } from "../paths.js";
import { isObject } from "../parse/values.js";
import { assign } from "./paths.js";

/** @import { DeepPartial } from "../build/builder.js" */
/** @import { ParserOptions } from "../parse/machine.js" */
/** @import { Path } from "../paths.js" */
/** @import { CallDelta, End } from "../providers/statements.js" */
/** @typedef {"streaming" | "complete" | "error" | "truncated"} Status */
/**
 * An error of a call; offset, line and column are positions in `raw`, `path` is text.
 * @typedef {{code: string, message: string, offset?: number, line?: number, column?: number,
 *   path?: string, limit?: string, [field: string]: any}} Problem
 */
/** New argument text; "" if something else is new, null if nothing is new. @typedef {string | null} News */
/**
 * The fields of every snapshot of a call. `raw` is the argument text as received. `encoding` "text": the arguments are
 * free text, not JSON. `hosted`: the provider runs the tool itself. `answered`: there is a `result`, which may be
 * null. `completeArgs`: the arguments are a complete value. `openPath` and `isComplete(path)` tell what of them
 * is complete.
 * @template {string} N
 * @typedef {{readonly id: string, readonly index: number | null, readonly messageId: string, readonly name: N,
 *   readonly raw: string, readonly encoding: "json" | "text", readonly hosted: boolean, readonly answered: boolean,
 *   readonly result: any, readonly resultIsError: boolean, readonly completeArgs: boolean,
 *   readonly openPath: Path | null, readonly isComplete: (path?: Path | string) => boolean}} AnyCall
 */
/**
 * An immutable snapshot of a call. `args` are the arguments so far.
 * @template {string} [N=string]
 * @template [A=any]
 * @typedef {AnyCall<N> & ({readonly status: "complete", readonly args: A, readonly error: null}
 *   | {readonly status: "error", readonly args: DeepPartial<A> | undefined, readonly error: Problem}
 *   | {readonly status: "streaming" | "truncated", readonly args: DeepPartial<A> | undefined, readonly error: null}
 *   )} ToolCall
 */

/** True if the text is only JSON's white space. @param {string} text */
function isBlank(text) {
  return /^[ \t\n\r]*$/.test(text);
}

/** Return true if the text is an object without fields. @param {string} text */
function isEmptyObject(text) {
  return text === "{}" || /^[ \t\n\r]*\{[ \t\n\r]*\}[ \t\n\r]*$/.test(text);
}

/** One call while it grows. */
export class Call {
  /** @type {string | null} */
  name = null;
  /** @type {Status} */
  status = "streaming";
  /** @type {Problem | null} */
  error = null;
  /** @type {"json" | "text"} */
  encoding = "json";
  raw = "";
  answered = false;
  /** @type {any} */
  result = undefined;
  resultIsError = false;
  hosted = false;
  /** For identity: all ids under which the call is known. @type {string[]} */
  ids = [];
  /** For identity: true if the id is the sender's own. */
  ownId = true;
  /** True while more arguments may arrive. */
  open = true;
  /** True if its response has ended. */
  ended = false;
  /** True for a `{}` alone, which some providers send before the arguments. */
  isPlaceholder = false;
  /** The number of the last event about it. */
  event = 0;
  #options;
  /** What reads the arguments; null before their first text. @type {Document | Rebuilder | null} */
  #reader = null;
  /** The arguments once they have ended. @type {{value: any, openPath: Path | null} | null} */
  #final = null;
  // Whether the text is not JSON, the arguments were empty, or an event had unknown content.
  #isBroken = false;
  #isVoid = false;
  #isUnread = false;
  // True if another jsonrill sends the call; it may leave out the name.
  #isFromJsonrill = false;
  /** @type {any} */
  #preset = undefined;
  /** The arguments built from values at paths so far. @type {any} */
  #assigned = undefined;

  /**
   * @param {string} id
   * @param {number | null} index
   * @param {string} messageId
   * @param {ParserOptions} options
   */
  constructor(id, index, messageId, options) {
    this.id = id;
    this.index = index;
    this.messageId = messageId;
    this.#options = options;
  }

  /** The arguments so far, safe to keep. */
  get args() {
    if (this.#final !== null) return this.#final.value;
    if (this.encoding === "text") return this.raw;
    return this.isPlaceholder ? {} : (this.#assigned ?? this.#reader?.value);
  }

  /** The path of the value that is growing or was cut off. */
  get openPath() {
    if (this.#final !== null) return this.#final.openPath;
    if (this.encoding === "text") return [];
    return this.isPlaceholder ? null : (this.#reader?.openPath ?? null);
  }

  /** True if a later snapshot cannot read these arguments again from `raw`. */
  get isFixed() {
    return this.#final !== null || !(this.#reader instanceof Document);
  }

  /** True if the arguments are a complete value, or a placeholder. */
  get #isWhole() {
    return this.isPlaceholder || (this.#reader?.complete === true && !this.#isBroken);
  }

  /** True once the arguments are a complete value. It never becomes true twice: a placeholder does not count. */
  get completeArgs() {
    if (this.status !== "streaming") return this.status === "complete";
    return this.#isWhole && !this.isPlaceholder;
  }

  /** For identity: true if the arguments are a complete JSON value, even if the call is in error. */
  get argsEnded() {
    return this.status === "complete" || (this.#final === null && this.#isWhole);
  }

  /** True if the call has ended. (A call in error may still get text, or its id.) */
  get settled() {
    return this.ended || this.status === "complete" || this.status === "truncated";
  }

  /** @returns {ToolCall} */
  snapshot() {
    return /** @type {any} */ (new CallSnapshot(this));
  }

  // ---- statements ----

  /**
   * Add the arguments of a delta, which come as text, values or fragments.
   * @param {CallDelta} delta
   * @returns {News}
   */
  take(delta) {
    if (delta.hosted) this.hosted = true;
    if (delta.unread) this.#isUnread = true;
    if (delta.free && this.#reader === null) this.encoding = "text";
    if (delta.received) return this.#receive(delta);
    if (delta.text != null) return this.#append(delta.text);
    if (delta.preset !== undefined) this.#preset = delta.preset;
    if (delta.parts?.length) {
      for (const part of delta.parts) {
        const error = problemOf(() => (this.#assigned = assign(this.#assigned, part)));
        if (error !== null) this.#fail(error);
      }
      return "";
    }
    const json = this.#writeValue(delta.value);
    return json ? this.#append(json) : null;
  }

  /**
   * End the arguments because the provider says so. It may repeat them, or send them only now.
   * @param {End} end
   * @returns {News}
   */
  end({ text = null, value, incomplete = false, sure = false, error = null }) {
    const news = this.#reconcile(text, value);
    if (error !== null) this.#fail(problem("PROVIDER_ERROR", error));
    // The name may come with a later event: the end of the response decides.
    if (this.name === null && this.status === "streaming" && !incomplete && !sure) return news;
    return joinNews(news, this.#close({ incomplete, isVoid: !sure }));
  }

  /**
   * End the call with its response; `error` says why its arguments are malformed.
   * @param {{incomplete?: boolean, error?: string | null}} how
   * @returns {News}
   */
  finish({ incomplete = false, error = null }) {
    // Values at paths are complete only if the call itself has ended.
    const isCut = incomplete || this.#assigned !== undefined;
    const news = isCut ? null : this.#reconcile(null, undefined);
    return joinNews(news, this.#close({ incomplete: isCut, error }));
  }

  /** End the call with an error: `limit` calls are open already. @param {number} limit */
  refuse(limit) {
    this.#fail({ code: "LIMIT_EXCEEDED", message: `more than ${limit} calls have not ended (calls)`, limit: "calls" });
    this.#freeze(undefined, null);
  }

  /**
   * End the call because the stream stopped: truncated, unless the arguments are complete. `{}` is enough only
   * if the tokens were counted after it: the arguments might follow.
   * @param {boolean} [isCounted]
   */
  abandon(isCounted = false) {
    const hasEnded = this.#isVoid || (this.#isWhole && (isCounted || !this.isPlaceholder));
    if (this.status === "streaming" && !hasEnded) this.#truncate();
    else this.#close({});
  }

  /**
   * Replace what was streamed by the final state.
   * @param {CallDelta} delta
   */
  replace({ text, value, free, status, error }) {
    const raw = text ?? "";
    const isKnown = raw === this.raw && this.status !== "streaming";
    let problem = error ?? null;
    if (value === undefined && !free && !isKnown && !isBlank(raw)) {
      const read = readText(raw);
      problem ??= read.error;
      value = read.value;
    }
    this.raw = raw;
    this.encoding = free ? "text" : "json";
    this.status = /** @type {Status} */ (status ?? "complete");
    if (problem !== null && this.status === "complete") this.status = "error";
    this.error = this.status === "error" ? /** @type {Problem} */ (problem) : null;
    this.#freeze(value ?? (free ? raw : isKnown ? this.args : isBlank(raw) ? {} : undefined), null);
  }

  // ---- text, and values that are written as text ----

  /**
   * Add argument text; return null if it is ignored.
   * @param {string} text
   * @returns {News}
   */
  #append(text) {
    const limit = this.#options.limits?.text ?? LIMITS.text;
    if (this.raw.length + text.length > limit && (this.encoding === "text" || this.#isBroken)) {
      this.#fail({ code: "LIMIT_EXCEEDED", message: `more than ${limit} (text)`, limit: "text" });
      return null;
    }
    if (this.encoding === "json" && !this.#isBroken && !this.#isNews(text)) return null;
    this.raw += text;
    if (this.encoding === "json" && !this.isPlaceholder && !this.#isBroken) this.#parse(text);
    return text;
  }

  /** Return false for text that repeats a placeholder or the complete arguments. @param {string} text */
  #isNews(text) {
    if (this.#reader === null) {
      if (this.isPlaceholder) {
        if (isBlank(text) || isEmptyObject(text)) return false;
        this.raw = "";
      }
      this.isPlaceholder = !this.isPlaceholder && isEmptyObject(text);
      return true;
    }
    return !(this.#reader.complete && (text === this.raw || isEmptyObject(text)));
  }

  /** @param {string} text */
  #parse(text) {
    const document = this.#reader instanceof Document ? this.#reader : new Document(this.#options);
    this.#reader = document;
    const error = problemOf(() => document.feed(text));
    this.#isBroken = error !== null;
    if (error !== null) this.#fail(error);
  }

  /** Return the JSON text of arguments that come as a value; null if there is no new one. @param {any} value */
  #writeValue(value) {
    if (value === undefined) return null;
    if (this.raw === "" || this.isPlaceholder) return JSON.stringify(value);
    this.#compare(null, value);
    return null;
  }

  // ---- calls that another jsonrill sends ----

  /**
   * Apply the fragments of a sender, or parse the text, and follow the sender's verdict.
   * @param {CallDelta} delta
   * @returns {News}
   */
  #receive({ text = null, fragments = null, status, error }) {
    this.#isFromJsonrill = true;
    if (status === "error") {
      const isKnown = Object.keys(error ?? {}).length > 0;
      this.#fail(isKnown ? /** @type {Problem} */ (error) : problem("PROVIDER_ERROR", "the sender gave no reason"));
    }
    const isNew = this.#receiveText(text ?? "", fragments);
    if (this.status === "streaming" && status === "complete") this.#close({});
    else if (this.status === "streaming" && status === "truncated") this.#truncate();
    return isNew ? (text ?? "") : null;
  }

  /**
   * Add text and fragments (null: none were sent); return true if anything is new.
   * @param {string} text
   * @param {unknown[] | null} fragments
   */
  #receiveText(text, fragments) {
    if (this.encoding === "text" || this.#reader instanceof Document) return text !== "" && this.#append(text) !== null;
    if (this.raw.length > LIMITS.text || (text === "" && fragments === null)) return false;
    if (this.isPlaceholder) {
      if (text === "" ? !fragments?.length : isBlank(text) || isEmptyObject(text)) return false;
      if (text !== "") this.raw = ""; // fragments without text confirm the placeholder
      this.isPlaceholder = false;
    } else if (fragments?.length === 0 && this.raw === "" && isEmptyObject(text)) {
      this.raw = text;
      this.isPlaceholder = true;
      return true;
    }
    this.raw += text;
    const fits = fragments !== null && this.#apply(text, fragments);
    if (!fits && this.raw !== "") this.#parseAgain();
    return fits || text !== "";
  }

  /**
   * Apply fragments; return false if they do not fit, or are of the foreign dialect, which loses escapes.
   * @param {string} text
   * @param {unknown[]} fragments
   */
  #apply(text, fragments) {
    if (fragments.length === 0) return true;
    if (this.#reader === null && text !== "" && fragments.some(isForeign)) return false;
    this.#reader ??= new Rebuilder();
    try {
      /** @type {Rebuilder} */ (this.#reader).feed(fragments);
      return true;
    } catch (error) {
      if (error instanceof FragmentError) return false;
      throw error;
    }
  }

  /** Parse the text from its start, in place of fragments. */
  #parseAgain() {
    this.#reader = null;
    this.#parse(this.raw);
  }

  // ---- the full arguments, as the provider repeats them ----

  /**
   * Compare the full arguments with the streamed ones; use them if none were streamed.
   * @param {string | null} text
   * @param {any} value
   * @returns {News}
   */
  #reconcile(text, value) {
    if (this.raw !== "" && !this.isPlaceholder) {
      this.#compare(text, value);
      return null;
    }
    if (text === null) {
      const isPreset = value === undefined;
      const stated = isPreset ? (this.#assigned ?? this.#preset) : value;
      const isText = typeof stated === "string" && (isPreset || this.encoding === "text");
      text = isText ? stated : this.#writeValue(stated);
      this.#assigned = undefined;
    }
    return text ? this.#append(text) : null;
  }

  /**
   * @param {string | null} text
   * @param {any} value
   */
  #compare(text, value) {
    if (this.status !== "streaming" || this.#agrees(text, value)) return;
    this.#fail(problem("ARGUMENTS_DIFFER", "the arguments stated at the end are not those that were streamed"));
  }

  /**
   * @param {string | null} text
   * @param {any} value
   */
  #agrees(text, value) {
    if (this.encoding === "text") return (text ?? value ?? this.raw) === this.raw;
    if (text === null) return value === undefined || (this.completeArgs && isExtension(value, this.args));
    if (text === this.raw) return true;
    const { value: stated, error } = readText(text);
    return error === null && this.completeArgs && isExtension(stated, this.args) && isExtension(this.args, stated);
  }

  // ---- the end ----

  /**
   * Set the final status. If `isVoid`, empty arguments stay undecided.
   * @param {{incomplete?: boolean, error?: string | null, isVoid?: boolean}} how
   * @returns {News} "" for a placeholder that was the value
   */
  #close({ incomplete = false, error = null, isVoid = false }) {
    const { args, openPath } = this;
    if (this.status === "streaming") {
      const wasPlaceholder = this.isPlaceholder;
      const isFine = !incomplete && error === null;
      const outcome = this.#outcome(isFine);
      if (outcome === "empty" && isFine && !this.#isUnread) {
        if (isVoid) this.#isVoid = true;
        else this.#complete({});
        return null;
      }
      if (outcome === "complete" && (isFine || !wasPlaceholder)) {
        this.#complete(this.args);
        return wasPlaceholder ? "" : null;
      }
      if (error !== null) this.#fail(problem("PROVIDER_ERROR", error));
      else if (!this.#isBroken) this.status = "truncated";
    }
    this.#freeze(args, openPath);
    return null;
  }

  /** Return the kind of the arguments, now that they have ended. @param {boolean} isFine  nothing was cut off */
  #outcome(isFine) {
    if (this.encoding === "text" || this.isPlaceholder) return "complete";
    if (isBlank(this.raw) && !this.#reader?.started) return "empty";
    // A number at the root is complete only now.
    if (!(this.#reader instanceof Document) && !this.#reader?.complete && !isBlank(this.raw)) this.#parseAgain();
    const reader = this.#reader;
    if (reader instanceof Document && isFine) return problemOf(() => reader.flush()) === null ? "complete" : "truncated";
    return reader?.complete ? "complete" : "truncated";
  }

  /** @param {any} value */
  #complete(value) {
    if (this.name === null && !this.#isFromJsonrill) this.#fail(problem("NO_NAME", "the call ended without a name"));
    else this.status = "complete";
    this.#freeze(value, this.status === "complete" ? null : this.openPath);
  }

  #truncate() {
    this.status = "truncated";
    this.#freeze(this.args, this.openPath);
  }

  /**
   * @param {any} value
   * @param {Path | null} openPath
   */
  #freeze(value, openPath) {
    this.#final = { value, openPath: this.status === "complete" ? null : openPath };
    this.#reader = null;
    this.#preset = this.#assigned = undefined;
    this.isPlaceholder = false;
    this.open = false;
  }

  /** @param {Problem} error */
  #fail(error) {
    if (this.status === "error") return;
    this.status = "error";
    this.error = error;
  }
}

/** An immutable snapshot of a call. Its arguments are copied when they are read, or parsed again if it has grown since. */
class CallSnapshot {
  #call;
  /** @type {{value: any} | null} */
  #args = null;

  /** @param {Call} call */
  constructor(call) {
    this.#call = call;
    const { id, index, messageId, name, status, error, encoding, hosted, answered, result, resultIsError } = call;
    Object.assign(this, { id, index, messageId, name, status, error, encoding, hosted, answered, result, resultIsError });
    this.raw = call.raw;
    this.completeArgs = call.completeArgs;
    this.openPath = call.openPath;
    if (call.isFixed) this.#args = { value: call.args };
  }

  get args() {
    this.#args ??= { value: this.#call.raw === this.raw ? this.#call.args : readText(this.raw).value };
    return this.#args.value;
  }

  /** @param {Path | string} [path] */
  isComplete(path = []) {
    return isComplete(this.args, path, this.completeArgs ? null : (this.openPath ?? []));
  }

  toJSON() {
    return { ...this, args: this.args };
  }
}

/**
 * Return the value of a complete text, and its error if it has one.
 * @param {string} text
 */
function readText(text) {
  const document = new Document();
  const error = problemOf(() => {
    document.feed(text);
    document.flush();
  });
  return { value: document.value, error };
}

/**
 * Join two pieces of news. At most one of them has text.
 * @param {News} news
 * @param {News} more
 * @returns {News}
 */
export function joinNews(news, more) {
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
 * Return the error of the text that `work` reads, or null.
 * @param {() => void} work
 * @returns {Problem | null}
 */
function problemOf(work) {
  try {
    work();
    return null;
  } catch (error) {
    if (!(error instanceof JsonrillError)) throw error;
    return error.toJSON();
  }
}

/**
 * Return true if `stated` has everything in `streamed`. A validator may have added fields.
 * @param {any} stated
 * @param {any} streamed
 * @returns {boolean}
 */
function isExtension(stated, streamed) {
  if (Array.isArray(streamed)) {
    const isSameSize = Array.isArray(stated) && stated.length === streamed.length;
    return isSameSize && streamed.every((item, at) => isExtension(stated[at], item));
  }
  if (!isObject(streamed)) return stated === streamed;
  if (!isObject(stated)) return false;
  return Object.keys(streamed).every((key) => Object.hasOwn(stated, key) && isExtension(stated[key], streamed[key]));
}

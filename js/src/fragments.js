/**
 * Fragments: addressed changes of a document, from text, over the wire, and back to a value.
 *
 * `Parser` turns text into fragments and `Rebuilder` turns them back into the value. A fragment travels as
 * `{"path": "root.a", "kind": "PartialString", "textValue": "x"}`. `Rebuilder` also reads the foreign
 * dialect of `JsonFragmentToStructuredUpdateGenerator` (docs/origins.md): kinds in camelCase, payloads as source
 * text with quotes and escapes, partial texts that are provisional, wrong paths below nested containers, and a
 * JsonComplete that may come early.
 */

import { GrowingValue, ValueBuilder } from "./build/builder.js";
import { FragmentError, InvalidJSON, LimitExceeded } from "./errors.js";
import { Frame, Machine, NUMBER, pathOf } from "./parse/machine.js";
import { isObject } from "./parse/values.js";
import { formatPath, parsePath } from "./paths.js";

/** @import { Cut, ParserOptions } from "./parse/machine.js" */
/** @import { Path } from "./paths.js" */
/**
 * @typedef {"StartObject" | "EndObject" | "StartArray" | "EndArray" | "Key" | "StartString"
 *   | "PartialString" | "CompleteString" | "CompleteNumber" | "CompleteBoolean" | "CompleteNull"
 *   | "JsonComplete"} Kind
 */
/**
 * A fragment on the wire; in the foreign dialect its kind is in camelCase.
 * @typedef {{path: string, kind: Kind | Uncapitalize<Kind>, textValue?: string, value?: unknown}} WireFragment
 */

// The most characters of an invalid fragment in an error message.
const MAX_QUOTE = 80;
// The kinds that a value begins with.
const STARTS = ["StartObject", "StartArray", "StartString", "CompleteNumber", "CompleteBoolean", "CompleteNull"];
// The kinds that may follow in each state. A member may lack its value if a repair closed a text that was cut there.
/** @type {{[state: string]: string[]}} */
const NEXT = {
  value: STARTS,
  key: ["Key", "EndObject"],
  member: [...STARTS, "EndObject"],
  element: [...STARTS, "EndArray"],
  string: ["PartialString", "CompleteString"],
  end: ["JsonComplete"],
  nothing: [],
};
const KINDS = Object.values(NEXT).flat();

/**
 * One change: its kind, its path and its content. Treat it as read-only.
 *
 * `text` is the decoded new text of a PartialString or the source text of a number, `value` the key or the
 * complete value, `offset` the character at which its token began.
 */
export class Fragment {
  /**
   * @param {Kind} kind
   * @param {Path} path
   * @param {string} [text]
   * @param {any} [value]
   * @param {number} [offset]
   */
  constructor(kind, path, text, value, offset) {
    this.kind = kind;
    this.path = path;
    this.text = text;
    this.value = value;
    this.offset = offset;
  }

  /** The path as text: `root.users[0]`. */
  get pathText() {
    return formatPath(this.path);
  }

  /**
   * Return the fragment on the wire. A number that no double holds travels as text.
   * @returns {WireFragment}
   */
  toJSON() {
    const { kind, text, value } = this;
    const isLost = kind === "CompleteNumber" && text !== undefined && !isDouble(text);
    /** @type {WireFragment} */
    const wire = { path: this.pathText, kind };
    if (text !== undefined) wire.textValue = text;
    if (value != null && !isLost) wire.value = value;
    return wire;
  }
}

/** Return true if a double holds the number with this text. @param {string} text */
function isDouble(text) {
  const number = Number(text);
  return Number.isFinite(number) && (/[.eE]/.test(text) || BigInt(text) === BigInt(number));
}

// ---- reading the wire form ----

/** Return true for a fragment of the foreign dialect, which has `textValue` with every kind. @param {any} item */
export function isForeign(item) {
  const { kind, textValue, value } = item instanceof Fragment ? {} : Object(item);
  if (typeof kind !== "string" || /^[a-z]/.test(kind)) return typeof kind === "string";
  if (textValue === undefined || kind === "PartialString") return false;
  return kind !== "CompleteNumber" || value === textValue;
}

/**
 * Return a valid fragment; throw for anything else.
 * @param {any} item a Fragment, or one from the wire
 * @param {boolean} foreign
 * @returns {Fragment}
 */
function readFragment(item, foreign) {
  const { kind: name, path, textValue, text = textValue, value } = Object(item);
  const kind = /** @type {Kind} */ (String(name).slice(0, 1).toUpperCase() + String(name).slice(1));
  if (typeof name === "string" && KINDS.includes(kind)) {
    try {
      const steps = foreign || Array.isArray(path) ? path : parsePath(path);
      const read = foreign ? readForeign(kind, text ?? value) : toFragment(kind, steps, text ?? undefined, value ?? undefined);
      if (read !== null) return read;
    } catch {
      // The path or the source text is wrong.
    }
  }
  const content = isObject(item) ? Object.values(item).join(" ") : String(item);
  throw new FragmentError(`not a valid fragment: ${content.slice(0, MAX_QUOTE)}`);
}

/**
 * Read a payload of the foreign dialect: source text, in which control characters may be raw. Ignore its paths.
 * @param {Kind} kind
 * @param {any} payload
 */
function readForeign(kind, payload) {
  const isSource = typeof payload === "string" && /^(Key|Complete(String|Number|Boolean))$/.test(kind);
  if (!isSource) return toFragment(kind, [], kind === "PartialString" ? payload : undefined, payload);
  const value = JSON.parse(payload.trim().replace(/\\[^]|[\x00-\x1f]/g, escapeControl));
  return toFragment(kind, [], kind === "CompleteNumber" ? payload : undefined, value);
}

/** @param {string} sequence an escape, which stays, or a control character */
function escapeControl(sequence) {
  return sequence[0] === "\\" ? sequence : JSON.stringify(sequence).slice(1, -1);
}

/**
 * Return a fragment; null if its kind cannot have this text or value.
 * @param {Kind} kind
 * @param {Path} path
 * @param {any} text
 * @param {any} value
 */
function toFragment(kind, path, text, value) {
  switch (kind) {
    case "PartialString":
      return typeof text === "string" ? new Fragment(kind, path, text) : null;
    case "Key":
      return typeof value === "string" ? new Fragment(kind, path, undefined, value) : null;
    case "CompleteString":
      return value === undefined || typeof value === "string" ? new Fragment(kind, path, undefined, value) : null;
    case "CompleteBoolean":
      return typeof value === "boolean" ? new Fragment(kind, path, undefined, value) : null;
    case "CompleteNumber":
      return isNumber(text, value) ? new Fragment(kind, path, text, text === undefined ? value : Number(text)) : null;
    default:
      return new Fragment(kind, path, undefined, kind === "CompleteNull" ? null : undefined);
  }
}

/**
 * Return true for a number, by its source text where that was sent.
 * @param {any} text
 * @param {any} value
 */
function isNumber(text, value) {
  if (text === undefined) return Number.isFinite(value);
  return typeof text === "string" && NUMBER.test(text) && (value === undefined || value === Number(text));
}

// ---- text → fragments ----

/** Records a fragment for each event. */
export class FragmentSink {
  /** @type {Frame | null} */
  frame = null;
  /** @type {Fragment[]} */
  #fragments = [];
  // The path, offset and text of the open string.
  /** @type {Path} */
  #path = [];
  #offset = 0;
  #text = "";

  /** @param {number} offset */
  startContainer(offset) {
    this.#record(this.frame?.isObject ? "StartObject" : "StartArray", pathOf(this.frame?.parent), offset);
  }

  /** @param {number} offset */
  endContainer(offset) {
    this.#record(this.frame?.isObject ? "EndObject" : "EndArray", pathOf(this.frame?.parent), offset);
  }

  /**
   * @param {string} key
   * @param {number} offset
   */
  key(key, offset) {
    this.#record("Key", pathOf(this.frame?.parent), offset, undefined, key);
  }

  /** @param {number} offset */
  startString(offset) {
    this.#path = pathOf(this.frame);
    this.#offset = offset;
    this.#text = "";
    this.#record("StartString", this.#path, offset);
  }

  /** @param {string} run */
  text(run) {
    this.#text += run;
    this.#record("PartialString", this.#path, this.#offset, run);
  }

  endString() {
    this.#record("CompleteString", this.#path, this.#offset, undefined, this.#text);
  }

  /**
   * @param {any} value
   * @param {string | undefined} text
   * @param {number} offset
   */
  scalar(value, text, offset) {
    const kind = text !== undefined ? "CompleteNumber" : value === null ? "CompleteNull" : "CompleteBoolean";
    this.#record(kind, pathOf(this.frame), offset, text, value);
  }

  /** @param {number} offset */
  endDocument(offset) {
    this.#record("JsonComplete", [], offset);
  }

  /** Return the fragments since the last call. */
  take() {
    const fragments = this.#fragments;
    this.#fragments = [];
    return fragments;
  }

  /**
   * @param {Kind} kind
   * @param {Path} path
   * @param {number} offset
   * @param {string} [text]
   * @param {any} [value]
   */
  #record(kind, path, offset, text, value) {
    this.#fragments.push(new Fragment(kind, path, text, value, offset));
  }
}

/**
 * Text in any pieces → fragments, by strict RFC 8259.
 *
 * `feed` throws `InvalidJSON` at the first character that no continuation can make valid, `flush` throws
 * `Truncated` when the text stopped early. Both errors have the `fragments` before them.
 */
export class Parser {
  #sink = new FragmentSink();
  #machine;

  /** @param {ParserOptions} [options] */
  constructor(options) {
    this.#machine = new Machine(this.#sink, options);
  }

  /**
   * Return the fragments that are certain after this piece of text.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   */
  feed(piece) {
    return this.#run(() => this.#machine.feed(piece));
  }

  /**
   * End the text: return the last fragments, or throw `Truncated`. With `cut` the provider says that the answer stopped early.
   * @param {Cut | null} [cut]
   */
  flush(cut = null) {
    return this.#run(() => this.#machine.flush(cut));
  }

  /** @param {() => void} work */
  #run(work) {
    try {
      work();
    } catch (error) {
      if (error instanceof InvalidJSON || error instanceof LimitExceeded) error.fragments = this.#sink.take();
      throw error;
    }
    return this.#sink.take();
  }
}

// ---- fragments → value ----

/**
 * Fragments, as objects or from the wire, in any grouping → the value they describe.
 * @template [T=unknown]
 * @extends {GrowingValue<T>}
 */
export class Rebuilder extends GrowingValue {
  #builder;
  /** True after a key, until its value begins. */
  #hasKey = false;
  #isForeign = false;

  constructor() {
    const builder = new ValueBuilder();
    super(builder);
    this.#builder = builder;
  }

  /**
   * Apply fragments. One that does not fit throws a FragmentError; those before it stay applied.
   * @param {Iterable<unknown>} fragments
   */
  feed(fragments) {
    if (typeof fragments === "string" || typeof fragments?.[Symbol.iterator] !== "function") {
      throw new TypeError("feed() takes a list of fragments");
    }
    for (const item of fragments) {
      this.#isForeign ||= isForeign(item);
      try {
        this.#apply(readFragment(item, this.#isForeign));
      } catch (error) {
        if (error instanceof FragmentError) error.path = this.openPath ?? [];
        throw error;
      }
    }
  }

  /** @param {Fragment} fragment */
  #apply({ kind, path, text, value }) {
    const state = this.#state();
    if (kind === "JsonComplete" && this.#isForeign && state !== "end") return;
    this.#check(kind, path, state);
    const builder = this.#builder;
    const frame = /** @type {Frame} */ (builder.frame);
    this.#hasKey = kind === "Key";
    if (kind === "Key") frame.key = value;
    else if (kind === "StartString") builder.startString();
    else if (kind === "PartialString" && text) builder.text(text);
    else if (kind === "CompleteString") this.#endString(value);
    else if (kind === "JsonComplete") builder.endDocument();
    else if (kind.startsWith("Complete")) builder.scalar(value);
    if (kind === "StartObject" || kind === "StartArray") {
      builder.frame = new Frame(frame, kind === "StartObject");
      builder.startContainer();
    } else if (kind === "EndObject" || kind === "EndArray") {
      builder.endContainer();
      builder.frame = frame.parent;
    }
    const isEnd = kind.startsWith("Complete") || kind.startsWith("End");
    if (isEnd && builder.frame?.isObject === false) builder.frame.key = Number(builder.frame.key) + 1;
  }

  #state() {
    const { frame, isInString, isDone, live } = this.#builder;
    if (isInString) return "string";
    if (frame !== null) return !frame.isObject ? "element" : this.#hasKey ? "member" : "key";
    return isDone ? "nothing" : live === undefined ? "value" : "end";
  }

  /**
   * Throw if a fragment of this kind does not fit the state, or its path is wrong.
   * @param {Kind} kind
   * @param {Path} path
   * @param {string} state
   */
  #check(kind, path, state) {
    const { frame } = this.#builder;
    if (!NEXT[state].includes(kind)) {
      const place = formatPath(this.openPath ?? []);
      throw new FragmentError(`expected ${NEXT[state].join(" or ") || "nothing more"} but got ${kind}, in ${place}`);
    }
    if (this.#isForeign) return;
    const next = pathOf(kind === "Key" || kind.startsWith("End") ? frame?.parent : frame);
    if (path.length === next.length && path.every((step, at) => step === next[at])) return;
    throw new FragmentError(`${kind} of ${formatPath(path)} does not fit: ${formatPath(next)} is next`);
  }

  /** @param {string | undefined} value */
  #endString(value) {
    const builder = this.#builder;
    if (value !== undefined && value !== builder.openText) {
      if (!this.#isForeign) {
        throw new FragmentError(`CompleteString of ${formatPath(this.openPath ?? [])} differs from its parts`);
      }
      builder.replace(value); // its partial texts were provisional
    }
    builder.endString();
  }
}

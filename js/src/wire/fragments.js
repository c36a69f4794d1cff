/**
 * Fragments from the wire: a document as a list of small addressed changes.
 *
 * `WireReader` takes the full form (objects), the compact form (arrays and bare strings) and what
 * another reader has read, in any mixture, and the dialect `juf`; what comes out is checked and has
 * its place. `Cursor` knows where the next fragment must be. No value is built here.
 */

import * as CODES from "../codes.js";
import { JsonrillError } from "../errors.js";
import { PathError, parsePath } from "../paths.js";
import { Place } from "../parse/place.js";
import { isObject, own } from "../parse/values.js";

/**
 * @typedef {"StartObject" | "EndObject" | "StartArray" | "EndArray" | "Key" | "StartString"
 *   | "PartialString" | "CompleteString" | "CompleteNumber" | "CompleteBoolean" | "CompleteNull"
 *   | "JsonComplete"} Kind
 */
/** @typedef {"jsonrill" | "juf"} Dialect */
/**
 * A fragment in its full form on the wire.
 * @typedef {{path: string, kind: Kind, textValue?: string, value?: string | number | boolean}} FullFragment
 */
/**
 * A fragment in its compact form: new text of the open string, or the code of its kind, its path (null:
 * where the next one must be) and what it carries.
 * @typedef {string | [code: number, path?: string | null, payload?: string | number | boolean | null]} CompactFragment
 */
/**
 * A fragment of the public generator, in the dialect `juf`.
 * @typedef {{path: string, kind: Kind | Uncapitalize<Kind>, textValue?: string, value?: string}} JufFragment
 */
/** What `WireReader`, `Rebuilder` and `ToolCalls` read. @typedef {FullFragment | CompactFragment | JufFragment} WireFragment */

/**
 * Their order is their code in the compact form.
 * @type {readonly Kind[]}
 */
export const KINDS = Object.freeze([
  "StartObject",
  "EndObject",
  "StartArray",
  "EndArray",
  "Key",
  "StartString",
  "PartialString",
  "CompleteString",
  "CompleteNumber",
  "CompleteBoolean",
  "CompleteNull",
  "JsonComplete",
]);
const NAMES = new Set(KINDS);
// RFC 8259 section 6.
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const STARTS_VALUE = new Set(["StartObject", "StartArray", "StartString", "CompleteNumber", "CompleteBoolean", "CompleteNull"]);

// With these kinds jsonrill sends source text; the public generator does with every kind.
const WITH_TEXT = new Set(["PartialString", "CompleteNumber"]);

/**
 * True for fragments of the public generator (`juf`), whose kinds may be in camelCase.
 * @param {readonly unknown[] | null} items
 */
export function isJuf(items) {
  return (items ?? []).some((item) => {
    const kind = isObject(item) ? item.kind : undefined;
    if (typeof kind !== "string") return false;
    return /^[a-z]/.test(kind) || (own(item, "textValue") !== undefined && !WITH_TEXT.has(kind));
  });
}

/** A fragment that does not fit. It is then as if it had never come. */
export class FragmentError extends JsonrillError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "FragmentError";
    this.code = CODES.INVALID_FRAGMENT;
    /** What was refused. @type {unknown} */
    this.item = undefined;
    /** The string or container that was open. @type {import("../paths.js").Path | undefined} */
    this.path = [];
  }
}

/**
 * One change: its kind, where it happened, and what it carries. `text` is the new text of a
 * PartialString or the source text of a number, `value` the key or the finished value.
 */
export class Fragment {
  /**
   * @param {Kind} kind
   * @param {Place | null} place null: the root
   * @param {string | undefined} text
   * @param {any} value
   * @param {number} [offset] the character at which its token began, from a `Parser`
   * @param {number} [document] with `many`: the number of its document
   */
  constructor(kind, place, text, value, offset, document = 0) {
    this.kind = kind;
    this.place = place;
    this.text = text;
    this.value = value;
    this.offset = offset;
    this.document = document;
  }

  /** Keys and indices from the root; made when asked for. */
  get path() {
    return this.place === null ? [] : this.place.path;
  }

  /** The path as text: `root.users[0]`. */
  get pathText() {
    return textOf(this.place);
  }

  /** The fragment in its full form on the wire. */
  toJSON() {
    const { kind, pathText: path, text: textValue, value } = this;
    let shown = kind === "CompleteNull" ? undefined : value;
    if (kind === "CompleteNumber" && textValue !== undefined) {
      // Where a receiver that has only doubles would change the number, its text says it.
      shown = survives(textValue) ? Number(textValue) : undefined;
    }
    return { path, kind, textValue, value: shown };
  }
}

/** The place that the next fragment must have, from the fragments before it. */
class Cursor {
  #object = false;
  #count = 0;
  #key = "";

  constructor() {
    /** @type {"value" | "key" | "element" | "string" | "end" | "nothing"} */
    this.wants = "value";
    /** @type {{container: Place | null, count: number, object: boolean}[]} */
    this.frames = [];
    /** @type {Place | null} */
    this.container = null;
    /** @type {Place | null} */
    this.string = null;
  }

  /**
   * Where a fragment of this kind must be now; FragmentError if none can come.
   * @param {Kind} kind
   * @returns {Place | null}
   */
  expect(kind) {
    const wants = this.wants;
    if (STARTS_VALUE.has(kind)) {
      if (wants === "value" || wants === "element") {
        if (this.frames.length === 0) return null;
        return new Place(this.container, this.#object ? this.#key : this.#count);
      }
    } else if (kind === "PartialString" || kind === "CompleteString") {
      if (wants === "string") return this.string;
    } else if (kind === "JsonComplete") {
      if (wants === "end") return null;
    } else if (wants === (kind === "EndArray" ? "element" : "key")) {
      return this.container;
    } else if (kind === "EndObject" && wants === "value" && this.#object) {
      // A key whose value never came: a sender that repairs closed a text that was cut off there.
      return this.container;
    }
    throw new FragmentError(`${kind} cannot come here: ${this.#wanted()}`);
  }

  /**
   * Go past a fragment that `expect` allowed.
   * @param {Kind} kind
   * @param {Place | null} place
   * @param {any} value
   */
  move(kind, place, value) {
    if (kind === "PartialString") return;
    if (kind === "Key") {
      this.#key = value;
      this.wants = "value";
    } else if (kind === "StartString") {
      this.string = place;
      this.wants = "string";
    } else if (kind === "StartObject" || kind === "StartArray") {
      this.frames.push({
        container: this.container,
        count: this.#count,
        object: this.#object,
      });
      this.container = place;
      this.#count = 0;
      this.#object = kind === "StartObject";
      this.wants = this.#object ? "key" : "element";
    } else if (kind === "JsonComplete") {
      this.wants = "nothing";
    } else {
      if (kind === "EndObject" || kind === "EndArray") this.#leave();
      this.#count += 1;
      this.wants = this.frames.length === 0 ? "end" : this.#object ? "key" : "element";
    }
  }

  #leave() {
    const outer = this.frames.pop();
    if (outer === undefined) return;
    this.container = outer.container;
    this.#count = outer.count;
    this.#object = outer.object;
  }

  #wanted() {
    const here = textOf(this.container);
    return {
      value: "a value must begin",
      key: `a Key or EndObject of ${here} must come`,
      element: `an element or EndArray of ${here} must come`,
      string: `the string ${textOf(this.string)} is open`,
      end: "JsonComplete must come",
      nothing: "the document is complete",
    }[this.wants];
  }
}

/**
 * What an item says, before it is checked whether it fits. `path` undefined: where it must be.
 * @typedef {{kind: Kind, path?: string, text?: string, value?: any}} Fields
 */

/**
 * Fragments of one document, in order, in any form → checked fragments with their places.
 *
 * One that does not fit raises a FragmentError and is as if it had never come.
 */
export class WireReader {
  #juf;
  #cursor = new Cursor();
  // The text of the open string. Engines keep `a + b` as a rope: this stays linear.
  #text = "";

  /**
   * @param {Dialect} [dialect]
   */
  constructor(dialect = "jsonrill") {
    if (dialect !== "jsonrill" && dialect !== "juf") {
      throw new TypeError(`dialect is "jsonrill" or "juf", not ${JSON.stringify(dialect)}`);
    }
    this.#juf = dialect === "juf";
  }

  /** True once a value has begun. */
  get started() {
    return this.#cursor.wants !== "value" || this.#cursor.frames.length > 0;
  }

  /** True after JsonComplete; everything after it is refused. */
  get complete() {
    return this.#cursor.wants === "nothing";
  }

  /**
   * The place of the value that is still growing: an open string or the innermost open container.
   * Undefined: nothing is open; null: the root.
   * @returns {Place | null | undefined}
   */
  get open() {
    const cursor = this.#cursor;
    if (cursor.wants === "string") return cursor.string;
    return cursor.frames.length === 0 ? undefined : cursor.container;
  }

  /**
   * The fragment that `item` stands for; null for one that this dialect says to ignore.
   * @param {unknown} item
   * @returns {Fragment | null}
   */
  read(item) {
    try {
      return this.#read(this.#fields(item));
    } catch (error) {
      if (error instanceof FragmentError) {
        error.item = item;
        error.path = this.open?.path ?? [];
      }
      throw error;
    }
  }

  /** @param {Fields} fields */
  #read({ kind, path, text, value }) {
    if (kind === "JsonComplete" && this.#juf && this.#cursor.wants !== "end") return null;
    const place = this.#cursor.expect(kind);
    if (path !== undefined && !this.#juf && !isAt(path, place)) {
      throw new FragmentError(`${kind} of ${path} does not fit: ${textOf(place)} is next`);
    }
    if (kind === "CompleteString") {
      if (value === undefined) value = this.#text;
      else if (value !== this.#text && !this.#juf) {
        throw new FragmentError(`CompleteString differs from its parts at ${textOf(place)}`);
      }
      this.#text = "";
    } else if (kind === "PartialString") {
      this.#text += text;
    }
    if (kind === "CompleteNumber" && text !== undefined) value = Number(text);
    this.#cursor.move(kind, place, value);
    return new Fragment(kind, place, text, value);
  }

  /**
   * @param {unknown} item
   * @returns {Fields}
   */
  #fields(item) {
    if (typeof item === "string") return { kind: "PartialString", text: item };
    if (Array.isArray(item)) return this.#compact(item);
    if (item instanceof Fragment) {
      const known = item.kind === "CompleteNumber" && item.text !== undefined;
      const value = known ? undefined : (item.value ?? undefined);
      return { path: item.pathText, ...checked(item.kind, item.text, value) };
    }
    if (!isObject(item)) throw new FragmentError(`not a fragment: ${shown(item)}`);
    const kind = kindOf(own(item, "kind"));
    const text = own(item, "textValue") ?? undefined;
    const value = own(item, "value") ?? undefined;
    // Its paths are wrong below nested containers; the order of the fragments is right.
    if (this.#juf) return fromJuf(kind, text ?? value);
    const path = own(item, "path");
    if (typeof path !== "string") {
      throw new FragmentError(`the path of a fragment is a text like 'root.a[0]': ${shown(path)}`);
    }
    return { path, ...checked(kind, text, value) };
  }

  /**
   * @param {any[]} item
   * @returns {Fields}
   */
  #compact(item) {
    if (item.length < 1 || item.length > 3) {
      throw new FragmentError(`not a fragment: ${shown(item)}`);
    }
    const [code, at, payload] = item;
    const kind = typeof code === "number" ? KINDS[code] : undefined;
    if (kind === undefined) throw new FragmentError(`not the code of a kind: ${shown(code)}`);
    const path = at ?? undefined;
    if (path !== undefined && typeof path !== "string") {
      throw new FragmentError(`not a path: ${shown(path)}`);
    }
    if (kind === "CompleteString") {
      if (payload !== this.#text.length) {
        throw new FragmentError(`a string of ${shown(payload)} UTF-16 units was announced, not sent`);
      }
      return { kind, path };
    }
    const text = typeof payload === "string" ? payload : undefined;
    if (kind === "CompleteNumber") {
      return { path, ...checked(kind, text, text === undefined ? payload : undefined) };
    }
    return { path, ...checked(kind, text, payload ?? undefined) };
  }
}

/** @param {Place | null} place */
function textOf(place) {
  return place === null ? "root" : place.text;
}

/**
 * True if this text is a path to this place. It need not be spelled in the shortest way.
 * @param {string} path
 * @param {Place | null} place
 */
function isAt(path, place) {
  if (path === textOf(place)) return true;
  let steps;
  try {
    steps = parsePath(path);
  } catch (error) {
    throw error instanceof PathError ? new FragmentError(error.message) : error;
  }
  const wanted = place === null ? [] : place.path;
  return steps.length === wanted.length && steps.every((step, at) => step === wanted[at]);
}

/**
 * @param {unknown} name
 * @returns {Kind}
 */
function kindOf(name) {
  if (typeof name === "string") {
    const kind = /** @type {Kind} */ (name.slice(0, 1).toUpperCase() + name.slice(1));
    if (NAMES.has(kind)) return kind;
  }
  throw new FragmentError(`not a kind of fragment: ${shown(name)}`);
}

/**
 * A fragment whose payload has the type that its kind asks for.
 * @param {Kind} kind
 * @param {any} text
 * @param {any} value
 * @returns {Fields}
 */
function checked(kind, text, value) {
  switch (kind) {
    case "PartialString":
      if (typeof text === "string") return { kind, text };
      break;
    case "Key":
      if (typeof value === "string") return { kind, value };
      break;
    case "CompleteString":
      if (value === undefined || typeof value === "string") return { kind, value };
      break;
    case "CompleteBoolean":
      if (typeof value === "boolean") return { kind, value };
      break;
    case "CompleteNumber":
      return { kind, text, value: numberOf(text, value) };
    case "CompleteNull":
      return { kind, value: null };
    default:
      return { kind };
  }
  throw new FragmentError(`a ${kind} does not carry text ${shown(text)} and value ${shown(value)}`);
}

/**
 * The number a fragment carries, or its text, which says it best.
 * @param {any} text
 * @param {any} value
 * @returns {number}
 */
function numberOf(text, value) {
  if (text === undefined) {
    if (isNumber(value)) return value;
    throw new FragmentError(`a CompleteNumber does not carry ${shown(value)}`);
  }
  if (!isNumberText(text)) throw new FragmentError(`not the text of a number: ${shown(text)}`);
  const number = Number(text);
  if (value !== undefined && !(isNumber(value) && Number(value) === number)) {
    throw new FragmentError(`the number ${text} is not ${shown(value)}`);
  }
  return number;
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * The public generator's dialect: payloads are source text, quoted and escaped.
 * @param {Kind} kind
 * @param {unknown} text
 * @returns {Fields}
 */
function fromJuf(kind, text) {
  switch (kind) {
    case "Key":
    case "CompleteString":
      return checked(kind, undefined, quoted(kind, text));
    case "CompleteNumber":
      if (isNumberText(text)) return checked(kind, text, undefined);
      break;
    case "CompleteBoolean": {
      const word = typeof text === "string" ? text.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, "") : "";
      if (word === "true" || word === "false") return { kind, value: word === "true" };
      break;
    }
    default:
      return checked(kind, kind === "PartialString" ? text : undefined, undefined);
  }
  throw new FragmentError(`the source text of a ${kind} is not ${shown(text)}`);
}

/**
 * A string from its source text, in which raw control characters pass.
 * @param {Kind} kind
 * @param {unknown} text
 * @returns {string}
 */
function quoted(kind, text) {
  if (typeof text === "string" && /^[ \t\n\r]*"/.test(text)) {
    const inner = text.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, "");
    try {
      return JSON.parse(inner.replace(/\\[^]|[\u0000-\u001f]/g, escaped));
    } catch {
      // It is refused below, like all else.
    }
  }
  throw new FragmentError(`the source text of a ${kind} is not ${shown(text)}`);
}

/** @param {string} sequence an escape, which stays, or a control character */
function escaped(sequence) {
  if (sequence[0] === "\\") return sequence;
  return "\\u" + sequence.charCodeAt(0).toString(16).padStart(4, "0");
}

/** A value for a message, whatever it is. @param {unknown} value */
function shown(value) {
  let text;
  try {
    text = JSON.stringify(value) ?? typeof value;
  } catch {
    text = typeof value;
  }
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * True for the text of a JSON number.
 * @param {unknown} text
 * @returns {text is string}
 */
function isNumberText(text) {
  return typeof text === "string" && NUMBER.test(text);
}

/**
 * True if a reader that has only doubles reads the same number. An integer must be exact.
 * @param {string} text
 */
function survives(text) {
  const number = Number(text);
  if (!Number.isFinite(number)) return false;
  return /[.eE]/.test(text) || BigInt(text) === BigInt(number);
}

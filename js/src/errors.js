/**
 * Every error that is thrown on data, in one tree.
 *
 *     JsonrillError
 *     ├── InvalidJSON       no continuation can make this text valid
 *     │   └── Truncated     the text stopped early
 *     ├── LimitExceeded     a limit was passed; `limit` names it
 *     ├── InvalidSchema     the complete value is not what the schema asks for
 *     ├── FieldNotFound     a field that was asked for never came, or is no string
 *     ├── FragmentError     a fragment does not fit where it was applied
 *     ├── InvalidMessage    a message of the wire is wrong or does not fit the value
 *     ├── Gap               a message of the wire is missing
 *     ├── ServerError       the server that is read from reports an error
 *     ├── SourceFailed      the provider of a stream reports an error, or a response has an error status
 *     ├── UnknownSource     no event of a source was recognised, or it has not what was asked for
 *     └── StreamClosed      fed after the end, or after an error
 *
 * What an error knows is in its fields, and `toJSON()` is how it crosses the wire. Wrong use (an
 * argument of the wrong type) is a plain TypeError.
 */

import * as CODES from "./codes.js";
import { formatPath } from "./parse/path-text.js";

/** @typedef {import("./paths.js").Path} Path */
/** @typedef {import("./wire/fragments.js").Fragment} Fragment */
/**
 * Where an error happened. `offset` counts characters (code points) from 0, `line` and `column`
 * count from 1.
 * @typedef {{offset?: number, line?: number, column?: number, path?: Path}} Position
 */

/**
 * How an answer was cut: the reason (length, filtered, refused, lost), and what messages say of it.
 * @typedef {{reason: string, message: string}} Cut
 */

/** The root of the tree: catch this to catch everything. What is not known is undefined. */
export class JsonrillError extends Error {
  /**
   * @param {string} message
   * @param {Position} [position]
   */
  constructor(message, { offset, line, column, path } = {}) {
    super(message);
    this.name = "JsonrillError";
    /** The kind of error, as on the wire. */
    this.code = CODES.ERROR;
    this.offset = offset;
    this.line = line;
    this.column = column;
    this.path = path;
    /** What was read of the answer; of a long one the beginning. @type {string | undefined} */
    this.text = undefined;
    /** The last good value. @type {any} */
    this.value = undefined;
  }

  /**
   * The error as it is on the wire; what is not known is left out.
   * @returns {{[field: string]: any}}
   */
  toJSON() {
    const { code, message, offset, line, column, path, reason, limit, status } = /** @type {any} */ (this);
    const fields = { code, message, offset, line, column, path: path && formatPath(path), reason, limit, status };
    return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  }
}

/** No continuation can make this text valid JSON. */
export class InvalidJSON extends JsonrillError {
  /**
   * @param {string} message
   * @param {string} expected
   * @param {Position} position
   */
  constructor(message, expected, position) {
    super(message, position);
    this.name = "InvalidJSON";
    this.code = CODES.INVALID_JSON;
    /** What could have been here. */
    this.expected = expected;
    /** From a `Parser`: what the failing call had found before the error. @type {Fragment[]} */
    this.fragments = [];
  }
}

/** The text was valid so far, but it stopped early. */
export class Truncated extends InvalidJSON {
  /**
   * @param {string} message
   * @param {string} expected
   * @param {Position} position
   * @param {string} [reason]
   */
  constructor(message, expected, position, reason = "ended") {
    super(message, expected, position);
    this.name = "Truncated";
    this.code = CODES.TRUNCATED;
    /** Why: "length", "filtered", "refused", "lost" (a stream without its end) or "ended" (a text). */
    this.reason = reason;
  }
}

/**
 * The error of an answer that was cut, where the reader of its text found another one.
 * @param {Cut} cut
 * @param {InvalidJSON} error
 */
export function truncated({ reason, message: how }, error) {
  const { expected, message } = error;
  return new Truncated(expected ? `${how}; ${message}` : how, expected, error, reason);
}

/** The text is larger than a limit allows. */
export class LimitExceeded extends JsonrillError {
  /**
   * @param {string} message
   * @param {string} limit
   * @param {Position} position
   */
  constructor(message, limit, position) {
    super(message, position);
    this.name = "LimitExceeded";
    this.code = CODES.LIMIT_EXCEEDED;
    /** The name of the limit. */
    this.limit = limit;
    /** From a `Parser`: what the failing call had found before the error. @type {Fragment[]} */
    this.fragments = [];
  }
}

/** A message or operation is wrong, or does not fit the value. It has changed nothing. */
export class InvalidMessage extends JsonrillError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "InvalidMessage";
    this.code = CODES.INVALID_MESSAGE;
  }
}

/** A message is missing. The value stays as it was; ask the sender for a snapshot. */
export class Gap extends JsonrillError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "Gap";
    this.code = CODES.GAP;
  }
}

/** Fed after `flush()`, or after an error that ended the stream. */
export class StreamClosed extends JsonrillError {
  constructor() {
    super("this stream is closed; nothing more can be fed to it");
    this.name = "StreamClosed";
    this.code = CODES.CLOSED;
  }
}

const UNPRINTABLE = /[\\'\p{C}]|[^\P{Z} ]/gu;
const SHORT = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Text in quotes for a message, unprintable characters escaped; the spelling of Python's `repr`,
 * so that both languages say the same of the same text.
 * @param {string} text
 */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replace(UNPRINTABLE, (char) => {
    if (char === "'") return mark === char ? "\\'" : char;
    const code = /** @type {number} */ (char.codePointAt(0));
    const [letter, size] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
    return /** @type {any} */ (SHORT)[char] ?? `\\${letter}${code.toString(16).padStart(+size, "0")}`;
  });
  return mark + inner + mark;
}

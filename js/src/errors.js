/**
 * Every error that is thrown on data, in one tree.
 *
 *     JsonrillError
 *     ├── InvalidJSON       no continuation can make this text valid
 *     │   └── Truncated     the text stopped early
 *     ├── LimitExceeded     a limit was passed; `limit` names it
 *     ├── InvalidSchema     the schema refuses the complete value
 *     ├── FieldNotFound     a requested field is missing, or is not a string
 *     ├── FragmentError     a fragment does not fit where it was applied
 *     ├── InvalidMessage    a message of the wire is wrong or does not fit the value
 *     ├── Gap               a message of the wire is missing
 *     ├── SourceFailed      a provider, a server or a response reports an error
 *     ├── UnknownSource     the source has a format that this function does not read
 *     └── StreamClosed      fed after the end, or after an error
 *
 * `toJSON()` is the form on the wire. Wrong use (an argument of the wrong type) is a TypeError.
 */

import { formatPath } from "./paths.js";

/** @import { Path } from "./paths.js" */
/** @import { Fragment } from "./fragments.js" */
/**
 * Where an error is. `offset` counts characters (code points) from 0, `line` and `column` from 1.
 * @typedef {{offset?: number, line?: number, column?: number, path?: Path}} Position
 */

/** The root of the tree: catch this to catch everything. What is not known is undefined. */
export class JsonrillError extends Error {
  // Written out, because minifiers rename classes.
  name = "JsonrillError";
  /** The kind of error, as on the wire. */
  code = "ERROR";
  /** The last good value. @type {any} */
  value = undefined;

  /**
   * @param {string} message
   * @param {Position} [position]
   */
  constructor(message, { offset, line, column, path } = {}) {
    super(message);
    this.offset = offset;
    this.line = line;
    this.column = column;
    this.path = path;
  }

  /**
   * Return the error as it is on the wire; what is not known is left out.
   * @returns {{code: string, message: string, offset?: number, line?: number, column?: number, path?: string,
   *   [field: string]: any}}
   */
  toJSON() {
    const { code, message, offset, line, column, path, reason, limit, status } = /** @type {any} */ (this);
    const fields = { code, message, offset, line, column, path: path && formatPath(path), reason, limit, status };
    return JSON.parse(JSON.stringify(fields));
  }
}

/** No continuation can make this text valid JSON. */
export class InvalidJSON extends JsonrillError {
  name = "InvalidJSON";
  code = "INVALID_JSON";
  /** From a `Parser`: what the failing call found before the error. @type {Fragment[]} */
  fragments = [];

  /**
   * @param {string} message
   * @param {string} expected what could be here instead
   * @param {Position} position
   */
  constructor(message, expected, position) {
    super(message, position);
    this.expected = expected;
  }
}

/** The text was valid so far, but it stopped early. */
export class Truncated extends InvalidJSON {
  name = "Truncated";
  code = "TRUNCATED";

  /**
   * @param {string} message
   * @param {string} [expected]
   * @param {Position} [position]
   * @param {string} [reason] "length", "filtered", "refused", "lost" (a stream without its end) or "ended" (a text)
   */
  constructor(message, expected = "", position = {}, reason = "ended") {
    super(message, expected, position);
    this.reason = reason;
  }
}

/** The text is larger than a limit allows. */
export class LimitExceeded extends JsonrillError {
  name = "LimitExceeded";
  code = "LIMIT_EXCEEDED";
  /** From a `Parser`: what the failing call found before the error. @type {Fragment[]} */
  fragments = [];

  /**
   * @param {string} message
   * @param {string} limit its name
   * @param {Position} [position]
   */
  constructor(message, limit, position) {
    super(message, position);
    this.limit = limit;
  }
}

/** The schema refuses the complete value. */
export class InvalidSchema extends JsonrillError {
  name = "InvalidSchema";
  code = "INVALID_SCHEMA";

  /**
   * @param {string} message
   * @param {Path} path
   * @param {readonly any[]} issues everything that the schema found
   */
  constructor(message, path, issues) {
    super(message, { path });
    this.issues = issues;
  }
}

/** A requested field is missing, or is not a string. */
export class FieldNotFound extends JsonrillError {
  name = "FieldNotFound";
  code = "FIELD_NOT_FOUND";
}

/** A fragment does not fit. It has changed nothing. */
export class FragmentError extends JsonrillError {
  name = "FragmentError";
  code = "INVALID_FRAGMENT";
}

/** A message or operation is wrong, or does not fit the value. It has changed nothing. */
export class InvalidMessage extends JsonrillError {
  name = "InvalidMessage";
  code = "INVALID_MESSAGE";
}

/** A message is missing. The value stays as it was; ask the sender for a snapshot. */
export class Gap extends JsonrillError {
  name = "Gap";
  code = "GAP";
}

/** The provider, the server or the sender reports an error, or a response has an error status. */
export class SourceFailed extends JsonrillError {
  name = "SourceFailed";
  /**
   * @param {string} message
   * @param {{code?: string, status?: number} & Position} [fields] `status` is the response's
   */
  constructor(message, { code = "SOURCE_FAILED", status, ...position } = {}) {
    super(message, position);
    this.code = code;
    this.status = status;
  }
}

/** The source has a format that this function does not read; the message says what does. */
export class UnknownSource extends JsonrillError {
  name = "UnknownSource";
  code = "UNKNOWN_SOURCE";
}

/** Fed after `flush()`, or after an error that ended the stream. */
export class StreamClosed extends JsonrillError {
  name = "StreamClosed";
  code = "CLOSED";

  constructor() {
    super("this stream is closed; nothing more can be fed to it");
  }
}

/** Quote a text for a message, with unprintable characters escaped. @param {string} text */
export function quoted(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`;
}

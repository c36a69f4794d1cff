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
/** @typedef {Partial<Omit<JsonrillError, "name" | "message" | "stack" | "toJSON">>} Details */

// The fields of an error on the wire.
const FIELDS = ["code", "message", "offset", "line", "column", "path", "reason", "limit", "status"];

/** The root of the tree: catch this to catch everything. Unknown fields are undefined. */
export class JsonrillError extends Error {
  // Written out, because minifiers rename classes.
  name = "JsonrillError";
  /** The kind of error, as on the wire. */
  code = "ERROR";
  /** The last good value. @type {any} */
  value;
  /** Where it is, in characters (code points) from 0. @type {number | undefined} */
  offset;
  /** From 1, like `column`. @type {number | undefined} */
  line;
  /** @type {number | undefined} */
  column;
  /** @type {Path | undefined} */
  path;
  /** What the grammar allows at `offset`. @type {string | undefined} */
  expected;
  /** From a `Parser`: the fragments of the failing call before the error. @type {Fragment[] | undefined} */
  fragments;
  /**
   * Why a text is truncated: "length", "filtered", "refused", "lost" (a stream without its end) or "ended" (a text).
   * @type {string | undefined}
   */
  reason;
  /** The name of the limit that was exceeded. @type {string | undefined} */
  limit;
  /** The status of a response. @type {number | undefined} */
  status;

  /**
   * @param {string} message
   * @param {Details} [details]
   */
  constructor(message, details) {
    super(message);
    Object.assign(this, details);
  }

  /**
   * Return the error as it is on the wire, without undefined fields.
   * @returns {{code: string, message: string, offset?: number, line?: number, column?: number, path?: string,
   *   [field: string]: any}}
   */
  toJSON() {
    const fields = { ...this, message: this.message, path: this.path && formatPath(this.path) };
    return JSON.parse(JSON.stringify(fields, FIELDS));
  }
}

/** No continuation can make this text valid JSON. */
export class InvalidJSON extends JsonrillError {
  name = "InvalidJSON";
  code = "INVALID_JSON";
}

/** The text was valid so far, but it stopped early. */
export class Truncated extends InvalidJSON {
  name = "Truncated";
  code = "TRUNCATED";
}

/** The text is larger than a limit allows. */
export class LimitExceeded extends JsonrillError {
  name = "LimitExceeded";
  code = "LIMIT_EXCEEDED";
}

/** The schema refuses the complete value. */
export class InvalidSchema extends JsonrillError {
  name = "InvalidSchema";
  code = "INVALID_SCHEMA";

  /**
   * @param {string} message
   * @param {readonly any[]} issues all problems that the schema reports
   * @param {Details} details
   */
  constructor(message, issues, details) {
    super(message, details);
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
   * @param {Details} [details] `code`: the one that the source states
   */
  constructor(message, details) {
    super(message, { code: "SOURCE_FAILED", ...details });
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
}

/** Quote a text for a message, with unprintable characters escaped. @param {string} text */
export function quote(text) {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`;
}

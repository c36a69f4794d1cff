/**
 * Everything that is thrown on data, in one tree.
 *
 *     JsonrillError
 *     ├── InvalidJSON       no continuation can make this text valid
 *     │   └── Truncated     the text stopped early
 *     ├── LimitExceeded     a limit was passed; `limit` names it
 *     ├── InvalidSchema     the complete value is not what the schema asks for
 *     ├── FieldNotFound     a field that was asked for never came, or is no string
 *     ├── ServerError       the server that was read from reports an error
 *     └── StreamClosed      fed after the end, or after an error
 *
 * Wrong use (an argument of the wrong type) is a plain TypeError.
 */

import { formatPath } from "./paths.js";

/** @typedef {import("./paths.js").Path} Path */
/**
 * Where an error happened. `offset` counts characters (code points) from 0, `line` and `column`
 * count from 1.
 * @typedef {{offset: number, line: number, column: number, path: Path}} Position
 */

/** The root of the tree: catch this to catch everything. */
export class JsonrillError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "JsonrillError";
  }
}

/** An error with a code, and mostly with a position. */
class DataError extends JsonrillError {
  /**
   * @param {string} code
   * @param {string} message
   * @param {Partial<Position>} [position]
   */
  constructor(code, message, { offset, line, column, path } = {}) {
    super(message);
    this.code = code;
    this.offset = offset;
    this.line = line;
    this.column = column;
    this.path = path;
    /** What the schema asks for, where it says so. @type {string | undefined} */
    this.rule = undefined;
  }

  /** The error as it is on the wire; fields that are not known are absent. */
  toJSON() {
    const { code, message, offset, line, column, path, rule } = this;
    return { code, message, offset, line, column, path: path && formatPath(path), rule };
  }
}

/** No continuation can make this text valid JSON. */
export class InvalidJSON extends DataError {
  /**
   * @param {string} message
   * @param {Position} position
   * @param {string} expected
   */
  constructor(message, position, expected) {
    super("INVALID_JSON", message, position);
    this.name = "InvalidJSON";
    /** What could have been here. */
    this.expected = expected;
    /**
     * From a `Parser`: what the failing call had found before the error.
     * @type {import("./fragments.js").Fragment[]}
     */
    this.fragments = [];
  }
}

/** The text was valid so far, but it stopped early. */
export class Truncated extends InvalidJSON {
  /**
   * @param {string} message
   * @param {Position} position
   * @param {string} expected
   */
  constructor(message, position, expected) {
    super(message, position, expected);
    this.name = "Truncated";
  }
}

/** The text is larger than a limit allows. */
export class LimitExceeded extends DataError {
  /**
   * @param {string} message
   * @param {Position} position
   * @param {string} limit
   */
  constructor(message, position, limit) {
    super("LIMIT_EXCEEDED", message, position);
    this.name = "LimitExceeded";
    /** The name of the limit. */
    this.limit = limit;
    /** @type {import("./fragments.js").Fragment[]} */
    this.fragments = [];
  }
}

/** The complete value is not what the schema asks for. */
export class InvalidSchema extends DataError {
  /**
   * @param {string} message
   * @param {Path} path
   * @param {readonly any[]} issues
   * @param {any} value
   */
  constructor(message, path, issues, value) {
    super("INVALID_SCHEMA", message, { path });
    this.name = "InvalidSchema";
    /** Everything that the schema found. */
    this.issues = issues;
    /** The value that was refused. */
    this.value = value;
  }
}

/** A field that was asked for never came, or is no string. */
export class FieldNotFound extends JsonrillError {
  /**
   * @param {string} message
   * @param {string} field
   */
  constructor(message, field) {
    super(message);
    this.name = "FieldNotFound";
    this.field = field;
  }
}

/** The server that was read from reports an error. */
export class ServerError extends DataError {
  /** @param {{[key: string]: any}} error the error as it is on the wire */
  constructor(error) {
    super(String(error.code), String(error.message), error);
    this.name = "ServerError";
    this.rule = error.rule;
  }
}

/** Fed after `flush()`, or after an error that ended the stream. */
export class StreamClosed extends JsonrillError {
  constructor() {
    super("this stream is closed; nothing more can be fed to it");
    this.name = "StreamClosed";
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
    return (
      /** @type {any} */ (SHORT)[char] ?? `\\${letter}${code.toString(16).padStart(+size, "0")}`
    );
  });
  return mark + inner + mark;
}

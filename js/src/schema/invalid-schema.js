import * as CODES from "../codes.js";
import { JsonrillError } from "../errors.js";

/** @import { Path } from "../paths.js" */

/** The complete value is not what the schema asks for. */
export class InvalidSchema extends JsonrillError {
  /**
   * @param {string} message
   * @param {Path} path
   * @param {readonly any[]} issues
   * @param {any} value
   */
  constructor(message, path, issues, value) {
    super(message, { path });
    this.name = "InvalidSchema";
    this.code = CODES.INVALID_SCHEMA;
    /** Everything that the schema found. */
    this.issues = issues;
    /** The value that was refused. */
    this.value = value;
  }
}

/** The errors of sources that hold a provider's events; they are loaded with what reads those. */

import * as CODES from "../codes.js";
import { JsonrillError } from "../errors.js";

/** A source ended with an error: of the provider, or the `status` of a response. */
export class SourceFailed extends JsonrillError {
  /**
   * @param {string} message
   * @param {number} [status]
   */
  constructor(message, status) {
    super(message);
    this.name = "SourceFailed";
    this.code = CODES.SOURCE_FAILED;
    /** The status of the response; undefined if the provider itself reports the error. */
    this.status = status;
  }
}

/** Nothing in a source is what was asked for: it names what came, and what is accepted. */
export class UnknownSource extends JsonrillError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "UnknownSource";
    this.code = CODES.UNKNOWN_SOURCE;
  }
}

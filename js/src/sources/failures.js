/** The errors of sources that hold a provider's events; they are loaded with what reads those. */

import { CODES } from "../defaults.js";
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
    this.code = CODES.SourceFailed;
    /** The status of the response; undefined if the provider itself reports the error. */
    this.status = status;
  }

  toJSON() {
    return { ...super.toJSON(), ...(this.status !== undefined && { status: this.status }) };
  }
}

/** Nothing in a source is what was asked for: it names what came, and what is accepted. */
export class UnknownSource extends JsonrillError {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "UnknownSource";
    this.code = CODES.UnknownSource;
  }
}

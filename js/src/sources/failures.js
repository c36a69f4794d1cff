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

/** Another answer contradicts what was shown at `path`, and begins again. */
export class RevisionError extends JsonrillError {
  /**
   * @param {import("../paths.js").Path} path
   * @param {unknown} written
   * @param {unknown} now
   */
  constructor(path, written, now) {
    const shown = [written, now].map((value) => JSON.stringify(value));
    super(`written as ${shown[0]}, now ${shown[1]}`, { path });
    this.name = "RevisionError";
    this.code = CODES.REVISION;
    this.written = written;
    this.now = now;
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

import * as CODES from "../codes.js";
import { JsonrillError } from "../errors.js";

/** A field that was asked for never came, or is no string. */
export class FieldNotFound extends JsonrillError {
  /**
   * @param {string} message
   * @param {string} field
   */
  constructor(message, field) {
    super(message);
    this.name = "FieldNotFound";
    this.code = CODES.FIELD_NOT_FOUND;
    /** The field, as it was asked for. */
    this.field = field;
  }
}

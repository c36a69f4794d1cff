import { JsonrillError } from "../errors.js";
import { parsePath } from "../paths.js";

/** The server that is read from reports an error. */
export class ServerError extends JsonrillError {
  #error;

  /** @param {{[field: string]: any}} error as it is on the wire */
  constructor(error) {
    const path = typeof error.path === "string" ? parsePath(error.path) : undefined;
    super(String(error.message), { ...error, path });
    this.name = "ServerError";
    this.code = String(error.code);
    this.#error = error;
  }

  toJSON() {
    return this.#error;
  }
}

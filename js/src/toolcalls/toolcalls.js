/** Tool calls from the events of any provider, and from jsonrill's own wire events. */

import { Calls } from "./calls.js";
import { Reader } from "../providers/index.js";

export { ToolCall } from "./call.js";

/** @typedef {import("./call.js").Status} Status */
/** @typedef {import("./arguments.js").Problem} Problem */
/** @typedef {import("./calls.js").CallOptions & {provider?: import("../providers/index.js").Provider}} ToolCallsOptions */
/** @typedef {import("./call.js").ToolCall} Call */

/**
 * Reads events and keeps tool calls whose arguments grow, interleaved or not. One object can read any
 * number of responses, one after another or at once.
 */
export class ToolCalls extends Calls {
  /** Turns events into statements, for `read`. */
  reader;

  /** @param {ToolCallsOptions} [options] */
  constructor({ provider = "auto", ...options } = {}) {
    super(options);
    this.reader = new Reader(provider);
  }

  /**
   * Read one event, decoded or as JSON text. What is not understood is ignored.
   * @param {unknown} event
   * @returns {Call[]} the calls that it changed
   */
  add(event) {
    return changed(this.read(this.reader.feed(event)));
  }

  /**
   * The stream is over: what has not ended is truncated. Another stream may follow; if several are
   * read at once, name the messages of this one.
   * @param {...string} messageIds
   * @returns {Call[]} the calls that it changed
   */
  flush(...messageIds) {
    return changed(this.end(messageIds));
  }
}

/** @param {import("./calls.js").CallUpdate[]} updates */
function changed(updates) {
  return [...new Set(updates.map(({ call }) => call))];
}

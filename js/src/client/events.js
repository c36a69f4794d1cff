/**
 * A stream of server-sent events that survives its connections.
 *
 * `openEvents` reads with fetch. The stream goes on after the last id it has seen, until
 * `event: CLOSE`, a 204, an answer that no second try would change, or until it is closed here. A
 * stream without ids is requested once: the next request might start it anew, and cost as much.
 * What the events say is not known here.
 */

import { Watch, again, checkResponse, request } from "./connection.js";
import { SILENCE } from "../defaults.js";
import { SSEDecoder } from "../eventstream/sse.js";
import { EventStream, Lost } from "./stream.js";

export { EventsError } from "./connection.js";
export { LimitError, SSEDecoder } from "../eventstream/sse.js";
export { EventStream } from "./stream.js";

/** @typedef {import("../eventstream/sse.js").SSEEvent} SSEEvent */
/** @typedef {import("./stream.js").State} State */
/** @typedef {import("./stream.js").Detail} Detail */
/** @typedef {import("./stream.js").Options} Options */

/**
 * Read a stream of events with fetch, from now on.
 * @param {string | URL} url
 * @param {Options} [options]
 * @returns {EventStream}
 */
export function openEvents(url, options = {}) {
  const stream = new EventStream(options);
  void read(stream, url, options);
  return stream;
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
function read(stream, url, options) {
  return again(stream, () => connection(stream, url, options));
}

/**
 * One connection, to its end. It never ends well: `Lost`, or what ends the stream.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
async function connection(stream, url, options) {
  const { timeout = SILENCE } = options;
  const watch = new Watch(timeout, stream._stop.signal);
  try {
    const response = await watch.during(request(stream, url, options, watch.signal));
    if (response.status === 204) return stream._finish("204");
    await checkResponse(response);
    stream._enter("open");
    await body(stream, response, options, watch);
  } finally {
    watch.stop();
  }
  throw new Lost("the connection ended", 0, true);
}

/**
 * @param {EventStream} stream
 * @param {Response} response
 * @param {Options} options
 * @param {Watch} watch
 */
async function body(stream, response, { limit }, watch) {
  const decoder = new SSEDecoder({ limit, lastEventId: stream.lastEventId });
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (;;) {
    const { done, value } = await watch.during(reader.read());
    if (done) return;
    stream.bytes += value.byteLength;
    for (const event of decoder.feed(value)) stream._deliver(event);
    stream._reached(decoder.lastEventId);
    stream._retry = decoder.retry ?? stream._retry;
    await stream._taken();
    if (stream.ended) return;
  }
}

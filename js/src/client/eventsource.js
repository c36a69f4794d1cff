/** A stream of events through the browser's own EventSource. */

import { Watch, again, checkResponse, request } from "./connection.js";
import { SILENCE } from "../defaults.js";
import { EventStream, Lost } from "./stream.js";

/** @typedef {import("./stream.js").Options} Options */

/**
 * Read a stream of events with the browser's EventSource, from now on. It cannot send headers.
 *
 * The browser reconnects by itself, which is left to it as long as that brings new ids. It gives up
 * at the first error status without a word: then, if ids were sent, one fetch asks why, and a new
 * EventSource goes on after the last id.
 * @param {string | URL} url
 * @param {Options} [options]
 * @returns {EventStream}
 */
export function openEventSource(url, options = {}) {
  const stream = new EventStream(options);
  void follow(stream, url, options);
  return stream;
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
function follow(stream, url, options) {
  return again(stream, async () => {
    await source(stream, url, options);
    if (!stream.ended && stream._noReconnect) throw new Lost("the browser gave up");
    if (!stream.ended) await ask(stream, url, options);
  });
}

/**
 * One EventSource, until the browser gives up on it or the stream is over.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 * @returns {Promise<void>}
 */
function source(stream, url, options) {
  const { types = [], withCredentials = false } = options;
  const Source = options.EventSource ?? globalThis.EventSource;
  const events = new Source(resumed(url, stream.lastEventId), { withCredentials });
  /** The id of the event before on this connection. @type {string | null} */
  let before = null;
  let reached = stream.lastEventId;
  let opened = false;
  return new Promise((resolve, reject) => {
    const leave = () => {
      events.close();
      resolve();
    };
    stream._stop.signal.addEventListener("abort", leave, { once: true });
    events.onopen = () => {
      before = null;
      opened = true;
      stream._enter("open");
    };
    events.onerror = () => {
      if (events.readyState === Source.CLOSED) return leave();
      if (stream._noReconnect || stream.lastEventId === reached) {
        events.close();
        return reject(new Lost("the connection ended", 0, opened));
      }
      reached = stream.lastEventId;
      stream.reconnects += 1;
      stream._enter("connecting", { reason: "the connection ended" });
    };
    /** @param {MessageEvent} message */
    const take = ({ type, data, lastEventId: id }) => {
      try {
        stream.bytes += data.length;
        // It does not tell whether the id is the event's own. The same as just before may not be.
        const ownId = id !== before;
        before = id;
        stream._deliver({ type, data, id, ownId });
      } catch (error) {
        events.close();
        reject(error);
      }
    };
    for (const type of new Set(["message", "CLOSE", ...types])) events.addEventListener(type, take);
  });
}

/**
 * Throws the reason why the browser gave up; returns if the response is an event stream after all.
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 */
async function ask(stream, url, options) {
  const watch = new Watch(options.timeout ?? SILENCE, stream._stop.signal);
  const init = { ...options.init };
  if (options.withCredentials) init.credentials = "include";
  try {
    const response = await watch.during(request(stream, url, { ...options, init }, watch.signal));
    if (response.status === 204) return stream._finish("204");
    await checkResponse(response);
  } finally {
    watch.stop();
  }
  throw new Lost("the browser gave up");
}

/**
 * The address that goes on after this id.
 * @param {string | URL} url
 * @param {string} id
 */
function resumed(url, id) {
  if (id === "") return String(url);
  const [address, query = ""] = String(url)
    .split("#")[0]
    .split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  parameters.set("after", id);
  return `${address}?${parameters}`;
}

/**
 * One request for events and its answer: what is asked, whether the answer is one, whether there is
 * hope after one that is not, and the watch over a connection that may fall silent.
 */

import { isEventStream } from "../eventstream/media.js";
import { Lost } from "./stream.js";

/** @typedef {import("./stream.js").EventStream} EventStream */
/** @typedef {import("./stream.js").Options} Options */

// After this many answers in a row that are no event stream, it is no accident.
const MOST_STRANGE = 3;
// Timers cannot wait longer.
const LONGEST = 2 ** 31 - 1;
// A `Retry-After` beyond an hour is hardly meant for a page.
const LONGEST_ASKED = 3_600_000;

/** The server's answer means that trying again is of no use. */
export class EventsError extends Error {
  /**
   * @param {string} message
   * @param {number} [status] of the HTTP answer
   */
  constructor(message, status) {
    super(message);
    this.name = "EventsError";
    this.status = status;
  }
}

/** An answer that is no event stream: a page of something in between, perhaps. */
class Strange extends Lost {}

/**
 * Try until the stream is over: what is lost is tried again, other errors end it.
 * @param {EventStream} stream
 * @param {() => Promise<void>} attempt
 */
export async function again(stream, attempt) {
  await null; // no callback runs before the caller has the stream
  let strange = 0;
  stream._enter("connecting");
  while (!stream.ended) {
    try {
      await attempt();
    } catch (error) {
      if (stream.ended) return;
      strange = error instanceof Strange ? strange + 1 : 0;
      if (strange === MOST_STRANGE) stream._fail(new EventsError(textOf(error), 200));
      else if (error instanceof Lost && stream._noReconnect) end(stream, error);
      else if (error instanceof Lost) await stream._wait(error);
      else stream._fail(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/**
 * End a stream that is not requested again. One with ids ends with CLOSE; others just end.
 * @param {EventStream} stream
 * @param {Lost} lost
 */
function end(stream, lost) {
  if (lost.ended && stream.lastEventId === "") stream._finish("ended");
  else stream._fail(new EventsError(`${lost.message} (${stream._noReconnect})`, lost.status));
}

/**
 * @param {EventStream} stream
 * @param {string | URL} url
 * @param {Options} options
 * @param {AbortSignal} signal
 */
export function request(stream, url, options, signal) {
  const { fetch = globalThis.fetch, init = {} } = options;
  const headers = new Headers(options.headers);
  headers.set("accept", "text/event-stream");
  if (stream.lastEventId !== "") headers.set("last-event-id", inBytes(stream.lastEventId));
  new Request(url, { headers }); // a wrong address must not look like a lost connection
  return fetch(url, { cache: "no-store", ...init, headers, signal });
}

/**
 * Throws if a response is not an event stream; the class of the error says whether to try again.
 * @param {Response} response
 */
export async function checkResponse(response) {
  const { status } = response;
  const type = response.headers.get("content-type") ?? "";
  if (status === 200 && isEventStream(type)) return;
  if (status === 200) {
    await response.body?.cancel();
    throw new Strange(`not an event stream but ${type || "something without a type"}`);
  }
  if (status >= 500 || status === 408 || status === 429) {
    await response.body?.cancel();
    const lost = new Lost(`the server answered ${status}`, retryAfter(response));
    lost.status = status;
    throw lost;
  }
  throw new EventsError(`the server answered ${status}${await reasonOf(response)}`, status);
}

/**
 * Milliseconds that the server asks to wait.
 * @param {Response} response
 */
function retryAfter(response) {
  const text = response.headers.get("retry-after") ?? "";
  const wait = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), LONGEST_ASKED) : 0;
}

/**
 * What the server says about its refusal, if it says it briefly.
 * @param {Response} response
 */
async function reasonOf(response) {
  try {
    const text = await response.text();
    const problem = /json/.test(response.headers.get("content-type") ?? "") && JSON.parse(text);
    const detail = problem ? (problem.detail ?? problem.message ?? problem.error?.message) : text;
    return typeof detail === "string" && detail !== "" ? `: ${detail.trim().slice(0, 200)}` : "";
  } catch {
    return "";
  }
}

/** Ends a connection that says nothing for too long, and with the stream. */
export class Watch {
  /**
   * @param {number} timeout
   * @param {AbortSignal} outer
   */
  constructor(timeout, outer) {
    this._timeout = timeout;
    this._controller = new AbortController();
    this._outer = outer;
    this._abort = () => this._controller.abort();
    outer.addEventListener("abort", this._abort);
  }

  get signal() {
    return this._controller.signal;
  }

  /**
   * What a step of the connection gives; `Lost` if it fails or takes too long.
   * @template T
   * @param {Promise<T>} step
   * @returns {Promise<T>}
   */
  async during(step) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const silence = new Promise((_, reject) => {
      if (this._timeout > 0 && this._timeout <= LONGEST) {
        timer = setTimeout(() => reject(new Lost("the connection is silent")), this._timeout);
      }
    });
    try {
      return /** @type {T} */ (await Promise.race([step, silence]));
    } catch (error) {
      step.catch(() => {});
      this._abort();
      throw error instanceof Lost ? error : new Lost(`the connection failed: ${textOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  stop() {
    this._outer.removeEventListener("abort", this._abort);
    this._abort();
  }
}

/**
 * A header holds bytes: those of the UTF-8 form, as browsers send them.
 * @param {string} text
 */
export function inBytes(text) {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** @param {unknown} error */
function textOf(error) {
  return error instanceof Error ? error.message : String(error);
}

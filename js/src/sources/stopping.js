/**
 * A source that can be stopped at any time, also while it is silent. Leaving a loop closes a source
 * only when its next element arrives; a view that is gone does not wait for it.
 */

import { isPiece, isResponse, iteratorOf } from "./reading.js";

/** @typedef {import("./reading.js").Source} Source */

/**
 * The same source, which ends when the signal is aborted: its connection is closed at once.
 * @param {Source} source
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export async function stoppable(source, signal) {
  /** @type {any} */
  const given = await source;
  const isAnswer = isResponse(given);
  const body = isAnswer ? given.body : (given?.fullStream ?? given);
  const isStream = typeof body?.getReader === "function";
  if (isPiece(body) || !(isStream || typeof body?.[Symbol.asyncIterator] === "function")) return given;
  const elements = isStream ? iteratorOf(body) : body[Symbol.asyncIterator]();
  const stopped = new Promise((resolve) => {
    const stop = () => {
      resolve({ done: true, value: undefined });
      close(given, elements);
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });
  const stream = {
    next: () => Promise.race([elements.next(), stopped]),
    return: () => elements.return?.(),
    [Symbol.asyncIterator]: () => stream,
  };
  if (!isAnswer) return stream;
  const { status, statusText, ok, headers } = given;
  return { status, statusText, ok, headers, body: stream };
}

/**
 * Close a source by every way that it has: SDKs have a controller, streams of Node are destroyed.
 * What it says to that is of no interest.
 * @param {any} given
 * @param {AsyncIterator<any>} elements
 */
function close(given, elements) {
  const ways = [
    () => given.controller?.abort?.(),
    () => given.destroy?.(),
    () => elements.return?.(),
  ];
  for (const way of ways) {
    try {
      Promise.resolve(way()).catch(() => {});
    } catch {
      // It is left.
    }
  }
}

/** Fewer updates: a PARTIAL at most once in a while, and those in between are merged into one. */

import { Update } from "../partial-stream/update.js";

/**
 * At most one PARTIAL is held: entities come one after the other, and a COMPLETED or ERROR, which is
 * never held, contains what a PARTIAL held before it would have told. A held one is emitted when it is
 * due, even if the source stalls, and in any case at the end.
 * @template {Update} T
 * @param {AsyncGenerator<T, void, undefined>} updates
 * @param {number} every milliseconds
 * @returns {AsyncGenerator<T, void, undefined>}
 */
export async function* paced(updates, every) {
  /** @type {T | null} */
  let held = null;
  let due = 0;
  /** @type {Promise<IteratorResult<T, void>> | null} */
  let next = null;
  let isOpen = true;
  try {
    for (;;) {
      if (held !== null && performance.now() >= due) {
        const last = held;
        held = null;
        due = performance.now() + every;
        yield last;
      }
      next ??= updates.next();
      /** @type {IteratorResult<T, void> | null} */
      let result;
      try {
        result = held === null ? await next : await before(next, due - performance.now());
      } catch (error) {
        isOpen = false;
        if (held !== null) yield held;
        throw error;
      }
      if (result === null) continue; // the held one is due
      next = null;
      if (result.done) {
        isOpen = false;
        if (held !== null) yield held;
        return;
      }
      /** @type {T} */
      const update = result.value;
      const last = held !== null && !Update.absorb(held, update) ? held : null;
      held = update.status === "PARTIAL" ? update : null;
      if (last !== null) {
        due = performance.now() + every;
        yield last;
      }
      if (held === null) yield update;
    }
  } finally {
    if (isOpen) {
      next?.catch(() => {});
      await updates.return();
    }
  }
}

/**
 * What a promise gives; null if that takes longer than this number of milliseconds.
 * @template T
 * @param {Promise<T>} promise
 * @param {number} most
 * @returns {Promise<T | null>}
 */
async function before(promise, most) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, most, null);
  });
  try {
    return /** @type {T | null} */ (await Promise.race([promise, over]));
  } finally {
    clearTimeout(timer);
  }
}

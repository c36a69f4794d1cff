/**
 * What several test files share: the cases that Python reads too, ways to cut, chance with a seed.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// The part of a property's examples that is tried; TEST_HARDER=1 tries many times more.
export const HARDER = ["", "0", undefined].includes(process.env.TEST_HARDER) ? 0.17 : 20;
/** A test that `make hard` alone runs: those that compare times do. */
export const hard = HARDER > 1 ? test : () => {};

/** A file of cases. */
export function cases(name) {
  return JSON.parse(readFileSync(join(ROOT, "cases", name), "utf8"));
}

/** Numbers from 0 to 1, the same for the same seed. (mulberry32) */
export function chance(seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (bound) => Math.floor(random() * bound);
  return { random, below, pick: (list) => list[below(list.length)] };
}

/** Cut text or bytes at these places. */
export function at(places, text) {
  const edges = [0, ...[...places].sort((first, second) => first - second), text.length];
  return edges.slice(1).map((end, number) => text.slice(edges[number], end));
}

/** Whole, one by one, by threes, at every single place (`make test`: every eighth), at random. */
export function* cuttings(text, { seed = 0 } = {}) {
  const places = Array.from({ length: text.length }, (_, place) => place);
  yield [text];
  yield at(places, text);
  yield at(
    places.filter((place) => place % 3 === 0),
    text,
  );
  const step = HARDER > 1 ? 1 : 8;
  for (let place = text.length % step; place < text.length; place += step) yield at([place], text);
  const { below } = chance(seed + text.length);
  yield at(
    Array.from({ length: text.length >> 2 }, () => below(text.length + 1)),
    text,
  );
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Seconds of the quickest of three runs. */
export function seconds(work) {
  let best = Infinity;
  for (let run = 0; run < 3; run += 1) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1e6);
  }
  return best;
}

/** Does `large` take less than `bound` times as long as `small`? A busy machine gets three tries. */
export function within(bound, small, large) {
  for (let tries = 0; tries < 3; tries += 1) {
    if (seconds(large) < bound * Math.max(0.002, seconds(small))) return true;
  }
  return false;
}

/** Freeze a value and everything in it: an attempt to change it throws. */
export function frozen(value) {
  const todo = [value];
  while (todo.length) {
    const value = todo.pop();
    if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
      Object.freeze(value);
      todo.push(...Object.values(value));
    }
  }
  return value;
}

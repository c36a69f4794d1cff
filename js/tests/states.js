/** Random states of a value, and random changes of them. */

import { put } from "../src/parse/values.js";

const KEYS = ["a", "b", "a/b", "~", "0", "", "__proto__", "\ud800", "é😀"];
const STRINGS = ["", "x", "é😀", "\ud83d", "\ude00", "a long text that is edited"];
const SCALARS = [0, 1, -2, 0.5, 1e300, true, false, null, "1"];

export function randomValue(random, depth = 3) {
  const kind = random.below(depth === 0 ? 3 : 6);
  if (kind === 0) return random.pick(SCALARS);
  if (kind < 3) return random.pick(STRINGS) + random.pick(STRINGS);
  if (kind < 5) {
    const value = {};
    for (let count = random.below(4); count > 0; count -= 1) put(value, random.pick(KEYS), randomValue(random, depth - 1));
    return value;
  }
  return Array.from({ length: random.below(5) }, () => randomValue(random, depth - 1));
}

/** The value with something changed, in place where that is possible. */
export function edited(value, random) {
  const kind = random.below(6);
  if (kind === 0 || value === null || !["object", "string"].includes(typeof value)) return randomValue(random);
  if (typeof value === "string") {
    const at = kind === 1 ? random.below(value.length + 1) : value.length;
    return value.slice(0, at) + random.pick(STRINGS) + value.slice(at + random.below(3));
  }
  if (Array.isArray(value)) {
    const at = random.below(value.length + 1);
    if (kind === 1) value.splice(at, 2);
    else if (kind === 2 || at === value.length) value.splice(at, 0, randomValue(random, 2));
    else value[at] = edited(value[at], random);
    return value;
  }
  const keys = Object.keys(value);
  const key = keys.length > 0 && kind > 2 ? random.pick(keys) : random.pick(KEYS);
  if (kind === 1) delete value[key];
  else put(value, key, Object.hasOwn(value, key) ? edited(value[key], random) : randomValue(random, 2));
  return value;
}

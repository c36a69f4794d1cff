/** Paths: text ↔ array, one-to-one. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { formatPath, parsePath, toPointer } from "../src/index.js";
import { isComplete } from "../src/paths.js";
import { chance, HARDER } from "./support.js";

const TEXTS = [
  ["root", []],
  ["root.users[1].name", ["users", 1, "name"]],
  ['root["a.b"]["x y"]', ["a.b", "x y"]],
  ['root["0"][0]', ["0", 0]],
  ['root[""]["\\"\\\\\\n\\u001f"]', ["", '"\\\n\u001f']],
  ['root["\\ud83d"]', ["\ud83d"]],
  ['root["é😀"].__proto__._a1', ["é😀", "__proto__", "_a1"]],
  ['root["]"].root["root "]', ["]", "root", "root "]],
];

test("text and array are one-to-one", () => {
  for (const [text, path] of TEXTS) {
    assert.equal(formatPath(path), text);
    assert.deepEqual(parsePath(text), path);
  }
});

test("other spellings are read", () => {
  assert.deepEqual(parsePath("users[0]"), ["users", 0]);
  assert.deepEqual(parsePath('[0]["a"]'), [0, "a"]);
  assert.deepEqual(parsePath('root["\\u0061"]'), ["a"]);
  assert.deepEqual(parsePath("rooted"), ["rooted"]);
});

test("what is not a path is refused", () => {
  const texts = ["", "root.", "root[", "root[01]", "root[-1]", 'root["a]', 'root["a"', "root.a b", "root[*]", "root.*"];
  texts.push('root["\\x"]', 'root["\n"]', "root[1e3]", "root..a", "root[9007199254740993]");
  for (const text of texts) assert.throws(() => parsePath(text), TypeError, text);
});

test("any path survives", () => {
  const { below, pick } = chance(1);
  const keys = ["a", "", "0", '"', "\\", "]", "[", ".", "*", "é😀", "\ud83d", "\n", "__proto__", "root"];
  for (let turn = 0; turn < 500 * HARDER; turn += 1) {
    const path = Array.from({ length: below(6) }, () => (below(2) ? below(1000) : pick(keys) + pick(keys)));
    assert.deepEqual(parsePath(formatPath(path)), path);
  }
});

test("a JSON Pointer escapes its tokens", () => {
  assert.equal(toPointer(["a/b", 0, "c~d", ""]), "/a~1b/0/c~0d/");
});

test("what is inside the open value is complete, what is around it is not", () => {
  const value = { a: [1, { b: "x" }], c: null };
  const seen = ["root", "a", "a[0]", "a[1]", "a[1].b", "a[2]", "c", "d", "toString"];
  const complete = seen.filter((path) => isComplete(value, path, ["a", 1]));
  assert.deepEqual(complete, ["a[0]", "a[1].b", "c"]);
  assert.equal(isComplete(value, ["a", "0"], null), false);
});

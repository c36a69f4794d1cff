/** Paths: text ↔ array, one-to-one, and JSON Pointers read against a value. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PathError, fromPointer, parsePath, toPointer, formatPath } from "../src/paths.js";
import { lookup } from "../src/build/lookup.js";
import { Place } from "../src/parse/place.js";
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

test("what is no path is refused", () => {
  for (const text of [
    "",
    "root.",
    "root[",
    "root[01]",
    "root[-1]",
    'root["a]',
    'root["a"',
    "root.a b",
    "root[*]",
    "root.*",
    'root["\\x"]',
    'root["\n"]',
    "root[1e3]",
    "root..a",
    "root[9007199254740993]",
  ]) {
    assert.throws(() => parsePath(text), PathError, text);
  }
});

test("a place says the same as its path", () => {
  for (const [text, path] of TEXTS.slice(1)) {
    const place = path.reduce((parent, key) => new Place(parent, key), null);
    assert.equal(place.text, text);
    assert.equal(place.text, text);
    assert.deepEqual(place.path, path);
  }
  let deep = null;
  for (let depth = 0; depth < 50_000; depth += 1) deep = new Place(deep, 0);
  assert.equal(deep.text.length, 4 + 3 * 50_000);
});

test("JSON Pointers", () => {
  const value = { "a/b": [{ "~1": 1 }], "": { 0: "x" }, n: 5 };
  const there = [
    ["", []],
    ["/a~1b/0/~01", ["a/b", 0, "~1"]],
    ["//0", ["", "0"]],
    ["/a~1b/-", ["a/b", 1]],
    ["/new", ["new"]],
    ["/a~1b/7", ["a/b", 7]],
    ["/__proto__", ["__proto__"]],
  ];
  for (const [pointer, path] of there) assert.deepEqual(fromPointer(pointer, value), path);
  for (const pointer of [
    "a",
    "/~2",
    "/~",
    "/a~1b/01",
    "/a~1b/x",
    "/a~1b/7/x",
    "/no/x",
    "/n/text",
    "/constructor/x",
    "/__proto__/x",
    "/a~1b/length",
    "/a~1b/-1",
    "/a~1b/99999999999999999999",
  ]) {
    assert.throws(() => fromPointer(pointer, value), PathError, pointer);
  }
  assert.equal(toPointer(["a/b", 0, "~1"]), "/a~1b/0/~01");
});

test("lookup sees own members alone", () => {
  const value = { a: [1, { b: null }], n: 5, s: "text" };
  assert.equal(lookup(value, ["a", 1, "b"]), null);
  for (const path of [
    ["a", "0"],
    ["a", 2],
    ["a", -1],
    ["a", "length"],
    ["toString"],
    ["__proto__"],
    ["s", 0],
    ["n", "text"],
    ["a", 1, "b", "c"],
    ["s", "length"],
  ]) {
    assert.equal(lookup(value, path), undefined);
  }
});

test("random paths come back", () => {
  const { below, pick } = chance(3);
  for (let round = 0; round < 500 * HARDER; round += 1) {
    const path = Array.from({ length: below(6) }, () =>
      below(2)
        ? below(1000)
        : Array.from({ length: below(5) }, () =>
            pick(['"', "\\", "]", "[", ".", "a", "0", "\n", "é", "\ud800", "~", "/", " "]),
          ).join(""),
    );
    assert.deepEqual(parsePath(formatPath(path)), path);
  }
});

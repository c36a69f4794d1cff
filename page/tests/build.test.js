/** What the page says about a pasted text. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { build } from "../tools/build.js";

/** @param {string} text */
const problemOf = (text) => build(text, { format: "text" }).problem;

test("an error names its place and what is expected there", () => {
  assert.equal(problemOf('{"a": 1}'), "");
  assert.equal(problemOf("{'a': 1}"), "Line 1, column 2: a key or '}' is expected, but there is a single quote.");
  assert.equal(problemOf('{\n "a": 1 \u{1f30a}}'), "Line 2, column 9: ',' or '}' is expected, but there is '\u{1f30a}'.");
  assert.equal(problemOf('{"a": [1'), "Line 1, column 9 in root.a[0]: the text ends here, but ',' or ']' is missing.");
});

test("an error in a deep value stays short", () => {
  assert.ok(problemOf('{"a":'.repeat(200) + "x").length < 250);
});

test("keys that come again are noted", () => {
  assert.match(build('{"a": 1, "a": 2}').note, /^1 key comes more than once/);
});

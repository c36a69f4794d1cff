/** A document at any moment: what is there, what is complete, and where it is in the text. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { partial } from "../../js/src/index.js";
import { describePlace } from "../characters.js";
import { Outline } from "../outline.js";

const TEXT = '{"a😀": [1, -2.5e3, true, null, "é\\"\\\\"], "שלום": {"": "\\ud83d\\ude00"}, "b": 7}';

/**
 * @param {string} text
 * @param {number} size
 */
function read(text, size, many = false) {
  const outline = new Outline(many);
  for (let at = 0; at < text.length; at += size) outline.feed(text.slice(at, at + size));
  outline.flush();
  return outline;
}

/** Return the value that the nodes show at a moment. */
function shown(outline, node, offset) {
  const children = node.children.slice(0, node.count(offset));
  if (node.kind === "array") return children.map((child) => shown(outline, child, offset));
  if (node.kind === "object") return Object.fromEntries(children.map((child) => [child.key, shown(outline, child, offset)]));
  return outline.value(node, offset);
}

test("the outline does not depend on how the text was cut", () => {
  const look = ({ nodes }) => nodes.map(({ path, kind, start, end, keyStart }) => [path, kind, start, end, keyStart]);
  const whole = look(read(TEXT, TEXT.length));
  for (const size of [1, 2, 3, 7]) assert.deepEqual(look(read(TEXT, size)), whole);
});

test("a string that stops being JSON is shown up to that character", () => {
  for (const [text, value] of [
    ['{"note": "first\nsecond"}', "first"],
    ['{"note": "a\tb"}', "a"],
    ['{"note": "C:\\new\\users"}', "C:\new"],
  ]) {
    const outline = read(text, 3);
    const moment = outline.momentAfter(text.length);
    assert.deepEqual(shown(outline, outline.nodes[0], moment), { note: value });
  }
});

test("each value is at its characters", () => {
  const outline = read(TEXT, 3);
  for (const node of outline.nodes) {
    let value = JSON.parse(TEXT);
    for (const key of node.path) value = value[key];
    assert.deepEqual(JSON.parse(TEXT.slice(node.start, node.end)), value);
    assert.equal(outline.nodeAt(node.start), node);
    assert.equal(outline.find(node.path), node);
  }
});

test("a moment shows what the text so far says, in any order of moments", () => {
  const outline = read(TEXT, 4);
  const moments = Array.from({ length: TEXT.length }, (_, at) => (at * 31) % TEXT.length);
  for (const offset of moments) {
    const expected = partial(TEXT.slice(0, offset));
    const root = outline.root;
    assert.deepEqual(root.isShown(offset) ? shown(outline, root, offset) : undefined, expected, `at ${offset}`);
  }
  assert.deepEqual(shown(outline, outline.root, outline.momentAfter(TEXT.length)), JSON.parse(TEXT));
});

test("a number at the end of a text is there once the text has ended", () => {
  const outline = new Outline();
  outline.feed("12");
  assert.equal(outline.nodes.length, 0);
  outline.flush();
  assert.ok(outline.root.isShown(outline.momentAfter(2)));
});

test("an error has its offset, its path and what was expected", () => {
  const [fault] = read('{"😀": [1, oops]}', 2).faults;
  assert.deepEqual(
    [fault.code, fault.offset, fault.path, fault.expected],
    ["INVALID_JSON", '{"😀": [1, '.length, ["😀", 1], "a value"],
  );
  const [cut] = read('{"a": "b', 3).faults;
  assert.deepEqual([cut.code, cut.offset, cut.path], ["TRUNCATED", 8, ["a"]]);
  assert.equal(describePlace("a\n😀x", 4, ["b"]), "line 2, column 2, in root.b");
});

test("JSON lines go on after a broken one", () => {
  const outline = read('{"a": 1}\noops\n[2]\n{"b":', 5, true);
  assert.deepEqual(
    outline.faults.map(({ offset, path }) => [offset, path]),
    [
      [9, [1]],
      [23, [3, "b"]],
    ],
  );
  assert.deepEqual(shown(outline, outline.root, 30), [{ a: 1 }, undefined, [2], {}]);
});

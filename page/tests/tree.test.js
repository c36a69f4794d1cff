/** The page's tree gives the same values as the other receivers, and touches only what changed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Outline } from "../outline.js";
import { matches } from "../tree-search.js";
import { Tree } from "../tree.js";
import { hard, within } from "../../js/tests/support.js";

/** The tree of a text. @param {string} text */
function built(text) {
  const tree = new Outline();
  tree.feed(text, 1);
  tree.flush(1);
  tree.moveTo(1);
  return tree;
}

const shown = (tree) => tree.root?.value ?? null;

function indexed(tree) {
  for (const node of tree.nodes()) {
    if (node.parent !== null) assert.equal(node.parent.children[node.index], node);
  }
}

const STEPS = [
  null,
  {},
  { a: "x" },
  { a: "xy", b: [1] },
  { a: "xyz", b: [1, { c: null }], d: true },
  { b: [2] },
  { q: 1 },
  ["a"],
  [["a"], 12],
  "text",
  [],
];

test("any value may follow any other", () => {
  for (const before of STEPS) {
    for (const after of STEPS) {
      const tree = new Tree();
      tree.set(before);
      tree.set(after);
      assert.deepEqual(shown(tree), after);
      indexed(tree);
    }
  }
});

test("what is the same object is not touched, and what grew is not fresh", () => {
  const tree = new Tree();
  const shared = { deep: [1, 2, 3] };
  tree.set({ shared, text: "a" });
  tree.changed.clear();
  tree.fresh.clear();
  tree.set({ shared, text: "ab" });
  assert.deepEqual(
    [...tree.changed].map((node) => node.key),
    ["text"],
  );
  assert.equal(tree.fresh.size, 0);
});

test("keys are data", () => {
  const keys = ["__proto__", "constructor", "", "toString", "0", "10", "2", "a.b"];
  const tree = built(`{${keys.map((key) => `${JSON.stringify(key)}: 1`)}}`);
  // In the order in which they came, which a JavaScript object could not keep.
  assert.deepEqual(
    tree.root.children.map((node) => node.key),
    keys,
  );
  assert.equal(Object.hasOwn(shown(tree), "__proto__"), true);
  assert.equal({}.polluted, undefined);
  assert.equal(tree.root.child("a.b").pathText, 'root["a.b"]');
  assert.equal(tree.root.child("a.b").pointer, "/a.b");
  assert.equal(tree.root.child("0").pathText, 'root["0"]');
});

test("a key that comes again takes the place of the first", () => {
  const tree = built('{"a": [1], "a": true}');
  assert.deepEqual(tree.valueAt(1), { a: true });
});

test("a number is shown as it was written", () => {
  const tree = built("[9007199254740993, 1.50]");
  assert.deepEqual(
    tree.root.children.map((node) => node.text),
    ["9007199254740993", "1.50"],
  );
});

test("several documents are elements of one tree, each with paths of its own", () => {
  const tree = new Outline({ many: true });
  tree.feed('{"a": 1} "x"', 1);
  tree.flush(1);
  assert.deepEqual(tree.valueAt(1), [{ a: 1 }, "x"]);
  assert.equal(tree.root.children[0].child("a").pathText, "root.a");
});

test("the value that grows is at a path", () => {
  const tree = new Tree();
  tree.set({ a: [1, { b: "x" }], c: [] });
  tree.growAt(["a", 1, "b"]);
  assert.equal(tree.growing.pathText, "root.a[1].b");
  tree.growAt([1], tree.root.child("a"));
  assert.equal(tree.growing.pathText, "root.a[1]");
  tree.growAt(null);
  assert.equal(tree.growing, null);
});

test("nearest finds the place of an error, or what is above it", () => {
  const tree = new Tree();
  tree.set({ a: [{ b: 1 }] });
  assert.equal(tree.nearest(["a", 0, "c"]).pathText, "root.a[0]");
  assert.equal(tree.nearest(["a", 0, "b"]).pathText, "root.a[0].b");
  assert.equal(new Tree().nearest(["a"]), null);
});

test("search finds keys and values, in order, whatever their case", () => {
  const tree = new Tree();
  tree.set({ Name: "x", list: ["no", "a NAME", 12], n: { name: { deep: 12 } } });
  assert.deepEqual(
    matches(tree, "name").map((node) => node.pathText),
    ["root.Name", "root.list[1]", "root.n.name"],
  );
  assert.deepEqual(
    matches(tree, "12").map((node) => node.pathText),
    ["root.list[2]", "root.n.name.deep"],
  );
  assert.deepEqual(matches(tree, ""), []);
});

hard("a piece costs the same in a large document", () => {
  const grow = (count) => () => {
    const tree = new Outline();
    tree.feed("[1", 1);
    for (let at = 2; at < count; at += 1) {
      tree.feed(', "text"', at);
      tree.moveTo(at);
      tree.changed.clear();
      tree.fresh.clear();
    }
  };
  assert.ok(within(60, grow(2000), grow(32_000)));
});

/** The page's tree gives the same values as the other receivers, and touches only what changed. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { WireReader } from "../../js/src/wire/fragments.js";
import { ExactNumber, stringify } from "../../js/src/build/rebuilder.js";
import { matches } from "../search.js";
import { Tree } from "../tree.js";
import { cases, frozen, within } from "../../js/tests/support.js";

const FRAGMENTS = cases("fragments.json").cases;
const REBUILT = cases("rebuilder.json").cases.filter((one) => !one.refused && !one.dialect);
const DELTAS = cases("delta.json");

/** A tree of these fragments. */
function built(items) {
  const tree = new Tree();
  const reader = new WireReader("jsonrill", "exact");
  for (const item of items) {
    const fragment = reader.read(item);
    if (fragment !== null) tree.apply(fragment);
  }
  return tree;
}

const shown = (tree) => tree.root?.value ?? null;

function indexed(tree) {
  for (const node of tree.nodes()) {
    if (node.parent !== null) assert.equal(node.parent.children[node.index], node);
  }
}

for (const one of REBUILT) {
  test(`fragments: ${one.name}`, () => {
    const tree = new Tree();
    const reader = new WireReader("jsonrill", "exact");
    one.feeds.forEach((feed, number) => {
      for (const item of feed) tree.apply(reader.read(item));
      assert.deepEqual(shown(tree), one.values[number]);
      assert.equal(tree.growing?.pathText ?? null, one.open[number]);
    });
    indexed(tree);
  });
}

for (const { name, wire, compact, value } of FRAGMENTS) {
  if (value === undefined) continue;
  test(`both wire forms: ${name}`, () => {
    for (const form of [wire, compact]) {
      const tree = built(form.flat(1));
      assert.equal(stringify(shown(tree)), stringify(value));
      assert.equal(tree.growing, null);
    }
  });
}

for (const { name, previous, delta, data } of DELTAS.cases) {
  test(`delta: ${name}`, () => {
    const tree = new Tree();
    tree.holds = "entities";
    const node = tree.entry("one");
    if (previous !== null) tree.assign(node, frozen(previous));
    tree.change(node, frozen(delta));
    assert.deepEqual(node.value, data);
    indexed(tree);
  });
}

for (const { name, previous, delta } of DELTAS.refused) {
  test(`a delta that does not fit is no accident: ${name}`, () => {
    const tree = new Tree();
    tree.holds = "entities";
    const node = tree.entry("one");
    if (previous !== null) tree.assign(node, previous);
    try {
      tree.change(node, delta);
    } catch (error) {
      assert.ok(error instanceof TypeError);
    }
  });
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
  const items = [
    [0],
    ...keys.flatMap((key) => [
      [4, null, key],
      [8, null, 1],
    ]),
    [1],
    [11],
  ];
  const tree = built(items);
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
  const tree = built([[0], [4, null, "a"], [2], [8, null, 1], [3], [4, null, "a"], [9, null, true], [1], [11]]);
  assert.deepEqual(shown(tree), { a: true });
  indexed(tree);
});

test("numbers that a double would change stay exact", () => {
  const tree = built([[2], [8, null, "9007199254740993"], [8, null, "1e400"], [3], [11]]);
  assert.equal(stringify(shown(tree)), "[9007199254740993,1e400]");
  assert.ok(shown(tree)[0] instanceof ExactNumber);
});

test("several documents are elements of one tree, each with paths of its own", () => {
  const tree = new Tree();
  tree.holds = "documents";
  tree.beginMany();
  for (const items of [
    [[0], [4, null, "a"], [8, null, 1], [1]],
    [[5], "x", [7, null, 1]],
  ]) {
    const reader = new WireReader("jsonrill", "exact");
    for (const item of items) tree.apply(reader.read(item));
  }
  assert.deepEqual(shown(tree), [{ a: 1 }, "x"]);
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

test("a fragment costs the same in a large document", () => {
  const grow = (count) => () => {
    const tree = new Tree();
    const reader = new WireReader("jsonrill", "exact");
    tree.apply(reader.read([2]));
    for (let at = 0; at < count; at += 1) {
      for (const item of [[5], "text", [7, null, 4]]) tree.apply(reader.read(item));
      tree.changed.clear();
      tree.fresh.clear();
    }
  };
  assert.ok(within(9, grow(4000), grow(16_000)));
});

test("a delta costs the same in a large document", () => {
  const grow = (count) => () => {
    const tree = new Tree();
    tree.holds = "entities";
    const node = tree.entry("#0");
    tree.change(node, [{ op: "add", path: "", value: [] }]);
    for (let at = 0; at < count; at += 1) {
      tree.change(node, [{ op: "add", path: `/${at}`, value: "a" }]);
      tree.change(node, [{ op: "append", path: `/${at}`, value: "b" }]);
      tree.changed.clear();
      tree.fresh.clear();
    }
  };
  assert.ok(within(9, grow(4000), grow(16_000)));
});

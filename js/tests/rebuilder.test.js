/** Fragments in, a value out; `cases/rebuilder.json` pins it for any language. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { FragmentError, Rebuilder, WireReader, formatPath } from "../src/build/rebuilder.js";
import { HARDER, cases, chance, frozen, hard, within } from "./support.js";

const CASES = cases("rebuilder.json").cases;
const SENT = cases("fragments.json").cases;

const shown = (rebuilder) => rebuilder.value ?? null;
const state = (rebuilder) =>
  JSON.stringify([JSON.stringify(shown(rebuilder)), rebuilder.openPath, rebuilder.complete, rebuilder.started]);

/** Feed; was it refused? */
function refused(rebuilder, items) {
  try {
    rebuilder.feed(items);
    return false;
  } catch (error) {
    if (!(error instanceof FragmentError)) throw error;
    return true;
  }
}

for (const one of CASES) {
  test(one.name, () => {
    const rebuilder = new Rebuilder({ dialect: one.dialect });
    one.feeds.forEach((feed, number) => {
      assert.equal(refused(rebuilder, feed), one.refused?.[0] === number);
      assert.deepEqual(shown(rebuilder), one.values[number]);
      const open = rebuilder.openPath;
      assert.equal(open && formatPath(open), one.open[number]);
      frozen(rebuilder.value);
    });
    assert.equal(rebuilder.complete, one.complete);
  });

  test(`${one.name}: the grouping does not matter, and misfits are left out`, () => {
    const rebuilder = new Rebuilder({ dialect: one.dialect, onMisfit: "collect" });
    const [feed, number] = one.refused ?? [one.feeds.length, 0];
    const good = [...one.feeds.slice(0, feed).flat(1), ...(one.feeds[feed] ?? []).slice(0, number)];
    for (const item of good) rebuilder.add(item);
    assert.deepEqual(shown(rebuilder), one.values.at(-1));
    if (one.refused === undefined) return;
    const before = state(rebuilder);
    const item = one.feeds[feed][number];
    for (const count of [1, 2]) {
      assert.equal(rebuilder.add(item), null);
      assert.equal(state(rebuilder), before);
      assert.equal(rebuilder.misfitCount, count);
    }
    assert.ok(rebuilder.misfits[0] instanceof FragmentError);
    assert.deepEqual(rebuilder.misfits[0].item, item);
    const { message } = rebuilder.misfits[0];
    const path = one.open[feed] ?? "root";
    assert.ok(message);
    assert.deepEqual(rebuilder.misfits[0].toJSON(), { code: "INVALID_FRAGMENT", message, path });
  });
}

for (const { name, wire, value } of SENT) {
  test(`as it is sent: ${name}`, () => {
    const rebuilder = new Rebuilder();
    for (const items of wire) rebuilder.feed(items);
    // In Python -0 is the integer 0; here it is what JSON.parse makes of it.
    assert.equal(JSON.stringify(rebuilder.value), JSON.stringify(value));
  });
}

const compact = {
  object: [0],
  end: [1],
  array: [2],
  close: [3],
  string: [5],
  done: [11],
  key: (key) => [4, null, key],
  number: (number) => [8, null, number],
  length: (length) => [7, null, length],
};
const text = (value) => [compact.string, value, compact.length(value.length)];

test("what was handed out stays as it was, and what did not change is the same object", () => {
  const rebuilder = new Rebuilder();
  const { object, array, key, number, close, end, done } = compact;
  rebuilder.feed([object, key("a"), array, number(1), close, key("b"), array, object, key("x")]);
  const first = frozen(rebuilder.value);
  assert.equal(rebuilder.value, first);
  rebuilder.feed([compact.string]);
  const second = frozen(rebuilder.value);
  rebuilder.feed(["t"]);
  const third = frozen(rebuilder.value);
  assert.deepEqual(
    [first, second, third],
    [
      { a: [1], b: [{}] },
      { a: [1], b: [{ x: "" }] },
      { a: [1], b: [{ x: "t" }] },
    ],
  );
  assert.equal(first.a, third.a);
  assert.notEqual(second.b, third.b);
  rebuilder.feed([compact.length(1), end]);
  assert.equal(rebuilder.value, third);
  rebuilder.feed([number(2)]);
  const fourth = frozen(rebuilder.value);
  assert.equal(fourth.b[0], third.b[0]);
  assert.notEqual(fourth.b, third.b);
  rebuilder.feed([close, end, done]);
  assert.equal(rebuilder.value, fourth);
  assert.ok(rebuilder.complete);
});

test("nothing that changes nothing makes a new value", () => {
  const rebuilder = new Rebuilder();
  rebuilder.feed([[0], [4, null, "a"], [5], "x"]);
  const value = rebuilder.value;
  for (const item of ["", [7, null, 1], [4, null, "b"]]) {
    rebuilder.add(item);
    assert.equal(rebuilder.value, value);
  }
});

/** Items of a random document, compact; no key comes twice. */
function* randomItems({ below }) {
  const open = [];
  let count = 0;
  do {
    if (open.length && below(5) === 0) {
      yield open.pop() === "object" ? [1] : [3];
      continue;
    }
    if (open.at(-1) === "object") yield compact.key(`k${(count += 1)}`);
    const kind = below(open.length < 6 ? 5 : 3);
    if (kind === 0) yield compact.number(below(9));
    else if (kind === 1) yield [10];
    else if (kind === 2) yield* text("xy");
    else yield open.push(kind === 3 ? "object" : "array") && (kind === 3 ? [0] : [2]);
    count += 1;
  } while (open.length && count < 300);
}

/** No two different objects at the same place say the same. */
function shares(before, now) {
  if (before === now || typeof before !== "object" || typeof now !== "object") return;
  if (before === null || now === null) return;
  assert.notDeepEqual(before, now);
  for (const key of Object.keys(now)) if (Object.hasOwn(before, key)) shares(before[key], now[key]);
}

test("whenever one looks, only what changed is new", () => {
  for (let seed = 0; seed < 30 * HARDER; seed += 1) {
    const random = chance(seed);
    const rebuilder = new Rebuilder();
    let before;
    for (const item of randomItems(random)) {
      rebuilder.add(item);
      if (random.below(3)) continue;
      const now = frozen(rebuilder.value);
      shares(before, now);
      before = now;
    }
  }
});

test("keys of every kind are own keys, in their order, and pollute nothing", () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "", "01", "-1", "1.0", "valueOf", "__proto__x"];
  const rebuilder = new Rebuilder();
  rebuilder.add([0]);
  for (const key of keys) rebuilder.feed([compact.key(key), [0], compact.key(key), ...text("v"), [1]]);
  frozen(rebuilder.value);
  rebuilder.feed([compact.key("__proto__"), ...text("twice"), [1], [11]]);
  const { value } = rebuilder;
  assert.deepEqual(Object.keys(value), keys);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(JSON.stringify(value), JSON.stringify(value));
  assert.deepEqual(value, JSON.parse(JSON.stringify(value)));
  assert.deepEqual(Object.keys(value.constructor), ["constructor"]);
  assert.equal({}.v, undefined);
  assert.equal(Object.prototype.v, undefined);
});

test("keys like array indices come first, as in every object; nothing is lost", () => {
  const rebuilder = new Rebuilder();
  rebuilder.feed([[0], ...["b", "1", "0", "01"].flatMap((key) => [compact.key(key), [10]]), [1], [11]]);
  assert.deepEqual(Object.keys(rebuilder.value), ["0", "1", "b", "01"]);
});

test("a number is read from its text", () => {
  const texts = ["9007199254740993", "-9007199254740993", "0.1", "1e400", "12"];
  const rebuilder = new Rebuilder();
  rebuilder.feed([[2], ...texts.map((text) => [8, null, text])]);
  assert.deepEqual(rebuilder.value, texts.map(Number));
  const wrong = { path: "root", kind: "CompleteNumber", textValue: "1e400", value: 5 };
  assert.throws(() => new Rebuilder().add(wrong), FragmentError);
  assert.throws(() => new Rebuilder().add([8, null, Infinity]), FragmentError);
});

test("whether a value is whole", () => {
  const rebuilder = new Rebuilder();
  assert.equal(rebuilder.started, false);
  assert.equal(rebuilder.value, undefined);
  assert.deepEqual([rebuilder.isComplete([]), rebuilder.isComplete()], [false, false]);
  rebuilder.feed([[0], [4, null, "a"], [2], [10], [5]]);
  assert.deepEqual(
    ["root", "root.a", "root.a[0]", "root.a[1]", "root.a[2]", "root.b"].map((path) => rebuilder.isComplete(path)),
    [false, false, true, false, false, false],
  );
  assert.equal(rebuilder.isComplete(["a", "0"]), false);
  rebuilder.feed([[7, null, 0], [3], [1], [11]]);
  assert.ok(
    rebuilder.isComplete([]) &&
      rebuilder.isComplete() &&
      rebuilder.isComplete(["a", 1]) &&
      !rebuilder.isComplete("root.toString"),
  );
});

test("add gives the fragment, with its place", () => {
  const rebuilder = new Rebuilder();
  rebuilder.feed([[0], [4, null, "a b"], [2], [10]]);
  const { kind, path, pathText, value } = rebuilder.add([8, null, "1.50"]);
  assert.deepEqual([kind, path, pathText, value], ["CompleteNumber", ["a b", 1], 'root["a b"][1]', 1.5]);
  assert.equal(new Rebuilder({ dialect: "juf" }).add({ kind: "JsonComplete" }), null);
});

test("a reader alone", () => {
  const reader = new WireReader();
  const fragments = [[2], [5], "x", [7, null, 1], [3], [11]].map((item) => reader.read(item));
  assert.deepEqual(fragments.map(({ kind, pathText, text, value }) => [kind, pathText, text, value]).slice(1, 4), [
    ["StartString", "root[0]", undefined, undefined],
    ["PartialString", "root[0]", "x", undefined],
    ["CompleteString", "root[0]", undefined, "x"],
  ]);
  assert.ok(reader.complete);
});

test("what one reader has read, another one takes", () => {
  for (const dialect of ["jsonrill", "juf"]) {
    const reader = new WireReader();
    const rebuilder = new Rebuilder({ dialect });
    const items = [[2], [5], "x", [7, null, 1], [8, null, "1.50"], [8, null, "1e400"], [10], [9, null, false], [3], [11]];
    rebuilder.feed(items.map((item) => reader.read(item)));
    assert.deepEqual(rebuilder.value, ["x", 1.5, Infinity, null, false]);
    assert.ok(rebuilder.complete);
    assert.throws(() => rebuilder.add(new WireReader().read([2])), FragmentError);
  }
});

test("misuse is a TypeError", () => {
  assert.throws(() => new Rebuilder({ dialect: "xml" }), TypeError);
  assert.throws(() => new Rebuilder({ onMisfit: "ignore" }), TypeError);
  for (const items of ["text", null, undefined, 5, { path: "root", kind: "StartObject" }]) {
    assert.throws(() => new Rebuilder().feed(items), TypeError);
  }
});

test("whatever comes is refused with a FragmentError", () => {
  const junk = [
    undefined,
    5,
    true,
    NaN,
    () => 1,
    Symbol.iterator,
    10n,
    {},
    [[]],
    [[0]],
    [0, 5],
    [0, "x["],
    [NaN],
    [-1],
    [0.5],
    { kind: "toString", path: "root" },
    { kind: "__proto__", path: "root" },
    { kind: "", path: "root" },
    new Date(),
    new Map(),
    Object.create({ kind: "StartObject", path: "root" }),
    { path: "root", kind: ["StartObject"] },
  ];
  const rebuilder = new Rebuilder({ onMisfit: "collect" });
  for (const item of junk) assert.equal(rebuilder.add(item), null);
  assert.equal(rebuilder.misfitCount, junk.length);
  assert.equal(rebuilder.started, false);
  for (let count = 0; count < 1000; count += 1) rebuilder.add("x");
  assert.equal(rebuilder.misfits.length, 100);
});

// ---- cost ----

const string = (count) => [
  [0],
  [4, null, "s"],
  [5],
  ...Array.from({ length: count }, () => "abcd"),
  [7, null, 4 * count],
  [1],
  [11],
];
const list = (count) => [
  [2],
  ...Array.from({ length: count }, (_, number) => [[0], [4, null, "n"], [8, null, number], [1]]).flat(),
  [3],
  [11],
];
const paths = (count) => [
  { path: "root", kind: "StartArray" },
  ...Array.from({ length: count }, (_, number) => ({
    path: `root[${number}]`,
    kind: "CompleteNumber",
    value: number,
  })),
];
const deep = (depth) => [...Array.from({ length: depth }, () => [2]), ...Array.from({ length: depth }, () => [3]), [11]];

for (const [name, make, size] of [
  ["a string", string, 15_000],
  ["a list", list, 1500],
  ["full paths", paths, 2500],
  ["depth", deep, 12_500],
]) {
  hard(`linear: ${name}`, () => {
    const run = (items) => () => new Rebuilder().feed(items);
    assert.ok(within(60, run(make(size)), run(make(16 * size))));
  });
}

hard("a look costs the open spine: a long string stays linear when it is looked at", () => {
  const run = (items) => () => {
    const rebuilder = new Rebuilder();
    for (const item of items) {
      rebuilder.add(item);
      assert.ok(rebuilder.value);
    }
  };
  assert.ok(within(9, run(string(15_000)), run(string(60_000))));
});

test("10 000 elements looked at one by one share what they do not change", () => {
  const rebuilder = new Rebuilder();
  rebuilder.add([2]);
  let before = rebuilder.value;
  for (let number = 0; number < 10_000; number += 1) {
    rebuilder.feed([[0], [4, null, "n"], [8, null, number], [1]]);
    const now = rebuilder.value;
    assert.equal(now.length, number + 1);
    if (number) assert.equal(now[number - 1], before[number - 1]);
    assert.equal(before.length, number);
    before = now;
  }
});

test("100 000 levels", () => {
  const rebuilder = new Rebuilder();
  rebuilder.feed(Array.from({ length: 100_000 }, () => [2]));
  assert.equal(rebuilder.openPath.length, 99_999);
  assert.equal(rebuilder.value.length, 1);
  rebuilder.feed([[10]]);
  assert.ok(rebuilder.value);
});

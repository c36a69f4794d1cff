/** Fragments from text, over the wire and back to a value (P3, P4); `cases/` pins them for any language. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Fragment, FragmentError, Parser, Rebuilder, formatPath } from "../src/index.js";
import { HARDER, cases, chance, cuttings, frozen, hard, within } from "./support.js";

const shown = (rebuilder) => rebuilder.value ?? null;
const overTheWire = (fragments) => JSON.parse(JSON.stringify(fragments));

/** Feed items; return the error if they are refused, else null. */
function refusal(rebuilder, items) {
  try {
    rebuilder.feed(items);
    return null;
  } catch (error) {
    if (!(error instanceof FragmentError)) throw error;
    return error;
  }
}

for (const { name, feeds, wire, value } of cases("fragments.json").cases) {
  test(`from text: ${name}`, () => {
    const parser = new Parser();
    const batches = [...feeds.map((feed) => parser.feed(feed)), parser.flush()];
    assert.deepEqual(overTheWire(batches), overTheWire(wire));
    const rebuilder = new Rebuilder();
    for (const batch of wire) rebuilder.feed(batch);
    // In Python -0 is the integer 0; here it is what JSON.parse makes of it.
    assert.equal(JSON.stringify(rebuilder.value), JSON.stringify(value));
  });
}

for (const example of cases("rebuilder.json").cases) {
  test(`back to a value: ${example.name}`, () => {
    const rebuilder = new Rebuilder();
    example.feeds.forEach((feed, number) => {
      const error = refusal(rebuilder, feed);
      assert.equal(error !== null, example.refused?.[0] === number);
      assert.deepEqual(shown(rebuilder), example.values[number]);
      const open = rebuilder.openPath;
      assert.equal(open && formatPath(open), example.open[number]);
      if (error !== null) assert.equal(error.toJSON().path, example.open[number] ?? "root");
      frozen(rebuilder.value);
    });
    assert.equal(rebuilder.complete, example.complete);
  });

  test(`the grouping does not matter: ${example.name}`, () => {
    const rebuilder = new Rebuilder();
    const [feed, number] = example.refused ?? [example.feeds.length, 0];
    const good = [...example.feeds.slice(0, feed).flat(), ...(example.feeds[feed] ?? []).slice(0, number)];
    for (const item of good) rebuilder.feed([item]);
    assert.deepEqual(shown(rebuilder), example.values.at(-1));
  });
}

const TEXTS = [
  '{"a": [1, {"b": "x😀\\n", "c d": null}, -0.5e3], "e": [[], {}, true], "": "", "__proto__": {"x": [false]}}',
  "[9007199254740993, 1e400, 12345678901234567890, 0.1]",
  '"\\ud83d"',
];

test("P3, P4: fragments survive the wire, at any cutting and grouping", () => {
  for (const text of TEXTS) {
    for (const cut of cuttings(text)) {
      const parser = new Parser();
      const fragments = [...cut.flatMap((piece) => parser.feed(piece)), ...parser.flush()];
      for (const items of [fragments, overTheWire(fragments)]) {
        const rebuilder = new Rebuilder();
        for (const item of items) {
          rebuilder.feed([item]);
          assert.equal(rebuilder.isComplete(), item.kind === "JsonComplete");
        }
        assert.deepEqual(rebuilder.value, JSON.parse(text));
        assert.ok(rebuilder.complete);
      }
    }
  }
});

test("a fragment has its path, what it carries and where its token began", () => {
  const [, key, start, piece] = new Parser().feed('{"a b": "x');
  assert.deepEqual([key.kind, key.path, key.value, key.offset], ["Key", [], "a b", 1]);
  assert.deepEqual([start.pathText, start.offset], ['root["a b"]', 8]);
  assert.deepEqual(overTheWire(piece), { path: 'root["a b"]', kind: "PartialString", textValue: "x" });
  assert.ok(piece instanceof Fragment);
});

test("values that were read do not change and share what is complete", () => {
  const { below } = chance(3);
  for (let turn = 0; turn < 60 * HARDER; turn += 1) {
    const rebuilder = new Rebuilder();
    const kept = [];
    const text = JSON.stringify({ rows: Array.from({ length: 1 + below(9) }, (_, n) => ({ n, s: "x".repeat(below(4)) })) });
    for (const fragment of [...new Parser().feed(text)]) {
      rebuilder.feed([fragment]);
      if (below(3) === 0) kept.push([frozen(rebuilder.value), JSON.stringify(rebuilder.live)]);
    }
    for (const [value, json] of kept) assert.equal(JSON.stringify(value), json);
    const rows = kept.map(([value]) => value.rows?.[0]).filter((row) => row?.s === JSON.parse(text).rows[0].s);
    assert.ok(new Set(rows).size <= 2, "one object while it was open, one since it is complete");
  }
});

test("keys of every kind are own keys, and pollute nothing", () => {
  const keys = ["__proto__", "constructor", "toString", "hasOwnProperty", "", "01", "-1", "valueOf"];
  const text = JSON.stringify(Object.fromEntries(keys.slice(1).map((key) => [key, { v: 1 }]))).replace(
    "{",
    '{"__proto__": {"v": 1},',
  );
  const rebuilder = new Rebuilder();
  rebuilder.feed(overTheWire(new Parser().feed(text)));
  assert.deepEqual(Object.keys(rebuilder.value), keys);
  assert.equal(Object.getPrototypeOf(rebuilder.value), Object.prototype);
  assert.equal({}.v, undefined);
});

test("anything else is refused with a FragmentError, and changes nothing", () => {
  const junk = [undefined, 5, true, NaN, 10n, "x", {}, [[0]], { kind: "toString", path: "root" }, { kind: "", path: "root" }];
  junk.push({ path: "root", kind: ["StartObject"] }, { path: "root", kind: "CompleteNumber", textValue: "1e400", value: 5 });
  junk.push(
    { path: "x[", kind: "StartObject" },
    { path: 5, kind: "StartObject" },
    { path: "root", kind: "CompleteNumber", value: NaN },
  );
  for (const item of junk) {
    const rebuilder = new Rebuilder();
    assert.ok(refusal(rebuilder, [item]) instanceof FragmentError, String(item));
    assert.equal(rebuilder.started, false);
  }
  for (const items of ["text", null, undefined, 5, { path: "root", kind: "StartObject" }]) {
    assert.throws(() => new Rebuilder().feed(items), TypeError);
  }
});

for (const [name, text] of [
  ["a string", (count) => `"${"abcd".repeat(count)}"`],
  ["a list", (count) => JSON.stringify(Array.from({ length: count }, (_, n) => ({ n })))],
]) {
  hard(`P8: linear: ${name}`, () => {
    const run = (count) => {
      const items = overTheWire(new Parser().feed(text(count)));
      return () => new Rebuilder().feed(items);
    };
    assert.ok(within(60, run(1500), run(16 * 1500)));
  });
}

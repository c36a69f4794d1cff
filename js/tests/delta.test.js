/** Deltas: `cases/delta.json` pins them for every language. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { DeltaError, applyDelta } from "../src/partial-stream/delta.js";
import { cases, frozen, hard, within } from "./support.js";

const CASES = cases("delta.json");

for (const { name, previous, delta, data } of CASES.cases) {
  test(name, () => {
    const before = JSON.stringify([previous, delta]);
    const patched = applyDelta(frozen(previous), frozen(delta));
    assert.deepEqual(patched, data);
    assert.equal(JSON.stringify(patched), JSON.stringify(data));
    assert.equal(JSON.stringify([previous, delta]), before);
  });
}

for (const { name, previous, delta } of CASES.refused) {
  test(`refused: ${name}`, () => {
    assert.throws(() => applyDelta(frozen(previous), frozen(delta)), DeltaError);
  });
}

for (const { name, deltas, data } of CASES.streams) {
  test(`stream: ${name}`, () => {
    let value;
    for (const delta of deltas) value = frozen(applyDelta(value, delta));
    assert.deepEqual(value, data);
  });
}

test("what did not change is shared, what changed is not", () => {
  const previous = frozen({ a: { x: [1] }, b: [{ y: "t" }, { z: 1 }] });
  const value = applyDelta(previous, [{ op: "append", path: "/b/0/y", value: "u" }]);
  assert.equal(value.a, previous.a);
  assert.equal(value.b[1], previous.b[1]);
  assert.notEqual(value, previous);
  assert.notEqual(value.b, previous.b);
  assert.equal(applyDelta(previous, []), previous);
});

test("a delta may be applied twice", () => {
  const delta = frozen([
    { op: "add", path: "", value: { list: [] } },
    { op: "add", path: "/list/0", value: "a" },
    { op: "append", path: "/list/0", value: "b" },
  ]);
  assert.deepEqual(applyDelta(null, delta), { list: ["ab"] });
  assert.deepEqual(applyDelta(undefined, delta), { list: ["ab"] });
});

test("nothing is polluted, and inherited members are not there", () => {
  for (const path of ["/__proto__/polluted", "/constructor/prototype/polluted", "/toString/polluted"]) {
    assert.throws(() => applyDelta({}, [{ op: "add", path, value: 1 }]), DeltaError);
  }
  for (const path of ["/constructor", "/__proto__", "/toString"]) {
    assert.throws(() => applyDelta({}, [{ op: "replace", path, value: 1 }]), DeltaError);
    assert.throws(() => applyDelta({}, [{ op: "append", path, value: "x" }]), DeltaError);
  }
  assert.throws(() => applyDelta([1], [{ op: "replace", path: "/length", value: 0 }]), DeltaError);
  const value = applyDelta({}, [
    { op: "add", path: "/__proto__", value: {} },
    { op: "add", path: "/__proto__/polluted", value: 1 },
  ]);
  assert.deepEqual(Object.keys(value), ["__proto__"]);
  assert.equal({}.polluted, undefined);
});

hard("many changes in one delta copy once", () => {
  const delta = (count) => [
    { op: "add", path: "", value: [] },
    ...Array.from({ length: count }, (_, number) => ({
      op: "add",
      path: `/${number}`,
      value: number,
    })),
  ];
  const [small, large] = [delta(20_000), delta(80_000)];
  assert.ok(
    within(
      9,
      () => applyDelta(null, small),
      () => applyDelta(null, large),
    ),
  );
});

test("what is no delta is refused", () => {
  const change = { op: "add", path: "", value: 1 };
  for (const delta of [
    null,
    undefined,
    "x",
    3,
    change,
    [null],
    [[]],
    [{ ...change, op: "test" }],
    [{ ...change, path: 3 }],
    [Object.create(change)],
    [{ ...change, op: ["add"] }],
  ]) {
    assert.throws(() => applyDelta({}, delta), DeltaError);
  }
});

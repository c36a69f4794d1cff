/** A recording shows each of its moments as it was: values, what grows, characters, calls, errors. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Document } from "../../js/src/build/document.js";
import { formatPath } from "../../js/src/paths.js";
import { Recording } from "../recording.js";

const RECORDINGS = new URL("../../packages/jsonrill/src/jsonrill/demo/recordings/", import.meta.url);
const recorded = (/** @type {string} */ name) => readFileSync(new URL(name, RECORDINGS), "utf8");

/** Numbers that look random and are always the same. */
function dice(seed) {
  let state = seed;
  return (/** @type {number} */ most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * most);
  };
}

function anyValue(roll, depth = 0) {
  const kind = roll(depth > 4 ? 5 : 8);
  if (kind < 2) return ["", 'a\n"b\\', "waves 🌊 and 🐚", "é", "x".repeat(roll(40))][roll(5)];
  if (kind < 5) return [0, -1.5, 12345678901234, true, false, null][roll(6)];
  if (kind < 6) return Array.from({ length: roll(4) }, () => anyValue(roll, depth + 1));
  return Object.fromEntries(
    Array.from({ length: roll(5) }, () => ["k🌊".slice(0, 1 + 2 * roll(2)) + roll(9), anyValue(roll, depth + 1)]),
  );
}

/** The pieces of a text, cut anywhere, also within a pair of surrogates. */
function cut(text, roll) {
  const pieces = [];
  for (let at = 0; at < text.length; ) {
    const size = 1 + roll(7);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

function recordingOf(pieces, options = {}) {
  const recording = new Recording(options);
  pieces.forEach((piece, index) => recording.add(piece, { at: 25 * index }));
  recording.end("complete");
  return recording;
}

test("each moment has the value that a parser has after so many pieces", () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const roll = dice(seed);
    const text = JSON.stringify(anyValue(roll), null, roll(3));
    const pieces = cut(text, roll);
    const recording = recordingOf(pieces);
    const document = new Document();
    assert.equal(recording.text, text);
    pieces.forEach((piece, index) => {
      const moment = index + 1;
      document.feed(piece);
      if (moment === pieces.length) document.flush();
      assert.equal(recording.textAt(moment), pieces.slice(0, moment).join(""));
      assert.equal(JSON.stringify(recording.valueAt(moment) ?? null), JSON.stringify(document.value ?? null));
      if (moment === pieces.length) return;
      const open = recording.outline.openAt(moment)?.path ?? null;
      assert.equal(open && formatPath(open), document.openPath && formatPath(document.openPath), text);
    });
    assert.deepEqual(recording.errors, []);
  }
});

test("each value knows its characters, and each character its value", () => {
  for (let seed = 1; seed <= 100; seed += 1) {
    const roll = dice(seed);
    const text = JSON.stringify({ top: anyValue(roll) }, null, roll(3));
    const { outline, length } = recordingOf(cut(text, roll));
    outline.moveTo(length);
    for (const node of outline.nodes()) {
      assert.equal(JSON.stringify(JSON.parse(text.slice(node.start, outline.endOf(node)))), JSON.stringify(node.value));
      assert.equal(outline.nodeAt(node.start), node);
      assert.equal(outline.nodeAt(outline.endOf(node) - 1), node);
      if (node.keyStart >= 0) assert.equal(outline.nodeAt(node.keyStart), node);
    }
  }
});

test("the clock goes back and forth", () => {
  const text = recorded("voyage.txt");
  const { outline, length } = recordingOf(cut(text, dice(3)));
  const roll = dice(4);
  const whole = Array.from({ length: length + 1 }, (_, piece) => JSON.stringify(outline.valueAt(piece) ?? null));
  for (let count = 0; count < 300; count += 1) {
    const piece = roll(length + 1);
    outline.moveTo(piece);
    const { root } = outline;
    assert.equal(JSON.stringify(root?.exists ? root.value : null), whole[piece]);
    assert.equal(outline.growing, outline.openAt(piece));
  }
  // A step touches only what it changes.
  outline.moveTo(length - 5);
  outline.changed.clear();
  outline.moveTo(length - 6);
  assert.ok(outline.changed.size < 12);
});

test("a key that comes again", () => {
  const recording = recordingOf(['{"a":{"x":1},', '"a":{"y":2},', '"a":3}']);
  assert.deepEqual(
    [1, 2, 3].map((piece) => recording.valueAt(piece)),
    [{ a: { x: 1 } }, { a: { y: 2 } }, { a: 3 }],
  );
  recording.outline.moveTo(2);
  assert.deepEqual(
    [...recording.outline.nodes()].map((node) => node.key),
    ["", "a", "y"],
  );
});

test("of many documents the broken ones are marked", () => {
  const recording = recordingOf(['{"a": 1}\n{"b": {"c": [1', ',, 2]}}\n{"d": 1}\noops', "\n[2"], { many: true });
  assert.deepEqual(recording.valueAt(3), [{ a: 1 }, { b: { c: [1] } }, { d: 1 }, []]);
  assert.deepEqual(
    recording.errors.map(({ piece, offset }) => [piece, offset]),
    [
      [2, 24],
      [2, 40],
      [3, 47],
    ],
  );
  recording.outline.moveTo(3);
  assert.deepEqual(
    [...recording.outline.nodes()].filter((node) => node.shownBadge).map((node) => node.key),
    ["c", 3],
  );
  recording.outline.moveTo(1);
  assert.ok([...recording.outline.nodes()].every((node) => !node.shownBadge));
});

test("an error has its offset in units, its line and its path", () => {
  const [error] = recordingOf(['["🌊🌊", ', "nil]"]).errors;
  assert.deepEqual([error.piece, error.offset, error.line, error.column], [2, 10, 1, 9]);
  const [cutOff] = recordingOf(['{"a": [1, ', "2"]).errors;
  assert.deepEqual([cutOff.code, cutOff.piece, cutOff.offset], ["TRUNCATED", 2, 11]);
});

test("calls are shown at any moment", () => {
  const recording = recordingOf(recorded("stumble.jsonl").trim().split("\n"), { input: "events" });
  assert.equal(recording.provider, "openai_chat");
  const [search, note] = recording.calls;
  assert.equal(search.at(1), null);
  assert.equal(search.at(5)?.status, "streaming");
  assert.equal(search.at(recording.length)?.status, "complete");
  assert.equal(note.at(recording.length)?.status, "error");
  assert.equal(note.raw.text.slice(0, note.error?.offset ?? 0).at(-1), " ");
  assert.ok(search.raw.text.startsWith(search.raw.at(10)) && search.raw.at(10) !== search.raw.text);
  assert.equal(recording.errors.length, 1);
});

test("snapshots are values of their own", () => {
  const recording = recordingOf(['{"a": "x"}', '{"b": 1, "a": "xy"}'], { input: "snapshots" });
  assert.deepEqual(
    [0, 1, 2].map((piece) => recording.valueAt(piece)),
    [undefined, { a: "x" }, { b: 1, a: "xy" }],
  );
});

test("what grows in a snapshot is what the next one changes, or what it changed itself", () => {
  const grows = (snapshots, isOpen = false) => {
    const recording = recordingOf(
      snapshots.map((it) => JSON.stringify(it)),
      { input: "snapshots" },
    );
    if (isOpen) recording.state = "open";
    return snapshots.map((_, at) => recording.growingAt(at + 1));
  };
  assert.deepEqual(
    grows([
      { a: "h", b: "x" },
      { a: "he", b: "x" },
    ]),
    [["a"], null],
  );
  assert.deepEqual(
    grows(
      [
        { a: "h", b: "x" },
        { a: "he", b: "x" },
      ],
      true,
    ),
    [["a"], ["a"]],
  );
  assert.deepEqual(grows([{ a: "h" }, { a: "h", b: [1, { c: "x" }] }], true), [[], ["b", 1, "c"]]);
  assert.deepEqual(grows([["x"], ["x"], ["xy"]], true), [[0], [0], [0]]);
  assert.deepEqual(grows([{ a: [{ b: 1 }] }], true), [["a", 0, "b"]]);
  assert.deepEqual(grows([12, 123]), [[], null]);
});

test("a series of snapshots ends without an error", () => {
  const recording = recordingOf(['{"a": "x"}', '{"a": "xy"}'], { input: "snapshots" });
  assert.deepEqual([recording.state, recording.errors], ["complete", []]);
});

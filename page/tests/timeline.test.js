/** A pasted text as a recording; lanes, figures and rates of recordings; two of them compared. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Recording } from "../recording.js";
import { align, countsOf } from "../tools/align.js";
import { build, repairedText } from "../tools/build.js";
import { figuresOf, formatTime, lanesOf, ratesOf, tallyOf, ticksOf, writtenBy } from "../tools/timeline.js";

/** @param {[number, string][]} pieces */
function recorded(pieces, options = {}) {
  const recording = new Recording({ input: "text", ...options });
  for (const [at, text] of pieces) recording.add(text, { at });
  recording.end("complete");
  return recording;
}

const short = ({ label, depth, start, end }) => [label, depth, start, end];
const PIECES = [
  [100, '{"title": "St'],
  [200, 'orm", "tags": ['],
  [400, '"a", "b"'],
  [900, '], "size": 12}'],
];

test("a lane is from the piece in which a value begins to the one in which it ends", () => {
  const { lanes, deepest } = lanesOf(recorded(PIECES), 100, 9);
  assert.deepEqual(lanes.map(short), [
    ["root", 0, 1, 4],
    ["title", 1, 1, 2],
    ["tags", 1, 2, 4],
    ["[0]", 2, 3, 3],
    ["[1]", 2, 3, 3],
    ["size", 1, 4, 4],
  ]);
  assert.equal(deepest, 2);
  assert.deepEqual(lanes[2].path, ["tags"]);
});

test("as many levels as fit are chosen, and what does not fit is counted", () => {
  const wide = recorded([[0, JSON.stringify({ list: Array.from({ length: 50 }, (_, at) => ({ at })) })]]);
  assert.equal(lanesOf(wide, 200).level, 3);
  assert.equal(lanesOf(wide, 60).level, 2);
  const { level, lanes, hidden } = lanesOf(wide, 20, 2);
  assert.deepEqual([level, lanes.length, hidden], [2, 20, 32]);
});

test("the figures of a stream, at its end and on the way", () => {
  const recording = recorded(PIECES);
  const tally = tallyOf(recording);
  const figures = figuresOf(recording, tally, 4);
  assert.deepEqual(figures, {
    firstToken: 100,
    firstField: 100,
    total: 900,
    rate: (50 - 13) / 0.8,
    characters: 50,
    fields: 3,
    calls: 0,
  });
  assert.deepEqual(figuresOf(recording, tally, 2), {
    firstToken: 100,
    firstField: 100,
    total: 200,
    rate: 150,
    characters: 28,
    fields: 2,
    calls: 0,
  });
  const untimed = recorded(PIECES, { timed: false });
  const { firstToken, total, rate, fields } = figuresOf(untimed, tally, 4);
  assert.deepEqual([firstToken, total, rate, fields], [null, null, null, 3]);
  const empty = recorded([]);
  assert.deepEqual(figuresOf(empty, tallyOf(empty), 0).characters, 0);
  // Times that begin with the first piece say nothing about the first token.
  const late = recorded([
    [0, '{"a": '],
    [500, "1}"],
  ]);
  assert.deepEqual([figuresOf(late, tallyOf(late), 2).firstToken, figuresOf(late, tallyOf(late), 2).firstField], [null, 500]);
});

test("characters a second, over time, are all characters", () => {
  const recording = recorded(PIECES);
  const { end, rates } = ratesOf(recording, writtenBy(recording), 9);
  assert.equal(end, 900);
  assert.equal(Math.round(rates.reduce((sum, rate) => sum + rate * 0.1, 0)), 50);
  assert.equal(ratesOf(recorded(PIECES, { timed: false }), [], 9), null);
});

const chunk = (delta) => JSON.stringify({ object: "chat.completion.chunk", id: "c", choices: [{ index: 0, delta }] });
const call = (index, more) => chunk({ tool_calls: [{ index, ...more }] });
const CALLS = [
  chunk({ content: "Let me look." }),
  call(0, { id: "a", function: { name: "weather", arguments: "" } }),
  call(0, { function: { arguments: '{"city": "Ro' } }),
  call(1, { id: "b", function: { name: "weather", arguments: '{"city": "Oslo"}' } }),
  call(0, { function: { arguments: 'me"}' } }),
  JSON.stringify({ object: "chat.completion.chunk", id: "c", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }),
];

test("texts and calls have lanes, with the arguments below", () => {
  const { recording } = build(CALLS.join("\n"), {});
  const { lanes } = lanesOf(recording, 100, 9);
  assert.deepEqual(
    lanes.map(({ label, depth }) => [label, depth]),
    [
      ["text", 0],
      ["weather()", 0],
      ["city", 1],
      ["weather()", 0],
      ["city", 1],
    ],
  );
  assert.deepEqual([lanes[2].start, lanes[2].end, lanes[4].start], [3, 5, 4]);
  assert.equal(
    writtenBy(recording).reduce((sum, each) => sum + each, 0),
    "Let me look.".length + 16 + 16,
  );
  const { fields, calls } = figuresOf(recording, tallyOf(recording), 4);
  assert.deepEqual([fields, calls], [2, 2]);
});

test("snapshots have lanes: from the first to the last change", () => {
  const { recording, recognised } = build('{"a":"x"}\n{"a":"xy"}\n{"a":"xy","b":[1]}\n{"a":"xy","b":[1,2]}', {});
  assert.equal(recognised.format, "snapshots");
  const { lanes } = lanesOf(recording, 100, 9);
  assert.deepEqual(lanes.map(short), [
    ["root", 0, 1, 4],
    ["a", 1, 1, 2],
    ["b", 1, 3, 4],
    ["[0]", 2, 3, 3],
    ["[1]", 2, 4, 4],
  ]);
});

test("times and axes for people", () => {
  assert.deepEqual([0, 12.4, 999, 2310, 12_340, 125_000].map(formatTime), [
    "0 ms",
    "12 ms",
    "999 ms",
    "2.31 s",
    "12.3 s",
    "2 min 5 s",
  ]);
  assert.deepEqual(ticksOf(900, 5), [0, 200, 400, 600, 800]);
  assert.deepEqual(ticksOf(0, 5), [0]);
  for (const end of [1, 7, 13, 999, 12_345.6]) assert.ok(ticksOf(end, 5).length <= 8, String(end));
});

// ---- pasted texts ----

test("a pasted text is a recording with made-up times, in pieces", () => {
  const { recording, problem, description } = build('{"a": [1, 2]}', { pieceSize: 3 });
  assert.deepEqual([recording.length, recording.timed, problem], [5, false, ""]);
  assert.equal(JSON.stringify(recording.valueAt(5)), '{"a":[1,2]}'.replaceAll("1", "1"));
  assert.equal(description, "JSON text.");
});

test("a text that fails comes with what would help, and that helps", () => {
  const text = 'Sure!\n{"title": "Storm", tags: [\'a\',],}';
  const { problem, suggestions } = build(text, {});
  assert.match(problem, /^Line 1, column 1: a value is expected, but there is 'S'\./);
  assert.equal(suggestions.length, 1);
  const repaired = build(text, {}, suggestions[0].change);
  assert.deepEqual([repaired.problem, repaired.suggestions], ["", []]);
  assert.equal(repaired.places.length, 5);
  assert.match(repairedText(repaired.places), /^5 places were repaired: text before the JSON, a key without quotes, /);
  assert.deepEqual(JSON.parse(JSON.stringify(repaired.recording.valueAt(repaired.recording.length))), {
    title: "Storm",
    tags: ["a"],
  });
});

test("events: the provider is named, an answer that is nearly JSON can be repaired, prose is no error", () => {
  const fenced = ["```json\n", '{"a": 1,}', "\n```"].map((content) => chunk({ content })).join("\n");
  const { recognised, problem, suggestions } = build(fenced, {});
  assert.equal(recognised.provider, "openai_chat");
  assert.match(problem, /Line 1, column 1/);
  const { recording, problem: none } = build(fenced, {}, suggestions[0].change);
  assert.deepEqual([none, JSON.parse(JSON.stringify(recording.valueAt(3)))], ["", { a: 1 }]);
  const prose = chunk({ content: "Hello there." }) + "\n" + chunk({ content: " Bye." });
  assert.equal(build(prose, {}).problem, "The stream ended before the answer did.");
  assert.equal(build(`data: ${prose.replace("\n", "\n\ndata: ")}\n\ndata: [DONE]\n\n`, {}).problem, "");
  assert.equal(build(CALLS.join("\n"), {}).problem, "");
});

test("a wrong choice is said, and how to get out of it", () => {
  const { problem, suggestions } = build('{"a":1}\n{"a":2}', {}, { format: "events" });
  assert.match(problem, /no provider that is known/);
  assert.equal(build('{"a":1}\n{"a":2}', {}, suggestions[0].change).problem, "");
  assert.match(build('{"a":1}\noops', {}, { format: "snapshots" }).problem, /Line 2 is not JSON/);
  assert.match(build("data: [DONE]\n\n", {}, { format: "sse" }).problem, /could be read|no text/);
});

test("a schema: what is wrong is at its place and at its piece", () => {
  const schema = JSON.stringify({ properties: { size: { enum: ["small"] } }, required: ["title"] });
  const { recording, problem } = build('{"size": "huge", "rest": "and so on"}', { pieceSize: 4 }, { schema });
  assert.equal(problem, "2 violations of the schema.");
  const [size, root] = recording.errors;
  assert.deepEqual([size.path, size.offset, root.path], [["size"], 9, []]);
  // The piece that ends the string.
  assert.equal(size.piece, 4);
  assert.equal(root.piece, recording.length);
  assert.match(build("{}", {}, { schema: "{" }).notes[0], /not JSON/);
  assert.match(build("{}", {}, { schema: '{"format": "date"}' }).notes[0], /Not checked here: format/);
});

test("several documents, each with its errors; a missing first brace", () => {
  const many = build('{"a":1}\n{"b":oops}\n{"c":3}', {});
  assert.equal(many.recognised.format, "many");
  assert.match(many.problem, /Line 2, column 6/);
  const prefixed = build('"title": "Storm"}', {}, { prefix: "{" });
  assert.equal(prefixed.problem, "");
  assert.deepEqual(JSON.parse(JSON.stringify(prefixed.recording.valueAt(99))), { title: "Storm" });
});

// ---- compared ----

test("two attempts are aligned by path", () => {
  const left = lanesOf(build('{"title": "Storm", "size": 1, "tags": ["a"]}', {}).recording, Infinity, Infinity).lanes;
  const right = lanesOf(
    build('{"size": 2, "note": "x", "title": "Storm", "tags": ["a", "b"]}', {}).recording,
    Infinity,
    Infinity,
  ).lanes;
  const rows = align(left, right);
  assert.deepEqual(
    rows.map(({ path, sameness }) => [path, sameness]),
    [
      ["root", "same"],
      ["root.title", "same"],
      ["root.size", "different"],
      ["root.note", "right"],
      ["root.tags", "same"],
      ["root.tags[0]", "same"],
      ["root.tags[1]", "right"],
    ],
  );
  assert.deepEqual(countsOf(rows), { same: 4, different: 1, left: 0, right: 2 });
  assert.deepEqual(countsOf(align(left, left)), { same: left.length, different: 0, left: 0, right: 0 });
  // Every lane is in exactly one row.
  assert.equal(rows.filter(({ left: one }) => one).length, left.length);
  assert.equal(rows.filter(({ right: one }) => one).length, right.length);
});

test("calls of the same tool are told apart when attempts are compared", () => {
  const { lanes } = lanesOf(build(CALLS.join("\n"), {}).recording, 100, 9);
  const paths = align(lanes, lanes).map(({ path }) => path);
  assert.deepEqual(paths, ["text", "weather()", "weather().city", "weather() 2", "weather() 2.city"]);
});

/** What a pasted text is, and what can be left out of it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { escapeText } from "../format.js";
import { recognise } from "../recognise.js";
import { Recording, meansJson } from "../recording.js";

const CHAT = { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "{}" } }] };
const LINE = JSON.stringify(CHAT);

/** @type {[string, string, number][]} */
const KINDS = [
  ['{"a": 1}', "text", 1],
  ['{"a": 1,\n"b": 2}', "text", 1],
  ["[1, 2]\n", "text", 1],
  ["hello\nworld", "text", 1],
  ['{"a": 1}\n\nHope this helps!', "text", 1],
  ['"a"\n"b"\n', "text", 2],
  ['{"a": 1}\n{"a": 2}\n', "many", 1],
  ['{"a": 1}\noops\n{"a": 2}\n', "many", 1],
  ['{"a": "x"}\n{"a": "xy"}\n{"a": "xyz", "b": []}', "snapshots", 3],
  [`${LINE}\n${LINE}`, "events", 2],
  [`data: ${LINE}\n\ndata: ${LINE}\n\ndata: [DONE]\n\n`, "events", 2],
  [`data: ${LINE}\ndata: ${LINE}\n`, "events", 2],
  [`[${LINE}, ${LINE}]`, "events", 2],
  [`[${LINE}, ${LINE}, {"choices": [`, "events", 2],
  [JSON.stringify(`data: ${LINE}\n\n`), "events", 1],
  ['{"error": {"message": "Quota exceeded.", "code": 429}}', "events", 1],
  [": ping\n\n: ping\n\n", "events", 0],
  ['data: {"choices": []}\n\ndata: [DONE]\n\n', "events", 1],
  ['{"n": 1, "value": {"a": ""}}\n[2, ["append", "/a", "x"]]\n[3, "y"]', "wire", 3],
];

for (const [text, kind, count] of KINDS) {
  test(`${JSON.stringify(text.slice(0, 40))} is ${kind}`, () => {
    const found = recognise(text);
    assert.deepEqual([found.kind, found.items.length], [kind, count]);
  });
}

test("lines may begin with times", () => {
  const { items, isTimed, kind } = recognise(`12:00:01.000 ${LINE}\n12:00:01.250 ${LINE}`);
  assert.deepEqual([kind, isTimed, items.map(({ at }) => at)], ["events", true, [0, 250]]);
});

test("an event that is cut off at the end is left out", () => {
  assert.equal(recognise(`${LINE}\noops\n${LINE}`, "events").items.length, 3);
  assert.equal(recognise(`${LINE}\n${LINE}\n${LINE.slice(0, 40)}`, "events").items.length, 2);
});

test("the end of the events is recognised", () => {
  assert.ok(recognise(`data: ${LINE}\n\ndata: [DONE]\n\n`).isDone);
});

test("an answer in prose is not a document", () => {
  assert.ok(meansJson('{"a', false) && meansJson('```json\n{"a": 1}', true) && meansJson('Here it is:\n{"a": 1}', true));
  assert.ok(!meansJson("Take care of the keys. ".repeat(30), true));
});

test("the wire gives a value after each message", () => {
  const recording = new Recording("wire", "");
  for (const message of ['{"n": 1, "value": {"a": "x"}}', '[2, ["append", "/a", "y"]]', '[4, "z"]']) recording.add(message, 0);
  assert.deepEqual(
    [1, 2, 3].map((position) => recording.at(position).outline.text),
    ['{"a":"x"}', '{"a":"xy"}', '{"a":"xy"}'],
  );
  assert.equal(recording.wireError.position, 3);
});

test("invisible and reordering characters are shown as their code points", () => {
  assert.equal(escapeText("plain tèxt 😀 \t\n"), "plain tèxt 😀 \t\n");
  assert.equal(escapeText("\u001b[31m\u0000\u007f"), "‹U+001B›[31m‹U+0000›‹U+007F›");
  assert.equal(escapeText("a\u202eb\u2066c\u200f\ud83d"), "a‹U+202E›b‹U+2066›c‹U+200F›‹U+D83D›");
  for (let code = 0; code < 0x3000; code += 1) {
    const isLeft = /\p{Bidi_Control}/u.test(escapeText(String.fromCodePoint(code)));
    assert.ok(!isLeft || code === 0x200c || code === 0x200d, code.toString(16));
  }
});

/** What a pasted text is recognised as: formats, wrappings, providers, times. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { described, recognise } from "../tools/recognise.js";

const DEMO = new URL("../../packages/jsonrill/src/jsonrill/demo/recordings/", import.meta.url);
const CASES = new URL("../../cases/providers/", import.meta.url);
const chunk = (content) => JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] });
const CHAT = ['{"a', '": 1}'].map(chunk);
const SSE = `${CHAT.map((event) => `data: ${event}\n\n`).join("")}data: [DONE]\n\n`;

/** [text, format, wrappings, provider] */
const FORMATS = [
  ['{"a": [1, 2]}', "text", [], null],
  ['{\n "a": 1\n}', "text", [], null],
  ['{"a": oops', "text", [], null],
  ["", "text", [], null],
  ["plain words\nand more", "text", [], null],
  ["12", "text", [], null],
  ['Here it is:\n```json\n{"a": 1}\n```', "text", [], null],
  ["[\n1,\n2\n,]", "text", [], null],
  ['{"a":1}\n{"b":2}', "many", [], null],
  ["1\n2\n3", "many", [], null],
  ['{"a":1}\n{"b":2}\n{"c', "many", [], null],
  ['{"a":1}\noops\n{"c":3}', "many", [], null],
  ['{"a":1}\noops\nand more', "text", [], null],
  // Lines with the same fields are a log, not one value that grows.
  [
    '{"ts":1,"level":"info","msg":"a"}\n{"ts":2,"level":"info","msg":"ab"}\n{"ts":3,"level":"info","msg":"abc"}',
    "many",
    [],
    null,
  ],
  ['{"type":"Feature","id":1}\n{"type":"Feature","id":2}', "many", [], null],
  ['{"name":"Ann"}\n{"name":"Bea"}\n{"name":"Cora","age":3}', "many", [], null],
  ['{"a":1}\n{"a":1}\n{"a":1}', "many", [], null],
  ['{"a":"x"}\n\n{"a":"xy"}\n{"a":"xyz","b":1}', "snapshots", [], null],
  ["[1]\n[1,2]", "snapshots", [], null],
  [CHAT.join("\n"), "events", [], "openai_chat"],
  [`${CHAT.join("\n")}\n{"choi`, "events", [], "openai_chat"],
  [`[${CHAT.join(",\n")}]`, "events", ["array"], "openai_chat"],
  [`[${CHAT.join(",\n")}, {"object": "chat.comp`, "events", ["array"], "openai_chat"],
  ['[{"a": 1}, {"a": 2}]', "text", [], null],
  [SSE, "events", ["sse"], "openai_chat"],
  [SSE.replaceAll("\n", "\r\n"), "events", ["sse"], "openai_chat"],
  [`: ping\n\nevent: ping\ndata: {"type": "ping"}\n\n${SSE}`, "events", ["sse"], "openai_chat"],
  [SSE.slice(0, -30), "events", ["sse"], "openai_chat"],
  [SSE.replaceAll("\n\n", "\n"), "events", ["sse"], "openai_chat"],
  ['data: {"a":\ndata: 1}\n', "text", ["sse"], null],
  ['data: {"a":\n\ndata: 1}\n\n', "text", ["sse"], null],
  ['data: "{\\"a\\": "\n\ndata: "1}"\n\n', "text", ["sse", "pieces"], null],
  ['data: {"x":1}\n\ndata: {"y":2}\n\n', "many", ["sse"], null],
  [`0.10 ${CHAT[0]}\n0.25 ${CHAT[1]}`, "events", ["times"], "openai_chat"],
  [
    `[12:00:01.100] data: ${CHAT[0]}\n[12:00:01.100]\n[12:00:01.350] data: ${CHAT[1]}\n`,
    "events",
    ["times", "sse"],
    "openai_chat",
  ],
  ["1.25\n2.50\n3.75", "many", [], null],
  [JSON.stringify(SSE), "events", ["sse"], "openai_chat"],
  ['"just a text"', "text", [], null],
];
for (const [text, format, wrappings, provider] of FORMATS) {
  test(`${JSON.stringify(text).slice(0, 60)} is ${format}`, () => {
    const recognised = recognise(text);
    assert.deepEqual([recognised.format, recognised.wrappings, recognised.provider], [format, wrappings, provider]);
  });
}

test("nothing of the text is lost or changed where it is read as text", () => {
  for (const [text] of FORMATS) {
    const { items } = recognise(text, "text");
    assert.equal(items.map(({ data }) => data).join(""), text);
  }
});

test("the demo's recordings are what they are", () => {
  const expected = { "ferry.jsonl": "snapshots", "calls.jsonl": "events", "booking.txt": "text", "broken.txt": "text" };
  for (const [name, format] of Object.entries(expected)) {
    assert.equal(recognise(readFileSync(new URL(name, DEMO), "utf8")).format, format, name);
  }
});

test("events of every provider that is known here are recognised, as lines, as an array, as SSE", () => {
  let count = 0;
  for (const name of readdirSync(CASES).sort()) {
    const events = JSON.parse(readFileSync(new URL(name, CASES), "utf8")).events;
    if (!Array.isArray(events) || events.length < 2) continue;
    const lines = events.map((event) => JSON.stringify(event));
    const { provider } = recognise(lines.join("\n"));
    if (provider === null) continue;
    count += 1;
    const readings = [
      recognise(lines.join("\n")),
      recognise(JSON.stringify(events, null, 2)),
      recognise(lines.map((line) => `event: x\ndata: ${line}\n\n`).join("")),
    ];
    for (const { format, provider: other, items } of readings) {
      assert.deepEqual([format, other, items.length], ["events", provider, events.length], name);
    }
  }
  assert.ok(count >= 12, `${count}`);
});

test("times are those of the lines, from the first one on", () => {
  const { items, timed } = recognise(`2026-01-01T10:00:00.100Z ${CHAT[0]}\n2026-01-01T10:00:00.350Z ${CHAT[1]}`);
  assert.deepEqual([timed, items.map(({ at }) => at)], [true, [0, 250]]);
  const sse = recognise(`1700000000.100 data: ${CHAT[0]}\n1700000000.100 \n1700000000.350 data: ${CHAT[1]}\n1700000000.900 \n`);
  assert.deepEqual(
    sse.items.map(({ at }) => Math.round(at)),
    [0, 250],
  );
  // Times that go back are no times.
  assert.equal(recognise(`5.00 ${CHAT[0]}\n1.00 ${CHAT[1]}`).timed, false);
});

test("events that state their times have them", () => {
  const line = (content, at) => JSON.stringify({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: content, timestamp: at });
  const { provider, timed, items } = recognise(`${line("{", 500)}\n${line("}", 1750)}`);
  assert.deepEqual([provider, timed, items.map(({ at }) => at)], ["ag_ui", true, [0, 1250]]);
});

test("what the user chose is taken", () => {
  const lines = '{"a":"x"}\n{"a":"xy"}';
  assert.equal(recognise(lines, "many").format, "many");
  assert.equal(recognise(lines, "snapshots").format, "snapshots");
  assert.equal(recognise(lines, "text").format, "text");
  assert.equal(recognise('data: {"x":1}\n\n', "sse").wrappings[0], "sse");
});

test("one sentence says what was recognised", () => {
  assert.equal(described(recognise(SSE)), "2 OpenAI chat events as server-sent events.");
  assert.equal(described(recognise('{"a":1}\n{"b":2}')), "several documents.");
  assert.match(described(recognise("ChatCompletionChunk(id='x', choices=[])")), /model_dump_json/);
});

test("no text makes it fail", () => {
  const parts = [...FORMATS.map(([text]) => text), "\u0000", "\ud800", "data", "data:", "[", "[{", '"', "\ufeff"];
  let seed = 7;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % most;
  for (let round = 0; round < 600; round += 1) {
    const one = parts[random(parts.length)];
    const other = parts[random(parts.length)];
    const text = one.slice(0, random(one.length + 1)) + other.slice(random(other.length + 1));
    for (const chosen of ["auto", "events", "sse", "many", "snapshots", "text"]) {
      const recognised = recognise(text, chosen);
      described(recognised);
      assert.equal(recognised.timed && recognised.items.some(({ at }) => at === null), false);
      if (recognised.format === "events") for (const { data } of recognised.items) JSON.parse(data);
    }
  }
});

/** `split`: the cases that Python reads too, sources, and what is refused. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { parts } from "../src/index.js";
import { PartList } from "../src/views/part-list.js";
import "../src/repair.js";
import { FORMATS } from "../src/split.js";
import { cases, cuttings } from "./support.js";

async function all(source, options) {
  const items = [];
  for await (const part of parts(source, options)) items.push(part);
  return items;
}

/** Kind and content of each part: the value of JSON, name, arguments and status of a call. */
function shown(items) {
  const last = new Map(items.map((part) => [part.index, part]));
  return [...last.values()].map((part) => {
    if (part.kind === "call") return ["call", part.call.name, part.call.args ?? null, part.call.status];
    return [part.kind, part.kind === "json" ? part.value : part.text];
  });
}

/** The text of each part, as it came. */
function raws(items) {
  const texts = new Map();
  for (const { index, raw } of items) texts.set(index, (texts.get(index) ?? "") + raw);
  return [...texts.values()];
}

for (const { name, text, parts: wanted, raw, split = true, repair = false } of cases("split.json")) {
  test(`split: ${name}`, async () => {
    for (const cut of [...cuttings(text), [new TextEncoder().encode(text)]]) {
      const items = await all(cut, { split, repair });
      assert.deepEqual(shown(items), wanted);
      assert.equal(items.map((part) => part.raw).join(""), text);
      if (raw !== undefined) assert.deepEqual(raws(items), raw);
    }
  });
}

const TEXT = "<think>a</think>b";
const chunk = (choice) => ({ id: "c", choices: [{ index: 0, ...choice }] });
const EVENTS = [
  chunk({ delta: { content: "<think>a</thi" } }),
  chunk({ delta: { content: "nk>b" } }),
  chunk({ delta: {}, finish_reason: "stop" }),
];
const sse = EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const response = (body, type) => new Response(body, { headers: { "content-type": type } });
const SOURCES = {
  "a text": [() => TEXT],
  "a response of text": [() => response(TEXT, "text/plain")],
  events: [() => EVENTS],
  "a response of events": [() => response(sse, "text/event-stream")],
  "lines of events": [() => response(EVENTS.map((it) => `${JSON.stringify(it)}\n`).join(""), "application/x-ndjson")],
  "events as text, with the provider": [() => sse, { provider: "openai_chat" }],
};
for (const [name, [source, options]] of Object.entries(SOURCES)) {
  test(`split reads ${name}`, async () => {
    const contents = shown(await all(source(), { split: true, ...options }));
    assert.deepEqual(contents, [
      ["reasoning", "a"],
      ["text", "b"],
    ]);
  });
}

test("for views a JSON part has its value", async () => {
  const list = new PartList();
  const seen = [];
  for await (const part of parts(['```json\n{"a": "x', 'y"}\n```'], { split: true })) {
    list.add(part);
    seen.push(list.list[0].value);
  }
  assert.deepEqual(seen, [{ a: "x" }, { a: "xy" }, { a: "xy" }]);
});

test("a name that the table lacks is refused, with those it has", () => {
  assert.throws(() => parts("x", { split: ["thonk"] }), { name: "TypeError", message: /no thonk; it has think, / });
  assert.ok(FORMATS.includes("hermes") && FORMATS.includes("pythonic"));
});

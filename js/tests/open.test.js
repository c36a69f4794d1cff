/** open(url): the events of a server as values, in every format, with errors thrown. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Parser, ServerError, Truncated, open } from "../src/index.js";

const FINAL = { title: "Tea", items: [1, 2.5] };
const PIECES = ['{"title": "T', 'ea", "items": [1, ', "2.5]}"];

/** A fetch that answers with these events, in bodies that are cut after each `cuts`. */
function served(events, cuts = []) {
  const asked = [];
  const fetch = async (url, init) => {
    const after = Number(init.headers.get("last-event-id") ?? 0);
    asked.push(after);
    const rest = events.map((data, at) => `id: ${at + 1}\ndata: ${JSON.stringify(data)}\n\n`).slice(after);
    const end = cuts[asked.length - 1];
    const body = end === undefined ? [...rest, "event: CLOSE\ndata: [DONE]\n\n"] : rest.slice(0, end);
    return new Response(body.join(""), { headers: { "content-type": "text/event-stream" } });
  };
  return { asked, options: { fetch, retry: 1, maxDelay: 5 } };
}

async function all(source) {
  const items = [];
  try {
    for await (const one of source) items.push(one);
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}

const parser = () => {
  const one = new Parser();
  return PIECES.map((piece) => one.feed(piece).map((fragment) => fragment.toJSON()));
};
const FORMATS = {
  fragments: parser(),
  chunks: PIECES,
  updates: [
    { index: 0, status: "PARTIAL", data: { title: "T" } },
    { index: 0, status: "PARTIAL", data: { title: "Tea", items: [1] } },
    { index: 0, status: "COMPLETED", data: FINAL },
  ],
  deltas: [
    { index: 0, status: "PARTIAL", delta: [["set", "", { title: "T" }]] },
    {
      index: 0,
      status: "PARTIAL",
      delta: [
        ["append", "/title", "ea"],
        ["set", "/items", [1]],
      ],
    },
    { index: 0, status: "COMPLETED", data: FINAL, delta: [["set", "/items/1", 2.5]] },
  ],
};

for (const [format, events] of Object.entries(FORMATS)) {
  test(`${format}: the value after each event, across a lost connection`, async () => {
    const { asked, options } = served(events, [1]);
    const { items, error } = await all(open("http://server/events", options));
    assert.equal(error, null);
    assert.deepEqual(
      items.map(({ value }) => value),
      [{ title: "T" }, { title: "Tea", items: [1] }, FINAL],
    );
    assert.deepEqual(
      items.map(({ complete }) => complete),
      [false, false, true],
    );
    assert.deepEqual(
      items.map(({ id }) => id),
      ["1", "2", "3"],
    );
    assert.deepEqual(asked, [0, 1]);
  });
}

test("many documents in fragments are values one after the other", async () => {
  const fragmentsOf = (text) => new Parser().feed(text).map((fragment) => fragment.toJSON());
  const [first, second] = [fragmentsOf("[1]"), fragmentsOf("[2]")];
  const events = [[...first, second[0]], second.slice(1)];
  const { items } = await all(open("http://server/events", served(events).options));
  assert.deepEqual(
    items.map(({ value, complete }) => [value, complete]),
    [
      [[1], true],
      [[], false],
      [[2], true],
    ],
  );
});

test("updates of several entities do not mix", async () => {
  const set = (value) => [["set", "", value]];
  const events = [
    { index: 0, entity: "a", status: "PARTIAL", delta: set("x") },
    { index: 1, entity: "a", status: "PARTIAL", delta: set("y") },
    { index: 0, entity: "a", status: "PARTIAL", delta: [["append", "", "z"]] },
  ];
  const { items } = await all(open("http://server/events", served(events).options));
  assert.deepEqual(
    items.map(({ value, entity, index }) => [value, entity, index]),
    [
      ["x", "a", 0],
      ["y", "a", 1],
      ["xz", "a", 0],
    ],
  );
});

test("an error that the server reports is thrown as it was sent", async () => {
  const error = { code: "INVALID_JSON", message: "no", offset: 3, line: 1, column: 4, path: "root.a[1]" };
  for (const event of [{ error }, { index: 0, status: "ERROR", error, data: {} }]) {
    const seen = await all(open("http://server/events", served([FORMATS.fragments[0], event]).options));
    assert.equal(seen.items.length, 1);
    assert.ok(seen.error instanceof ServerError);
    assert.deepEqual(seen.error.toJSON(), error);
    assert.deepEqual(seen.error.path, ["a", 1]);
    assert.equal(seen.error.line, 1);
  }
});

test("a stream that is closed before its document is complete is an error", async () => {
  const cut = await all(open("http://server/events", served(PIECES.slice(0, 2)).options));
  assert.ok(cut.error instanceof Truncated);
  const events = FORMATS.fragments.slice(0, 2);
  const { error } = await all(open("http://server/events", served(events).options));
  assert.match(error.message, /before its document was complete/);
  const calls = [{ kind: "tools_call_update" }];
  assert.match((await all(open("http://server/events", served(calls).options))).error.message, /ToolCalls/);
});

test("live: one object", async () => {
  const { items } = await all(open("http://server/events", { live: true, ...served(FORMATS.fragments).options }));
  assert.ok(items.every(({ value }) => value === items[0].value));
});

/** values, states, fields, text, select, fragments: any source of text in, what it holds out. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { Readable } from "node:stream";
import { test } from "node:test";

import { FieldNotFound, InvalidJSON, InvalidSchema, SourceFailed, Truncated, UnknownSource, fields } from "../src/index.js";
import { fragments, partial, select, states, text, values } from "../src/index.js";
import { cases, cuttings, frozen, hard } from "./support.js";

const TEXT =
  '{"title": "Tea", "items": [{"summary": "a1", "n": 1}, {"summary": "", "n": null},' +
  ' {"summary": "c3"}], "answer": "So\\n long 😀", "none": null, "empty": []}';
const FINAL = JSON.parse(TEXT);
const bytes = (text) => new TextEncoder().encode(text);
const by = (size, text) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, at * size + size));

/** Everything that is yielded, and the error that ended it. */
async function all(source) {
  const items = [];
  try {
    for await (const item of source) items.push(frozen(item));
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}

/** Everything that is yielded; it must end well. */
async function good(source) {
  const { items, error } = await all(source);
  if (error) throw error;
  return items;
}

async function* later(pieces) {
  for (const piece of pieces) {
    await null;
    yield piece;
  }
}

const SOURCES = {
  "a string": () => TEXT,
  bytes: () => bytes(TEXT),
  "an ArrayBuffer": () => bytes(TEXT).buffer,
  "a list of strings": () => by(7, TEXT),
  "a list of bytes": () => by(5, bytes(TEXT)),
  "an async iterable": () => later(by(3, TEXT)),
  "a Response": () => new Response(TEXT),
  "a promise of a Response": () => Promise.resolve(new Response(TEXT)),
  "a ReadableStream": () => new Response(TEXT).body,
  "a ReadableStream that cannot be iterated": () => {
    const stream = new Response(TEXT).body;
    return { getReader: () => stream.getReader() };
  },
  "a Node stream": () => Readable.from(by(9, bytes(TEXT)).map(Buffer.from)),
  "a Node stream of text": () => Readable.from(by(9, TEXT)),
};

for (const [name, make] of Object.entries(SOURCES)) {
  test(`a source is ${name}`, async () => {
    assert.deepEqual((await good(values(make()))).at(-1), FINAL);
    assert.equal((await good(text(make(), "answer"))).join(""), FINAL.answer);
    assert.deepEqual(await good(select(make(), "items")), FINAL.items);
  });
}

test("what is not a source is a TypeError at the call, and says what is one", () => {
  for (const source of [null, undefined, 1, {}, Symbol("x")]) {
    for (const read of [values, fragments, (one) => text(one, "a"), (one) => select(one, "a")]) {
      assert.throws(() => read(source), /a source is a string, bytes, a Response/);
    }
  }
});

test("a Response that failed is a SourceFailed with its status and its body", async () => {
  const failed = await all(values(new Response("no way", { status: 502 })));
  assert.ok(failed.error instanceof SourceFailed);
  assert.equal(failed.error.status, 502);
  assert.match(failed.error.message, /status 502: no way/);
  assert.ok((await all(values(new Response(null)))).error instanceof Truncated);
});

test("a provider's stream and a server's are not text, and the error says what reads them", async () => {
  const headers = { "content-type": "text/event-stream" };
  for (const source of [new Response("data: 1\n\n", { headers }), [{ choices: [] }]]) {
    const { error } = await all(values(source));
    assert.ok(error instanceof UnknownSource);
    assert.match(error.message, /values\(content\(stream\)\).*open\(url\)/);
  }
});

test("leaving the loop closes the source", async () => {
  for (const read of [values, (one) => text(one, "a"), (one) => select(one, "b"), fragments]) {
    let closed = 0;
    async function* source() {
      try {
        yield '{"b": [1, 2], "a": "x';
        yield "y";
        assert.fail("it was read on");
      } finally {
        closed += 1;
      }
    }
    for await (const item of read(source())) {
      void item;
      break;
    }
    assert.equal(closed, 1);
  }
});

test("a source may fail at once or later", async () => {
  const first = { done: false, value: "[1, 2" };
  const failures = {
    "at once": () => {
      throw new Error("gone");
    },
    later: () => Promise.reject(new Error("gone")),
  };
  for (const [when, fail] of Object.entries(failures)) {
    for (const pieces of [[], [first], [first, { done: false, value: ", 3" }, { done: false, value: ", 4" }]]) {
      const left = [...pieces];
      let returned = 0;
      const elements = {
        next: () => (left.length === 0 ? fail() : Promise.resolve(left.shift())),
        return: () => (returned += 1),
      };
      const reading = values({ [Symbol.asyncIterator]: () => elements }, { every: 0 });
      for (const _ of pieces) assert.equal((await reading.next()).done, false);
      await assert.rejects(reading.next(), { message: "gone" }, when);
      assert.deepEqual(await reading.next(), { done: true, value: undefined });
      assert.equal(returned, 0, "a source that failed is not closed");
    }
  }
});

test("an error of the text closes the source, after what was good", async () => {
  let closed = 0;
  function* source() {
    try {
      yield '{"a": 1';
      yield ', "b": [true, ?';
      assert.fail("it was read on");
    } finally {
      closed += 1;
    }
  }
  const { items, error } = await all(values(source()));
  assert.deepEqual(items.at(-1), { a: 1, b: [true] });
  assert.ok(error instanceof InvalidJSON);
  assert.equal(closed, 1);
  const seen = await all(fragments("[1, x"));
  assert.deepEqual(
    seen.items.map(({ kind }) => kind),
    ["StartArray", "CompleteNumber"],
  );
  assert.ok(seen.error instanceof InvalidJSON);
});

test("values: with every: 0 one for each piece that changed something, safe to keep, what is complete is shared", async () => {
  const items = await good(values(['{"a": {"x": 1}', " ", ', "b": "', "c", 'd"}'], { every: 0 }));
  assert.deepEqual(items, [{ a: { x: 1 } }, { a: { x: 1 }, b: "" }, { a: { x: 1 }, b: "c" }, { a: { x: 1 }, b: "cd" }]);
  assert.ok(items.every(({ a }) => a === items[0].a));
});

test("values, live: one object", async () => {
  const seen = new Set();
  for await (const value of values(by(4, TEXT), { live: true })) seen.add(value);
  assert.equal(seen.size, 1);
});

test("values: at most one copy per 16 ms, the last one always, also before the source goes on", async (context) => {
  let now = 0;
  context.mock.timers.enable({ apis: ["setTimeout"] });
  context.mock.method(performance, "now", () => now);
  assert.deepEqual(await good(values(by(2, TEXT))), [{}, FINAL]);
  const seen = [];
  const stalled = {};
  stalled.begun = new Promise((resolve) => (stalled.begin = resolve));
  async function* stalling() {
    yield '["a';
    yield "b";
    yield "c";
    stalled.begin();
    await new Promise((resolve) => (stalled.resume = resolve));
    yield '", 1';
    throw new RangeError("lost");
  }
  const reading = (async () => {
    for await (const value of values(stalling())) seen.push(value);
  })();
  await stalled.begun;
  assert.deepEqual(seen, [["a"]]);
  now = 16;
  context.mock.timers.tick(16);
  await new Promise(setImmediate);
  assert.deepEqual(seen, [["a"], ["abc"]]);
  stalled.resume();
  await assert.rejects(reading, RangeError);
  assert.deepEqual(seen, [["a"], ["abc"]]);
});

test("values: an error comes after the last good value, which it has", async () => {
  const { items, error } = await all(values(["[1", ", 2, ", "?"]));
  assert.deepEqual(
    [items.at(-1), error.value],
    [
      [1, 2],
      [1, 2],
    ],
  );
});

for (const [name, make] of [
  ["a flat object", (count) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at])))],
  ["a long array", (count) => JSON.stringify(Array.from({ length: count }, (_, id) => ({ id })))],
]) {
  hard(`P8: values: four times the width takes less than nine times as long: ${name}`, async () => {
    const took = async (text) => {
      const start = process.cpuUsage();
      for await (const _ of values(by(4, text)));
      const { user, system } = process.cpuUsage(start);
      return user + system;
    };
    await took(make(2000));
    assert.ok((await took(make(20_000))) < 9 * (await took(make(5000))));
  });
}

test("states: each value with what is complete in it", async () => {
  const items = await good(states(['{"a": [1', ', 2], "b": "x', '"', "}"], { every: 0 }));
  const seen = items.map(({ openPath, isComplete, complete }) => [openPath, isComplete("a"), isComplete("b"), complete]);
  assert.deepEqual(seen, [
    [["a"], false, false, false],
    [["b"], true, false, false],
    [null, true, true, true],
  ]);
  const last = await good(states("[1]", { schema: schema((value) => ({ value: value.length })) }));
  assert.deepEqual([last.at(-1).value, last.at(-1).complete, last.at(-2).complete], [1, true, false]);
});

test("fields: name and value of each field when it is complete", async () => {
  for (const cut of cuttings(TEXT)) assert.deepEqual(Object.fromEntries(await good(fields(cut))), FINAL);
  const { items, error } = await all(fields('{"a": {"b": [1]}, "c": tru'));
  assert.deepEqual(items, [["a", { b: [1] }]]);
  assert.ok(error instanceof Truncated);
  assert.ok((await all(fields("[1]"))).error instanceof FieldNotFound);
  const refused = await all(fields('{"a": 1}', { schema: schema(() => ({ issues: [{ message: "no" }] })) }));
  assert.deepEqual([refused.items, refused.error.code], [[["a", 1]], "INVALID_SCHEMA"]);
});

test("an error at the beginning of a text says what the text is instead", async () => {
  for (const [source, message] of [
    ["Sure, here it is", "the answer is text, not JSON: 'Sure, here it is'"],
    ["<!doctype html><p>", "this is an HTML page, not JSON: '<!doctype html><p>'"],
    ["```json\n{}", "the JSON is in a code fence: '```json {}'"],
    [" ", "the text is empty"],
  ]) {
    assert.equal((await all(values(source))).error.message, message);
  }
  assert.equal(partial(" "), undefined);
});

test("text: the pieces of one string, joined they are the field", async () => {
  for (const cut of cuttings(TEXT)) {
    assert.equal((await good(text(cut, "answer"))).join(""), FINAL.answer);
  }
  assert.deepEqual(await good(text(["[", '{"a": "x', 'y"}]'], "[0].a")), ["x", "y"]);
  assert.deepEqual(await good(text('"whole"', "root")), ["whole"]);
  assert.deepEqual(await good(text(TEXT, "items[1].summary")), []);
});

for (const { text: source, call, options, out, error, message } of cases("fields.json").cases) {
  test(`${call.join(" ")} of ${source.slice(0, 60)}`, async () => {
    const [kind, ...fields] = call;
    for (const cut of cuttings(source)) {
      const read = { text, select }[kind](cut, ...fields, ...(options ? [options] : []));
      const { items, error: thrown } = await all(read);
      const found = kind === "text" && items.length ? [items.join("")] : items;
      assert.deepEqual(found, out);
      assert.equal(thrown?.code, error);
      if (error === "FIELD_NOT_FOUND") assert.equal(thrown.message, message);
    }
  });
}

test("select: the limit of the text counts for each value, at any cutting", async () => {
  const long = JSON.stringify({ skip: "x".repeat(500), rows: [["y".repeat(50)], ["z".repeat(60)]] });
  const limits = { text: 56 };
  const errors = new Set();
  for (const size of [1, 7, 64, 1000]) {
    const { items, error } = await all(select(by(size, long), "rows", { limits }));
    assert.deepEqual(items, [["y".repeat(50)]]);
    errors.add(error.message);
  }
  assert.equal(errors.size, 1);
  assert.match([...errors][0], /^more than 56 \(text\) at character \d+, in root.rows\[1\]/);
});

test("any number of results in one piece", async () => {
  const rows = Array.from({ length: 150_000 }, (_, id) => ({ id }));
  const selected = select(JSON.stringify(rows), "root", { limits: { text: 30 } });
  let count = 0;
  for await (const { id } of selected) if (id !== count++) assert.fail(`${id} is not ${count - 1}`);
  assert.equal(count, rows.length);
  // Each row is five fragments.
  for await (const { kind } of fragments(JSON.stringify(rows.slice(0, 30_000)))) count -= kind === "EndObject" ? 1 : 0;
  assert.equal(count, 120_000);
});

test("P8: select keeps nothing: a document of 24 MB in 16 MB of memory", () => {
  const library = new URL("../src/index.js", import.meta.url);
  const script = `
    import { select } from ${JSON.stringify(library.href)};
    const row = JSON.stringify({ id: 1, text: "x".repeat(1000) });
    function* source() {
      yield '{"rows": [' + row;
      for (let count = 0; count < 24; count += 1) yield ("," + row).repeat(1000);
      yield "]}";
    }
    let count = 0;
    for await (const { id } of select(source(), "rows", { limits: { text: 2000 } })) count += id;
    console.log(count);
  `;
  const flags = ["--max-old-space-size=16", "--input-type=module", "-e", script];
  assert.equal(execFileSync(process.execPath, flags).toString(), "24001\n");
});

test("what is not a path is a TypeError at the call", () => {
  assert.throws(() => select(TEXT, "$.items"), /not a path/);
  assert.throws(() => select(TEXT, "items[].n"), /for any element write `\[\*\]`/);
  assert.throws(() => text(TEXT, "items[*].summary"), /without wildcards/);
  assert.throws(() => select(TEXT, ["items"]), TypeError);
});

/** A Standard Schema without a library. */
const schema = (validate) => ({ "~standard": { version: 1, vendor: "test", validate } });

test("schema: the last value is what the schema makes of the complete one", async () => {
  const upper = schema(async (value) => ({ value: { ...value, title: value.title.toUpperCase() } }));
  const items = await good(values(by(8, TEXT), { schema: upper, every: 0 }));
  assert.equal(items.at(-1).title, "TEA");
  assert.equal(items.at(-2).title, "Tea");
  const each = schema((value) => ({ value: value.summary }));
  assert.deepEqual(await good(select(TEXT, "items", { schema: each })), ["a1", "", "c3"]);
});

test("schema: what it refuses is InvalidSchema, with its path, issues and value", async () => {
  const issues = [{ message: "too short", path: ["items", { key: 0 }, "summary"] }, { message: "x" }];
  const late = schema((value) => (value.title ? { issues } : { value }));
  const { items, error } = await all(values(TEXT, { schema: late }));
  assert.deepEqual(items.at(-1), FINAL);
  assert.ok(error instanceof InvalidSchema);
  assert.deepEqual(error.toJSON(), {
    code: "INVALID_SCHEMA",
    message: "too short, in root.items[0].summary",
    path: "root.items[0].summary",
  });
  assert.equal(error.issues, issues);
  assert.deepEqual(error.value, FINAL);
  assert.throws(() => values(TEXT, { schema: {} }), TypeError);
});

test("an answer that was not streamed is refused with a hint", () => {
  for (const answer of [{ choices: [] }, { content: [] }, { output: [] }]) {
    assert.throws(() => values(answer), /stream: true/);
  }
});

/** What is complete in a value that grows, and schemas that end a stream at the first wrong field. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fields, FieldNotFound, InvalidJSON, InvalidSchema, loads, open, partial, states, values } from "../src/index.js";

/** What a reading yields, and how it ends. */
async function all(reading) {
  const items = [];
  try {
    for await (const one of reading) items.push(one);
  } catch (error) {
    return { items, error };
  }
  return { items, error: undefined };
}

test("states: each value with the open path and what is complete, also of nested fields", async () => {
  const pieces = ['{"a": {"b": "x', 'y", "c": [1, 2', "], ", '"d": tr', 'ue}, "e": "z"}'];
  const { items } = await all(states(pieces));
  const seen = items.map(({ value, openPath, complete, isComplete }) => ({
    value,
    openPath,
    complete,
    done: ["a", "a.b", "a.c[0]", "a.c", "a.d", "e"].filter((path) => isComplete(path)),
  }));
  const c = ["a.c[0]"];
  assert.deepEqual(seen, [
    { value: { a: { b: "x" } }, openPath: ["a", "b"], complete: false, done: [] },
    { value: { a: { b: "xy", c: [1] } }, openPath: ["a", "c"], complete: false, done: ["a.b", ...c] },
    { value: { a: { b: "xy", c: [1, 2] } }, openPath: ["a"], complete: false, done: ["a.b", ...c, "a.c"] },
    {
      value: { a: { b: "xy", c: [1, 2], d: true }, e: "z" },
      openPath: null,
      complete: true,
      done: ["a", "a.b", ...c, "a.c", "a.d", "e"],
    },
  ]);
  // A state stays as it was.
  assert.equal(items[0].isComplete("a.b"), false);
  assert.equal(items[0].isComplete("a.c"), false);
});

test("states: with a schema", async () => {
  const schema = standard((value) => ({ value: { a: value.a + 1 } }));
  const last = (await all(states('{"a": 1}', { schema }))).items;
  assert.deepEqual(
    last.map(({ value, complete }) => [value, complete]),
    [
      [{ a: 1 }, false],
      [{ a: 2 }, true],
    ],
  );
});

test("open: what is complete in chunks, updates and a provider's events", async () => {
  const delta = (content) => ({ choices: [{ index: 0, delta: { content } }] });
  for (const events of [
    ['{"a": 1, "b": "x'],
    [{ status: "PARTIAL", index: 0, data: { a: 1, b: "x" } }],
    [delta('{"a": 1, '), delta('"b": "x')],
  ]) {
    const text = events.map((data, at) => `id: ${at + 1}\ndata: ${JSON.stringify(data)}\n\n`).join("");
    const fetch = async () => new Response(text, { headers: { "content-type": "text/event-stream" } });
    const { items } = await all(open("http://test/", { fetch, reconnect: false }));
    const { value, openPath, isComplete, id } = items.at(-1);
    assert.deepEqual(value, { a: 1, b: "x" });
    assert.deepEqual([openPath, isComplete("a"), isComplete("b")], [["b"], true, false]);
    assert.equal(id, String(events.length));
  }
});

// ---- schemas ----

/** A Standard Schema without a library. */
function standard(validate) {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

/** An object of fields; each says with a message what is wrong. */
function object(checks) {
  return standard((value) => {
    const issues = Object.entries(checks).flatMap(([name, check]) => {
      if (value?.[name] === undefined) return [{ message: "missing", path: [name] }];
      return check(value[name]).map(({ message, path = [] }) => ({ message, path: [name, ...path] }));
    });
    return issues.length ? { issues } : { value };
  });
}
const isNumber = (value) => (typeof value === "number" ? [] : [{ message: "not a number" }]);
const isList = (value) => value.flatMap((one, at) => isNumber(one).map((it) => ({ ...it, path: [at] })));

/** Pieces of a text, and how many were read. */
function counted(pieces) {
  const source = { read: 0, closed: 0 };
  source[Symbol.iterator] = function* () {
    try {
      for (const piece of pieces) {
        source.read += 1;
        yield piece;
      }
    } finally {
      source.closed += 1;
    }
  };
  return source;
}

const SCHEMA = object({ n: isNumber, list: isList, last: isNumber });

for (const [name, wrong, path] of [
  ["a string", '{"n": "5"', ["n"]],
  ["a literal", '{"n": true', ["n"]],
  ["an object", '{"n": {"a": 1}', ["n"]],
  ["an element", '{"n": 1, "list": [1, 2, "3"', ["list", 2]],
  ["an element that is a list", '{"list": [1, [2]', ["list", 1]],
]) {
  test(`a field that is complete and wrong ends the stream then and there: ${name}`, async () => {
    const source = counted([...wrong, ", ", '"more": 1', "}"]);
    const { items, error } = await all(values(source, { schema: SCHEMA }));
    assert.ok(error instanceof InvalidSchema, error);
    assert.deepEqual([error.path, error.issues.length], [path, 1]);
    assert.deepEqual([source.read, source.closed], [wrong.length, 1]);
    assert.ok(wrong.startsWith(error.text));
    // What is shown is what was good before it.
    assert.notDeepEqual(items.at(-1)?.n, { a: 1 });
  });
}

test("a field that is right, and what is missing, is no reason to stop", async () => {
  const text = '{"list": [1, 2], "n": 5, "last": 6}';
  const { items, error } = await all(values([...text], { schema: SCHEMA }));
  assert.equal(error, undefined);
  assert.deepEqual(items.at(-1), JSON.parse(text));
  const missing = await all(values('{"n": 5, "list": []}', { schema: SCHEMA }));
  assert.deepEqual(missing.error.path, ["last"]);
});

test("the elements of a list that is the value", async () => {
  const schema = standard((value) => ({ issues: isList(value) }));
  const source = counted(["[1, 2, ", '"x", ', "3]"]);
  const { error } = await all(values(source, { schema }));
  assert.deepEqual([error.path, source.read], [[2], 2]);
});

test("a tuple: an element is validated where it is", async () => {
  const kinds = ["number", "string", "boolean"];
  const tuple = standard((value) => {
    const issues = kinds.flatMap((kind, at) => (typeof value[at] === kind ? [] : [{ message: kind, path: [at] }]));
    return issues.length ? { issues } : { value };
  });
  assert.deepEqual((await all(values([...'[1, "a", true]'], { schema: tuple }))).items.at(-1), [1, "a", true]);
  assert.deepEqual((await all(values([..."[1, 2, true]"], { schema: tuple }))).error.path, [1]);
});

test("a schema with code that needs the complete value is asked at the end", async () => {
  const schema = standard((value) => ({ value: value.a.length + value.b.length }));
  assert.equal((await all(values([...'{"b": "xy", "a": "z"}'], { schema }))).items.at(-1), 3);
});

test("validation that takes a while is awaited before more is read", async () => {
  const slow = standard(async (value) => {
    await null;
    return SCHEMA["~standard"].validate(value);
  });
  const source = counted([...'{"n": "5", "list": []}']);
  assert.deepEqual((await all(values(source, { schema: slow }))).error.path, ["n"]);
  assert.equal(source.read, '{"n": "5"'.length);
});

test("a long list costs each element once or twice", async () => {
  let seen = 0;
  const schema = standard((value) => {
    seen += value.length;
    return { value };
  });
  await all(values([...JSON.stringify(Array(2000).fill(7))], { schema }));
  assert.ok(seen < 3 * 2000, seen);
});

test("what is wrong before a wrong field, and behind it", async () => {
  const { error } = await all(values('{"n": "5", x', { schema: SCHEMA }));
  assert.ok(error instanceof InvalidSchema);
  const other = await all(values('{x, "n": "5"', { schema: SCHEMA }));
  assert.ok(other.error instanceof InvalidJSON);
});

test("fields: name and value of each field when it is complete", async () => {
  const pieces = [...'{"n": 5, "list": [1, {"x": 2}], "s": "yes", "n": 6}'];
  const { items } = await all(fields(pieces));
  assert.deepEqual(items, [
    ["n", 5],
    ["list", [1, { x: 2 }]],
    ["s", "yes"],
    ["n", 6],
  ]);
  const wrong = await all(fields(counted([...'{"list": [1], "n": "5", "last": 1}']), SCHEMA));
  assert.deepEqual(wrong.items, [["list", [1]]]);
  assert.deepEqual(wrong.error.path, ["n"]);
  // What the schema makes of the complete value comes again.
  const schema = standard((value) => ({ value: { ...value, a: value.a * 2 } }));
  assert.deepEqual((await all(fields('{"a": 1, "b": [2]}', { schema }))).items, [
    ["a", 1],
    ["b", [2]],
    ["a", 2],
  ]);
  assert.ok((await all(fields("[1]"))).error instanceof FieldNotFound);
});

test("partial and loads take a schema in place of options", async () => {
  assert.deepEqual(await partial('{"n": 5, "list": [1', SCHEMA), { n: 5, list: [] });
  await assert.rejects(partial('{"n": "5", "list": [1', SCHEMA), InvalidSchema);
  await assert.rejects(partial('{"n": "5", "list": [1', { schema: SCHEMA }), InvalidSchema);
  assert.deepEqual(await loads('{"n": 5, "list": [], "last": 1}', SCHEMA), { n: 5, list: [], last: 1 });
  const callable = Object.assign(() => {}, SCHEMA); // as arktype makes them
  await assert.rejects(loads('{"n": 5}', callable), InvalidSchema);
});

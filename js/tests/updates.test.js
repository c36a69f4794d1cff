/** Updates: the cases that Python reads too, the promises, what they cost. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { PartialStream, Update, applyDelta, formatPath, stringify, updates } from "../src/index.js";
import { HARDER, cases, chance, cuttings, frozen, hard, within } from "./support.js";
import { ExactNumber } from "../src/parse/exact.js";

const MODES = ["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"];
/** A name as Python spells it → as JavaScript does. */
const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
const spelled = (options) => Object.fromEntries(Object.entries(options).map(([name, value]) => [camel(name), value]));
const ALSO = {
  path: ({ path }) => formatPath(path),
  open_path: ({ openPath }) => openPath && formatPath(openPath),
  completed: ({ completed }) => completed.map(formatPath),
  document: ({ document }) => document,
};

/** What each piece, and the end, brings. */
function run(pieces, options, also = []) {
  const stream = new PartialStream(options);
  return [...pieces, undefined].flatMap((piece, after) =>
    (piece === undefined ? stream.flush() : stream.feed(piece)).map((update) => {
      assert.ok(update instanceof Update);
      const more = also.map((name) => [name, ALSO[name](update)]);
      return { after, update: { ...update.toJSON(), ...Object.fromEntries(more) } };
    }),
  );
}

const all = async (source) => {
  const items = [];
  for await (const one of source) items.push(one);
  return items;
};

const STREAMS = cases("update_streams.json");

for (const { name, options, pieces, also, updates: wanted } of STREAMS.cases) {
  test(name, () => {
    const emitted = run(pieces, { ...spelled(options), numbers: ExactNumber }, also);
    assert.equal(stringify(emitted), stringify(wanted));
  });
}

for (const { options, message } of STREAMS.refused) {
  test(`refused: ${message}`, () => {
    const [option, ...words] = message.split(" ");
    assert.throws(() => new PartialStream(spelled(options)), {
      name: "TypeError",
      message: [camel(option), ...words].join(" "),
    });
  });
}

for (const { name, entity, chunks, modes } of cases("updates.json").cases) {
  for (const [mode, { updates: wanted }] of Object.entries(modes)) {
    test(`${name}, ${mode}`, () => {
      assert.equal(JSON.stringify(run(chunks, { mode, entity })), JSON.stringify(wanted));
    });
  }
}

for (const { name, pieces, deltas, data } of cases("delta.json").streams) {
  test(`deltas: ${name}`, () => {
    const emitted = run(pieces, { send: "both", numbers: ExactNumber }).map(({ update }) => update);
    assert.deepEqual(emitted.map(({ delta }) => delta).slice(0, deltas.length), deltas);
    assert.deepEqual(emitted[deltas.length - 1].data, data);
  });
}

const TEXTS = [
  '{"a": "x\\u00e9", "n": -12.5e1, "list": [true, null, {"b": ""}, []], "o": {}}',
  '[{"id": 1, "t": "one"}, {"id": 22}, "s", 3, [4]]',
  '{"a": [1, 2], "b": {"c": "d"}, "a": "again"}',
  '{"a": [1, 2}, "b"',
  '[{"a": 1}, {"a": tru',
  '"text" x',
];

test("P1: cutting does not change what is completed, nor the error", () => {
  for (const text of TEXTS) {
    for (const mode of MODES) {
      const finals = (pieces) => {
        const emitted = run(pieces, { mode, send: "data" }).map(({ update }) => update);
        return JSON.stringify(emitted.filter(({ status }) => status !== "PARTIAL"));
      };
      const whole = finals([text]);
      for (const pieces of cuttings(text)) assert.equal(finals(pieces), whole);
    }
  }
});

test("P7: a delta, applied to the data before, gives the data", () => {
  for (const text of TEXTS) {
    for (const mode of MODES) {
      for (const pieces of cuttings(text)) {
        const data = new Map();
        const stream = new PartialStream({ mode, send: "both" });
        const emitted = pieces.flatMap((piece) => stream.feed(piece));
        for (const update of [...emitted, ...stream.flush()]) {
          const value = frozen(applyDelta(data.get(update.index) ?? null, frozen(update.delta)));
          assert.deepEqual(value, frozen(update.data));
          data.set(update.index, value);
        }
      }
    }
  }
});

test("what does not change is the same object in the next update", () => {
  const stream = new PartialStream();
  const [first] = stream.feed('{"a": {"x": [1]}, "b": "s');
  const { data } = first;
  const [second] = stream.feed("t");
  assert.equal(second.data.a, data.a);
  assert.notEqual(second.data, data);
  assert.deepEqual(data, { a: { x: [1] }, b: "s" });
});

test("an update read late shows what was known then", () => {
  const stream = new PartialStream({ send: "both" });
  const emitted = ['{"a": "x', "y", 'z"', ', "n": 1', "2}"].flatMap((piece) => stream.feed(piece));
  assert.deepEqual(
    emitted.reverse().map(({ data }) => data),
    [{ a: "xyz", n: 12 }, { a: "xyz", n: 1 }, { a: "xyz" }, { a: "xy" }, { a: "x" }],
  );
  const [completed] = emitted;
  assert.ok(completed.isComplete("n") && completed.isComplete([]) && !completed.isComplete("x"));
  assert.ok(!emitted[1].isComplete("n") && emitted[1].isComplete("a"));
});

test("__proto__ is an ordinary key, also of a number that grows", () => {
  const stream = new PartialStream({ send: "both" });
  const emitted = ['{"__proto__": 1', '2, "b": {"__proto__": ', '"x"}}'].flatMap((p) => stream.feed(p));
  assert.deepEqual(
    emitted.map(({ data }) => JSON.stringify(data)),
    ['{"__proto__":1}', '{"__proto__":12,"b":{}}', '{"__proto__":12,"b":{"__proto__":"x"}}'],
  );
  assert.equal({}.x, undefined);
});

test("bytes are read, cut anywhere", () => {
  const bytes = new TextEncoder().encode('["é", "😀"]');
  const emitted = run(
    [...bytes].map((byte) => Uint8Array.of(byte)),
    { mode: "ONE-BY-ONE" },
  );
  assert.deepEqual(
    emitted.map(({ update }) => update.data),
    ["é", "😀"],
  );
});

test("updates() reads any source, and closes it after an error of the stream", async () => {
  let closed = false;
  async function* source() {
    try {
      yield '[{"a": 1}, {"a": ';
      yield "x}";
      yield "never read";
    } finally {
      closed = true;
    }
  }
  const emitted = await all(updates(source(), { mode: "ONE-BY-ONE" }));
  assert.deepEqual(
    emitted.map(({ status, data }) => [status, data]),
    [
      ["COMPLETED", { a: 1 }],
      ["ERROR", {}],
    ],
  );
  const { error } = emitted[1];
  assert.deepEqual([error.code, error.offset, error.path], ["INVALID_JSON", 17, "root[1].a"]);
  assert.ok(closed);
});

test("a source that fails throws after what was good", async () => {
  async function* source() {
    yield '["a", "b';
    throw new Error("lost");
  }
  const seen = [];
  await assert.rejects(async () => {
    for await (const { data } of updates(source())) seen.push(data);
  }, /lost/);
  assert.deepEqual(seen, ["a", "b"]);
});

test("onlyComplete holds back what is not complete, within the entity", () => {
  const pieces = ['{"filename": "a.t', 'xt", "content": "He', 'llo", "tags": ["x', '"], "n": 1', "2}"];
  const emitted = run(pieces, { onlyComplete: ["filename", "tags"], send: "both" });
  assert.deepEqual(
    emitted.map(({ update }) => update.data),
    [
      { filename: "a.txt", content: "He" },
      { filename: "a.txt", content: "Hello" },
      { filename: "a.txt", content: "Hello", tags: ["x"], n: 1 },
      { filename: "a.txt", content: "Hello", tags: ["x"], n: 12 },
    ],
  );
  assert.deepEqual(emitted[2].update.delta[0], { op: "add", path: "/tags", value: ["x"] });
  const [update] = new PartialStream({ onlyComplete: "tags" }).feed('{"tags": ["x"], "n": 1');
  assert.deepEqual(update.completed, [["tags", 0], ["tags"]]);
});

test("zeroValues shows the zeros of a JSON Schema until there is something of the value", () => {
  const schema = { properties: { s: { type: "string" }, n: { $ref: "#/$defs/n" } }, $defs: { n: { type: "number" } } };
  const text = '{"s": "ab", "n": -1}';
  const shown = (options) => run([...text], options).map(({ update }) => update.data);
  assert.deepEqual(shown({ mode: "PROGRESSIVE", schema, zeroValues: true }), [
    { s: "" },
    { s: "ab" },
    { s: "ab", n: 0 },
    { s: "ab", n: -1 },
  ]);
  const standard = { "~standard": { version: 1, vendor: "x", validate() {}, jsonSchema: { input: () => schema } } };
  assert.deepEqual(shown({ schema: standard, zeroValues: true })[0], { s: "" });
  const byName = run([...'{"a": {"s": "x"}, "b": {"s": 1}}'], {
    ...{ entity: ["a", "b"], zeroValues: true },
    schema: { a: schema, b: { properties: { s: { type: "integer" } } } },
  });
  assert.deepEqual(
    byName.filter(({ update }) => update.status === "PARTIAL").map(({ update }) => update.data.s),
    ["", "x", 0, 1],
  );
});

test("wrong use is a TypeError that names the remedy", () => {
  const wrong = [
    [{ mode: "REALTIM" }, /BATCH, ALL-TOGETHER/],
    [{ mode: { a: "BATCH" } }, /does not declare/],
    [{ mode: { b: "x" }, entity: ["a", "b"] }, /mode is one of/],
    [{ send: "all" }, /"both"/],
    [{ entity: [] }, /leave `entity` out/],
    [{ entity: "" }, /empty/],
    [{ entity: 5 }, /pattern/],
    [{ entity: { a: 5 } }, /text/],
    [{ entity: ["a", "a[*].b"] }, /inside another/],
    [{ entity: ["*", "b"] }, /inside another/],
    [{ entitiy: "a" }, /no option "entitiy"/],
    [{ partialNumbers: "no" }, /partialNumbers is true or false/],
    [{ zeroValues: true }, /needs a schema/],
    [{ schema: {} }, /schema is for zeroValues: updates are not validated/],
    [{ schema: { "~standard": {} }, zeroValues: true }, /z.toJSONSchema/],
    [{ onlyComplete: [5] }, /onlyComplete is a pattern/],
    [{ onlyComplete: "" }, /empty/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => updates("[]", options), { name: "TypeError", message });
  }
  assert.throws(() => updates("[]", { entity: "$.a" }), { name: "PathError", message: /leave out/ });
  assert.throws(() => updates("[]", { entity: ".*" }), { message: 'not a path: ".*"; for any key write `*`' });
  assert.throws(() => updates(12), TypeError);
});

/** Four times as much must take less than twelve times as long. */
const linear = (work, size) => {
  assert.ok(
    within(
      12,
      () => work(size),
      () => work(4 * size),
    ),
  );
};

hard("P8: unread updates and read deltas cost the same per piece however long the text is", () => {
  const stream = (options) => (size) => {
    const partial = new PartialStream(options);
    const kept = [partial.feed('{"list": [')];
    for (let at = 0; at < size; at += 1) kept.push(partial.feed(`{"n": ${at}, "t": "some text"}, `));
    if (options.send === "delta") for (const [update] of kept) void update?.delta;
    return kept;
  };
  linear(stream({}), 4_000);
  linear(stream({ send: "delta" }), 4_000);
  linear(stream({ entity: "list", mode: "PROGRESSIVE" }), 4_000);
  linear((size) => {
    const partial = new PartialStream();
    partial.feed('["');
    for (let at = 0; at < size; at += 1) partial.feed("text");
    return partial.feed('"]')[0].data;
  }, 40_000);
});

test("P9: no text throws", () => {
  const { pick, below } = chance(7);
  const tokens = ["{", "}", "[", "]", '"', ":", ",", "1", "-", "tr", "\\", "u", "\n", "😀", "\ud83d", "a"];
  for (let round = 0; round < 3_000 * HARDER; round += 1) {
    const pieces = Array.from({ length: below(8) }, () => Array.from({ length: below(4) }, () => pick(tokens)).join(""));
    const options = { mode: pick(MODES), many: pick([true, false]), entity: pick([null, "a", "[*]"]) };
    for (const { update } of run(pieces, { ...options, send: "both" })) JSON.stringify(update);
  }
});

// ---- fewer updates ----

test("with every, updates in between are merged into one, and the end is not held back", async () => {
  const pieces = [...'[{"a": "abcdefghij"}, {"b": [1, 2]}]'];
  const emitted = await all(updates(pieces, { every: 60_000, send: "both" }));
  assert.deepEqual(
    emitted.map(({ index, status }) => [index, status]),
    [
      [0, "PARTIAL"],
      [0, "COMPLETED"],
      [1, "COMPLETED"],
    ],
  );
  const data = [];
  for (const { index, delta } of emitted) data[index] = applyDelta(data[index], delta);
  assert.deepEqual(data, [{ a: "abcdefghij" }, { b: [1, 2] }]);
});

test("with every, a held update is emitted when it is due, even if the source stalls", async () => {
  let goOn;
  const stalled = new Promise((resolve) => (goOn = resolve));
  async function* source() {
    yield '{"a": "x';
    yield "y";
    await stalled; // until the update with y has come
    yield 'z"}';
  }
  const seen = [];
  for await (const update of updates(source(), { every: 1 })) {
    seen.push(update.data.a);
    if (update.data.a === "xy") goOn();
  }
  assert.deepEqual(seen, ["x", "xy", "xyz"]);
});

test("with every, the held update comes before the error of the source", async () => {
  async function* source() {
    yield '{"a": "x';
    yield "y";
    throw new RangeError("lost");
  }
  const seen = [];
  await assert.rejects(async () => {
    for await (const { data } of updates(source(), { every: 60_000 })) seen.push(data.a);
  }, RangeError);
  assert.deepEqual(seen, ["x", "xy"]);
});

test("with every, leaving the loop closes the source", async () => {
  let closed = false;
  async function* source() {
    try {
      yield '{"a": "x';
      yield "y";
    } finally {
      closed = true;
    }
  }
  for await (const update of updates(source(), { every: 60_000 })) {
    assert.equal(update.status, "PARTIAL");
    break;
  }
  assert.equal(closed, true);
});

test("every is a number of milliseconds", () => {
  for (const every of [0, -1, NaN, Infinity, "soon", null]) {
    assert.throws(() => updates("{}", { every }), /every is a number of milliseconds/);
  }
});

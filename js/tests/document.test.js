/** Text in any pieces → a value that grows (P1, P2, P3, P8, P9). `JSON.parse` decides what is right. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Document, InvalidJSON, JsonrillError, LimitExceeded, Parser, Rebuilder, StreamClosed } from "../src/index.js";
import { Truncated, partial } from "../src/index.js";
import { HARDER, at, chance, cuttings, frozen, hard, within } from "./support.js";

const TEXTS = [
  '{"city": "Genève", "population": 203951, "area": 15.93, "river": true, "twin": null}',
  '{"rows": [[1, -20, 3.25e2], [0.5, -0.0], []], "empty": {}, "done": false, "total": 1e3}',
  '{"quote": "she said \\"now\\", then\\tleft\\n", "path": "C:\\\\temp\\\\new", "slash": "a\\/b"}',
  '["\\u6cb3\\u8fb9", "\\ud83d\\ude00 tail", "plain 😀", "\\u00e9t\\u00e9", "\\\\u0041"]',
  '{\n  "steps": [\n    {"id": 1, "note": "one, then"},\n    {"id": 12, "note": "}]"}\n  ]\n}\n',
  '{"__proto__": {"constructor": [1]}, "toString": "x", "": [[["deep"]]]}',
  '"one text at the root"',
  " -12.5e-3 ",
  "null",
];
const bytes = (text) => new TextEncoder().encode(text);

/** Return the document after all pieces, and the value after each. */
function read(pieces, options) {
  const document = new Document(options);
  const shown = pieces.map((piece) => (document.feed(piece), frozen(document.value)));
  document.flush();
  return { document, shown: [...shown, document.value] };
}

/** Return what is thrown; it must be a JsonrillError. */
function thrown(work) {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof JsonrillError, String(error.stack));
    return error;
  }
  return null;
}

/** Return whether `value` can become `final` by growing. */
function isPrefix(value, final) {
  if (typeof value === "string") return typeof final === "string" && final.startsWith(value);
  if (Array.isArray(value)) {
    return Array.isArray(final) && value.every((item, index) => isPrefix(item, final[index]));
  }
  if (typeof value === "object" && value !== null) {
    return Object.keys(value).every((key) => Object.hasOwn(final, key) && isPrefix(value[key], final[key]));
  }
  return Object.is(value, final);
}

for (const text of TEXTS) {
  test(`P1, P2, P3: any cutting gives what JSON.parse gives: ${JSON.stringify(text)}`, () => {
    const final = JSON.parse(text);
    for (const cut of [...cuttings(text), ...cuttings(bytes(text))]) {
      const { document, shown } = read(cut);
      assert.deepEqual(document.value, final);
      assert.deepEqual(document.live, final);
      assert.ok(document.complete);
      // P2: every intermediate value is a prefix of the final one.
      shown.filter((value) => value !== undefined).forEach((value) => assert.ok(isPrefix(value, final)));
      shown.reduce((before, value) => (before === undefined || assert.ok(isPrefix(before, value)), value));
      const rebuilder = new Rebuilder();
      const parser = new Parser();
      for (const piece of cut) rebuilder.feed(parser.feed(piece));
      rebuilder.feed(parser.flush());
      assert.deepEqual(rebuilder.value, final);
    }
  });
}

test("every beginning of a text shows no more and no less than it says", () => {
  assert.equal(partial(""), undefined);
  assert.deepEqual(partial("["), []);
  assert.deepEqual(partial('{"a'), {});
  assert.deepEqual(partial('{"a": "'), { a: "" });
  assert.deepEqual(partial('{"a": "x\\u00e'), { a: "x" });
  assert.deepEqual(partial('{"a": "x\\ud83d'), { a: "x" });
  assert.deepEqual(partial("[1, 2"), [1]);
  assert.deepEqual(partial("[true, fals"), [true]);
  assert.throws(() => partial('{"a" 1'), InvalidJSON);
});

test("half a surrogate pair is held back, as text, as bytes and as escapes", () => {
  const document = new Document();
  document.feed('["a\ud83d');
  assert.deepEqual(document.value, ["a"]);
  document.feed("\ude00\\ud83d");
  assert.deepEqual(document.value, ["a😀"]);
  document.feed('\\ude00"');
  assert.deepEqual(document.value, ["a😀😀"]);
  document.feed(new Uint8Array([0x2c, 0x22, 0xf0, 0x9f]));
  assert.deepEqual(document.value, ["a😀😀", ""]);
  document.feed(new Uint8Array([0x98, 0x80, 0x22, 0x5d]));
  assert.deepEqual(document.value, ["a😀😀", "😀"]);
});

test("a lone surrogate is what JSON.parse makes of it", () => {
  for (const text of ['"\\ud83d"', '"\\ud83dx"', '"\\ude00"', '"\\ud83d\\ud83d\\ude00"', '"\ud83d!"']) {
    for (const cut of cuttings(text)) {
      assert.equal(read(cut).document.value, JSON.parse(text));
    }
  }
});

test("an error says what, where and in which value, however the text is cut", () => {
  const text = '{\n  "a": [1, "é😀", x]}';
  for (const cut of [...cuttings(text), ...cuttings(bytes(text))]) {
    const error = thrown(() => read(cut));
    assert.deepEqual(JSON.parse(JSON.stringify(error)), {
      code: "INVALID_JSON",
      message: "expected a value but got 'x' at character 19, in root.a[2]",
      offset: 19,
      line: 2,
      column: 18,
      path: "root.a[2]",
    });
    assert.equal(error.name, "InvalidJSON");
    assert.equal(error.expected, "a value");
    assert.deepEqual(error.path, ["a", 2]);
    assert.equal([...text][error.offset], "x");
  }
});

test("an error names what the grammar allows at its place", () => {
  for (const [text, message] of [
    ["[1x", "expected ',' or ']' but got 'x' at character 2, in root[0]"],
    ['{"a": -1.5e3x', "expected ',' or '}' but got 'x' at character 12, in root.a"],
    ["1x", "expected the end of the text but got 'x' at character 1, in root"],
    ["[1 2", "expected ',' or ']' but got '2' at character 3, in root"],
    ["[trux", "expected 'true' but got 'x' at character 4, in root[0]"],
    ['["\\x"]', "expected an escape but got 'x' at character 3, in root[0]"],
    ['["\\u12g4"]', "expected a hexadecimal digit but got 'g' at character 6, in root[0]"],
    ["[1.]", "expected a digit but got ']' at character 3, in root[0]"],
  ]) {
    for (const cut of cuttings(text)) assert.equal(thrown(() => read(cut)).message, message);
  }
});

test("what was good before an error stays, and nothing is taken after it", () => {
  const document = new Document();
  assert.throws(() => document.feed('{"a": [1, "x", ?'), InvalidJSON);
  assert.deepEqual(document.value, { a: [1, "x"] });
  const closed = thrown(() => document.feed("]"));
  assert.ok(closed instanceof StreamClosed);
  assert.equal(closed.code, "CLOSED");
  assert.equal(document.flush(), false);
  const parser = new Parser();
  const error = thrown(() => parser.feed("[1, x"));
  assert.deepEqual(
    error.fragments.map(({ kind }) => kind),
    ["StartArray", "CompleteNumber"],
  );
});

test("a text that stops early is Truncated, which is InvalidJSON too", () => {
  for (const text of ["", "[", '{"a"', '"x', "-", "tru", "[1"]) {
    const error = thrown(() => read([text]));
    assert.ok(error instanceof Truncated && error instanceof InvalidJSON, text);
    assert.equal(error.code, "TRUNCATED");
    assert.match(error.message, /but the text ended/);
  }
});

test("limits are errors of their own, and name themselves", () => {
  const over = (text, limits) => thrown(() => read([text], { limits }));
  for (const [limit, text] of [
    ["depth", "[[[]]]"],
    ["text", "[1, 2]"],
    ["string", '["abc"]'],
    ["number", "[123]"],
    ["keys", '{"a": 1, "b": 2, "c": 3}'],
  ]) {
    const error = over(text, { [limit]: 2 });
    assert.ok(error instanceof LimitExceeded);
    assert.equal(error.toJSON().limit, limit);
    assert.equal(over(text, { [limit]: 1000 }), null);
  }
  assert.throws(() => new Document({ limits: { dept: 3 } }), TypeError);
  assert.throws(() => new Document({ limits: { text: -1 } }), TypeError);
});

test("value: new objects along the open path alone; what did not change is the same object", () => {
  const document = new Document();
  document.feed('{"a": {"x": [1]}, "b": [{"c": "t');
  const first = frozen(document.value);
  assert.equal(document.value, first);
  assert.equal(document.feed(""), false);
  assert.equal(document.value, first);
  document.feed("u");
  const second = frozen(document.value);
  assert.deepEqual(first, { a: { x: [1] }, b: [{ c: "t" }] });
  assert.deepEqual(second, { a: { x: [1] }, b: [{ c: "tu" }] });
  assert.equal(second.a, first.a);
  assert.notEqual(second.b, first.b);
  document.feed('"}');
  assert.equal(document.value, second);
  document.feed(", 2");
  document.feed("]");
  const third = frozen(document.value);
  assert.equal(third.b[0], second.b[0]);
  assert.equal(third.a, first.a);
  document.feed("}");
  assert.equal(document.value, third);
  document.flush();
  assert.equal(document.value, third);
});

test("live: one object, changed in place; a closing bracket changes nothing", () => {
  const document = new Document();
  document.feed("[");
  const { live } = document;
  const versions = ['"a', "b", '", {"c": true', "}", ", 2]"].map((piece) => {
    document.feed(piece);
    assert.equal(document.live, live);
    return document.version;
  });
  assert.deepEqual(live, ["ab", { c: true }, 2]);
  assert.equal(versions[2], versions[3]);
});

test("random texts with random looks: values never change and share what is complete", () => {
  const { below, pick } = chance(5);
  const value = (depth) => {
    const kind = below(depth > 3 ? 3 : 6);
    if (kind === 0) return below(1000) / 8;
    if (kind === 1) return pick(["", "x", "é😀\n", '"\\', "long ".repeat(9)]);
    if (kind === 2) return pick([true, false, null]);
    const items = Array.from({ length: below(5) }, () => value(depth + 1));
    return kind === 3 ? items : Object.fromEntries(items.map((item, at) => [`k${at}${pick("abc")}`, item]));
  };
  for (let turn = 0; turn < 200 * HARDER; turn += 1) {
    const final = value(0);
    const text = JSON.stringify(final, null, below(3));
    const places = Array.from({ length: below(text.length) }, () => below(text.length + 1));
    const document = new Document();
    const kept = [];
    for (const piece of at(places, text)) {
      document.feed(piece);
      if (below(3) === 0) kept.push([frozen(document.value), JSON.stringify(document.live)]);
      for (const path of document.openPath === null ? [] : [document.openPath]) {
        assert.equal(document.isComplete(path), false);
      }
    }
    document.flush();
    assert.deepEqual(document.value, final);
    for (const [value, shown] of kept) assert.equal(JSON.stringify(value), shown);
  }
});

test("P1, P3, P9: nothing but the documented errors, on any text and cutting", () => {
  const { below, pick } = chance(6);
  const parts = ['{"', '": ', ",", "[", "]", "}", '"', "\\", "\\u", "d83d", "1", "-", ".", "e", "tru", "e", "null", " ", "\n"];
  parts.push("😀", "\ud83d", "\ude00", "\x00", "\x1e", "é");
  for (let turn = 0; turn < 2000 * HARDER; turn += 1) {
    const pieces = Array.from({ length: below(12) }, () => pick(parts));
    const options = pick([{}, { limits: { text: 9, string: 2, number: 2, depth: 2 } }]);
    const whole = thrown(() => read([pieces.join("")], options));
    const cut = thrown(() => read(pieces, options));
    assert.equal(JSON.stringify(cut), JSON.stringify(whole));
    if (options.limits) continue;
    let parsed = true;
    try {
      JSON.parse(pieces.join(""));
    } catch {
      parsed = false;
    }
    assert.equal(whole === null, parsed, pieces.join(""));
  }
});

test("misuse is a TypeError", () => {
  for (const piece of [1, null, undefined, {}, ["[]"]]) {
    assert.throws(() => new Document().feed(piece), TypeError);
  }
  assert.throws(() => new Document({ many: true }), /there is no option "many"/);
});

test("a prefix is read before the text, and offsets begin behind it", () => {
  const document = new Document({ prefix: '{"a": "😀' });
  const error = thrown(() => document.feed('x", ?'));
  assert.deepEqual([document.value, error.offset], [{ a: "😀x" }, 4]);
});

// ---- linear time ----

const drip =
  (text, look = () => {}) =>
  () => {
    const document = new Document({ limits: { depth: 1e6, number: 1e7, keys: 1e7 } });
    for (let from = 0; from < text.length; from += 4) {
      document.feed(text.slice(from, from + 4));
      look(document);
    }
    document.flush();
  };
const live = (document) => document.live;
const keys = (count) => `{${Array.from({ length: count }, (_, at) => `"key${at}": ${at}`).join(", ")}}`;
const deep = (levels) => "[".repeat(levels) + "]".repeat(levels);
const items = (count) => `[${Array.from({ length: count }, (_, at) => `{"id": ${at}}`).join(", ")}]`;

for (const [name, small, large, consume] of [
  ["20 000 keys, live looked at after each piece", keys(10_000), keys(20_000), live],
  ["40 000 items, live looked at after each piece", items(20_000), items(40_000), live],
  ["a long string", `"${"x".repeat(200_000)}"`, `"${"x".repeat(400_000)}"`, live],
  ["a string of escapes", `"${"\\u00e9".repeat(30_000)}"`, `"${"\\u00e9".repeat(60_000)}"`, live],
  ["a long number", "1".repeat(100_000), "1".repeat(200_000), live],
  // So deep that the collector has moved most of it to the old space in either case.
  ["deep nesting", deep(200_000), deep(400_000), live],
  ["value of a list of small items", `[{"a": [${items(2000)}, 1]}]`, `[{"a": [${items(4000)}, 1]}]`],
]) {
  hard(`P8: twice the text takes less than three times as long: ${name}`, () => {
    assert.ok(within(3, drip(small, consume), drip(large, consume)));
  });
}

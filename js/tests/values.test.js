/** Values without loss: exact numbers, keys of any kind, JSON text in and out. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { parse, stringify } from "../src/jsontext.js";
import { ExactNumber } from "../src/parse/exact.js";
import { put } from "../src/parse/values.js";
import { chance, HARDER, hard, within } from "./support.js";

const HELD = [
  "0",
  "-0",
  "1",
  "-1.5",
  "1e2",
  "1E+2",
  "1.50",
  "100000000000000000000",
  "1e22",
  "0e999",
  "0.1",
  "0.30000000000000004",
  "5e-324",
  "1.7976931348623157e308",
  "9007199254740992",
  "1e-7",
  "123456789012345",
  "-0.000",
  "0.0000001",
  "18014398509481984",
  "1152921504606846976",
  "1e23",
  "2.2250738585072014e-308",
];
const LOST = [
  "9007199254740993",
  "-9007199254740993",
  "1e400",
  "-1e400",
  "1e-400",
  "3.14159265358979323846",
  "123456789012345678901234567890",
  "0.1000000000000000055511151231257827",
  "1e99999999999999999999",
  "1234567890123456789e-5",
  "9007199254740993.0",
  "100000000000000000000000",
];

test("a number that a double holds is a number", () => {
  for (const text of HELD) {
    assert.ok(Object.is(ExactNumber.of(text), Number(text)), text);
    assert.ok(Object.is(parse(text), Number(text)), text);
  }
});

test("one that it does not hold is exact, as text", () => {
  for (const text of LOST) {
    for (const exact of [ExactNumber.of(text), parse(text), parse(`[${text}]`)[0]]) {
      assert.ok(exact instanceof ExactNumber, text);
      assert.equal(exact.text, text);
      assert.equal(String(exact), text);
      assert.equal(Number(exact), Number(text));
      assert.equal(stringify(exact), text);
    }
  }
});

hard("a number of very many digits costs what its text does", () => {
  const read = (text) => () => assert.equal(stringify(parse(text)), text);
  const texts = (count) => [`1e-${"9".repeat(count)}`, `0.${"3".repeat(count)}`, "3".repeat(count)];
  texts(50_000).forEach((small, number) => {
    assert.ok(within(9, read(small), read(texts(200_000)[number])));
  });
});

test("an exact number cannot be changed, and is only made of a number's text", () => {
  const exact = new ExactNumber("1e400");
  assert.throws(() => {
    exact.text = "1";
  }, TypeError);
  for (const text of ["", "01", "1.", ".5", "+1", "0x10", "NaN", " 1", "1 ", "1e", "١", 5, null]) {
    assert.throws(() => new ExactNumber(text), TypeError);
  }
  assert.deepEqual(new ExactNumber("1e400"), exact);
  assert.notDeepEqual(new ExactNumber("1e401"), exact);
});

test("JSON.stringify never rounds one: exact if the engine can, else a string", () => {
  const expected = JSON.rawJSON ? '{"n":9007199254740993}' : '{"n":"9007199254740993"}';
  assert.equal(JSON.stringify({ n: ExactNumber.of("9007199254740993") }), expected);
});

test("with JSON.rawJSON it is written as the number", () => {
  const script = `import { parse } from ${JSON.stringify(new URL("../src/jsontext.js", import.meta.url).href)};
    if (JSON.rawJSON) console.log(JSON.stringify(parse('[9007199254740993, "é", 1e400]')));`;
  const flags = ["--harmony-json-parse-with-source", "--input-type=module"];
  let output = "";
  try {
    output = execFileSync(process.execPath, [...flags, "-e", script], { stdio: "pipe" }).toString();
  } catch {
    // An engine that has done with the flag has rawJSON, and the test above has seen it.
  }
  if (output) assert.equal(output, '[9007199254740993,"é",1e400]\n');
  else assert.ok(JSON.rawJSON);
});

test("parse is JSON.parse in all else", () => {
  const texts = [
    '{"a": [1, 2.5, "x\\n\\u00e9", true, false, null], "": {}, "1": []}',
    "[]",
    ' "a" ',
    '{"a": 1, "b": 2, "a": 3}',
    '{"__proto__": {"x": 1}, "constructor": 1, "toString": 2}',
    '["12345678901234567890", "1e5", "\\"1e400", "\\\\"]',
    '{"2": 1, "1": 2, "a": 1e5, "01": 3}',
    '{"1e400": [{"\\"": 1e2}]}',
    "[[[[1e2]],{}],[]]",
  ];
  for (const text of texts) {
    assert.deepEqual(parse(text), JSON.parse(text));
    assert.equal(JSON.stringify(parse(text)), JSON.stringify(JSON.parse(text)));
  }
  for (const text of ["", "{", "[1,]", "1e", "nul", "{'a':1e5}", "[1e5", "01", "[1 2e5]", '"\t"']) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("__proto__ is a key like others, and pollutes nothing", () => {
  const object = {};
  put(object, "__proto__", { polluted: 1 });
  put(object, "constructor", 2);
  assert.deepEqual(Object.keys(object), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.equal(object.polluted, undefined);
  put(object, "__proto__", 3);
  assert.equal(JSON.stringify(object), '{"__proto__":3,"constructor":2}');
  const exact = parse('{"__proto__": {"polluted": 1e400}}');
  assert.equal(exact.polluted, undefined);
  assert.equal(stringify(exact), '{"__proto__":{"polluted":1e400}}');
  assert.equal({}.polluted, undefined);
});

test("stringify is JSON.stringify in all else", () => {
  const values = [
    null,
    true,
    -0,
    1.5,
    "é\n\ud800",
    [],
    {},
    [[], {}, [1, { a: [2] }]],
    { a: undefined },
    [undefined],
    { b: { c: { d: [] } }, a: [1, 2] },
    { "": 1, '"': 2 },
  ];
  for (const value of values) {
    for (const indent of [undefined, 0, 1, 2, 2.9, 12, -1, NaN, Infinity, "\t", "", "0123456789abc"]) {
      assert.equal(stringify(value, indent), JSON.stringify(value, null, indent));
    }
  }
});

test("an integer that a double holds is written as that integer", () => {
  for (const text of ["1152921504606846976", "-1152921504606846976", "100000000000000000000"]) {
    assert.equal(stringify([parse(text)]), `[${text}]`);
  }
});

test("depth does not matter", () => {
  const deep = "[".repeat(100_000) + "1e400" + "]".repeat(100_000);
  assert.equal(stringify(parse(deep)), deep);
});

test("random documents come back as they were written", () => {
  const { below, pick } = chance(7);
  const write = (depth) => {
    const kind = below(depth > 4 ? 4 : 6);
    if (kind === 0) return pick([...HELD.slice(2), ...LOST]);
    if (kind === 1) return pick(["true", "false", "null"]);
    if (kind < 4) return JSON.stringify(pick(["", "a", "1e400", '"', "\\", "\u2028", "😀", "\ud83d"]));
    const items = Array.from({ length: below(4) }, () => write(depth + 1));
    if (kind === 4) return `[${items}]`;
    const keys = ["a", "", "__proto__", "constructor", "01", "1e999", '"', "b"];
    return `{${items.map((item, number) => `${JSON.stringify(keys[(number * 3 + depth) % 8])}:${item}`)}}`;
  };
  for (let round = 0; round < 300 * HARDER; round += 1) {
    const text = write(0);
    assert.deepEqual(stringify(parse(text)), normal(text), text);
  }
  // Numbers that a double holds are written in the way of JavaScript.
  function normal(text) {
    return text.replace(/"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9eE]*/g, (token) =>
      token[0] === '"' || LOST.includes(token) ? token : stringify(Number(token)),
    );
  }
});

hard("linear in the size of the text", () => {
  const text = (count) => `[${Array.from({ length: count }, (_, n) => `{"a":"x${n}","b":${n}e5}`)}]`;
  const [small, large] = [text(1500), text(6000)];
  assert.ok(
    within(
      12,
      () => parse(small),
      () => parse(large),
    ),
  );
  const [few, many] = [parse(small), parse(large)];
  assert.ok(
    within(
      12,
      () => stringify(few, 2),
      () => stringify(many, 2),
    ),
  );
});

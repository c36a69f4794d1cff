/** The drop-ins for `partial-json` and the AI SDK's `parsePartialJson`: same results, linear time. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Allow, MalformedJSON, OneText, PartialJSON, parse, parseJSON, parsePartialJson } from "../src/compat/partial-json.js";
import { usage } from "../src/compat/remembered.js";
import { HARDER } from "./support.js";

const ROWS = Array.from({ length: 60 }, (_, id) => ({ id, text: `row ${id}, é😀 "quoted"\n`, nested: [{ a: [] }] }));
// From one beginning of a long text to the next.
const STEP = HARDER > 1 ? 97 : 397;
const VALUE = { rows: ROWS, n: -12.5e-3, yes: true, no: null, last: { deep: ["x", {}, "the end"] } };
const TEXTS = [JSON.stringify(VALUE), JSON.stringify(VALUE, null, 2), JSON.stringify([ROWS, VALUE])];
const ALLOWED = [Allow.ALL, ~Allow.STR, ~Allow.NUM, ~Allow.BOOL, Allow.OBJ | Allow.ARR, Allow.OBJ, ~Allow.ARR, 0];

/**
 * Read once, without a memory.
 * @param {string} text
 * @param {number} [allow]
 */
function once(text, allow = Allow.ALL) {
  return new OneText(text.trim(), allow).value();
}

/** @param {() => any} read */
function outcome(read) {
  try {
    return { value: read() };
  } catch (error) {
    return { error: /** @type {any} */ (error).constructor };
  }
}

test("a growing text gives what a text that is read once gives", () => {
  for (const text of TEXTS) {
    for (let end = 1; end <= text.length; end += end < text.length - 400 ? STEP : 3) {
      for (const allow of end % 2 === 0 ? [Allow.ALL] : ALLOWED) {
        const beginning = text.slice(0, end);
        const expected = outcome(() => once(beginning, allow));
        assert.deepEqual(
          outcome(() => parse(beginning, allow)),
          expected,
          `${allow} ${beginning.slice(-30)}`,
        );
      }
    }
  }
});

test("what the original has its own way with is read as it does, in long texts too", () => {
  const pad = `{"pad": "${"x".repeat(1200)}", "v": `;
  for (const [end, value] of /** @type {[string, any][]} */ ([
    ["[[ ], [1], 2", [[]]],
    ['"\\ud800\\ud80', "\ud800"],
    ['"\\ud800\\udc0', "\ud800"],
  ])) {
    for (let cut = end.length; cut >= 0; cut -= 3) outcome(() => parse(pad + end.slice(0, end.length - cut)));
    assert.deepEqual(parse(pad + end).v, value, end);
  }
  assert.equal(parse(`${pad}1, "v": [2`, ~Allow.ARR).v, 1);
});

test("the examples of the original", () => {
  assert.deepEqual(parse('[{"a": 1, "b": 2}, {"a": 3,', Allow.ARR), [{ a: 1, b: 2 }]);
  assert.deepEqual(parse('[{"a": 1, "b": 2}, {"a": 3,', ~Allow.OBJ), [{ a: 1, b: 2 }]);
  assert.deepEqual(parse('["complete string", "incompl', ~Allow.STR), ["complete string"]);
  assert.deepEqual(parse('{"a": tr'), { a: true });
  assert.deepEqual(parse('{"n": 12.'), {});
  assert.deepEqual(parse('{"n": 1e'), { n: 1 });
  assert.equal(parse('"ab\\u12'), "ab");
  assert.deepEqual(parse("[NaN, -Infinity, Inf"), [NaN, -Infinity, Infinity]);
  assert.equal(parseJSON, parse);
  for (const [text, allow, kind] of /** @type {[string, number, any][]} */ ([
    ["[1", 0, PartialJSON],
    ['{"a"', Allow.ARR, PartialJSON],
    ["wrong", Allow.ALL, MalformedJSON],
    ["-", Allow.ALL, MalformedJSON],
    [" ", Allow.ALL, Error],
  ])) {
    assert.throws(() => parse(text, allow), kind, text);
  }
  assert.throws(() => parse(/** @type {any} */ (1)), TypeError);
});

test("what is wrong is read as far as it goes, also in a text that grows", () => {
  const good = `{"rows": ${JSON.stringify(ROWS)}, `;
  assert.deepEqual(parse(`${good}"a": 1} trailing`), { rows: ROWS, a: 1 });
  for (const bad of ['"a" 1', '"a": 1 "b": 2}', "x", '"a": wrong, "b": 2']) {
    for (let times = 0; times < 2; times += 1) assert.deepEqual(parse(good + bad), once(good + bad), bad);
  }
});

test("a caller who changes a value does not change a later one", () => {
  const text = TEXTS[0];
  for (let end = 1100; end < text.length; end += 211) {
    const value = parse(text.slice(0, end));
    value.rows.length = 0;
    for (const row of parse(text.slice(0, end)).rows) for (const key of Object.keys(row)) delete row[key];
    assert.deepEqual(parse(text.slice(0, end)), once(text.slice(0, end)));
  }
});

test("a key that comes again, and __proto__, are ordinary", () => {
  const text = `{"pad": "${"x".repeat(2000)}", "a": {"b": [1]}, "c": [{"d": {"x": 1}, "d": 2, "d": [3], "__proto__": ["f`;
  for (let end = 1990; end <= text.length; end += 1) parse(text.slice(0, end));
  const { a, c } = parse(text);
  assert.deepEqual(a, { b: [1] });
  assert.deepEqual(Object.entries(c[0]), [
    ["d", [3]],
    ["__proto__", ["f"]],
  ]);
});

test("many streams that begin alike, and no more memory than promised", async () => {
  const streams = Array.from({ length: 20 }, (_, n) => JSON.stringify([...ROWS, { stream: n }, ROWS]));
  for (let end = 1000; end < streams[0].length; end += 5 * STEP) {
    for (const stream of streams) {
      const beginning = stream.slice(0, end);
      assert.deepEqual(parse(beginning), once(beginning));
    }
  }
  for (let n = 0; n < 20; n += 1) await parsePartialJson(`["${n}", "${"y".repeat(300_000)}`);
  const { texts, bytes } = usage();
  assert.ok(texts <= 16 && bytes <= 4 * 2 ** 20, `${texts} texts, ${bytes} bytes`);
});

test("parsePartialJson says how a text was read", async () => {
  const pad = "x".repeat(1100);
  for (const before of ["", `"pad": "${pad}", `]) {
    const rest = before ? { pad } : {};
    for (const [text, value, state] of /** @type {[string, any, string][]} */ ([
      [`{${before}"a": 1}`, { ...rest, a: 1 }, "successful-parse"],
      [`{${before}"a": 1} `, { ...rest, a: 1 }, "successful-parse"],
      [`{${before}"a": "b `, { ...rest, a: "b " }, "repaired-parse"],
      [`{${before}"a": 12.`, { ...rest, a: 12 }, "repaired-parse"],
      [`{${before}"a": 1e-`, { ...rest, a: 1 }, "repaired-parse"],
      [`{${before}"a": -`, rest, "repaired-parse"],
      [`{${before}"a": fal`, { ...rest, a: false }, "repaired-parse"],
      [`{${before}"a": [1, nu`, { ...rest, a: [1, null] }, "repaired-parse"],
      [`{${before}"a": "\\ud83d\\ud`, { ...rest, a: "\ud83d" }, "repaired-parse"],
      [`{${before}"a": 1} and more`, { ...rest, a: 1 }, "repaired-parse"],
      [`{${before}"a": 1 2`, undefined, "failed-parse"],
      [`{${before}"__proto__": {}}`, undefined, "failed-parse"],
    ])) {
      assert.deepEqual(await parsePartialJson(text), { value, state }, text.slice(-30));
    }
  }
  assert.deepEqual(await parsePartialJson(undefined), { value: undefined, state: "undefined-input" });
  assert.deepEqual(await parsePartialJson(""), { value: undefined, state: "failed-parse" });
  assert.deepEqual(await parsePartialJson("12"), { value: 12, state: "successful-parse" });
  assert.deepEqual(await parsePartialJson("12."), { value: 12, state: "repaired-parse" });
  assert.deepEqual(await parsePartialJson("[-"), { value: undefined, state: "failed-parse" });
});

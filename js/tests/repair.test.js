/** Near-JSON: the cases that Python reads too, at every cut, the promises, what hostile text costs. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Document,
  InvalidJSON,
  Parser,
  PartialStream,
  Rebuilder,
  partial,
  select,
  stringify,
  text as textOf,
  texts,
  updates,
  values,
} from "../src/index.js";
import { RULES } from "../src/repair.js";
import { HARDER, at, cases, chance, cuttings, hard, within } from "./support.js";

/** Everything that is said of a text: values on the way, the last one, the error, the repairs. */
function read(pieces, options = {}) {
  const repairs = [];
  const document = new Document({ repair: true, onRepair: (one) => repairs.push(one), ...options });
  const shown = [];
  let error = null;
  try {
    for (const piece of pieces) {
      document.feed(piece);
      if (document.started) shown.push(document.value);
    }
    document.flush();
  } catch (thrown) {
    if (thrown.code === undefined) throw thrown;
    error = thrown;
  }
  assert.deepEqual(document.repairs, repairs);
  return { value: document.value, shown, error, repairs, complete: document.complete };
}

/** Is `one` a beginning of `other`? */
function isPrefix(one, other) {
  if (typeof one === "string" && typeof other === "string") return other.startsWith(one);
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length > other.length) return false;
    return one.every((item, number) => isPrefix(item, other[number]));
  }
  if (typeof one === "object" && one !== null) {
    if (typeof other !== "object" || other === null || Array.isArray(other)) return false;
    return Object.keys(one).every((key) => Object.hasOwn(other, key) && isPrefix(one[key], other[key]));
  }
  return one === other;
}

const short = ({ rule, offset }) => [rule, offset];
const NEAR_JSON = cases("near_json.json").cases;
const CORPUS = cases("repair.json").cases;

// Of a key that comes twice the last one counts: what was shown before is no beginning of it.
const isTwice = (text) => NEAR_JSON.some((one) => one.text === text && one.class === "a key that comes twice");

for (const { text, value, refused } of NEAR_JSON) {
  test(`${refused ? "refused" : "read"}: ${JSON.stringify(text)}`, () => {
    for (const pieces of cuttings(text)) {
      const outcome = read(pieces);
      if (refused === undefined) {
        assert.equal(outcome.error, null, outcome.error?.message);
        assert.equal(stringify(outcome.value), stringify(value));
      } else {
        assert.ok(outcome.error instanceof InvalidJSON);
      }
      if (isTwice(text)) continue;
      const shown = [...outcome.shown, outcome.value];
      for (const [number, one] of outcome.shown.entries()) assert.ok(isPrefix(one, shown[number + 1]));
    }
  });
}

for (const { name, text, value, refused, repairs } of CORPUS) {
  test(name, () => {
    for (const pieces of cuttings(text)) {
      const outcome = read(pieces);
      assert.deepEqual(outcome.repairs.map(short), repairs);
      if (refused === undefined) {
        assert.equal(outcome.error, null, outcome.error?.message);
        assert.equal(stringify(outcome.value), stringify(value));
        assert.ok(outcome.complete);
        const parser = new Parser({ repair: true });
        const rebuilder = new Rebuilder();
        for (const piece of pieces) rebuilder.feed(parser.feed(piece));
        rebuilder.feed(parser.flush());
        assert.equal(stringify(rebuilder.value), stringify(value));
      } else {
        assert.equal(outcome.error?.message, refused);
      }
    }
  });
}

test("P1: no cutting changes values, errors or repairs, also of texts cut off anywhere", () => {
  const told = ({ value, error, repairs }) => stringify([value ?? null, error, repairs]);
  for (const { text } of [...NEAR_JSON, ...CORPUS]) {
    for (let end = 0; end <= text.length; end += HARDER > 1 ? 1 : 5) {
      const part = text.slice(0, end);
      const whole = told(read([part]));
      assert.equal(told(read([...part])), whole, JSON.stringify(part));
      assert.equal(told(read(at([end >> 1], part))), whole, JSON.stringify(part));
    }
  }
});

test("P1: bytes and halves of characters, cut anywhere", () => {
  const text = 'Olé 😀: {"é😀": “😀”, b: \'😀\', "c": "😀 "d😀" x"} 😀';
  const whole = read([text]);
  assert.deepEqual(whole.value, { "é😀": "😀", b: "😀", c: '😀 "d😀" x' });
  const bytes = new TextEncoder().encode(text);
  for (const pieces of [text.split(""), [...bytes].map((byte) => Uint8Array.of(byte))]) {
    const outcome = read(pieces);
    assert.deepEqual(outcome.value, whole.value);
    assert.deepEqual(outcome.repairs, whole.repairs);
  }
});

test("P2: what is shown is a beginning of what is shown next", () => {
  for (const { text } of [...NEAR_JSON, ...CORPUS].filter((one) => !isTwice(one.text))) {
    const { shown, value } = read([...text]);
    const all = [...shown, value];
    for (const [number, one] of shown.entries()) assert.ok(isPrefix(one, all[number + 1]), text);
  }
});

test("P3: valid JSON is never touched", () => {
  const { below, pick } = chance(3);
  const make = (depth) => {
    const kind = below(depth > 3 ? 4 : 6);
    if (kind < 4) return pick([null, true, 0, -1.5e3, "", 'a "b", c: {d}', "// x", "``` [1, 2", "é😀\n"]);
    const items = Array.from({ length: below(4) }, () => make(depth + 1));
    if (kind === 4) return items;
    return Object.fromEntries(items.map((item, number) => [pick(["a", "b c", "'", ""]) + number, item]));
  };
  for (let round = 0; round < 300 * HARDER; round += 1) {
    const value = make(0);
    const text = JSON.stringify(value, null, pick([0, 2]));
    for (const pieces of [[text], [...text], at([below(text.length)], text)]) {
      const outcome = read(pieces);
      assert.equal(outcome.error, null, text);
      assert.equal(JSON.stringify(outcome.value), text.replace(/\n\s*/g, "") && JSON.stringify(value));
      assert.deepEqual(outcome.repairs, []);
    }
  }
});

// ---- hostile text ----

const LONG = {
  prose: (size) => "So here is what I think about it. ".repeat(size / 34) + '{"a": 1}',
  "brackets in prose": (size) => "[see] {this} [x] ".repeat(size / 17) + '{"a": 1}',
  "footnotes in prose": (size) => "[1] {} ".repeat(size / 7) + '{"a": 1}',
  "open brackets in prose": (size) => "{ \n ".repeat(size / 4),
  "ticks in prose": (size) => "so" + "`".repeat(size),
  "a long fence": (size) => "```" + "json".repeat(size / 4),
  thoughts: (size) => "<think>" + "a < b </thin ".repeat(size / 13),
  "trailing text": (size) => "{}\n" + "`` // text ".repeat(size / 11),
  "white space before a line ends": (size) => "12" + " ".repeat(size),
  "white space in a bracket": (size) => "so [1" + " ".repeat(size),
  "white space after the value": (size) => "{}" + " ".repeat(size) + ",",
  "missing commas": (size) => "[" + "1 ".repeat(size / 2),
  "extra commas": (size) => "[" + ",\n".repeat(size / 2),
  "inner quotes": (size) => '["' + 'a "b" c '.repeat(size / 8),
  "doubtful quotes": (size) => '["' + '" , x'.repeat(size / 5),
  "commas in a string": (size) => '["' + ", , ,, ".repeat(size / 7),
  "stray brackets": (size) => "[" + "}".repeat(size),
  comments: (size) => "[" + "/*a*/ // *\n".repeat(size / 11),
  "a long comment": (size) => "[/*" + "* /".repeat(size / 3),
  "raw newlines": (size) => '["' + "\n".repeat(size),
  "white space in a string": (size) => '["' + " ".repeat(size),
  "bad escapes": (size) => '["' + "\\d".repeat(size / 2),
  "single quotes": (size) => "['" + "a\\'".repeat(size / 3),
  ellipses: (size) => "[" + "... ".repeat(size / 4),
  "bare keys": (size) => "{" + "a: 1, ".repeat(size / 6),
  "a long bare key": (size) => "{" + "a".repeat(size),
  "a long bare value": (size) => '{"a": ' + "b ".repeat(size / 2),
  "a long block": (size) => '{"a": """' + '""\n'.repeat(size / 3),
  "nested objects": (size) => '{"a":'.repeat(size / 5),
};

for (const [name, make] of Object.entries(LONG)) {
  hard(`P8: linear in whole and in pieces: ${name}`, () => {
    const limits = { repairs: Infinity, depth: Infinity };
    const rules = name === "a long bare value" ? RULES : true;
    const work = (size, step) => () => {
      const text = make(size);
      const document = new Document({ repair: rules, limits });
      try {
        for (let start = 0; start < text.length; start += step) document.feed(text.slice(start, start + step));
        document.flush();
      } catch (error) {
        if (!(error instanceof InvalidJSON)) throw error;
      }
    };
    assert.ok(within(20, work(10_000, Infinity), work(40_000, Infinity)));
    assert.ok(within(20, work(4_000, 3), work(16_000, 3)));
  });
}

test("P9: nothing but the documented errors", () => {
  const { pick, below } = chance(11);
  const tokens = [
    ..."{}[]()\",:'`“”‘’#/\\.+-_19tNn\n ",
    ...["```json\n", "<think>", "</think>", "true", "None", '"a": ', "…", "，", "：", "\ufeff", "\u00a0"],
    ...["😀", "\ud83d", "\ude00", "\x1e", "\x00", '"""', "Sure: ", "\\u00", "\\ud83d"],
  ];
  for (let round = 0; round < 5_000 * HARDER; round += 1) {
    const pieces = Array.from({ length: below(9) }, () => Array.from({ length: below(5) }, () => pick(tokens)).join(""));
    const repair = pick([true, true, RULES, [pick(RULES)], RULES.filter(() => pick([true, false]))]);
    read(pieces, { repair, many: pick([true, false, false]), prefix: pick(["", "", "{", "["]) });
  }
});

// ---- through every function ----

const ANSWER = ['Sure!\n```json\n{"title": "Tea", ste', "ps: ['boil', \"pour\",", "]}\n```"];
const all = async (source) => {
  const items = [];
  for await (const one of source) items.push(one);
  return items;
};

test("every function takes repair", async () => {
  const options = { repair: true };
  const tea = { title: "Tea", steps: ["boil", "pour"] };
  assert.deepEqual((await all(values(ANSWER, options))).at(-1), tea);
  assert.deepEqual(await all(textOf(ANSWER, "title", options)), ["Tea"]);
  const pieces = await all(texts(ANSWER, "steps[*]", options));
  assert.deepEqual(
    pieces.map(([path, piece]) => [...path, piece]),
    [
      ["steps", 0, "boil"],
      ["steps", 1, "pour"],
    ],
  );
  assert.deepEqual(await all(select(ANSWER, "steps", options)), ["boil", "pour"]);
  assert.deepEqual(partial("{'a': [1, 2", options), { a: [1] });
  const emitted = await all(updates(ANSWER, { ...options, entity: "steps", mode: "ONE-BY-ONE" }));
  assert.deepEqual(
    emitted.map(({ data }) => data),
    ["boil", "pour"],
  );
  const rules = (repairs) => repairs.map(({ rule }) => rule);
  assert.deepEqual(rules(emitted[0].repairs), ["leading-text", "fences", "bare-keys", "single-quotes"]);
});

test("updates have the repairs of their document, and numbers only when they are complete", () => {
  const stream = new PartialStream({ repair: true, many: true });
  const emitted = ["{a: 1", "2}\n{'b'", ": 3}"].flatMap((piece) => stream.feed(piece));
  const last = [...emitted, ...stream.flush()];
  assert.deepEqual(
    last.map(({ data, repairs }) => [data, repairs.map(short)]),
    [
      [{ a: 12 }, [["bare-keys", 1]]],
      [{ b: 3 }, [["single-quotes", 9]]],
    ],
  );
  assert.deepEqual(stream.repairs.map(short), [
    ["bare-keys", 1],
    ["single-quotes", 9],
  ]);
});

test("a prefix is read before the text, and does not count for offsets", () => {
  for (const repair of [true, false]) {
    const document = new Document({ repair, prefix: '{"a": ' });
    document.feed("1}");
    document.flush();
    assert.deepEqual(document.value, { a: 1 });
  }
  const { error } = read(['"title": "Storm"}']);
  assert.match(error.message, /pass prefix="\{"/);
  assert.throws(() => new Document({ prefix: "{" }).feed("x"), { offset: 0, column: 1 });
});

test("rules are chosen by name", () => {
  assert.deepEqual(partial("{a: 1}", { repair: "bare-keys" }), { a: 1 });
  assert.deepEqual(partial("{a: 1,}", { repair: ["bare-keys", "trailing-commas"] }), { a: 1 });
  assert.throws(() => partial("{a: 1,}", { repair: new Set(["bare-keys"]) }), InvalidJSON);
  assert.throws(() => new Document({ repair: ["bare-kyes"] }), /no such repair: bare-kyes; there are/);
  assert.throws(() => new Document({ repair: 5 }), TypeError);
  assert.throws(() => new Document({ repair: true, prefix: 5 }), /prefix is a text/);
  assert.throws(() => new Document({ repair: true, onRepair: 5 }), /onRepair is a function/);
});

test("more repairs than allowed end it", () => {
  const { error } = read(["[1,2,3,]", "//"], { limits: { repairs: 0 } });
  assert.equal(error.code, "LIMIT_EXCEEDED");
  assert.equal(error.limit, "repairs");
});

/** The page's tools that need no DOM: offers, the check of schemas, addresses, snippets. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { build } from "../tools/build.js";
import { caseOf } from "../tools/share.js";
import { asCurl, asJavaScript, asJavaScriptTest, asPython, asRecording } from "../tools/snippets.js";
import { stringify } from "../../js/src/jsontext.js";
import { HARDER } from "../../js/tests/support.js";
import { EXPORTED } from "./exported.js";
import { Document } from "../../js/src/build/document.js";
import { diagnose, repairedPlaces } from "../tools/offers.js";
import { RULES } from "../tools/rules.js";
import { RULES as NAMES } from "../../js/src/repair.js";
import { formatPath } from "../../js/src/paths.js";
import { check, schemaOf, SchemaError } from "../tools/check.js";
import { fromHash, MAX_ADDRESS, pack, toHash, unpack } from "../tools/state.js";

// ---- offers ----

const OFFERS = [
  ['{"a": 1}', []],
  ['{"a": 1,}', ["Repair 1 place"]],
  ["{'a': True, b: 1}", ["Repair 3 places"]],
  ['{"a": 1}\n{"b": 2}', ["Read 2 documents"]],
  ['Sure!\n```json\n{"a": 1}\n```', ["Repair 3 places"]],
  ['{"a": [1, 2', ["Close what is cut off"]],
  ['"title": "Storm", "size": 1}', ["Put { before it"]],
  ['"title": "Storm", "size": 1,}', ["Put { before it and repair"]],
  ["There is no JSON in this.", []],
  ['{"when": 2024-05-01}', []],
];
for (const [text, labels] of OFFERS) {
  test(`offers for ${JSON.stringify(text)}`, () => {
    const { error, offers } = diagnose(text);
    assert.deepEqual(
      offers.map(({ label }) => label),
      labels,
    );
    // What is offered helps.
    for (const { change } of offers) assert.equal(diagnose(text, change).error, null);
    if (error !== null) assert.match(build(text, {}, { format: "text" }).problem, /^Line \d+, column \d+/);
  });
}

test("errors are told in the words of the page", () => {
  const told = (text) => build(text, {}, { format: "text" }).problem;
  assert.equal(told("{'a': 1}"), "Line 1, column 2: a key or '}' is expected, but there is a single quote.");
  assert.equal(told('{\n "a": 1 \u{1f30a}}'), "Line 2, column 9: ',' or '}' is expected, but there is '\u{1f30a}'.");
  assert.equal(told('{"a": [1'), "Line 1, column 9 in root.a[0]: the text ends here, but ',' or ']' is missing.");
  const deep = '{"a":'.repeat(200) + "x";
  assert.ok(told(deep).length < 250);
  // No option of a language is named.
  for (const [text] of OFFERS) {
    assert.doesNotMatch(told(text), /repair=|many=|True|true/);
  }
});

test("every rule of repair has words", () => {
  assert.deepEqual(Object.keys(RULES).sort(), [...NAMES].sort());
});

test("the places that were repaired are where they are in the text", () => {
  const text = '😀 Here:\n```json\n{"a": True, // why\n b: \'x\', "c": [1,],}\n```';
  const { error, repairs } = diagnose(text, { repair: true });
  assert.equal(error, null);
  const places = repairedPlaces(text, repairs).map(({ start, end, rule }) => [rule, text.slice(start, end)]);
  const byRule = Object.fromEntries(places);
  assert.equal(byRule["python-literals"], "True");
  assert.equal(byRule.comments, "// why");
  assert.equal(byRule["bare-keys"], "b");
  assert.equal(byRule["single-quotes"], "'x'");
  assert.ok(places.some(([rule, part]) => rule === "fences" && part.startsWith("```")));
});

test("places of any repaired text are inside of it, in order, and cut no character", () => {
  const parts = [
    "{",
    "}",
    "[",
    "]",
    "'a'",
    "b",
    ":",
    ",",
    " True ",
    "// x\n",
    "```json\n",
    "😀",
    '"c"',
    " 1",
    "None",
    "…",
    "\\_",
  ];
  let seed = 3;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % most;
  for (let round = 0; round < 1000 * HARDER; round += 1) {
    const text = Array.from({ length: 1 + random(12) }, () => parts[random(parts.length)]).join("");
    const document = new Document({ repair: true });
    try {
      document.feed(text);
      document.flush();
    } catch {
      // the repairs before the error count, too
    }
    let last = 0;
    for (const { start, end } of repairedPlaces(text, document.repairs)) {
      assert.ok(start >= last && start <= end && end <= text.length, text);
      assert.ok(text.slice(start, end).isWellFormed(), text);
      last = start;
    }
    for (const { change } of diagnose(text).offers) assert.equal(diagnose(text, change).error, null, text);
  }
});

// ---- the check of schemas ----

const SCHEMA = {
  type: "object",
  properties: {
    title: { type: "string", minLength: 2 },
    size: { enum: ["small", "large"] },
    tags: { type: "array", items: { $ref: "#/$defs/tag" }, maxItems: 2 },
    child: { $ref: "#" },
  },
  required: ["title"],
  additionalProperties: false,
  $defs: { tag: { type: "string", pattern: "^[a-z]+$" } },
};

test("a value is checked against a schema, with paths", () => {
  const wrong = (value) => check(SCHEMA, value).violations.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  assert.deepEqual(wrong({ title: "Storm", size: "large", tags: ["a"] }), []);
  assert.deepEqual(wrong({ size: "huge" }), [
    'root: the field "title" is missing',
    'root.size: one of "small", "large" is wanted',
  ]);
  assert.deepEqual(wrong({ title: 5, x: 1 }), [
    "root.title: string is wanted, but this is an integer",
    "root.x: the schema has no such field",
  ]);
  assert.deepEqual(wrong({ title: "ok", tags: ["A", "b", "c"] }), [
    "root.tags: at most 2 elements are wanted",
    "root.tags[0]: the pattern ^[a-z]+$ is wanted",
  ]);
  assert.deepEqual(wrong({ title: "ok", child: { title: "x" } }), ["root.child.title: at least 2 characters are wanted"]);
  assert.deepEqual(check({ format: "date" }, "x").unchecked, ["format"]);
});

test("a schema is taken in the forms of the providers, and a wrong one is refused", () => {
  for (const form of [
    SCHEMA,
    { name: "x", schema: SCHEMA },
    { type: "json_schema", json_schema: { name: "x", schema: SCHEMA } },
    { name: "x", parameters: SCHEMA },
  ]) {
    assert.deepEqual(schemaOf(JSON.stringify(form)), SCHEMA);
  }
  assert.throws(() => schemaOf("{"), SchemaError);
  assert.throws(() => schemaOf("[1]"), SchemaError);
  assert.throws(() => check({ $ref: "#/$defs/none" }, 1), /not there/);
  assert.throws(() => check({ $ref: "other.json" }, 1), /not part of it/);
  assert.throws(() => check({ pattern: "(" }, "x"), /pattern/);
  assert.throws(() => check({ $ref: "#" }, 1), /too long/);
});

// ---- addresses ----

test("a state is the same after it was an address", async () => {
  const states = [
    {},
    { model: "recipe", piece: 12, view: "waterfall", path: 'root.steps[2]["a&b=c"]' },
    {
      text: '{"a": "ü😀\u0000\\n"}',
      title: "Pasted text",
      repair: true,
      many: true,
      prefix: "{",
      schema: '{"type": "object"}',
      entity: "days[*]",
    },
    { stream: "a b/c#d", format: "events", provider: "anthropic", piece: 0 },
  ];
  for (const state of states) {
    const { hash, complete } = await toHash(state);
    assert.ok(complete);
    assert.match(hash, /^(?:#[\x21-\x7e]+)?$/);
    assert.deepEqual(await fromHash(hash), state);
    assert.deepEqual(await fromHash(new URL(`http://x.test/${hash}`).hash), state);
  }
});

test("a text that is too large for an address is left out, and that is said", async () => {
  let seed = 1;
  const noise = Array.from({ length: 9000 }, () =>
    String.fromCharCode(33 + (((seed = (seed * 1103515245 + 12345) % 2 ** 31) >> 8) % 90)),
  ).join("");
  const { hash, complete } = await toHash({ text: noise, view: "tree" });
  assert.equal(complete, false);
  assert.equal(hash, "#view=tree");
  const { hash: small, complete: all } = await toHash({ text: "ab".repeat(50_000) });
  assert.ok(all && small.length < MAX_ADDRESS);
});

test("an address that anybody wrote is harmless", async () => {
  const bomb = await pack("0".repeat(5 << 20));
  await assert.rejects(unpack(bomb), RangeError);
  for (const hash of [
    "#text=%%%",
    "#text=AAAA",
    `#text=${bomb}`,
    "#path=%E0%A4%A",
    "#piece=-1",
    "#piece=1e9",
    "#=&=&&",
    "#__proto__=x&constructor=y",
    "#repair=no",
  ]) {
    assert.deepEqual(await fromHash(hash), {}, hash);
  }
});

// ---- snippets: what the page exports is run ----

const FOLDER = mkdtempSync(join(tmpdir(), "snippets-"));
const LIBRARY = new URL("../../js/src/", import.meta.url).href;

Object.entries(EXPORTED).forEach(([name, [text, wishes]], number) => {
  if (HARDER < 1 && number % 8) return; // each is two programs
  test(`exported as a test of node, ${name} passes, and fails for another text`, async () => {
    const { recording } = build(text, { title: `Case "${number}" \u202e */ """` }, wishes);
    const code = asJavaScriptTest(caseOf(recording)).replaceAll(
      /"jsonrill(\/repair)?"/g,
      (_, part) => `"${LIBRARY}${part ? "repair.js" : "index.js"}"`,
    );
    const run = (/** @type {string} */ content) => {
      const file = join(FOLDER, `case-${number}-${content.length}.test.mjs`);
      writeFileSync(file, content);
      const { NODE_TEST_CONTEXT: _, ...env } = process.env; // or its result would be taken for one of these
      return spawnSync(process.execPath, [file], { encoding: "utf8", env });
    };
    const { status, stdout, stderr } = run(code);
    assert.equal(status, 0, `${code}\n${stdout}${stderr}`);
    assert.notEqual(run(code.replace(/const pieces = \[[^]*?\n\];/, 'const pieces = ["[]"];')).status, 0);
  });

  test(`exported as a recording, ${name} is read again as it was`, () => {
    const { recording } = build(text, { title: "Mine" }, wishes);
    const again = build(asRecording(caseOf(recording)), {}).recording;
    assert.deepEqual(
      again.pieces.map(({ text: piece }) => piece),
      recording.pieces.map(({ text: piece }) => piece),
    );
    assert.deepEqual(stringify(again.valueAt(again.length) ?? null), stringify(recording.valueAt(recording.length) ?? null));
    assert.equal(again.title, "Mine");
  });
});

test("a command is quoted for the shell", () => {
  const shown = caseOf(build('{"a": "it\'s $HOME `x`"}', {}).recording);
  assert.match(
    asCurl(shown),
    /^curl -N 'http:[^']*' -H 'content-type: text\/plain' --data-raw '\{"a": "it'\\''s \$HOME `x`"\}'\n$/,
  );
  assert.equal(
    asCurl({ ...shown, url: "http://x.test/v1/streams/a'b/events" }),
    "curl -N 'http://x.test/v1/streams/a'\\''b/events?format=updates'\n",
  );
  assert.match(
    asCurl({ ...shown, kind: "calls", url: "http://x.test/e", hasToken: true }),
    /format=calls' -H "authorization: Bearer \$JSONRILL_TOKEN"/,
  );
});

test("programs name what was chosen", () => {
  const shown = caseOf(build("{'a': 1}", {}, { repair: true, entity: "a" }).recording);
  assert.match(asPython(shown), /jsonrill\.updates\(stream, repair=True, entity="a"\)/);
  assert.match(asJavaScript(shown), /import "jsonrill\/repair";[^]*updates\(stream, \{ repair: true, entity: "a" \}\)/);
});

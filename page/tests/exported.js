/** Streams that the page exports as test cases; run as a program, it writes those for Python as JSON. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "../tools/build.js";
import { caseOf } from "../tools/share.js";
import { asPython, asPythonTest } from "../tools/snippets.js";

/** The cases that are exported: [pasted text, wishes]. @type {[string, object][]} */
export const EXPORTED = [
  ['{"title": "Stürm \\u202e 😀\\n", "size": 12345678901234567890, "rate": 1.50, "tags": [true, null, {}]}', {}],
  ["Sure!\n{'a': True, b: [1,],}", { repair: true }],
  ['{"a": 1}\n{"b": [2]}\n', {}],
  ['{"a": oops}', {}],
  ['"title": "Storm"}', { prefix: "{" }],
  [["{\"a", "\": 1}"].map((content) => JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] })).join("\n"), {}],
  [readFileSync(new URL("../../packages/jsonrill/src/jsonrill/demo/recordings/calls.jsonl", import.meta.url), "utf8"), {}],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const shown = EXPORTED.map(([text, wishes]) => caseOf(build(text, { title: '"""\u202e\\' }, wishes).recording, ""));
  console.log(JSON.stringify(shown.map((one) => ({ test: asPythonTest(one), program: asPython(one), fails: one.error !== null }))));
}

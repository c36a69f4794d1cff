/**
 * Streams of every kind that the page exports. Run as a program, with the address of a server, it writes
 * all exports as JSON, and what the JavaScript programs print.
 */

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { build } from "../tools/build.js";
import { caseOf } from "../tools/share.js";
import { asCurl, asJavaScript, asJavaScriptTest, asPython, asPythonTest } from "../tools/snippets.js";
import { stringify } from "../../js/src/jsontext.js";

const LIBRARY = new URL("../../js/src/", import.meta.url).href;
const CALLS = readFileSync(new URL("../../packages/jsonrill/src/jsonrill/demo/recordings/calls.jsonl", import.meta.url), "utf8");
const SCHEMA = JSON.stringify({ type: "object", properties: { a: { type: "integer" } }, required: ["a"] });
const HOSTILE = '{"__proto__": {"polluted": true}, "constructor": 1, "a\'b\\u202e\\"": "$HOME `x` \\\\ END", "": null}';

/** @param {string[]} texts @param {string | null} finish */
const chat = (texts, finish) =>
  [...texts.map((content) => ({ delta: { content } })), ...(finish ? [{ delta: {}, finish_reason: finish }] : [])]
    .map((choice) => JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] }))
    .join("\n");

/** What is pasted, and how it is read. @type {Record<string, [string, object]>} */
export const EXPORTED = {
  text: ['{"title": "Stürm \\u202e 😀\\n", "size": 12345678901234567890, "rate": 1.50, "tags": [true, null, {}]}', {}],
  hostile: [HOSTILE, {}],
  repaired: ["Sure!\n{'a': True, b: [1,],}", { repair: true }],
  many: ['{"a": 1}\n{"b": [2]}\n', {}],
  "many hostile": [`${HOSTILE}\n{"a": [${HOSTILE}]}`, {}],
  invalid: ['{"a": oops}', {}],
  "cut off": ['{"a": "it', {}],
  prefix: ['"title": "Storm"}', { prefix: "{" }],
  entity: ['{"days": [{"n": 1}, {"n": 2}]}', { entity: "days[*]" }],
  schema: ['{"a": 1}', { schema: SCHEMA }],
  "wrong for a schema": ['{"a": "one"}', { schema: SCHEMA }],
  snapshots: ['{"a": "x"}\n{"a": "xy"}\n{"a": "xyz", "__proto__": 1}', {}],
  events: [chat(['{"a', '": 1, "__proto__": {}}'], "stop"), {}],
  "events that are repaired": [chat(["```json\n", "{'a': 1}", "\n```"], "stop"), { repair: true }],
  "events that are cut off": [chat(['{"a', '": "it'], "length"), {}],
  "events with a schema": [chat(['{"a', '": 1}'], "stop"), { schema: SCHEMA }],
  "an error of the provider": [
    `data: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}\n\n`,
    {},
  ],
  prose: [chat(["Hello ", "there."], "stop"), {}],
  calls: [CALLS, {}],
};

/** What a program prints. @param {string} code @param {string} name */
async function printed(code, name) {
  const file = join(mkdtempSync(join(tmpdir(), "exported-")), `${name.replaceAll(" ", "-")}.mjs`);
  writeFileSync(
    file,
    code.replaceAll(/"jsonrill(\/repair)?"/g, (_, part) => `"${LIBRARY}${part ? "repair.js" : "index.js"}"`),
  );
  const lines = /** @type {string[]} */ ([""]);
  const { log } = console;
  const { write } = process.stdout;
  console.log = (...all) => void lines.push(all.join(" "));
  process.stdout.write = /** @type {any} */ ((/** @type {string} */ text) => (lines[0] += text));
  try {
    await import(pathToFileURL(file).href);
    return { lines, code: null };
  } catch (error) {
    return { lines, code: /** @type {any} */ (error).code };
  } finally {
    console.log = log;
    process.stdout.write = write;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = [];
  for (const [name, [text, wishes]] of Object.entries(EXPORTED)) {
    const { recording } = build(text, { title: '"""\u202e\\' }, wishes);
    const shown = caseOf(recording, { server: process.argv[2] });
    const { kind, error, value } = shown;
    const programs = {
      python: asPython(shown),
      pytest: asPythonTest(shown),
      javascript: asJavaScript(shown),
      curl: asCurl(shown),
      node: asJavaScriptTest(shown),
    };
    const run = await printed(programs.javascript, name);
    all.push({
      name,
      kind,
      error: error?.code ?? null,
      value: stringify(value ?? null),
      ...programs,
      printed: run.lines,
      thrown: run.code,
    });
  }
  console.log(JSON.stringify(all));
}

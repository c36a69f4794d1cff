// node javascript.mjs FILE BUDGET CAP: what bench/javascript.py asks of node, JSON on stdout.
// Processor time, which includes what the engine's helper threads do.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { judge, measure } from "./parsers.mjs";

const [file, budget, cap] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(file, "utf8"));
const clock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** One file of what is exported, as a page would load it. */
async function bundled(contents, options) {
  const stdin = { contents, resolveDir: import.meta.dirname };
  const { outputFiles } = await build({ stdin, bundle: true, write: false, ...options });
  return outputFiles[0];
}

const OURS = "../../js/src/index.js";
const EXPORTS = {
  "jsonrill, `values` and `text`": `export { values, text } from "${OURS}"`,
  "jsonrill, `Document`": `export { Document } from "${OURS}"`,
  "jsonrill, `values`, `text`, `texts`, `select`": `export { values, text, texts, select } from "${OURS}"`,
  "jsonrill, everything": `export * from "${OURS}"`,
  jsonriver: 'export { parse } from "jsonriver"',
  "@streamparser/json": 'export { JSONParser } from "@streamparser/json"',
  "partial-json": 'export { parse, Allow } from "partial-json"',
};
const sizes = {};
for (const [name, contents] of Object.entries(EXPORTS)) {
  const { contents: code } = await bundled(contents, { minify: true, format: "esm" });
  sizes[name] = { minified: code.length, gzip: gzipSync(code, { level: 9 }).length };
}
const page = await bundled('export * from "./parsers.mjs"', { format: "iife", globalName: "parsers" });

const versions = { node: process.version };
for (const name of ["jsonriver", "@streamparser/json", "partial-json"]) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  versions[name] = JSON.parse(readFileSync(path, "utf8")).version;
}
const found = {
  node: await measure(asked, Number(budget), Number(cap), clock),
  correctness: await judge(asked.correctness),
  sizes,
  page: page.text,
  versions,
};
console.log(JSON.stringify(found));

// node javascript.mjs FILE BUDGET CAP: what bench/javascript.py asks of node, JSON on stdout.
// Processor time, which includes what the engine's helper threads do.

import { readFileSync } from "node:fs";
import { build } from "esbuild";
import { judge, measure } from "./parsers.mjs";

const [file, budget, cap] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(file, "utf8"));
const clock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

// One file of the parsers, for a browser.
const { outputFiles } = await build({
  stdin: { contents: 'export * from "./parsers.mjs"', resolveDir: import.meta.dirname },
  bundle: true,
  write: false,
  format: "iife",
  globalName: "parsers",
});

const versions = { node: process.version };
for (const name of ["jsonriver", "@streamparser/json", "partial-json"]) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  versions[name] = JSON.parse(readFileSync(path, "utf8")).version;
}
const results = {
  node: await measure(asked, Number(budget), Number(cap), clock),
  correctness: await judge(asked.correctness),
  page: outputFiles[0].text,
  versions,
};
console.log(JSON.stringify(results));

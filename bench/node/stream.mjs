// The JavaScript rivals on the same texts: node stream.mjs FILE BUDGET CAP, JSON on stdout.
// FILE holds {"size": characters a piece, "texts": {shape: text}}. Processor time, best of many;
// it includes what the engine's helper threads do.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { JSONParser } from "@streamparser/json";
import { parsePartialJson } from "ai";
import { parse } from "jsonriver";

const [file, budget, cap] = process.argv.slice(2);
const { size, texts } = JSON.parse(readFileSync(file, "utf8"));
const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

class OutOfTime extends Error {}

// Each gives every piece to its library and has the value in hand after it.
const rivals = {
  "jsonriver (npm)": async (pieces) => {
    for await (const value of parse(pieces())) void value;
  },
  "@streamparser/json (npm)": async (pieces) => {
    const parser = new JSONParser({ emitPartialValues: true, emitPartialTokens: true });
    let latest;
    parser.onValue = ({ value }) => (latest = value);
    for await (const piece of pieces()) parser.write(piece);
    void latest;
  },
  "ai (npm)": async (pieces) => {
    let text = "";
    for await (const piece of pieces()) await parsePartialJson((text += piece));
  },
};
const packages = ["jsonriver", "@streamparser/json", "ai"];

async function once(read, cut) {
  const start = seconds();
  let fed = 0;
  async function* pieces() {
    for (const piece of cut) {
      if (fed++ % 64 === 0 && seconds() - start > cap) throw new OutOfTime();
      yield piece;
    }
  }
  try {
    await read(pieces);
  } catch (error) {
    const took = seconds() - start;
    if (error instanceof OutOfTime) return { seconds: took, read: fed / cut.length, failed: "" };
    return { seconds: took, read: 1, failed: error.constructor.name };
  }
  return { seconds: seconds() - start, read: 1, failed: "" };
}

async function best(read, cut) {
  let timing = await once(read, cut);
  let used = timing.seconds;
  let samples = 1;
  const times = Math.max(1, Math.round(0.01 / Math.max(timing.seconds, 1e-5)));
  while (timing.read === 1 && !timing.failed && used < budget && samples < 200) {
    const start = seconds();
    for (let turn = 0; turn < times; turn++) await once(read, cut);
    const took = seconds() - start;
    timing = { ...timing, seconds: Math.min(timing.seconds, took / times) };
    used += took;
    samples += 1;
  }
  const whole = timing.read === 1 && !timing.failed;
  return { ...timing, samples, us: whole ? (timing.seconds / cut.length) * 1e6 : null };
}

const stopped = new Set();
const results = {};
for (const [shape, { text, family }] of Object.entries(texts)) {
  const characters = Array.from(text);
  const cut = [];
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(""));
  const rows = {};
  for (const [name, read] of Object.entries(rivals)) {
    if (family && stopped.has(name)) continue;
    rows[name] = await best(read, cut);
    if (rows[name].read < 1) stopped.add(name);
  }
  results[shape] = { characters: characters.length, pieces: cut.length, rows };
}
const need = createRequire(import.meta.url);
const versions = {};
for (const name of packages) {
  // Not every package exports its package.json.
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  versions[name] = need(path.pathname).version;
}
console.log(JSON.stringify({ results, versions: { node: process.version, ...versions } }));

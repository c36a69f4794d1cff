// The npm package and its rivals: node stream.mjs BUDGET reads {size: [piece, …]} and writes the
// microseconds per piece of each, as JSON. Processor time, the best of many runs.

import { readFileSync } from "node:fs";
import { JSONParser } from "@streamparser/json";
import { parse } from "jsonriver";
import { Allow, parse as parsePartial } from "partial-json";
import { Document, values } from "../../js/src/index.js";

const budget = Number(process.argv[2]);
const texts = JSON.parse(readFileSync(0, "utf8"));
const CAP = 4;

const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function* late(pieces) {
  yield* pieces;
}

const candidates = {
  "jsonrill `Document.live`": async (pieces, check) => {
    const document = new Document();
    for (const piece of pieces) {
      check();
      document.feed(piece);
      void document.live;
    }
  },
  "jsonrill `values(…, { live: true })`": async (pieces) => {
    for await (const value of values(late(pieces), { live: true })) void value;
  },
  jsonriver: async (pieces) => {
    for await (const value of parse(late(pieces))) void value;
  },
  "@streamparser/json": async (pieces, check) => {
    const parser = new JSONParser({ emitPartialValues: true, emitPartialTokens: true });
    let latest;
    parser.onValue = ({ value }) => (latest = value);
    for (const piece of pieces) {
      check();
      parser.write(piece);
    }
    void latest;
  },
  "partial-json": async (pieces, check) => {
    let text = "";
    for (const piece of pieces) {
      check();
      parsePartial((text += piece), Allow.ALL);
    }
  },
};

/** The seconds of the best run; null if one takes longer than CAP. */
async function best(read, pieces) {
  let least = Infinity;
  for (let used = 0, runs = 0; runs < 3 || used < budget; runs += 1) {
    const start = seconds();
    const check = () => {
      if (seconds() - start > CAP) throw new RangeError("stopped");
    };
    try {
      await read(pieces, runs ? () => {} : check);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
    const took = seconds() - start;
    least = Math.min(least, took);
    used += took;
  }
  return least;
}

const rows = {};
for (const [name, read] of Object.entries(candidates)) {
  rows[name] = {};
  for (const [size, pieces] of Object.entries(texts)) {
    const took = await best(read, pieces);
    rows[name][size] = took === null ? null : (took / pieces.length) * 1e6;
  }
}
const versions = { node: process.version };
for (const name of ["jsonriver", "@streamparser/json", "partial-json"]) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  versions[name] = JSON.parse(readFileSync(path, "utf8")).version;
}
console.log(JSON.stringify({ rows, versions }));

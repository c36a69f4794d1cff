// The npm package and its rivals. node stream.mjs BUDGET reads {texts: {size: [piece, …]}, growth: {size: [beginning, rest]}}
// and writes microseconds per piece as JSON. Processor time, the best of many runs.

import { readFileSync } from "node:fs";
import { JSONParser } from "@streamparser/json";
import jsonPatch from "fast-json-patch";
import { parse } from "jsonriver";
import { Allow, parse as parsePartial } from "partial-json";
import { Document, fragments, receive, Sender, select, send, toolCalls, values } from "../../js/src/index.js";

const budget = Number(process.argv[2]);
const { texts, growth } = JSON.parse(readFileSync(0, "utf8"));
const CAP = 4;

const seconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function* late(pieces) {
  yield* pieces;
}

async function drain(items) {
  for await (const item of items) void item;
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
  "jsonrill `values(…, { live: true })`": (pieces) => drain(values(late(pieces), { live: true })),
  jsonriver: (pieces) => drain(parse(late(pieces))),
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
  "jsonrill `Sender.feed` of each value": async (pieces, check) => sendStates(pieces, check, new Sender({ frozen: true })),
  "fast-json-patch of each value": async (pieces, check) => sendStates(pieces, check, { feed: patches() }),
};

/** Compare the values after each piece; only the comparison differs between candidates. */
function sendStates(pieces, check, sender) {
  const document = new Document();
  for (const piece of pieces) {
    check();
    document.feed(piece);
    if (document.value !== undefined) sender.feed(document.value);
  }
}

function patches() {
  let before;
  return (state) => {
    if (before !== undefined) jsonPatch.compare(before, state);
    before = state;
  };
}

/** The seconds of the best run; null if one takes longer than CAP. */
async function best(read, pieces) {
  let least = Infinity;
  for (let used = 0, runs = 0; runs < 3 || used < budget; runs += 1) {
    const began = seconds();
    const check = () => {
      if (seconds() - began > CAP) throw new RangeError("stopped");
    };
    try {
      await read(pieces, runs ? () => {} : check);
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
    const took = seconds() - began;
    least = Math.min(least, took);
    used += took;
  }
  return least;
}

// ---- growth: what one more piece costs after a beginning of 1 KB and of 10 MB ----

const SEGMENT = 500;
const BLOCK = 2 ** 16;

class Clock {
  best = Infinity;

  constructor(first, rest) {
    this.first = first;
    this.rest = rest;
  }

  async *[Symbol.asyncIterator]() {
    yield* this.first;
    for (let at = 0; at + SEGMENT <= this.rest.length; at += SEGMENT) {
      const began = seconds();
      for (let next = at; next < at + SEGMENT; next += 1) yield this.rest[next];
      this.best = Math.min(this.best, (seconds() - began) / SEGMENT);
    }
  }
}

const call = (text, first) => ({
  object: "chat.completion.chunk",
  choices: [{ delta: { tool_calls: [{ index: 0, ...first, function: { ...first?.function, arguments: text } }] } }],
});
const readers = {
  "`values`": (source) => values(source, { every: 0 }),
  "`values`, live": (source) => values(source, { live: true }),
  "`fragments`": (source) => fragments(source),
  "`select`": (source) => select(source, "sections[*]"),
  "`send`": (source) => send(source),
  "`tool_calls`": (source) => toolCalls(source),
  "`receive`": (source) => receive(source),
};

async function cost(read, first, rest) {
  const clock = new Clock(first, rest);
  await drain(read(clock)).catch((error) => {
    if (!error.code) throw error; // the text is cut off
  });
  return clock.best * 1e6;
}

const cut = (text, size) => text.match(new RegExp(`[^]{1,${size}}`, "g"));

/** A snapshot, and messages that change an element of its long list. */
function messages(text, count) {
  const document = new Document();
  document.feed(text);
  const value = document.value;
  const pointer = `/sections/${value.sections.length - 1}/id`;
  return [[{ n: 1, value }], Array.from({ length: count }, (_, at) => [at + 2, ["set", pointer, at]])];
}

async function costs(beginning, rest) {
  const [first, pieces] = [cut(beginning, BLOCK), cut(rest, 4)];
  const events = [...first, ...pieces].map((text) => call(text));
  events[0] = call(first[0], { id: "call_1", function: { name: "save" } });
  const inputs = {
    "`tool_calls`": [events.slice(0, first.length), events.slice(first.length)],
    "`receive`": messages(beginning, pieces.length),
  };
  const found = {};
  for (const [name, read] of Object.entries(readers)) found[name] = await cost(read, ...(inputs[name] ?? [first, pieces]));
  return found;
}

const rows = {};
for (const [name, read] of Object.entries(candidates)) {
  rows[name] = {};
  for (const [size, pieces] of Object.entries(texts)) {
    const took = await best(read, pieces);
    rows[name][size] = took === null ? null : (took / pieces.length) * 1e6;
  }
}
const grown = {};
for (const [size, [beginning, rest]] of Object.entries(growth)) {
  for (const [name, took] of Object.entries(await costs(beginning, rest))) (grown[name] ??= {})[size] = took;
}
const versions = { node: process.version };
for (const name of ["jsonriver", "@streamparser/json", "partial-json", "fast-json-patch"]) {
  const path = new URL(`node_modules/${name}/package.json`, import.meta.url);
  versions[name] = JSON.parse(readFileSync(path, "utf8")).version;
}
console.log(JSON.stringify({ rows, growth: grown, versions }));

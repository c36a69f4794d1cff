// Parsers for JSON that streams, in JavaScript: ours and the rivals, how fast and how right.
// No I/O: the same file runs in node (javascript.mjs) and, bundled, in a browser (bench/javascript.py).

import { JSONParser } from "@streamparser/json";
import { parse as river } from "jsonriver";
import { Allow, parse as partialJson } from "partial-json";
import { Document, values } from "../../js/src/index.js";

class OutOfTime extends Error {}

const streamparser = () => new JSONParser({ emitPartialValues: true, emitPartialTokens: true });

// Each has the value in hand after every piece; `cut` is the list of pieces, `late` gives them one by
// one to those that want to wait for them, `check` throws when it has taken too long.
const CONTESTANTS = {
  "jsonrill `Document.live`": async ({ cut, check }) => {
    const document = new Document();
    let latest;
    for (const piece of cut) {
      check();
      document.feed(piece);
      latest = document.live;
    }
    document.flush();
    return latest;
  },
  "jsonrill `Document.value`": async ({ cut, check }) => {
    const document = new Document();
    let latest;
    for (const piece of cut) {
      check();
      document.feed(piece);
      latest = document.value;
    }
    document.flush();
    return latest;
  },
  "jsonrill `values(…, { live: true })`": async ({ late }) => {
    let latest;
    for await (latest of values(late(), { live: true }));
    return latest;
  },
  "jsonrill `values()`": async ({ late }) => {
    let latest;
    for await (latest of values(late()));
    return latest;
  },
  jsonriver: async ({ late }) => {
    let latest;
    for await (latest of river(late()));
    return latest;
  },
  // What it yields is one object that changes; this is the same promise as that of `values()`.
  "jsonriver, each value cloned": async ({ late }) => {
    let latest;
    for await (const value of river(late())) latest = structuredClone(value);
    return latest;
  },
  "@streamparser/json": async ({ cut, check }) => {
    const parser = streamparser();
    let latest;
    parser.onValue = ({ value }) => (latest = value);
    for (const piece of cut) {
      check();
      parser.write(piece);
    }
    return latest;
  },
  "partial-json": (asked) => allSoFar(partialJson, asked),
};

/** The text so far, parsed again after each piece. */
async function allSoFar(parse, { cut, check }) {
  let text = "";
  let latest;
  for (const piece of cut) {
    check();
    latest = parse((text += piece), Allow.ALL);
  }
  return latest;
}

/** Seconds of one run; how far it came. */
async function once(read, cut, cap, clock) {
  const start = clock();
  let fed = 0;
  const check = () => {
    if (fed++ % 64 === 0 && clock() - start > cap) throw new OutOfTime();
  };
  const late = async function* () {
    for (const piece of cut) {
      check();
      yield piece;
    }
  };
  try {
    await read({ cut, late, check });
  } catch (error) {
    const failed = error instanceof OutOfTime ? "" : error.constructor.name;
    return { seconds: clock() - start, read: failed ? 1 : fed / cut.length, failed };
  }
  return { seconds: clock() - start, read: 1, failed: "" };
}

/** The cost of a piece for every contestant, in turns, best of many samples. */
async function race(cut, stopped, budget, cap, clock) {
  const rows = {};
  const able = Object.entries(CONTESTANTS).filter(([name]) => !stopped.has(name));
  for (const [name, read] of able) rows[name] = { ...(await once(read, cut, cap, clock)), samples: 1, used: 0 };
  for (;;) {
    const rest = able.filter(([name]) => {
      const { read, failed, used, samples } = rows[name];
      return read === 1 && !failed && used < budget && samples < 200;
    });
    if (rest.length === 0) break;
    for (const [name, read] of rest) {
      const row = rows[name];
      const times = Math.max(1, Math.round(0.02 / Math.max(row.seconds, 1e-5)));
      const start = clock();
      for (let turn = 0; turn < times; turn += 1) await once(read, cut, cap, clock);
      const took = clock() - start;
      row.seconds = Math.min(row.seconds, took / times);
      row.used += took;
      row.samples += 1;
    }
  }
  for (const row of Object.values(rows)) {
    row.us = row.read === 1 && !row.failed ? (row.seconds / cut.length) * 1e6 : null;
    delete row.used;
  }
  return rows;
}

/** Every shape in pieces of `size` characters. */
export async function measure({ size, texts }, budget, cap, clock) {
  const stopped = new Set();
  const results = {};
  for (const [shape, { text, family }] of Object.entries(texts)) {
    const characters = Array.from(text);
    const cut = [];
    for (let at = 0; at < characters.length; at += size) {
      cut.push(characters.slice(at, at + size).join(""));
    }
    const rows = await race(cut, family ? stopped : new Set(), budget, cap, clock);
    for (const [name, { read }] of Object.entries(rows)) if (read < 1) stopped.add(name);
    results[shape] = { characters: characters.length, pieces: cut.length, rows };
  }
  return results;
}

// ---- what is shown after every character ----

const NOTHING = Symbol("nothing");
const shownBy = {
  jsonrill: (text) => {
    const document = new Document();
    return every(text, (piece) => (document.feed(piece), document.started ? document.value : NOTHING));
  },
  jsonriver: async (text) => {
    // It yields when something changed: for characters without a change, the value before.
    const shown = [];
    let fed = 0;
    async function* late() {
      for (const character of text) {
        fed += 1;
        yield character;
      }
    }
    let latest = NOTHING;
    try {
      for await (const value of river(late())) {
        while (shown.length < fed - 1) shown.push(latest);
        latest = structuredClone(value);
        shown.push(latest);
      }
      while (shown.length < text.length) shown.push(latest);
    } catch (error) {
      while (shown.length < text.length) shown.push(error);
    }
    return shown;
  },
  "@streamparser/json": (text) => {
    const parser = streamparser();
    let latest = NOTHING;
    // It tells the innermost value; the containers around it are in the stack, without it.
    parser.onValue = ({ value, key, parent, stack, partial }) => {
      const holders = [...stack.slice(1).map((level) => level.value), parent];
      if (holders[0] === undefined) {
        if (value !== undefined) latest = structuredClone(value);
        return;
      }
      latest = structuredClone(holders[0]);
      if (!partial || value === undefined || key === undefined) return;
      const inner = stack.slice(1).reduce((holder, level) => holder[level.key], latest);
      inner[key] = structuredClone(value);
    };
    return every(text, (piece) => (parser.write(piece), latest));
  },
  "partial-json": (text) => text.map((_, at) => tried(() => partialJson(text.slice(0, at + 1).join(""), Allow.ALL))),
};

function tried(work) {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

/** What shows after each character; after an error it, to the end. */
function every(text, read) {
  let failed;
  return text.map((piece) => {
    const value = failed ?? tried(() => read(piece));
    if (value instanceof Error) failed = value;
    return value;
  });
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** What in `value` cannot become `final` by growing. */
function* faults(value, final) {
  if (isObject(value) && isObject(final)) {
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(final, key)) yield* faults(value[key], final[key]);
      else yield "invented";
    }
  } else if (Array.isArray(value) && Array.isArray(final)) {
    if (value.length > final.length) yield "invented";
    for (let at = 0; at < Math.min(value.length, final.length); at += 1) {
      yield* faults(value[at], final[at]);
    }
  } else if (typeof value === "string" && typeof final === "string") {
    if (!final.startsWith(value)) yield "invented";
  } else if (typeof value === "number" && typeof final === "number") {
    if (value !== final) yield "false number";
  } else if (value !== final) {
    yield "invented";
  }
}

/** Is every place that had a value before still a place with one? */
function stillThere(before, now) {
  if (before === NOTHING) return true;
  if (isObject(before)) {
    return isObject(now) && Object.keys(before).every((key) => Object.hasOwn(now, key) && stillThere(before[key], now[key]));
  }
  if (Array.isArray(before)) {
    return Array.isArray(now) && before.length <= now.length && before.every((one, at) => stillThere(one, now[at]));
  }
  return now !== NOTHING && now !== undefined;
}

/** The counts over all texts, which bad ones were accepted, which odd ones refused. */
export async function judge({ texts, good, bad }) {
  const results = {};
  for (const [name, show] of Object.entries(shownBy)) {
    const counts = { raised: 0, retracted: 0, invented: 0, "false number": 0, "wrong at the end": 0 };
    for (const text of texts) {
      const final = JSON.parse(text);
      let before = NOTHING;
      for (const value of await show(Array.from(text))) {
        if (value instanceof Error) {
          counts.raised += 1;
          continue;
        }
        const seen = value === NOTHING ? [] : faults(value, final);
        for (const fault of new Set(seen)) counts[fault] += 1;
        counts.retracted += stillThere(before, value) ? 0 : 1;
        before = value;
      }
      counts["wrong at the end"] += JSON.stringify(before) === JSON.stringify(final) ? 0 : 1;
    }
    const accepts = async (text) => !((await show(Array.from(text))).at(-1) instanceof Error);
    const filter = async (list, wanted) => {
      const answers = await Promise.all(list.map(accepts));
      return list.filter((_, at) => answers[at] === wanted);
    };
    results[name] = { ...counts, accepted: await filter(bad, true), refused: await filter(good, false) };
  }
  return results;
}

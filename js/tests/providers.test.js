/** Providers' streams: the cases that Python reads too, and what JavaScript's own sources need. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  Answer,
  FieldNotFound,
  InvalidSchema,
  SourceFailed,
  ToolCalls,
  Truncated,
  UnknownSource,
  content,
  feedback,
  fragments,
  loads,
  partial,
  parts,
  select,
  text,
  toolCalls,
  values,
} from "../src/index.js";
import { isEventStream, isLines } from "../src/eventstream/media.js";
import { Parts } from "../src/answers/parts.js";
import { Reader, recognise } from "../src/providers/index.js";
import { HARDER, ROOT, cases, chance, frozen } from "./support.js";

const FILES = readdirSync(join(ROOT, "cases", "providers"));
const RECORDED = Object.fromEntries(FILES.map((name) => [name.replace(".json", ""), cases(join("providers", name))]));
// The cases of other providers are for Python alone.
const READ = /^(openai_(chat|compatible|responses)|text_completion|anthropic|litellm|gemini(?!_live)|vercel|ag_ui)/;
const known = ({ name }) => READ.test(name);

async function all(stream) {
  const items = [];
  try {
    for await (const one of stream) items.push(one);
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}

async function* later(items) {
  for (const item of items) yield item;
}

const sse = (events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const response = (events, init = {}) =>
  new Response(sse(events), { headers: { "content-type": "text/event-stream; charset=utf-8" }, ...init });
const chunk = (delta, finish_reason = null, index = 0) => ({
  id: "c1",
  choices: [{ index, delta, finish_reason }],
});
const called = (index, name, args, id = `call_${index}`) =>
  chunk({ tool_calls: [{ index, id, function: { name, arguments: args } }] });
const END = chunk({}, "stop");

// ---- the cases ----

const fails = (events) => {
  const reader = new Reader();
  return events.flatMap((event) => reader.feed(event)).some(({ kind, reason }) => kind === "finish" && reason === "error");
};

for (const { name, events, text: joined, calls } of cases("answers.json").cases.filter(known)) {
  test(`${name}: text, calls and end`, async () => {
    for (const source of [frozen(events), later(events), response(events)]) {
      const { items, error } = await all(content(source));
      assert.equal(items.join(""), joined);
      assert.equal(error !== null, fails(events));
      if (error !== null) assert.ok(error instanceof SourceFailed, String(error));
    }
    const kept = new ToolCalls();
    await all(toolCalls(events, { calls: kept }));
    const seen = kept.calls.map(({ name: tool, args, status }) => [tool, args, status]);
    assert.deepEqual(seen, calls);
  });
}

for (const { name, before, end, words } of cases("finish_reasons.json").cases.filter(known)) {
  test(`${name}: how an answer ended`, () => {
    for (const [word, reason] of Object.entries(words)) {
      const reading = new Parts();
      const last = JSON.parse(JSON.stringify(end).replaceAll("$WORD", word));
      for (const event of [...before, ...last]) reading.add(event);
      assert.equal(reading.outcome, reason, word);
      assert.equal(reading.error !== null, reason === "error", word);
    }
  });
}

// ---- what is known of an answer beside its values ----

const FUNCTIONS = {
  values,
  fragments,
  select: (source, how) => select(source, "title", how),
  text: (source, how) => text(source, "title", { readAll: true, ...how }),
  content,
  parts,
  toolCalls,
};
const told = ({ finish, usage, text: its }) => ({ finish, usage, text: its });

for (const { name, events, text: its, end, usage = null } of cases("answers.json").cases.filter(known)) {
  test(`${name}: what an Answer tells`, async () => {
    const expected = { finish: end ?? "lost", usage, text: its };
    const isComplete = name.endsWith("-complete");
    for (const [reader, read] of Object.entries(isComplete ? FUNCTIONS : { content, parts, toolCalls })) {
      const answer = new Answer();
      await all(read(later(events), { answer }));
      assert.deepEqual(told(answer), expected, reader);
    }
    if (!isComplete) return;
    const answer = new Answer();
    await values(later(events), { answer }).next();
    assert.equal(answer.usage, null);
    assert.ok(its.startsWith(answer.text));
  });
}

test("an Answer: plain text has only its text, and a second stream begins anew", async () => {
  const answer = new Answer();
  await all(values(['{"a": ', "1}"], { answer }));
  assert.deepEqual(told(answer), { finish: null, usage: null, text: '{"a": 1}' });
  await all(values([new TextEncoder().encode("[2]")], { answer }));
  assert.equal(answer.text, "[2]");
});

// ---- the end ----

const READERS = {
  values: (source, options) => values(source, options),
  fragments: (source, options) => fragments(source, options),
  select: (source, options) => select(source, "title", options),
  text: (source, options) => text(source, "title", options),
};

for (const { name, before, end, words } of cases("finish_reasons.json").cases.filter(known)) {
  if (before.length === 0 || name.includes("refusal")) continue;
  test(`${name}: no function takes a cut answer for a complete one`, async () => {
    for (const [word, reason] of Object.entries(words)) {
      const events = [...before, ...JSON.parse(JSON.stringify(end).replaceAll("$WORD", word))];
      const isComplete = reason === "complete" || reason === "calls";
      for (const read of Object.values(READERS)) {
        const { error } = await all(read(events));
        if (reason === "error") {
          assert.ok(error instanceof SourceFailed, word);
        } else {
          assert.ok(error instanceof Truncated, `${word}: ${error}`);
          assert.equal(error.reason, isComplete ? "ended" : reason);
          assert.equal(error.text, '{"title": "Ti');
          assert.deepEqual(error.value, { title: "Ti" });
        }
      }
      if (reason === "error") continue;
      const shown = (await all(parts(events))).items.at(-1);
      assert.equal(shown.complete, isComplete);
      assert.equal(shown.error === null, isComplete);
    }
  });

  test(`${name}: a stream without its end is lost`, async () => {
    const { error } = await all(values(before));
    assert.equal(error?.reason, "lost");
  });
}

test("a refusal, prose, an empty answer and a page are named", async () => {
  const failureOf = async (source) => (await all(values(source))).error;
  const refusal = [chunk({ refusal: "I'm sorry, " }), chunk({ refusal: "no." }), END];
  const prose = (reason) => [chunk({ content: "I am sorry, " }), chunk({ content: "but no." }), chunk({}, reason)];
  const refused = await failureOf(refusal);
  assert.equal(refused.reason, "refused");
  assert.equal(refused.message, "the model refused to answer: I'm sorry, no.");
  const answer = await failureOf(prose("stop"));
  assert.equal(answer.name, "InvalidJSON");
  assert.match(answer.message, /^the answer is text, not JSON: 'I am sorry, but no\.'/);
  const cut = await failureOf(prose("length"));
  assert.equal(cut.reason, "length");
  assert.match(cut.message, /I am sorry/);
  assert.match((await failureOf("")).message, /the text is empty/);
  assert.match((await failureOf("<html><body>Busy")).message, /HTML page/);
  assert.match((await failureOf("```json\n{}\n```")).message, /in a fence/);
  assert.match(feedback(await failureOf('{"a": ["x", y')), /not accepted.*\n.*good:\n\{"a": \["x", \n/);
});

test("null among the pieces is no text, and text stops when its field is complete", async () => {
  assert.deepEqual((await all(values([null, '{"a"', undefined, ": 1}"]))).items.at(-1), { a: 1 });
  const read = [];
  let isClosed = false;
  function* source() {
    try {
      for (const piece of ['{"title": "A ', 'day", "rest": [', "not JSON"]) {
        read.push(piece);
        yield piece;
      }
    } finally {
      isClosed = true;
    }
  }
  const { items, error } = await all(text(source(), "title"));
  assert.deepEqual([items.join(""), error, read.length, isClosed], ["A day", null, 2, true]);
  assert.equal((await all(text(source(), "title", { readAll: true }))).error?.name, "InvalidJSON");
});

test("loads reads a text that is complete", () => {
  assert.equal(loads("12"), 12);
  assert.throws(() => loads('{"a": ["x'), Truncated);
  assert.throws(() => loads("I am sorry"), { name: "InvalidJSON" });
});

test("partial with a schema: a complete text is validated, an unfinished one is not", async () => {
  const validate = (value) =>
    value.n > 0 ? { value: { n: value.n, isChecked: true } } : { issues: [{ message: "n is missing" }] };
  const schema = { "~standard": { version: 1, vendor: "test", validate } };
  assert.deepEqual(await partial('{"n": 5}', { schema }), { n: 5, isChecked: true });
  assert.deepEqual(await partial('{"a": "x', { schema }), { a: "x" });
  await assert.rejects(async () => partial("{}", { schema }), InvalidSchema);
  assert.throws(() => partial("{}", { schema: 5 }), TypeError);
});

for (const { type, kind } of cases("media_types.json").cases) {
  test(`${type} is ${kind ?? "neither events nor lines"}`, () => {
    assert.equal(isEventStream(type), kind === "events");
    assert.equal(isLines(type), kind === "lines");
  });
}

for (const [name, { events, expected_calls }] of Object.entries(RECORDED)) {
  if (!known({ name })) continue;
  test(`${name}: the calls of a recorded stream, as objects and as text`, async () => {
    for (const source of [events, response(events), events.map((event) => JSON.stringify(event))]) {
      const { items } = await all(toolCalls(source));
      const seen = [...new Set(items)].map((call) => [call.name, call.status]);
      const wanted = expected_calls.map((call) => [call.name, call.state ?? "complete"]);
      assert.deepEqual(seen, wanted);
      for (const [at, call] of [...new Set(items)].entries()) {
        if (Object.hasOwn(expected_calls[at], "args")) {
          assert.deepEqual(call.args ?? null, expected_calls[at].args);
        }
      }
    }
  });
}

for (const { name, events, calls, errors = {}, statuses = {} } of cases("calls.json").cases) {
  if (recognise(events[0]) === null) continue;
  test(`${name}: calls of an odd server`, async () => {
    const kept = new ToolCalls();
    await all(toolCalls(events, { calls: kept }));
    assert.deepEqual(
      kept.calls.map((call) => [call.name, call.args ?? null]),
      calls,
    );
    for (const [at, call] of kept.calls.entries()) {
      assert.equal(call.error?.code ?? null, errors[at] ?? null);
      assert.equal(call.status, statuses[at] ?? (errors[at] ? "error" : "complete"));
    }
  });
}

for (const { name, parts: wanted, end, events } of cases("parts.json").cases) {
  test(`${name}: the parts of an odd server`, () => {
    for (const write of [(event) => event, JSON.stringify]) {
      const reading = new Parts();
      const shown = new Map();
      for (const { index, kind, delta } of events.flatMap((event) => reading.add(write(event)))) {
        shown.set(index, [kind, (shown.get(index)?.[1] ?? "") + delta]);
      }
      assert.deepEqual([...shown.values()], wanted);
      assert.equal(reading.outcome, end);
    }
  });
}

for (const { name, events } of cases("not_read.json").cases) {
  test(`${name} is refused`, async () => {
    const { error } = await all(content(events));
    assert.ok(error instanceof UnknownSource, String(error));
  });
}

test("a provider that only Python reads is refused, and the error says what to do", async () => {
  const { events } = RECORDED.ollama_api_chat;
  for (const source of [events, events.slice(0, 1), sse(events)]) {
    for (const read of [content, toolCalls, parts]) {
      const { items, error } = await all(read(source));
      assert.ok(error instanceof UnknownSource, `${read.name}: ${error}`);
      assert.match(error.message, /not an event of a known provider|none of \d+ elements is an event/);
      assert.match(error.message, /`provider` takes a function for other events/);
      assert.deepEqual(items, []);
    }
  }
  assert.throws(() => new Reader("ollama"), /provider is auto, openai_chat/);
});

// ---- sources ----

test("whatever holds the events, values are the same", async () => {
  const events = [chunk({ content: '{"title": "Gin' }), chunk({ content: 'ger"}' }), END];
  const wanted = [{ title: "Gin" }, { title: "Ginger" }];
  const body = (items) =>
    new ReadableStream({
      start(controller) {
        for (const item of items) controller.enqueue(item);
        controller.close();
      },
    });
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const sources = [
    events,
    later(events),
    Promise.resolve(later(events)),
    body(events),
    response(events),
    { fullStream: later(events) },
    new Response(lines, { headers: { "content-type": "application/x-ndjson" } }),
  ];
  for (const source of sources) assert.deepEqual((await all(values(source))).items, wanted);
  const bytes = new TextEncoder().encode(sse(events) + "data: [DONE]\n\n");
  const tiny = Array.from(bytes, (byte) => Uint8Array.of(byte));
  for (const source of [sse(events), tiny, body(tiny)]) {
    assert.deepEqual((await all(values(source, { sse: true }))).items, wanted);
  }
  // The last event counts without its blank line.
  const cut = sse(events.slice(0, 2)).trimEnd();
  assert.deepEqual((await all(values(cut, { sse: true }))).items, wanted);
});

test("text, select and fragments read the answer, and another choice", async () => {
  const events = [
    chunk({ content: '{"a": "x' }),
    chunk({ content: '{"a": "other"}' }, null, 1),
    chunk({ content: 'y", "b": [1, 2]}' }),
    END,
  ];
  assert.deepEqual((await all(text(events, "a"))).items, ["x", "y"]);
  assert.deepEqual((await all(text(events, "a", { choice: 1 }))).items, ["other"]);
  assert.deepEqual((await all(select(events, "b"))).items, [1, 2]);
  assert.equal((await all(fragments(events))).items.at(-1).kind, "JsonComplete");
});

test("the arguments of a tool's calls are documents of their own", async () => {
  const events = [
    called(0, "search", '{"q": "a'),
    called(1, "cook", '{"dish": "te'),
    called(0, null, '"}', null),
    called(1, null, 'a"}', null),
    called(2, "search", '{"q": "b"}'),
    END,
  ];
  const valuesOf = async (tool) => (await all(values(events, { tool }))).items;
  assert.deepEqual(await valuesOf("search"), [{ q: "a" }, { q: "b" }]);
  assert.deepEqual((await valuesOf(true)).at(-1), { q: "b" });
  assert.deepEqual((await all(select(events, "q", { tool: "search" }))).items, ["a", "b"]);
  // Of several calls, text reads the first, and then needs no more of the source.
  let closed = false;
  async function* source() {
    try {
      yield* events;
      assert.fail("it was read on");
    } finally {
      closed = true;
    }
  }
  assert.deepEqual((await all(text(source(), "dish", { tool: "cook" }))).items, ["te", "a"]);
  assert.ok(closed);
});

test("with a schema the arguments of each call are validated", async () => {
  const schema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) =>
        value.n > 0 ? { value: { n: String(value.n) } } : { issues: [{ message: "too small", path: ["n"] }] },
    },
  };
  const events = [called(0, "f", '{"n": 1}'), called(1, "f", '{"n": 2}'), called(2, "f", '{"n": 0}'), END];
  const { items, error } = await all(values(events, { tool: "f", schema }));
  assert.deepEqual(items, [{ n: 1 }, { n: "1" }, { n: 2 }, { n: "2" }]);
  assert.ok(error instanceof InvalidSchema);
});

test("what is not recognised is an UnknownSource that names it and the remedy", async () => {
  const unknown = async (stream) => {
    const { error } = await all(stream);
    assert.ok(error instanceof UnknownSource, String(error));
    return error.message;
  };
  assert.match(await unknown(values([{ odd: 1, keys: 2 }])), /Object with odd, keys/);
  assert.match(await unknown(content(later([{ odd: 1 }, null, 5]))), /none of 2 elements/);
  let read = 0;
  async function* endless() {
    for (;;) yield { odd: (read += 1) };
  }
  assert.match(await unknown(parts(endless())), /none of 32 elements/);
  assert.equal(read, 32);
  assert.match(await unknown(toolCalls("data: oops\n\n")), /"oops"/);
  assert.match(await unknown(values(response([{ status: "PARTIAL", data: {} }]))), /open\(url\)/);
  const calls = [called(0, "weather", "{}"), END];
  assert.match(await unknown(values(calls)), /\(weather\) and no text: pass tool: "weather"/);
  assert.match(await unknown(values(calls, { tool: "cook" })), /no call of cook, but of weather/);
  assert.match(await unknown(values([chunk({ content: "1" }), END], { tool: true })), /no tool calls/);
  assert.match(await unknown(values([chunk({ content: "1" }), END], { choice: 2 })), /choice 0 has/);
});

test("what is no source is a TypeError with a hint", () => {
  for (const read of [values, content, parts, toolCalls]) {
    assert.throws(() => read({ choices: [] }), /ask with stream: true/);
    assert.throws(() => read(undefined), TypeError);
  }
  assert.throws(() => parts([], { choice: -1 }), /choice is a whole number/);
  assert.throws(() => toolCalls([], { provider: "opnai" }), /provider is auto, openai_chat, /);
});

test("an error of the provider is thrown after what was good", async () => {
  const events = [chunk({ content: '{"a": 1' }), { error: { message: "Overloaded" } }];
  for (const read of [values, content, parts]) {
    const { items, error } = await all(read(events));
    assert.ok(items.length > 0 && error instanceof SourceFailed);
    assert.match(error.message, /Overloaded/);
  }
  assert.ok((await all(values([chunk({ content: '{"a": 1' }), END]))).error instanceof Truncated);
});

test("a response that failed is thrown with its status and the beginning of its body", async () => {
  for (const read of [values, content, parts, toolCalls]) {
    const { error } = await all(read(new Response("no\n such model", { status: 404 })));
    assert.ok(error instanceof SourceFailed);
    assert.deepEqual([error.status, /no such model/.test(error.message)], [404, true]);
    assert.deepEqual(error.toJSON().status, 404);
  }
});

test("leaving the loop closes the source", async () => {
  for (const read of [values, content, parts, toolCalls]) {
    let closed = false;
    async function* source() {
      try {
        yield called(0, "f", '{"a": 1}');
        for (;;) yield chunk({ content: "[" });
      } finally {
        closed = true;
      }
    }
    for await (const one of read(source())) {
      void one;
      break;
    }
    assert.ok(closed, read.name);
  }
});

test("a provider of one's own is a function from an event to statements", async () => {
  const provider = (event) => ("say" in event ? [{ kind: "text", text: event.say }] : []);
  const events = [{ say: "[1" }, { think: "x" }, { say: "]" }];
  assert.deepEqual((await all(content(events, { provider }))).items, ["[1", "]"]);
  assert.deepEqual((await all(values(events, { provider }))).items, [[], [1]]);
});

// ---- the shapes of clients for JavaScript ----

test("field names in camelCase, and events in an envelope", async () => {
  const call = { id: "a", index: 0, function: { name: "f", arguments: { a: 1 } } };
  const events = [
    { data: { id: "m", choices: [{ index: 0, delta: { role: "assistant", content: "Hm" }, finishReason: null }] } },
    { data: { id: "m", choices: [{ index: 0, delta: { toolCalls: [call] }, finishReason: "tool_calls" }] } },
  ];
  const [last] = (await all(toolCalls(events))).items.slice(-1);
  assert.deepEqual([last.name, last.args, last.status], ["f", { a: 1 }, "complete"]);
});

test("a call whose input the AI SDK refuses is in error", async () => {
  const refused = { toolCallId: "a", toolName: "nope", input: {}, invalid: true };
  const events = [{ type: "start" }, { type: "tool-call", ...refused, error: new Error("no such tool") }];
  const [call] = (await all(toolCalls(events))).items;
  assert.deepEqual(call.error, { code: "PROVIDER_ERROR", message: "no such tool" });
});

test("only own properties of events are read as their content", () => {
  class Event {
    candidates = [{ content: { parts: [{ text: "a" }] } }];

    get data() {
      throw new Error("it makes something up");
    }
  }
  assert.deepEqual(
    new Reader().feed(new Event()).map(({ text: words }) => words),
    ["a"],
  );
});

// ---- parts ----

test("parts tell an answer in order, and each is safe to keep", async () => {
  const events = [
    chunk({ reasoning_content: "Let me" }),
    chunk({ reasoning_content: " look." }),
    called(0, "weather", '{"city":'),
    called(0, null, '"Rome"}', null),
    chunk({ content: "One moment." }),
    END,
  ];
  const { items } = await all(parts(events));
  assert.deepEqual(
    items.map(({ kind, index, delta, complete }) => [kind, index, delta, complete]),
    [
      ["reasoning", 0, "Let me", false],
      ["reasoning", 0, " look.", false],
      ["reasoning", 0, "", true],
      ["call", 1, '{"city":', false],
      ["call", 1, '"Rome"}', true],
      ["text", 2, "One moment.", false],
      ["call", 1, "", false],
      ["text", 2, "", true],
    ],
  );
  assert.deepEqual([items[3].text, items[3].value, items[6].status], ['{"city":', {}, "complete"]);
  assert.deepEqual(items.map(({ text: words }) => words).slice(0, 2), ["Let me", "Let me look."]);
  assert.equal(items.at(-1).value, "One moment.");
  assert.deepEqual(JSON.parse(JSON.stringify(items[4])).call, {
    id: "call_0",
    name: "weather",
    status: "streaming",
    args: { city: "Rome" },
  });
});

test("a part is complete at most once, a call exactly once if it is complete", () => {
  for (const { events } of Object.values(RECORDED)) {
    const reading = new Parts();
    const ends = [...events.flatMap((event) => reading.add(event)), ...reading.flush()].filter(({ complete }) => complete);
    assert.equal(new Set(ends.map(({ index }) => index)).size, ends.length);
    const called = ends.filter(({ kind }) => kind === "call").map(({ call }) => call);
    for (const call of reading.calls) if (call.status === "complete") assert.ok(called.includes(call));
  }
});

test("dangerous keys in events and arguments pollute nothing", async () => {
  const events = [
    JSON.parse('{"__proto__": {"choices": []}, "choices": [{"__proto__": {"delta": 1}, "delta": {}}]}'),
    called(0, "__proto__", '{"__proto__": {"polluted": 1}}', "constructor"),
    END,
  ];
  const [call] = (await all(toolCalls(events))).items;
  assert.deepEqual(Object.keys(call.args), ["__proto__"]);
  assert.equal({}.polluted, undefined);
  for (const type of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    for (const name of ["type", "kind", "event_type", "finish_reason"]) {
      assert.equal(recognise({ [name]: type }), null);
      assert.deepEqual(new Reader("openai_responses").feed({ [name]: type }), []);
    }
  }
});

test("nothing but documented errors is thrown on any events", async () => {
  const { below, pick } = chance(7);
  const streams = Object.values(RECORDED).map(({ events }) => events);
  const junk = [null, 0, -1, 1.5, "", "x", [], {}, [[]], { type: "error" }, true, "null", { id: {} }];
  const spoiled = (value) => {
    if (below(8) === 0) return pick(junk);
    if (Array.isArray(value)) return value.map(spoiled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, spoiled(item)]));
  };
  for (let round = 0; round < 300 * HARDER; round += 1) {
    const events = pick(streams).map(spoiled);
    for (const read of [parts, toolCalls, content, (one) => values(one, { tool: true })]) {
      const { error } = await all(read(events));
      assert.ok(error === null || error.code !== undefined, String(error?.stack));
    }
  }
});

test("a field that never came says so, of a provider's stream too", async () => {
  const { error } = await all(text([chunk({ content: "{}" }), END], "a"));
  assert.ok(error instanceof FieldNotFound);
});

test("empty arguments are complete if only token counts follow", async () => {
  const counts = { ...chunk({ content: "" }), usage: { total_tokens: 3 } };
  const last = async (events) => (await all(parts(later(events)))).items.findLast(({ call }) => call).call.status;
  assert.equal(await last([called(0, "now", "{}"), counts]), "complete");
  assert.equal(await last([{ ...called(0, "now", "{}"), usage: { total_tokens: 1 } }]), "truncated");
});

test("toolCalls throws the error of the provider at the end", async () => {
  const created = { type: "response.created", response: { id: "r" } };
  const { items, error } = await all(toolCalls(later([created, { type: "error", message: "Overloaded" }])));
  assert.equal(items.length, 0);
  assert(error instanceof SourceFailed && error.message.includes("Overloaded"));
});

test("an event stream of parts whose source failed ends with an error", async () => {
  const part = { kind: "text", index: 0, delta: "Hi", complete: false };
  const failure = { status: "ERROR", error: { code: "SOURCE_FAILED", message: "the source failed" } };
  const stream = [part, failure].map((it) => `data: ${JSON.stringify(it)}\n\n`).join("");
  const { error } = await all(parts([stream], { provider: "parts" }));
  assert.match(error.message, /the source failed/);
});

/** Providers' streams: content, parts, toolCalls. The cases are the ones that Python reads, too. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { Parts, SourceFailed, ToolCalls, Truncated, UnknownSource, content, partLists, parts } from "../src/index.js";
import { select, toolCalls, values } from "../src/index.js";
import { isEventStream } from "../src/eventstream.js";
import { Reader } from "../src/providers/reader.js";
import { HARDER, ROOT, cases, chance, frozen } from "./support.js";

/** Return the provider that an event is recognised as; null if it is of none. @param {unknown} event */
function providerOf(event) {
  const reader = new Reader();
  reader.feed(event);
  return reader.provider;
}

const FILES = readdirSync(join(ROOT, "cases", "providers"));
const RECORDED = Object.fromEntries(FILES.map((name) => [name.replace(".json", ""), cases(join("providers", name))]));
// The cases of other providers are for Python alone.
const READ = /^(openai_(chat|compatible|responses)|text_completion|anthropic|litellm|gemini(?!_live)|vercel|ag_ui)/;
const known = ({ name }) => READ.test(name);

async function all(stream) {
  const items = [];
  try {
    for await (const item of stream) items.push(item);
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}

async function* later(items) {
  for (const item of items) yield item;
}

const sse = (events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const response = (events) => new Response(sse(events), { headers: { "content-type": "text/event-stream" } });
const chunk = (delta, finish_reason = null, index = 0) => ({ id: "m", choices: [{ index, delta, finish_reason }] });
const called = (index, name, text, id = `call_${index}`) =>
  chunk({ tool_calls: [{ index, ...(id && { id }), function: { ...(name && { name }), arguments: text } }] });
const END = chunk({}, "stop");

/** What content() throws at the end of an answer that ended so. */
function checkEnd(error, end) {
  if (end === "complete" || end === "calls") return assert.equal(error, null);
  if (end === "error") return assert.ok(error instanceof SourceFailed, String(error));
  assert.ok(error instanceof Truncated, String(error));
  return assert.equal(error.reason, end ?? "lost");
}

for (const { name, events, text, calls, end } of cases("answers.json").cases.filter(known)) {
  test(`${name}: text, calls and end`, async () => {
    for (const source of [frozen(events), later(events), response(events)]) {
      const { items, error } = await all(content(source));
      if (end !== "refused") assert.equal(items.join(""), text);
      checkEnd(error, end);
    }
    const kept = new ToolCalls();
    await all(toolCalls(events, { calls: kept }));
    assert.deepEqual(
      kept.calls.map(({ name: tool, args, status }) => [tool, args, status]),
      calls,
    );
  });
}

for (const { name, before, end, words } of cases("finish_reasons.json").cases.filter(known)) {
  test(`${name}: how an answer ended, and no function takes a cut one for a complete one`, async () => {
    for (const [word, reason] of Object.entries(words)) {
      const events = [...before, ...JSON.parse(JSON.stringify(end).replaceAll("$WORD", word))];
      const reading = new Parts();
      for (const event of events) reading.feed(event);
      assert.equal(reading.outcome, reason, word);
      assert.equal(reading.error !== null, reason === "error", word);
      if (before.length === 0 || name.includes("refusal")) continue;
      checkEnd((await all(content(events))).error, reason);
      const { error } = await all(values(content(events)));
      if (reason === "error") continue;
      const isComplete = reason === "complete" || reason === "calls";
      assert.ok(error instanceof Truncated, word);
      assert.equal(error.reason, isComplete ? "ended" : reason);
      assert.deepEqual(error.value, { title: "Ti" });
      const last = (await all(parts(events))).items.at(-1);
      assert.deepEqual([last.complete, last.error === null], [isComplete, isComplete]);
    }
  });
}

test("values of an answer: a complete document is complete however the answer ended, but for a refusal", async () => {
  const read = (reason) => all(values(content([chunk({ content: "[1]" }, reason)])));
  assert.equal((await read("length")).error, null);
  const refused = [chunk({ refusal: "I will not." }), END];
  const { items, error } = await all(values(content(refused)));
  assert.deepEqual([items, error.reason], [[], "refused"]);
  assert.match(error.message, /refused to answer: I will not/);
});

test("the media type of server-sent events", () => {
  for (const { type, kind } of cases("media_types.json").cases) assert.equal(isEventStream(type), kind === "events", type);
});

for (const [name, { events, expected_calls }] of Object.entries(RECORDED)) {
  if (!known({ name })) continue;
  test(`${name}: the calls of a recorded stream, as objects and as text`, async () => {
    for (const source of [events, response(events), events.map((event) => JSON.stringify(event))]) {
      const latest = new Map((await all(toolCalls(source))).items.map((call) => [call.id, call]));
      const wanted = expected_calls.map((call) => [call.name, call.state ?? "complete"]);
      assert.deepEqual(
        [...latest.values()].map((call) => [call.name, call.status]),
        wanted,
      );
      for (const [at, call] of [...latest.values()].entries()) {
        if (Object.hasOwn(expected_calls[at], "args")) assert.deepEqual(call.args ?? null, expected_calls[at].args);
      }
    }
  });

  test(`${name}: a part is complete at most once, a call exactly once if it is complete`, () => {
    const reading = new Parts();
    const items = [...events.flatMap((event) => reading.feed(event)), ...reading.flush()];
    const ends = items.filter(({ complete }) => complete);
    assert.equal(new Set(ends.map(({ index }) => index)).size, ends.length);
    const complete = new Set(items.filter(({ call }) => call?.status === "complete").map(({ call }) => call.id));
    const ended = ends.filter(({ kind }) => kind === "call").map(({ call }) => call.id);
    assert.deepEqual([...complete].sort(), [...new Set(ended)].filter((id) => complete.has(id)).sort());
  });
}

for (const { name, events, calls, errors = {}, statuses = {} } of cases("calls.json").cases) {
  if (providerOf(events[0]) === null) continue;
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
      const found = events.flatMap((event) => reading.feed(write(event)));
      for (const { index, kind, delta } of found) shown.set(index, [kind, (shown.get(index)?.[1] ?? "") + delta]);
      const isCut = !["complete", "calls"].includes(end);
      assert.equal(found.filter((part) => part.complete).length, wanted.length - (isCut ? 1 : 0));
      assert.deepEqual([...shown.values()], wanted);
      assert.equal(reading.outcome, end);
    }
  });
}

for (const { name, events } of [...cases("not_read.json").cases, { name: "Ollama", ...RECORDED.ollama_api_chat }]) {
  test(`${name} is refused, and the error says what to do`, async () => {
    for (const read of [content, toolCalls, parts]) {
      const { error } = await all(read(events));
      assert.ok(error instanceof UnknownSource, String(error));
      assert.match(error.message, /`provider` takes a function for other events/);
    }
  });
}

// ---- sources ----

test("whatever holds the events, the text is the same", async () => {
  const events = [chunk({ content: '{"title": "Gin' }), chunk({ content: 'ger"}' }), END];
  const body = (items) => new Response(new Blob(items)).body;
  const bytes = new TextEncoder().encode(sse(events) + "data: [DONE]\n\n");
  const tiny = Array.from(bytes, (byte) => Uint8Array.of(byte));
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const sources = [events, later(events), Promise.resolve(later(events)), response(events), { fullStream: later(events) }];
  sources.push(
    new Response(lines, { headers: { "content-type": "application/x-ndjson" } }),
    lines,
    sse(events),
    tiny,
    body(tiny),
  );
  sources.push(events.map((event) => ({ type: "message", data: JSON.stringify(event), id: "", hasId: false })));
  // An unusual first line, which only the media type explains.
  sources.push(new Response(`x: 1\n${sse(events)}`, { headers: { "content-type": "text/event-stream" } }));
  sources.push(sse(events).trimEnd()); // the last event counts without its blank line
  for (const source of sources) {
    const { items, error } = await all(content(source));
    assert.deepEqual([items.join(""), error], ['{"title": "Ginger"}', null]);
  }
  assert.deepEqual((await all(select(content(events), "title"))).items, ["Ginger"]);
});

test("choice selects one of several answers", async () => {
  const events = [chunk({ content: "a" }), chunk({ content: "b" }, null, 1), END, chunk({}, "length", 1)];
  assert.deepEqual((await all(content(events))).items, ["a"]);
  const { items, error } = await all(content(events, { choice: 1 }));
  assert.deepEqual([items, error.reason], [["b"], "length"]);
  assert.throws(() => parts([], { choice: -1 }), /choice must be a whole number/);
});

test("what is not recognised is an UnknownSource that names it", async () => {
  const unknown = async (stream) => {
    const { error } = await all(stream);
    assert.ok(error instanceof UnknownSource, String(error));
    return error.message;
  };
  assert.match(await unknown(content([{ odd: 1, keys: 2 }])), /an object with odd, keys/);
  assert.match(await unknown(content(later([{ odd: 1 }, null, 5]))), /the first of 2 elements is an object with odd/);
  let read = 0;
  async function* endless() {
    for (;;) yield { odd: (read += 1) };
  }
  assert.match(await unknown(parts(endless())), /the first of 32 elements is/);
  assert.equal(read, 32);
  assert.match(await unknown(toolCalls("data: oops\n\n")), /"oops"/);
  for (const reader of [content, parts, toolCalls]) {
    assert.throws(() => reader({ choices: [] }), /request it with stream: true/);
    assert.throws(() => reader(undefined), TypeError);
  }
  assert.throws(() => toolCalls([], { provider: "opnai" }), /provider must be auto, openai_chat, /);
});

test("an error of the provider, of the server and of the response is thrown after what was good", async () => {
  const good = chunk({ content: '{"a": 1' });
  const server = { status: "ERROR", error: { code: "PRODUCER_LOST", message: "Overloaded" } };
  for (const failure of [{ error: { message: "Overloaded" } }, server]) {
    for (const read of [content, parts]) {
      const { items, error } = await all(read([good, failure]));
      assert.ok(items.length > 0 && error instanceof SourceFailed);
      assert.match(error.message, /Overloaded/);
    }
    assert.ok((await all(toolCalls([called(0, "f", "{"), failure]))).error instanceof SourceFailed);
  }
  const { error } = await all(content(new Response("no\n such model", { status: 404 })));
  assert.deepEqual([error.status, /no such model/.test(error.message)], [404, true]);
});

test("your own provider is a function from an event to statements", async () => {
  const provider = (event) => ("say" in event ? [{ kind: "text", text: event.say }] : []);
  const events = [{ say: "[1" }, { think: "x" }, { say: "]" }];
  assert.deepEqual((await all(content(events, { provider }))).items, ["[1", "]"]);
});

// ---- the shapes of clients for JavaScript ----

test("field names in camelCase, and events in an envelope", async () => {
  const call = { id: "a", index: 0, function: { name: "f", arguments: { a: 1 } } };
  const events = [
    { data: { id: "m", choices: [{ index: 0, delta: { role: "assistant", content: "Hm" }, finishReason: null }] } },
    { data: { id: "m", choices: [{ index: 0, delta: { toolCalls: [call] }, finishReason: "tool_calls" }] } },
  ];
  const last = (await all(toolCalls(events))).items.at(-1);
  assert.deepEqual([last.name, last.args, last.status], ["f", { a: 1 }, "complete"]);
});

test("a call that the provider runs itself is `hosted`", async () => {
  const block = (type) => ({ type: "content_block_start", index: 0, content_block: { type, id: "a", name: "f", input: {} } });
  const item = (type) => ({
    type: "response.output_item.added",
    output_index: 0,
    item: { type, id: "a", name: "f", arguments: "" },
  });
  const input = (providerExecuted) => ({ type: "tool-input-start", toolCallId: "a", toolName: "f", providerExecuted });
  for (const [event, hosted] of [
    [block("server_tool_use"), true],
    [block("tool_use"), false],
    [item("mcp_call"), true],
    [item("function_call"), false],
    [input(true), true],
    [input(undefined), false],
  ]) {
    const { items } = await all(toolCalls([event]));
    assert.equal(items.at(-1).hosted, hosted, JSON.stringify(event));
  }
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
  const [{ text }] = new Reader().feed(new Event());
  assert.equal(text, "a");
});

// ---- parts ----

const ANSWER = [
  chunk({ reasoning_content: "Let me" }),
  chunk({ reasoning_content: " look." }),
  called(0, "weather", '{"city":'),
  called(0, null, '"Rome"}', null),
  chunk({ content: "One moment." }),
  END,
];

test("parts come in order, and each stays as it is", async () => {
  const { items } = await all(parts(ANSWER));
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
  assert.deepEqual([items[3].text, items[3].call.args, items[3].call.status], ['{"city":', {}, "streaming"]);
  assert.deepEqual([items[6].call.args, items[6].call.status], [{ city: "Rome" }, "complete"]);
  assert.deepEqual([items[0].text, items[1].text], ["Let me", "Let me look."]);
});

test("parts survive JSON: what is sent as parts is read as the same parts", async () => {
  const sent = JSON.parse(JSON.stringify((await all(parts(ANSWER))).items));
  assert.deepEqual(sent[4].call, { id: "call_0", name: "weather", status: "streaming", args: { city: "Rome" } });
  const shown = ({ kind, index, text, call }) => [kind, index, text, call?.args, call?.status];
  const lists = async (source) => (await all(partLists(source))).items.at(-1);
  assert.deepEqual((await lists(sent)).map(shown), (await lists(ANSWER)).map(shown));
});

test("news of a call that has ended begin no new turn, another part at its index does", async () => {
  const kinds = async (...sent) => (await all(partLists(sent))).items.at(-1).map(({ kind, text }) => [kind, text]);
  const call = { kind: "call", index: 0, delta: "{}", call: { id: "a", name: "f", status: "complete" } };
  const said = { kind: "text", index: 0, delta: "Hi", complete: true };
  assert.deepEqual(await kinds(call, { ...call, delta: "" }), [["call", "{}"]]);
  assert.deepEqual(await kinds(call, { ...call, call: { ...call.call, id: "b" } }), [
    ["call", "{}"],
    ["call", "{}"],
  ]);
  assert.deepEqual(await kinds(said, said), [
    ["text", "Hi"],
    ["text", "Hi"],
  ]);
});

test("partLists: all parts so far; what has not changed is the same object, and a call has its result", async () => {
  const result = { kind: "result", index: 2, call: { id: "a", name: "f", status: "complete" }, result: 5, error: null };
  const call = {
    kind: "call",
    index: 1,
    delta: "{}",
    complete: true,
    call: { id: "a", name: "f", status: "complete", args: {} },
  };
  const { items } = await all(partLists([{ kind: "text", index: 0, delta: "Hi", complete: true }, call, result]));
  const [last, before] = [items.at(-1), items.find((list) => list.length === 1)];
  assert.deepEqual(
    last.map(({ kind, complete }) => [kind, complete]),
    [
      ["text", true],
      ["call", true],
      ["result", true],
    ],
  );
  assert.equal(last[0], items.findLast((list) => list.length === 1)[0]);
  assert.notEqual(before, last);
  assert.deepEqual([last[1].call.answered, last[1].call.result, last[2].result], [true, 5, 5]);
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
      assert.equal(providerOf({ [name]: type }), null);
      assert.deepEqual(new Reader("openai_responses").feed({ [name]: type }), []);
    }
  }
});

test("P9: nothing but documented errors is thrown on any events", async () => {
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
    for (const read of [parts, toolCalls, content]) {
      const { error } = await all(read(events));
      assert.ok(error === null || error.code !== undefined, String(error?.stack));
    }
  }
});

test("empty arguments are complete if only token counts follow", async () => {
  const counts = { ...chunk({ content: "" }), usage: { total_tokens: 3 } };
  const last = async (events) => (await all(parts(later(events)))).items.findLast(({ call }) => call).call.status;
  assert.equal(await last([called(0, "now", "{}"), counts]), "complete");
  assert.equal(await last([{ ...called(0, "now", "{}"), usage: { total_tokens: 1 } }]), "truncated");
});

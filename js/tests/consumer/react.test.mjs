/** The hooks with a real React, in a DOM: what is rendered, how often, and what is asked of sources. */

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, afterEach, test } from "node:test";

import { Window } from "happy-dom";

const window = new Window({ url: "http://127.0.0.1/" });
Object.assign(globalThis, { window, document: window.document });
globalThis.navigator ??= window.navigator;

/** Frames that come when the test says so. */
const waiting = new Map();
let frames = 0;
globalThis.requestAnimationFrame = (draw) => {
  frames += 1;
  waiting.set(frames, draw);
  return frames;
};
globalThis.cancelAnimationFrame = (number) => waiting.delete(number);

const { Component, StrictMode, createElement: h, useCallback, useState } = await import("react");
const { createRoot, hydrateRoot } = await import("react-dom/client");
const { renderToString } = await import("react-dom/server");
const { flushSync } = await import("react-dom");
const { useParts, useRun, useRunParts, useStream } = await import("jsonrill/react");
const { Parser, InvalidJSON, ServerError, SourceFailed, UnknownSource } = await import("jsonrill");

const turn = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Let the source be read, then draw a frame, and let React render it. */
async function frame() {
  await turn(5);
  const drawn = [...waiting.values()];
  waiting.clear();
  for (const draw of drawn) draw(0);
  await turn(5);
}

async function until(condition, what) {
  for (let times = 0; times < 200; times += 1) {
    if (condition()) return;
    await frame();
  }
  assert.fail(`it never came to this: ${what ?? condition}`);
}

const roots = new Set();
/** A mounted component, and every state that it has rendered. */
function mounted(use, { strict = false, props = {} } = {}) {
  const seen = [];
  const View = (props) => {
    const state = use(props);
    seen.push(state);
    return h("p", null, JSON.stringify(state.value ?? state.text ?? null));
  };
  const place = document.createElement("div");
  const errors = [];
  const root = createRoot(place, { onUncaughtError: (error) => errors.push(error) });
  roots.add(root);
  const render = (props = {}) => flushSync(() => root.render(strict ? h(StrictMode, null, h(View, props)) : h(View, props)));
  const unmount = () => {
    roots.delete(root);
    flushSync(() => root.unmount());
  };
  render(props);
  return {
    seen,
    errors,
    render,
    unmount,
    text: () => place.textContent,
    get last() {
      return seen.at(-1);
    },
  };
}
afterEach(() => {
  for (const root of roots) root.unmount();
  roots.clear();
});
after(() => window.close());

/** A source that is fed by hand and counts what is done to it. */
function fed({ response = true, type = "application/json" } = {}) {
  const done = { asked: 0, cancelled: 0 };
  let controller;
  const stream = new ReadableStream({
    start: (its) => (controller = its),
    cancel: () => void (done.cancelled += 1),
  });
  const encoder = new TextEncoder();
  return {
    done,
    source: response ? new Response(stream, { headers: { "content-type": type } }) : stream,
    feed: (text) => controller.enqueue(encoder.encode(text)),
    close: () => controller.close(),
    fail: (error) => controller.error(error),
  };
}

test("the value while it arrives, and the same state as long as nothing changes", async () => {
  const { source, feed, close } = fed();
  const view = mounted(() => useStream(source));
  assert.equal(view.last.status, "streaming");
  assert.equal(view.last.value, undefined);
  feed('{"title": "Ginger t');
  await frame();
  assert.deepEqual(view.last.value, { title: "Ginger t" });
  assert.equal(view.last.complete, false);
  const before = view.last;
  view.render();
  assert.equal(view.last, before);
  feed('ea", "steps": [1]}');
  close();
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, { title: "Ginger tea", steps: [1] });
  assert.deepEqual([view.last.status, view.last.error], ["complete", undefined]);
  assert.equal(view.text(), '{"title":"Ginger tea","steps":[1]}');
});

test("one render for each frame, however many pieces", async () => {
  const { source, feed } = fed();
  const view = mounted(() => useStream(source));
  feed("[");
  for (let number = 0; number < 1000; number += 1) {
    feed(`${number},`);
    if (number % 100 === 0) await turn();
  }
  await turn(20);
  assert.equal(view.seen.length, 1);
  await frame();
  assert.equal(view.seen.length, 2);
  assert.equal(view.last.value.length, 1000);
});

test("subtrees that did not change are the same objects", async () => {
  const { source, feed } = fed();
  const view = mounted(() => useStream(source));
  feed('[{"a": 1}, {"b": "x');
  await frame();
  const [first, second] = view.last.value;
  feed("y");
  await frame();
  assert.equal(view.last.value[0], first);
  assert.notEqual(view.last.value[1], second);
  assert.equal(second.b, "x");
});

test("no source is idle, and then there is one", async () => {
  const { source, feed } = fed();
  let start;
  const view = mounted(() => {
    const [current, give] = useState(null);
    start = () => give(Promise.resolve(source));
    return useStream(current, { initial: { title: "…" } });
  });
  assert.deepEqual([view.last.status, view.last.value], ["idle", { title: "…" }]);
  view.last.restart();
  view.last.stop();
  start();
  await until(() => view.last.status === "streaming");
  assert.deepEqual(view.last.value, { title: "…" });
  feed('{"title": "T');
  await frame();
  assert.deepEqual(view.last.value, { title: "T" });
});

test("StrictMode mounts twice: the source is made, read and closed once", async () => {
  const one = fed();
  let calls = 0;
  let signalled;
  const view = mounted(
    () =>
      useStream(
        useCallback((signal) => {
          calls += 1;
          signalled = signal;
          return Promise.resolve(one.source);
        }, []),
      ),
    { strict: true },
  );
  one.feed("[1, ");
  await frame();
  assert.deepEqual(view.last.value, [1]);
  assert.equal(signalled.aborted, false);
  one.feed("2]");
  one.close();
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, [1, 2]);
  assert.equal(calls, 1);
  view.unmount();
  await turn(10);
  assert.equal(one.done.cancelled, 0);
});

test("StrictMode and a source that can be read once", async () => {
  const { source, feed, close } = fed();
  const view = mounted(() => useStream(source), { strict: true });
  feed("[1");
  close();
  await until(() => view.last.status === "error");
  assert.equal(view.last.error.code, "TRUNCATED");
});

for (const [name, make] of Object.entries({
  "a response": (one) => one.source,
  "a promise of a response": (one) => Promise.resolve(one.source),
  "a stream": (one) => one.source.body,
  "a function": (one) => () => one.source,
})) {
  test(`unmounting closes ${name} at once, though it is silent`, async () => {
    const one = fed();
    const source = make(one);
    const view = mounted(() => useStream(source));
    one.feed("[1, ");
    await frame();
    view.unmount();
    await turn(10);
    assert.equal(one.done.cancelled, 1);
  });
}

test("unmounting before the response closes it when it comes, and aborts the signal", async () => {
  const one = fed();
  let answer;
  const late = new Promise((resolve) => (answer = resolve));
  const view = mounted(() => useStream(late));
  await turn(5);
  view.unmount();
  await turn(5);
  answer(one.source);
  await turn(10);
  assert.equal(one.done.cancelled, 1);
  let signal;
  const begin = (its) => {
    signal = its;
    return new Promise(() => {});
  };
  const other = mounted(() => useStream(begin));
  await turn(5);
  assert.equal(signal.aborted, false);
  other.unmount();
  await turn(5);
  assert.equal(signal.aborted, true);
});

test("a stream of an SDK, of Node, and an async generator are stopped as they can be", async () => {
  const controller = new AbortController();
  const silent = () => new Promise(() => {});
  const sdk = { controller, [Symbol.asyncIterator]: () => ({ next: silent }) };
  const node = new Readable({ read() {} });
  let left = false;
  const generator = (async function* () {
    try {
      yield "[1,";
      await turn(30);
      yield "2,";
    } finally {
      left = true;
    }
  })();
  const views = [sdk, node, generator].map((source) => mounted(() => useStream(source)));
  await turn(10);
  for (const view of views) view.unmount();
  await until(() => controller.signal.aborted && node.destroyed && left);
});

test("another source: the first one is closed and nothing of it is shown any more", async () => {
  const [one, two] = [fed(), fed()];
  const view = mounted(({ source }) => useStream(source), { props: { source: one.source } });
  one.feed('["one", ');
  await frame();
  assert.deepEqual(view.last.value, ["one"]);
  view.render({ source: two.source });
  assert.equal(view.last.value, undefined);
  await turn(10);
  assert.equal(one.done.cancelled, 1);
  two.feed('["two", ');
  await frame();
  assert.deepEqual(view.last.value, ["two"]);
  view.render({ source: null });
  assert.equal(view.last.status, "idle");
  await turn(10);
  assert.equal(two.done.cancelled, 1);
});

test("text: the same text is the same source, another is another", async () => {
  const view = mounted(({ source }) => useStream(source), { props: { source: "[1]" } });
  await until(() => view.last.complete);
  const { length } = view.seen;
  view.render({ source: "[1]" });
  assert.equal(view.seen.length, length + 1);
  assert.deepEqual(view.last.value, [1]);
  view.render({ source: "[2]" });
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, [2]);
});

test("two components read one source once, and it is closed with the second", async () => {
  const one = fed();
  const views = [mounted(() => useStream(one.source)), mounted(() => useStream(one.source))];
  one.feed("[1, ");
  await frame();
  for (const view of views) assert.deepEqual(view.last.value, [1]);
  views[0].unmount();
  await turn(10);
  assert.equal(one.done.cancelled, 0);
  one.feed("2, ");
  await frame();
  assert.deepEqual(views[1].last.value, [1, 2]);
  views[1].unmount();
  await turn(10);
  assert.equal(one.done.cancelled, 1);
  // The source is gone; what it said is not.
  const late = mounted(() => useStream(one.source));
  assert.deepEqual([late.last.status, late.last.value], ["stopped", [1, 2]]);
});

test("a component that is replaced by another one in the same commit does not stop the source", async () => {
  const one = fed();
  const Shows = ({ seen }) => {
    seen.push(useStream(one.source));
    return null;
  };
  const seen = [];
  const root = createRoot(document.createElement("div"));
  roots.add(root);
  flushSync(() => root.render(h(Shows, { key: "a", seen })));
  one.feed("[1, ");
  await frame();
  flushSync(() => root.render(h(Shows, { key: "b", seen })));
  await turn(10);
  one.feed("2]");
  await frame();
  assert.deepEqual(seen.at(-1).value, [1, 2]);
  assert.equal(one.done.cancelled, 0);
});

test("a source is refused for other options, and read as something else", async () => {
  const one = fed();
  const first = mounted(() => useStream(one.source, { limits: { depth: 3 } }));
  assert.equal(first.errors.length, 0);
  for (const use of [() => useStream(one.source, { limits: { depth: 4 } }), () => useParts(one.source)]) {
    const view = mounted(use);
    assert.match(view.errors[0].message, /a source is read once/);
  }
  // Options that are made anew with each render are no others.
  const schema = () => ({ "~standard": { version: 1, vendor: "x", validate: (value) => ({ value }) } });
  const array = ["[1", "]"];
  const other = mounted(() => useStream(array, { limits: { depth: 3 }, schema: schema() }));
  await until(() => other.last.complete);
  assert.deepEqual(other.last.value, [1]);
});

test("what is no source is an error at once", () => {
  for (const wrong of [12, true, {}, new Date()]) {
    const view = mounted(() => useStream(wrong));
    assert.match(String(view.errors[0]), /TypeError: a source is a string/);
  }
  const view = mounted(() => useRun(12));
  assert.match(String(view.errors[0]), /TypeError: the address of a run is/);
});

test("a source that is made in every render is noticed", async () => {
  let renders = 0;
  const view = mounted(() => {
    renders += 1;
    return useStream(Promise.resolve(`[${renders}]`));
  });
  await until(() => view.errors.length === 1);
  assert.match(view.errors[0].message, /useStream\(\) got a new source in each of 5 renders/);
  assert.ok(renders < 30, String(renders));
});

test("many sources, one after the other, are no loop", async () => {
  const view = mounted(({ source }) => useStream(source), { props: { source: ["[0]"] } });
  for (let number = 1; number < 20; number += 1) {
    await until(() => view.last.complete);
    view.render({ source: [`[${number}]`] });
  }
  await until(() => view.last.complete);
  assert.deepEqual([view.last.value, view.errors], [[19], []]);
});

test("errors keep what was good before them", async () => {
  const bad = ["[1, 2,", "\n x]"];
  const view = mounted(() => useStream(bad));
  await until(() => view.last.status === "error");
  assert.ok(view.last.error instanceof InvalidJSON);
  assert.deepEqual([view.last.value, view.last.complete], [[1, 2], false]);
  const refused = new Response("no", { status: 500 });
  const other = mounted(() => useStream(refused));
  await until(() => other.last.status === "error");
  assert.ok(other.last.error instanceof SourceFailed);
  assert.equal(other.last.error.status, 500);
  const rejected = Promise.reject("offline");
  const third = mounted(() => useStream(rejected));
  await until(() => third.last.status === "error");
  assert.equal(third.last.error.message, "offline");
  const thrown = () => {
    throw new Error("at once");
  };
  const fourth = mounted(() => useStream(thrown));
  await until(() => fourth.last.status === "error");
  assert.equal(fourth.last.error.message, "at once");
});

test("a schema makes the last value", async () => {
  const schema = {
    "~standard": { version: 1, vendor: "x", validate: (value) => ({ value: { ...value, ok: true } }) },
  };
  const source = ['{"a": ', "1}"];
  const view = mounted(() => useStream(source, { schema }));
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, { a: 1, ok: true });
});

test("stop and restart", async () => {
  const sources = [];
  const begin = (signal) => {
    sources.push({ ...fed(), signal });
    return sources.at(-1).source;
  };
  const view = mounted(() => useStream(begin));
  sources[0].feed("[1, ");
  await frame();
  view.last.stop();
  await frame();
  assert.deepEqual([view.last.status, view.last.value], ["stopped", [1]]);
  assert.deepEqual([sources[0].done.cancelled, sources[0].signal.aborted], [1, true]);
  view.last.restart();
  await frame();
  assert.deepEqual([view.last.status, view.last.value], ["streaming", undefined]);
  sources[1].feed("[2]");
  sources[1].close();
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, [2]);
  view.last.stop();
  await frame();
  assert.equal(view.last.status, "complete");
  assert.equal(sources.length, 2);
  const once = fed();
  const other = mounted(() => useStream(once.source));
  assert.throws(() => other.last.restart(), /give a function/);
});

test("a signal stops a source, a run and a run's parts, also before they begin", async () => {
  let one = fed();
  for (const use of [
    (options) => useStream(one.source, options),
    (options) => useRun("http://127.0.0.1/runs/1", { ...run(fragmentsOf(), { held: 1 }).options, ...options }),
    (options) => useRunParts("http://127.0.0.1/runs/1", { ...run(CHAT, { held: 2 }).options, ...options }),
  ]) {
    one = fed();
    const controller = new AbortController();
    const view = mounted(() => use({ signal: controller.signal }));
    await turn(20);
    assert.equal(view.last.status, "streaming");
    controller.abort();
    await until(() => view.last.status === "stopped");
    assert.equal(view.last.error, undefined);
    const late = mounted(() => useStream("[1]", { signal: AbortSignal.abort() }));
    await until(() => late.last.status === "stopped");
  }
});

test("a function is called again for a component that is mounted again", async () => {
  let calls = 0;
  const begin = () => [`[${(calls += 1)}]`];
  for (const expected of [1, 2]) {
    const view = mounted(() => useStream(begin));
    assert.equal(view.last.value, undefined);
    await until(() => view.last.complete);
    assert.deepEqual(view.last.value, [expected]);
    view.unmount();
    await turn(5);
  }
});

test("a server renders what is there before anything arrives, and reads nothing", async () => {
  let calls = 0;
  const begin = () => {
    calls += 1;
    return ["[1", "]"];
  };
  const View = () => h("p", null, JSON.stringify(useStream(begin, { initial: [0] }).value));
  const html = renderToString(h(View));
  assert.equal(html, "<p>[0]</p>");
  assert.equal(calls, 0);
  const place = document.createElement("div");
  place.innerHTML = html;
  const wrong = [];
  const root = hydrateRoot(place, h(StrictMode, null, h(View)), {
    onRecoverableError: (error) => wrong.push(error),
  });
  roots.add(root);
  await until(() => place.textContent === "[1]");
  assert.deepEqual([wrong, calls], [[], 1]);
});

test("a hidden page has no frames, and is told all the same", async () => {
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  const view = mounted(() => useStream("[1]"));
  await turn(150);
  delete document.visibilityState;
  assert.equal(view.last.complete, true);
  waiting.clear();
});

// ---- parts ----

const CHAT = [
  { delta: { reasoning_content: "Tea?" } },
  { delta: { content: "One " } },
  { delta: { content: "moment." } },
  { delta: { tool_calls: [{ index: 0, id: "a", function: { name: "timer", arguments: '{"min' } }] } },
  { delta: { tool_calls: [{ index: 0, function: { arguments: 'utes": 12' } }] } },
  { delta: { tool_calls: [{ index: 0, function: { arguments: "}" } }] } },
  { delta: {}, finish_reason: "tool_calls" },
].map((choice) => ({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] }));

test("the parts of an answer; what does not change is the same object", async () => {
  const { source, feed, close } = fed({ type: "text/event-stream" });
  const view = mounted(() => useParts(source));
  assert.deepEqual([view.last.parts, view.last.text], [[], ""]);
  const states = [];
  for (const event of CHAT) {
    feed(`data: ${JSON.stringify(event)}\n\n`);
    await frame();
    states.push(view.last.parts);
  }
  close();
  await until(() => view.last.complete);
  assert.equal(view.last.text, "One moment.");
  const [reasoning, text, call] = view.last.parts;
  assert.deepEqual([reasoning.kind, reasoning.text, reasoning.complete], ["reasoning", "Tea?", true]);
  assert.deepEqual([text.kind, text.text, text.complete], ["text", "One moment.", true]);
  assert.equal(call.kind, "call");
  const { name, args, status } = call.call;
  assert.deepEqual([name, args, status], ["timer", { minutes: 12 }, "complete"]);
  assert.equal(states[2][0], view.last.parts[0]);
  assert.deepEqual(states[3][2].call.args, {});
  assert.deepEqual(states[4][2].call.status, "streaming");
  assert.equal(states[5][2].call.completeArgs, true);
});

test("a result is news of its call", async () => {
  const events = [
    { type: "TOOL_CALL_START", toolCallId: "a", toolCallName: "weather" },
    { type: "TOOL_CALL_ARGS", toolCallId: "a", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "a" },
    { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "a", content: "rain" },
  ];
  const view = mounted(() => useParts(events));
  await until(() => view.last.complete);
  const [call, result] = view.last.parts;
  assert.deepEqual([call.call.answered, call.call.result], [true, "rain"]);
  assert.deepEqual([result.kind, result.result, result.call.id], ["result", "rain", "a"]);
});

test("the parts of a stream that is no provider's", async () => {
  const events = [{ hello: 1 }];
  const view = mounted(() => useParts(events));
  await until(() => view.last.status === "error");
  assert.ok(view.last.error instanceof UnknownSource);
});

// ---- runs ----

const PIECES = ['{"title": "T', 'ea", "items": [1, ', "2]}"];
const FINAL = { title: "Tea", items: [1, 2] };

/** A server of one run: what was asked, and events that can be sent one by one. */
function run(events, { cuts = [], held = Infinity, status = 200 } = {}) {
  const asked = [];
  const open = new Set();
  const fetch = async (url, init) => {
    const from = Number(init.headers.get("last-event-id") ?? 0);
    asked.push({ url: String(url), from, token: init.headers.get("authorization") });
    if (status !== 200) return new Response(null, { status });
    const all = events.map((data, at) => `id: ${at + 1}\ndata: ${JSON.stringify(data)}\n\n`);
    all.push("event: CLOSE\ndata: [DONE]\n\n");
    const end = cuts[asked.length - 1] ?? held;
    const body = all.slice(from, end).map((text) => new TextEncoder().encode(text));
    const stream = new ReadableStream({
      start(controller) {
        for (const part of body) controller.enqueue(part);
        if (end !== held || held === Infinity) controller.close();
        open.add(controller);
        init.signal.addEventListener("abort", () => {
          if (open.delete(controller) && end === held) controller.error(init.signal.reason);
        });
      },
      cancel: () => open.clear(),
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
  return { asked, open, options: { fetch, retry: 1, maxDelay: 5 } };
}
const fragmentsOf = () => {
  const parser = new Parser();
  return PIECES.map((piece) => parser.feed(piece).map((fragment) => fragment.toJSON()));
};

for (const [format, events] of Object.entries({ fragments: fragmentsOf(), chunks: PIECES })) {
  test(`a run in ${format}, across lost connections`, async () => {
    const { asked, options } = run(events, { cuts: [1, 2] });
    const view = mounted(() => useRun("http://127.0.0.1/runs/1", options));
    assert.deepEqual([view.last.connection, view.last.id], ["connecting", ""]);
    await until(() => view.last.complete);
    assert.deepEqual(view.last.value, FINAL);
    assert.deepEqual([view.last.connection, view.last.id], ["closed", "3"]);
    assert.deepEqual(
      asked.map(({ from }) => from),
      [0, 1, 2],
    );
  });
}

test("a page that is loaded again reads what there is and goes on", async () => {
  const { open, options } = run(fragmentsOf(), { held: 2 });
  for (let times = 0; times < 3; times += 1) {
    const view = mounted(() => useRun("http://127.0.0.1/runs/1", options), { strict: true });
    await until(() => view.last.value?.items);
    assert.deepEqual(view.last.value, { title: "Tea", items: [1] });
    assert.equal(open.size, 1);
    view.unmount();
    await turn(10);
    assert.equal(open.size, 0);
  }
});

test("the entities of updates", async () => {
  const { options } = run([
    { entity: "steps", index: 0, status: "PARTIAL", data: "Pe" },
    { entity: "steps", index: 0, status: "COMPLETED", data: "Peel" },
    { entity: "steps", index: 1, status: "COMPLETED", data: "Boil" },
  ]);
  const view = mounted(() => useRun(new URL("http://127.0.0.1/runs/1"), options));
  await until(() => view.last.complete);
  assert.equal(view.last.value, "Boil");
  const seen = view.last.entities.map(({ isComplete, ...entity }) => ({ ...entity, isDone: isComplete() }));
  assert.deepEqual(seen, [
    { entity: "steps", index: 0, value: "Peel", complete: true, openPath: null, isDone: true },
    { entity: "steps", index: 1, value: "Boil", complete: true, openPath: null, isDone: true },
  ]);
});

test("of an update that is not complete, what arrived last may still grow", async () => {
  const data = { title: "Tea", steps: [{ text: "Pe" }] };
  const { options } = run([{ entity: "root", index: 0, status: "PARTIAL", data }], { held: 1 });
  const view = mounted(() => useRun("http://127.0.0.1/runs/1", options));
  await until(() => view.last.value?.title);
  assert.deepEqual(view.last.openPath, ["steps", 0, "text"]);
  const paths = ["title", "steps", "steps[0].text", "none"];
  assert.deepEqual(
    paths.map((path) => view.last.isComplete(path)),
    [true, false, false, false],
  );
  assert.equal(view.last.entities[0].isComplete("title"), true);
});

test("no run is idle; another address is another run; headers may be new objects", async () => {
  const { options } = run([], { status: 204 });
  const none = mounted(() => useRun("http://127.0.0.1/runs/0", options));
  await until(() => none.last.status === "idle");
  assert.equal(none.last.error, undefined);
  const { asked, options: rest } = run(fragmentsOf());
  const view = mounted(({ id, token = id }) => {
    const headers = { authorization: `Bearer ${token}` };
    return useRun(id && `http://127.0.0.1/runs/${id}`, { ...rest, headers });
  });
  assert.equal(view.last.status, "idle");
  view.render({ id: 1 });
  await until(() => view.last.complete);
  view.render({ id: 1 });
  view.render({ id: 2 });
  assert.equal(view.last.value, undefined);
  await until(() => view.last.complete);
  assert.deepEqual(
    asked.map(({ url, token }) => [url.at(-1), token]),
    [
      ["1", "Bearer 1"],
      ["2", "Bearer 2"],
    ],
  );
  view.render({ id: 2, token: "new" });
  view.last.restart();
  await until(() => asked.length === 3 && view.last.complete);
  assert.equal(asked[2].token, "Bearer new");
});

test("StrictMode asks for a run once, also with POST", async () => {
  const { asked, options } = run(fragmentsOf(), { held: 2 });
  const init = { method: "POST", body: "{}" };
  const view = mounted(() => useRun("http://127.0.0.1/runs/1", { ...options, init }), { strict: true });
  await until(() => view.last.value);
  assert.equal(asked.length, 1);
});

test("the error of a run, of a server, and of a run that was cut off", async () => {
  const error = { code: "SOURCE_FAILED", message: "the source failed" };
  const { options } = run([fragmentsOf()[0], { status: "ERROR", error }]);
  const view = mounted(() => useRun("http://127.0.0.1/runs/1", options));
  await until(() => view.last.status === "error");
  assert.ok(view.last.error instanceof ServerError);
  assert.deepEqual([view.last.error.code, view.last.value], ["SOURCE_FAILED", { title: "T" }]);
  const missing = run([], { status: 404 });
  const other = mounted(() => useRun("http://127.0.0.1/runs/1", missing.options));
  await until(() => other.last.status === "error");
  assert.equal(other.last.error.status, 404);
  const short = run(fragmentsOf().slice(0, 1));
  const third = mounted(() => useRun("http://127.0.0.1/runs/1", short.options));
  await until(() => third.last.status === "error");
  assert.match(third.last.error.message, /before its document was complete/);
});

test("the parts of a run, across lost connections", async () => {
  const { asked, options } = run(CHAT, { cuts: [2, 5] });
  const view = mounted(() => useRunParts("http://127.0.0.1/runs/1", options), { strict: true });
  await until(() => view.last.complete);
  assert.deepEqual(
    view.last.parts.map(({ kind }) => kind),
    ["reasoning", "text", "call"],
  );
  assert.deepEqual(view.last.parts[2].call.args, { minutes: 12 });
  assert.equal(view.last.id, String(CHAT.length));
  assert.equal(asked.length, 3);
  const text = run(["a piece of text"]);
  const other = mounted(() => useRunParts("http://127.0.0.1/runs/1", text.options));
  await until(() => other.last.status === "error");
  assert.match(other.last.error.message, /format=raw/);
  const error = { code: "CANCELLED", message: "cancelled" };
  const failed = run([CHAT[1], { status: "ERROR", error }]);
  const third = mounted(() => useRunParts("http://127.0.0.1/runs/1", failed.options));
  await until(() => third.last.status === "stopped");
  assert.deepEqual([third.last.error, third.last.text], [undefined, "One "]);
  for (const code of ["PRODUCER_LOST", "PRODUCER_STOPPED"]) {
    const lost = run([CHAT[1], { status: "ERROR", error: { code, message: "the producer has gone" } }]);
    const fourth = mounted(() => useRunParts("http://127.0.0.1/runs/1", lost.options));
    await until(() => fourth.last.status === "error");
    assert.equal(fourth.last.error.code, code);
    assert.match(fourth.last.error.message, /interrupted .* ask again/);
    assert.equal(fourth.last.isLoading, false);
  }
});

test("one connection for all components that read a run, as values and as parts", async () => {
  const { asked, open, options } = run([{ choices: [{ index: 0, delta: { content: '{"title": "Te' } }] }, CHAT[3]], { held: 1 });
  const { fetch } = globalThis;
  globalThis.fetch = options.fetch;
  try {
    const url = "http://127.0.0.1/runs/shared";
    const views = [0, 1, 2].map((at) => mounted(() => (at ? useRun(url) : useRunParts(url)), { strict: true }));
    await until(() => views.every(({ last }) => last.id === "1"));
    assert.deepEqual([views[0].last.text, views[1].last.value], ['{"title": "Te', { title: "Te" }]);
    assert.deepEqual([views[1].last.openPath, views[1].last.isComplete("title")], [["title"], false]);
    const late = mounted(() => useRun(url));
    await until(() => late.last.value?.title === "Te");
    assert.equal(asked.length, 1);
    for (const view of views) view.unmount();
    await turn(20);
    assert.equal(open.size, 1);
    late.unmount();
    await until(() => open.size === 0);
    const again = mounted(() => useRun(url));
    await until(() => again.last.value?.title === "Te");
    assert.equal(asked.length, 2);
    again.unmount();
  } finally {
    globalThis.fetch = fetch;
  }
});

test("an endpoint is asked with submit, again with another body, and stopped", async () => {
  const asked = [];
  const sources = [];
  const fetch = async (url, init) => {
    asked.push([url, init.method, init.headers.get("content-type"), init.headers.get("x-token"), init.body]);
    const one = fed({ response: false });
    sources.push(one);
    init.signal.addEventListener("abort", () => (one.aborted = true));
    return new Response(one.source, { headers: { "content-type": "application/json" } });
  };
  // A new object in each render, as programs write it.
  const view = mounted(() => useStream({ api: "/recipe", headers: { "x-token": "t" }, fetch }), { strict: true });
  assert.deepEqual([view.last.status, view.last.isLoading, asked.length], ["idle", false, 0]);
  view.last.restart();
  view.last.submit({ wish: "tea" });
  await until(() => sources.length === 1);
  assert.deepEqual(asked[0], ["/recipe", "POST", "application/json", "t", '{"wish":"tea"}']);
  await until(() => view.last.isLoading);
  sources[0].feed('{"title": "Te');
  await until(() => view.last.value?.title === "Te");
  assert.deepEqual([view.last.isComplete("title"), view.last.openPath], [false, ["title"]]);
  view.last.submit({ wish: "soup" });
  await until(() => sources.length === 2 && sources[0].aborted);
  await until(() => view.last.value === undefined);
  sources[1].feed('{"title": "Soup"');
  await until(() => view.last.isComplete("title"));
  view.last.stop();
  await until(() => view.last.status === "stopped");
  assert.deepEqual([view.last.isLoading, view.last.error, view.last.value], [false, undefined, { title: "Soup" }]);
  view.last.restart();
  await until(() => sources.length === 3);
  assert.equal(asked[2][4], '{"wish":"soup"}');
  sources[2].feed('{"title": "S"}');
  sources[2].close();
  await until(() => view.last.complete);
  assert.equal(view.last.isComplete(), true);
});

test("an endpoint may be a function, and its error is one of the state", async () => {
  const api = (body) => (body === "bad" ? Promise.reject(new RangeError("no")) : JSON.stringify({ body }));
  const view = mounted(() => useStream({ api }, { initial: { body: "…" } }));
  assert.deepEqual([view.last.value, view.last.isComplete("body")], [{ body: "…" }, false]);
  view.last.submit("bad");
  await until(() => view.last.status === "error");
  assert.ok(view.last.error instanceof RangeError);
  view.last.submit("good");
  await until(() => view.last.complete);
  assert.deepEqual([view.last.value, view.last.error], [{ body: "good" }, undefined]);
});

test("an error in a component above does not leave a source open", async () => {
  const one = fed();
  class Boundary extends Component {
    state = { failed: false };
    static getDerivedStateFromError = () => ({ failed: true });
    render = () => (this.state.failed ? "failed" : this.props.children);
  }
  let fail;
  const View = () => {
    const [failed, set] = useState(false);
    fail = () => set(true);
    useStream(one.source);
    if (failed) throw new Error("of the component");
    return "fine";
  };
  const place = document.createElement("div");
  const root = createRoot(place, { onCaughtError() {} });
  roots.add(root);
  flushSync(() => root.render(h(Boundary, null, h(View))));
  await turn(5);
  fail();
  await until(() => one.done.cancelled === 1);
  assert.equal(place.textContent, "failed");
});

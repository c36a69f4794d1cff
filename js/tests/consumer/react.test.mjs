/** The hooks with a real React, in a DOM: what is rendered, how often, and what is requested. */

import assert from "node:assert/strict";
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

const { StrictMode, createElement: h } = await import("react");
const { createRoot, hydrateRoot } = await import("react-dom/client");
const { renderToString } = await import("react-dom/server");
const { flushSync } = await import("react-dom");
const { useParts, useStream, useValue } = await import("jsonrill/react");
const { Sender, SourceFailed, UnknownSource } = await import("jsonrill");

const turn = (milliseconds = 0) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Let the source be read, then draw a frame, and let React render it. */
async function frame() {
  await turn(25);
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
  const root = createRoot(place, { onUncaughtError: (error) => seen.push({ error }) });
  roots.add(root);
  const render = (props = {}) => flushSync(() => root.render(strict ? h(StrictMode, null, h(View, props)) : h(View, props)));
  const unmount = () => {
    roots.delete(root);
    flushSync(() => root.unmount());
  };
  render(props);
  return {
    seen,
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

const SSE = "text/event-stream";
const CLOSE = "event: CLOSE\ndata: [DONE]\n\n";
const event = (data, id = "") => `${id && `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

/** A server: a fetch whose responses are fed from here, and what was requested of it. */
function server(type = SSE) {
  const requests = [];
  const encoder = new TextEncoder();
  const fetch = async (url, init = {}) => {
    const request = { url: String(url), init, cancelled: 0 };
    requests.push(request);
    init.signal?.addEventListener("abort", () => void (request.cancelled += 1));
    const body = new ReadableStream({ start: (controller) => (request.controller = controller) });
    return new Response(body, { headers: { "content-type": type } });
  };
  const last = () => requests.at(-1).controller;
  return {
    fetch,
    requests,
    feed: (text) => last().enqueue(encoder.encode(text)),
    close: () => last().close(),
    fail: () => last().error(new Error("cut")),
  };
}

const FAST = { retry: 1, maxDelay: 5 };
const requested = (requests, count = 1) => until(() => requests.filter(({ controller }) => controller).length === count);

test("useValue: the sender's value, with what is complete, across a lost connection", async () => {
  const { fetch, requests, feed, fail } = server();
  const sender = new Sender({ ordered: true });
  const view = mounted(() => useValue("http://test/run", { fetch, ...FAST, initial: { title: "…" } }), { strict: true });
  assert.deepEqual([view.last.value, view.last.status, view.last.isLoading], [{ title: "…" }, "streaming", true]);
  await requested(requests);
  const states = [{}, { title: "Tea" }, { title: "Tea", steps: ["bo"] }];
  feed(
    states
      .map((state) => event(sender.feed(state), "1"))
      .join("")
      .replace(/id: 1\n/g, "") + "id: 1\n\n",
  );
  await until(() => view.last.value.steps);
  assert.deepEqual([view.last.isComplete("title"), view.last.isComplete("steps"), view.last.connection], [true, false, "open"]);
  fail();
  await requested(requests, 2);
  assert.equal(requests[1].init.headers.get("last-event-id"), "1");
  feed(event(sender.feed({ title: "Tea", steps: ["boil"] }), "2") + event(sender.end(), "3") + CLOSE);
  await until(() => view.last.complete);
  assert.deepEqual(
    [view.last.value, view.last.status, view.last.error],
    [{ title: "Tea", steps: ["boil"] }, "complete", undefined],
  );
  assert.equal(requests.length, 2);
});

test("useValue: another format and an error of the server are errors that say what to do", async () => {
  for (const [data, check] of [
    [
      { index: 0, status: "PARTIAL", data: {} },
      (error) => error instanceof UnknownSource && /updates; open\(url\)/.test(error.message),
    ],
    [
      { status: "ERROR", error: { code: "GONE", message: "no more" } },
      (error) => error instanceof SourceFailed && error.code === "GONE",
    ],
  ]) {
    const { fetch, requests, feed } = server();
    const view = mounted(() => useValue("http://test/run", { fetch }));
    await requested(requests);
    feed(event(data, "1"));
    await until(() => view.last.status === "error");
    assert.ok(check(view.last.error), String(view.last.error));
  }
});

test("useValue: messages that a function makes", async () => {
  const sender = new Sender();
  const view = mounted(() =>
    useValue(async function* () {
      yield sender.feed([1]);
      yield sender.end();
    }),
  );
  await until(() => view.last.complete);
  assert.deepEqual(view.last.value, [1]);
});

test("useStream: nothing is requested before submit, which sends the body; the answer grows", async () => {
  const { fetch, requests, feed, close } = server("application/json");
  const view = mounted(() => useStream({ api: "http://test/recipe", headers: { "x-token": "t" }, fetch }), { strict: true });
  await frame();
  assert.deepEqual([requests.length, view.last.status, view.last.isLoading], [0, "idle", false]);
  view.last.submit({ wish: "tea" });
  await requested(requests);
  const [{ url, init }] = requests;
  assert.deepEqual(
    [url, init.method, init.body, init.headers.get("x-token")],
    ["http://test/recipe", "POST", '{"wish":"tea"}', "t"],
  );
  feed('{"title": "Gin');
  await until(() => view.last.value?.title === "Gin");
  assert.deepEqual([view.last.isLoading, view.last.isComplete("title")], [true, false]);
  feed('ger"}');
  close();
  await until(() => view.last.complete);
  assert.deepEqual([view.last.value, requests.length], [{ title: "Ginger" }, 1]);
  view.last.submit({ wish: "coffee" });
  await requested(requests, 2);
  await until(() => view.last.value === undefined);
});

test("useStream: reads the updates that a documented FastAPI route sends, each entity", async () => {
  const { fetch, requests, feed, close } = server();
  const view = mounted(() => useStream({ api: "http://test/trip", fetch }));
  view.last.submit({});
  await requested(requests);
  feed(
    event({ index: 0, status: "PARTIAL", data: { city: "Ro" } }) +
      event({ index: 1, status: "COMPLETED", data: { city: "Oslo" } }),
  );
  feed(event({ index: 0, status: "COMPLETED", data: { city: "Rome" } }) + CLOSE);
  close();
  await until(() => view.last.status === "complete");
  const shown = view.last.entities.map(({ index, value, complete }) => [index, value.city, complete]);
  assert.deepEqual(shown, [
    [0, "Rome", true],
    [1, "Oslo", true],
  ]);
});

test("useStream: stop closes the response and keeps the value; restart reads again; unmounting closes", async () => {
  const { fetch, requests, feed } = server("application/json");
  const view = mounted(() => useStream((signal) => fetch("http://test/", { signal })));
  await requested(requests);
  feed("[1, 2, ");
  await until(() => view.last.value?.length === 2);
  view.last.stop();
  await until(() => view.last.status === "stopped");
  assert.deepEqual([view.last.value, requests[0].cancelled], [[1, 2], 1]);
  view.last.restart();
  await requested(requests, 2);
  await until(() => view.last.status === "streaming" && view.last.value === undefined);
  view.unmount();
  await until(() => requests[1].cancelled === 1);
});

test("another address is another stream, another key calls a function again, a new function does not", async () => {
  const { fetch, requests } = server();
  const view = mounted(({ id }) => useStream(`http://test/${id}`, { fetch }), { props: { id: "a" } });
  await requested(requests);
  view.render({ id: "b" });
  await requested(requests, 2);
  await until(() => requests[0].cancelled === 1);
  assert.deepEqual(
    requests.map(({ url }) => url),
    ["http://test/a", "http://test/b"],
  );
  const other = server();
  const keyed = mounted(({ key2 }) => useStream((signal) => other.fetch("http://test/", { signal }), { key: key2 }), {
    props: { key2: 1 },
  });
  await requested(other.requests);
  keyed.render({ key2: 1 });
  await frame();
  assert.equal(other.requests.length, 1);
  keyed.render({ key2: 2 });
  await requested(other.requests, 2);
});

test("at most one render per frame, however much arrives", async () => {
  const { fetch, requests, feed } = server("application/json");
  const view = mounted(() => useStream((signal) => fetch("http://test/", { signal })));
  await requested(requests);
  await frame();
  const before = view.seen.length;
  for (let count = 0; count < 50; count += 1) feed(count ? ",1" : "[1");
  await frame();
  feed(",1]");
  await frame();
  assert.ok(view.seen.length - before <= 2, String(view.seen.length - before));
});

test("useParts: text, reasoning, calls and results of a provider's stream and of a server's parts", async () => {
  const chunk = (delta, finish_reason = null) => ({ id: "m", choices: [{ index: 0, delta, finish_reason }] });
  const call = { index: 0, id: "a", function: { name: "timer", arguments: '{"minutes": 12}' } };
  const provider = [
    chunk({ content: "Tea, " }),
    chunk({ content: "then." }),
    chunk({ tool_calls: [call] }),
    chunk({}, "tool_calls"),
  ];
  const parts = [
    { kind: "text", index: 0, delta: "Tea, then.", complete: true },
    {
      kind: "call",
      index: 1,
      delta: '{"minutes": 12}',
      complete: true,
      call: { id: "a", name: "timer", status: "complete", args: { minutes: 12 } },
    },
  ];
  for (const events of [provider, parts]) {
    const { fetch, requests, feed } = server();
    const view = mounted(() => useParts("http://test/run", { fetch }), { strict: true });
    await requested(requests);
    feed(events.map((item, at) => event(item, String(at + 1))).join("") + CLOSE);
    await until(() => view.last.complete);
    const [text, timer] = view.last.parts;
    assert.deepEqual([view.last.text, text.complete], ["Tea, then.", true]);
    assert.deepEqual(
      [timer.call.name, timer.call.status, timer.call.args, timer.complete],
      ["timer", "complete", { minutes: 12 }, true],
    );
  }
});

test("useParts: what a person cancelled on the server is stopped, not failed", async () => {
  const { fetch, requests, feed } = server();
  const view = mounted(() => useParts("http://test/run", { fetch }));
  await requested(requests);
  feed(event({ kind: "text", index: 0, delta: "Tea" }, "1"));
  await until(() => view.last.text === "Tea");
  feed(event({ status: "ERROR", error: { code: "CANCELLED", message: "cancelled" } }, "2") + CLOSE);
  await until(() => view.last.status === "stopped");
  assert.deepEqual([view.last.error, view.last.text], [undefined, "Tea"]);
});

test("a server renders the initial state and reads nothing; the browser takes over", async () => {
  const { fetch, requests, feed } = server("application/json");
  const View = () =>
    h("p", null, useStream((signal) => fetch("http://test/", { signal }), { initial: { title: "…" } }).value.title);
  const html = renderToString(h(View));
  assert.deepEqual([html, requests.length], ["<p>…</p>", 0]);
  const place = document.createElement("div");
  place.innerHTML = html;
  roots.add(hydrateRoot(place, h(View)));
  await requested(requests);
  feed('{"title": "Tea"}');
  await until(() => place.textContent === "Tea");
});

test("without a source nothing is read", async () => {
  const view = mounted(({ url }) => useValue(url));
  await frame();
  assert.deepEqual([view.last.status, view.last.isLoading, view.last.value], ["idle", false, undefined]);
});

test("the components of docs/javascript.md show a recipe, and a tool call with its result", async (context) => {
  const { ChatView, RecipeView } = await import("./from-docs.react.mjs");
  const events = [
    { kind: "text", index: 0, delta: "I look.", complete: true },
    {
      kind: "call",
      index: 1,
      delta: '{"city": "Oslo"}',
      complete: true,
      call: { id: "a", name: "weather", status: "complete", args: { city: "Oslo" } },
    },
    { kind: "result", index: 2, call: { id: "a", name: "weather", status: "complete" }, result: "sun", error: null },
  ];
  const bodies = {
    "/recipe": ['{"title": "Tea", "steps": [{"text": "Boil"}]}', "application/json"],
    "/chat": [events.map((item, at) => event(item, String(at + 1))).join("") + CLOSE, "text/event-stream"],
  };
  context.mock.method(globalThis, "fetch", async (url) => {
    const [body, type] = bodies[new URL(url.url ?? url, window.location.href).pathname];
    return new Response(body, { headers: { "content-type": type } });
  });
  for (const [View, text] of [
    [RecipeView, "CookStopTea ✓Boil"],
    [ChatView, 'AskI look.weather {"city":"Oslo"} → sun'],
  ]) {
    const place = document.createElement("div");
    const root = createRoot(place);
    roots.add(root);
    flushSync(() => root.render(h(View)));
    flushSync(() => place.querySelector("button").click());
    await until(() => place.textContent === text, text);
  }
});

/** The store `observe`, without a framework: what it shows, how often, and when it closes the source. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { observe, values } from "../src/index.js";
import { pause } from "./support.js";

async function until(condition) {
  for (let times = 0; times < 200 && !condition(); times += 1) await pause(10);
  assert.ok(condition(), String(condition));
}

/** A response that is fed from here. */
function fed() {
  const response = { cancelled: 0 };
  const stream = new ReadableStream({
    start: (controller) => (response.controller = controller),
    cancel: () => void (response.cancelled += 1),
  });
  response.source = new Response(stream);
  response.feed = (text) => response.controller.enqueue(new TextEncoder().encode(text));
  return response;
}

test("a store calls back at once, then once per frame; the last one to leave closes the source", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const response = fed();
  let taken = 0;
  const store = observe(async function* (signal) {
    for await (const value of values(response.source, { signal, every: 0 })) {
      yield value;
      taken += 1;
    }
  });
  const seen = [[], []];
  const leave = seen.map((list) => store.subscribe(({ value }) => list.push(value)));
  context.mock.timers.tick(16);
  assert.deepEqual(seen, [
    [undefined, undefined],
    [undefined, undefined],
  ]);
  for (const piece of ["[1, ", "2, ", "3, "]) response.feed(piece);
  while (taken < 3) await new Promise(setImmediate);
  assert.equal(seen[0].length, 2);
  context.mock.timers.tick(16);
  assert.deepEqual(seen[0].slice(2), [[1, 2, 3]]);
  leave[0]();
  context.mock.timers.tick(1000);
  assert.equal(store.state.status, "streaming");
  leave[1]();
  context.mock.timers.tick(0);
  while (response.cancelled === 0) await new Promise(setImmediate);
});

test("a store ends with complete or with the error, and what was good stays", async () => {
  for (const [text, status] of [
    ["[1]", "complete"],
    ["[1, ?", "error"],
  ]) {
    const store = observe(values(text));
    store.subscribe(() => {});
    await until(() => store.state.status === status);
    assert.deepEqual(store.state.value, [1]);
    assert.equal(store.state.error?.code, status === "error" ? "INVALID_JSON" : undefined);
  }
});

test("stop closes the source and keeps the value; restart reads from the beginning", async () => {
  const sources = [];
  const store = observe((signal) => {
    sources.push(fed());
    return values(sources.at(-1).source, { signal, every: 0 });
  });
  const leave = store.subscribe(() => {});
  sources[0].feed("[1, ");
  await until(() => store.state.value?.length === 1);
  store.state.stop();
  await until(() => store.state.status === "stopped" && sources[0].cancelled === 1);
  assert.deepEqual([store.state.value, store.state.isLoading], [[1], false]);
  store.state.restart();
  await until(() => sources.length === 2 && store.state.status === "streaming");
  assert.deepEqual([store.state.value, store.state.isLoading], [undefined, true]);
  leave();
  await until(() => sources[1].cancelled === 1);
});

test("an iterable is read once: to read again takes a function", async () => {
  const store = observe(values("[1]"));
  store.subscribe(() => {});
  await until(() => store.state.status === "complete");
  store.state.restart();
  await until(() => store.state.status === "error");
  assert.match(store.state.error.message, /give a function/);
});

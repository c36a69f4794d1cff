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

test("a store calls back at once, then once per frame; the last one to leave closes the source", async () => {
  const one = fed();
  const store = observe((signal) => values(one.source, { signal, every: 0 }));
  const seen = [[], []];
  const leave = seen.map((list) => store.subscribe((state) => list.push(state)));
  assert.deepEqual([seen[0].length, seen[1].length, store.state.status], [1, 1, "streaming"]);
  await pause(50);
  const before = seen[0].length;
  for (const piece of ["[1, ", "2, ", "3, "]) one.feed(piece);
  await until(() => store.state.value?.length === 3);
  assert.ok(seen[0].length <= before + 2);
  leave[0]();
  await pause(5);
  assert.equal(one.cancelled, 0);
  leave[1]();
  await until(() => one.cancelled === 1);
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

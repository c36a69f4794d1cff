/** What the documentation shows for Vue and Svelte, with the real packages; and the stores without any. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { Window } from "happy-dom";

const window = new Window({ url: "http://127.0.0.1/" });
const names = ["document", "Node", "Element", "Text", "Comment", "HTMLElement", "SVGElement"];
globalThis.window = window;
for (const name of [...names, "DocumentFragment", "HTMLMediaElement", "CustomEvent"]) {
  globalThis[name] = window[name];
}
globalThis.navigator ??= window.navigator;

const { observeParts, observeRun, observeStream } = await import("jsonrill/observe");

const turn = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
async function until(condition) {
  for (let times = 0; times < 200 && !condition(); times += 1) await turn(10);
  assert.ok(condition(), String(condition));
}

/** A response that is fed by hand. */
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

test("a store calls at once, then once per frame; the last one to leave closes the source", async () => {
  const one = fed();
  const store = observeStream(one.source);
  const seen = [[], []];
  const leave = seen.map((list) => store.subscribe((state) => list.push(state)));
  assert.deepEqual(
    seen.map((list) => list.length),
    [1, 1],
  );
  assert.equal(store.state.status, "streaming");
  for (const piece of ["[1, ", "2, ", "3, "]) one.feed(piece);
  await until(() => store.state.value?.length === 3);
  assert.deepEqual(
    seen.map((list) => list.length),
    [2, 2],
  );
  leave[0]();
  await turn(5);
  assert.equal(one.cancelled, 0);
  leave[1]();
  await until(() => one.cancelled === 1);
  assert.equal(store.state.status, "stopped");
});

test("a store of a function reads again for who comes later", async () => {
  let count = 0;
  const store = observeStream(() => [`[${(count += 1)}]`]);
  for (const expected of [1, 2]) {
    const leave = store.subscribe(() => {});
    await until(() => store.state.complete);
    assert.deepEqual(store.state.value, [expected]);
    leave();
    await turn(5);
  }
});

test("stores of parts, of runs, of nothing, and of what is no source", async () => {
  const parts = observeParts([{ choices: [{ index: 0, delta: { content: "Hi" } }] }]);
  parts.subscribe(() => {});
  await until(() => parts.state.complete);
  assert.equal(parts.state.text, "Hi");
  const body = 'id: 1\ndata: "[1]"\n\nevent: CLOSE\ndata: x\n\n';
  const headers = { "content-type": "text/event-stream" };
  const run = observeRun("http://127.0.0.1/", { fetch: async () => new Response(body, { headers }) });
  run.subscribe(() => {});
  await until(() => run.state.complete);
  assert.deepEqual([run.state.value, run.state.id], [[1], "1"]);
  assert.equal(observeStream(null, { initial: 1 }).state.value, 1);
  assert.equal(observeRun(undefined).state.status, "idle");
  assert.throws(() => observeStream(12), TypeError);
  assert.throws(() => observeRun(12), /a string or a URL/);
});

test("Vue", async () => {
  const { createApp, defineComponent, h, shallowRef } = await import("vue");
  const { useStream } = await import("./from-docs.vue.mjs");
  const [one, two] = [fed(), fed()];
  const source = shallowRef(one.source);
  let renders = 0;
  const view = defineComponent(() => {
    const state = useStream(source);
    return () => {
      renders += 1;
      return h("h1", `${state.value.value?.title} ${state.value.status}`);
    };
  });
  const place = document.createElement("div");
  const app = createApp(view);
  app.mount(place);
  for (const piece of ['{"title": "T', "e", "a"]) one.feed(piece);
  await until(() => place.textContent === "Tea streaming");
  assert.equal(renders, 2);
  source.value = two.source;
  await until(() => one.cancelled === 1);
  two.feed('{"title": "Soup"}');
  two.controller.close();
  await until(() => place.textContent === "Soup complete");
  app.unmount();
});

test("Svelte", async () => {
  const { compile } = await import("svelte/compiler");
  const { js } = compile(readFileSync("from-docs.svelte", "utf8"), { name: "Recipe" });
  writeFileSync("recipe.mjs", js.code);
  const { flushSync, mount, unmount } = await import("svelte");
  const { default: Recipe } = await import("./recipe.mjs");
  const one = fed();
  const place = document.createElement("div");
  const view = mount(Recipe, { target: place, props: { source: one.source } });
  flushSync();
  one.feed('{"title": "Tea", "steps": [{"text": "Bo');
  await until(() => /Tea\s*Bo/.test(place.textContent));
  await unmount(view);
  await until(() => one.cancelled === 1);
  const bad = mount(Recipe, { target: place, props: { source: "[x]" } });
  await until(() => place.textContent.includes("expected"));
  await unmount(bad);
});

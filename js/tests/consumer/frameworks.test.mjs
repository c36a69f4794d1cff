/** What the documentation shows for Vue and Svelte, with the real packages. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { Window } from "happy-dom";

const window = new Window({ url: "http://127.0.0.1/" });
globalThis.window = window;
const names = ["document", "Node", "Element", "Text", "Comment", "HTMLElement", "SVGElement", "DocumentFragment"];
for (const name of [...names, "HTMLMediaElement", "CustomEvent"]) globalThis[name] = window[name];
globalThis.navigator ??= window.navigator;

const { observe, values } = await import("jsonrill");

const turn = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
async function until(condition) {
  for (let times = 0; times < 200 && !condition(); times += 1) await turn(10);
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

test("Vue: the composable of the documentation", async () => {
  const { createApp, defineComponent, h } = await import("vue");
  const { useObserved } = await import("./from-docs.vue.mjs");
  const response = fed();
  const place = document.createElement("div");
  const View = defineComponent({
    setup() {
      const state = useObserved(observe((signal) => values(response.source, { signal })));
      return () => h("p", state.value.value?.title ?? "…");
    },
  });
  const app = createApp(View);
  app.mount(place);
  assert.equal(place.textContent, "…");
  response.feed('{"title": "Tea"');
  await until(() => place.textContent === "Tea");
  app.unmount();
  await until(() => response.cancelled === 1);
});

test("Svelte: the component of the documentation", async () => {
  const { compile } = await import("svelte/compiler");
  const source = readFileSync("from-docs.svelte", "utf8");
  writeFileSync("from-docs.svelte.mjs", compile(source, { generate: "client" }).js.code);
  const response = fed();
  globalThis.fetch = async () => response.source;
  const { mount, unmount } = await import("svelte");
  const { default: View } = await import("./from-docs.svelte.mjs");
  const place = document.createElement("div");
  const app = mount(View, { target: place });
  response.feed('{"title": "Tea"');
  await until(() => place.textContent.includes("Tea"));
  await unmount(app);
  await until(() => response.cancelled === 1);
});

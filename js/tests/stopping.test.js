/** Loops that are left, or stopped by a signal, while their source stalls. */

import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { content, fragments, open, openEvents, parts, select, text, toolCalls, values } from "../src/index.js";
import { pause } from "./support.js";

const FIRST = '{"a": [1, 2], "b": "x';
const DELTA = { choices: [{ index: 0, delta: { content: FIRST } }] };
const CALL = { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{" } }] } }] };
const EVENTS = `data: ${JSON.stringify(DELTA)}\n\n`;

/** Every function that reads a source, with what the source says before it stalls. */
const FUNCTIONS = {
  values: [values, FIRST],
  text: [(source, options) => text(source, "b", options), FIRST],
  select: [(source, options) => select(source, "a", options), FIRST],
  fragments: [fragments, FIRST],
  content: [content, EVENTS],
  parts: [parts, EVENTS],
  toolCalls: [toolCalls, `data: ${JSON.stringify(CALL)}\n\n`],
};

/** Ways for a source to say `first` and then nothing more; `closed` resolves when it is closed. */
const SOURCES = {
  Response(first) {
    let close;
    const closed = new Promise((resolve) => (close = resolve));
    const start = (controller) => controller.enqueue(new TextEncoder().encode(first));
    const body = new ReadableStream({ start, cancel: close });
    return { source: new Response(body, { headers: { "content-type": typeOf(first) } }), closed };
  },
  "a stream of Node"(first) {
    const stream = new Readable({ read() {} });
    stream.push(first);
    return { source: stream, closed: new Promise((resolve) => stream.on("close", resolve)), sse: true };
  },
  "the stream of an SDK"(first) {
    const controller = new AbortController();
    const closed = new Promise((resolve) => controller.signal.addEventListener("abort", resolve));
    async function* events() {
      yield first.startsWith("data") ? JSON.parse(first.slice(5)) : first;
      await closed;
    }
    return { source: Object.assign(events(), { controller }), closed };
  },
};

function typeOf(first) {
  return first.startsWith("data") ? "text/event-stream" : "application/json";
}

/** Read until the source stalls; in a list, what is awaited then. */
async function stalled(reading) {
  for (;;) {
    const next = reading.next();
    const isStalled = await Promise.race([next.then(() => false), pause(30).then(() => true)]);
    if (isStalled) return [next];
  }
}

for (const [name, [read, first]] of Object.entries(FUNCTIONS)) {
  for (const [kind, make] of Object.entries(SOURCES)) {
    if (first !== FIRST && kind === "a stream of Node") continue; // text without a type is an answer

    test(`${name}: a loop that is left while ${kind} stalls closes it at once`, async () => {
      const { source, closed } = make(first);
      const reading = read(source);
      const [next] = await stalled(reading);
      assert.deepEqual(await reading.return(), { done: true, value: undefined });
      assert.deepEqual(await next, { done: true, value: undefined });
      await closed;
      assert.equal((await reading.next()).done, true);
    });

    test(`${name}: a signal closes ${kind} while it stalls, and its reason is thrown`, async () => {
      const { source, closed } = make(first);
      const controller = new AbortController();
      const reading = read(source, { signal: controller.signal });
      const [next] = await stalled(reading);
      const reason = new Error("enough");
      controller.abort(reason);
      await assert.rejects(next, reason);
      await closed;
      assert.equal((await reading.next()).done, true);
    });
  }
}

test("a signal that is aborted in the loop's body is thrown by its next step", async () => {
  const { source, closed } = SOURCES.Response(FIRST);
  const controller = new AbortController();
  const seen = [];
  await assert.rejects(
    async () => {
      for await (const value of values(source, { signal: controller.signal })) {
        seen.push(value);
        controller.abort();
      }
    },
    { name: "AbortError" },
  );
  assert.equal(seen.length, 1);
  await closed;
});

test("a signal that was aborted before: nothing is read, and the source is closed", async () => {
  const { source, closed } = SOURCES.Response(FIRST);
  await assert.rejects(values(source, { signal: AbortSignal.abort() }).next(), { name: "AbortError" });
  await closed;
});

test("a reading that is ended before its first step closes the source", async () => {
  const { source, closed } = SOURCES.Response(FIRST);
  await values(source).return();
  await closed;
  const unread = SOURCES.Response(FIRST);
  const reading = values(unread.source);
  const next = reading.next();
  await reading.return();
  assert.equal((await next).done, true);
  await unread.closed;
});

test("a source that is still a promise is closed when it comes", async () => {
  const { source, closed } = SOURCES.Response(FIRST);
  let answer;
  const reading = values(new Promise((resolve) => (answer = resolve)));
  const next = reading.next();
  await reading.return();
  assert.equal((await next).done, true);
  answer(source);
  await closed;
});

test("a signal that is never aborted keeps nothing", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener: add, removeEventListener: remove } = signal;
  signal.addEventListener = (...words) => void ((listeners += 1), add.apply(signal, words));
  signal.removeEventListener = (...words) => void ((listeners -= 1), remove.apply(signal, words));
  for await (const _ of values("[1, 2]", { signal }));
  await assert.rejects(async () => {
    for await (const _ of values("[1, x]", { signal }));
  });
  for await (const _ of values(["[1", ", 2]"], { signal })) break;
  assert.equal(listeners, 0);
});

for (const read of [open, openEvents]) {
  test(`${read.name}: a loop that is left while the server is silent closes the connection`, async () => {
    let passed;
    const fetch = async (_url, { signal }) => {
      passed = signal;
      const body = new ReadableStream({ start: (it) => it.enqueue(new TextEncoder().encode('id: 1\ndata: "["\n\n')) });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const reading = read("http://test/", { fetch })[Symbol.asyncIterator]();
    const [next] = await stalled(reading);
    await reading.return();
    assert.equal((await next).done, true);
    assert.equal(passed.aborted, true);
  });
}

test("open: the reason of a signal is thrown", async () => {
  const controller = new AbortController();
  const fetch = async () => new Promise(() => {});
  const next = open("http://test/", { fetch, signal: controller.signal }).next();
  await pause(5);
  controller.abort();
  await assert.rejects(next, { name: "AbortError" });
});

test("a source that answers without a result fails, and nobody waits", async () => {
  for (const good of [0, 1, 2]) {
    let count = 0;
    const next = async () => (count++ < good ? { done: false, value: count === 1 ? "[1" : ",2" } : undefined);
    const read = async () => {
      for await (const _ of values({ [Symbol.asyncIterator]: () => ({ next }) }));
    };
    await assert.rejects(read, TypeError);
  }
});

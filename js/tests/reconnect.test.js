/** When a stream is requested again: a request may start a generation, which costs money. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EventsError, openEvents } from "../src/client/events.js";
import { open } from "../src/client/open.js";
import { CLOSE, HEAD, QUICK, all, answers, cut, event, serve } from "./nasty.js";

const DEFAULT = { retry: 1, maxDelay: 5, timeout: 2000 };
const WITHOUT_IDS = "data: a\n\ndata: b\n\n";

async function served(context, answer) {
  const server = await serve(answer);
  context.after(server.close);
  return server;
}

/** A server of which each request fails in another way, after `body`. */
const failing = (body) => (_, response, number) => {
  if (body === "" && number % 2) response.writeHead(500).end();
  else cut(response, body);
};

/**
 * The seconds at which requests were made to a source that always fails, in the first minute.
 * @param {string} body what it sends before it fails
 */
async function requestedIn60Seconds(context, body, options = {}) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const times = [];
  const fetch = async () => {
    times.push(now / 1000);
    // What was sent is read before the error.
    const { readable, writable } = new TransformStream();
    const writer = writable.getWriter();
    void writer
      .write(new TextEncoder().encode(body))
      .then(() => writer.abort(new TypeError("terminated")))
      .catch(() => {});
    return new Response(readable, { headers: HEAD });
  };
  const stream = openEvents("http://source/", { fetch, random: () => 0, ...options });
  const events = [];
  void (async () => {
    for await (const { data } of stream) events.push(data);
  })().catch(() => {});
  for (; now < 60_000; now += 100) {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    context.mock.timers.tick(100);
  }
  stream.close();
  return { times, events };
}

test("a source without ids that always fails is requested exactly once", async (context) => {
  const { times, events } = await requestedIn60Seconds(context, WITHOUT_IDS);
  assert.deepEqual(times, [0]);
  assert.deepEqual(events, ["a", "b"]);
});

test("a source with ids that always fails is requested less and less often", async (context) => {
  const { times, events } = await requestedIn60Seconds(context, event(1) + event(2));
  assert.deepEqual(events, ["data 1", "data 2"]);
  const gaps = times.slice(1).map((time, index) => Math.round(time - times[index]));
  assert.deepEqual(gaps, [1, 2, 4, 8, 16]);
});

for (const [what, body] of [
  ["events without ids", WITHOUT_IDS],
  ["nothing", ""],
]) {
  test(`${what}, then a failure: requested once`, async (context) => {
    const { url, requests } = await served(context, failing(body));
    await assert.rejects(all(openEvents(url, DEFAULT)), (error) => {
      assert.match(error.message, /the connection failed.*without ids it would begin anew/);
      return error instanceof EventsError;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(requests.length, 1);
  });
}

test("an error status without ids is not asked about again", async (context) => {
  const { url, requests } = await served(context, answers({ status: 503 }));
  await assert.rejects(all(openEvents(url, DEFAULT)), /without ids it would begin anew/);
  assert.equal(requests.length, 1);
});

test("a server that ends without ids and CLOSE has ended", async (context) => {
  const { url, requests } = await served(context, answers({ body: WITHOUT_IDS }));
  const { events, reason } = await all(openEvents(url, DEFAULT));
  assert.deepEqual([events.length, reason, requests.length], [2, "ended", 1]);
});

test("with ids it goes on", async (context) => {
  const { url, requests } = await served(context, answers({ body: event(1) }, { body: event(2) + CLOSE }));
  assert.equal((await all(openEvents(url, DEFAULT))).reason, "CLOSE");
  assert.equal(requests.length, 2);
});

test("reconnect: false requests once, ids or not", async (context) => {
  const { url, requests } = await served(context, answers({ body: event(1) }));
  await assert.rejects(all(openEvents(url, { ...DEFAULT, reconnect: false })), /the connection ended \(reconnect is false\)/);
  assert.equal(requests.length, 1);
});

test("reconnect: true goes on without ids", async (context) => {
  const { url } = await served(context, answers({ body: WITHOUT_IDS }, { status: 503 }, { body: event(1) + CLOSE }));
  assert.equal((await all(openEvents(url, { ...DEFAULT, ...QUICK }))).events.length, 3);
});

test("a POST is not repeated, unless told to", async (context) => {
  const { url, requests } = await served(context, answers({ body: event(1) }, { body: event(2) + CLOSE }));
  const init = { method: "post", body: "{}" };
  await assert.rejects(
    all(openEvents(url, { ...DEFAULT, init })),
    /the connection ended \(a POST is repeated with reconnect: true only\)/,
  );
  assert.equal(requests.length, 1);
  const again = await served(context, answers({ body: event(1) }, { body: event(2) + CLOSE }));
  const { events } = await all(openEvents(again.url, { ...DEFAULT, init, reconnect: true }));
  assert.deepEqual([events.length, again.requests.length], [2, 2]);
});

test("open() tells that a source without ids failed, and requests it once", async (context) => {
  const { url, requests } = await served(context, (_, response) =>
    cut(response, 'data: {"index":0,"status":"PARTIAL","data":{"a":1}}\n\n'),
  );
  const values = [];
  await assert.rejects(async () => {
    for await (const { value } of open(url, DEFAULT)) values.push(value);
  }, /without ids/);
  assert.deepEqual([values, requests.length], [[{ a: 1 }], 1]);
});

/** A stream of events that survives its connections, against a server that behaves badly. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import { EventsError, LimitError, openEvents } from "../src/client/events.js";
import { CLOSE, HEAD, QUICK, all, answers, event, nasty, serve } from "./nasty.js";
import { chance, HARDER } from "./support.js";

/** A server for one test. */
async function served(context, answer) {
  const server = await serve(answer);
  context.after(server.close);
  return server;
}

const pairs = (...ids) => ids.map((id) => [String(id), `data ${id}`]);

test("events come as they are, and CLOSE ends it", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: `: open\nretry: 7\n${event(1)}event: x\n${event("2.0")}${CLOSE}${event(3)}` }),
  );
  const stream = openEvents(url, { ...QUICK, headers: { authorization: "Bearer t" } });
  const types = [];
  for await (const { type, id, data } of stream) types.push([type, id, data]);
  assert.deepEqual(types, [
    ["message", "1", "data 1"],
    ["x", "2.0", "data 2.0"],
  ]);
  assert.equal(await stream.done, "CLOSE");
  assert.deepEqual([stream.state, stream.events, stream.reconnects, stream.lastEventId], ["closed", 2, 0, "2.0"]);
  assert.ok(stream.bytes > 60);
  assert.equal(requests.length, 1);
  const { accept, authorization, "last-event-id": last } = requests[0].headers;
  assert.deepEqual([accept, authorization, last], ["text/event-stream", "Bearer t", undefined]);
});

test("callbacks, and states in their order", async (context) => {
  const { url } = await served(context, answers({ body: event(1) }, { status: 503 }, { body: event(2) + CLOSE }));
  const seen = [];
  const stream = openEvents(url, {
    ...QUICK,
    onEvent: ({ id }) => seen.push(id),
    onState: (state, { reason }) => seen.push(reason ? `${state}: ${reason}` : state),
  });
  assert.equal(seen.length, 0);
  assert.equal(await stream.done, "CLOSE");
  assert.deepEqual(seen, [
    "connecting",
    "open",
    "1",
    "waiting: the connection ended",
    "connecting",
    "waiting: the server answered 503",
    "connecting",
    "open",
    "2",
    "closed: CLOSE",
  ]);
});

test("it goes on after the last id, and ends with a 204", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: event(1) + event("2.0") }, { body: event(2) }, { status: 204 }),
  );
  const { events, reason } = await all(openEvents(url, { ...QUICK, after: "0" }));
  assert.deepEqual(events, pairs(1, "2.0", 2));
  assert.equal(reason, "204");
  assert.deepEqual(
    requests.map(({ headers }) => headers["last-event-id"]),
    ["0", "2.0", "2"],
  );
});

test("an id that is not Latin-1 is sent as UTF-8", async (context) => {
  const { url, requests } = await served(context, answers({ body: event("é→") }, { status: 204 }));
  await all(openEvents(url, QUICK));
  assert.equal(Buffer.from(requests[1].headers["last-event-id"], "latin1").toString(), "é→");
});

test("what came already is not delivered again", async (context) => {
  const replay = event(1) + event(2) + event(3);
  const { url } = await served(
    context,
    answers({ body: event(1) + event(2) }, { body: replay }, { body: replay + event(4) + `id: 4\n${CLOSE}` }),
  );
  const stream = openEvents(url, { ...QUICK, after: "1" });
  assert.deepEqual((await all(stream)).events, pairs(2, 3, 4));
  assert.equal(stream.duplicates, 6);
});

test("events without an id of their own are no duplicates", async (context) => {
  const { url } = await served(
    context,
    answers({
      body: `id: 1\ndata: a\n\ndata: a\n\ndata: a\n\nid\ndata: b\n\nid:\ndata: b\n\n${CLOSE}`,
    }),
  );
  assert.equal((await all(openEvents(url, QUICK))).events.length, 5);
});

test("a block that has only an id moves the place to go on from", async (context) => {
  const { url, requests } = await served(context, answers({ body: `${event(1)}id: 5\n\n` }, { status: 204 }));
  await all(openEvents(url, QUICK));
  assert.equal(requests[1].headers["last-event-id"], "5");
});

for (const status of [400, 401, 403, 404, 410, 422]) {
  test(`a ${status} ends it, with the server's reason`, async (context) => {
    const body = JSON.stringify({ type: "about:blank", detail: "no such stream" });
    const { url, requests } = await served(
      context,
      answers({ status, headers: { "content-type": "application/problem+json" }, body }),
    );
    const stream = openEvents(url, QUICK);
    await assert.rejects(
      all(stream),
      (error) =>
        error instanceof EventsError &&
        error.status === status &&
        error.message === `the server answered ${status}: no such stream`,
    );
    await assert.rejects(stream.done, EventsError);
    assert.equal(stream.state, "failed");
    assert.equal(requests.length, 1);
  });
}

for (const status of [408, 429, 500, 502, 503, 504]) {
  test(`a ${status} is tried again`, async (context) => {
    const { url } = await served(
      context,
      answers({ status }, { status, headers: { "retry-after": "0" } }, { body: event(1) + CLOSE }),
    );
    const stream = openEvents(url, QUICK);
    assert.deepEqual((await all(stream)).events, pairs(1));
    assert.equal(stream.reconnects, 2);
  });
}

test("an answer of another type may be an accident, but not three in a row", async (context) => {
  const page = { headers: { "content-type": "text/html" }, body: "<html>" };
  const good = { body: event(1) };
  const some = await served(context, answers(page, page, good, page, page, { body: event(2) + CLOSE }));
  assert.deepEqual((await all(openEvents(some.url, QUICK))).events, pairs(1, 2));
  const never = await served(context, answers(page));
  await assert.rejects(all(openEvents(never.url, QUICK)), /not an event stream but text\/html/);
  assert.equal(never.requests.length, 3);
});

test("no server at all: it waits longer and longer, and can be stopped", async () => {
  const delays = [];
  const stream = openEvents("http://127.0.0.1:9/", {
    ...{ retry: 2, maxDelay: 900, random: () => 0, reconnect: true },
    onState: (state, { delay }) => {
      if (state === "waiting") delays.push(delay);
      if (delays.length === 5) stream.close();
    },
  });
  assert.equal(await stream.done, "closed");
  assert.deepEqual(delays, [2, 200, 400, 800, 900]);
});

test("an event begins the waiting anew", async (context) => {
  const { url } = await served(
    context,
    answers({ status: 503 }, { status: 503 }, { body: event(1) }, { status: 503 }, { status: 204 }),
  );
  const delays = [];
  const onState = (state, { delay }) => state === "waiting" && delays.push(delay);
  const options = { retry: 2, maxDelay: 900, random: () => 0, reconnect: true };
  await all(openEvents(url, { ...options, onState }));
  assert.deepEqual(delays, [2, 200, 2, 200]);
});

test("events that bring no new id do not begin the waiting anew", async (context) => {
  const { url } = await served(
    context,
    answers(
      { body: event(1) },
      { body: "data: a\n\n" },
      { body: event(1) },
      { body: "id: 2\n\n" },
      { body: ": nothing\n" },
      { status: 204 },
    ),
  );
  const delays = [];
  const onState = (state, { delay }) => state === "waiting" && delays.push(delay);
  await all(openEvents(url, { retry: 100, maxDelay: 900, random: () => 0, onState }));
  assert.deepEqual(delays, [100, 200, 400, 100, 200]);
});

test("what brings no event does not lose the place to go on from", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: event(1) }, { body: ": open\nretry: 1\n" }, { body: ": hb\n\n\n" }, { body: "data: a\n\n" }, { status: 204 }),
  );
  const { events } = await all(openEvents(url, QUICK));
  assert.deepEqual(events, [
    ["1", "data 1"],
    ["1", "a"],
  ]);
  assert.deepEqual(
    requests.map(({ headers }) => headers["last-event-id"]),
    [undefined, "1", "1", "1", "1"],
  );
});

test("the server says how long to wait; chance adds up to half of it", async (context) => {
  const { url } = await served(
    context,
    answers({ body: `retry: 40\n${event(1)}` }, { status: 503, headers: { "retry-after": "1" } }, { status: 204 }),
  );
  const delays = [];
  const stream = openEvents(url, {
    ...{ retry: 1, random: () => 0.5 },
    onState: (state, { delay }) => {
      if (state !== "waiting") return;
      delays.push(delay);
      if (delays.length === 2) stream.close();
    },
    onEvent: () => {},
  });
  await stream.done;
  assert.deepEqual(delays, [50, 2500]);
});

test("a connection that hangs is left, before its head and after it", async (context) => {
  const { url, requests } = await served(context, (_, response, number) => {
    if (number === 0) return;
    response.writeHead(200, HEAD);
    if (number === 1) response.write(event(1));
    else response.end(event(2) + CLOSE);
  });
  const reasons = [];
  const stream = openEvents(url, {
    ...QUICK,
    timeout: 500,
    onState: (_, { reason }) => reason && reasons.push(reason),
  });
  assert.deepEqual((await all(stream)).events, pairs(1, 2));
  assert.deepEqual(reasons, ["the connection is silent", "the connection is silent", "CLOSE"]);
  assert.equal(requests.length, 3);
});

test("heartbeats keep a silent connection", async (context) => {
  const { url, requests } = await served(context, (_, response) => {
    response.writeHead(200, HEAD);
    let beats = 0;
    const timer = setInterval(() => {
      beats += 1;
      if (beats < 12) return response.write(": hb\n");
      clearInterval(timer);
      response.end(event(1) + CLOSE);
    }, 60);
  });
  assert.deepEqual((await all(openEvents(url, { ...QUICK, timeout: 600 }))).events, pairs(1));
  assert.equal(requests.length, 1);
});

test("a signal stops it: before it began, while it reads, while it waits", async (context) => {
  const { url, requests } = await served(context, (_, response, number) => {
    response.writeHead(number ? 503 : 200, HEAD);
    number ? response.end() : response.write(event(1));
  });
  const early = openEvents(url, { ...QUICK, signal: AbortSignal.abort() });
  assert.equal(await early.done, "closed");
  assert.equal(requests.length, 0);
  const control = new AbortController();
  const stream = openEvents(url, {
    ...QUICK,
    signal: control.signal,
    onEvent: () => control.abort(),
  });
  assert.equal(await stream.done, "closed");
  const waiting = new AbortController();
  const slow = openEvents(url, {
    ...{ retry: 60_000, reconnect: true },
    signal: waiting.signal,
    onState: (state) => state === "waiting" && waiting.abort(),
  });
  assert.equal(await slow.done, "closed");
});

test("leaving the loop ends the connection", async (context) => {
  let gone;
  const left = new Promise((resolve) => (gone = resolve));
  const { url } = await served(context, (request, response) => {
    response.writeHead(200, HEAD);
    response.write(event(1) + event(2));
    request.on("close", gone);
  });
  const stream = openEvents(url, QUICK);
  for await (const { id } of stream) {
    assert.equal(id, "1");
    break;
  }
  assert.equal(stream.state, "closed");
  await left;
});

test("who reads slowly is waited for", async (context) => {
  const many = Array.from({ length: 50 }, (_, id) => event(id)).join("");
  const { url } = await served(context, (_, response) => {
    response.writeHead(200, HEAD);
    response.write(many);
    setTimeout(() => response.end(event(50) + CLOSE), 20);
  });
  const stream = openEvents(url, QUICK);
  let count = 0;
  for await (const { id } of stream) {
    assert.equal(id, String(count++));
    if (count < 30) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.ok(stream.events <= 51);
  }
  assert.equal(count, 51);
});

test("nothing is read ahead of who reads slowly", async (context) => {
  const { url } = await served(context, (_, response) => {
    response.writeHead(200, HEAD);
    for (let id = 1; id <= 4000; id += 1) response.write(event(id, "x".repeat(1000)));
    response.end(CLOSE);
  });
  const stream = openEvents(url, QUICK);
  let count = 0;
  for await (const { id } of stream) {
    assert.equal(Number(id), ++count);
    if (count === 1) await new Promise((resolve) => setTimeout(resolve, 100));
    assert.ok(stream.bytes < count * 1100 + 500_000);
  }
  assert.equal(count, 4000);
});

test("a signal does not hold on to streams that have ended", async (context) => {
  const { url } = await served(context, answers({ body: CLOSE }));
  const control = new AbortController();
  await openEvents(url, { ...QUICK, signal: control.signal }).done;
  assert.equal(getEventListeners(control.signal, "abort").length, 0);
});

test("an error of who reads ends it, and is told", async (context) => {
  const { url, requests } = await served(context, answers({ body: event(1) + event(2) }));
  const stream = openEvents(url, {
    ...QUICK,
    onEvent: () => {
      throw new RangeError("mine");
    },
  });
  await assert.rejects(stream.done, /mine/);
  assert.equal(requests.length, 1);
  assert.deepEqual([stream.state, stream.events], ["failed", 1]);
});

test("what would be the same the next time is not tried again", async (context) => {
  await assert.rejects(openEvents("http://", QUICK).done, TypeError);
  await assert.rejects(openEvents("http://127.0.0.1:1/", { ...QUICK, headers: { "a b": "c" } }).done, TypeError);
  const { url } = await served(context, answers({ body: `data: ${"x".repeat(100)}\n\n` }));
  await assert.rejects(openEvents(url, { ...QUICK, limit: 50 }).done, LimitError);
});

test("another fetch can be given", async () => {
  const seen = [];
  const fetch = async (url, init) => {
    seen.push([String(url), init.headers.get("last-event-id"), init.cache]);
    return new Response(seen.length === 1 ? event(1) : null, {
      status: seen.length === 1 ? 200 : 204,
      headers: HEAD,
    });
  };
  await all(openEvents("http://x.test/", { ...QUICK, fetch }));
  assert.deepEqual(seen, [
    ["http://x.test/", null, "no-store"],
    ["http://x.test/", "1", "no-store"],
  ]);
});

// ---- every event once, in order, whatever happens ----

for (let seed = 0; seed < 6 * HARDER; seed += 1) {
  test(`every event once and in order, seed ${seed}`, async (context) => {
    const random = chance(seed);
    const count = 1 + random.below(40);
    const bad = nasty(random, count);
    const { url, requests } = await served(context, bad.answer);
    // Three pages in a row are no accident: then somebody tries again from where it was.
    const events = [];
    for (let after = "", reason = ""; reason === ""; ) {
      const stream = openEvents(url, {
        ...QUICK,
        retry: 0,
        after,
        timeout: 40,
        random: random.random,
      });
      try {
        for await (const event of stream) events.push(event);
        reason = await stream.done;
        assert.equal(reason, bad.ends);
      } catch (error) {
        assert.match(error.message, /not an event stream/);
        after = stream.lastEventId;
      }
    }
    assert.deepEqual(
      events.map(({ id }) => id),
      bad.log.map((_, number) => String(number + 1)),
    );
    assert.ok(requests.length >= 1);
  });
}

/** The same streams through an EventSource: what the browser does by itself, and what it does not. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { EventsError, openEventSource } from "../src/client/events.js";
import { CLOSE, QUICK, all, answers, cut, event, nasty, serve } from "./nasty.js";
import { FakeEventSource } from "./source.js";
import { chance, HARDER } from "./support.js";

const OPTIONS = { ...QUICK, EventSource: FakeEventSource };

async function served(context, answer) {
  const server = await serve(answer);
  context.after(server.close);
  return server;
}

const pairs = (...ids) => ids.map((id) => [String(id), `data ${id}`]);

test("events and CLOSE", async (context) => {
  const { url, requests } = await served(context, answers({ body: `${event(1)}event: x\n${event(2)}${event(3)}${CLOSE}` }));
  const states = [];
  const stream = openEventSource(url, {
    ...OPTIONS,
    types: ["x"],
    onState: (state) => states.push(state),
  });
  const { events, reason } = await all(stream);
  assert.deepEqual([events, reason, states], [pairs(1, 2, 3), "CLOSE", ["connecting", "open", "closed"]]);
  assert.deepEqual([stream.events, stream.bytes, stream.reconnects], [3, 18 + 6, 0]);
  assert.equal(requests.length, 1);
});

test("the browser goes on by itself, and what came already is not delivered again", async (context) => {
  const { url, requests } = await served(context, (_, response, number) => {
    const parts = [event(1) + event(2), event(2) + event(3), event(1) + event(3) + event(4) + CLOSE];
    cut(response, parts[number]);
  });
  const stream = openEventSource(url, OPTIONS);
  assert.deepEqual((await all(stream)).events, pairs(1, 2, 3, 4));
  assert.deepEqual([stream.duplicates, stream.reconnects], [3, 2]);
  assert.deepEqual(
    requests.map(({ headers }) => headers["last-event-id"]),
    [undefined, "2", "3"],
  );
});

test("events that share an id are not taken for the same", async (context) => {
  const { url } = await served(context, answers({ body: `id: 1\ndata: a\n\ndata: b\n\ndata: c\n\n${CLOSE}` }));
  assert.equal((await all(openEventSource(url, OPTIONS))).events.length, 3);
});

test("after an error status, at which browsers give up, it goes on", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: event(1) }, { status: 503 }, { status: 503 }, { body: event(2) }, { body: event(2) + CLOSE }),
  );
  const stream = openEventSource(`${url}?mode=x&after=0`, OPTIONS);
  assert.deepEqual((await all(stream)).events, pairs(1, 2));
  // The EventSource's, its second, a question, and another EventSource's, which goes on after 1.
  assert.deepEqual(
    requests.slice(0, 4).map(({ url: at }) => at),
    ["/events?mode=x&after=0", "/events?mode=x&after=0", "/events?mode=x&after=0", "/events?mode=x&after=1"],
  );
  assert.equal(requests[2].headers["last-event-id"], "1");
});

test("a 204 ends it, a 404 is told", async (context) => {
  const done = await served(context, answers({ body: event(1) }, { status: 204 }));
  assert.deepEqual(await all(openEventSource(done.url, { ...OPTIONS, after: "0" })), {
    events: pairs(1),
    reason: "204",
  });
  assert.equal(done.requests[0].url, "/events?after=0");
  const wrong = await served(context, answers({ status: 404, headers: {}, body: "nothing here" }));
  await assert.rejects(all(openEventSource(wrong.url, OPTIONS)), (error) => error instanceof EventsError && error.status === 404);
  assert.equal(wrong.requests.length, 2);
});

test("another content type is asked about three times", async (context) => {
  const { url } = await served(context, answers({ headers: { "content-type": "text/html" } }));
  await assert.rejects(all(openEventSource(url, OPTIONS)), /not an event stream/);
});

test("closing closes the EventSource; so does an error of who reads", async (context) => {
  const { url } = await served(context, (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(1));
  });
  const stream = openEventSource(url, { ...OPTIONS, onEvent: () => stream.close() });
  assert.equal(await stream.done, "closed");
  const failing = openEventSource(url, {
    ...OPTIONS,
    onEvent: () => {
      throw new RangeError("mine");
    },
  });
  await assert.rejects(failing.done, /mine/);
});

for (let seed = 0; seed < 4 * HARDER; seed += 1) {
  test(`every event once and in order, seed ${seed}`, async (context) => {
    const random = chance(1000 + seed);
    const bad = nasty(random, 1 + random.below(30), { silent: false });
    const { url } = await served(context, bad.answer);
    const ids = [];
    for (let after = "", reason = ""; reason === ""; ) {
      const stream = openEventSource(url, {
        ...OPTIONS,
        retry: 0,
        after,
        onEvent: ({ id }) => ids.push(id),
      });
      reason = await stream.done.catch((error) => {
        assert.match(error.message, /not an event stream/);
        after = stream.lastEventId;
        return "";
      });
      assert.ok(reason === "" || reason === bad.ends);
    }
    assert.deepEqual(
      ids,
      bad.log.map((_, number) => String(number + 1)),
    );
  });
}

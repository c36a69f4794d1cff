/** openEvents and open against a server that behaves badly: each event once, in order, and an end (P10). */

import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidJSON, Parser, Sender, SourceFailed, Truncated, open, openEvents, parts } from "../src/index.js";
import { CLOSE, HEAD, QUICK, all, answers, cut, event, nasty, serve } from "./nasty.js";
import { chance, HARDER } from "./support.js";

/** A server for one test. */
async function served(context, answer) {
  const server = await serve(answer);
  context.after(server.close);
  return server;
}

const pairs = (...ids) => ids.map((id) => [String(id), `data ${id}`]);

test("events come as they are, and CLOSE ends the stream", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: `: open\nretry: 7\n${event(1)}event: x\n${event("2.0")}${CLOSE}${event(3)}` }),
  );
  const seen = [];
  for await (const { type, id, data } of openEvents(url, { ...QUICK, headers: { authorization: "Bearer t" } })) {
    seen.push([type, id, data]);
  }
  assert.deepEqual(seen, [
    ["message", "1", "data 1"],
    ["x", "2.0", "data 2.0"],
  ]);
  const [{ headers }] = requests;
  assert.deepEqual(
    [requests.length, headers.accept, headers.authorization, headers["last-event-id"]],
    [1, "text/event-stream", "Bearer t", undefined],
  );
});

test("states come in their order", async (context) => {
  const { url } = await served(context, answers({ body: event(1) }, { status: 503 }, { body: event(2) + CLOSE }));
  const seen = [];
  const onState = (state, { reason }) => seen.push(reason ? `${state}: ${reason}` : state);
  for await (const { id } of openEvents(url, { ...QUICK, onState })) seen.push(id);
  assert.deepEqual(seen, [
    ...["connecting", "open", "1", "waiting: the connection ended", "connecting"],
    ...["waiting: the server answered 503", "connecting", "open", "2", "closed: CLOSE"],
  ]);
});

test("it goes on after the last id, and ends with a 204", async (context) => {
  const { url, requests } = await served(
    context,
    answers({ body: event(1) + event("2.0") }, { body: event("é→") }, { body: `${event(3)}id: 5\n\n` }, { status: 204 }),
  );
  assert.deepEqual(await all(openEvents(url, { ...QUICK, after: "0" })), pairs(1, "2.0", "é→", 3));
  const ids = requests.map(({ headers }) => Buffer.from(headers["last-event-id"], "latin1").toString());
  assert.deepEqual(ids, ["0", "2.0", "é→", "5"]);
});

test("an event is not delivered twice; events without their own id are not duplicates", async (context) => {
  const replay = event(1) + event(2) + event(3);
  const limited = await served(
    context,
    answers({ body: event(1) + event(2) }, { body: replay }, { body: replay + event(4) + `id: 4\n${CLOSE}` }),
  );
  assert.deepEqual(await all(openEvents(limited.url, { ...QUICK, after: "1" })), pairs(2, 3, 4));
  const body = `id: 1\ndata: a\n\ndata: a\n\ndata: a\n\nid\ndata: b\n\nid:\ndata: b\n\n${CLOSE}`;
  const plain = await served(context, answers({ body }));
  assert.equal((await all(openEvents(plain.url, QUICK))).length, 5);
});

test("a refusal ends it with the server's words, an overloaded server is tried again", async (context) => {
  for (const status of [400, 401, 403, 404, 410, 422]) {
    const { url, requests } = await served(context, answers({ status, body: '{"error": "no such stream"}' }));
    await assert.rejects(all(openEvents(url, QUICK)), (error) => {
      assert.ok(error instanceof SourceFailed);
      assert.equal(error.status, status);
      return /no such stream/.test(error.message);
    });
    assert.equal(requests.length, 1);
  }
  for (const status of [408, 429, 500, 503]) {
    const list = answers({ status }, { status, headers: { "retry-after": "0" } }, { body: event(1) + CLOSE });
    const { url } = await served(context, list);
    assert.deepEqual(await all(openEvents(url, QUICK)), pairs(1));
  }
});

test("an answer of another type is an error, but an accident in a stream that has begun", async (context) => {
  const page = { headers: { "content-type": "text/html" }, body: "<html>" };
  const interrupted = await served(context, answers({ body: event(1) }, page, page, { body: event(2) + CLOSE }));
  assert.deepEqual(await all(openEvents(interrupted.url, QUICK)), pairs(1, 2));
  const never = await served(context, answers(page));
  await assert.rejects(all(openEvents(never.url, QUICK)), /expected an event stream but got text\/html/);
});

test("without ids it is requested once, and ends with the response; a POST is not repeated", async (context) => {
  const { reconnect: _, ...once } = QUICK;
  const plain = await served(context, answers({ body: "data: a\n\ndata: b\n\n" }));
  assert.equal((await all(openEvents(plain.url, once))).length, 2);
  assert.equal(plain.requests.length, 1);
  const posted = await served(context, answers({ body: event(1) }));
  await assert.rejects(all(openEvents(posted.url, { ...once, init: { method: "POST" } })), /a POST is repeated with/);
  const lost = await served(context, (_request, response) => cut(response, "data: a\n\nda"));
  await assert.rejects(all(openEvents(lost.url, once)), /the connection failed.*without ids/);
});

test("a silent connection is lost, and the next one goes on", async (context) => {
  const { url } = await served(context, (_, response, number) => {
    response.writeHead(200, HEAD);
    if (number === 0) response.write(event(1));
    else response.end(event(2) + CLOSE);
  });
  assert.deepEqual(await all(openEvents(url, { ...QUICK, timeout: 60 })), pairs(1, 2));
});

test("each wait is longer than the one before, at most half again of the longest", async (context) => {
  const delays = [];
  const { url } = await served(context, (_, response, number) =>
    number < 6 ? response.writeHead(503).end() : response.writeHead(200, HEAD).end(event(1) + CLOSE),
  );
  const onState = (_, { delay }) => delay !== undefined && delays.push(delay);
  await all(openEvents(url, { ...QUICK, retry: 2, maxDelay: 20, onState }));
  assert.equal(delays.length, 6);
  assert.ok(delays[0] <= 3 && delays.slice(1).every((delay) => delay >= 20 && delay <= 30), String(delays));
});

test("leaving the loop closes the connection, and a wrong address is a TypeError", async (context) => {
  let closed;
  const isClosed = new Promise((resolve) => (closed = resolve));
  const { url } = await served(context, (request, response) => {
    request.on("close", closed);
    response.writeHead(200, HEAD).write(event(1));
  });
  for await (const _ of openEvents(url, QUICK)) break;
  await isClosed;
  assert.throws(() => openEvents("http://", QUICK), TypeError);
});

test("an event that is too large is an error, after those before it", async (context) => {
  const { url } = await served(context, answers({ body: event(1) + event(2, "x".repeat(99)) }));
  const seen = [];
  const read = async () => {
    for await (const { id } of openEvents(url, { ...QUICK, limit: 50 })) seen.push(id);
  };
  await assert.rejects(read, { code: "LIMIT_EXCEEDED" });
  assert.deepEqual(seen, ["1"]);
});

test("P10: a reader of a nasty server sees each event once, in order, and an end", async (context) => {
  for (let seed = 0; seed < 30 * HARDER; seed += 1) {
    const random = chance(seed);
    const count = 1 + random.below(20);
    const { answer } = nasty(random, count, { silent: false });
    const { url } = await served(context, answer);
    const isHtml = (error) => /expected an event stream/.test(error.message);
    try {
      const seen = await all(openEvents(url, QUICK));
      assert.deepEqual(
        seen.map(([id]) => Number(id)),
        Array.from({ length: count }, (_, number) => number + 1),
      );
    } catch (error) {
      if (!isHtml(error)) throw error;
    }
  }
});

// ---- open ----

/** The states that a body of these events describes. */
async function opened(events, options) {
  const body = events.map((data, at) => event(at + 1, typeof data === "string" ? data : JSON.stringify(data))).join("");
  const fetch = async () => new Response(body + CLOSE, { headers: HEAD });
  const states = [];
  for await (const state of open("http://test/", { fetch, every: 0, ...options })) states.push(state);
  return states;
}

const text = '{"title": "Tea", "steps": ["boil", "steep"]}';
const pieces = [text.slice(0, 12), text.slice(12, 30), text.slice(30)];
const FINAL = JSON.parse(text);

/** The same answer in the formats that open() reads. */
const FORMATS = {
  text: () => pieces,
  fragments: () => {
    const parser = new Parser();
    return [...pieces.map((piece) => parser.feed(piece)), parser.flush()].filter((list) => list.length);
  },
  "fragments, one an event": () => FORMATS.fragments().flat(),
  deltas: () => {
    const sender = new Sender({ ordered: true });
    return [...[{}, { title: "Te" }, { title: "Tea", steps: ["b"] }, FINAL].map((state) => sender.feed(state)), sender.end()];
  },
  updates: () => [
    { index: 0, status: "PARTIAL", data: { title: "Te" } },
    { index: 0, status: "PARTIAL", delta: [["append", "/title", "a"]] },
    { index: 0, status: "COMPLETED", data: FINAL },
  ],
};

for (const [format, events] of Object.entries(FORMATS)) {
  test(`open reads the format ${format}`, async () => {
    const sent = format === "text" ? events().map((piece) => JSON.stringify(piece)) : events();
    const states = await opened(sent);
    const last = states.at(-1);
    assert.deepEqual([last.value, last.complete, last.isComplete("title"), last.isComplete()], [FINAL, true, true, true]);
    assert.ok(states.length > 2 && states.slice(0, -1).every(({ complete, id }) => !complete && id !== ""));
    assert.equal(states[0].isComplete(), false);
    assert.deepEqual((await opened(sent, { every: 16 })).at(-1).value, FINAL);
  });
}

test("of an entity that grows, all but the last value is complete", async () => {
  const data = { title: "Tea", steps: [["boil"], ["st"]] };
  const [state] = await opened([{ index: 0, status: "PARTIAL", data }]).catch(({ value }) => [value]);
  const places = ["title", "steps[0]", "steps[1]", "steps[1][0]", "steps"];
  assert.deepEqual(places.map(state.isComplete), [true, true, false, false, false]);
});

test("open keeps every entity of a stream of updates, however fast they come", async () => {
  const updates = Array.from({ length: 50 }, (_, index) => ({ index, status: "COMPLETED", data: index, entity: "n" }));
  const states = await opened(updates, { every: 16 });
  assert.deepEqual(
    states.map(({ index, value }) => [index, value]),
    updates.map(({ index, data }) => [index, data]),
  );
});

test("open reads a body of JSON text, a Response and a POST", async (context) => {
  const { url } = await served(context, answers({ headers: { "content-type": "application/json" }, body: text }));
  for (const source of [url, fetch(url), await fetch(url, { method: "POST" })]) {
    let last;
    for await (last of open(source));
    assert.deepEqual([last.value, last.complete], [FINAL, true]);
  }
});

test("open names a page that is sent instead of JSON", async (context) => {
  const { url } = await served(context, answers({ headers: { "content-type": "text/html" }, body: "<!doctype html><p>" }));
  await assert.rejects(all(open(url)), { message: /this is an HTML page, not JSON/ });
});

test("an error that the server reports is thrown with its code and place", async () => {
  const failure = { code: "INVALID_JSON", message: "expected a value", path: "root.a[0]", offset: 7 };
  await assert.rejects(opened(['"[1"', { status: "ERROR", error: failure }]), (error) => {
    assert.ok(error instanceof SourceFailed);
    assert.deepEqual(JSON.parse(JSON.stringify(error)), failure);
    return true;
  });
  const wire = [{ n: 1, value: [] }, [2, ["error", { code: "X", message: "broken" }]]];
  await assert.rejects(opened(wire), { code: "X", message: "broken" });
});

test("a stream that was closed too early is Truncated", async () => {
  await assert.rejects(opened(['"[1"']), Truncated);
  await assert.rejects(opened([[{ path: "root", kind: "StartArray" }]]), { reason: "lost" });
  await assert.rejects(opened([{ n: 1, value: [] }]), { reason: "lost" });
  await assert.rejects(opened(['"[1, ?"']), InvalidJSON);
});

test("a server that renders the stream anew: open forgets the value, other readers say so", async () => {
  const restart = "event: RESTART\ndata: [RESTART]\n\n";
  const body = `${event(1, '"[1, 2"')}${restart}${event("1-b", '"[3]"')}${CLOSE}`;
  const fetch = async () => new Response(body, { headers: HEAD });
  let last;
  for await (last of open("http://test/", { fetch }));
  assert.deepEqual(last.value, [3]);
  await assert.rejects(all(parts(openEvents("http://test/", { fetch }))), { code: "RESTART" });
});

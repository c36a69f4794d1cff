/** Server-sent events: what browsers make of bytes, under every cutting. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { endsStream } from "../src/eventstream.js";
import { LimitExceeded, SSEDecoder } from "../src/index.js";
import { cases, cuttings, hard, within } from "./support.js";

const decode = (pieces, options) => {
  const decoder = new SSEDecoder(options);
  return pieces.flatMap((piece) => decoder.feed(piece)).map(({ type, data, id }) => [type, data, id]);
};

function everyCutting(bytes, events) {
  for (const pieces of cuttings(bytes)) assert.deepEqual(decode(pieces), events);
}

for (const { name, text, base64, events } of cases("sse.json").cases) {
  test(name, () => {
    everyCutting(base64 === undefined ? Buffer.from(text) : Buffer.from(base64, "base64"), events);
    if (text !== undefined) for (const pieces of cuttings(text)) assert.deepEqual(decode(pieces), events);
  });
}

test("the vectors of a browser", () => {
  for (const { bytes_base64: bytes, events } of cases("sse_browser.json").cases)
    everyCutting(Buffer.from(bytes, "base64"), events);
});

test("an event comes with its blank line and not later", () => {
  const decoder = new SSEDecoder();
  const counts = ["data: a\r", "\r", "\ndata: b\r\n", "\r", "\n"].map((piece) => decoder.feed(piece).length);
  assert.deepEqual(counts, [0, 1, 0, 1, 0]);
});

test("where to go on", () => {
  const decoder = new SSEDecoder();
  assert.deepEqual([decoder.lastEventId, decoder.retry], ["", null]);
  decoder.feed("id: 7\nretry: 300\n");
  assert.deepEqual([decoder.lastEventId, decoder.retry], ["", 300]);
  decoder.feed("\n");
  assert.equal(decoder.lastEventId, "7");
  for (const value of ["1_000", "-5", "", "1.5", "٣", "9".repeat(20), "9".repeat(5000)]) {
    decoder.feed(`retry: ${value}\n\n`);
    assert.equal(decoder.retry, 300);
  }
});

test("an id is the event's own, or one before it", () => {
  const decoder = new SSEDecoder({ lastEventId: "5" });
  const events = decoder.feed("data: a\n\nid: 6\ndata: b\n\ndata: c\n\nid: 7\n\ndata: d\n\nid: 8\x00\ndata: e\n\n");
  assert.deepEqual(
    events.map(({ id, hasId }) => [id, hasId]),
    [
      ["5", false],
      ["6", true],
      ["6", false],
      ["7", false],
      ["7", false],
    ],
  );
});

test("a line and an event are bounded; what came before is not lost", () => {
  for (const text of ["data: aaaaaaaaaaa", ": aaaaaaaaaaaaaaaa", "data: aaaa\ndata: bbbb\n"]) {
    for (const pieces of cuttings(text)) assert.throws(() => decode(pieces, { limit: 15 }), LimitExceeded);
  }
  assert.equal(decode(["data: aaaa\n\n: comment\n".repeat(50)], { limit: 15 }).length, 50);
  const decoder = new SSEDecoder({ limit: 15 });
  assert.equal(decoder.feed(`data: a\n\ndata: ${"b".repeat(20)}`).length, 1);
  assert.throws(() => decoder.feed("\n"), LimitExceeded);
});

hard("P8: linear: a long event in tiny pieces", () => {
  const run = (count) => () => {
    const decoder = new SSEDecoder();
    decoder.feed("data: ");
    for (let piece = 0; piece < count; piece += 1) decoder.feed("abcd");
    assert.equal(decoder.feed("\n\n").length, 1);
  };
  assert.ok(within(9, run(50_000), run(200_000)));
});

test("a stream ends with the event CLOSE, or with [DONE]", () => {
  assert.ok(endsStream({ type: "CLOSE", data: "" }));
  assert.ok(endsStream({ type: "message", data: " [DONE]" }));
  assert.ok(!endsStream({ type: "message", data: "{}" }));
});

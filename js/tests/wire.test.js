/** The wire for growing JSON: `cases/wire` pins it for every language. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { applyDelta, Gap, InvalidMessage, Receiver, receive } from "../src/receive.js";
import { difference, Sender, send } from "../src/send.js";
import { cases, chance, frozen, HARDER, hard, within } from "./support.js";
import { edited, randomValue } from "./states.js";

const copy = (value) => JSON.parse(JSON.stringify(value));

async function all(items) {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
}

function run(receiver, message) {
  const before = receiver.n;
  try {
    receiver.feed(frozen(message));
  } catch (error) {
    if (error instanceof Gap) return "gap";
    if (error instanceof InvalidMessage) return "invalid";
    throw error;
  }
  return Array.isArray(message) && receiver.n === before ? "ignored" : "ok";
}

for (const { name, steps } of ["conversations", "depth", "surrogates"].flatMap((file) => cases(`wire/${file}.json`))) {
  test(name, () => {
    const receiver = new Receiver();
    let value;
    for (const { message, result = "ok", ...after } of steps) {
      const before = receiver.n;
      assert.equal(run(receiver, message), result, JSON.stringify(message));
      if (Object.hasOwn(after, "value")) value = after.value;
      assert.deepEqual(receiver.value, value);
      if (result !== "ok") assert.equal(receiver.n, before);
      for (const key of ["n", "ended", "error"]) if (Object.hasOwn(after, key)) assert.deepEqual(receiver[key], after[key]);
      for (const pointer of after.final ?? []) assert.ok(receiver.isComplete(pointer), pointer);
      for (const pointer of after.open ?? []) assert.ok(!receiver.isComplete(pointer), pointer);
    }
    assert.equal({}.polluted, undefined);
  });
}

for (const { name, deltas, data } of cases("wire/updates.json")) {
  test(`P7: the deltas of updates give their data: ${name}`, () => {
    assert.deepEqual(
      deltas.reduce((value, delta) => applyDelta(frozen(value), frozen(delta)), null),
      data,
    );
  });
}

test("P12: a receiver at n has the value of the sender at n", () => {
  const random = chance(12);
  for (let round = 0; round < 3000 * HARDER; round += 1) {
    const numbered = random.below(2) === 0;
    const sender = new Sender({ numbered, frozen: random.below(3) === 0 });
    const receivers = [new Receiver()];
    const sent = new Map();
    const messages = [];
    let state = randomValue(random);
    for (let step = 0; step < 8; step += 1) {
      const message = sender.feed(state);
      if (message !== null) messages.push(copy(message));
      const snapshot = copy(sender.snapshot());
      sent.set(snapshot.n, copy(state));
      const arriving = numbered
        ? Array.from({ length: random.below(4) }, () => random.pick(messages))
        : messages.slice(messages.length - (message === null ? 0 : 1));
      for (const receiver of receivers) {
        for (const message of arriving) {
          if (run(receiver, message) === "gap") receiver.feed(snapshot);
          if (receiver.n > 0) assert.deepEqual(receiver.value, sent.get(receiver.n));
        }
      }
      if (random.below(3) === 0) {
        receivers.push(new Receiver());
        receivers.at(-1).feed(snapshot);
      }
      state = edited(copy(state), random);
    }
  }
});

test("P12: text arrives whole, however it is cut", async () => {
  const random = chance(13);
  for (let round = 0; round < 300 * HARDER; round += 1) {
    const value = randomValue(random);
    const text = JSON.stringify(value, null, random.below(2));
    const pieces = [];
    for (let at = 0; at < text.length; ) pieces.push(text.slice(at, (at += 1 + random.below(9))));
    const values = await all(receive(send(pieces, { numbered: random.below(2) === 0 })));
    assert.deepEqual(values.at(-1), copy(value));
  }
});

test("P7: the difference of any two values makes one of them the other", () => {
  const random = chance(14);
  for (let round = 0; round < 3000 * HARDER; round += 1) {
    const [old, fresh] = [copy(randomValue(random)), copy(randomValue(random))];
    assert.deepEqual(applyDelta(frozen(old), copy(difference(old, fresh))), fresh);
    assert.deepEqual(difference(fresh, copy(fresh)), []);
  }
});

test("messages equal Python's", async () => {
  const text = '{"title":"Oslo","steps":[{"a":1,"b":"x"},[2,"z"]]}';
  assert.deepEqual(await all(send(text.match(/[^]{1,9}/g))), [
    { n: 1, value: {}, ordered: true },
    [2, ["set", "/title", "Oslo"]],
    [3, ["set", "/steps", [{}]]],
    [4, ["set", "/steps/0/a", 1]],
    [5, ["set", "/steps/0/b", "x"], ["set", "/steps/1", [2, ""]]],
    [6, ["append", "/steps/1/1", "z"]],
    [7, ["end"]],
  ]);
  const sender = new Sender();
  const states = ["", "Os", "Oslo"].map((title) => ({ title }));
  assert.deepEqual(
    [...states, ...states.slice(2)].map((state) => sender.feed(state)),
    [{ n: 1, value: { title: "" } }, [2, ["append", "/title", "Os"]], [3, "lo"], null],
  );
  assert.throws(() => sender.end({ code: "TIMEOUT" }), TypeError);
  assert.deepEqual(sender.end(), [4, ["end"]]);
});

test("values keep their identity outside the changed path", () => {
  const receiver = new Receiver();
  receiver.feed({ n: 1, value: { a: { t: "x" }, b: [{}] } });
  const first = frozen(receiver.value);
  receiver.feed([2, ["append", "/a/t", "y"]]);
  assert.deepEqual([first.a, receiver.value.a], [{ t: "x" }, { t: "xy" }]);
  assert.equal(receiver.value.b, first.b);
});

test("a value that was read stays as it is, whatever comes and fails after it", () => {
  const receiver = new Receiver();
  receiver.feed({ n: 1, value: { a: "x", b: [1] } });
  receiver.feed([["append", "/a", "y"]]);
  const read = receiver.value;
  for (const steps of [
    [
      ["append", "/a", "z"],
      ["remove", "/c"],
    ],
    [["set", "/b/9", 1]],
  ]) {
    assert.throws(() => receiver.feed(steps), InvalidMessage);
    assert.deepEqual(receiver.value, { a: "xy", b: [1] });
    receiver.feed({ n: 1, value: { a: "xy", b: [1] } });
  }
  receiver.feed([2, ["set", "/b/0", 2]]);
  assert.deepEqual(
    [read, receiver.value],
    [
      { a: "xy", b: [1] },
      { a: "xy", b: [2] },
    ],
  );
});

hard("linear: a receiver of a wide object", () => {
  const messages = (count) => Array.from({ length: count }, (_, at) => ["set", `/key${at}`, at]);
  const receive = (count) => {
    const receiver = new Receiver();
    receiver.feed({ n: 1, value: {} });
    for (const message of messages(count)) receiver.feed([message]);
  };
  assert.ok(
    within(
      3,
      () => receive(5_000),
      () => receive(10_000),
    ),
  );
});

test("a state may be changed in place, and undefined and dates are as in JSON", () => {
  const [sender, receiver] = [new Sender(), new Receiver()];
  const state = { list: [], at: new Date(0), none: undefined };
  for (let number = 0; number < 4; number += 1) {
    receiver.feed(sender.feed(state));
    assert.deepEqual(receiver.value, copy(state));
    state.list.push({ number, none: undefined });
  }
  for (const bad of [Number.NaN, { a: 1n }, [Infinity]]) assert.throws(() => sender.feed(bad), TypeError);
  assert.equal(sender.snapshot().n, 4);
});

test("a state that changes or moves something done is refused", () => {
  for (const [state, done, following] of [
    [{ a: [{ b: 1 }] }, "/a/0", { a: [0, { b: 1 }] }],
    [{ a: "x" }, "/a", { a: "xy" }],
    [{ a: "x", b: 1 }, "/a", { b: 1 }],
    [[1], "", [1, 2]],
  ]) {
    const sender = new Sender();
    sender.feed(state, [done]);
    assert.throws(() => sender.feed(following), /is done/);
    assert.equal(sender.feed(state), null);
  }
});

test("sources and transports that fail", async () => {
  async function* broken() {
    yield '{"a": "x';
    throw new RangeError("secret");
  }
  const messages = [];
  await assert.rejects(async () => {
    for await (const message of send(broken())) messages.push(message);
  }, RangeError);
  assert.deepEqual(messages[1], [2, ["error", { code: "SOURCE_FAILED", message: "the source failed" }]]);
  await assert.rejects(all(receive(messages)), { name: "SourceFailed" });
  await assert.rejects(all(receive(messages.slice(0, 1))), Gap);
  const cut = new TextEncoder().encode('{"n":1,"value":1}\n[2,["set"');
  await assert.rejects(all(receive([cut])), Gap);
  const [, append, [, [name, { code }]]] = await all(send(['{"a": "x', 'y" 1']));
  assert.deepEqual([append, name, code], [[2, ["append", "/a", "y"]], "error", "INVALID_JSON"]);
  await assert.rejects(all(receive(new Response("no", { status: 404 }))), { name: "SourceFailed", status: 404 });
});

test("bytes are lines or events", async () => {
  const messages = ['{"n":1,"value":"a"}', '[2,["append","","é"]]', '[3,["end"]]'];
  const events = `: hb\n\n${messages.map((text) => `data: ${text}\n\n`).join("")}event: CLOSE\ndata: [DONE]\n\n`;
  for (const text of [messages.join("\n"), events]) {
    for (const size of [1, 7, 1000]) {
      const bytes = new TextEncoder().encode(text);
      const body = new ReadableStream({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
          controller.close();
        },
      });
      assert.deepEqual(await all(receive(new Response(body))), ["a", "aé"]);
    }
  }
});

test("receive names what reads other formats", async () => {
  const update = { index: 0, status: "PARTIAL", data: {} };
  await assert.rejects(receive([update]).next(), { name: "InvalidMessage", message: /open\(\) reads other formats/ });
});

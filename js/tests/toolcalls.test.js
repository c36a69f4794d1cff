/** Tool calls over the wire; `cases/toolcalls.json` pins them for every language. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Parser, partial, ToolCalls, toolCalls } from "../src/index.js";
import { cases, chance, cuttings, frozen, HARDER, hard, within } from "./support.js";

/** A call as the cases write it: fields that say nothing left out. */
function shown(call) {
  const fields = {
    id: call.id,
    index: call.index,
    message_id: call.messageId,
    name: call.name,
    raw: call.raw,
    args: call.args,
    status: call.status,
    error: call.error,
    result: call.result,
    result_is_error: call.resultIsError || null,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
}

for (const { name, steps } of cases("toolcalls.json").cases) {
  test(name, () => {
    const calls = new ToolCalls();
    for (const step of steps) {
      if (step.event) calls.feed(frozen(step.event));
      else if (step.forget) calls.forget(step.forget);
      else calls.flush();
      assert.deepEqual(calls.calls.map(shown), step.calls);
      for (const call of calls.calls) frozen(call.args);
    }
  });
}

const update = (...updates) => ({
  kind: "tools_call_update",
  messageId: "m",
  tool_call_updates: updates,
});

test("an event says which calls it changed", () => {
  const calls = new ToolCalls();
  const ids = (changed) => changed.map(({ id }) => id);
  assert.deepEqual(ids(calls.feed(update({ tool_call_id: "a", index: 0, function_name: "f" }))), ["a"]);
  assert.deepEqual(ids(calls.feed(update({ index: 0, function_args: "{" }, { index: 1 }))), ["a", "m:1"]);
  assert.deepEqual(ids(calls.calls), ["a", "m:1"]);
  assert.equal(calls.get("a").name, "f");
  assert.deepEqual(calls.feed({ kind: "other" }), []);
  assert.deepEqual(ids(calls.flush()), ["a", "m:1"]);
  assert.deepEqual(calls.flush(), []);
});

test("an event may be JSON text", () => {
  const calls = new ToolCalls();
  const event = update({
    tool_call_id: "a",
    function_args: '{"n": 9007199254740993}',
    json_update_fragments: [],
  });
  calls.feed(JSON.stringify(event));
  calls.feed('{"kind": "tool_result", "tool_call_id": "a", "result": 9007199254740993}');
  assert.deepEqual(calls.get("a").args, { n: Number("9007199254740993") });
  assert.deepEqual(calls.get("a").result, Number("9007199254740993"));
  assert.deepEqual(calls.feed("{"), []);
});

test("calls are snapshots: what one says does not change, in whatever order they are read", () => {
  const text = '{"city": "Oslo", "days": [1, 2, {"x": "yz"}]}';
  const fragments = (piece) => (piece === 0 ? { json_update_fragments: parser.feed(text.slice(0, 9)) } : {});
  const parser = new Parser();
  for (const how of [() => ({}), fragments]) {
    const calls = new ToolCalls();
    const kept = [];
    for (let at = 0; at < text.length; at += 3) {
      const [call] = calls.feed(update({ tool_call_id: "a", function_args: text.slice(at, at + 3), ...how(at) }));
      const isRead = at % 2 === 0;
      kept.push([call, text.slice(0, at + 3), isRead && frozen(call.args)]);
    }
    calls.feed(update({ tool_call_id: "a", status: "complete" }));
    for (const [call, raw, args] of kept) {
      assert.equal(call.raw, raw);
      assert.deepEqual(call.args, partial(raw));
      if (args) assert.equal(call.args, args);
      assert.equal(call.status, "streaming");
      assert.deepEqual(JSON.parse(JSON.stringify(call)).args, JSON.parse(JSON.stringify(partial(raw) ?? {})));
    }
    assert.deepEqual([calls.get("a").status, calls.get("a").args], ["complete", JSON.parse(text)]);
  }
});

test("a loop that runs a tool when its call is complete runs it once", async () => {
  const delta = (call, finish_reason = null) => ({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason }] });
  const events = [
    delta({ index: 0, id: "a", function: { name: "f", arguments: '{"x": 1' } }),
    delta({ index: 0, function: { arguments: "}" } }),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage: { total_tokens: 3 } },
  ];
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  for (const pieces of cuttings(body)) {
    let runs = 0;
    for await (const call of toolCalls(pieces, { sse: true })) if (call.status === "complete") runs += 1;
    assert.equal(runs, 1);
  }
});

test("`keep` bounds how many ended messages are kept, and memory stays flat", () => {
  const calls = new ToolCalls({ keep: 4 });
  for (let turn = 0; turn < 2000; turn += 1) {
    const who = { tool_call_id: `c${turn}`, index: 0 };
    calls.feed({ kind: "tools_call_update", messageId: `m${turn}`, tool_call_updates: [{ ...who, function_args: "{}" }] });
    calls.feed({
      kind: "tools_aggregate",
      messageId: `m${turn}`,
      tool_calls: [{ ...who, function_args: "{}" }],
    });
    assert.ok(calls.calls.length <= 5);
  }
  calls.flush();
  assert.equal(calls.calls.length, 4);
  const known = Array.from({ length: 2000 }, (_, turn) => calls.get(`c${turn}`));
  assert.ok(known.filter((call) => call !== null).length <= 5);
});

test("text that is not JSON is bounded, too", () => {
  const calls = new ToolCalls({ limits: { text: 10 } });
  for (const function_args of ["{!", "x".repeat(9), "yyyy"]) {
    calls.feed(update({ tool_call_id: "broken", index: 0, function_name: "f", function_args }));
  }
  assert.deepEqual([calls.get("broken").raw, calls.get("broken").error.code], ["{!yyyy", "INVALID_JSON"]);
  const item = { type: "custom_tool_call", id: "i", call_id: "free", name: "shell", input: "" };
  calls.feed({ type: "response.output_item.added", output_index: 0, item });
  for (const delta of ["ls -la ", "and more"]) {
    calls.feed({ type: "response.custom_tool_call_input.delta", output_index: 0, item_id: "i", delta });
  }
  assert.deepEqual([calls.get("free").raw, calls.get("free").error.code], ["ls -la ", "LIMIT_EXCEEDED"]);
});

test("calls beyond the limit end with an error that names it", () => {
  const calls = new ToolCalls();
  const feed = (index, fields) => calls.feed(update({ index, ...fields }));
  const numbers = Array.from({ length: 10_100 }, (_, number) => number);
  const opened = numbers.flatMap((number) =>
    feed(number, { tool_call_id: `c${number}`, function_name: "f", function_args: "{" }),
  );
  const refused = opened.filter(({ error }) => error !== null);
  assert.equal(refused.length, 100);
  assert.ok(refused.every(({ error }) => error.code === "LIMIT_EXCEEDED" && error.limit === "calls"));
  for (const number of numbers) feed(number, { function_args: "}", status: "complete" });
  assert.equal(calls.calls.filter(({ status }) => status === "complete").length, 10_000);
});

test("nothing is thrown on any event", () => {
  const { below, pick } = chance(11);
  const words = ["a", "", "null", "m", 0, 1, 1.5, -1, null, true, [], {}, "complete", "error", "truncated", "text"];
  words.push('{"a":1}', "{", "[1", "x", [[0]], [{ kind: "StartArray", path: "root" }], ["x"], { code: "X", message: "y" });
  const fields = ["tool_call_id", "toolCallId", "index", "function_name", "function_args", "json_update_fragments"];
  fields.push("status", "error", "encoding", "args", "result", "is_error");
  const call = () => Object.fromEntries(fields.filter(() => below(2)).map((name) => [name, pick(words)]));
  for (let round = 0; round < 100 * HARDER; round += 1) {
    const calls = new ToolCalls({ keep: 3 });
    for (let count = 0; count < 30; count += 1) {
      const kind = pick(["tools_call_update", "tool_result", "tools_aggregate", "?"]);
      const list = Array.from({ length: below(3) }, () => pick([call(), call(), 7, null]));
      calls.feed({
        kind,
        ...call(),
        messageId: pick(words),
        tool_call_updates: list,
        tool_calls: list,
        tool_results: pick([list, 3]),
      });
      if (!below(10)) calls.forget("m");
      if (!below(10)) calls.flush();
      for (const call of calls.calls) JSON.stringify(shown(call));
    }
  }
});

// ---- the text without fragments ----

const TEXTS = {
  complete: [
    '{"a": [1, {"b": "x\\"}]"}], "c": "\\\\"}',
    "[]",
    '"a\\"b"',
    " \n{}",
    "true",
    "null ",
    "12",
    "-1.5e3 ",
    "9007199254740993",
  ],
  truncated: ["{", '"abc', "tru", "1."],
  error: ["[}", "]", "1.x", "--", ".5 ", "1".repeat(500), "x", "nan", "{'a': 1}", "\ufeff{}", "[1,]"],
};
const STATUSES = Object.entries(TEXTS).flatMap(([status, texts]) => texts.map((text) => [text, status]));

test("a call is complete with all its arguments, not with an empty object that may be a placeholder", () => {
  const calls = new ToolCalls();
  for (const text of ["{}", '{"a": 1}']) {
    const call = { index: 0, id: "c", function: { name: "f", arguments: text } };
    calls.feed({ choices: [{ index: 0, delta: { tool_calls: [call] } }] });
    assert.equal(calls.get("c").isComplete(), text !== "{}");
    assert.equal(calls.get("c").completeArgs, text !== "{}");
  }
});

test("arguments without fragments are parsed as they come, at any cutting", () => {
  for (const [text, status] of STATUSES) {
    const isComplete = status === "complete";
    for (const pieces of cuttings(text)) {
      const calls = new ToolCalls();
      for (const function_args of pieces) calls.feed(update({ tool_call_id: "a", function_args }));
      if (/^[[{"tn]/.test(text.trim())) assert.equal(calls.get("a").completeArgs, isComplete, text);
      calls.feed(update({ tool_call_id: "a", status: "complete" }));
      const call = calls.get("a");
      assert.equal(call.status, status, text);
      assert.equal(call.error?.code !== undefined, status === "error", text);
      if (isComplete) assert.deepEqual(call.args, JSON.parse(text));
    }
  }
});

hard("linear: text in tiny pieces, whatever it is", () => {
  const run = (text) => () => {
    const calls = new ToolCalls();
    for (let at = 0; at < text.length; at += 4) {
      const [call] = calls.feed(update({ tool_call_id: "a", function_args: text.slice(at, at + 4) }));
      call.args;
    }
  };
  for (const unit of ['{"a":["x"]},', "1234567890", "not JSON at all ", '"a\\"', "      "]) {
    const text = (count) => (unit[0] === "{" ? "[" : "") + unit.repeat(count);
    assert.ok(within(9, run(text(1500)), run(text(6000))), unit);
  }
});

test("which arguments are complete, while they grow and after they were cut off", () => {
  const calls = new ToolCalls();
  const fragments = [
    { path: "root", kind: "StartObject" },
    { path: "root", kind: "Key", value: "city" },
    { path: "root.city", kind: "StartString" },
    { path: "root.city", kind: "PartialString", textValue: "Oslo" },
    { path: "root.city", kind: "CompleteString", value: "Oslo" },
    { path: "root", kind: "Key", value: "to" },
    { path: "root.to", kind: "StartString" },
    { path: "root.to", kind: "PartialString", textValue: "Ber" },
  ];
  const text = '{"city":"Oslo","to":"Ber';
  calls.feed(update({ tool_call_id: "a", function_name: "f" }));
  const [before] = calls.calls;
  assert.deepEqual([before.openPath, before.isComplete()], [null, false]);
  const [call] = calls.feed(update({ tool_call_id: "a", function_args: text, json_update_fragments: fragments }));
  const [cut] = calls.flush();
  for (const state of [call, cut]) {
    const seen = ["city", "to", [], "days"].map((path) => state.isComplete(path));
    assert.deepEqual([state.openPath, seen], [["to"], [true, false, false, false]]);
  }
  assert.equal(cut.status, "truncated");
});

/** Broken streams of many kinds: what is wrong, where, and what to do. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { diagnose } from "../diagnosis.js";
import { recognise } from "../recognise.js";
import { Recording } from "../recording.js";

/** @param {object[]} events */
function sse(...events) {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/**
 * OpenAI chat events of a text in small pieces.
 * @param {string} text
 * @param {string | null} finish
 * @param {object} [more]
 */
function chat(text, finish, more) {
  const deltas = [...(text.match(/[^]{1,6}/g) ?? []).map((content) => ({ content })), ...(more ? [more] : [])];
  const choices = deltas.map((delta) => ({ index: 0, delta, finish_reason: null }));
  if (finish) choices.push({ index: 0, delta: {}, finish_reason: finish });
  return `${sse(...choices.map((choice) => ({ object: "chat.completion.chunk", choices: [choice] })))}${finish ? "data: [DONE]\n\n" : ""}`;
}

const CALL = { index: 0, id: "c", type: "function", function: { name: "get_weather", arguments: "{'city': 'Oslo'}" } };
const CUT_CALL = sse(
  { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [] } },
  { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "book", input: {} } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"boat": {"name": "Kit' } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "max_tokens" } },
  { type: "message_stop" },
);
const FILTERED = sse(
  { candidates: [{ index: 0, content: { role: "model", parts: [{ text: '{"name": "Anna", ' }] } }] },
  { candidates: [{ index: 0, content: { role: "model", parts: [{ text: '"bio": "Born' }] }, finishReason: "SAFETY" }] },
);

/** Text, what is wrong, where, what to do. @type {Record<string, [string, RegExp, string | RegExp, RegExp]>} */
const BROKEN = {
  "a word without quotes": [
    '{"a": 1, "b": oops}',
    /expected a value, but got 'o'/,
    "line 1, column 15, in root.b",
    /double quotes/,
  ],
  "a comma too many": ['{\n "a": [1, 2,]\n}', /but got ']'/, "line 2, column 13, in root.a[2]", /Remove the comma/],
  "a missing comma": ['{"a": 1 "b": 2}', /expected ',' or '}'/, "line 1, column 9, in root", /Put a comma/],
  "a missing comma between lines": [
    '{\n"a": 1\n\n"b": 2}',
    /'}'/,
    "line 4, column 1, in root",
    /comma after the value on line 2\./,
  ],
  "a missing colon": ['{"a" [1]}', /expected ':'/, "line 1, column 6, in root.a", /Put a colon/],
  "the wrong bracket": ['{"a": [1}', /expected ',' or ']'/, "line 1, column 9, in root.a", /Close the array/],
  "a text that is escaped twice": ['{\\"a\\": 1}', /but got '\\'/, "line 1, column 2, in root", /escaped twice/],
  "a key in an array": ['["a": 1]', /but got ':'/, "line 1, column 5, in root", /in braces/],
  "a leading zero": ['{"a": 007}', /but got '0'/, "line 1, column 8, in root.a", /without leading zeros/],
  "half an escape": ['{"a": "\\u12G4"}', /hexadecimal/, "line 1, column 12, in root.a", /backslash twice/],
  "a line without its closing brace": [
    '{"a": 1}\n{"a": 2\n{"a": 3}',
    /'}' is missing at the end of the line/,
    "line 2, column 8, in root[1]",
    /Close the object with } on line 2/,
  ],
  "a text that ends before its line break": ['{"a": "b"\n', /^Cut off/, "line 1, column 10, in root", /tree shows/],
  "a text that is incomplete although the provider says that it is complete": [
    chat('{"a": [1', "stop"),
    /calls complete; ',' or ']' is missing, and the number may go on/,
    "line 1, column 9, in root.a[0]",
    /^Ask again/,
  ],
  "a blocked prompt": [
    sse({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }),
    /^Blocked.*\(PROHIBITED_CONTENT\)$/,
    "after 1 event",
    /prompt/,
  ],
  "a rate limit": [
    sse({ type: "error", error: { type: "rate_limit_error", message: "This would exceed your limit" } }),
    /This would exceed/,
    "event 1",
    /fewer requests/,
  ],
  "broken JSON in a code fence": [
    'Here 😀:\n```json\n{"a": 1,, "b": 2}\n```',
    /^Invalid JSON in a code fence: expected a key/,
    "line 3, column 9, in root",
    /without a code fence. Remove one of the commas/,
  ],
  "a word of JavaScript": ['{"a": undefined}', /expected a value/, "line 1, column 7, in root.a", /leave the key out/],
  "a key without quotes": ["{a: 1}", /expected a key/, "line 1, column 2, in root", /key in double quotes/],
  "single quotes": ["{'a': 1}", /a single quote/, "line 1, column 2, in root", /Use double quotes/],
  "words of Python": ['{"a": True}', /but got 'T'/, "line 1, column 7, in root.a", /lower case/],
  "a line break in a string": ['{"a": "x\ny"}', /a line break/, "line 1, column 9, in root.a", /\\n/],
  "a line break after a comma in a string": ['{"a": "x,\n\\"y\\"",\n"b": 1}', /a line break/, /root\.a$/, /as \\n/],
  "documents without line breaks": [
    '{"a": 1}{"b": 2}',
    /there are two JSON documents/,
    "line 1, column 9, after root",
    /one line of its own/,
  ],
  "a line of a log": ['{"a": 1}\nINFO x\n{"a": 2}', /expected a value/, "line 2, column 1, in root[1]", /on each line/],
  "the headers of a response": ["HTTP/2 200\n\n[]", /these are the headers/, "line 1, column 1, in root", /only the body/],
  "printed objects": ["[ChatCompletionChunk(id='x')]", /expected a value/, "line 1, column 2, in root[0]", /model_dump_json/],
  "a control character": ['{"a": "\0"}', /a string contains/, "line 1, column 8, in root.a", /as an escape/],
  "an event that is not JSON": [
    chat('{"a": "hello world"}', "stop").replace("choices", 'choices"'),
    /^This event is not JSON: expected ':'/,
    "event 1: line 1, column 44, in root.choices",
    /Put a colon/,
  ],
  "an event that is cut": [
    `${chat('{"a": 1}', null)}data: {"choices": [{"del\n\n${chat("", "stop")}`,
    /the end of the key is missing/,
    "event 3: line 1, column 19, in root.choices[0]",
    /wrote or copied it/,
  ],
  "events without blank lines": [
    chat('{"a": 1}', "stop").replaceAll("\n\n", "\n"),
    /^No blank line/,
    "after event 1",
    /readers join/,
  ],
  "events without line breaks": ['data: {"a": 1}data: {"a": 2}', /the end of the text/, /^line 1/, /line break/],
  "an empty answer": [chat("", "stop"), /^The answer is empty/, "", /prompt/],
  "a text that is encoded twice": ['"{\\"a\\": 1}"', /^Encoded twice/, "line 1, column 1, in root", /Encode it once/],
  "arguments that are encoded twice": [
    chat("", "tool_calls", { tool_calls: [{ ...CALL, function: { name: "book", arguments: '"{\\"a\\": 1}"' } }] }),
    /^Encoded twice: the arguments of book/,
    "book: line 1, column 1, in root",
    /Encode it once/,
  ],
  "a string without its closing quote": ['{"a": "x, "b": 1}', /but got 'b'/, "line 1, column 12, in root", /close the string/],
  "a line without its closing quote": ['{"a": "x}\n{"a": "y"}', /a line break/, "line 1, column 10, in root.a", /runs past/],
  "a provider that has too many requests": ['{"error": {"message": "Rate limit reached"}}', /Rate limit/, "event 1", /later/],
  "a line of a log with its time": ['2026-01-02 INFO {"a": 1}', /the end of the text/, "line 1, column 5, after root", /a time/],
  "comments only": [": ping\n\n: ping\n\n", /without any data/, "", /response/],
  "events without content": ['data: {"choices": []}\n\ndata: [DONE]\n\n', /no text and no call/, "", /another format/],
  "a second value": ['{"a": 1} {"b": 2}', /two JSON documents/, "line 1, column 10, after root", /one line of its own/],
  "an error page": [
    "<!doctype html><title>502</title>",
    /this is an HTML page.*: “502”$/,
    "line 1, column 1, in root",
    /Try again later/,
  ],
  "an error page in the middle of a stream": [
    `${chat('{"a": "hello', null)}<html>\n<title>504</title>\n</html>`,
    /this is an HTML page/,
    "event 3: line 1, column 1, in root",
    /status of/,
  ],
  "a stream that is cut off before its first text": [
    sse({ type: "response.created", response: { id: "r" } }, { type: "response.in_progress", response: { id: "r" } }),
    /^Cut off: the stream ended/,
    "after 2 events",
    /Request it again/,
  ],
  "a response that failed before its first text": [
    sse({ type: "response.failed", response: { id: "r", error: { message: "Please retry." } } }),
    /reported an error: Please retry/,
    "event 1",
    /message says/,
  ],
  "a call that is not complete when the answer ends": [
    chat("", "tool_calls", { tool_calls: [{ ...CALL, function: { name: "book", arguments: '{"boat": "Kit' } }] }),
    /^Incomplete JSON in an answer that the provider calls complete/,
    "book: line 1, column 14, in root.boat",
    /^Ask again/,
  ],
  "events that are framed twice": ['data: data: {"choices": []}\n\n', /but got 'd'/, "line 1, column 1, in root", /data: once/],
  "a log with times in brackets": ["[2026-01-02 10:00:00] {}", /but got '-'/, "line 1, column 6, in root[0]", /a time/],
  "verbose output of a client": [
    '< HTTP/1.1 200 OK\n<\n{"a": 1}',
    /these are the headers/,
    "line 1, column 1, in root",
    /only the body/,
  ],
  "an object without its braces": ['"a": 1, "b": 2', /but got ':'/, "line 1, column 4, after root", /prefilled/],
  "an object that was printed": ["[object Object]", /but got 'o'/, "line 1, column 2, in root[0]", /JSON.stringify/],
  "printed bytes": ["b'{\"a\": 1}'", /but got 'b'/, "line 1, column 1, in root", /decode\(\)/],
  "compressed bytes": ["\x1f\ufffd\b\0", /there is no JSON/, "line 1, column 1, in root", /bytes, not text/],
  base64: [btoa("0123456789".repeat(5)), /there is no JSON/, "line 1, column 1, in root", /base64/],
  "a date without quotes": ['{"at": 2024-01-02}', /but got '-'/, "line 1, column 12, in root.at", /date or time/],
  "an error of an inference server": [
    chat('{"a"', null) + sse({ object: "error", message: "CUDA out of memory", code: 500 }),
    /reported an error: CUDA/,
    "line 1, column 5, in root.a",
    /message says/,
  ],
  "a text without JSON": ["name: Ada", /there is no JSON/, "line 1, column 2, in root", /error message/],
  "thoughts before the answer": ['<think>x</think>{"a": 1}', /there is a tag/, "line 1, column 1, in root", /thoughts/],
  "a code fence": [
    chat('```json\n{"a": 1}\n```', "stop"),
    /the JSON is in a code fence/,
    "line 1, column 1, in root",
    /JSON only/,
  ],
  "a text that ends early": [
    '{"a": 1, "b": "oo',
    /^Cut off.*the end of the string is missing/,
    "line 1, column 18, in root.b",
    /the tree shows/,
  ],
  "the token limit": [
    chat('{"title": "Sto', "length"),
    /^Cut off: .*token limit/,
    "line 1, column 15, in root.title",
    /max_tokens/,
  ],
  "a content filter": [FILTERED, /^Cut off: a content filter/, "line 1, column 30, in root.bio", /prompt/],
  "a lost connection": [
    chat('{"days": [{"n"', null),
    /^Cut off: the stream ended/,
    "line 1, column 15, in root.days[0].n",
    /Request it again/,
  ],
  "a refusal": [chat("", "stop", { refusal: "I cannot help with that." }), /^Refused.*cannot help/, "after 2 events", /prompt/],
  "an error of the provider": [
    sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    /reported an error: Overloaded/,
    "event 1",
    /later/,
  ],
  "an error of the provider within the text": [
    chat('{"a": "hel', null) + sse({ error: { message: "The server had an error", type: "server_error" } }),
    /reported an error: The server/,
    "line 1, column 11, in root.a",
    /provider/,
  ],
  "an error of the provider within a call": [
    CUT_CALL.slice(0, CUT_CALL.indexOf('data: {"type":"content_block_stop"')) +
      sse({ type: "error", error: { message: "Overloaded" } }),
    /reported an error: Overloaded/,
    "book: line 1, column 23, in root.boat.name",
    /later/,
  ],
  "words after the document": [
    '{"a": 1}\n\nHope this helps!',
    /the end of the text/,
    "line 3, column 1, after root",
    /Remove what/,
  ],
  "a word instead of a literal": ['{"a": two}', /expected 'true', but got 'w'/, "line 1, column 8, in root.a", /double quotes/],
  "too many levels": ["[".repeat(300), /^Limit exceeded: more than 256/, /^line 1, column 257/, /limit “depth”/],
  "too many digits": ["1".repeat(500), /^Limit exceeded: more than 400/, "line 1, column 401, in root", /limit “number”/],
  "a lost connection after a whole document": [chat('{"a": 1}', null), /^Cut off/, "after 2 events", /Request it again/],
  "arguments that are not JSON": [
    chat("", "tool_calls", { tool_calls: [CALL] }),
    /^Invalid arguments of get_weather/,
    "get_weather: line 1, column 2, in root",
    /double quotes/,
  ],
  "a call that is cut off": [CUT_CALL, /^Cut off: .*token limit/, "book: line 1, column 23, in root.boat.name", /max_tokens/],
  "a bracket too many": ['{"a": 1}}', /the end of the text/, "line 1, column 9, after root", /Remove this bracket/],
  "half a character": ['{"a": "\\ud83d"}', /a character was lost/, "line 1, column 8, in root.a", /one UTF-8 decoder/],
  "bytes that are not UTF-8": ['{"a": "M\ufffdn"}', /a character was lost/, "line 1, column 9, in root.a", /one UTF-8 decoder/],
  "a call without an id": [
    chat("", "tool_calls", { tool_calls: [{ ...CALL, id: undefined, function: { name: "book", arguments: "{}" } }] }),
    /^The call book has no id/,
    "book: line 1, column 1, in root",
    /match a result/,
  ],
  "a gap in the wire": [
    '{"n": 1, "value": {"a": "x"}}\n[3, ["append", "/a", "y"]]',
    /^The message does not fit/,
    "message 2",
    /snapshot/,
  ],
  "a wire that is cut off": [
    '{"n": 1, "value": {"a": "x"}}\n[2, ["append", "/a", "y"]]',
    /^Cut off/,
    "after 2 messages",
    /Connect again/,
  ],
};

/** @param {string} text */
function recorded(text) {
  const { kind, items, isDone, isJoined } = recognise(text);
  const recording = new Recording(kind, "");
  Object.assign(recording, { isDone, isJoined });
  for (const { data } of items) recording.add(data, 0);
  recording.end();
  return recording;
}

for (const [name, [text, what, where, todo]] of Object.entries(BROKEN)) {
  test(`${name}: what, where, what to do`, () => {
    const found = diagnose(recorded(text));
    assert.equal(found.tone, "bad");
    assert.match(found.what, what);
    if (typeof where === "string") assert.equal(found.where, where);
    else assert.match(found.where, where);
    assert.match(found.todo, todo);
  });
}

test("a stream without a fault says so", () => {
  for (const text of ['{"a": [1]}', chat('{"a": 1}', "stop"), chat("Good morning.", "stop"), '{"a": "x"}\n{"a": "xy"}']) {
    const { tone, mark } = diagnose(recorded(text));
    assert.deepEqual([tone, mark], ["good", null], text);
  }
});

test("an answer that is cut off after a call has no empty text", () => {
  const calls = [{ ...CALL, function: { name: "book", arguments: '{"a": 1}' } }];
  const recording = recorded(chat("", "length", { tool_calls: calls }));
  assert.deepEqual(
    recording.answer?.tracks.map(({ kind }) => kind),
    ["call"],
  );
  assert.match(diagnose(recording).what, /token limit/);
});

test("a report of the server is found by path and offset", () => {
  const recording = recorded('{"😀": 1, "size": "huge"}');
  recording.setReport({ code: "INVALID_SCHEMA", message: "not allowed", offset: 17, path: ["size"] });
  const { mark, where } = diagnose(recording);
  assert.deepEqual([mark?.path, mark?.offset, mark?.length], [["size"], 18, 6]);
  assert.equal(where, "line 1, column 18, in root.size");
});

test("a revision of snapshots is found in the snapshot that changes written text", () => {
  const recording = recorded('{"a": "one", "b": 1}\n{"a": "one two", "b": 1}\n{"a": "one two three", "b": 1}');
  recording.setReport({ code: "REVISION", message: "root.a was 'one'; to try: …", offset: null, path: ["a"] }, 2);
  const { what, where, mark } = diagnose(recording);
  assert.deepEqual([what, where, mark?.position], ["root.a was 'one'", "snapshot 2, in root.a", 2]);
});

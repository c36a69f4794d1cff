// argv: URL of an upstream, the library, what to do. Prints what jsonrill makes of the streams of unmodified SDKs.
import Anthropic from "@anthropic-ai/sdk";
import { createOpenAI } from "@ai-sdk/openai";
import { jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const [base, library, job] = process.argv.slice(2);
const { content, parts, toolCalls } = await import(library);

/** Text, reasoning and calls of an answer, joined from the deltas of its parts. */
async function readAnswer(stream) {
  const answer = { text: "", reasoning: "", calls: [], error: null };
  const calls = new Map();
  try {
    for await (const part of parts(stream)) {
      if (part.kind in answer) answer[part.kind] += part.delta;
      if (part.kind === "call") calls.set(part.index, part.call);
    }
  } catch (error) {
    answer.error = error.name;
  }
  answer.calls = [...calls.values()].map(({ name, args, status }) => [name, args, status]);
  return answer;
}

async function joined(stream) {
  let text = "";
  for await (const piece of stream) text += piece;
  return text;
}

async function listed(stream) {
  const calls = new Map();
  for await (const call of stream) calls.set(call.id, [call.name, call.args]);
  return [...calls.values()];
}

/** All that is read of a stream; `make` asks for a new one each time. */
async function all(make) {
  return {
    parts: await readAnswer(make()),
    content: await joined(content(make())),
    calls: await listed(toolCalls(make())),
  };
}

const messages = [{ role: "user", content: "hello" }];
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: base, apiKey: "none", maxRetries: 0 });
const provider = createOpenAI({ baseURL: `${base}/v1`, apiKey: "none" });
const any = jsonSchema({ type: "object" });
const tools = Object.fromEntries(["weather", "search", "ping"].map((name) => [name, tool({ inputSchema: any })]));
const chat = { model: "any", messages };
const silent = { onError: () => {} };
const ai = () => streamText({ model: provider.chat("any"), messages, tools, maxRetries: 0, ...silent });

const ask = { method: "POST", body: JSON.stringify({ ...chat, stream: true }) };

const streams = {
  chat: () => openai.chat.completions.create({ ...chat, stream: true }),
  chatHelper: () => openai.chat.completions.stream(chat),
  responses: () => openai.responses.create({ model: "any", input: "hello", stream: true }),
  responsesHelper: () => openai.responses.stream({ model: "any", input: "hello" }),
  anthropic: () => anthropic.messages.create({ ...chat, max_tokens: 9, stream: true }),
  anthropicHelper: () => anthropic.messages.stream({ ...chat, max_tokens: 9 }),
  aiSdk: ai,
  aiSdkFull: () => ai().fullStream,
  aiSdkUi: () => ai().toUIMessageStream(),
  fetch: () => fetch(`${base}/v1/chat/completions`, ask),
};

/** Leave the loop at the first part: the SDK must close its connection. */
async function left(stream) {
  for await (const part of parts(stream)) return part.kind;
}

const jobs = { read: all, parts: (make) => readAnswer(make()), leave: (make) => left(make()) };
const seen = {};
for (const [name, make] of Object.entries(streams)) {
  // The AI SDK tells its own reader that it was left, and reads on.
  if (job === "leave" && name.startsWith("aiSdk")) continue;
  seen[name] = await jobs[job](make);
}
console.log(JSON.stringify(seen));
process.exit();

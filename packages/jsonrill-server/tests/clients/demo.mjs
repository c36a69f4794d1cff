// argv: base URL of `serve --demo`. Prints what unmodified clients read from its simulated models.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [base] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "any", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: base, apiKey: "any", maxRetries: 0 });
const model = "any";
const ask = [{ role: "user", content: "Compare the weather in Lima and Oslo." }];
const place = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const json_schema = { name: "place", schema: place };
const seen = {};

seen.models = [];
for await (const one of openai.models.list()) seen.models.push(one.id);
for await (const one of anthropic.models.list()) seen.models.push(one.id);

const form = { type: "json_schema", json_schema };
seen.chat = "";
const chunks = await openai.chat.completions.create({ model, messages: ask, response_format: form, stream: true });
for await (const chunk of chunks) seen.chat += chunk.choices[0]?.delta.content ?? "";
const runner = openai.chat.completions.stream({
  model,
  messages: ask,
  tools: [{ type: "function", function: { name: "weather", parameters: place } }],
});
seen.calls = (await runner.finalChatCompletion()).choices[0].message.tool_calls.map((it) => it.function.arguments);

const format = { type: "json_schema", ...json_schema };
seen.response = (await openai.responses.create({ model, input: ask, text: { format } })).output_text;
seen.items = [];
const events = await openai.responses.create({
  model,
  input: ask,
  tools: [{ type: "function", name: "weather", parameters: place }],
  stream: true,
});
for await (const event of events) if (event.type === "response.output_item.done") seen.items.push(event.item.arguments);

const tools = [{ name: "weather", input_schema: place }];
const stream = anthropic.messages.stream({ model, max_tokens: 999, messages: ask, tools });
seen.blocks = (await stream.finalMessage()).content.map((block) => block.input);
seen.message = (
  await anthropic.messages.create({ model, max_tokens: 999, messages: [{ role: "user", content: "hello" }] })
).content[0].text;

seen.errors = [];
for (const wrong of [
  () => openai.chat.completions.create({ model, messages: [] }),
  () => anthropic.messages.create({ model, max_tokens: 9, messages: [] }),
])
  await wrong().catch((error) => seen.errors.push([error.status, error.constructor.name]));
console.log(JSON.stringify(seen));

// argv: base URL. Prints what OpenAI's and Anthropic's clients saw through the relay.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [base] = process.argv.slice(2);
const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: base, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "hi" }];
const seen = {};

const ask = (model, more = {}) => openai.responses.create({ model, input: "hi", ...more });
const say = (model, more = {}) => anthropic.messages.create({ model, max_tokens: 9, messages, ...more });
const all = async (stream) => {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
};
const failure = async (work) => {
  try {
    await work();
    return null;
  } catch (error) {
    return { code: error.code ?? error.error?.error?.code ?? null, status: error.status ?? null };
  }
};

const events = await all(ask("text", { stream: true }));
seen.numbers = events.map((event) => event.sequence_number);
seen.streamed = events.at(-1).response.output_text ?? events.at(-1).response.output[0].content[0].text;
const whole = await ask("text");
seen.whole = whole.output_text;
seen.retrieved = (await openai.responses.retrieve(whole.id)).output_text;
const begun = await ask("text", { background: true });
const rest = await all(openai.responses.retrieve(begun.id, { stream: true, starting_after: 0 }));
seen.resumed = rest.map((event) => event.sequence_number);
const endless = await ask("endless", { background: true });
seen.cancelled = (await openai.responses.cancel(endless.id)).status;
seen.failures = {
  responses: await failure(() => all(ask("broken", { stream: true }))),
  messages: await failure(() => all(say("broken", { stream: true }))),
  limited: await failure(() => say("limited")),
  unknown: await failure(() => openai.responses.retrieve("resp_none")),
};
seen.message = (await say("text")).content[0].text;
seen.final = await anthropic.messages.stream({ model: "text", max_tokens: 9, messages }).finalText();
seen.models = [];
for await (const model of openai.models.list()) seen.models.push(model.id);
seen.others = [];
for await (const model of anthropic.models.list()) seen.others.push(model.id);
const headers = { "Idempotency-Key": "from npm" };
seen.repeated = [];
for (let time = 0; time < 2; time++) {
  const chat = { model: "text", messages, stream: true };
  const chunks = await all(openai.chat.completions.create(chat, { headers }));
  seen.repeated.push(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""));
}
console.log(JSON.stringify(seen));

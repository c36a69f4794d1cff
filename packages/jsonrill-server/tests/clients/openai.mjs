// argv: base URL, value of Jsonrill-Fragments or "". Prints what the client saw.
import OpenAI from "openai";

const [base, fragments] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "hi" }];
const headers = fragments ? { "Jsonrill-Fragments": fragments } : {};
const seen = { text: "", args: "", fragments: [], error: null };
for (const model of ["text", "calls"]) {
  const stream = await client.chat.completions.create({ model, messages, stream: true }, { headers });
  for await (const chunk of stream) {
    const delta = chunk.choices[0].delta;
    seen.text += delta.content ?? "";
    for (const call of delta.tool_calls ?? []) {
      seen.args += call.function?.arguments ?? "";
      seen.fragments.push(...(call.json_update_fragments ?? []));
    }
  }
}
try {
  const stream = await client.chat.completions.create({ model: "broken", messages, stream: true });
  for await (const _ of stream);
} catch (error) {
  seen.error = error.code ?? String(error);
}
console.log(JSON.stringify(seen));

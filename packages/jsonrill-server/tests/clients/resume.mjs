// argv: base URL. Reads a background response, waits for a line on standard input while the relay
// is killed and started again, and reads on after the last event. Prints all events.
import OpenAI from "openai";

const [base] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: "none", maxRetries: 0 });
const events = [];
let stream = await client.responses.create({
  model: "numbers",
  input: "hi",
  background: true,
  stream: true,
});
for await (const event of stream) {
  events.push(event);
  if (events.length === 12) break;
}
console.log("reading");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();
const after = { stream: true, starting_after: events.at(-1).sequence_number };
stream = await client.responses.retrieve(events[0].response.id, after);
for await (const event of stream) events.push(event);
console.log(JSON.stringify(events));

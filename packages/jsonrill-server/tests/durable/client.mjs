// The published client: a numbered producer writes messages, two live readers read them all.
import { DurableStream, IdempotentProducer, stream } from "@durable-streams/client";

const [url, count, pause] = process.argv.slice(2);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const handle = await DurableStream.create({ url, contentType: "application/json" });
const errors = [];

// This client does not repeat a request that got no answer. Numbered, it may be repeated.
async function patient_fetch(...request) {
  for (;;) {
    try {
      return await fetch(...request);
    } catch {
      await sleep(50);
    }
  }
}

const producer = new IdempotentProducer(handle, "a producer", {
  lingerMs: 5,
  maxInFlight: 5,
  fetch: patient_fetch,
  onError: (error) => errors.push(String(error)),
});

// A connection that breaks in the middle of an answer is an error of this client: it is for the
// program to go on from the last offset.
async function read(live) {
  const numbers = [];
  let offset = "-1";
  for (;;) {
    try {
      const response = await stream({ url, offset, live });
      response.subscribeJson(async (batch) => {
        numbers.push(...batch.items.map((item) => item.number));
        offset = batch.offset;
      });
      await response.closed;
      if (response.streamClosed) return numbers;
    } catch (error) {
      if (!/terminated|fetch failed|aborted/.test(String(error))) throw error;
      await sleep(50);
    }
  }
}

const reading = ["sse", "long-poll"].map(read);
for (let number = 0; number < Number(count); number++) {
  producer.append(JSON.stringify({ number, text: "é\n" }));
  await sleep(Number(pause));
}
await producer.close();
const read_all = await Promise.all(reading);
const again = await (await stream({ url, offset: "-1", live: false })).json();
console.log(JSON.stringify({ errors, live: read_all, again: again.map((item) => item.number) }));

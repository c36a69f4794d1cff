/** Reads a stream of a real server to its end: `node reader.js address format`; says what it saw. */

import { openEvents } from "../src/client/events.js";
import { Rebuilder } from "../src/build/rebuilder.js";
import { applyDelta } from "../src/deltas.js";

const [address, format] = process.argv.slice(2);
const rebuilder = new Rebuilder();
let updated;
let text = "";

const take = {
  fragments: (data) => rebuilder.feed(data),
  updates: (data) => (updated = data.delta ? applyDelta(updated, data.delta) : data.data),
  chunks: (data) => (text += data),
}[format];

const ids = [];
const stream = openEvents(address, { retry: 50, maxDelay: 200 });
for await (const { id, data } of stream) {
  ids.push(id);
  take(JSON.parse(data));
  if (ids.length === 1) console.log("begun");
}
const value = {
  fragments: () => rebuilder.value,
  updates: () => updated,
  chunks: () => JSON.parse(text),
}[format]();
const { reconnects, duplicates } = stream;
console.log(
  JSON.stringify({
    ids,
    value: JSON.stringify(value),
    reconnects,
    duplicates,
    reason: await stream.done,
  }),
);

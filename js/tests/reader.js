/** Reads a stream of a real server to its end: `node reader.js address`; prints what it saw. */

import { open } from "../src/index.js";

const ids = [];
let connections = 0;
let last;
const onState = (state) => (connections += state === "open" ? 1 : 0);
for await (last of open(process.argv[2], { retry: 50, maxDelay: 200, every: 0, onState })) {
  if (last.id !== ids.at(-1)) ids.push(last.id);
  if (ids.length === 1) console.log("begun");
}
console.log(JSON.stringify({ ids, value: JSON.stringify(last.value), complete: last.complete, connections }));

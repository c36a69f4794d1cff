/** What JavaScript reads of the streams that `recorded_streams.py` sends: a list of events a line. */

import { createInterface } from "node:readline";

import { ToolCalls } from "../js/src/index.js";
import { Parts } from "../js/src/answers/parts.js";
import { recognise } from "../js/src/providers/index.js";

for await (const line of createInterface({ input: process.stdin })) {
  const events = JSON.parse(line);
  const texts = { text: "", reasoning: "" };
  const parts = new Parts();
  const calls = new ToolCalls({ keep: Infinity });
  for (const event of events) {
    for (const { kind, delta } of parts.add(event)) if (kind in texts) texts[kind] += delta;
    calls.add(event);
  }
  parts.flush();
  calls.flush();
  const shown = calls.calls.map(({ name, raw, status }) => [name, raw, status]);
  // Of providers that only Python knows there is nothing to compare.
  const known = events.some((event) => recognise(event) !== null);
  console.log(JSON.stringify(known ? { ...texts, calls: shown, end: parts.outcome } : null));
}

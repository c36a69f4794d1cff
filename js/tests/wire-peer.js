/**
 * The other end of test_wire.py. Reads messages of Python from stdin, one conversation a line, and writes the
 * values after each; then writes conversations of its own, with the value after each message.
 */

import { readFileSync } from "node:fs";

import { Receiver } from "../src/receive.js";
import { Sender } from "../src/send.js";
import { edited, randomValue } from "./states.js";
import { chance } from "./support.js";

const [count] = process.argv.slice(2);
const lines = readFileSync(0, "utf8").trim().split("\n");
const received = lines.map((line) => {
  const receiver = new Receiver();
  return JSON.parse(line).map((message) => {
    receiver.feed(message);
    return receiver.value;
  });
});
const random = chance(59);
const sent = Array.from({ length: Number(count) }, () => {
  const sender = new Sender({ numbered: random.below(2) === 0 });
  const conversation = [];
  let state = randomValue(random);
  for (let step = 0; step < 8; step += 1) {
    const message = sender.feed(state);
    if (message !== null) conversation.push([JSON.stringify(message), JSON.stringify(state)]);
    state = edited(state, random);
  }
  return conversation;
});
process.stdout.write(JSON.stringify({ received, sent }));

/** The state of the page as an address. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromHash, MAX_ADDRESS, pack, toHash, unpack } from "../tools/state.js";

test("a state is the same after it was an address", async () => {
  const states = [
    {},
    { model: "recipe", piece: 12, view: "calls", path: 'root.steps[2]["a&b=c"]' },
    { text: '{"a": "ü😀\u0000\\n"}', title: "Pasted text", format: "many" },
    { stream: "a b/c#d", format: "events", piece: 0 },
  ];
  for (const state of states) {
    const { hash, complete } = await toHash(state);
    assert.ok(complete);
    assert.match(hash, /^(?:#[\x21-\x7e]+)?$/);
    assert.deepEqual(await fromHash(hash), state);
    assert.deepEqual(await fromHash(new URL(`http://x.test/${hash}`).hash), state);
  }
});

test("a text that is too large for an address is left out, and that is said", async () => {
  let seed = 1;
  const noise = Array.from({ length: 9000 }, () =>
    String.fromCharCode(33 + (((seed = (seed * 1103515245 + 12345) % 2 ** 31) >> 8) % 90)),
  ).join("");
  const { hash, complete } = await toHash({ text: noise, view: "tree" });
  assert.equal(complete, false);
  assert.equal(hash, "#view=tree");
  const { hash: small, complete: all } = await toHash({ text: "ab".repeat(50_000) });
  assert.ok(all && small.length < MAX_ADDRESS);
});

test("an address that anybody wrote is harmless", async () => {
  const bomb = await pack("0".repeat(5 << 20));
  await assert.rejects(unpack(bomb), RangeError);
  for (const hash of [
    "#text=%%%",
    "#text=AAAA",
    `#text=${bomb}`,
    "#path=%E0%A4%A",
    "#piece=-1",
    "#piece=1e9",
    "#=&=&&",
    "#__proto__=x&constructor=y",
  ]) {
    assert.deepEqual(await fromHash(hash), {}, hash);
  }
});

/** Parts of the page that need no DOM: escaping, detection of formats, frames, counters. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../replay.js";
import { escapeText, formatCount, formatNumber, shorten, skipCharacters } from "../escaping.js";

test("invisible and reordering characters are shown as their code points", () => {
  assert.equal(escapeText("plain tèxt 😀 \t\n"), "plain tèxt 😀 \t\n");
  assert.equal(escapeText("\u001b[31m\u0000\u007f\u0085"), "‹U+001B›[31m‹U+0000›‹U+007F›‹U+0085›");
  assert.equal(escapeText("a\u202eb\u2066c\u2069\u200f\u061c"), "a‹U+202E›b‹U+2066›c‹U+2069›‹U+200F›‹U+061C›");
  assert.equal(escapeText("\u200b\ufeff\u2028\u2029\u00ad"), "‹U+200B›‹U+FEFF›‹U+2028›‹U+2029›‹U+00AD›");
  assert.equal(escapeText("\ud83d \ude00 😀"), "‹U+D83D› ‹U+DE00› 😀");
  assert.equal(escapeText("a\u{e0041}b"), "a‹U+E0041›b");
  assert.equal(escapeText("a\r\nb\r"), "a␍\nb␍");
  // Joined emoji and right-to-left letters stay as they are.
  assert.equal(escapeText("👩‍🚀 שלום مرحبا"), "👩‍🚀 שלום مرحبا");
});

test("no character that reorders text is left", () => {
  for (let code = 0; code < 0x3000; code += 1) {
    const shown = escapeText(String.fromCodePoint(code));
    assert.ok(!/[\p{Bidi_Control}]/u.test(shown) || code === 0x200c || code === 0x200d, code.toString(16));
    if (/\p{Cc}/u.test(shown)) assert.ok("\t\n".includes(shown), code.toString(16));
  }
});

test("characters are counted as Python counts them", () => {
  assert.equal(skipCharacters("a😀b", 0), 0);
  assert.equal(skipCharacters("a😀b", 2), 3);
  assert.equal(skipCharacters("a😀b", 3), 4);
  assert.equal(skipCharacters("a😀b", 99), 4);
});

test("numbers are formatted for people", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(formatNumber), ["0", "999", "1\u202f000", "1\u202f234\u202f567"]);
  assert.equal(formatCount(1, "match", "matches"), "1 match");
  assert.equal(formatCount(2, "match", "matches"), "2 matches");
});

test("pieces, joined, are the text, and no character is cut", () => {
  const text = "ab😀cd🌊🌊ef";
  for (const size of [1, 2, 3, 7, 100]) {
    const cut = pieces(text, size);
    assert.equal(cut.join(""), text);
    for (const piece of cut) assert.ok([...piece].length <= size && piece.isWellFormed());
  }
  assert.deepEqual(pieces("", 4), []);
  assert.ok(pieces("x".repeat(1_000_000), 1).length <= 50_000);
});

test("a frame is requested once, and again for painters that were not done", async () => {
  /** @type {(() => void)[]} */
  const asked = [];
  globalThis.requestAnimationFrame = (work) => asked.push(work);
  const { Frames } = await import("../frames.js");
  const frames = new Frames();
  const drawn = [];
  const slow = () => drawn.push("slow") < 3;
  const quick = () => {
    drawn.push("quick");
    return false;
  };
  for (let at = 0; at < 5; at += 1) frames.request(slow);
  frames.request(quick);
  assert.equal(asked.length, 1);
  // A hidden tab has no frames: nothing is drawn, nothing is lost.
  assert.deepEqual(drawn, []);
  while (asked.length) asked.shift()();
  assert.deepEqual(drawn, ["slow", "quick", "slow"]);
});

test("a long text is shortened to its ends, and no character is cut", () => {
  assert.equal(shorten("short"), "short");
  for (let odd = 0; odd < 2; odd += 1) {
    const told = shorten("x".repeat(odd) + "\u{1f30a}".repeat(400) + "x".repeat(odd));
    assert.ok(told.length <= 300 && told.isWellFormed());
  }
});

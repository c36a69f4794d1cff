// jsonrepair on every beginning of every text: node repair.mjs FILE, JSON on stdout.
// FILE holds a list of texts; the answer for each is a list: [value], or [] where it raised.

import { readFileSync } from "node:fs";
import { jsonrepair } from "jsonrepair";

const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));

function read(text) {
  try {
    return [JSON.parse(jsonrepair(text))];
  } catch {
    return [];
  }
}

const shown = texts.map((text) => {
  const characters = Array.from(text);
  return characters.map((_, at) => read(characters.slice(0, at + 1).join("")));
});
const path = new URL("node_modules/jsonrepair/package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(path, "utf8"));
console.log(JSON.stringify({ version, shown }));

/**
 * A small site for a real browser: an empty page, the modules, and events of a misbehaving server.
 * `node site.js` prints its address. `/events?case=…` sends the ten events of one case.
 */

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { CLOSE, HEAD, cut, event } from "./nasty.js";
import { ROOT } from "./support.js";

const LAST = 10;
/** How often each case was requested. */
const counts = new Map();

/** At most `count` events after this id, or from a little before it. */
const some = (after, count, before = 0) =>
  Array.from({ length: LAST }, (_, number) => number + 1)
    .filter((id) => id > after - before && id <= after + count)
    .map((id) => event(id))
    .join("");

const cases = {
  close: (response, after) =>
    after < LAST ? cut(response, "retry: 5\n" + some(after, 3)) : response.writeHead(200, HEAD).end(`id: 11\n${CLOSE}`),
  nothing: (response, after) => (after < LAST ? cut(response, "retry: 5\n" + some(after, 4)) : response.writeHead(204).end()),
  again: (response, after) =>
    after < LAST ? cut(response, "retry: 5\n" + some(after, 3, 3)) : response.writeHead(200, HEAD).end(CLOSE),
  errors: (response, after, number) => (number % 3 === 1 ? response.writeHead(503).end() : cases.close(response, after)),
  missing: (response) => response.writeHead(404, { "content-type": "text/plain" }).end("no such stream"),
  inside: (response, after) => {
    const bytes = Buffer.from("retry: 5\n" + some(after, LAST) + `id: 11\n${CLOSE}`);
    cut(response, bytes.subarray(0, Math.min(bytes.length, 9 + 30 + 7 * after)));
  },
};

const server = createServer((request, response) => {
  response.on("error", () => {});
  const { pathname, searchParams } = new URL(request.url, "http://site");
  if (pathname.startsWith("/web/")) {
    const file = join(ROOT, "js", "src", pathname.slice("/web/".length));
    return response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync(file));
  }
  if (pathname !== "/events") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
  const key = request.url.replace(/[?&]after=[^&]*/, "");
  const number = counts.get(key) ?? 0;
  counts.set(key, number + 1);
  const after = Number(request.headers["last-event-id"] || searchParams.get("after") || 0);
  return cases[searchParams.get("case")](response, after, number);
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.on("end", () => process.exit(0)).resume();

/** Event servers that misbehave as each test requires. */

import { createServer } from "node:http";

/**
 * Serve `answer(request, response, number)` on loopback, where `number` counts requests from 0.
 * @returns {Promise<{url: string, requests: object[], close: () => Promise<void>}>}
 */
export async function serve(answer) {
  const requests = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    response.on("error", () => {});
    answer(request, response, requests.length - 1);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}/events`, requests, close };
}

export const HEAD = { "content-type": "text/event-stream" };
export const CLOSE = "event: CLOSE\ndata: [DONE]\n\n";

/** An event as bytes. */
export const event = (id, data = `data ${id}`) => `id: ${id}\ndata: ${data}\n\n`;

/** Whole answers, one for each request; the last one for all that follow. */
export function answers(...list) {
  return (_, response, number) => {
    const { status = 200, headers = HEAD, body = "" } = list[Math.min(number, list.length - 1)];
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** Send bytes, then break the connection. */
export function cut(response, bytes) {
  response.writeHead(200, HEAD);
  if (bytes.length === 0) {
    response.flushHeaders();
    setTimeout(() => response.destroy(), 1);
  } else {
    response.write(bytes, () => response.destroy());
  }
}

/** Quick settings for tests: no test waits for real delays. */
export const QUICK = { retry: 1, maxDelay: 5, timeout: 2000, reconnect: true };

/** All events of a stream as [id, data]. */
export async function all(stream) {
  const events = [];
  for await (const { id, data } of stream) events.push([id, data]);
  return events;
}

/**
 * A log of events behind a server that does something bad to nearly every request; with `silent`
 * it also says nothing for ever.
 */
export function nasty(random, count, { silent = true } = {}) {
  const { below, pick } = random;
  const log = Array.from({ length: count }, (_, number) => {
    const data = pick(["x", "é😀", "a\ndata: b", '{"a":"\\n"}', "y".repeat(200)]);
    return Buffer.from(
      pick(["", ": hb\n", "retry: 1\n", ": open\r\n"]) + event(number + 1, data).replaceAll("\n", pick(["\n", "\r\n"])),
    );
  });
  const ends = pick(["CLOSE", "204"]);
  return {
    log,
    ends,
    answer(request, response) {
      const { searchParams } = new URL(request.url, "http://nasty");
      const after = Number(request.headers["last-event-id"] ?? searchParams.get("after") ?? 0);
      const from = below(4) ? after : Math.max(0, after - below(3));
      if (after === count && ends === "204") return response.writeHead(204).end();
      const rest = Buffer.concat([...log.slice(from), Buffer.from(ends === "CLOSE" ? `id: ${count + 1}\n${CLOSE}` : "")]);
      switch (below(9)) {
        case 0:
          return response.writeHead(pick([500, 503, 429, 408]), { "retry-after": "0" }).end();
        case 1:
          return request.socket.destroy();
        case 2:
          response.writeHead(200, HEAD);
          response.write(rest.subarray(0, below(rest.length + 1)));
          return silent || response.destroy();
        case 3:
          return below(2) ? response.writeHead(200, { "content-type": "text/html" }).end("<html>") : cut(response, "");
        case 4:
          return response.writeHead(200, HEAD).end(rest.subarray(0, below(rest.length + 1)));
        case 5:
          return response.writeHead(200, HEAD).end(rest);
        default:
          return cut(response, rest.subarray(0, below(rest.length + 1)));
      }
    },
  };
}

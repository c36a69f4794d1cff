/** A server of events that behaves as badly as it is told to, and one that reads with patience. */

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

/** Whole answers, one for each request; the last one again and again. */
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
export const QUICK = { retry: 1, maxDelay: 5, timeout: 2000 };

/** All events of a stream as [id, data], and how it ended. */
export async function all(stream) {
  const events = [];
  for await (const { id, data } of stream) events.push([id, data]);
  return { events, reason: await stream.done };
}

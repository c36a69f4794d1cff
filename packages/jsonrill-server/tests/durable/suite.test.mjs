// The published tests of Durable Streams servers, against the server at DURABLE_URL.
import { runConformanceTests } from "@durable-streams/server-conformance-tests";

runConformanceTests({
  baseUrl: process.env.DURABLE_URL,
  longPollTimeoutMs: Number(process.env.LONG_POLL_MS),
});

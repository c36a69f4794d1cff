// argv: URL of an upstream. Prints what the clients of AI SDK and AG-UI make of its answers.
import { HttpAgent } from "@ag-ui/client";
import { experimental_useObject as useObject } from "@ai-sdk/react";
import { convertToModelMessages, DefaultChatTransport, readUIMessageStream } from "ai";
import { createElement } from "react";
import { act, create } from "react-test-renderer";
import { z } from "zod";

const [base] = process.argv.slice(2);
const user = { id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] };

async function aiSdk() {
  const transport = new DefaultChatTransport({ api: `${base}/ai-sdk` });
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "c", messages: [user] });
  const errors = [];
  let last;
  for await (const message of readUIMessageStream({ stream, onError: (error) => errors.push(String(error)) })) {
    last = structuredClone(message);
  }
  return { message: last, errors, sent: await convertToModelMessages([last]) };
}

async function agUi() {
  const agent = new HttpAgent({ url: `${base}/ag-ui`, threadId: "t1" });
  const seen = [];
  let last;
  const onEvent = ({ event }) => {
    seen.push(event.type);
    last = event;
  };
  await agent.runAgent({ runId: "r1" }, { onEvent });
  return { messages: agent.messages, state: agent.state, seen, outcome: last.outcome ?? null, pending: agent.pendingInterrupts };
}

async function object() {
  const states = [];
  let api;
  const schema = z.object({ title: z.string(), n: z.number() });
  const Probe = () => {
    api = useObject({ api: `${base}/text`, schema });
    states.push(api.object);
    return null;
  };
  globalThis.IS_REACT_ACT_ENVIRONMENT = true;
  await act(async () => void create(createElement(Probe)));
  await act(async () => {
    api.submit("x");
    const over = () => api.error || (!api.isLoading && states.at(-1)?.n !== undefined);
    for (let wait = 0; wait < 1200 && !over(); wait++) await new Promise((done) => setTimeout(done, 25));
  });
  return { states, error: api.error ? String(api.error) : null };
}

const [sdk, ag, states] = [await aiSdk(), await agUi(), await object()];
console.log(JSON.stringify({ aiSdk: sdk, agUi: ag, object: states }));

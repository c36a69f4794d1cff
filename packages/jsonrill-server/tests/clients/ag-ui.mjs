// argv: URLs of ag-ui routes. Prints what the agent knows after each run.
import { HttpAgent } from "@ag-ui/client";

const out = [];
for (const url of process.argv.slice(2)) {
  const agent = new HttpAgent({ url, threadId: "t1" });
  const seen = { events: [], error: null };
  try {
    await agent.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void seen.events.push(event.type) });
  } catch (error) {
    seen.error = String(error.message ?? error);
  }
  out.push({ ...seen, state: agent.state, messages: agent.messages });
}
console.log(JSON.stringify(out));

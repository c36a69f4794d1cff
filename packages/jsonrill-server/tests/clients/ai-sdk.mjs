// argv: URL of a stream's ai-sdk route, URL of a finished one's (if any). Prints the messages it built.
import { DefaultChatTransport, readUIMessageStream } from "ai";

const [open, finished] = process.argv.slice(2);
const transport = new DefaultChatTransport({
  api: open,
  prepareReconnectToStreamRequest: ({ id }) => ({ api: id }),
});
const read = async (stream) => {
  const states = [];
  let last;
  const onError = (error) => states.push(`error: ${error.message ?? error}`);
  for await (const message of readUIMessageStream({ stream, onError })) {
    last = structuredClone(message);
    states.push(last.parts.length);
  }
  return { parts: last?.parts ?? [], states: states.length, errors: states.filter((s) => typeof s === "string") };
};
const messages = [{ id: "u1", role: "user", parts: [{ type: "text", text: "hi" }] }];
const sent = await transport.sendMessages({ trigger: "submit-message", chatId: "c1", messages });
const resumed = await transport.reconnectToStream({ chatId: open });
const [first, second] = await Promise.all([read(sent), resumed && read(resumed)]);
const nothing = finished ? await transport.reconnectToStream({ chatId: finished }) : null;
console.log(JSON.stringify({ first, resumed: second, nothing }));

/** What reads each format of the server, for a browser: functions that return what they saw last. */

import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { content, open, openEvents, parts, receive, toolCalls, values } from "../src/index.js";
import { useParts, useStream, useValue } from "../src/react.js";

async function last(items, show = (item) => item) {
  let seen;
  try {
    for await (const item of items) seen = show(item);
  } catch (error) {
    return String(error);
  }
  return seen;
}

/** What a component shows when its stream is complete. */
function shown(use, show) {
  return new Promise((resolve) => {
    const root = createRoot(document.body.appendChild(document.createElement("div")));
    const View = () => {
      const state = use();
      const seen = () => (state.error ? String(state.error) : show(state));
      if (!state.isLoading) setTimeout(() => (root.unmount(), resolve(seen())), 0);
      return null;
    };
    root.render(createElement(View));
  });
}

const value = ({ value }) => value;
const texts = (list) => list.map(({ kind, text, call }) => [kind, call ? call.args : text]);

window.readers = {
  open: (url) => last(open(url), value),
  receive: (url) => last(receive(fetch(url))),
  content: (url) => last(values(content(openEvents(url)))),
  toolCalls: (url) => last(toolCalls(openEvents(url)), ({ name, args, status }) => [name, args, status]),
  async parts(url) {
    const list = [];
    for await (const part of parts(openEvents(url))) if (part.complete) list[part.index] = part;
    return texts(list);
  },
  useChat: (url) =>
    shown(
      () => {
        const { messages, sendMessage, status, error } = useChat({
          transport: new DefaultChatTransport({ fetch: () => fetch(url) }),
        });
        useEffect(() => void sendMessage({ text: "Tea" }), []);
        return { error, isLoading: messages.length === 0 || (status !== "ready" && status !== "error"), messages };
      },
      ({ messages }) =>
        (messages[1]?.parts ?? [])
          .filter(({ type }) => type !== "step-start")
          .map(({ type, text, input }) => [type, type === "text" ? text : input]),
    ),
  useValue: (url) => shown(() => useValue(url), value),
  useStream: (url) => shown(() => useStream(url), value),
  useParts: (url) =>
    shown(
      () => useParts(url),
      ({ parts: list }) => texts(list),
    ),
};

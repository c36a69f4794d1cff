/** A program in strict TypeScript with the hooks, and the types that it sees. */

import type { DeepPartial, Part, ToolCall } from "jsonrill";
import { type StreamState, useParts, useStream, useValue } from "jsonrill/react";
import { memo, useState } from "react";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => {};

interface Recipe {
  title: string;
  steps: { text: string }[];
}

export function Shown({ id }: { id: string | null }) {
  const [source, setSource] = useState<Promise<Response> | null>(null);
  const state = useStream<Recipe>({ api: "/recipe", headers: { "x-token": "t" } }, { initial: { title: "…" } });
  const { value, complete, error, status, stop, restart, submit, isLoading } = state;
  holds<Equal<typeof error, Error | undefined>>();
  holds<Equal<typeof status, "idle" | "streaming" | "complete" | "error" | "stopped">>();
  if (complete) holds<Equal<typeof value, Recipe>>();
  else holds<Equal<typeof value, DeepPartial<Recipe> | undefined>>();
  const again: StreamState<Recipe> = useStream<Recipe>((signal) => fetch(`/recipe/${id}`, { signal }), { key: id ?? "" });
  const run = useStream<Recipe>(id && `/runs/${id}`, { headers: { authorization: "Bearer x" }, reconnect: true });
  const wire = useValue<Recipe>(id && `/runs/${id}?format=deltas`);
  const { parts, text } = useParts(new URL("http://x/"), { provider: "openai_chat" });
  const answer = useParts(source, { choice: 1 });
  const isDone: boolean = state.isComplete("steps[0].text") || state.openPath === null || wire.isComplete("title");
  return (
    <main>
      <button onClick={() => setSource(fetch("/recipe"))}>Ask</button>
      <button disabled={isLoading || isDone} onClick={() => submit({ wish: "tea" })}>
        Cook
      </button>
      <button onClick={complete ? restart : stop}>Stop</button>
      <h1>{value?.title ?? again.value?.title}</h1>
      {value?.steps?.map((step, index) => (
        <p key={index}>{step.text}</p>
      ))}
      {run.entities.map((entity) => (
        <p key={entity.index}>{entity.value.title}</p>
      ))}
      {parts.map((part) => (
        <PartView key={part.index} part={part} />
      ))}
      {text.length + answer.text.length}
    </main>
  );
}

const PartView = memo(({ part }: { part: Part }) => (part.kind === "call" ? <Card call={part.call} /> : <p>{part.text}</p>));

const Card = ({ call }: { call: ToolCall }) => (
  <pre title={call.error?.message}>
    {call.name} {call.status} {JSON.stringify(call.args)} {call.isComplete("city") && "✓"}
  </pre>
);

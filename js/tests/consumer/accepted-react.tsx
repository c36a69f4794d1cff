/** A program in strict TypeScript with the hooks, and the types that it sees. */

import type { DeepPartial } from "jsonrill";
import {
  useParts,
  useRun,
  useRunParts,
  useStream,
  type CallState,
  type PartState,
  type RunState,
  type StreamState,
} from "jsonrill/react";
import { memo, useCallback, useState } from "react";
import { z } from "zod";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => {};

interface Recipe {
  title: string;
  steps: { text: string }[];
}

export function Shown({ id }: { id: string | null }) {
  const [source, setSource] = useState<Promise<Response> | null>(null);
  const state = useStream<Recipe>(source, { prefix: "{", initial: { title: "…" } });
  const { value, complete, error, status, stop, restart } = state;
  holds<Equal<typeof error, Error | undefined>>();
  holds<Equal<typeof status, "idle" | "streaming" | "complete" | "error" | "stopped">>();
  if (complete) holds<Equal<typeof value, Recipe>>();
  else holds<Equal<typeof value, DeepPartial<Recipe> | undefined>>();
  const begin = useCallback((signal: AbortSignal) => fetch(`/recipe/${id}`, { signal }), [id]);
  const again: StreamState<Recipe> = useStream<Recipe>(begin, { tool: "cook" });
  const schema = useStream(begin, { schema: z.object({ minutes: z.number() }) });
  const { submit, isLoading } = useStream<Recipe>({ api: "/recipe", headers: { "x-token": "t" } });
  const typed = useStream({ api: "/recipe" }, { schema: z.object({ minutes: z.number() }) });
  const minutes: number | undefined = typed.value?.minutes;
  holds<Equal<typeof isLoading, boolean>>();
  const isDone: boolean = state.isComplete("steps[0].text") || state.openPath === null;
  if (schema.complete) holds<Equal<typeof schema.value, { minutes: number }>>();
  const run: RunState<Recipe> = useRun<Recipe>(id && `/runs/${id}`, {
    headers: { authorization: "Bearer x" },
    reconnect: true,
    signal: AbortSignal.timeout(60_000),
  });
  const { parts, text } = useRunParts(new URL("http://x/"), { provider: "openai_chat" });
  const answer = useParts(source, { choice: 1, signal: AbortSignal.timeout(60_000) });
  return (
    <main>
      <button onClick={() => setSource(fetch("/recipe"))}>Ask</button>
      <button disabled={isLoading || isDone} onClick={() => submit({ wish: minutes })}>
        Cook
      </button>
      <button onClick={complete ? restart : stop}>{run.connection}</button>
      <h1>{value?.title}</h1>
      {value?.steps?.map((step, index) => (
        <p key={index}>{step.text}</p>
      ))}
      {run.entities.map((entity) => (
        <p key={entity.index}>{entity.value.title}</p>
      ))}
      {parts.map((part) => (
        <Part key={part.index} part={part} />
      ))}
      {text.length + answer.text.length + (again.value?.title ?? "").length + run.id.length}
    </main>
  );
}

const Part = memo(({ part }: { part: PartState }) => (part.kind === "call" ? <Card call={part.call} /> : <p>{part.text}</p>));

const Card = ({ call }: { call: CallState }) => (
  <pre title={call.error?.message}>
    {call.name} {call.status} {JSON.stringify(call.args)} {call.isComplete("city") && "✓"}
  </pre>
);

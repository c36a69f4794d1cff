/** A program in strict TypeScript that the package's types must accept, with the types it sees. */

import { createReadStream } from "node:fs";
import { type } from "arktype";
import {
  Document,
  InvalidJSON,
  InvalidSchema,
  type CompactFragment,
  type DeepPartial,
  type Fragment,
  type FullFragment,
  type JufFragment,
  type Kind,
  type Path,
  type Part,
  Rebuilder,
  type Statement,
  type ToolCall,
  type ToolCallEvent,
  type ToolCallUpdate,
  ToolCalls,
  type ValueState,
  type WireFragment,
  content,
  fields,
  fragments,
  loads,
  open,
  partial,
  parts,
  select,
  states,
  text,
  toolCalls,
  values,
} from "jsonrill";
import { observeRunParts, observeStream, type StreamState } from "jsonrill/observe";
import * as v from "valibot";
import { z } from "zod";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => {};

interface Recipe {
  title: string;
  minutes: number;
  steps: { text: string; optional?: boolean }[];
  source: { url: string } | null;
}
type Growing = {
  title?: string;
  minutes?: number;
  steps?: { text?: string; optional?: boolean }[];
  source?: { url?: string } | null;
};

export async function read(response: Response, stream: ReadableStream<Uint8Array>) {
  for await (const recipe of values<Recipe>(response)) {
    holds<Equal<typeof recipe, DeepPartial<Recipe>>>();
    const growing: Growing = recipe;
    const first: string | undefined = growing.steps?.[0]?.text;
    void first;
  }
  for await (const recipe of values<Recipe>(stream, { live: true })) {
    void recipe.title?.toUpperCase();
  }
  for await (const piece of text(fetch("/recipe"), "title", { limits: { depth: 3 } })) {
    holds<Equal<typeof piece, string>>();
  }
  for await (const piece of text(createReadStream("recipe.json"), "title")) holds<Equal<typeof piece, string>>();
  for await (const step of select<Recipe["steps"][number]>("[]", "steps")) {
    holds<Equal<typeof step, { text: string; optional?: boolean }>>();
  }
  for await (const fragment of fragments(["[", new Uint8Array([93])])) {
    holds<Equal<typeof fragment, Fragment>>();
  }
  for await (const { value, complete } of open<Recipe>("/v1/streams/1/events")) {
    holds<Equal<typeof value, DeepPartial<Recipe>>>();
    holds<Equal<typeof complete, boolean>>();
  }
  const { signal } = new AbortController();
  const file = new File([], "recipe.json");
  for await (const piece of text(file, "title", { signal })) holds<Equal<typeof piece, string>>();
  for await (const call of toolCalls(new Blob([]), { signal })) holds<Equal<typeof call, ToolCall>>();
  for await (const { id } of open("/v1/streams/1/events", { signal })) holds<Equal<typeof id, string>>();
  for await (const anything of values("{}")) holds<Equal<typeof anything, unknown>>();
  for await (const element of select("[]", "root")) holds<Equal<typeof element, unknown>>();
  for await (const { value } of open("/v1/streams/1/events")) holds<Equal<typeof value, unknown>>();
  for await (const state of states<Recipe>(response)) {
    holds<Equal<typeof state, ValueState<Recipe>>>();
    if (state.complete) holds<Equal<typeof state.value, Recipe>>();
    else holds<Equal<typeof state.value, DeepPartial<Recipe>>>();
    const [done, path]: [boolean, Path | null] = [state.isComplete("steps[0].text"), state.openPath];
    void [done, path];
  }
  for await (const [name, value] of fields("{}")) holds<Equal<[typeof name, typeof value], [string, unknown]>>();
}

export async function schemas(source: string) {
  const zod = z.object({ title: z.string(), when: z.string().transform((text) => new Date(text)) });
  for await (const value of values(source, { schema: zod })) {
    holds<Equal<typeof value, DeepPartial<{ title: string; when: Date }>>>();
  }
  for await (const field of fields(source, zod)) {
    holds<Equal<typeof field, ["title", string] | ["when", Date]>>();
    if (field[0] === "when") field[1].getTime();
  }
  for await (const { value } of states(source, { schema: zod })) void value.title?.length;
  const known = await partial(source, zod);
  holds<Equal<typeof known, { title: string; when: Date } | DeepPartial<{ title: string; when: Date }> | undefined>>();
  const loaded = await loads(source, { schema: zod });
  holds<Equal<typeof loaded, { title: string; when: Date }>>();
  const valibot = v.object({ title: v.string() });
  for await (const value of select(source, "items", { schema: valibot })) {
    holds<Equal<typeof value, { title: string }>>();
  }
  const ark = type({ title: "string" });
  for await (const value of select(source, "items", { schema: ark })) {
    const title: string = value.title;
    void title;
  }
}

export function classes() {
  const document = new Document<Recipe>({ limits: { text: 1000 } });
  const changed: boolean = document.feed('{"title": "');
  holds<Equal<typeof document.live, DeepPartial<Recipe> | undefined>>();
  holds<Equal<typeof document.version, number>>();
  const rebuilder = new Rebuilder<Recipe>();
  rebuilder.feed([[0]]);
  holds<Equal<typeof rebuilder.value, DeepPartial<Recipe> | undefined>>();
  const known = partial<Recipe>('{"title": "T');
  holds<Equal<typeof known, DeepPartial<Recipe> | undefined>>();
  const [anything, all] = [partial("{}"), loads("{}")];
  holds<Equal<[typeof anything, typeof all], [unknown, unknown]>>();
  const recipe = loads<Recipe>("{}");
  holds<Equal<typeof recipe, Recipe>>();
  try {
    document.flush();
  } catch (error) {
    if (error instanceof InvalidJSON) console.log(error.offset, error.path, error.expected, changed);
    if (error instanceof InvalidSchema) console.log(error.issues.length);
  }
}

interface Chunk {
  choices: { delta: { content?: string | null } }[];
}

export async function ask(stream: Promise<AsyncIterable<Chunk>>, response: Response) {
  for await (const recipe of values<Recipe>(stream, { choice: 1 })) void recipe.title;
  for await (const recipe of values<Recipe>(stream, { tool: "cook", live: true })) void recipe.title;
  for await (const piece of text(response, "title", { tool: true, sse: true })) piece.length;
  for await (const piece of content(stream)) holds<Equal<typeof piece, string>>();
  const calls = new ToolCalls({ provider: "anthropic", keep: 10 });
  for await (const call of toolCalls(response, { calls })) {
    holds<Equal<typeof call, ToolCall>>();
    const status: "streaming" | "complete" | "error" | "truncated" = call.status;
    void [status, call.args, call.error?.code, call.hosted];
  }
  const own = (event: { say: string }): Statement[] => [{ kind: "text", text: event.say }];
  for await (const part of parts([{ say: "a" }], { provider: own })) {
    holds<Equal<typeof part, Part>>();
    void [part.kind, part.delta, part.text, part.complete, part.call?.name];
    if (part.kind === "call") holds<Equal<typeof part.call, ToolCall>>();
    else if (part.kind === "text") holds<Equal<typeof part.call, null>>();
  }
}

export function watch(source: Promise<Response>) {
  const store = observeStream<Recipe>(source, { prefix: "{" });
  const leave: () => void = store.subscribe((state) => {
    holds<Equal<typeof state, StreamState<Recipe>>>();
    if (state.complete) state.value.title.length;
    else state.value?.title?.length;
  });
  observeRunParts("/runs/1").subscribe(({ parts, connection }) => void [parts[0]?.call?.name, connection]);
  return leave;
}

export function receive(event: ToolCallEvent): ToolCallUpdate[] {
  const kind: Kind = "StartObject";
  const full: FullFragment = { path: "root.city", kind: "PartialString", textValue: "Os" };
  const compact: CompactFragment[] = ["lo", [0], [4, null, "city"], [8, "root.n", 12]];
  const foreign: JufFragment = { path: "root", kind: "startObject", textValue: "{" };
  const all: WireFragment[] = [{ path: "root", kind }, full, ...compact, foreign];
  new Rebuilder().isComplete();
  new ToolCalls().add(event);
  switch (event.kind) {
    case "tools_call_update":
      for (const { json_update_fragments: sent } of event.tool_call_updates) {
        holds<Equal<typeof sent, WireFragment[] | undefined>>();
      }
      return event.tool_call_updates;
    case "tool_result":
      return [{ tool_call_id: event.tool_call_id, json_update_fragments: all }];
    case "tools_aggregate":
      return event.tool_calls;
  }
}

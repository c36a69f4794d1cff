/** A program in strict TypeScript that the package's types must accept, with the types it sees. */

import { createReadStream } from "node:fs";
import { type } from "arktype";
import { Document, type DeepPartial, type Fragment, InvalidJSON, InvalidSchema, type Kind, type Message } from "jsonrill";
import { type Operation, type Part, type Path, Rebuilder, type SSEEvent, type Snapshot, type State } from "jsonrill";
import { type Statement, type ToolCall, type ToolCallEvent, type ToolCallUpdate, ToolCalls, type Update } from "jsonrill";
import { type WireFragment, content, fields, fragments, observe, open, openEvents, partial, parts } from "jsonrill";
import { type Receiver, receive, select, states, text, toolCalls, values } from "jsonrill";
import * as v from "valibot";
import { z } from "zod";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_ extends true>() => {};

interface Recipe {
  title: string;
  minutes: number;
  steps: { text: string; optional?: boolean }[];
  source: { url: string } | null;
  range: [number, number];
}
type Growing = {
  title?: string;
  minutes?: number;
  steps?: { text?: string; optional?: boolean }[];
  source?: { url?: string } | null;
  range?: [number?, number?];
};

export async function read(response: Response, stream: ReadableStream<Uint8Array>) {
  for await (const recipe of values<Recipe>(response)) {
    holds<Equal<typeof recipe, DeepPartial<Recipe>>>();
    const growing: Growing = recipe;
    const first: string | undefined = growing.steps?.[0]?.text;
    const low: number | undefined = recipe.range?.[0];
    void [first, low];
  }
  for await (const recipe of values<Recipe>(stream, { live: true })) void recipe.title?.toUpperCase();
  const { signal } = new AbortController();
  for await (const piece of text(fetch("/recipe"), "title", { limits: { depth: 3 }, signal })) {
    holds<Equal<typeof piece, string>>();
  }
  for await (const piece of text(createReadStream("recipe.json"), "title")) holds<Equal<typeof piece, string>>();
  for await (const step of select<Recipe["steps"][number]>(new Blob([]), "steps")) {
    holds<Equal<typeof step, { text: string; optional?: boolean }>>();
  }
  for await (const fragment of fragments(["[", new Uint8Array([93])])) holds<Equal<typeof fragment, Fragment>>();
  for await (const anything of values("{}", { every: 0 })) holds<Equal<typeof anything, unknown>>();
  for await (const element of select("[]", "root")) holds<Equal<typeof element, unknown>>();
  for await (const state of states<Recipe>(response)) {
    holds<Equal<typeof state, State<Recipe>>>();
    if (state.complete) holds<Equal<typeof state.value, Recipe>>();
    else holds<Equal<typeof state.value, DeepPartial<Recipe>>>();
    const [done, path]: [boolean, Path | null] = [state.isComplete("steps[0].text"), state.openPath];
    void [done, path];
  }
  for await (const [name, value] of fields("{}")) holds<Equal<[typeof name, typeof value], [string, unknown]>>();
}

export async function server(response: Promise<Response>) {
  const { signal } = new AbortController();
  for await (const { value, complete, id } of open<Recipe>("/v1/streams/1/events", { signal })) {
    holds<Equal<typeof value, DeepPartial<Recipe>>>();
    holds<Equal<[typeof complete, typeof id], [boolean, string]>>();
  }
  for await (const { value } of open(response)) holds<Equal<typeof value, unknown>>();
  for await (const event of openEvents("/events", { after: "1", onState: (state) => void (state === "waiting") })) {
    holds<Equal<typeof event, SSEEvent>>();
  }
  for await (const part of parts(openEvents("/events"))) void part.delta;
  for await (const value of receive<Recipe>(response)) holds<Equal<typeof value, Recipe>>();
  holds<Equal<Receiver<Recipe>["value"], Recipe | undefined>>();
}

export async function schemas(source: string) {
  const zod = z.object({ title: z.string(), when: z.string().transform((text) => new Date(text)) });
  for await (const value of values(source, { schema: zod })) {
    holds<Equal<typeof value, DeepPartial<{ title: string; when: Date }>>>();
  }
  for await (const field of fields(source, { schema: zod })) {
    holds<Equal<typeof field, ["title", string] | ["when", Date]>>();
    if (field[0] === "when") field[1].getTime();
  }
  for await (const { value } of states(source, { schema: zod })) void value.title?.length;
  const valibot = v.object({ title: v.string() });
  for await (const value of select(source, "items", { schema: valibot })) holds<Equal<typeof value, { title: string }>>();
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
  const rebuilder = new Rebuilder<Recipe>();
  rebuilder.feed([{ path: "root", kind: "StartObject" }]);
  holds<Equal<typeof rebuilder.value, DeepPartial<Recipe> | undefined>>();
  const known = partial<Recipe>('{"title": "T');
  holds<Equal<typeof known, DeepPartial<Recipe> | undefined>>();
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
type Tools = { search: { query: string }; cook: { minutes: number } };

export async function ask(stream: Promise<AsyncIterable<Chunk>>, response: Response) {
  for await (const recipe of values<Recipe>(content(stream, { choice: 1 }))) void recipe.title;
  for await (const piece of content(stream)) holds<Equal<typeof piece, string>>();
  const calls = new ToolCalls({ provider: "anthropic", keep: 10 });
  for await (const call of toolCalls(response, { calls })) {
    holds<Equal<typeof call, ToolCall>>();
    const status: "streaming" | "complete" | "error" | "truncated" = call.status;
    void [status, call.args, call.error?.code, call.hosted];
  }
  for await (const call of toolCalls<Tools>(response)) {
    if (call.name === "search" && call.status === "complete") holds<Equal<typeof call.args, { query: string }>>();
    if (call.name === "cook" && call.status === "streaming") {
      holds<Equal<typeof call.args, { minutes?: number } | undefined>>();
    }
    if (call.status === "error") holds<Equal<typeof call.error.code, string>>();
  }
  const own = (event: { say: string }): Statement[] => [{ kind: "text", text: event.say }];
  for await (const part of parts([{ say: "a" }], { provider: own })) {
    holds<Equal<typeof part, Part>>();
    void [part.kind, part.delta, part.text, part.complete, part.call?.name];
    if (part.kind === "call") holds<Equal<typeof part.call, ToolCall>>();
    else if (part.kind === "text") holds<Equal<typeof part.call, null>>();
  }
}

export function watch() {
  const store = observe((signal) => values<Recipe>(fetch("/recipe", { signal })));
  return store.subscribe(({ value, status, error }) => void [value?.title, status === "idle", error?.message]);
}

export function wire(event: ToolCallEvent, update: Update, message: Message): ToolCallUpdate[] {
  const kind: Kind = "StartObject";
  const foreign: WireFragment = { path: "root", kind: "startObject", textValue: "{" };
  const all: WireFragment[] = [{ path: "root", kind, value: { any: "thing" } }, foreign];
  const operation: Operation = ["append", "/title", "x"];
  const snapshot: Snapshot = { n: 1, value: {} };
  void [operation, snapshot, update.status === "PARTIAL" && update.delta, message];
  new ToolCalls().feed(event);
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

/** What the package's types must refuse; each line below a mark is an error. */

import {
  Document,
  open,
  parts,
  Rebuilder,
  select,
  type ToolCallUpdate,
  text,
  toolCalls,
  values,
  type WireFragment,
} from "jsonrill";

interface Recipe {
  title: string;
}

export async function wrong(response: Response) {
  // @ts-expect-error a misspelled option
  values(response, { prefx: "{" });
  // @ts-expect-error not a value of the option
  values(response, { prefix: 3 });
  // @ts-expect-error not a limit
  new Document({ limits: { dept: 3 } });
  // @ts-expect-error a number is not a source
  values(12);
  // @ts-expect-error the field is missing
  text(response);
  // @ts-expect-error not a provider
  parts(response, { provider: "opnai" });
  for await (const call of toolCalls<{ search: { query: string } }>(response)) {
    // @ts-expect-error not a status
    void (call.status === "finished");
    // @ts-expect-error the arguments are not complete
    void call.args.query;
    // @ts-expect-error not a tool
    void (call.name === "serach");
  }
  // @ts-expect-error not a schema
  select(response, "items", { schema: { type: "object" } });
  for await (const recipe of values<Recipe>(response)) {
    // @ts-expect-error it may not be there yet
    recipe.title.length;
    // @ts-expect-error no such member
    recipe.titel;
  }
  for await (const { value } of open<Recipe>("/events")) {
    // @ts-expect-error it may not be there yet
    value.title.length;
  }
  for await (const part of parts(response)) {
    // @ts-expect-error a part does not change
    part.complete = true;
  }
  // @ts-expect-error it is read only
  new Rebuilder().live = 1;
}

export function wire(): (WireFragment | ToolCallUpdate)[] {
  return [
    // @ts-expect-error not a kind
    { path: "root", kind: "StartObjects" },
    // @ts-expect-error an index is a number
    { tool_call_id: "a", index: "0" },
  ];
}

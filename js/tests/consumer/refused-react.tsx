/** What the types of the hooks must refuse; each line below a mark is an error. */

import { useParts, useRun, useStream } from "jsonrill/react";

interface Recipe {
  title: string;
}

export function Wrong({ response }: { response: Response }) {
  const { value, complete } = useStream<Recipe>(response);
  // @ts-expect-error it may not be there yet
  value.title;
  // @ts-expect-error no such member
  value?.titel;
  if (complete) value.title;
  // @ts-expect-error a number is no source
  useStream(12);
  // @ts-expect-error a misspelled option
  useStream(response, { prefx: "{" });
  // @ts-expect-error views keep values
  useStream(response, { live: true });
  // @ts-expect-error not an address
  useRun(12);
  // @ts-expect-error not a signal
  useRun("/runs/1", { signal: new AbortController() });
  // @ts-expect-error without a schema nothing is known of it
  useStream(response).value?.title;
  // @ts-expect-error only an endpoint is asked
  useStream<Recipe>(response).submit({});
  const { parts } = useParts(response);
  // @ts-expect-error a text has no call
  void (parts[0]?.kind === "text" && parts[0].call.name);
  // @ts-expect-error it is read only
  parts.push(parts[0]);
  // @ts-expect-error not a kind
  void (parts[0]?.kind === "txet");
}

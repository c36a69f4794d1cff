/** What the types of the hooks must refuse; each line below a mark is an error. */

import { useParts, useStream, useValue } from "jsonrill/react";

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
  // @ts-expect-error a number is not a source
  useStream(12);
  // @ts-expect-error a misspelled option
  useStream(response, { reconect: true });
  // @ts-expect-error not an address
  useValue(12);
  // @ts-expect-error not a signal
  useValue("/runs/1", { signal: new AbortController() });
  // @ts-expect-error nothing is known of it
  useStream(response).value?.title;
  const { parts } = useParts(response);
  // @ts-expect-error a text has no call
  void (parts[0]?.kind === "text" && parts[0].call.name);
  // @ts-expect-error it is read only
  parts.push(parts[0]);
  // @ts-expect-error not a kind
  void (parts[0]?.kind === "txet");
}

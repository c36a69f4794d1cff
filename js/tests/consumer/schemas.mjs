// The package as it is installed, with real schema libraries; says what they make of a text.

import { type } from "arktype";
import { InvalidSchema, values } from "jsonrill";
import * as v from "valibot";
import { z } from "zod";

const schemas = {
  zod: z.object({ title: z.string(), minutes: z.coerce.string(), tags: z.array(z.string().max(3)) }),
  valibot: v.object({
    title: v.string(),
    minutes: v.pipe(v.number(), v.transform(String)),
    tags: v.array(v.pipe(v.string(), v.maxLength(3))),
  }),
  arktype: type({ title: "string", minutes: ["number", "=>", String], tags: "(string <= 3)[]" }),
};

async function last(text, schema) {
  let value;
  try {
    for await (value of values(text, { schema }));
    return value;
  } catch (error) {
    return error instanceof InvalidSchema ? [error.code, error.toJSON().path] : String(error.stack);
  }
}

const outcomes = {};
for (const [name, schema] of Object.entries(schemas)) {
  outcomes[name] = [
    await last('{"title": "Tea", "minutes": 5, "tags": ["hot"]}', schema),
    await last('{"title": "Tea", "minutes": 5, "tags": ["hot", "warm"]}', schema),
  ];
}
console.log(JSON.stringify(outcomes));

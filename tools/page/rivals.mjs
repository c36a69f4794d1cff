/** What other libraries make of a text; `make page` bundles it for the page's comparison. */

import { jsonrepair } from "jsonrepair";
import { parse } from "partial-json";

/** Each takes a text that may be cut off, and returns a value or throws. */
export const rivals = {
  "partial-json": (/** @type {string} */ text) => parse(text),
  jsonrepair: (/** @type {string} */ text) => JSON.parse(jsonrepair(text)),
};

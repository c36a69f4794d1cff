/** What a model is told about its answer. */

import { shortPath } from "../parse/path-text.js";

// How much of an answer the feedback to the model quotes.
const GOOD = 2000;

/**
 * What to tell the model, to ask again: what is wrong, where, and what was good before.
 * @param {import("../errors.js").JsonrillError} error
 */
export function feedback(error) {
  const place = shortPath(error.path ?? []);
  const at = !error.path?.length || error.message.includes(place) ? "" : ` (at ${place})`;
  const sentences = [`Your answer was not accepted: ${error.message}${at}.`];
  const good = [...(error.text ?? "")].slice(0, error.offset);
  if (good.join("").trim() !== "") {
    const shown = good.length <= GOOD ? good : ["…", ...good.slice(-GOOD)];
    sentences.push(`Up to there it was good:\n${shown.join("")}`);
  }
  sentences.push("Answer again, with the complete JSON and nothing else.");
  return sentences.join("\n");
}

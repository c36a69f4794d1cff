/** How a recording ended: in a few words, in a sentence, and what to change. No DOM. */

import { PROVIDER, describe, sentence } from "./errors.js";
import { formatCount, formatNumber, shorten } from "./escaping.js";
import * as CODES from "../js/src/codes.js";

/** @typedef {import("./recording.js").Recording} Recording */
/**
 * `problem` says what is wrong and where, `advice` what to change; both are `""` if nothing is wrong.
 * @typedef {{state: "closed" | "failed" | "off", text: string, problem: string, advice: string}} End
 */

/** What was cut, by the reason. @type {Record<string, string>} */
const CUT = {
  length: "Cut off (length)",
  filtered: "Cut off (content filter)",
  refused: "Refused",
  lost: "Cut off (no end)",
};
/** @type {Record<string, string>} */
const ADVICE = {
  length: "Raise the token limit of the request (max_tokens), or ask for less.",
  filtered: "Change the prompt, or the settings of the content filter.",
  refused: "Change the prompt: the request itself was answered.",
  lost: "The connection broke, or the text was copied before the end. Ask again.",
  error: "The request reached the provider: its message says whether to change it or to ask again later.",
  invalid: "Correct the text at the mark, or ask for structured output (a JSON Schema).",
  prose: "Ask for JSON without words or a code fence around it.",
  markup: "This is HTML or XML, often the error page of a proxy: look at the status of the response.",
  call: "Declare the tool as strict, so that its arguments follow its schema.",
  schema: "Give the model this schema, or change it.",
};

/**
 * How a recording ended. The first thing that is wrong counts.
 * @param {Recording} recording
 * @returns {End}
 */
export function endOf(recording) {
  if (recording.state === "stopped") return end("off", "Stopped");
  for (const find of [failure, invalid, cutOff, wrongCall, violation]) {
    const wrong = find(recording);
    if (wrong !== null) return wrong;
  }
  return end("closed", "Complete");
}

/** What the connection, the server or the provider says. @param {Recording} recording */
function failure({ reason, errors }) {
  if (reason) return end("failed", `Failed: ${reason}`);
  const fault = errors.find(({ code, offset, call }) => offset === null && call === undefined && code !== CODES.INVALID_SCHEMA);
  if (fault === undefined) return null;
  const isProvider = fault.code === PROVIDER;
  return end("failed", isProvider ? "Failed at the provider" : "Failed", describe(fault), isProvider ? ADVICE.error : "");
}

/** @param {Recording} recording */
function invalid(recording) {
  const fault = invalidOf(recording);
  if (fault === null) return null;
  const { cut, outline, text } = recording;
  const more = cut === null ? "" : `; ${lower(CUT[cut.reason])}`;
  const advice = outline.root !== null ? ADVICE.invalid : /^\s*<[!?a-z]/i.test(text) ? ADVICE.markup : ADVICE.prose;
  return end("failed", placeOf(fault) + more, joined(describe(fault), cut && sentence(cut.message)), advice);
}

/** The error that ended the reading of the text; null if there is none. @param {Recording} recording */
export function invalidOf({ textErrors }) {
  return textErrors.find(({ code }) => code !== CODES.TRUNCATED && code !== CODES.INVALID_SCHEMA) ?? null;
}

/** `Invalid at character 16`, counted from 1, as columns are. @param {import("./outline.js").Fault} fault */
export function placeOf({ code, character = 0 }) {
  return `${code === CODES.LIMIT_EXCEEDED ? "Too large" : "Invalid"} at character ${formatNumber(character + 1)}`;
}

/** @param {Recording} recording */
function cutOff({ cut, textErrors, calls }) {
  const fault = textErrors.find(({ code }) => code === CODES.TRUNCATED);
  const where = fault && describe(fault);
  if (cut !== null) return end("failed", CUT[cut.reason], joined(sentence(cut.message), where), ADVICE[cut.reason]);
  if (fault) return end("failed", `Cut off after character ${formatNumber(fault.character ?? 0)}`, where, ADVICE.lost);
  const open = calls.filter((call) => call.history.at(-1)?.status === "truncated").length;
  return open > 0 ? end("failed", `Cut off (${formatCount(open, "call")})`, "", ADVICE.lost) : null;
}

/** A call whose arguments cannot be read; its card says why. @param {Recording} recording */
function wrongCall({ calls }) {
  const broken = calls.filter((call) => call.error !== null);
  if (broken.length === 0) return null;
  const names = [...new Set(broken.map(({ call }) => call.name ?? "a call"))].join(", ");
  return end("failed", `Invalid arguments of ${shorten(names, 120)}`, "", ADVICE.call);
}

/** @param {Recording} recording */
function violation({ errors }) {
  const { length } = errors.filter(({ code }) => code === CODES.INVALID_SCHEMA);
  if (length === 0) return null;
  return end("failed", "Not valid against the schema", `${formatCount(length, "violation")} of the schema.`, ADVICE.schema);
}

/**
 * @param {End["state"]} state
 * @param {string} text
 * @param {string} [problem]
 * @param {string} [advice]
 * @returns {End}
 */
function end(state, text, problem = "", advice = "") {
  return { state, text, problem, advice };
}

/** @param {string} text */
function lower(text) {
  return text[0].toLowerCase() + text.slice(1);
}

/** @param {(string | null | undefined)[]} sentences */
function joined(...sentences) {
  return sentences.filter(Boolean).join(" ");
}

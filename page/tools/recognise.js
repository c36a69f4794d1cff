/**
 * What a pasted or dropped text is: its format, whose events it holds, and its records with their
 * times. No DOM and no requests, so that a pasted text stays in the browser.
 *
 * A text may be wrapped: in server-sent events, in a JSON array, in lines that begin with a time.
 * `recognise` takes these off, one after the other, and then looks at what is left.
 */

import { Document } from "../../js/src/build/document.js";
import { Reader, recognise as providerOf } from "../../js/src/providers/index.js";
import { SSEDecoder, endsStream, isDone } from "../../js/src/eventstream/sse.js";
import { isObject } from "../../js/src/parse/values.js";
import { reportedError } from "../errors.js";

/** @typedef {import("../../js/src/providers/index.js").ProviderName} ProviderName */
/** @typedef {"text" | "many" | "snapshots" | "events"} Format */
/** @typedef {Format | "sse" | "auto"} Chosen */
/** A piece of text, a snapshot or an event; `at` in milliseconds. @typedef {{data: string, at: number | null}} Item */
/**
 * @typedef {object} Recognised
 * @property {Format} format
 * @property {string[]} wrappings what was taken off, outermost first: "times", "sse", "array", "pieces"
 * @property {ProviderName | null} provider of events
 * @property {boolean} calls true if the events have tool calls
 * @property {boolean} hasText true if the events have text of the answer
 * @property {Item[]} items text that came without pieces is one item
 * @property {boolean} timed true if every item has a time
 * @property {boolean} isDone true if the events were followed by the line that ends them
 * @property {string[]} notes for people: what was left out, what could not be read
 */

/** The providers that the page reads by itself, with their names for people. @type {Record<string, string>} */
export const PROVIDERS = {
  openai_chat: "OpenAI chat",
  openai_responses: "OpenAI Responses",
  anthropic: "Anthropic",
  gemini: "Gemini",
  vercel: "AI SDK",
  ag_ui: "AG-UI",
  jsonrill: "jsonrill",
  parts: "jsonrill parts",
};

const SSE_LINE = /^(?:data|event|id|retry)?:|^(?:data|event|id|retry)$/;
// This many events are enough to recognise a provider, and to see whether there are calls.
const SAMPLE = 200;
// The first events of some streams are not the provider's own (a ping, a comment of a proxy).
const FIRST_EVENTS = 8;
const PRINTED = /^(?:<?[A-Z]\w+(?:Event|Chunk|Response|Delta|Message|Completion)\w*\()/;
const PIECES = /** @type {const} */ ("pieces");

/**
 * What a text is. `chosen` is the user's choice.
 * @param {string} text
 * @param {Chosen} [chosen]
 * @returns {Recognised}
 */
export function recognise(text, chosen = "auto") {
  /** @type {Recognised} */
  const recognised = {
    format: "text",
    wrappings: [],
    provider: null,
    calls: false,
    hasText: false,
    items: [],
    timed: false,
    isDone: false,
    notes: [],
  };
  const rest = text.replace(/^\ufeff/, "");
  if (chosen === "text") return asText(recognised, rest);
  const lines = linesOf(recognised, rest);
  if (chosen === "sse" || (chosen !== "many" && chosen !== "snapshots" && isEventStream(lines))) {
    recognised.wrappings.push("sse");
    recognised.isDone = lines.some(({ data }) => data.startsWith("data:") && isDone(data.slice(5).trim()));
    return asItems(recognised, dataOf(lines), chosen === "sse" ? "auto" : chosen);
  }
  if (recognised.wrappings.includes("times")) return asItems(recognised, filled(lines), chosen);
  const inner = chosen === "auto" || chosen === "events" ? unwrapped(recognised, rest) : null;
  if (typeof inner === "string") return recognise(inner, chosen);
  if (inner !== null) return asItems(recognised, inner, "events");
  if (chosen === "auto" && (filled(lines).length < 2 || parsed(rest) !== undefined)) return asText(recognised, rest);
  return asItems(recognised, filled(lines), chosen, rest);
}

// ---- what a text is wrapped in ----

const CLOCK = String.raw`(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[.,]\d{1,9}(?:Z|[+-]\d\d:?\d\d)?`;
const TIME = new RegExp(
  String.raw`^\[?(?:(${CLOCK})|(\d{10}\.\d{1,9})|(\d{13})|(\d{1,6}\.\d{2,9}))\]?(?:s|:|\t| \||)(?:[ \t]+|$)`,
);

/**
 * The lines of a text, without the times that all of them begin with.
 * @param {Recognised} recognised
 * @param {string} text
 * @returns {Item[]}
 */
function linesOf(recognised, text) {
  const lines = text.split(/\r\n|\r|\n/);
  const plain = () => lines.map((data) => ({ data, at: null }));
  const full = lines.filter((line) => line.trim() !== "");
  if (full.length < 2 || !full.every((line) => TIME.test(line))) return plain();
  const times = full.map(timeOf);
  if (times.some((time, at) => Number.isNaN(time) || (at > 0 && time < times[at - 1]))) return plain();
  const values = full.map((line) => line.replace(TIME, ""));
  // Numbers alone are data, not times.
  if (values.every((value) => value === "")) return plain();
  recognised.wrappings.push("times");
  let at = times[0];
  return lines.map((line) => {
    if (line.trim() === "") return { data: "", at: at - times[0] };
    at = timeOf(line);
    return { data: line.replace(TIME, ""), at: at - times[0] };
  });
}

/** Milliseconds. @param {string} line that begins with a time */
function timeOf(line) {
  const [, clock, epoch, millis, seconds] = /** @type {RegExpExecArray} */ (TIME.exec(line));
  if (millis) return Number(millis);
  if (epoch || seconds) return Number(epoch ?? seconds) * 1000;
  const whole = /^\d{4}/.test(clock) ? clock.replace(" ", "T") : `1970-01-01T${clock}`;
  return Date.parse(whole.replace(",", ".").replace(/(\.\d{3})\d+/, "$1"));
}

/** @param {Item[]} lines */
function filled(lines) {
  return lines.filter(({ data }) => data.trim() !== "");
}

/** @param {Item[]} lines */
function isEventStream(lines) {
  const full = filled(lines);
  // The last line may be cut off anywhere.
  const body = full.length > 2 ? full.slice(0, -1) : full;
  return full.length > 0 && body.every(({ data }) => SSE_LINE.test(data)) && body.some(({ data }) => /^data:/.test(data));
}

/**
 * The data of server-sent events, each with the time of its last line.
 * @param {Item[]} lines
 * @returns {Item[]}
 */
function dataOf(lines) {
  // Logs often lack the blank lines: then each line of data that is JSON is an event.
  const inLines = lines
    .filter(({ data }) => data.startsWith("data:"))
    .map(({ data, at }) => ({ data: data.slice(5).trim(), at }));
  const hasBlank = lines.slice(0, -1).some(({ data }) => data.trim() === "");
  if (!hasBlank && inLines.length > 1 && inLines.every(({ data }) => isDone(data) || parsed(data) !== undefined)) {
    return inLines.filter(({ data }) => !isDone(data));
  }
  const decoder = new SSEDecoder();
  /** @type {Item[]} */
  const items = [];
  let last = /** @type {number | null} */ (null);
  for (const { data, at } of [...lines, { data: "", at: null }, { data: "", at: null }]) {
    if (data !== "") last = at;
    for (const event of decoder.feed(`${data}\n`)) {
      if (!endsStream(event)) items.push({ data: event.data, at: last });
    }
  }
  return items;
}

/**
 * The events in a JSON array, also if it is cut off; the text in a JSON string; or null.
 * @param {Recognised} recognised
 * @param {string} text
 * @returns {Item[] | string | null}
 */
function unwrapped(recognised, text) {
  const first = text.trimStart()[0];
  if (first === '"') {
    const inner = parsed(text);
    return typeof inner === "string" && /^\s*(?:data:|event:|\{|\[)/.test(inner) ? inner : null;
  }
  if (first === "{" && parsed(text) !== undefined && !/\S[\r\n]+\{/.test(text)) {
    // One response that was not streamed; a document that only looks like one says nothing.
    const isEvent = providerOf(text) !== null && statements([text]).length > 0;
    return isEvent || reportedError(parsed(text)) !== null ? [{ data: text, at: null }] : null;
  }
  if (first !== "[") return null;
  let list = parsed(text);
  if (list === undefined) {
    list = beginning(text);
    if (Array.isArray(list)) list.pop(); // it may have been cut off
  }
  if (!Array.isArray(list) || !list.every(isObject)) return null;
  const items = list.map((event) => ({ data: JSON.stringify(event), at: null }));
  if (ownerOf(items) === null) return null;
  recognised.wrappings.push("array");
  return items;
}

/** The value of a text that is cut off; undefined if it is not JSON. @param {string} text */
function beginning(text) {
  const document = new Document();
  try {
    document.feed(text);
  } catch {
    return undefined;
  }
  return /** @type {any} */ (document.value);
}

// ---- what the items are ----

/**
 * @param {Recognised} recognised
 * @param {string} text
 */
function asText(recognised, text) {
  if (PRINTED.test(text.trimStart())) {
    recognised.notes.push("These are printed Python objects. Print chunk.model_dump_json() for each, and paste that.");
  }
  recognised.items = [{ data: text, at: null }];
  return recognised;
}

/**
 * @param {Recognised} recognised
 * @param {Item[]} items
 * @param {Chosen} chosen
 * @param {string} [text] the same as one text, if the items are its lines
 */
function asItems(recognised, items, chosen, text) {
  const sample = items.slice(0, SAMPLE).map(({ data }) => data);
  const owner = ownerOf(items);
  const isError = items.length === 1 && reportedError(parsed(items[0].data)) !== null;
  if (chosen === "events" || (chosen === "auto" && (owner !== null || isError)))
    return asEvents(recognised, items, owner, sample);
  const values = items.map(({ data }) => parsed(data));
  recognised.format =
    chosen === "auto" ? formatOf(values, items.filter(({ data }) => /^[[{]/.test(data)).length) : /** @type {Format} */ (chosen);
  recognised.items = items;
  if (recognised.format === "text" && values.length > 0 && values.every((value) => typeof value === "string")) {
    // Pieces of text, each a JSON string.
    recognised.items = items.map(({ at }, index) => ({ data: values[index], at }));
    recognised.wrappings.push(PIECES);
  } else if (text !== undefined && recognised.format !== "snapshots") {
    if (recognised.format === "text") return asText(recognised, text);
    recognised.items = [{ data: text, at: null }];
  } else if (recognised.format === "many") {
    recognised.items = items.map(({ data, at }) => ({ data: `${data}\n`, at }));
  }
  recognised.timed = recognised.items.length > 0 && recognised.items.every(({ at }) => at !== null);
  return recognised;
}

/**
 * @param {Recognised} recognised
 * @param {Item[]} items
 * @param {ProviderName | null} owner
 * @param {string[]} sample
 */
function asEvents(recognised, items, owner, sample) {
  const good = items.filter(({ data }) => isObject(parsed(data)));
  const left = items.length - good.length;
  if (left > 0) recognised.notes.push(`${left} of ${items.length} events are not JSON objects and were left out.`);
  const sampled = statements(sample);
  recognised.format = "events";
  recognised.provider = owner;
  recognised.calls = sampled.some(
    (one) => (one.kind === "call" && !!one.name) || (one.kind === "aggregate" && one.calls.length > 0),
  );
  recognised.hasText = sampled.some((one) => one.kind === "text" && one.text.trim() !== "");
  recognised.items = withOwnTimes(good);
  recognised.timed = good.length > 0 && recognised.items.every(({ at }) => at !== null);
  return recognised;
}

/**
 * The events with the times that they state themselves, if they have no others.
 * @param {Item[]} items
 * @returns {Item[]}
 */
function withOwnTimes(items) {
  if (items.length < 2 || items.some(({ at }) => at !== null)) return items;
  const times = items.map(({ data }) => {
    const { timestamp } = parsed(data);
    return typeof timestamp === "number" ? timestamp : NaN;
  });
  const grows = times.every((time, at) => !Number.isNaN(time) && (at === 0 || time >= times[at - 1]));
  if (!grows || times[0] === times.at(-1)) return items;
  return items.map(({ data }, index) => ({ data, at: times[index] - times[0] }));
}

/** The provider of the first events that have one. @param {Item[]} items */
function ownerOf(items) {
  for (const { data } of items.slice(0, FIRST_EVENTS)) {
    const name = providerOf(data);
    if (name !== null) return name;
  }
  return null;
}

/** @param {string[]} events */
function statements(events) {
  const reader = new Reader("auto");
  return events.flatMap((event) => reader.feed(event));
}

/**
 * The format of lines that are no provider's events.
 * @param {any[]} values undefined for a line that is not JSON
 * @param {number} begun how many lines begin with a bracket
 * @returns {Format}
 */
function formatOf(values, begun) {
  const valid = values.filter((value) => value !== undefined);
  if (values.length < 2) return "text";
  if (valid.length > 0 && valid.every((value) => typeof value === "string")) return "text";
  if (valid.length === values.length && valid.length > 1) return areGrowing(values) ? "snapshots" : "many";
  // NDJSON may have a broken line, and is often cut off in its last one.
  const isBrokenLog = isContainer(values[0]) && (2 * valid.length >= values.length || 2 * begun >= values.length);
  return isBrokenLog ? "many" : "text";
}

/** @param {any} value */
function isContainer(value) {
  return Array.isArray(value) || isObject(value);
}

/**
 * True if the values are one value that grows: nearly each contains the one before, and most have more.
 * Lines of a log have the same fields with other values, so that they are not.
 * @param {any[]} values
 */
function areGrowing(values) {
  let more = 0;
  let other = 0;
  for (let at = 1; at < values.length; at += 1) {
    if (!contains(values[at], values[at - 1])) other += 1;
    else if (!contains(values[at - 1], values[at])) more += 1;
  }
  return isContainer(values[0]) && other * 10 <= values.length && more * 2 >= values.length - 1;
}

/**
 * True if `later` has everything that `earlier` has, and its strings begin with the earlier ones.
 * @param {any} later
 * @param {any} earlier
 * @returns {boolean}
 */
function contains(later, earlier) {
  if (earlier === null) return true; // not known yet
  if (typeof earlier === "string") return typeof later === "string" && later.startsWith(earlier);
  if (Array.isArray(earlier)) {
    return Array.isArray(later) && later.length >= earlier.length && earlier.every((value, at) => contains(later[at], value));
  }
  if (!isObject(earlier)) return later === earlier;
  return isObject(later) && Object.keys(earlier).every((key) => Object.hasOwn(later, key) && contains(later[key], earlier[key]));
}

/**
 * The value of a JSON text; undefined if it is not JSON.
 * @param {string} text
 * @returns {any}
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * One sentence about what was recognised.
 * @param {Recognised} recognised
 */
export function described({ format, wrappings, provider, items, calls, timed, notes }) {
  const names = { text: "JSON text", many: "several documents", snapshots: "snapshots", events: "events" };
  /** @type {Record<string, string>} */
  const inside = {
    times: "in lines with times",
    sse: "as server-sent events",
    array: "in a JSON array",
    pieces: "in pieces",
  };
  const owner = provider === null ? "" : `${PROVIDERS[provider] ?? provider} `;
  const count = format === "events" || format === "snapshots" ? `${items.length} ` : "";
  const one = items.length === 1 && format === "events" ? "event" : names[format];
  const parts = [`${count}${owner}${one}`, ...wrappings.map((name) => inside[name]).reverse()];
  if (calls) parts.push("with tool calls");
  const own = timed && !wrappings.includes("times") ? ", each with its time" : "";
  return [`${parts.join(" ")}${own}.`, ...notes].join(" ");
}

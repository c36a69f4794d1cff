/**
 * What a pasted or dropped text is: its format, whose events it holds, and its records with their
 * times. No DOM and no requests, so that a pasted text stays in the browser.
 *
 * A text may be wrapped: in the head of an HTTP response, in server-sent events, in a JSON array, in a
 * HAR file of a browser, in lines that begin with a time. `recognise` takes these off, one after the
 * other, and then looks at what is left.
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
 * @property {string[]} wrappings what was taken off, outermost first: "har", "http", "times", "sse", …
 * @property {ProviderName | null} provider of events
 * @property {boolean} calls true if the events have tool calls
 * @property {boolean} hasText true if the events have text of the answer
 * @property {Item[]} items text that came without pieces is one item
 * @property {boolean} timed true if every item has a time
 * @property {boolean} isDone true if the events were followed by the line that ends them
 * @property {{first: number, total: number} | null} span milliseconds, from a HAR file without times
 * @property {string[]} notes for people: what was left out, what could not be read
 * @property {Response_[]} responses of a HAR file, to choose from
 * @property {number} response which of them this is; -1 if it is no HAR file
 * @property {string} [title] of a recording of the page
 * @property {{[name: string]: any}} [options] of a recording of the page
 */
/** @typedef {{title: string, body: string, messages: Item[] | null, span: {first: number, total: number} | null}} Response_ */
/** @typedef {{chosen?: Chosen, provider?: "auto" | ProviderName, response?: number}} Wish */

/** The providers that the page reads by itself, with their names for people. @type {Record<ProviderName, string>} */
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
const HTTP = /^(?:< )?HTTP\/\d(?:\.\d)? \d{3}\b/;
const HEADER = /^(?:< )?[A-Za-z][A-Za-z0-9-]*:\s/;
const KNOWN_HEADER = /^(?:< )?(?:content-type|date|server|cache-control|transfer-encoding|x-request-id|cf-ray):/im;
const PRINTED = /^(?:<?[A-Z]\w+(?:Event|Chunk|Response|Delta|Message|Completion)\w*\()/;
const PIECES = /** @type {const} */ ("pieces");

/**
 * What a text is. `chosen` and `provider` are the user's choice; `response` is one of a HAR file.
 * @param {string} text
 * @param {Wish} [wish]
 * @returns {Recognised}
 */
export function recognise(text, { chosen = "auto", provider = "auto", response = -1 } = {}) {
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
    span: null,
    notes: [],
    responses: [],
    response: -1,
  };
  let rest = text.replace(/^\ufeff/, "");
  if (chosen === "text") return asText(recognised, rest);
  const recorded = recordingOf(rest);
  if (recorded !== null) {
    if (recorded.format === "events") asItems(recognised, recorded.items, "events", provider);
    return Object.assign(recognised, recorded, {
      timed: recorded.items.length > 0 && recorded.items.every(({ at }) => at !== null),
    });
  }
  const responses = responsesOf(rest);
  if (responses !== null) {
    recognised.wrappings.push("har");
    recognised.responses = responses;
    if (responses.length === 0) {
      recognised.notes.push("No response in this HAR file has a text. Save it again “with content”.");
      return recognised;
    }
    recognised.response = responses[response] ? response : best(responses);
    const { body, messages, span } = responses[recognised.response];
    recognised.span = span;
    if (messages !== null) return asItems(recognised, messages, chosen, provider);
    rest = body;
  }
  rest = withoutHead(recognised, rest);
  const lines = linesOf(recognised, rest);
  if (chosen === "sse" || (chosen !== "many" && chosen !== "snapshots" && isEventStream(lines))) {
    recognised.wrappings.push("sse");
    recognised.isDone = lines.some(({ data }) => data.startsWith("data:") && isDone(data.slice(5).trim()));
    return asItems(recognised, dataOf(lines), chosen === "sse" ? "auto" : chosen, provider);
  }
  if (recognised.wrappings.includes("times")) return asItems(recognised, filled(lines), chosen, provider);
  const inner = chosen === "auto" || chosen === "events" ? unwrapped(recognised, rest, provider) : null;
  if (typeof inner === "string") return recognise(inner, { chosen, provider });
  if (inner !== null) return asItems(recognised, inner, "events", provider);
  if (chosen === "auto" && (filled(lines).length < 2 || parsed(rest) !== undefined)) return asText(recognised, rest);
  return asItems(recognised, filled(lines), chosen, provider, rest);
}

// ---- what a text is wrapped in ----

/**
 * A recording that the page wrote; null if this is none.
 * @param {string} text
 */
function recordingOf(text) {
  if (!/^\s*\{\s*"recording"\s*:\s*1\b/.test(text)) return null;
  const { input, title, options, records } = parsed(text) ?? {};
  if (!Array.isArray(records) || !["text", "snapshots", "events"].includes(input)) return null;
  /** @type {Item[]} */
  const items = records.map(({ at, data } = {}) => ({
    data: input === "text" ? String(data) : JSON.stringify(data ?? null),
    at: typeof at === "number" && at >= 0 ? at : null,
  }));
  const chosen = isObject(options) ? options : {};
  const format = input === "text" && chosen.many === true ? "many" : /** @type {Format} */ (input);
  return { format, items, title: String(title ?? ""), options: chosen };
}

/**
 * The responses with a text in a HAR file; null if this is no HAR file.
 * @param {string} text
 * @returns {Response_[] | null}
 */
function responsesOf(text) {
  if (!/^\s*\{\s*"log"\s*:/.test(text)) return null;
  const entries = parsed(text)?.log?.entries;
  if (!Array.isArray(entries)) return null;
  return entries.flatMap((entry) => {
    const { request = {}, response = {}, timings = {}, time, startedDateTime } = entry ?? {};
    const messages = socketMessages(entry?._webSocketMessages, Date.parse(startedDateTime));
    const body = bodyOf(response.content);
    if (body === "" && messages === null) return [];
    const before = ["blocked", "dns", "connect", "send", "wait"].map((name) => Math.max(0, Number(timings[name]) || 0));
    const first = before.reduce((sum, each) => sum + each, 0);
    const total = Number(time);
    const span = total > 0 && timings.wait >= 0 ? { first: Math.min(first, total), total } : null;
    const title = `${request.method ?? ""} ${shortUrl(String(request.url ?? ""))} · ${response.status ?? ""}`;
    return [{ title: title.trim(), body, messages, span }];
  });
}

/** @param {any} content of a response in a HAR file */
function bodyOf(content) {
  if (typeof content?.text !== "string") return "";
  if (content.encoding !== "base64") return content.text;
  try {
    const bytes = Uint8Array.from(atob(content.text), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return ""; // an image, for instance
  }
}

/**
 * What a web socket received, with times.
 * @param {any} messages
 * @param {number} start
 * @returns {Item[] | null}
 */
function socketMessages(messages, start) {
  if (!Array.isArray(messages)) return null;
  const received = messages.filter((one) => one?.type === "receive" && typeof one.data === "string");
  if (received.length === 0) return null;
  const times = received.map((one) => Number(one.time) * 1000);
  const origin = Number.isFinite(start) && start <= times[0] ? start : times[0];
  return received.map(({ data }, at) => ({ data, at: Number.isFinite(times[at]) ? times[at] - origin : null }));
}

/** @param {string} url */
function shortUrl(url) {
  try {
    const { host, pathname } = new URL(url);
    return host + pathname; // a query may hold a key
  } catch {
    return url.slice(0, 80);
  }
}

/**
 * Which response of a HAR file is most likely meant: the first that holds a provider's events.
 * @param {Response_[]} responses
 */
function best(responses) {
  /** @type {number[]} */
  const ranks = responses.map(({ body, messages }) => {
    if (messages !== null) return 2;
    const { provider, format } = recognise(body.slice(0, 20_000));
    return provider !== null ? 3 : format === "text" ? 0 : 1;
  });
  return ranks.indexOf(Math.max(...ranks));
}

/**
 * The text without the head of an HTTP response, as `curl -i` and `curl -v` print it.
 * @param {Recognised} recognised
 * @param {string} text
 */
function withoutHead(recognised, text) {
  const head = /^[^]*?(?:\r?\n(?:<\s*)?\r?\n|$)/.exec(text)?.[0] ?? "";
  const lines = head.split(/\r?\n/).filter((line) => !/^(?:[*>].*|<?\s*)$/.test(line));
  const [first = ""] = lines;
  const isHead = HTTP.test(first) || (KNOWN_HEADER.test(head) && !SSE_LINE.test(first));
  if (!isHead || head.length === text.length || !lines.slice(1).every((line) => HEADER.test(line))) return text;
  recognised.wrappings.push("http");
  const status = Number(/ (\d{3})\b/.exec(first)?.[1] ?? 200);
  if (status >= 400) recognised.notes.push(`The response has the status ${status}.`);
  return withoutHead(recognised, text.slice(head.length)); // "100 Continue" and redirects have heads, too
}

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
 * @param {"auto" | ProviderName} provider
 * @returns {Item[] | string | null}
 */
function unwrapped(recognised, text, provider) {
  const first = text.trimStart()[0];
  if (first === '"') {
    const inner = parsed(text);
    return typeof inner === "string" && /^\s*(?:data:|event:|\{|\[)/.test(inner) ? inner : null;
  }
  if (first === "{" && parsed(text) !== undefined && !/\S[\r\n]+\{/.test(text)) {
    // One response that was not streamed; a document that only looks like one says nothing.
    const isEvent = providerOf(text) !== null && statements([text], provider).length > 0;
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
  if (provider === "auto" && ownerOf(items) === null) return null;
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
 * @param {"auto" | ProviderName} provider
 * @param {string} [text] the same as one text, if the items are its lines
 */
function asItems(recognised, items, chosen, provider, text) {
  const sample = items.slice(0, SAMPLE).map(({ data }) => data);
  const owner = provider === "auto" ? ownerOf(items) : provider;
  const isError = items.length === 1 && reportedError(parsed(items[0].data)) !== null;
  if (chosen === "events" || (chosen === "auto" && (owner !== null || isError)))
    return asEvents(recognised, items, owner, sample, provider);
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
 * @param {"auto" | ProviderName} provider
 */
function asEvents(recognised, items, owner, sample, provider) {
  const good = items.filter(({ data }) => isObject(parsed(data)));
  const left = items.length - good.length;
  if (left > 0) recognised.notes.push(`${left} of ${items.length} events are not JSON objects and were left out.`);
  const sampled = statements(sample, provider);
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
    const { created_at: created, timestamp } = parsed(data);
    if (typeof created === "string") return Date.parse(created);
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

/**
 * @param {string[]} events
 * @param {"auto" | ProviderName} provider
 */
function statements(events, provider) {
  const reader = new Reader(provider);
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
    har: "in a HAR file",
    http: "after an HTTP head",
    times: "in lines with times",
    sse: "as server-sent events",
    array: "in a JSON array",
    pieces: "in pieces",
  };
  const owner = provider === null ? "" : `${PROVIDERS[provider]} `;
  const count = format === "events" || format === "snapshots" ? `${items.length} ` : "";
  const one = items.length === 1 && format === "events" ? "event" : names[format];
  const parts = [`${count}${owner}${one}`, ...wrappings.map((name) => inside[name]).reverse()];
  if (calls) parts.push("with tool calls");
  const own = timed && !wrappings.includes("times") ? ", each with its time" : "";
  return [`${parts.join(" ")}${own}.`, ...notes].join(" ");
}

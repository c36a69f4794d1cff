/** Detect what a pasted text is: JSON text, JSON lines, snapshots, provider events, or wire messages. */

import { Parts, SSEDecoder, partial } from "../js/src/index.js";
import { reportedError } from "./answer.js";
import { formatCount, isObject, parseJson } from "./format.js";

/** @typedef {"text" | "many" | "snapshots" | "events" | "wire"} Kind */
/**
 * A piece of text, a line or an event; `at` in milliseconds; `parts` is what the server reads in an event.
 * @typedef {{data: string, at: number | null, parts?: any[]}} Item
 */
/**
 * `items`: one item may be a text that is not cut into pieces. `isDone`: the events ended with `[DONE]`. `isJoined`: no blank line
 * separates them.
 * @typedef {{kind: Kind, items: Item[], isTimed: boolean, isDone: boolean, isJoined: boolean, about: string}} Material
 */

// This many events are enough to recognise a provider: the first ones may be pings of a proxy.
const SAMPLE = 40;
const SSE_LINE = /^(?:data|event|id|retry)?:|^(?:data|event|id|retry)?\s*$/;
const NAMES = { text: "piece", many: "JSON line", snapshots: "snapshot", events: "provider event", wire: "wire message" };

/**
 * @param {string} text
 * @param {Kind | "auto"} [chosen] the user's choice
 * @returns {Material}
 */
export function recognise(text, chosen = "auto") {
  const source = text.replace(/^\ufeff/, "");
  if (chosen === "text") return createMaterial("text", [{ data: source, at: null }]);
  const events = unwrap(source);
  if (typeof events === "string") return recognise(events, chosen);
  const lines = linesOf(source);
  const isStream = isEventStream(lines);
  const items = events ?? (isStream ? dataOf(lines) : lines.filter(({ data }) => data.trim() !== ""));
  const values = items.map(({ data }) => parseJson(data));
  const isDone = isStream && lines.some(({ data }) => data.replace(/^data:\s*/, "") === "[DONE]");
  // Some providers end their events with [DONE]; a stream may also have comments only.
  const isOfProvider = isStream && (items.length === 0 || (isDone && values.every(isObject)));
  const kind = chosen !== "auto" ? chosen : isOfProvider ? "events" : kindOf(items, values, source, isStream);
  const isJoined = isStream && items[0]?.at === null && lines.some((_, at) => isData(lines[at]) && isData(lines[at + 1]));
  return { ...withItems(kind, items, values, source, isStream), isDone, isJoined };
}

/**
 * @param {Kind} kind
 * @param {Item[]} items
 * @returns {Material}
 */
function createMaterial(kind, items) {
  const isTimed = items.length > 1 && items.every(({ at }) => at !== null);
  const isWhole = items.length === 1 && (kind === "text" || kind === "many");
  const about = isWhole ? (kind === "text" ? "JSON text" : "JSON lines") : formatCount(items.length, NAMES[kind]);
  return { kind, items, isTimed, isDone: false, isJoined: false, about };
}

/**
 * @param {Kind} kind
 * @param {Item[]} items
 * @param {any[]} values of the items
 * @param {string} source
 * @param {boolean} isStream
 */
function withItems(kind, items, values, source, isStream) {
  if (kind === "text" && values.length > 1 && values.every((value) => typeof value === "string")) {
    const pieces = items.map(({ at }, index) => ({ data: values[index], at }));
    return createMaterial(kind, pieces);
  }
  if (kind === "text") return createMaterial(kind, isStream ? items : [{ data: source, at: null }]);
  if (kind === "many") {
    const lines = items.map(({ data, at }) => ({ data: `${data}\n`, at }));
    const separate = createMaterial(kind, lines);
    return separate.isTimed || isStream ? separate : createMaterial(kind, [{ data: source, at: null }]);
  }
  // Drop an incomplete last event or message. The missing end marker already shows that the stream was cut off.
  const isCut =
    items.length > 1 && values.at(-1) === undefined && kind !== "snapshots" && /^\s*[[{]/.test(items[items.length - 1].data);
  return createMaterial(kind, isCut ? items.slice(0, -1) : items);
}

/**
 * Return the events in a JSON array (which may be cut off) or object, the event stream in a JSON string, or null.
 * @param {string} source
 * @returns {Item[] | string | null}
 */
function unwrap(source) {
  const first = source.trimStart()[0];
  const value = first === '"' || first === "{" ? parseJson(source) : undefined;
  if (typeof value === "string") return /^\s*(?:data|event):/.test(value) ? value : null;
  if (value !== undefined) return areEvents([value]) ? [{ data: source, at: null }] : null;
  if (first !== "[") return null;
  const list = parseJson(source) ?? readPartialList(source);
  if (!Array.isArray(list) || !list.every(isObject) || !areEvents(list)) return null;
  return list.map((event) => ({ data: JSON.stringify(event), at: null }));
}

/** Return the elements of an array that is cut off, without the last one. @param {string} source */
function readPartialList(source) {
  try {
    const list = /** @type {any} */ (partial(source));
    return Array.isArray(list) ? list.slice(0, -1) : null;
  } catch {
    return null;
  }
}

// ---- lines ----

const CLOCK = String.raw`(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[.,]\d{1,9}(?:Z|[+-]\d\d:?\d\d)?`;
const TIME = new RegExp(String.raw`^\[?(?:(${CLOCK})|(\d{10}\.\d+)|(\d{13})|(\d{1,6}\.\d{2,9}))\]?(?:s|:|\t| \||)(?:[ \t]+|$)`);

/**
 * Split a text into lines, without the times that all of them begin with.
 * @param {string} text
 * @returns {Item[]}
 */
function linesOf(text) {
  const lines = text.split(/\r\n|\r|\n/);
  const untimed = lines.map((data) => ({ data, at: null }));
  const entries = lines.filter((line) => line.trim() !== "");
  if (entries.length < 2 || !entries.every((line) => TIME.test(line))) return untimed;
  const start = timeOf(entries[0]);
  if (Number.isNaN(start) || entries.every((line) => line.replace(TIME, "") === "")) return untimed;
  return entries.map((line) => ({ data: line.replace(TIME, ""), at: timeOf(line) - start }));
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
function isEventStream(lines) {
  // Others may follow: a line that is cut off, the error page of a proxy.
  const first = lines.find(({ data }) => data.trim() !== "");
  return first !== undefined && SSE_LINE.test(first.data) && lines.some(({ data }) => /^(?:data)?:/.test(data));
}

/** @param {Item} [line] */
function isData(line) {
  return line?.data.startsWith("data:") ?? false;
}

/**
 * Return the data of server-sent events. Logs often lack the blank lines; then each data line is an event. A line
 * of something else is an item.
 * @param {Item[]} lines
 * @returns {Item[]}
 */
function dataOf(lines) {
  const data = lines.filter(isData);
  const bare = data.map((line) => ({ ...line, data: line.data.slice(5).trim() })).filter((line) => line.data !== "[DONE]");
  if (lines.every((line) => SSE_LINE.test(line.data)) && bare.every((line) => parseJson(line.data) !== undefined)) return bare;
  const decoder = new SSEDecoder();
  const items = [];
  for (const { data: line, at } of [...lines, { data: "", at: null }, { data: "", at: null }]) {
    const isKnown = SSE_LINE.test(line);
    items.push(...decoder.feed(isKnown ? `${line}\n` : "\n").map((event) => ({ data: event.data, at })));
    // A shorter line may be the beginning of a field.
    if (!isKnown && line.length > "event".length) items.push({ data: line, at });
  }
  return items.filter((item) => item.data !== "[DONE]");
}

// ---- what the items are ----

/**
 * @param {Item[]} items
 * @param {any[]} values of the items; undefined for those that are not JSON
 * @param {string} source
 * @param {boolean} isStream
 * @returns {Kind}
 */
function kindOf(items, values, source, isStream) {
  const objects = values.filter(isObject);
  if (objects.length > 0 && areEvents(objects, isStream)) return "events";
  if (isWire(values)) return "wire";
  if (values.length < 2 || (!isStream && parseJson(source) !== undefined)) return "text";
  const valid = values.filter((value) => value !== undefined);
  if (valid.length > 0 && valid.every((value) => typeof value === "string")) return "text";
  if (isGrowing(valid) && valid.length * 2 > values.length) return "snapshots";
  if (valid.length === values.length) return "many";
  // JSON lines may have a broken line, and are often cut off in the last one.
  const starts = items.filter(({ data }) => /^\s*[[{]/.test(data)).length;
  const isLog = isContainer(values[0]) && starts > 1 && 2 * Math.max(valid.length, starts) >= values.length;
  return isLog ? "many" : "text";
}

/**
 * Return true if a provider sends such events. Events of a stream may be cut off before they contain anything.
 * @param {any[]} values
 * @param {boolean} [isStream]
 */
function areEvents(values, isStream = false) {
  const parts = new Parts();
  if (values.length === 1 && reportedError(values[0]) !== "") return true;
  const hasParts = values.slice(0, SAMPLE).some((value) => parts.feed(value).length > 0);
  return hasParts || (parts.reader.provider !== null && (isStream || parts.error !== null));
}

/** @param {any[]} values */
function isWire(values) {
  const [first, second] = values;
  const isSnapshot = isObject(first) && typeof first.n === "number" && "value" in first;
  return isSnapshot && (Array.isArray(second) || typeof second === "string" || second?.n > first.n);
}

/** @param {any} value */
function isContainer(value) {
  return typeof value === "object" && value !== null;
}

/**
 * Return true if the values are one growing value: three of four contain the previous one, and most add to it.
 * Lines of a log have the same fields with other values.
 * @param {any[]} values
 */
function isGrowing(values) {
  let [more, other] = [0, 0];
  for (let at = 1; at < values.length; at += 1) {
    if (!contains(values[at], values[at - 1])) other += 1;
    else if (!contains(values[at - 1], values[at])) more += 1;
  }
  return values.length > 1 && isContainer(values[0]) && other * 4 <= values.length && more * 2 >= values.length - 1;
}

/**
 * Return true if `later` contains `earlier`, where strings may have grown.
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

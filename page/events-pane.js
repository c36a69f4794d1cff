/** One table of events: as they were received, or as the server renders the stream. */

import { byId, followEnd, make, showRows } from "./dom.js";
import { escapeText, formatCount, formatDuration, formatNumber, isObject, parseJson, shorten } from "./format.js";
import { countBefore } from "./search.js";
import { colour } from "./text-pane.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./server.js").Rendered} Rendered */
/** @typedef {{key: number, signature: string, record: number, data: any, isLast: boolean}} Row */
/**
 * `render` reads the stream from the server in a format; null if there is no server.
 * @typedef {{render: ((query: Record<string, string>) => AsyncIterable<Rendered>) | null, onPick: (position: number) => void,
 *   onChange: () => void}} Host
 */

const MAX_ROWS = 100;
const MAX_TEXT = 400;

export class EventsPane {
  /** @type {Rendered[]} */
  #rendered = [];
  /** The number of formats chosen so far; events of an earlier one are dropped. */
  #turn = 0;
  #problem = "";
  /** @type {Recording | null} */
  #recording = null;
  #position = 0;
  #format = byId("event-format", HTMLSelectElement);
  #filter = byId("event-filter", HTMLInputElement);
  #count = byId("event-count");
  #table = byId("event-table");
  #body = byId("event-rows");

  /** @param {Host} host */
  constructor(host) {
    this.#host = host;
    this.#format.addEventListener("change", () => void this.#load());
    this.#filter.addEventListener("input", () => this.#draw());
    this.#body.addEventListener("click", (event) => {
      const row = /** @type {Element} */ (event.target).closest("tr");
      if (row) host.onPick(Number(row.dataset.record));
    });
  }

  #host;

  /**
   * Show another recording in this format.
   * @param {Recording} recording
   * @param {string} [format] such as `updates/REALTIME`
   */
  reset(recording, format = "received") {
    this.#position = 0;
    this.#recording = recording;
    for (const option of this.#format.options) option.disabled = option.value !== "received" && !this.#canRender;
    this.#format.value = this.#canRender ? format : "received";
    this.#filter.value = "";
    this.#body.replaceChildren();
    void this.#load();
  }

  get #canRender() {
    return this.#host.render !== null && this.#recording?.isRenderable === true;
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   */
  show(recording, position) {
    [this.#recording, this.#position] = [recording, position];
    this.#draw();
  }

  async #load() {
    const turn = (this.#turn += 1);
    [this.#rendered, this.#problem] = [[], ""];
    const [format, mode = ""] = this.#format.value.split("/");
    this.#draw();
    if (format === "received" || this.#host.render === null) return;
    /** @type {Record<string, string>} */
    const options = format === "updates" ? { mode, send: "both" } : {};
    try {
      for await (const event of this.#host.render({ format, ...options })) {
        if (turn !== this.#turn) return;
        this.#rendered.push(event);
        this.#host.onChange();
      }
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#problem = `The server cannot render this stream: ${/** @type {Error} */ (error).message}`;
    }
    this.#host.onChange();
  }

  #draw() {
    if (this.#recording === null) return;
    const query = this.#filter.value.toLowerCase();
    const events = this.#find(query);
    const visible = events.slice(-MAX_ROWS);
    const rows = visible.map((index) => this.#row(index));
    followEnd(this.#table, () => showRows(this.#body, rows, (row, element) => this.#fill(row, element), "tr"));
    const all = formatCount(events.length, query ? "match" : "event", query ? "matches" : "events");
    this.#count.textContent = this.#problem || (events.length > MAX_ROWS ? `${all}, the last ${MAX_ROWS} are shown` : all);
  }

  get #isReceived() {
    return this.#format.value === "received";
  }

  /** Return the record and the data of an event. @param {number} index */
  #event(index) {
    return this.#isReceived ? { record: index + 1, data: this.#recording?.items[index] } : this.#rendered[index];
  }

  /** Return the indices of the events so far that contain a text. @param {string} query */
  #find(query) {
    const isEnd = this.#position === this.#recording?.length;
    const rendered = this.#rendered;
    const isBefore = (/** @type {number} */ index) => isEnd || rendered[index].record <= this.#position;
    const count = this.#isReceived ? this.#position : countBefore(rendered.length, isBefore);
    const indices = Array.from({ length: count }, (_, index) => index);
    return query === "" ? indices : indices.filter((index) => this.#textOf(index).toLowerCase().includes(query));
  }

  /** @param {number} index */
  #textOf(index) {
    const { data } = this.#event(index);
    return typeof data === "string" ? data : JSON.stringify(data);
  }

  /**
   * @param {number} index
   * @returns {Row}
   */
  #row(index) {
    const { record, data } = this.#event(index);
    const isLast = record === this.#position;
    return { key: index, signature: `${this.#turn} ${isLast}`, record, data, isLast };
  }

  /** @param {number} record */
  #timeOf(record) {
    const { times } = /** @type {Recording} */ (this.#recording);
    return times[record - 1] ?? times[times.length - 1] ?? 0;
  }

  /**
   * @param {Row} row
   * @param {HTMLElement} element
   */
  #fill({ record, data, isLast }, element) {
    const { isTimed, kind } = /** @type {Recording} */ (this.#recording);
    const [name, tone, content] = this.#isReceived ? describeReceived(kind, data) : describeRendered(data);
    element.className = isLast ? "last" : "";
    element.dataset.record = String(record);
    element.replaceChildren(
      make("td", "figure", formatNumber(record)),
      make("td", "figure", isTimed ? formatDuration(this.#timeOf(record)) : "–"),
      make("td", "", make("span", `badge ${tone}`, escapeText(name))),
      make("td", "change text", ...content),
    );
  }
}

/** Name, tone and content of a row. @typedef {[name: string, tone: string, content: (string | Node)[]]} Cells */

/**
 * @param {string} kind
 * @param {string} data
 * @returns {Cells}
 */
function describeReceived(kind, data) {
  if (kind === "text" || kind === "many") return ["text", "", [operation(["append", "", data])]];
  if (kind === "wire") return describeRendered(parseJson(data));
  const value = parseJson(data);
  const name = kind === "snapshots" ? "snapshot" : (value?.type ?? value?.event ?? value?.object ?? "event");
  return [shorten(String(name), 40), "", colour(shorten(data, MAX_TEXT))];
}

/**
 * Describe a rendered event: an update, a wire message, or a piece of text.
 * @param {any} data
 * @returns {Cells}
 */
function describeRendered(data) {
  if (typeof data === "string") return ["text", "", [operation(["append", "", data])]];
  if (Array.isArray(data)) return ["change", "", data.map(operation)];
  if (!isObject(data)) return ["event", "", [String(data)]];
  if (data.error) return [String(data.error.code ?? "error"), "bad", [escapeText(String(data.error.message ?? ""))]];
  if (typeof data.status === "string") {
    const name = `${data.entity ?? ""}${data.index === undefined ? "" : `[${data.index}]`}`;
    const tone = data.status === "COMPLETED" ? "good" : "busy";
    const content = data.delta ? data.delta.map(operation) : colourJson(data.data);
    return [data.status, tone, [make("span", "muted", `${escapeText(name)} `), ...content]];
  }
  if ("value" in data && "n" in data) return ["snapshot", "", colourJson(data.value)];
  return [shorten(String(data.type ?? data.event ?? data.kind ?? "event"), 40), "", colourJson(data)];
}

/** @param {any} value */
function colourJson(value) {
  return colour(shorten(JSON.stringify(value), MAX_TEXT));
}

/**
 * Show an operation of a delta or of the wire in its colour.
 * @param {any} step
 */
function operation(step) {
  if (typeof step === "number") return make("span", "muted", `${step} `);
  const [name, pointer = "", ...values] = typeof step === "string" ? ["append", "", step] : step;
  const content = values.map((/** @type {any} */ value) => shorten(JSON.stringify(value) ?? "", MAX_TEXT)).join(" ");
  const where = make("span", "muted", escapeText(isObject(pointer) ? JSON.stringify(pointer) : pointer));
  const isBare = name === "append" && pointer === "";
  return make("span", `op ${name}`, isBare ? "" : make("b", "", `${name} `), where, " ", escapeText(content));
}

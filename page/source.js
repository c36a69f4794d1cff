/** Where streams come from: pasted text, examples, and the server, which also renders them. */

import { Receiver } from "../js/src/receive.js";
import { byId, pause } from "./dom.js";
import { formatCount, isObject, parseJson } from "./format.js";
import { Live } from "./live.js";
import { recognise } from "./recognise.js";
import { Recording } from "./recording.js";
import { Server, errorOf } from "./server.js";

/** @typedef {import("./page.js").Opening} Opening */
/** @typedef {import("./recognise.js").Kind} Kind */
/** @typedef {import("./recognise.js").Item} Item */
/** @typedef {import("./server.js").Rendered} Rendered */
/**
 * @typedef {{name: string, title: string, about: string, kind: Kind, pace: number, text?: string, items?: string[],
 *   tab?: Opening["tab"], format?: string, options?: {[name: string]: any}}} Sample
 */
/**
 * @typedef {{onOpen: (recording: Recording, opening: Opening) => void, onChange: () => void,
 *   onChunk: (chunk: Rendered) => void}} Host
 */

// A text is cut into pieces of this many characters, or into this many pieces.
const PIECE = 4;
const MAX_PIECES = 5000;
const MAX_TEXT = 64 << 20;
// Milliseconds between items without times; all of them are played within a few seconds.
const STEP = 25;
const LONGEST = 6000;

export class Source {
  #server = new Server();
  canRender = this.#server.exists;
  #host;
  /** The id of the stream on the server, once it is published. @type {Promise<string> | null} */
  #id = null;
  /** @type {Recording | null} */
  #recording = null;
  /** Aborts the requests about the present stream. */
  #stop = new AbortController();
  /** @type {Live | null} */
  #live = null;

  /** @param {Host} host */
  constructor(host) {
    this.#host = host;
    byId("disconnect").addEventListener("click", () => this.#live?.toggle());
  }

  /**
   * Open a text from the user. Return why that is not possible, or `""`.
   * @param {string} text
   * @param {string} title
   * @param {Kind | "auto"} kind
   * @param {{[name: string]: any}} options of the stream
   * @returns {string}
   */
  paste(text, title, kind, options) {
    if (text.trim() === "") return "There is no text. Paste one first.";
    if (text.length > MAX_TEXT) return "The text is larger than 64 MB. Paste a part of it.";
    const material = recognise(text, kind);
    const recording = new Recording(material.kind, `${title}: ${material.about}`, options);
    Object.assign(recording, { isTimed: material.isTimed, isDone: material.isDone, isJoined: material.isJoined });
    void this.#show(recording, material.items, STEP, { how: "end" });
    return "";
  }

  /**
   * Play an example, or show its end if the system asks for reduced motion.
   * @param {Sample} sample
   */
  async example(sample) {
    const { kind, title, pace, tab, format, options = {} } = sample;
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const items = (sample.items ?? [sample.text ?? largeDocument()]).map((data) => ({ data, at: null }));
    const recording = new Recording(kind, title, options);
    recording.isTimed = true;
    await this.#show(recording, items, 1000 / pace, { how: isStill ? "end" : "play", tab, format });
  }

  /**
   * Add all items, and leave the browser time for frames in between.
   * @param {Recording} recording
   * @param {Item[]} items
   * @param {number} step milliseconds between items without times
   */
  async #fill(recording, items, step) {
    const [whole] = recording.outline !== null && items.length === 1 ? items : [];
    const pieces = whole ? cutText(whole.data) : items;
    const interval = Math.min(step, LONGEST / pieces.length);
    for (const [index, { data, at, parts }] of pieces.entries()) {
      recording.add(data, at ?? (index + 1) * interval, parts);
      await pause();
    }
    recording.end();
  }

  /**
   * @param {Recording} recording
   * @param {Item[]} items
   * @param {number} step
   * @param {Opening} opening
   */
  async #show(recording, items, step, opening) {
    this.#begin(recording, null);
    await this.#fill(recording, items, step);
    // Another stream may have been opened in the meantime.
    if (this.#recording !== recording) return;
    this.#host.onOpen(recording, opening);
    if (this.canRender && (recording.isRenderable || recording.kind === "many")) void this.#publish(recording);
    else byId("published").textContent = "only in this browser";
  }

  /**
   * @param {Recording} recording
   * @param {Promise<string> | null} id
   */
  #begin(recording, id) {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#live?.close();
    this.#live = null;
    this.#recording = recording;
    this.#id = id;
    byId("published").textContent = "";
  }

  // ---- the server ----

  /** Publish pasted text, and request the results that only the server can compute. @param {Recording} recording */
  async #publish(recording) {
    const { kind, items, options } = recording;
    // One record has one line; line breaks of JSON are only between its values.
    const records = items.map((item) => (kind === "text" ? JSON.stringify(item) : item.replace(/[\r\n]+/g, " ")));
    try {
      if (kind === "many") return await this.#readLines(recording);
      this.#id = this.#server.publish({ input: kind, ...options }, records);
      const id = await this.#id;
      if (this.#recording !== recording) return;
      byId("published").textContent = `private stream, deleted after an hour`;
      if (location.hash === "#pasted") history.replaceState(null, "", `#stream=${id}`);
      await this.#check(recording, id);
      if (!recording.document?.faults.some(({ code }) => code === "INVALID_JSON")) return;
      await this.#repair(recording, await this.#server.publish({ input: kind, repair: true }, records));
    } catch (error) {
      if (this.#recording !== recording) return;
      byId("published").textContent = `not published: ${/** @type {Error} */ (error).message}`;
    }
    this.#notify(recording);
  }

  /** Open JSON lines as events if the server knows their provider. @param {Recording} recording */
  async #readLines(recording) {
    const lines = recording.document?.text.split("\n").filter((line) => isObject(parseJson(line))) ?? [];
    const id = await this.#server.publish({ input: "events" }, lines);
    if (this.#recording === recording) await this.#readEvents(recording, id, lines);
    if (this.#recording === recording) byId("published").textContent = "JSON lines, not events of a known provider";
  }

  /**
   * Open events as the server reads them if it knows their provider, and this page does not.
   * @param {Recording} recording
   * @param {string} id
   * @param {string[]} events
   */
  async #readEvents(recording, id, events) {
    /** @type {Item[]} */
    const items = events.map((data) => ({ data, at: null, parts: [] }));
    for await (const { record, data } of this.#server.events(id, { format: "parts" }, { signal: this.#stop.signal })) {
      items.at(Math.min(record, items.length) - 1)?.parts?.push(data);
    }
    const isLeft = this.#recording !== recording || document.body.dataset.view === "start";
    if (isLeft || !items.some(({ parts }) => parts?.some(({ kind }) => kind))) return;
    const [title] = recording.title.split(":");
    const read = new Recording("events", `${title}: ${formatCount(items.length, "provider event")}`, recording.options);
    await this.#show(read, items, STEP, { how: "end" });
  }

  /**
   * Read violations of the schema, or the chunks of snapshots.
   * @param {Recording} recording
   * @param {string} id
   */
  async #check(recording, id) {
    const isSnapshots = recording.kind === "snapshots";
    if (!isSnapshots && recording.options.schema === undefined) return;
    /** @type {Record<string, string>} */
    const query = isSnapshots ? { format: "text" } : { format: "updates", mode: "BATCH" };
    for await (const event of this.#server.events(id, query, { signal: this.#stop.signal })) {
      if (this.#recording !== recording) return;
      const error = errorOf(event.data);
      if (error !== null && (isSnapshots || error.code === "INVALID_SCHEMA")) recording.setReport(error, event.record);
      else if (isSnapshots) this.#host.onChunk(event);
      this.#notify(recording);
    }
  }

  /**
   * Record the value that the server's repair reads, if it reads the text.
   * @param {Recording} recording
   * @param {string} id of the same stream with repair
   */
  async #repair(recording, id) {
    const receiver = new Receiver();
    for await (const { data } of this.#server.events(id, { format: "deltas" })) receiver.feed(data);
    if (receiver.ended && receiver.error === null) recording.repaired = receiver.value;
  }

  /** Open the value that the server's repair reads. */
  showRepaired() {
    const { repaired } = this.#recording ?? {};
    history.pushState(null, "", "#pasted");
    this.paste(JSON.stringify(repaired, null, 2), "Repaired", "text", {});
  }

  /** @param {Recording} recording */
  #notify(recording) {
    recording.version += 1;
    this.#host.onChange();
  }

  /**
   * Yield the present stream as the server renders it.
   * @param {Record<string, string>} query
   * @returns {AsyncIterable<Rendered>}
   */
  async *render(query) {
    await undefined; // the stream is published after it is shown
    if (this.#id !== null) yield* this.#server.events(await this.#id, query, { signal: this.#stop.signal });
  }

  /**
   * Follow a stream of the server.
   * @param {string} id
   */
  async stream(id) {
    let status;
    try {
      status = await this.#server.status(id);
    } catch (error) {
      const recording = new Recording("text", `Stream ${id}`);
      this.#begin(recording, null);
      const advice = "Check the id and the server. What was pasted is deleted after an hour.";
      recording.end(`The stream cannot be read: ${/** @type {Error} */ (error).message}`, advice);
      return this.#host.onOpen(recording, { how: "end" });
    }
    const { input, options, last } = status;
    const recording = new Recording(/** @type {Kind} */ (input), `Stream ${id}`, options);
    recording.isTimed = last === 0;
    this.#begin(recording, Promise.resolve(id));
    byId("published").textContent = "live";
    this.#host.onOpen(recording, { how: "follow" });
    this.#live = new Live(this.#server, recording, id, this.#host.onChange);
    await Promise.all([this.#live.read(), this.#check(recording, id).catch(() => {})]);
    const isUnknown = recording.isEnded && recording.answer?.isRecognised === false && recording.answer.error === "";
    if (isUnknown) await this.#readEvents(recording, id, recording.items).catch(() => {});
  }
}

/**
 * Cut a text into pieces.
 * @param {string} text
 * @returns {Item[]}
 */
function cutText(text) {
  const size = Math.max(PIECE, Math.ceil(text.length / MAX_PIECES));
  const count = Math.ceil(text.length / size);
  return Array.from({ length: count }, (_, index) => ({ data: text.slice(index * size, (index + 1) * size), at: null }));
}

/** Return a document of a little more than ten thousand values. */
function largeDocument() {
  const measurements = Array.from({ length: 1250 }, (_, at) => {
    const wave = ((at * 37) % 400) / 100;
    const wind = { from: ["north", "east", "south", "west"][at % 4], knots: (at * 13) % 41 };
    return { at: `day ${Math.floor((at * 7) / 24)}, ${(at * 7) % 24}:00`, wave, wind, calm: wave < 0.5, sensors: [at % 7] };
  });
  return JSON.stringify({ station: "buoy 17", measurements });
}

/** The raw text beside the panes: a channel that shows what was published, and where it is wrong. */

import { showFigures } from "./dom.js";
import { frames } from "./frames.js";
import { Counters } from "./subscription.js";
import { TextView } from "./textview.js";
import { grouped, visible } from "./escaping.js";

export class RawPane {
  /**
   * @param {HTMLElement} place
   * @param {HTMLElement} foot
   * @param {HTMLElement} kind
   */
  constructor(place, foot, kind) {
    this.foot = foot;
    this.kind = kind;
    this.place = place;
    this.counters = new Counters();
    this._input = "text";
    this.text = new TextView(place);
    /** @type {Set<string>} */
    this._faults = new Set();
    this._paint = (/** @type {number} */ until) => this._draw(until);
  }

  /** Snapshots are shown as the text that the chunker makes of them. */
  get parameters() {
    return { format: this._input === "snapshots" ? "chunks" : "raw" };
  }

  get contiguous() {
    return this._input !== "snapshots";
  }

  /** @param {{input: string, many: boolean}} stream */
  begin(stream) {
    this._input = stream.input;
    const fresh = /** @type {HTMLElement} */ (this.place.cloneNode(false));
    this.place.replaceWith(fresh);
    this.place = fresh;
    this.text = new TextView(fresh, { style: stream.input === "events" ? "events" : "run" });
    const kinds = { events: "events as they came", snapshots: "made from snapshots" };
    this.kind.textContent = kinds[/** @type {keyof typeof kinds} */ (stream.input)] ?? "";
    this.clear();
  }

  /** @param {{data: string}} event */
  take({ data }) {
    const said = data.startsWith('"') ? JSON.parse(data) : data;
    const isFault = this._input !== "events" && !data.startsWith('"');
    if (!isFault && !/^\{"status":"ERROR"/.test(data)) this.text.add(said);
    this.redraw();
  }

  clear() {
    this._faults.clear();
    this.text.clear();
    this.redraw();
  }

  /** Show nothing: there is no stream. */
  leave() {
    this.counters = new Counters();
    this.kind.textContent = "";
    this.clear();
  }

  end() {
    this.text.end();
    this.redraw();
  }

  /**
   * A fault that one of the panes has seen; two of them may see the same.
   * @param {import("./renderers.js").Fault} fault
   */
  fault({ offset, problem }) {
    const key = `${offset} ${problem.message}`;
    if (offset === null || this._input === "events" || this._faults.has(key)) return;
    this._faults.add(key);
    this.text.fault(offset, visible(`${problem.code}: ${problem.message}`));
    this.redraw();
  }

  redraw() {
    frames.ask(this._paint);
  }

  /** @param {number} until */
  _draw(until) {
    const left = this.text.paint(until);
    const { lastId, gaps, duplicates } = this.counters;
    showFigures(this.foot, [
      ["characters", grouped(this.text.text.length)],
      ["last id", lastId || "–"],
      ["gaps", String(gaps), gaps > 0],
      ["duplicates", String(duplicates), duplicates > 0],
    ]);
    return left;
  }
}

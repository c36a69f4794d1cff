/** The raw text beside the panes: a channel that shows what was published, with errors marked. */

import { showFigures } from "./dom.js";
import { escapeText, formatNumber } from "./escaping.js";
import { frames } from "./frames.js";
import { Counters } from "./subscription.js";
import { TextView } from "./textview.js";

/** What is shown for each input that is not text. @type {Record<string, string>} */
const DESCRIPTIONS = { events: "events as received", snapshots: "written from snapshots" };

export class RawPane {
  /**
   * @param {HTMLElement} body
   * @param {HTMLElement} foot
   * @param {HTMLElement} description
   */
  constructor(body, foot, description) {
    this.foot = foot;
    this.description = description;
    this.counters = new Counters();
    this._input = "text";
    this.text = new TextView(body);
    /** The errors that are marked. @type {Set<string>} */
    this._errors = new Set();
    this._paint = (/** @type {number} */ until) => this._draw(until);
  }

  /** Snapshots are shown as the text that the chunker writes. */
  get parameters() {
    return { format: this._input === "snapshots" ? "chunks" : "raw" };
  }

  get contiguous() {
    return this._input !== "snapshots";
  }

  /** @param {{input: string}} stream */
  begin({ input }) {
    this._input = input;
    // A new element has no listeners of the text before.
    const body = /** @type {HTMLElement} */ (this.text.scroller.cloneNode(false));
    this.text.scroller.replaceWith(body);
    this.text = new TextView(body, { style: input === "events" ? "event" : "run" });
    this.reset(DESCRIPTIONS[input]);
  }

  /** @param {{data: string}} event */
  add({ data }) {
    // Text is a JSON string. Anything else is an error, which the panes report, or an event.
    if (data.startsWith('"')) this.text.add(JSON.parse(data));
    else if (this._input === "events" && !data.startsWith('{"status":"ERROR"')) this.text.add(data);
    this.redraw();
  }

  clear() {
    this._errors.clear();
    this.text.clear();
    this.redraw();
  }

  /** Clears text and figures. */
  reset(description = "") {
    this.counters = new Counters();
    this.description.textContent = description;
    this.clear();
  }

  end() {
    this.text.end();
    this.redraw();
  }

  /**
   * Marks an error that a pane reports; both panes may report the same one.
   * @param {import("./errors.js").StreamError} error
   */
  markError({ offset, code, message }) {
    const key = `${offset} ${message}`;
    if (offset === null || this._input === "events" || this._errors.has(key)) return;
    this._errors.add(key);
    this.text.markError(offset, escapeText(`${code}: ${message}`));
    this.redraw();
  }

  redraw() {
    frames.request(this._paint);
  }

  /** @param {number} until */
  _draw(until) {
    const left = this.text.paint(until);
    const { lastId, gaps, duplicates } = this.counters;
    showFigures(this.foot, [
      ["characters", formatNumber(this.text.text.length)],
      ["last id", lastId || "–"],
      ["gaps", String(gaps), gaps > 0],
      ["duplicates", String(duplicates), duplicates > 0],
    ]);
    return left;
  }
}

/** The raw text beside the views: what came, up to the moment that is shown. */

import { byId, showFigures } from "./dom.js";
import { formatNumber } from "./escaping.js";
import { RawText } from "./raw-text.js";
import { TextView } from "./textview.js";

/** @typedef {import("./recording.js").Recording} Recording */

const DESCRIPTIONS = { text: "", events: "events as received", snapshots: "snapshots as received" };
// More events than this are not drawn.
const MOST = 150;

export class RawPane {
  /** @type {Recording | null} */
  _recording = null;
  /** The text in colours. @type {RawText | null} */
  text = null;
  /** Events, one below the other. @type {TextView | null} */
  _events = null;
  _drawn = 0;
  /** @type {Record<string, [number, number] | null>} */
  _links = {};

  /** @param {{onHover: (offset: number | null) => void, onPick: (offset: number) => void}} listener */
  constructor(listener) {
    this._listener = listener;
    this.body = byId("raw");
    this.follow = byId("raw-follow", HTMLButtonElement);
    this.follow.addEventListener("click", () => {
      this.text?.follow();
      this.follow.hidden = true;
    });
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    // A new element has no listeners of the text before.
    const body = /** @type {HTMLElement} */ (this.body.cloneNode(false));
    this.body.replaceWith(body);
    this.body = body;
    this._recording = recording;
    this.text = this._events = null;
    this._drawn = 0;
    this.follow.hidden = true;
    this.link("hovered", null, false);
    this.link("selected", null, false);
    byId("raw-description").textContent = recording === null ? "" : DESCRIPTIONS[recording.input];
    if (recording === null) return;
    if (recording.input !== "text") {
      this._events = new TextView(body, { style: "event" });
    } else {
      const onFollow = (/** @type {boolean} */ on) => {
        this.follow.hidden = on || recording.ended;
      };
      this.text = new RawText(body, recording, { ...this._listener, onFollow });
    }
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    const isEnd = recording.ended && position >= recording.length;
    if (isEnd) this.follow.hidden = true;
    let left = false;
    if (this.text !== null) {
      left = this.text.draw(position);
      this.text.showNewError();
      for (const [kind, range] of Object.entries(this._links)) this._highlight(kind, range);
    } else if (this._events !== null) {
      left = this._drawEvents(this._events, recording, position, until, isEnd);
    }
    const unit = recording.input === "text" ? "characters" : "characters of text";
    showFigures(byId("raw-figures"), [[unit, formatNumber(recording.endOf(position))]]);
    return left;
  }

  /**
   * @param {TextView} view
   * @param {Recording} recording
   * @param {number} position
   * @param {number} until
   * @param {boolean} isEnd
   */
  _drawEvents(view, recording, position, until, isEnd) {
    if (position < this._drawn || (view.ended && !isEnd) || position - this._drawn > MOST) {
      view.clear();
      this._drawn = Math.max(0, position - MOST);
    }
    for (; this._drawn < position; this._drawn += 1) view.add(recording.pieces[this._drawn].source);
    if (isEnd) view.end();
    return view.paint(until);
  }

  /**
   * Marks characters that belong to a line of the tree.
   * @param {"hovered" | "selected"} kind
   * @param {[number, number] | null} range
   * @param {boolean} reveals
   */
  link(kind, range, reveals) {
    this._links[kind] = range;
    if (reveals && range && this.text) this.text.reveal(range[0]);
    this._highlight(kind, range);
  }

  /**
   * @param {string} kind
   * @param {[number, number] | null} range
   */
  _highlight(kind, range) {
    const registry = /** @type {any} */ (CSS).highlights;
    const found = range && this.text?.rangeOf(range[0], Math.min(range[1], range[0] + 100_000));
    if (!found) registry?.delete(kind);
    else registry?.set(kind, new /** @type {any} */ (globalThis).Highlight(found));
  }
}

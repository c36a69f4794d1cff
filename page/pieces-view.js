/** The view "Pieces": the text of the model with its pieces told apart. */

import { make } from "./dom.js";
import { TextView } from "./textview.js";
import { registerView } from "./views.js";

/** @typedef {import("./recording.js").Recording} Recording */

// More pieces than this are not drawn.
const MOST = 1500;

class PiecesView {
  /** @type {Recording | null} */
  _recording = null;
  /** @type {TextView | null} */
  _text = null;
  _drawn = 0;

  /** @param {HTMLElement} panel */
  constructor(panel) {
    this.body = make("div", "scroller body text");
    panel.append(this.body);
  }

  /** @param {Recording} recording */
  suits(recording) {
    return recording.input !== "snapshots";
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    const body = make("div", "scroller body text");
    body.tabIndex = 0;
    body.setAttribute("role", "region");
    body.setAttribute("aria-label", "The text, piece by piece");
    this.body.replaceWith(body);
    this.body = body;
    this._recording = recording;
    this._text = recording && new TextView(body, { style: "piece" });
    this._drawn = 0;
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    const text = this._text;
    if (recording === null || text === null) return false;
    const isEnd = recording.ended && position >= recording.length;
    if (position < this._drawn || (text.ended && !isEnd) || position - this._drawn > MOST) {
      text.clear();
      this._drawn = Math.max(0, position - MOST);
      text.skip(recording.endOf(this._drawn));
    }
    for (; this._drawn < position; this._drawn += 1) text.add(recording.pieces[this._drawn].text);
    if (isEnd) text.end();
    return text.paint(until);
  }
}

registerView({ id: "pieces", label: "Pieces", order: 50, mount: (panel) => new PiecesView(panel) });

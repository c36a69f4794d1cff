/** What came, up to the moment that is shown, beside the views: as text, in pieces, or as events. */

import { AutoScroll } from "./autoscroll.js";
import { byId, make, makeCursor, showFigures } from "./dom.js";
import { escapeText, formatCount, formatNumber } from "./escaping.js";
import { RawText } from "./raw-text.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {"text" | "pieces" | "events"} Mode */

// More pieces or events than this are not drawn.
const MOST = { piece: 1500, event: 150 };

/** The last pieces or events up to a moment, each with an element of its own. */
class PieceList {
  _drawn = 0;
  /** How many are left out, before those that are shown. */
  _left = 0;
  _before = make("p", "earlier muted");
  _cursor = makeCursor();

  /**
   * @param {HTMLElement} scroller
   * @param {Recording} recording
   * @param {"piece" | "event"} kind
   */
  constructor(scroller, recording, kind) {
    this._list = make("span");
    this._recording = recording;
    this._kind = kind;
    this._autoScroll = new AutoScroll(scroller, true);
    scroller.append(this._before, this._list, this._cursor);
  }

  /**
   * @param {number} position
   * @param {number} until
   * @param {boolean} isEnd
   */
  draw(position, until, isEnd) {
    const most = MOST[this._kind];
    if (position < this._drawn || position - this._drawn > most) {
      this._list.replaceChildren();
      this._left = this._drawn = Math.max(0, position - most);
    }
    for (; this._drawn < position && performance.now() < until; this._drawn += 1) {
      const { text, source } = this._recording.pieces[this._drawn];
      const shown = this._kind === "piece" ? text : source;
      if (shown !== "") this._list.append(make("span", this._kind, escapeText(shown)));
    }
    for (; this._list.childElementCount > most; this._left += 1) this._list.firstElementChild?.remove();
    this._before.hidden = this._left === 0;
    this._before.textContent = `${formatCount(this._left, this._kind)} before these`;
    this._cursor.hidden = isEnd || this._drawn === 0;
    this._autoScroll.toEnd();
    return this._drawn < position;
  }
}

export class RawPane {
  /** @type {Recording | null} */
  _recording = null;
  /** The text in colours. @type {RawText | null} */
  text = null;
  /** @type {PieceList | null} */
  _pieces = null;
  /** @type {Mode} */
  _mode = "text";
  /** What the user chose for the events of a provider; null: what suits them. @type {"text" | "events" | null} */
  _chosen = null;
  _showsPieces = false;
  /** @type {Record<string, [number, number] | null>} */
  _links = {};

  /**
   * @param {{onHover: (offset: number | null) => void, onPick: (offset: number) => void,
   *   onChange: () => void}} listener
   */
  constructor(listener) {
    this._listener = listener;
    this.body = byId("raw");
    this.follow = byId("raw-follow", HTMLButtonElement);
    this.follow.addEventListener("click", () => {
      this.text?.follow();
      this.follow.hidden = true;
    });
    for (const mode of /** @type {const} */ (["text", "events"])) {
      byId(`raw-${mode}`).addEventListener("click", () => {
        this._chosen = mode;
        listener.onChange();
      });
    }
    byId("raw-pieces").addEventListener("click", () => {
      this._showsPieces = !this._showsPieces;
      listener.onChange();
    });
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._chosen = null;
    this.link("hovered", null, false);
    this.link("selected", null, false);
    this._enter(recording === null ? "text" : this._modeOf(recording));
  }

  /**
   * @param {Recording} recording
   * @returns {Mode}
   */
  _modeOf({ input, hasDocument }) {
    const isText = input === "text" || (input === "events" && (this._chosen ?? (hasDocument ? "text" : "events")) === "text");
    return !isText ? "events" : this._showsPieces ? "pieces" : "text";
  }

  /** @param {Mode} mode */
  _enter(mode) {
    // A new element has no listeners of the text before.
    const body = /** @type {HTMLElement} */ (this.body.cloneNode(false));
    this.body.replaceWith(body);
    this.body = body;
    this.text = this._pieces = null;
    this._mode = mode;
    this.follow.hidden = true;
    const recording = this._recording;
    byId("raw-switch").hidden = recording?.input !== "events";
    byId("raw-pieces").hidden = recording === null || mode === "events";
    byId("raw-text").setAttribute("aria-pressed", String(mode !== "events"));
    byId("raw-events").setAttribute("aria-pressed", String(mode === "events"));
    byId("raw-pieces").setAttribute("aria-pressed", String(mode === "pieces"));
    byId("raw-title").textContent = recording?.input === "snapshots" ? "Snapshots" : "Received";
    if (recording === null) return;
    if (mode !== "text") {
      this._pieces = new PieceList(body, recording, mode === "pieces" ? "piece" : "event");
      return;
    }
    const onFollow = (/** @type {boolean} */ on) => {
      this.follow.hidden = on || recording.ended;
    };
    this.text = new RawText(body, recording, { ...this._listener, onFollow });
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    // What the events say may turn out to be a document.
    const mode = this._modeOf(recording);
    if (mode !== this._mode) this._enter(mode);
    const isEnd = recording.ended && position >= recording.length;
    if (isEnd) this.follow.hidden = true;
    let left = false;
    if (this.text !== null) {
      left = this.text.draw(position);
      this.text.showNewError();
      for (const [kind, range] of Object.entries(this._links)) this._highlight(kind, range);
    } else if (this._pieces !== null) {
      left = this._pieces.draw(position, until, isEnd);
    }
    const isSnapshots = recording.input === "snapshots";
    const unit = isSnapshots ? "snapshots" : recording.input === "text" ? "characters" : "characters of text";
    showFigures(byId("raw-figures"), [[unit, formatNumber(isSnapshots ? position : recording.endOf(position))]]);
    return left;
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
    const drawn = range && this.text?.rangeOf(range[0], Math.min(range[1], range[0] + 100_000));
    if (!drawn) registry?.delete(kind);
    else registry?.set(kind, new /** @type {any} */ (globalThis).Highlight(drawn));
  }
}

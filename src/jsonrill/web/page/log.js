/** The event log: the last events of a pane as received, drawn only while the log is open. */

import { make } from "./dom.js";
import { frames } from "./frames.js";
import { escapeText, formatCount } from "./escaping.js";

const SHOWN = 100;
const MAX_DATA = 400;
// Milliseconds between two drawings; no reader is faster.
const PAUSE = 200;

/** @typedef {{id: string, type: string, data: string}} Event */

export class EventLog {
  /**
   * @param {HTMLDetailsElement} details
   * @param {HTMLElement} list
   * @param {HTMLElement} count
   */
  constructor(details, list, count) {
    this.details = details;
    this.list = list;
    this.count = count;
    /** The last events that are not drawn yet. @type {Event[]} */
    this._pending = [];
    this._total = 0;
    this._lastDrawn = 0;
    this._paint = () => this._draw();
    details.addEventListener("toggle", () => frames.request(this._paint));
  }

  /** @param {Event | null} event null starts an empty log */
  add(event) {
    if (event === null) {
      this._pending = [];
      this._total = 0;
      this.list.replaceChildren();
    } else {
      this._pending.push(event);
      this._total += 1;
      // Trimmed rarely, because removing the first element of an array moves all others.
      if (this._pending.length > 10 * SHOWN) this._pending.splice(0, 9 * SHOWN);
    }
    frames.request(this._paint);
  }

  _draw() {
    this.count.textContent = this._total ? formatCount(this._total, "event") : "";
    if (!this.details.open || this._pending.length === 0) return false;
    const now = performance.now();
    if (now < this._lastDrawn + PAUSE) return true;
    this._lastDrawn = now;
    const { scrollTop, clientHeight, scrollHeight } = this.list;
    this.list.append(...this._pending.splice(0).slice(-SHOWN).map(line));
    while (this.list.children.length > SHOWN) this.list.firstElementChild?.remove();
    if (scrollTop + clientHeight >= scrollHeight - 8) this.list.scrollTop = this.list.scrollHeight;
    return false;
  }
}

/** @param {Event} event */
function line({ id, type, data }) {
  const element = make("div", "log-line", make("span", "id", escapeText(id)));
  if (type !== "message") element.append(make("span", "type", escapeText(type)));
  const shown = data.length > MAX_DATA ? `${data.slice(0, MAX_DATA)}…` : data;
  element.append(make("span", "data", escapeText(shown)));
  return element;
}

/** The events of a pane as they came, the last of them; drawn only while somebody looks. */

import { make } from "./dom.js";
import { frames } from "./frames.js";
import { counted, visible } from "./escaping.js";

const KEPT = 500;
const SHOWN = 100;
const MOST_DATA = 400;
// Nobody reads faster than this many milliseconds a screenful.
const PAUSE = 200;

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
    /** @type {{id: string, type: string, data: string}[]} */
    this._kept = [];
    this._total = 0;
    this._drawn = 0;
    this._last = 0;
    this._paint = () => this._draw();
    details.addEventListener("toggle", () => this._ask());
  }

  _clear() {
    this._kept = [];
    this._total = this._drawn = 0;
    this.list.replaceChildren();
    this._ask();
  }

  /** @param {{id: string, type: string, data: string} | null} event null: begin again */
  take(event) {
    if (event === null) return this._clear();
    this._kept.push(event);
    this._total += 1;
    if (this._kept.length > 2 * KEPT) this._kept.splice(0, KEPT);
    this._ask();
  }

  _ask() {
    frames.ask(this._paint);
  }

  _draw() {
    this.count.textContent = this._total ? counted(this._total, "event") : "";
    if (!this.details.open) return false;
    const now = performance.now();
    if (now < this._last + PAUSE) return true;
    this._last = now;
    const fresh = this._kept.slice(-Math.min(SHOWN, this._total - this._drawn) || Infinity);
    if (this._total > this._drawn) {
      const atEnd = this.list.scrollTop + this.list.clientHeight >= this.list.scrollHeight - 8;
      this.list.append(...fresh.map(line));
      while (this.list.children.length > SHOWN) this.list.firstElementChild?.remove();
      if (atEnd) this.list.scrollTop = this.list.scrollHeight;
    }
    this._drawn = this._total;
    return false;
  }
}

/** @param {{id: string, type: string, data: string}} event */
function line({ id, type, data }) {
  const made = make("div", "log-line", make("span", "id", visible(id)));
  if (type !== "message") made.append(make("span", "type", visible(type)));
  const shown = data.length > MOST_DATA ? `${data.slice(0, MOST_DATA)}…` : data;
  made.append(make("span", "data", visible(shown)));
  return made;
}

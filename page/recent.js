/** The streams of this server that were opened in this browser, newest first; kept in the browser. */

import { button, byId, make } from "./dom.js";
import { escapeText, shorten } from "./escaping.js";

/** @typedef {import("./tools/state.js").PageState} PageState */

const KEY = "jsonrill-recent";
const MOST = 12;

export class Recent {
  /** @param {(state: PageState) => void} onPick */
  constructor(onPick) {
    this._onPick = onPick;
    this._show(stored());
  }

  /** @param {PageState} state of a stream that was opened */
  add({ stream, title, model }) {
    const others = stored().filter((one) => one.stream !== stream);
    const all = [{ stream, title, model }, ...others].slice(0, MOST);
    try {
      localStorage.setItem(KEY, JSON.stringify(all));
    } catch {
      // Storage is blocked: the list lasts until the page is closed.
    }
    this._show(all);
  }

  /** @param {PageState[]} all */
  _show(all) {
    const items = all.map((state) => {
      const item = button(escapeText(shorten(state.title || String(state.stream), 60)), () => this._onPick(state));
      item.title = escapeText(String(state.stream));
      return make("li", "", item);
    });
    byId("recent").replaceChildren(...items);
    byId("recent-title").hidden = items.length === 0;
  }
}

/** @returns {PageState[]} */
function stored() {
  try {
    const all = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(all) ? all.filter((one) => typeof one?.stream === "string") : [];
  } catch {
    return [];
  }
}

/** The tabs of the views; on small screens the raw text is one of them. Only one view is drawn. */

import { byId, make, setAttributes } from "./dom.js";
import { registeredViews } from "./views.js";

/** @typedef {import("./views.js").View} View */
/** @typedef {import("./views.js").Stage} Stage */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{id: string, tab: HTMLButtonElement, panel: HTMLElement, view: View | null}} Entry */

export class Tabs {
  /** The id of the view that is shown. */
  current = "tree";
  /** What the user chose by hand: it stays, where it can be shown. */
  _chosen = "";
  /** @type {Recording | null} */
  _recording = null;
  _checked = 0;
  /** The last view that is not the raw text. */
  _last = "tree";

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.list = byId("tabs");
    const raw = { id: "raw", label: "Raw", mount: null };
    /** @type {Entry[]} */
    this.entries = [raw, ...registeredViews()].map(({ id, label, mount }) => {
      const tab = make("button", "tab", label);
      setAttributes(tab, { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `view-${id}` });
      tab.addEventListener("click", () => this._choose(id));
      const panel = id === "raw" ? byId("raw-pane") : make("div", "panel");
      if (id === "raw") tab.setAttribute("aria-controls", "raw-pane");
      else {
        panel.id = `view-${id}`;
        setAttributes(panel, { role: "tabpanel", "aria-labelledby": tab.id });
        byId("panels").append(panel);
      }
      this.list.append(tab);
      return { id, tab, panel, view: mount === null ? null : mount(panel, stage) };
    });
    this.list.addEventListener("keydown", (event) => this._key(event));
    this._select("tree");
  }

  /** @param {string} id */
  view(id) {
    return this.entries.find((entry) => entry.id === id)?.view ?? undefined;
  }

  /**
   * Shows another recording; null shows none.
   * @param {Recording | null} recording
   * @param {string} suits the view that shows it best
   */
  begin(recording, suits) {
    this._recording = recording;
    for (const { view } of this.entries) view?.begin(recording);
    this._check();
    if (recording === null) return;
    const wanted = this._chosen && this._isShown(this._chosen) ? this._chosen : suits;
    this._select(this._isShown(wanted) ? wanted : this._first());
  }

  /** Hides the tabs of views that do not suit. True if the view that is shown is hidden by that. */
  _check() {
    const recording = this._recording;
    for (const { tab, view } of this.entries) {
      tab.hidden = recording !== null && view?.suits !== undefined && !view.suits(recording);
    }
  }

  /** @param {string} id */
  _isShown(id) {
    const entry = this.entries.find((one) => one.id === id);
    return entry !== undefined && !entry.tab.hidden;
  }

  _first() {
    return this.entries.find(({ id, tab }) => id !== "raw" && !tab.hidden)?.id ?? "tree";
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    // What the events say may turn out to be a document.
    const length = this._recording?.length ?? 0;
    if (length > 2 * this._checked || length < this._checked || this._recording?.ended) {
      this._checked = length;
      this._check();
    }
    const shown = this.current === "raw" ? this._beside : this.current;
    return this.view(shown)?.draw(position, until) ?? false;
  }

  /** The view beside the raw text on large screens. */
  get _beside() {
    return this._isShown(this._last) ? this._last : this._first();
  }

  /** @param {string} id */
  show(id) {
    if (this._isShown(id)) this._select(id);
  }

  /**
   * Shows a view, unless the user chose another.
   * @param {string} id
   */
  suggest(id) {
    this._check();
    if (this._chosen === "") this.show(id);
  }

  /** @param {string} id */
  _choose(id) {
    this._chosen = id;
    this._select(id);
  }

  /** Shows the next view. */
  next() {
    const shown = this.entries.filter(({ tab }) => !tab.hidden && tab.offsetParent !== null);
    const at = shown.findIndex(({ id }) => id === this.current);
    if (shown.length) this._choose(shown[(at + 1) % shown.length].id);
  }

  /** @param {string} id */
  _select(id) {
    this.current = id;
    if (id !== "raw") this._last = id;
    byId("panes").dataset.view = id === "raw" ? "raw" : "view";
    for (const entry of this.entries) {
      const isOn = entry.id === id;
      setAttributes(entry.tab, { "aria-selected": isOn, tabindex: isOn ? 0 : -1 });
      if (entry.id !== "raw") entry.panel.hidden = entry.id !== this._beside;
    }
    this.stage.redraw();
  }

  focusSearch() {
    const entry = this.entries.find(({ id }) => id === this._beside);
    /** @type {HTMLElement | null | undefined} */ (entry?.panel.querySelector(".query"))?.focus();
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const shown = this.entries.filter(({ tab }) => !tab.hidden && tab.offsetParent !== null);
    const at = shown.findIndex(({ id }) => id === this.current);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    const next = shown[(at + step + shown.length) % shown.length];
    this._choose(next.id);
    next.tab.focus();
  }
}

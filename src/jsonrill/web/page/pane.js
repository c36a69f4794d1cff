/**
 * A pane: shows the stream in one format and mode, with search, selection and figures.
 *
 * A pane is a channel: it names the events it wants, receives them and can be cleared. The session
 * decides whether they are live or from a replay.
 */

import { copyText, make, showFigures, showMessage, within } from "./dom.js";
import { escapeText, formatBytes, formatCount, formatNumber, shorten } from "./escaping.js";
import { frames } from "./frames.js";
import { RENDERERS, TreeRenderer } from "./renderers.js";
import { Search } from "./search.js";
import { Counters } from "./subscription.js";
import { stringify } from "../lib/json.js";

/** @typedef {import("./errors.js").StreamError} StreamError */
/** @typedef {import("./log.js").Event} Event */
/** @typedef {import("./view.js").TreeView} TreeView */
/** @typedef {import("./tree-node.js").TreeNode} TreeNode */
/** @typedef {InstanceType<typeof RENDERERS[keyof typeof RENDERERS]>} Renderer */
/**
 * @typedef {object} Listener
 * @property {(pane: Pane) => void} onChoice another format or mode was chosen
 * @property {(event: Event | null) => void} onEvent null: the events start over
 * @property {(error: StreamError) => void} onError
 * @property {(text: string) => void} announce
 */

/** @typedef {{format: keyof typeof RENDERERS} & Record<string, string>} Query */

/** The query for each choice of format. @type {Record<string, Query>} */
const FORMATS = {
  fragments: { format: "fragments" },
  compact: { format: "fragments", wire: "compact" },
  data: { format: "updates", send: "data" },
  delta: { format: "updates", send: "delta" },
  chunks: { format: "chunks" },
  calls: { format: "calls" },
};
// Milliseconds between two searches of a growing document.
const SEARCH_PAUSE = 500;
// Milliseconds for which the result of copying is shown.
const COPIED_TIME = 1500;

export class Pane {
  contiguous = false;
  counters = new Counters();
  /** @type {Renderer | null} */
  renderer = null;
  /** @type {Search | null} */
  search = null;
  /** @type {{view: TreeView, node: TreeNode} | null} */
  selected = null;
  _searched = 0;
  /** True while a hint is shown, which the next event removes. */
  _hasHint = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  _timer = undefined;
  _paint = (/** @type {number} */ until) => this._draw(until);

  /**
   * @param {HTMLElement} element
   * @param {number} number
   * @param {Listener} listener
   */
  constructor(element, number, listener) {
    this.element = element;
    this.number = number;
    this.listener = listener;
    this.body = within(element, ".body");
    this.foot = within(element, ".pane-foot");
    this.problem = within(element, ".problem");
    this.format = within(element, ".format", HTMLSelectElement);
    this.mode = within(element, ".mode", HTMLSelectElement);
    this.every = within(element, ".every", HTMLSelectElement);
    this.query = within(element, ".query", HTMLInputElement);
    this.level = within(element, ".level", HTMLSelectElement);
    this._listen();
    this.showControls();
  }

  // ---- as a channel ----

  get parameters() {
    const query = FORMATS[this.format.value];
    if (query.format !== "updates") return query;
    const every = this.every.value;
    return { ...query, mode: this.mode.value, ...(every === "0" ? {} : { every }) };
  }

  /**
   * Starts over with this stream.
   * @param {import("./sessions.js").Stream} stream
   */
  begin({ many }) {
    this.reset();
    this.showControls();
    const onError = (/** @type {StreamError} */ error) => this._error(error);
    /** @type {import("./renderers.js").OnSelect} */
    const onSelect = (view, node) => this._select(node && { view, node });
    const Renderer = RENDERERS[FORMATS[this.format.value].format];
    this.renderer = new Renderer(this.body, { onError, onSelect, many });
    if (!(this.renderer instanceof TreeRenderer)) return;
    if (this.level.value !== "all") this.renderer.level = Number(this.level.value);
    this.search = new Search(this.renderer, `found-${this.number}`);
    this.search.query = this.query.value;
    this._showFound();
  }

  /** @param {Event} event */
  add(event) {
    this.listener.onEvent(event);
    if (this._hasHint) this._showProblem("");
    this._hasHint = false;
    this.renderer?.add(event.data);
    this.redraw();
  }

  /** Clears what is shown, because the same events come again. */
  clear() {
    this._showProblem("");
    this.listener.onEvent(null);
    this.renderer?.clear();
    this._select(null);
    this.redraw();
  }

  /**
   * Forgets the stream.
   * @param {string} [text] shown in the empty pane
   */
  reset(text = "") {
    // A new element has no listeners of the renderer before.
    const body = make("div", "scroller body");
    this.body.replaceWith(body);
    this.body = body;
    this.renderer = this.search = null;
    this.counters = new Counters();
    this._showFound();
    if (text) this._showBlank(text);
    this.clear();
  }

  end() {
    this.renderer?.end();
    if (this.renderer?.isEmpty) this._showBlank("There is nothing to show of this stream in this format.");
    this.redraw();
  }

  /**
   * Shows a hint above the pane until the next event.
   * @param {string} text
   */
  showHint(text) {
    this._showProblem(text);
    this._hasHint = true;
  }

  redraw() {
    frames.request(this._paint);
  }

  // ---- drawing ----

  /** @param {number} until */
  _draw(until) {
    const left = this.renderer?.paint(until) ?? false;
    this._showFigures();
    if (this.search?.query && performance.now() > this._searched + SEARCH_PAUSE) {
      this._searched = performance.now();
      this.search.refresh();
      this._showFound();
    }
    return left;
  }

  _showFigures() {
    const { events, bytes, rate, lastId, reconnects, duplicates, first } = this.counters;
    /** @type {[string, string, boolean?][]} */
    const figures = [
      ["events", formatNumber(events)],
      ["", `${formatNumber(rate)}/s`],
      ["", formatBytes(bytes)],
      ["first", first === null ? "–" : `${Math.round(first)} ms`],
      ["last id", lastId || "–"],
      ["reconnects", String(reconnects)],
      ["duplicates", String(duplicates), duplicates > 0],
    ];
    const rejected = this.renderer instanceof TreeRenderer ? this.renderer.rejected : 0;
    if (rejected > 0) figures.push(["rejected", String(rejected), true]);
    showFigures(this.foot, figures);
  }

  /** @param {string} text */
  _showBlank(text) {
    this.body.replaceChildren(make("p", "blank", text));
  }

  /** @param {StreamError} error */
  _error(error) {
    if (!error.isPlaced) this._showProblem(`${error.code}: ${error.message}`);
    this.listener.onError(error);
  }

  /** @param {string} text `""` for none */
  _showProblem(text) {
    showMessage(this.problem, escapeText(text));
  }

  /** Shows the controls that this format has. */
  showControls() {
    const { format } = FORMATS[this.format.value];
    for (const part of this.element.querySelectorAll(".only-updates")) {
      /** @type {HTMLElement} */ (part).hidden = format !== "updates";
    }
    within(this.element, ".only-tree").hidden = format !== "fragments" && format !== "updates";
    this.element.setAttribute("aria-label", `The stream as ${this.format.selectedOptions[0].text}`);
  }

  // ---- input ----

  _listen() {
    for (const select of [this.format, this.mode, this.every]) {
      select.addEventListener("change", () => {
        this.showControls();
        this.listener.onChoice(this);
      });
    }
    this.level.addEventListener("change", () => this._setLevel(this.level.value));
    this.query.addEventListener("input", () => {
      this.search?.find(this.query.value);
      this._showFound();
    });
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this._go(event.shiftKey ? -1 : 1);
    });
    const buttons = {
      ".expand": () => this._setLevel("all"),
      ".collapse": () => this._setLevel("1"),
      ".next": () => this._go(1),
      ".previous": () => this._go(-1),
      ".copy-value": () => this.copy("value"),
      ".copy-path": () => this.copy("path"),
      ".copy-pointer": () => this.copy("pointer"),
    };
    for (const [selector, onClick] of Object.entries(buttons)) {
      within(this.element, selector).addEventListener("click", onClick);
    }
    this.element.addEventListener("keydown", (event) => this._key(event));
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const inTree = /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]");
    if (!inTree || event.ctrlKey || event.metaKey || event.altKey || !this.selected) return;
    if (event.key === "c") void this.copy("value");
    else if (event.key === "p") void this.copy("path");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {string} level */
  _setLevel(level) {
    this.level.value = level;
    this.search?.view.setLevel(level === "all" ? Infinity : Number(level));
  }

  /** @param {1 | -1} step */
  _go(step) {
    this.search?.go(step);
    this._showFound();
  }

  _showFound() {
    const { found = [], at = -1, query = "" } = this.search ?? {};
    const count = found.length;
    const shown = within(this.element, ".found");
    if (query === "") shown.textContent = "";
    else if (count === 0) shown.textContent = "none";
    else shown.textContent = at < 0 ? `${count}` : `${at + 1}/${count}`;
    shown.setAttribute("aria-label", query === "" ? "" : formatCount(count, "match", "matches"));
    for (const step of [".next", ".previous"]) within(this.element, step).hidden = count === 0;
  }

  /** @param {{view: TreeView, node: TreeNode} | null} selected */
  _select(selected) {
    if (this.selected && selected && this.selected.view !== selected.view) this.selected.view.select(null);
    this.selected = selected;
    within(this.element, ".selection").hidden = selected === null;
    if (selected) within(this.element, ".path").textContent = escapeText(shorten(selected.node.pathText));
  }

  /** @param {"value" | "path" | "pointer"} what */
  async copy(what) {
    if (this.selected === null) return;
    const { node } = this.selected;
    const texts = {
      value: () => stringify(node.value, 2),
      path: () => node.pathText,
      pointer: () => node.pointer,
    };
    try {
      await copyText(texts[what]());
      this._showCopied(`Copied the ${what}`);
    } catch {
      this._showCopied("The browser did not allow copying");
    }
  }

  /** @param {string} text */
  _showCopied(text) {
    this.listener.announce(text);
    const label = within(this.element, ".copied");
    label.textContent = text;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => (label.textContent = "Copy"), COPIED_TIME);
  }
}

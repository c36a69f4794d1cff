/**
 * One pane: a format and a mode of the stream, shown; its search, its selection, its figures.
 *
 * It is a channel: it says which events it wants, takes them and can be cleared. Where they come
 * from, live or from a replay, is the session's to know.
 */

import { copyText, make, showFigures, within } from "./dom.js";
import { frames } from "./frames.js";
import { Counters } from "./subscription.js";
import { Search } from "./search.js";
import { CallsShow, ChunksShow, FragmentsShow, UpdatesShow } from "./renderers.js";
import { stringify } from "../lib/json.js";
import { brief, counted, grouped, size, visible } from "./escaping.js";

/** @typedef {import("./renderers.js").Fault} Fault */
/** @typedef {import("./view.js").TreeView} TreeView */
/** @typedef {import("./tree-node.js").Node} Node */
/** @typedef {FragmentsShow | UpdatesShow | ChunksShow | CallsShow} Show */
/** @typedef {{input: string, many: boolean}} Stream */
/**
 * @typedef {object} Listener
 * @property {(pane: Pane) => void} onChoice another format or mode was chosen
 * @property {(event: {id: string, type: string, data: string} | null) => void} onEvent null: a new
 *   stream of them begins
 * @property {(fault: Fault) => void} onFault
 * @property {(text: string) => void} announce
 */

/** @type {Record<string, Record<string, string>>} */
export const FORMATS = {
  fragments: { format: "fragments" },
  compact: { format: "fragments", wire: "compact" },
  data: { format: "updates", send: "data" },
  delta: { format: "updates", send: "delta" },
  chunks: { format: "chunks" },
  calls: { format: "calls" },
};
const SEARCH_AGAIN = 500;
// What was copied is said for so many milliseconds.
const TOLD = 1500;

export class Pane {
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
    this.selection = within(element, ".selection");
    /** @type {Stream} */
    this.stream = { input: "text", many: false };
    this.counters = new Counters();
    /** @type {Show | null} */
    this.show = null;
    /** @type {Search | null} */
    this.search = null;
    this._searched = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this._told = false;
    /** @type {{view: TreeView, node: Node} | null} */
    this.chosen = null;
    this._paint = (/** @type {number} */ until) => this._draw(until);
    this._listen();
    this._adapt();
  }

  // ---- a channel ----

  /** The parameters of the events it wants. */
  get parameters() {
    const query = { ...FORMATS[this.format.value] };
    if (query.format === "updates") {
      query.mode = this.mode.value;
      if (this.every.value !== "0") query.every = this.every.value;
    }
    return query;
  }

  get contiguous() {
    return false;
  }

  /**
   * Begin again, with this stream.
   * @param {Stream} stream
   */
  begin(stream) {
    this.stream = stream;
    this.counters = new Counters();
    this._adapt();
    this._makeShow();
    this._shownProblem(null);
    this.listener.onEvent(null);
    this.redraw();
  }

  /** @param {{id: string, type: string, data: string}} event */
  take(event) {
    this.listener.onEvent(event);
    if (this._told) this._shownProblem(null);
    this._told = false;
    this.show?.take(event.data);
    this.redraw();
  }

  /** Forget what was shown; the same stream comes again. */
  clear() {
    this._shownProblem(null);
    this.listener.onEvent(null);
    this.show?.clear();
    this._choose(null);
    this.redraw();
  }

  /** Show nothing: there is no stream. */
  leave() {
    this.show = this.search = null;
    this.counters = new Counters();
    this.listener.onEvent(null);
    this._shownProblem(null);
    this._drawFound();
    this._choose(null);
    this._blank("There is nothing to show.");
    this.redraw();
  }

  end() {
    this.show?.end();
    if (this.show?.size === 0) this._blank("This format had nothing to say about this stream.");
    this.redraw();
  }

  /**
   * A word above the pane, until it begins again or something comes.
   * @param {string} text
   */
  tell(text) {
    this._shownProblem(text);
    this._told = true;
  }

  redraw() {
    frames.ask(this._paint);
  }

  // ---- drawing ----

  _makeShow() {
    /** @type {HTMLElement} */
    const place = make("div", "scroller body");
    this.body.replaceWith(place);
    this.body = place;
    const options = {
      onFault: (/** @type {Fault} */ fault) => this._fault(fault),
      onSelect: (/** @type {TreeView} */ view, /** @type {Node | null} */ node) =>
        this._choose(node === null ? null : { view, node }),
    };
    const { format } = FORMATS[this.format.value];
    if (format === "updates") this.show = new UpdatesShow(place, options);
    else if (format === "chunks") this.show = new ChunksShow(place, options);
    else if (format === "calls") this.show = new CallsShow(place, options);
    else this.show = new FragmentsShow(place, { ...options, many: this.stream.many });
    this.search = null;
    if (this.show instanceof FragmentsShow || this.show instanceof UpdatesShow) {
      this.search = new Search(this.show.view, `found-${this.number}`);
      if (this.level.value !== "all") this.show.view.level = Number(this.level.value);
      this.search.query = this.query.value;
    }
    this._drawFound();
    this._choose(null);
  }

  /** @param {number} until */
  _draw(until) {
    const left = this.show?.paint(until) ?? false;
    this.showFigures();
    if (this.search?.query && performance.now() > this._searched + SEARCH_AGAIN) {
      this._searched = performance.now();
      this.search.refresh();
      this._drawFound();
    }
    return left;
  }

  showFigures() {
    const { events, bytes, rate, lastId, reconnects, duplicates, first } = this.counters;
    /** @type {[string, string, boolean?][]} */
    const figures = [
      ["events", grouped(events)],
      ["", `${grouped(rate)}/s`],
      ["", size(bytes)],
      ["first", first === null ? "–" : `${Math.round(first)} ms`],
      ["last id", lastId || "–"],
      ["reconnects", String(reconnects)],
      ["duplicates", String(duplicates), duplicates > 0],
    ];
    const misfits = this.show?.misfits ?? 0;
    if (misfits > 0) figures.push(["misfits", String(misfits), true]);
    showFigures(this.foot, figures);
  }

  /** @param {string} text */
  _blank(text) {
    this.body.replaceChildren(make("p", "blank", text));
  }

  /** @param {Fault} fault */
  _fault(fault) {
    if (!fault.placed) this._shownProblem(`${fault.problem.code}: ${fault.problem.message}`);
    this.listener.onFault(fault);
  }

  /** @param {string | null} text */
  _shownProblem(text) {
    this.problem.hidden = text === null;
    this.problem.textContent = visible(text ?? "");
  }

  /** Show the controls that mean something for this format. */
  _adapt() {
    const { format } = FORMATS[this.format.value];
    const isTree = format === "fragments" || format === "updates";
    for (const part of this.element.querySelectorAll(".only-updates")) {
      /** @type {HTMLElement} */ (part).hidden = format !== "updates";
    }
    within(this.element, ".only-tree").hidden = !isTree;
    this.element.setAttribute("aria-label", `The stream as ${this.format.selectedOptions[0].text}`);
  }

  // ---- hands ----

  _listen() {
    const chosen = () => {
      this._adapt();
      this.listener.onChoice(this);
    };
    for (const select of [this.format, this.mode, this.every]) {
      select.addEventListener("change", chosen);
    }
    const tree = () => this.search?.view;
    this.level.addEventListener("change", () => {
      tree()?.setLevel(this.level.value === "all" ? Infinity : Number(this.level.value));
    });
    this._press(".expand", () => {
      this.level.value = "all";
      tree()?.setLevel(Infinity);
    });
    this._press(".collapse", () => {
      this.level.value = "1";
      tree()?.setLevel(1);
    });
    this.query.addEventListener("input", () => {
      this.search?.find(this.query.value);
      this._drawFound();
    });
    this.query.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this._go(event.shiftKey ? -1 : 1);
    });
    this._press(".next", () => this._go(1));
    this._press(".previous", () => this._go(-1));
    this._press(".copy-value", () => this.copy("value"));
    this._press(".copy-path", () => this.copy("path"));
    this._press(".copy-pointer", () => this.copy("pointer"));
    this.element.addEventListener("keydown", (event) => this._key(event));
  }

  /**
   * @param {string} selector
   * @param {() => void} work
   */
  _press(selector, work) {
    within(this.element, selector).addEventListener("click", work);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    const inTree = /** @type {HTMLElement} */ (event.target).closest("[role=treeitem]");
    if (!inTree || event.ctrlKey || event.metaKey || event.altKey || !this.chosen) return;
    if (event.key === "c") void this.copy("value");
    else if (event.key === "p") void this.copy("path");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {1 | -1} step */
  _go(step) {
    this.search?.go(step);
    this._drawFound();
  }

  _drawFound() {
    const { found = [], at = -1, query = "" } = this.search ?? {};
    const shown = within(this.element, ".found");
    const some = query !== "" && found.length > 0;
    if (query === "") shown.textContent = "";
    else if (!some) shown.textContent = "none";
    else shown.textContent = at < 0 ? `${found.length}` : `${at + 1}/${found.length}`;
    shown.setAttribute("aria-label", query === "" ? "" : counted(found.length, "match", "matches"));
    within(this.element, ".next").hidden = !some;
    within(this.element, ".previous").hidden = !some;
  }

  /** @param {{view: TreeView, node: Node} | null} chosen */
  _choose(chosen) {
    if (this.chosen && chosen && this.chosen.view !== chosen.view) this.chosen.view.select(null);
    this.chosen = chosen;
    this.selection.hidden = chosen === null;
    if (chosen) within(this.element, ".path").textContent = visible(brief(chosen.node.pathText));
  }

  /** @param {"value" | "path" | "pointer"} what */
  async copy(what) {
    if (this.chosen === null) return;
    const { node } = this.chosen;
    const texts = {
      value: () => stringify(node.value, 2),
      path: () => node.pathText,
      pointer: () => node.pointer,
    };
    try {
      await copyText(texts[what]());
      this._say(`Copied the ${what}`);
    } catch {
      this._say("This browser did not allow copying");
    }
  }

  /**
   * Say what became of copying, beside the buttons too, for a moment.
   * @param {string} text
   */
  _say(text) {
    this.listener.announce(text);
    const place = within(this.element, ".copied");
    place.textContent = text;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => (place.textContent = "Copy"), TOLD);
  }
}

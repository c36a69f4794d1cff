/** The view "Updates": the entities of a live stream in one of the five modes, as the server sends them. */

import { make } from "./dom.js";
import { errorOf } from "./errors.js";
import { recordOf } from "./subscription.js";
import { Tree } from "./tree.js";
import { TreePane } from "./tree-pane.js";
import { registerView } from "./views.js";
import { lastPath } from "../js/src/build/lookup.js";
import { applyDelta } from "../js/src/deltas.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./subscription.js").Subscription} Subscription */
/** An update, and the number of the last piece that it is made from. @typedef {{piece: number, update: any}} Received */

const MODES = {
  REALTIME: "realtime: every change",
  PROGRESSIVE: "progressive: every complete value",
  "ONE-BY-ONE": "one by one: every complete entity",
  "ALL-TOGETHER": "all together: complete entities at the end",
  BATCH: "batch: one list at the end",
};

class UpdatesView {
  /** @type {Recording | null} */
  _recording = null;
  _tree = new Tree();
  /** @type {Subscription | null} */
  _subscription = null;
  /** @type {Received[]} */
  _received = [];
  /** How many of them are in the tree. */
  _read = 0;
  /** The data of each entity so far. @type {Map<string, any>} */
  _data = new Map();

  /**
   * @param {HTMLElement} panel
   * @param {import("./views.js").Stage} stage
   */
  constructor(panel, stage) {
    this.stage = stage;
    const options = Object.entries(MODES).map(([value, text]) => {
      const option = make("option", "", text);
      option.value = value;
      return option;
    });
    this.mode = make("select", "mode", ...options);
    this.mode.setAttribute("aria-label", "When an update is sent");
    this.entity = make("input", "entity");
    this.entity.type = "text";
    this.entity.placeholder = "root";
    this.entity.spellcheck = false;
    this.count = make("span", "muted count");
    this.problem = make("p", "problem");
    const label = make("label", "entity-box", "Entity ", this.entity);
    panel.append(make("div", "pane-head", this.mode, label, this.count), this.problem);
    this.pane = new TreePane(panel, { number: 2, announce: stage.announce });
    this.mode.addEventListener("change", () => this._restart());
    this.entity.addEventListener("change", () => this._restart());
  }

  /** @param {Recording} recording */
  suits({ options, input, hasDocument }) {
    return options.live === true && (input !== "events" || hasDocument);
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    const { entity } = recording?.options ?? {};
    if (recording !== null) this.entity.value = typeof entity === "string" ? entity : "";
    this._restart();
  }

  /** Requests all updates again when the view is drawn next. */
  _restart() {
    this._subscription?.close();
    this._subscription = null;
    this._received = [];
    this.problem.hidden = true;
    this._clear();
    this.stage.redraw();
  }

  _clear() {
    this._tree = new Tree();
    this._tree.holds = "entities";
    this._read = 0;
    this._data.clear();
    this.pane.begin(this._recording === null ? null : this._tree, "The entities");
  }

  _subscribe() {
    /** @type {Record<string, string>} */
    const query = { format: "updates", send: "delta", mode: this.mode.value };
    const entity = this.entity.value.trim();
    if (entity) query.entity = entity;
    return this.stage.subscribe(query, {
      onEvent: ({ id, data }) => {
        this._received.push({ piece: recordOf(id), update: JSON.parse(data) });
        this.stage.redraw();
      },
      onState: (state, { reason = "" }) => {
        this.problem.hidden = state !== "failed";
        this.problem.textContent = reason;
      },
    });
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    this._subscription ??= this._subscribe();
    const isEnd = recording.ended && position >= recording.length;
    const isShown = (/** @type {Received} */ { piece }) => isEnd || piece <= position;
    if (this._read > 0 && !isShown(this._received[this._read - 1])) this._clear();
    for (; this._read < this._received.length && isShown(this._received[this._read]); this._read += 1) {
      this._show(this._received[this._read].update);
    }
    if (isEnd) this._tree.growAt(null);
    this.count.textContent = `${this._read} updates`;
    return this.pane.draw(until, isEnd);
  }

  /** @param {any} update */
  _show(update) {
    const name = nameOf(update);
    const node = this._tree.entry(name);
    if (update.data !== undefined) this._data.set(name, update.data);
    else if (update.delta !== undefined) this._data.set(name, applyDelta(this._data.get(name), update.delta));
    const data = this._data.get(name);
    if (data !== undefined) this._tree.assign(node, data);
    this._tree.mark(node, update.status, errorOf(update)?.message);
    this._tree.growAt(update.status === "PARTIAL" ? lastPath(data) : null, node);
  }
}

/** @param {{entity?: string | null, index?: number | null}} update */
function nameOf({ entity, index }) {
  return [entity ?? "", typeof index === "number" ? `#${index}` : ""].join(" ").trim() || "error";
}

registerView({
  id: "updates",
  label: "Updates",
  order: 20,
  mount: (panel, stage) => new UpdatesView(panel, stage),
});

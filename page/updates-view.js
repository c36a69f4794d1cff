/** The view "Updates": the entities of the text in one of the five modes, at the moment that is shown. */

import { make } from "./dom.js";
import { Tree } from "./tree.js";
import { TreePane } from "./tree-pane.js";
import { PartialStream } from "../js/src/partial-stream/stream.js";
import { ExactNumber } from "../js/src/parse/exact.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("../js/src/partial-stream/update.js").Update} Update */

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
  /** @type {PartialStream<any> | null} */
  _stream = null;
  _read = 0;
  _hasEnded = false;
  _count = 0;

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
    this.problem.hidden = true;
    const label = make("label", "entity-box", "Entity ", this.entity);
    panel.append(make("div", "pane-head", this.mode, label, this.count), this.problem);
    this.pane = new TreePane(panel, { number: 2, announce: stage.announce });
    this.mode.addEventListener("change", () => this._restart());
    this.entity.addEventListener("change", () => this._restart());
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    const { entity } = recording?.options ?? {};
    if (recording !== null) this.entity.value = typeof entity === "string" ? entity : "";
    this._restart();
  }

  _restart() {
    this._tree = new Tree();
    this._tree.holds = "entities";
    this._stream = null;
    this._read = this._count = 0;
    this._hasEnded = false;
    this.problem.hidden = true;
    this.pane.begin(this._recording === null ? null : this._tree, "The entities");
    if (this._recording === null) return;
    const { many = false, repair = false } = this._recording.options;
    const entity = this.entity.value.trim() || undefined;
    try {
      const mode = /** @type {any} */ (this.mode.value);
      this._stream = new PartialStream({ mode, entity, many, repair, numbers: ExactNumber });
    } catch (error) {
      this.problem.textContent = error instanceof Error ? error.message : String(error);
      this.problem.hidden = false;
    }
    this.stage.redraw();
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const recording = this._recording;
    if (recording === null) return false;
    const isEnd = recording.ended && position >= recording.length;
    if (position < this._read || (this._hasEnded && !isEnd)) this._restart();
    const left = this._advance(recording, position, isEnd, until);
    this.count.textContent = `${this._count} updates`;
    return this.pane.draw(until, isEnd) || left;
  }

  /**
   * Reads the pieces up to a moment; of each entity only the last update is drawn.
   * @param {Recording} recording
   * @param {number} position
   * @param {boolean} isEnd
   * @param {number} until
   */
  _advance(recording, position, isEnd, until) {
    const stream = this._stream;
    if (stream === null) return false;
    /** @type {Map<string, Update>} */
    const last = new Map();
    const take = (/** @type {Update[]} */ updates) => {
      this._count += updates.length;
      for (const update of updates) last.set(nameOf(update), update);
    };
    for (; this._read < position; this._read += 1) {
      if ((this._read & 63) === 63 && performance.now() > until + 30) break;
      if (!stream.ended) take(stream.feed(recording.pieces[this._read].text));
    }
    if (isEnd && this._read === position && !this._hasEnded) {
      this._hasEnded = true;
      if (!stream.ended && recording.state === "complete") take(stream.flush());
    }
    for (const [name, update] of last) this._show(name, update);
    if (this._hasEnded) this._tree.growAt(null);
    return this._read < position;
  }

  /**
   * @param {string} name
   * @param {Update} update
   */
  _show(name, update) {
    const node = this._tree.entry(name);
    if (update.data !== undefined) this._tree.assign(node, update.data);
    this._tree.mark(node, update.status, update.error?.message);
    this._tree.growAt(update.status === "PARTIAL" ? update.openPath : null, node);
  }
}

/** @param {Update} update */
function nameOf({ entity, index }) {
  if (index === undefined) return entity === undefined ? "error" : String(entity);
  return entity === undefined ? `#${index}` : `${entity} #${index}`;
}

/**
 * @param {HTMLElement} panel
 * @param {import("./views.js").Stage} stage
 */
export function mount(panel, stage) {
  return new UpdatesView(panel, stage);
}

/** The view "Compare": two attempts side by side, aligned by path, with their times. */

import { button, make, setAttributes } from "../dom.js";
import { escapeText, formatCount, shorten } from "../escaping.js";
import { align, countsOf } from "./align.js";
import { formatTime, lanesOf } from "./timeline.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("./timeline.js").Lane} Lane */
/** @typedef {import("../views.js").Stage} Stage */

const MAX_ROWS = 500;

class Compare {
  /** The first attempt, which is kept. @type {Recording | null} */
  _first = null;
  /** @type {Recording | null} */
  _second = null;
  _drawn = "";

  /**
   * @param {HTMLElement} panel
   * @param {Stage} stage
   */
  constructor(panel, stage) {
    this._stage = stage;
    this._text = make("p");
    this._keep = button("Keep this attempt", () => this._setFirst(this._stage.recording), "main");
    this._swap = button("Swap", () => this._exchange());
    this._forget = button("Forget the first", () => this._setFirst(null));
    this._only = make("input");
    this._only.type = "checkbox";
    this._only.addEventListener("change", () => this._refresh());
    this._onlyBox = make("label", "check", this._only, " Only what differs");
    const buttons = make("div", "row-of-buttons", this._keep, this._swap, this._forget, this._onlyBox);
    const head = make("div", "compare-head", this._text, buttons);
    this._body = make("tbody");
    this._titles = [make("th", "", "First"), make("th", "", "Second")];
    for (const title of this._titles) title.setAttribute("scope", "col");
    const path = make("th", "", "Field");
    path.setAttribute("scope", "col");
    this._table = make("table", "compare", make("thead", "", make("tr", "", path, ...this._titles)), this._body);
    const scroller = make("div", "scroller compare-scroller", this._table);
    setAttributes(scroller, { tabindex: 0, role: "region", "aria-label": "Two attempts, by path" });
    panel.append(head, scroller);
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._second = recording === this._first ? null : recording;
    this._drawn = "";
  }

  draw() {
    const { _first: first, _second: second } = this;
    const key = [first?.length, first?.ended, second?.length, second?.ended, first === null, second === null].join(" ");
    if (key === this._drawn) return false;
    // While one of them grows the table is made again a few times a second.
    const isOver = (first?.ended ?? true) && (second?.ended ?? true);
    const now = performance.now();
    if (!isOver && now < this._at + 300) return true;
    this._at = now;
    this._drawn = key;
    this._show();
    return false;
  }

  _at = 0;

  /** @param {Recording | null} recording */
  _setFirst(recording) {
    this._first = recording;
    this._second = this._stage.recording === recording ? null : this._stage.recording;
    this._refresh();
    this._stage.announce(recording === null ? "The first attempt is forgotten" : "This attempt is the first one now");
  }

  _exchange() {
    const { _first: first, _second: second } = this;
    if (first === null || second === null) return;
    this._first = second;
    // The page shows the other one: then this one is the second.
    this._stage.open(first, { plays: false, suits: "compare" });
    this.begin(first);
    this._refresh();
  }

  _refresh() {
    this._drawn = "";
    this._at = 0;
    this.draw();
  }

  _show() {
    const { _first: first, _second: second } = this;
    this._keep.hidden = first !== null || second === null;
    this._forget.hidden = first === null;
    this._swap.hidden = this._onlyBox.hidden = first === null || second === null;
    this._table.hidden = first === null || second === null;
    if (first === null) {
      this._text.textContent =
        second === null
          ? "Two attempts at the same answer, field by field, with their times."
          : "Keep this attempt. The next stream that you start or paste is then shown beside it.";
      return;
    }
    if (second === null) {
      this._text.textContent = `“${escapeText(first.title)}” is kept. Start or paste another attempt to see it beside this one.`;
      return;
    }
    this._fill(first, second);
  }

  /**
   * @param {Recording} first
   * @param {Recording} second
   */
  _fill(first, second) {
    const rows = align(lanesOf(first, Infinity, Infinity).lanes, lanesOf(second, Infinity, Infinity).lanes);
    const { same, different, left, right } = countsOf(rows);
    this._text.textContent = `${formatCount(different, "value differs", "values differ")}, ${left} only in the first, ${right} only in the second, ${same} are the same.`;
    this._titles[0].textContent = `First: ${escapeText(shorten(first.title, 40))}`;
    this._titles[1].textContent = `Second: ${escapeText(shorten(second.title, 40))}`;
    const wanted = this._only.checked ? rows.filter(({ sameness }) => sameness !== "same") : rows;
    const names = { same: "", different: "differs", left: "only in the first", right: "only in the second" };
    const drawn = wanted.slice(0, MAX_ROWS).map(({ path, left: one, right: other, sameness }) => {
      const { label, depth } = /** @type {Lane} */ (one ?? other);
      const name = button(escapeText(shorten(label, 60)), () => this._choose(other ?? one), "lane");
      name.title = escapeText(shorten(path, 200));
      name.style.paddingInlineStart = `${8 + Math.min(depth, 8) * 12}px`;
      const head = make("th", "", name);
      head.setAttribute("scope", "row");
      if (names[sameness]) head.append(make("span", "unseen", `, ${names[sameness]}`));
      return make("tr", sameness, head, cell(one, first), cell(other, second));
    });
    if (wanted.length > MAX_ROWS) {
      const more = make("td", "muted", `${wanted.length - MAX_ROWS} more rows are not shown.`);
      more.setAttribute("colspan", "3");
      drawn.push(make("tr", "", more));
    }
    this._body.replaceChildren(...drawn);
  }

  /** @param {Lane | null} lane */
  _choose(lane) {
    if (lane?.path) this._stage.selectPath(lane.path);
  }
}

/**
 * The cell of a value in one attempt: what it is, and when it was written.
 * @param {Lane | null} lane
 * @param {Recording} recording
 */
function cell(lane, recording) {
  if (lane === null) return make("td");
  const isText = lane.kind === "string" || lane.kind === "text" || lane.kind === "reasoning";
  const isContainer = lane.kind === "object" || lane.kind === "array";
  const text = isContainer ? (lane.kind === "array" ? "[…]" : "{…}") : lane.kind === "call" ? "call" : lane.full;
  const shown = escapeText(shorten(text, 160));
  const end = lane.end === Infinity ? recording.length : lane.end;
  const from = recording.timeOf(lane.start);
  const time = recording.timed
    ? `${formatTime(from)} + ${formatTime(Math.max(0, recording.timeOf(end) - from))}`
    : `piece ${lane.start}${end > lane.start ? `–${end}` : ""}`;
  const value = make("span", `what ${lane.kind}`, isText ? `"${shown}"` : shown);
  return make("td", "", make("div", "attempt", value, make("span", "time", time)));
}

/**
 * @param {HTMLElement} panel
 * @param {import("../views.js").Stage} stage
 */
export function mount(panel, stage) {
  return new Compare(panel, stage);
}

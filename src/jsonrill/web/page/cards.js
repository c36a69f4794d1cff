/** Tool calls as cards: name, arguments growing as a tree, the text as received, the result. */

import { make } from "./dom.js";
import { TextView } from "./textview.js";
import { ToolCalls } from "../lib/toolcalls.js";
import { Tree } from "./tree.js";
import { parse } from "../lib/json.js";
import { TreeView } from "./view.js";
import { brief, visible } from "./escaping.js";

/** @typedef {import("../lib/toolcalls.js").ToolCall} ToolCall */

class Card {
  /**
   * @param {ToolCall} call
   * @param {(view: TreeView, node: import("./tree-node.js").Node | null) => void} onSelect
   */
  constructor(call, onSelect) {
    this.call = call;
    this._onSelect = onSelect;
    this.element = make("article", "card");
    this.name = make("h4");
    this.badge = make("span", "badge");
    this.id = make("span", "id");
    this.problem = make("p", "problem");
    this.problem.hidden = true;
    this.arguments = make("div", "arguments");
    this.tree = new Tree();
    const label = "Arguments";
    this.view = new TreeView(this.arguments, this.tree, {
      label,
      follows: false,
      onSelect: (node) => onSelect(this.view, node),
    });
    this.details = make("details", "", make("summary", "", "text as received"));
    this.text = make("div", "text");
    this.details.append(this.text);
    this.raw = new TextView(this.text, { follows: false });
    this.result = make("div", "result");
    this.result.hidden = true;
    this.element.append(
      make("header", "", this.name, this.id, this.badge),
      this.problem,
      this.arguments,
      this.details,
      this.result,
    );
    this._drawn = "";
    this._fault = false;
    this._answer = false;
  }

  /** @param {number} until */
  paint(until) {
    const { call } = this;
    this.name.textContent = visible(brief(call.name ?? "…"));
    this.id.textContent = visible(brief(call.id));
    this.badge.textContent = call.status;
    this.badge.className = `badge ${call.status}`;
    this.element.dataset.status = call.status;
    this.element.setAttribute("aria-label", `Tool call ${brief(call.name ?? "")}, ${call.status}`);
    this._drawRaw(until);
    const args = call.args;
    if (args !== undefined) {
      this.tree.set(args);
      this.tree.growAtEnd(call.status === "streaming" ? this.tree.root : null);
    }
    const left = this.view.paint(until);
    this._drawProblem();
    this._drawResult();
    return left;
  }

  /** @param {number} until */
  _drawRaw(until) {
    const { raw, status } = this.call;
    if (!raw.startsWith(this._drawn)) {
      this.raw.clear();
      this._drawn = "";
      this._fault = false;
    }
    if (raw !== this._drawn) this.raw.add(raw.slice(this._drawn.length));
    this._drawn = raw;
    if (status !== "streaming") this.raw.end();
    this.raw.paint(until);
  }

  _drawProblem() {
    const { error } = this.call;
    if (error === null || this._fault) return;
    this._fault = true;
    this.problem.textContent = visible(`${error.code}: ${error.message}`);
    this.problem.hidden = false;
    this.details.open = true;
    if (typeof error.offset === "number") {
      this.raw.fault(error.offset, visible(error.message));
      this.raw.paint(Infinity);
    }
  }

  _drawResult() {
    const { call } = this;
    if (!call.answered || this._answer) return;
    this._answer = true;
    const tree = new Tree();
    const place = make("div");
    this.result.append(make("h5", "", call.resultIsError ? "Result: an error" : "Result"), place);
    this.result.classList.toggle("bad", call.resultIsError);
    this.result.hidden = false;
    tree.set(read(call.result));
    const view = new TreeView(place, tree, {
      label: "Result",
      follows: false,
      flashes: false,
      onSelect: (node) => this._onSelect(view, node),
    });
    view.paint(Infinity);
  }
}

/**
 * A result that is the text of an object or array is shown as one.
 * @param {any} result
 */
function read(result) {
  if (typeof result !== "string" || !/^\s*[[{]/.test(result)) return result;
  try {
    return parse(result);
  } catch {
    return result;
  }
}

export class Cards {
  calls = new ToolCalls({ numbers: "exact" });
  /** @type {Map<ToolCall, Card>} */
  _cards = new Map();
  /** @type {Set<ToolCall>} */
  _changed = new Set();
  /** @type {Set<ToolCall>} */
  _faulty = new Set();

  /**
   * @param {HTMLElement} place
   * @param {(view: TreeView, node: import("./tree-node.js").Node | null) => void} onSelect
   * @param {(problem: {code: string, message: string}) => void} onProblem of a call
   */
  constructor(place, onSelect, onProblem) {
    this.place = place;
    this._onSelect = onSelect;
    this._onProblem = onProblem;
  }

  clear() {
    this.calls = new ToolCalls({ numbers: "exact" });
    this._cards.clear();
    this._changed.clear();
    this._faulty.clear();
    this.place.replaceChildren();
  }

  /** The calls that have a card or will have one with the next frame. */
  get size() {
    return this._cards.size || this._changed.size;
  }

  /** @param {unknown} event */
  take(event) {
    for (const call of this.calls.add(event)) {
      this._changed.add(call);
      if (call.error === null || this._faulty.has(call)) continue;
      this._faulty.add(call);
      this._onProblem(call.error);
    }
  }

  end() {
    for (const call of this.calls.flush()) this._changed.add(call);
  }

  /** @param {number} until */
  paint(until) {
    for (const call of this._changed) {
      let card = this._cards.get(call);
      if (card === undefined) {
        card = new Card(call, this._onSelect);
        this._cards.set(call, card);
        this.place.append(card.element);
      }
      if (!card.paint(until)) this._changed.delete(call);
      if (performance.now() > until) break;
    }
    return this._changed.size > 0;
  }
}

/** Tool calls as cards: name, growing arguments as a tree, their raw text, the result. */

import { make } from "./dom.js";
import { errorOf } from "./errors.js";
import { escapeText, shorten } from "./escaping.js";
import { TextView } from "./textview.js";
import { Calls } from "../lib/calls.js";
import { translate } from "../lib/providers/jsonrill.js";
import { Tree } from "./tree.js";
import { parse } from "../lib/json.js";
import { TreeView } from "./view.js";

/** @typedef {import("../lib/call.js").ToolCall} ToolCall */
/** @typedef {import("./renderers.js").OnSelect} OnSelect */
/** @typedef {(error: import("./errors.js").StreamError) => void} OnError */

class Card {
  /**
   * @param {ToolCall} call
   * @param {OnSelect} onSelect
   */
  constructor(call, onSelect) {
    this.call = call;
    this._onSelect = onSelect;
    this.name = make("h4");
    this.badge = make("span", "badge");
    this.id = make("span", "id");
    this.problem = make("p", "problem");
    this.problem.hidden = true;
    const tree = make("div", "arguments");
    this.view = this._makeTree(tree, "Arguments", true);
    const text = make("div", "text");
    this.raw = new TextView(text, { follows: false });
    this.details = make("details", "", make("summary", "", "raw text"), text);
    this.result = make("div", "result");
    this.result.hidden = true;
    const header = make("header", "", this.name, this.id, this.badge);
    this.element = make("article", "card", header, this.problem, tree, this.details, this.result);
  }

  /**
   * @param {HTMLElement} element
   * @param {string} label
   * @param {boolean} flashes
   */
  _makeTree(element, label, flashes) {
    /** @type {TreeView} */
    const view = new TreeView(element, new Tree(), {
      label,
      follows: false,
      flashes,
      onSelect: (node) => this._onSelect(view, node),
    });
    return view;
  }

  /** @param {number} until */
  paint(until) {
    const { name, id, status, args } = this.call;
    const { tree } = this.view;
    this.name.textContent = escapeText(shorten(name ?? "…"));
    this.id.textContent = escapeText(shorten(id));
    this.badge.textContent = status;
    this.badge.className = `badge ${status}`;
    this.element.dataset.status = status;
    this.element.setAttribute("aria-label", `Tool call ${shorten(name ?? "")}, ${status}`);
    if (args !== undefined) {
      tree.set(args);
      tree.growAtEnd(status === "streaming" ? tree.root : null);
    }
    const left = this.view.paint(until);
    this._drawRaw(until);
    this._drawResult();
    return left;
  }

  /** @param {number} until */
  _drawRaw(until) {
    const { raw, status, error } = this.call;
    if (!raw.startsWith(this.raw.text)) {
      this.raw.clear();
      this.problem.hidden = true;
    }
    if (raw !== this.raw.text) this.raw.add(raw.slice(this.raw.text.length));
    if (status !== "streaming") this.raw.end();
    if (error !== null && this.problem.hidden) {
      this.problem.textContent = escapeText(`${error.code}: ${error.message}`);
      this.problem.hidden = false;
      this.details.open = true;
      if (typeof error.offset === "number") {
        this.raw.markError(error.offset, escapeText(error.message));
      }
    }
    this.raw.paint(until);
  }

  _drawResult() {
    const { answered, result, resultIsError } = this.call;
    if (!answered || !this.result.hidden) return;
    const element = make("div");
    this.result.append(make("h5", "", resultIsError ? "Error result" : "Result"), element);
    this.result.classList.toggle("bad", resultIsError);
    this.result.hidden = false;
    const view = this._makeTree(element, "Result", false);
    view.tree.set(resultValue(result));
    view.paint(Infinity);
  }
}

/**
 * The value of a result; the text of an object or array is parsed.
 * @param {any} result
 */
function resultValue(result) {
  if (typeof result !== "string" || !/^\s*[[{]/.test(result)) return result;
  try {
    return parse(result);
  } catch {
    return result;
  }
}

/** The renderer of tool calls: see renderers.js. */
export class Cards {
  calls = new Calls({ numbers: "exact" });
  /** @type {Map<ToolCall, Card>} */
  _cards = new Map();
  /** @type {Set<ToolCall>} */
  _changed = new Set();
  /** Calls whose error was reported. @type {Set<ToolCall>} */
  _failed = new Set();

  /**
   * @param {HTMLElement} element
   * @param {{onSelect: OnSelect, onError: OnError}} options
   */
  constructor(element, { onSelect, onError }) {
    this.element = element;
    this._onSelect = onSelect;
    this._onError = onError;
  }

  clear() {
    this.calls = new Calls({ numbers: "exact" });
    this._cards.clear();
    this._changed.clear();
    this._failed.clear();
    this.element.replaceChildren();
  }

  get isEmpty() {
    return this._cards.size === 0 && this._changed.size === 0;
  }

  /** @param {string} data */
  add(data) {
    const event = parse(data);
    const error = errorOf(event);
    if (error !== null) return this._onError(error);
    for (const { call } of this.calls.read(translate(event))) {
      this._changed.add(call);
      if (call.error === null || this._failed.has(call)) continue;
      this._failed.add(call);
      const { code, message } = call.error;
      this._onError({ code, message, offset: null, path: [], isPlaced: true });
    }
  }

  end() {
    for (const { call } of this.calls.end([])) this._changed.add(call);
  }

  /** @param {number} until */
  paint(until) {
    for (const call of this._changed) {
      let card = this._cards.get(call);
      if (card === undefined) {
        card = new Card(call, this._onSelect);
        this._cards.set(call, card);
        this.element.append(card.element);
      }
      if (!card.paint(until)) this._changed.delete(call);
      if (performance.now() > until) break;
    }
    return this._changed.size > 0;
  }
}

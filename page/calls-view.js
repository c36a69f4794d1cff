/** The view "Calls": tool calls as cards, with the text and the reasoning beside them. */

import { AutoScroll } from "./autoscroll.js";
import { byId, make, makeCursor, within } from "./dom.js";
import { escapeText, formatDuration, shorten, skipCharacters } from "./escaping.js";
import { describe } from "./errors.js";
import { TimedCall } from "./timed-calls.js";
import { Tree } from "./tree.js";
import { Selection } from "./tree-pane.js";
import { TreeView } from "./tree-view.js";
import { registerView } from "./views.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./timed-calls.js").TimedText} TimedText */
/** @typedef {import("./timed-calls.js").Entry} Entry */
/** @typedef {(view: TreeView, node: import("./tree-node.js").TreeNode | null) => void} OnSelect */

// With more parts than this, those that are complete are folded.
const FEW = 8;

/** A text or a thought of the model. */
class TextCard {
  /** @param {TimedText} part */
  constructor(part) {
    this.part = part;
    this.body = make("div", "text");
    const title = part.kind === "text" ? "Text" : "Reasoning";
    this.element = make("article", `card said ${part.kind}`, make("header", "", make("h3", "", title)), this.body);
    this.element.setAttribute("aria-label", title);
    this._drawn = "";
  }

  /** @param {number} position */
  draw(position) {
    const text = this.part.growth.at(position);
    this.element.classList.toggle("growing-text", this.part.ended > position);
    if (text === this._drawn) return false;
    this._drawn = text;
    this.body.textContent = escapeText(text);
    return false;
  }
}

/** The text of arguments, with the character marked at which they cannot be read. */
class ArgumentText {
  element = make("div", "text");
  _before = document.createTextNode("");
  _mark = make("mark", "error");
  _after = document.createTextNode("");
  _cursor = makeCursor();
  /** What is drawn without a mark. @type {string | null} */
  _drawn = "";

  constructor() {
    this.element.append(this._before, this._mark, this._after, this._cursor);
  }

  /**
   * @param {string} text
   * @param {import("./outline.js").Fault | null} fault
   * @param {boolean} grows
   */
  draw(text, fault, grows) {
    this._cursor.hidden = !grows || text === "";
    const at = fault?.offset ?? -1;
    this._mark.hidden = at < 0;
    if (at < 0 && this._drawn !== null && text.startsWith(this._drawn)) {
      this._before.appendData(escapeText(text.slice(this._drawn.length)));
    } else {
      const end = at < 0 ? text.length : skipCharacters(text, 1, at);
      this._before.data = escapeText(text.slice(0, at < 0 ? end : at));
      this._mark.textContent = escapeText(text.slice(at, end)) || "end of text";
      this._mark.title = escapeText(fault?.message ?? "");
      this._after.data = escapeText(text.slice(end));
    }
    this._drawn = at < 0 ? text : null;
  }
}

class CallCard {
  /** @type {TreeView | null} */
  view = null;
  raw = new ArgumentText();
  /** What the user chose; null: it is open until it is complete. @type {boolean | null} */
  chosen = null;
  _status = "";
  /** True if the raw text was opened because there was nothing else. */
  _opened = false;
  /** @type {HTMLElement | null} */
  problem = null;
  /** @type {HTMLDetailsElement | null} */
  details = null;
  /** @type {HTMLElement | null} */
  result = null;
  /** @type {import("./growth.js").Growth | null} */
  _growth = null;

  /**
   * @param {TimedCall} call
   * @param {Recording} recording
   * @param {OnSelect} onSelect
   * @param {() => void} redraw
   */
  constructor(call, recording, onSelect, redraw) {
    this.call = call;
    this.recording = recording;
    this._onSelect = onSelect;
    this.name = make("h3");
    this.badge = make("span", "badge");
    this.time = make("span", "time muted");
    this.id = make("span", "id");
    this.preview = make("span", "preview");
    this.toggle = make("button", "fold");
    this.toggle.type = "button";
    this.header = make("header", "", this.toggle, this.name, this.id, this.preview, this.time, this.badge);
    this.element = make("article", "card call", this.header);
    this.body = make("div", "card-body");
    this.toggle.addEventListener("click", () => {
      this.chosen = !this.isOpen;
      redraw();
    });
  }

  get isOpen() {
    return !this.body.hidden && this.body.isConnected;
  }

  /**
   * @param {number} position
   * @param {number} until
   * @param {boolean} folds whether it is folded when it is complete
   */
  draw(position, until, folds) {
    const entry = this.call.at(position);
    if (entry === null) return false;
    const isOpen = this.chosen ?? !(folds && entry.status === "complete");
    this._drawHeader(entry, position, isOpen);
    if (!isOpen) {
      if (this.body.isConnected) this.body.remove();
      return false;
    }
    if (!this.body.isConnected) this.element.append(this.body);
    return this._drawBody(entry, position, until);
  }

  /**
   * @param {Entry} entry
   * @param {number} position
   * @param {boolean} isOpen
   */
  _drawHeader({ name, status }, position, isOpen) {
    const { call, recording } = this;
    const shown = shorten(name ?? "…");
    setText(this.name, escapeText(shown));
    setText(this.id, escapeText(shorten(call.id)));
    setText(this.badge, status);
    const end = Math.min(call.ended, position);
    const took = recording.timeOf(end) - recording.timeOf(call.begun);
    setText(this.time, recording.timed ? formatDuration(took) : "");
    const preview = isOpen ? "" : shorten(call.raw.at(position), 90);
    setText(this.preview, escapeText(preview));
    if (status !== this._status) {
      this._status = status;
      this.badge.className = `badge ${status}`;
      this.element.dataset.status = status;
    }
    this.element.setAttribute("aria-label", `Tool call ${shorten(name ?? "")}, ${status}`);
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    this.toggle.setAttribute("aria-label", `Show or hide the arguments of ${shown}`);
  }

  /**
   * @param {Entry} entry
   * @param {number} position
   * @param {number} until
   */
  _drawBody(entry, position, until) {
    if (this._growth !== this.call.raw) this._makeBody();
    const { call } = this;
    const { outline } = call;
    let left = false;
    let hasTree = false;
    if (outline !== null && this.view !== null) {
      outline.moveTo(position);
      left = this.view.paint(until);
      hasTree = outline.root?.exists === true;
    }
    within(this.body, ".arguments").hidden = !hasTree;
    this._drawRaw(entry, position, hasTree);
    this._drawResult(entry);
    return left;
  }

  _makeBody() {
    const { call } = this;
    this._growth = call.raw;
    const tree = make("div", "arguments");
    this.problem = make("p", "problem");
    this.problem.hidden = true;
    this.details = make("details", "", make("summary", "", "raw text"), this.raw.element);
    this.result = make("div", "result");
    this.result.hidden = true;
    this.body.replaceChildren(this.problem, tree, this.details, this.result);
    if (call.outline !== null) {
      call.outline.restart();
      this.view = this._makeTree(tree, call.outline, "Arguments", true);
    }
  }

  /**
   * @param {HTMLElement} element
   * @param {Tree} tree
   * @param {string} label
   * @param {boolean} flashes
   */
  _makeTree(element, tree, label, flashes) {
    /** @type {TreeView} */
    const view = new TreeView(element, tree, {
      label,
      follows: false,
      flashes,
      onSelect: (node) => this._onSelect(view, node),
    });
    return view;
  }

  /**
   * @param {Entry} entry
   * @param {number} position
   * @param {boolean} hasTree
   */
  _drawRaw({ status }, position, hasTree) {
    const { call } = this;
    const details = /** @type {HTMLDetailsElement} */ (this.details);
    const problem = /** @type {HTMLElement} */ (this.problem);
    const text = call.raw.at(position);
    const fault = call.error !== null && call.error.piece <= position ? call.error : null;
    // A call whose arguments are not structured yet shows the text that it has.
    details.hidden = text === "";
    if (text !== "" && !hasTree) details.open = true;
    else if (this._opened && hasTree && fault === null) details.open = false;
    this._opened = text !== "" && !hasTree;
    if (fault !== null && problem.hidden) {
      problem.textContent = escapeText(describe(fault));
      details.open = true;
    }
    problem.hidden = fault === null;
    this.raw.draw(text, fault, status === "streaming");
  }

  /** @param {Entry} entry */
  _drawResult({ answered }) {
    const element = /** @type {HTMLElement} */ (this.result);
    if (answered === !element.hidden) return;
    element.hidden = !answered;
    if (!answered || element.childElementCount) return;
    const { result, resultIsError } = this.call;
    const content = make("div");
    element.append(make("h4", "", resultIsError ? "Error result" : "Result"), content);
    element.classList.toggle("bad", resultIsError);
    const tree = new Tree();
    tree.set(resultValue(result));
    this._makeTree(content, tree, "Result", false).paint(Infinity);
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} text
 */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * The value of a result; the text of an object or array is parsed.
 * @param {any} result
 */
function resultValue(result) {
  if (typeof result !== "string" || !/^\s*[[{]/.test(result)) return result;
  try {
    return JSON.parse(result);
  } catch {
    return result;
  }
}

class CallsView {
  /** @type {Recording | null} */
  _recording = null;
  /** @type {Map<TimedCall | TimedText, CallCard | TextCard>} */
  _cards = new Map();
  /** Cards that have to be drawn. @type {Set<TimedCall | TimedText>} */
  _waiting = new Set();
  /** How many cards are in the page: those of the first parts. */
  _shown = 0;
  _position = 0;
  _folds = false;

  /**
   * @param {HTMLElement} panel
   * @param {import("./views.js").Stage} stage
   */
  constructor(panel, stage) {
    this.stage = stage;
    const copy = byId("tree-template", HTMLTemplateElement).content.cloneNode(true);
    panel.append(copy);
    within(panel, ".pane-head").remove();
    this.panel = panel;
    this.body = within(panel, ".body");
    this.follow = within(panel, ".follow", HTMLButtonElement);
    this.selection = new Selection(panel, stage.announce);
    this.autoScroll = this._newScroll();
    this.follow.addEventListener("click", () => {
      this.autoScroll.start();
      this.autoScroll.toEnd();
    });
  }

  _newScroll() {
    return new AutoScroll(this.body, true, (on) => (this.follow.hidden = on || !!this._recording?.ended));
  }

  /** @param {Recording} recording */
  suits(recording) {
    return recording.input === "events";
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    const body = make("div", "scroller body cards");
    this.body.replaceWith(body);
    this.body = body;
    this.autoScroll = this._newScroll();
    this.follow.hidden = true;
    this.selection.selected = null;
    within(this.panel, ".selection").hidden = true;
    this._recording = recording;
    this._cards.clear();
    this._waiting.clear();
    this._shown = this._position = 0;
    this._folds = false;
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    const answer = this._recording?.answer;
    if (!answer || !this._recording) return false;
    const [from, to] = answer.journal.between(this._position, position);
    for (let at = from; at < to; at += 1) this._waiting.add(answer.journal.items[at]);
    this._position = position;
    this._removeLater(answer.parts, position);
    const isEnd = this._recording.ended && position >= this._recording.length;
    this._fold(answer.parts, position);
    const left = this._addCards(answer.parts, position, until) || this._drawCards(position, until);
    const isEmpty = isEnd && answer.parts.length === 0;
    if (isEmpty && this.body.childElementCount === 0) {
      const text =
        this._recording.provider || this._recording.errors.length > 0
          ? "There is neither text nor a tool call in these events."
          : "The provider of these events was not recognised. The raw text shows them as they came.";
      this.body.append(make("p", "blank", text));
    }
    if (!isEnd) this.autoScroll.toEnd();
    return left;
  }

  /**
   * @param {(TimedCall | TimedText)[]} parts
   * @param {number} position
   */
  _removeLater(parts, position) {
    while (this._shown > 0 && parts[this._shown - 1].begun > position) {
      this._shown -= 1;
      const part = parts[this._shown];
      this._cards.get(part)?.element.remove();
      this._cards.delete(part);
      this._waiting.delete(part);
    }
  }

  /**
   * @param {(TimedCall | TimedText)[]} parts
   * @param {number} position
   */
  _fold(parts, position) {
    const folds = parts.length > FEW && parts[FEW].begun <= position;
    if (folds === this._folds) return;
    this._folds = folds;
    for (let at = 0; at < this._shown; at += 1) this._waiting.add(parts[at]);
  }

  /**
   * @param {(TimedCall | TimedText)[]} parts
   * @param {number} position
   * @param {number} until
   */
  _addCards(parts, position, until) {
    const added = document.createDocumentFragment();
    let left = false;
    for (; this._shown < parts.length && parts[this._shown].begun <= position; this._shown += 1) {
      if ((this._shown & 7) === 7 && performance.now() > until) {
        left = true;
        break;
      }
      const part = parts[this._shown];
      const card = this._makeCard(part);
      this._cards.set(part, card);
      added.append(card.element);
      card.draw(position, until, this._folds);
      this._waiting.delete(part);
    }
    this.body.append(added);
    return left;
  }

  /** @param {TimedCall | TimedText} part */
  _makeCard(part) {
    if (!(part instanceof TimedCall)) return new TextCard(part);
    const redraw = () => {
      this._waiting.add(part);
      this.stage.redraw();
    };
    const recording = /** @type {Recording} */ (this._recording);
    return new CallCard(part, recording, (view, node) => this.selection.select(view, node), redraw);
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  _drawCards(position, until) {
    for (const part of this._waiting) {
      const card = this._cards.get(part);
      if (!card?.draw(position, until, this._folds)) this._waiting.delete(part);
      if (performance.now() > until) break;
    }
    return this._waiting.size > 0;
  }
}

registerView({
  id: "calls",
  label: "Calls",
  order: 30,
  mount: (panel, stage) => new CallsView(panel, stage),
});

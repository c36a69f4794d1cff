/** The parts of an answer as cards: texts, reasoning, and calls with their arguments and results. */

import { button, copyText, followEnd, make, reveal, showRows } from "./dom.js";
import { escapeText, shorten } from "./format.js";
import { colour } from "./text-pane.js";
import { TreeView } from "./tree-view.js";

/** @typedef {import("./answer.js").Track} Track */
/** @typedef {import("./marks.js").Mark} Mark */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{key: number, signature: string, track: Track}} Card */

const LABELS = { streaming: "streaming", complete: "complete", error: "not JSON", truncated: "cut off" };
const MAX_CARDS = 80;
const MAX_TEXT = 20_000;

export class CallsPane {
  /** The trees of the arguments. @type {Map<Track, TreeView>} */
  #trees = new Map();
  /** @type {Recording | null} */
  #recording = null;
  #position = 0;
  /** @type {Mark | null} */
  #mark = null;

  /** @param {HTMLElement} panel */
  constructor(panel) {
    this.#panel = panel;
  }

  #panel;

  reset() {
    this.#trees.clear();
    this.#panel.replaceChildren();
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   * @param {Mark | null} mark
   */
  show(recording, position, mark) {
    [this.#recording, this.#position, this.#mark] = [recording, position, mark];
    const tracks = (recording.answer?.tracks ?? []).filter((track) => track.at(position) !== null);
    const cards = tracks.slice(-MAX_CARDS).map((track) => this.#card(track));
    followEnd(this.#panel, () => showRows(this.#panel, cards, (card, element) => this.#fill(card, element), "article"));
  }

  revealMark() {
    reveal(this.#panel.querySelector(".card.bad"), this.#panel);
  }

  /**
   * @param {Track} track
   * @returns {Card}
   */
  #card(track) {
    const state = track.at(this.#position);
    const hasResult = track.result !== null && track.result.at <= this.#position;
    const signature = `${state?.length} ${state?.status} ${hasResult} ${this.#markOf(track)?.offset} ${track.name}`;
    return { key: this.#recording?.answer?.tracks.indexOf(track) ?? 0, signature, track };
  }

  /** @param {Track} track */
  #markOf(track) {
    return this.#mark?.track === track && this.#mark.position <= this.#position ? this.#mark : null;
  }

  /**
   * @param {Card} card
   * @param {HTMLElement} element
   */
  #fill({ track }, element) {
    const state = track.at(this.#position);
    if (state === null) return;
    element.className = `card of-${track.kind}${this.#markOf(track) ? " bad" : ""}`;
    if (track.kind === "call") return this.#fillCall(track, state, element);
    const text = track.text.slice(0, state.length);
    const title = track.kind === "text" ? "Text" : "Reasoning";
    element.replaceChildren(make("h2", "", title), make("p", "prose", escapeText(shorten(text, MAX_TEXT))));
  }

  /**
   * @param {Track} track
   * @param {import("./answer.js").State} state
   * @param {HTMLElement} element
   */
  #fillCall(track, state, element) {
    if (element.childElementCount === 0)
      element.append(make("header"), make("div", "arguments"), this.#raw(track), make("div", "result"));
    const [head, args, raw, result] = /** @type {HTMLElement[]} */ ([...element.children]);
    const tone = { streaming: "busy", complete: "good", error: "bad", truncated: "bad" }[state.status];
    head.replaceChildren(
      make("h2", "", escapeText(track.name || "…")),
      make("span", `badge ${tone}`, LABELS[state.status]),
      make("span", "muted", `events ${track.begins}–${state.at}`),
    );
    const text = track.text.slice(0, state.length);
    raw.querySelector("pre")?.replaceChildren(...this.#colourMarked(track, text));
    this.#fillArguments(track, state, args, raw);
    this.#fillResult(track, result);
  }

  /**
   * Show the arguments as a tree if they are an object or array, else only the raw text.
   * @param {Track} track
   * @param {import("./answer.js").State} state
   * @param {HTMLElement} place
   * @param {HTMLElement} raw
   */
  #fillArguments(track, state, place, raw) {
    const isStructured = track.outline.root?.isContainer === true;
    place.hidden = !isStructured;
    if (!isStructured) return raw.setAttribute("open", "");
    let tree = this.#trees.get(track);
    if (tree === undefined || !place.contains(tree.list)) {
      tree = new TreeView(make("div", "tree"), `Arguments of ${track.name}`, () => {});
      this.#trees.set(track, tree);
      place.replaceChildren(tree.list);
    }
    const mark = this.#markOf(track);
    tree.show({ outline: track.outline, offset: track.outline.momentAfter(state.length) }, mark);
    if (mark !== null) raw.setAttribute("open", "");
  }

  /** @param {Track} track */
  #raw(track) {
    const copy = button("Copy", () => void copyText(track.text, copy), "small");
    return make("details", "raw", make("summary", "", "Raw arguments"), make("pre", "text"), copy);
  }

  /**
   * @param {Track} track
   * @param {string} text
   */
  #colourMarked(track, text) {
    const mark = this.#markOf(track);
    if (mark === null) return colour(shorten(text, MAX_TEXT));
    const [before, after] = [text.slice(0, mark.offset), text.slice(mark.offset + 1)];
    const character = text.slice(mark.offset, mark.offset + 1);
    return [...colour(before), make("mark", "label", escapeText(character || "cut off")), escapeText(after)];
  }

  /**
   * @param {Track} track
   * @param {HTMLElement} place
   */
  #fillResult({ result }, place) {
    const isThere = result !== null && result.at <= this.#position;
    place.hidden = !isThere;
    if (!isThere || place.childElementCount > 0) return;
    const isText = typeof result.value === "string" && !/^\s*[[{]/.test(result.value);
    const text = shorten(typeof result.value === "string" ? result.value : (JSON.stringify(result.value) ?? ""), MAX_TEXT);
    place.append(
      make("span", `badge ${result.isError ? "bad" : "good"}`, result.isError ? "error" : "result"),
      make("pre", "text", ...(isText ? [escapeText(text)] : colour(text))),
    );
  }
}

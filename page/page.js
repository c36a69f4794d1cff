/**
 * The page: opens a stream (pasted, an example, or live from the server) and shows one moment of it.
 *
 *     recognise, recording, answer,     what was received, and its state at each moment; no DOM
 *     outline, value-node, diagnosis, marks
 *     server, source                    publishing and reading streams
 *     text-pane, tree-pane, tree-view,  the views of a moment
 *     calls-pane, chunks-pane, events-pane
 *     timeline, tabs, start             which moment and which view; the first view
 */

import { CallsPane } from "./calls-pane.js";
import { ChunksPane } from "./chunks-pane.js";
import { atMoment, diagnose } from "./diagnosis.js";
import { announce, byId } from "./dom.js";
import { EventsPane } from "./events-pane.js";
import { escapeText, formatCount, shorten } from "./format.js";
import { Source } from "./source.js";
import { Start } from "./start.js";
import { Tabs } from "./tabs.js";
import { TextPane } from "./text-pane.js";
import { TimeLine } from "./timeline.js";
import { TreePane } from "./tree-pane.js";

/** @typedef {import("./diagnosis.js").Diagnosis} Diagnosis */
/** @typedef {import("./marks.js").Mark} Mark */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./tabs.js").Tab} Tab */
/** @typedef {{how: "end" | "play" | "follow", tab?: Tab, format?: string}} Opening */

const RECEIVED = { text: "Text", many: "Text", events: "Text", snapshots: "Snapshots", wire: "Messages" };
const MAX_STOPS = 40;

class Page {
  /** @type {Recording | null} */
  #recording = null;
  /** @type {Diagnosis | null} */
  #diagnosis = null;
  #version = -1;
  /** The position that was drawn last. */
  #position = -1;
  #isWaiting = false;
  #source = new Source({
    onOpen: (recording, opening) => this.#open(recording, opening),
    onChange: () => this.redraw(),
    onChunk: (chunk) => this.#chunks.add(chunk),
  });
  #timeline = new TimeLine(() => this.redraw());
  #tabs = new Tabs(() => this.redraw());
  #text = new TextPane(byId("panel-text"), (offset) => this.#pick(offset));
  #tree = new TreePane((node) => this.#text.select(node));
  #calls = new CallsPane(byId("panel-calls"));
  #chunks = new ChunksPane(byId("panel-chunks"));
  #events = new EventsPane({
    render: this.#source.canRender ? (query) => this.#source.render(query) : null,
    onPick: (position) => this.#timeline.seek(position),
    onChange: () => this.redraw(),
  });
  #start = new Start(this.#source);

  constructor() {
    byId("show-mark").addEventListener("click", () => this.#showMark());
    byId("show-repaired").addEventListener("click", () => this.#source.showRepaired());
    addEventListener("keydown", (event) => this.#press(event));
    addEventListener("resize", () => this.redraw());
    void this.#start.arrive();
  }

  /**
   * @param {Recording} recording
   * @param {Opening} opening
   */
  #open(recording, { how, tab, format }) {
    this.#recording = recording;
    this.#diagnosis = null;
    document.body.dataset.view = "stage";
    document.title = `${escapeText(shorten(recording.title, 60))} – jsonrill`;
    byId("title").textContent = escapeText(shorten(recording.title, 80));
    this.#text.reset(how === "end");
    this.#tree.reset();
    this.#calls.reset();
    this.#chunks.reset();
    this.#events.reset(recording, format);
    const tabs = this.#tabsOf(recording);
    this.#tabs.choose(tab && tabs.includes(tab) ? tab : this.#bestTab(recording, tabs));
    this.#timeline.open(recording, how);
    this.#position = this.#timeline.position;
    this.#draw();
    if (how !== "end") return;
    byId("panel-calls").scrollTop = 0;
    this.#showMark();
  }

  /**
   * @param {Recording} recording
   * @returns {Tab[]}
   */
  #tabsOf(recording) {
    /** @type {Tab[]} */
    const tabs = ["text"];
    if (recording.hasDocument) tabs.push("tree");
    if (recording.answer) tabs.push("calls");
    if (recording.kind === "snapshots" && this.#source.canRender) tabs.push("chunks");
    return [...tabs, "events"];
  }

  /**
   * @param {Recording} recording
   * @param {Tab[]} tabs
   * @returns {Tab}
   */
  #bestTab({ answer, broken }, tabs) {
    if (tabs.includes("chunks") && broken === 0) return "chunks";
    return answer && (answer.calls.length > 0 || !tabs.includes("tree")) ? "calls" : "tree";
  }

  /** @param {Recording} recording */
  #receivedLabel({ kind, hasDocument }) {
    return hasDocument ? RECEIVED[kind] : "Received";
  }

  // ---- drawing ----

  redraw() {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => {
      this.#isWaiting = false;
      this.#draw();
    });
  }

  #draw() {
    const recording = this.#recording;
    if (recording === null) return;
    const diagnosis = this.#diagnose(recording);
    const isNew = diagnosis.tone !== "busy" && diagnosis.what !== this.#diagnosis?.what;
    if (isNew) announce(`${diagnosis.what.replace(/\.$/, "")}. ${diagnosis.todo}`);
    if (isNew && diagnosis.mark) this.#chooseTabOf(diagnosis.mark);
    this.#diagnosis = diagnosis;
    this.#timeline.draw(this.#stops(recording, diagnosis));
    const { position } = this.#timeline;
    // When the user goes to a moment, scroll to the newest value.
    const isMoved = position !== this.#position && !this.#timeline.isPlaying;
    this.#position = position;
    this.#showDiagnosis(atMoment(diagnosis, recording, position));
    this.#showFigures(recording, position);
    // On a phone the text is one of the tabs, and is not drawn behind another.
    if (byId("panel-text").checkVisibility()) this.#text.show(recording, position, diagnosis.mark, isMoved);
    this.#drawTab(recording, position, diagnosis, isMoved);
    if (isNew && diagnosis.mark && diagnosis.mark.position <= position) this.#revealMark();
  }

  /** @param {Recording} recording */
  #diagnose(recording) {
    if (this.#diagnosis !== null && this.#version === recording.version) return this.#diagnosis;
    this.#version = recording.version;
    return diagnose(recording);
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   * @param {Diagnosis} diagnosis
   * @param {boolean} isMoved
   */
  #drawTab(recording, position, { mark }, isMoved) {
    const isEnd = recording.isEnded && position === recording.length;
    const calls = recording.answer?.calls.length ? "Calls" : "Answer";
    this.#tabs.offer(this.#tabsOf(recording), { text: this.#receivedLabel(recording), calls });
    const isEmpty = this.#tabs.current === "calls" ? recording.answer?.tracks.length === 0 : recording.document?.root === null;
    byId("panes").classList.toggle("never", recording.isEnded && isEmpty);
    const isInTree = mark !== null && mark.track === null && (recording.kind === "snapshots" || mark.offset + mark.length > 0);
    const inTree = isInTree && mark.position <= position ? mark : null;
    if (this.#tabs.current === "tree") {
      const isStates = recording.kind === "snapshots" || recording.kind === "wire";
      const previous = isStates && position > 1 ? recording.at(position - 1) : null;
      this.#tree.show(recording.at(position), inTree, previous, isMoved);
    }
    if (this.#tabs.current === "calls") this.#calls.show(recording, position, mark);
    if (this.#tabs.current === "chunks") this.#chunks.show(position, isEnd);
    if (this.#tabs.current === "events") this.#events.show(recording, position);
  }

  /** @param {Diagnosis} diagnosis */
  #showDiagnosis({ tone, what, where, todo, mark }) {
    byId("diagnosis").dataset.tone = tone;
    byId("what").textContent = escapeText(what);
    byId("where").textContent = escapeText(where);
    byId("todo").textContent = escapeText(todo);
    byId("show-mark").hidden = mark === null;
    byId("show-repaired").hidden = this.#recording?.repaired === undefined;
  }

  /**
   * @param {Recording} recording
   * @param {number} position
   */
  #showFigures(recording, position) {
    const length = recording.document ? recording.lengthAt(position) : 0;
    byId("left-title").textContent = this.#receivedLabel(recording);
    byId("left-figures").textContent = length > 0 ? formatCount(length, "character") : "";
  }

  /**
   * List the marks of the time line: the problem first, then calls and the parts of the document.
   * @param {Recording} recording
   * @param {Diagnosis} diagnosis
   */
  #stops(recording, { mark, what }) {
    const stops = [];
    if (mark !== null) stops.push({ position: mark.position, label: what, tone: "bad" });
    for (const call of recording.answer?.calls.slice(0, MAX_STOPS) ?? []) {
      stops.push({ position: call.begins, label: `call ${call.name} begins`, tone: "busy" });
    }
    const root = recording.outline?.root;
    if (root && root.children.length <= MAX_STOPS) {
      for (const { start, end, key } of root.children) {
        if (end > start && end !== Infinity)
          stops.push({ position: recording.positionOf(end - 1), label: `${key} is complete`, tone: "good" });
      }
    }
    return stops;
  }

  // ---- navigation ----

  #showMark() {
    const mark = this.#diagnosis?.mark;
    const recording = this.#recording;
    if (!mark || recording === null) return;
    if (this.#timeline.position < mark.position) this.#timeline.seek(mark.position);
    this.#chooseTabOf(mark);
    this.#draw();
    this.#revealMark();
  }

  #revealMark() {
    this.#text.revealMark();
    this.#tree.revealMark();
    this.#calls.revealMark();
  }

  /** Choose the tab that shows the mark: the calls, or the text if that is a tab, as on a phone. @param {Mark} mark */
  #chooseTabOf({ track }) {
    const tab = track ? "calls" : byId("tab-text").checkVisibility() ? "text" : this.#tabs.current;
    if (tab !== this.#tabs.current) this.#tabs.choose(tab);
  }

  /** Select the value at a character of the text. @param {number} offset */
  #pick(offset) {
    const node = this.#text.document?.nodeAt(offset);
    if (!node || !this.#recording?.hasDocument) return;
    if (this.#tabs.current !== "tree") this.#tabs.choose("tree");
    this.#draw();
    this.#tree.select(node.path);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target.closest("input:not([type=range]), textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      n: () => this.#start.focus(),
      "/": () => this.#focusSearch(),
      k: () => this.#timeline.toggle(),
      ",": () => this.#timeline.step(-1),
      ".": () => this.#timeline.step(1),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  #focusSearch() {
    this.#tabs.choose("tree");
    byId("search").focus();
  }
}

new Page();

/**
 * The page: opens recordings, live or pasted, shows their moment in the views, and handles the controls.
 *
 *     api, subscription, live       the server: requests, events, a stream while it is written
 *     recording, outline,           all that is known of a stream, at each of its moments; no DOM
 *     timed-calls, growth, ending,
 *     errors, snapshots, prose
 *     paste, replay                 an example's text as a recording; tools/build does it for the user's
 *     player, scrubber, keys        which moment is shown
 *     views, tabs                   the views: document-view, calls-view, updates-view
 *     tree, tree-*                  a document as a tree, its lines, search, mouse and keyboard
 *     raw-pane, raw-text, lexer     what came, beside the views; event-log: each piece with its time
 *     tools/                        what is around a stream: pasted texts, copying, address
 *     dom, frames, escaping,        for all of them
 *     autoscroll, theme, early,
 *     drop, token, recent
 */

import "./document-view.js";
import "./calls-view.js";
import "./updates-view.js";

import { Api } from "./api.js";
import { button, byId, make, showFigures, showMessage } from "./dom.js";
import { listenToDrops } from "./drop.js";
import { endOf, invalidOf, placeOf } from "./ending.js";
import { describe } from "./errors.js";
import { escapeText, formatCount, formatNumber } from "./escaping.js";
import { frames } from "./frames.js";
import { listenToKeys } from "./keys.js";
import { Live } from "./live.js";
import { EventLog } from "./event-log.js";
import { recordingOf } from "./paste.js";
import { Player } from "./player.js";
import { RawPane } from "./raw-pane.js";
import { Recent } from "./recent.js";
import { pieces } from "./replay.js";
import { Scrubber } from "./scrubber.js";
import { Tabs } from "./tabs.js";
import { Theme } from "./theme.js";
import { askToken } from "./token.js";
import { Tools } from "./tools/mount.js";

/** @typedef {import("./api.js").Model} Model */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./views.js").Stage} Stage */
/** @typedef {import("./views.js").Start} Start */

/** The view for what a model of the server suits. @type {Record<string, string>} */
const VIEWS = { fragments: "tree", updates: "updates", calls: "calls" };

/** @implements {Stage} */
class Page {
  api = new Api(askToken);
  theme = new Theme(byId("theme"));
  /** @type {Recording | null} */
  recording = null;
  /** @type {Player | null} */
  player = null;
  /** The connection of a stream that is live. @type {Live | null} */
  live = null;
  /** The state of that connection. @type {import("./live.js").LiveState} */
  _connection = "closed";
  /** When it is tried again, while it waits, and why it was lost. */
  _retryAt = 0;
  _lost = "";
  /** What "Restart" does. @type {(() => void) | null} */
  _restart = null;
  /** Counts the starts, so that one overtaken by the next is noticed. */
  _starts = 0;
  /** How many errors users of screen readers were told. */
  _told = 0;
  _position = -1;
  _paint = (/** @type {number} */ until) => this._draw(until);

  constructor() {
    this.raw = new RawPane({
      onHover: (offset) => this._hoverText(offset),
      onPick: (offset) => this._pickText(offset),
      onChange: () => this.redraw(),
    });
    this.scrubber = new Scrubber({ onSeek: (piece) => this._seek(piece) });
    this.log = new EventLog({ onPick: (piece) => this.player?.seek(piece) });
    this.tabs = new Tabs(this);
    this.recent = new Recent((state) => void this.openStream(state, true));
    this.tools = new Tools(this);
    this._listenToButtons();
    this._listenToForms();
    this._listenToShortcuts();
    listenToDrops(byId("drop"), {
      onFile: (file) => void this._replayFile(file),
      onText: (text) => this.replayText(text, "Dropped text"),
    });
    addEventListener("paste", (event) => this._paste(event));
    this._showSliders();
    this._arrive();
  }

  // ---- arriving ----

  get _data() {
    return document.documentElement.dataset;
  }

  _arrive() {
    const { demo, server, version } = this._data;
    byId("version").textContent = version ?? "";
    byId("api-link").hidden = server === "off";
    byId("open-box").hidden = server === "off";
    this._models = this._listModels();
    if (demo !== "on" && server !== "off") byId("paste-box", HTMLDetailsElement).open = true;
    void this.tools.start();
  }

  /** All examples, once they are listed. @type {Promise<Model[]>} */
  _models = Promise.resolve([]);

  async _listModels() {
    byId("models").hidden = false;
    const isDemo = this._data.demo === "on";
    let models;
    try {
      models = isDemo ? await this.api.models() : await this.api.examples();
    } catch (error) {
      this.showProblem(`The examples cannot be listed: ${this.api.reasonOf(error)}`);
      this._offerAgain(error, () => (this._models = this._listModels()));
      return [];
    }
    this.showProblem("");
    byId("model-list").replaceChildren(...models.map((model) => this._modelItem(model)));
    const wantsMotion = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    const isTold = location.hash.length > 1 || history.state !== null;
    const plays = isDemo || this._data.server === "off";
    if (!wantsMotion || !plays || this._starts > 0 || isTold || models.length === 0) return models;
    byId("lead-text").textContent = "JSON as a model writes it: the text on the left, the value it already is on the right.";
    void this._openModel(models[0], true);
    return models;
  }

  /** @param {Model} model */
  _modelItem(model) {
    const item = button("", () => void this._openModel(model));
    item.append(make("span", "name", model.title), make("span", "about", model.about));
    item.setAttribute("aria-pressed", "false");
    item.dataset.model = model.name;
    return make("li", "", item);
  }

  // ---- opening ----

  /**
   * @param {Model & {text?: string}} model
   * @param {boolean} [isFirst] true if the page opens it by itself
   */
  async _openModel(model, isFirst = false) {
    this._pressModel(model.name);
    if (!isFirst) byId("lead").hidden = true;
    const restart = () => void this._openModel(model);
    if (isFirst) this.tools.isFirst();
    // A violation is marked at its value in the tree.
    const suits = model.options?.schema ? "tree" : (VIEWS[model.suits] ?? "");
    if (model.text !== undefined) {
      this.tools.next = { model: model.name };
      const { input, options = {}, title, text } = model;
      const sources = input === "text" ? pieces(text, this.pieceSize) : text.split("\n").filter(Boolean);
      const about = { input, many: options.many ?? false, title, entity: options.entity };
      this.open(recordingOf(sources, { ...about, interval: 1000 / model.pace }), { plays: true, suits, restart });
    } else {
      await this._openLive(model.title, restart, suits, async () => {
        const handle = await this.api.generate(model.name, this.pace, this.pieceSize);
        const origin = { model: model.name, stream: handle.id, title: model.title };
        return { handle, stream: { input: model.input, many: false, options: model.options }, origin };
      });
    }
  }

  /**
   * Opens a stream of this server.
   * @param {import("./tools/state.js").PageState} state
   * @param {boolean} [known] whether it was there before
   */
  openStream(state, known = false) {
    const { stream: id = "", model = "" } = state;
    const title = state.title ?? `Stream ${id}`;
    this._pressModel(model);
    byId("lead").hidden = true;
    const again = model ? () => void this.openModel(model) : () => void this.openStream(state, true);
    return this._openLive(title, again, "", async () => {
      const stream = await this.api.status(id, known);
      const base = `v1/streams/${encodeURIComponent(id)}`;
      const urls = { stream: base, events: `${base}/events`, cancel: `${base}/cancel` };
      return { handle: { id, urls }, stream, origin: state };
    });
  }

  /**
   * @param {string} title
   * @param {() => void} restart
   * @param {string} suits
   * @param {() => Promise<{handle: import("./api.js").Handle, stream: import("./live.js").Stream,
   *   origin: import("./tools/state.js").PageState}>} begin
   */
  async _openLive(title, restart, suits, begin) {
    const number = (this._starts += 1);
    this._close();
    this._restart = restart;
    this._showStrip(title);
    this._say("connecting", "Connecting …");
    let begun;
    try {
      begun = await begin();
    } catch (error) {
      if (number !== this._starts) return;
      this.fail(this.api.reasonOf(error));
      this._offerAgain(error, restart);
      return;
    }
    if (number !== this._starts) return;
    const { handle, stream, origin } = begun;
    this.tools.next = origin;
    this.recent.add(origin);
    const live = new Live(this.api, handle, stream, title, (state, detail) => {
      if (this.live !== live) return;
      this._connection = state;
      this._lost = detail.reason ?? "";
      this._retryAt = performance.now() + (detail.delay ?? 0);
      if (state === "waiting") this._countDown(live);
      if (state === "failed") this._offerAgain(detail.error, restart);
      this._showState();
      this.redraw();
    });
    this._show(live.recording, suits || (stream.input === "events" ? "calls" : "tree"));
    this.live = live;
    this._connection = "connecting";
    this.player?.follow();
    live.open();
    this._showState();
    if (stream.input === "events" && suits === "") this._suggestTree(live.recording);
  }

  /**
   * Says how long it is until the next try.
   * @param {Live} live
   */
  _countDown(live) {
    if (this.live !== live || this._connection !== "waiting") return;
    this._showState();
    setTimeout(() => this._countDown(live), 500);
  }

  /**
   * Offers to try again what failed because the server was away or wants a token.
   * @param {unknown} error
   * @param {() => void} again
   */
  _offerAgain(error, again) {
    const isToken = /** @type {any} */ (error)?.status === 401;
    if (!isToken && !(error instanceof TypeError)) return;
    const item = byId("again");
    item.textContent = isToken ? "Enter a token" : "Try again";
    item.hidden = false;
    item.onclick = () => {
      item.hidden = true;
      if (isToken) this.api.forgetToken();
      again();
    };
  }

  /**
   * Whether the answer is a document shows with its first text.
   * @param {Recording} recording
   */
  _suggestTree(recording) {
    const unlisten = recording.listen(() => {
      if (!recording.hasDocument) return;
      unlisten();
      if (this.recording === recording) this.tabs.suggest("tree");
    });
  }

  /**
   * Shows a recording that is complete.
   * @param {Recording} recording
   * @param {Start} [how]
   */
  open(recording, { plays = false, suits = "", restart = null } = {}) {
    this._starts += 1;
    this._close();
    this._restart = restart;
    this._showStrip(recording.title);
    this._show(recording, suits || "tree");
    if (this.player) this.player.speed = this.pace;
    if (plays) this.player?.play();
    else this.player?.seek(recording.length);
  }

  /** Shows a moment that was chosen, also on a screen that is too small for everything. @param {number} piece */
  _seek(piece) {
    this.player?.seek(piece);
    byId("panes").scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {Recording} recording
   * @param {string} suits
   */
  _show(recording, suits) {
    this.recording = recording;
    this.player = new Player(recording, () => this._moved());
    this.player.speed = this.pace;
    recording.listen(() => this.redraw());
    this._position = -1;
    this._told = 0;
    byId("panes").hidden = false;
    byId("player").hidden = false;
    // On a small screen the bar and what grows are to be in sight.
    const isSmall = matchMedia("(max-width: 899px)").matches;
    if (isSmall && byId("lead").hidden) byId("strip").scrollIntoView({ block: "start" });
    this.raw.begin(recording);
    this.log.begin(recording);
    this.scrubber.clear();
    this.tabs.begin(recording, suits);
    this._showState();
    this.tools.opened();
    this.redraw();
  }

  /**
   * Opens an example by its name.
   * @param {string} name
   */
  async openModel(name) {
    const model = (await this._models).find((one) => one.name === name);
    if (model === undefined) return this.showProblem(`There is no example “${name}” here.`);
    return this._openModel(model);
  }

  /** Shows the page as it is on arrival. */
  leave() {
    this._starts += 1;
    this._close();
    this._pressModel("");
    this.raw.begin(null);
    this.log.begin(null);
    this.tabs.begin(null, "");
    for (const id of ["panes", "player", "strip"]) byId(id).hidden = true;
    byId("lead").hidden = false;
    document.title = "jsonrill";
  }

  _close() {
    this.live?.close();
    this.player?.close();
    this.live = this.player = this.recording = null;
    byId("pane-figures").hidden = true;
    this.showProblem("");
    byId("again").hidden = true;
    byId("findings").replaceChildren();
    byId("findings").hidden = true;
    byId("restart").classList.remove("main");
  }

  /** @param {string} title */
  _showStrip(title) {
    byId("strip").hidden = false;
    byId("title").textContent = escapeText(title);
  }

  /**
   * Shows that there is nothing, because a stream could not be opened.
   * @param {string} reason
   */
  fail(reason) {
    this._close();
    this.raw.begin(null);
    this.log.begin(null);
    this.tabs.begin(null, "");
    byId("panes").hidden = byId("player").hidden = true;
    this._restart = null;
    this._say("failed", `Failed: ${reason}`);
    this._showButtons("failed");
  }

  /**
   * Replays a text that the user gave.
   * @param {string} text
   * @param {string} title
   */
  replayText(text, title) {
    const format = /** @type {any} */ (byId("paste-format", HTMLSelectElement).value);
    byId("lead").hidden = true;
    this._pressModel("");
    this.tools.read(text, title, format);
  }

  /** @param {File} file */
  async _replayFile(file) {
    let text;
    try {
      text = await file.text();
    } catch (error) {
      // A folder, for instance, or a file that was deleted.
      return this.showProblem(`${file.name} cannot be read: ${messageOf(error)}`);
    }
    byId("paste-box", HTMLDetailsElement).open = true;
    if (text.length < 200_000) byId("paste", HTMLTextAreaElement).value = text;
    return this.replayText(text, file.name);
  }

  /** @param {ClipboardEvent} event */
  _paste(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest?.("input, textarea") || document.querySelector("dialog[open]")) return;
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    event.preventDefault();
    if (file) void this._replayFile(file);
    else if (text) {
      byId("paste-box", HTMLDetailsElement).open = true;
      if (text.length < 200_000) byId("paste", HTMLTextAreaElement).value = text;
      this.replayText(text, "Pasted text");
    }
  }

  /** @param {string} name */
  _pressModel(name) {
    for (const item of byId("model-list").querySelectorAll("button")) {
      item.setAttribute("aria-pressed", String(item.dataset.model === name));
    }
  }

  // ---- drawing ----

  redraw() {
    frames.request(this._paint);
  }

  /** @param {number} until */
  _draw(until) {
    const { recording, player } = this;
    if (recording === null || player === null) return false;
    const { position } = player;
    // The raw text and the view share the time.
    const now = performance.now();
    let left = this.raw.draw(position, now + (until - now) / 2);
    left = this.tabs.draw(position, until) || left;
    this.tools.draw();
    this.scrubber.draw(recording, position, player.playing || player.following);
    this.log.show(position);
    this._showFigures();
    this._showState();
    if (!left) this._position = position;
    return left;
  }

  _moved() {
    this.redraw();
    this._showState();
  }

  _showFigures() {
    const { recording, live } = this;
    if (recording === null) return;
    /** @type {[string, string][]} */
    const figures = [["events", formatNumber(recording.length)]];
    if (live !== null) {
      const { lastId, ...counts } = live.counters;
      figures.push(["last id", lastId || "–"]);
      for (const [name, count] of Object.entries(counts)) if (count > 0) figures.push([name, formatNumber(count)]);
    }
    byId("pane-figures").hidden = false;
    showFigures(byId("pane-figures"), figures);
  }

  // ---- state ----

  _showState() {
    const { recording, player } = this;
    if (recording === null || player === null) return;
    const [state, text] = this._stateOf(recording, player);
    this._say(state, text);
    this._showButtons(state);
    const { errors } = recording;
    const shown = errors.filter((one) => one.piece <= player.position);
    if (shown.length > this._told) {
      this.announce(describe(shown[this._told]));
    }
    this._told = Math.max(this._told, shown.length);
  }

  /**
   * @param {Recording} recording
   * @param {Player} player
   * @returns {[string, string]} the state of the dot, and its text
   */
  _stateOf(recording, player) {
    const isLive = this.live !== null && !recording.ended;
    if (player.playing) return ["open", "Playing"];
    if (!player.following && !(recording.ended && player.atEnd)) {
      const more = isLive ? "; the stream goes on" : "";
      return ["off", `Paused at piece ${formatNumber(player.position)}${more}`];
    }
    if (recording.ended) {
      const { state, text } = endOf(recording);
      return [state, text];
    }
    switch (this._connection) {
      case "open": {
        const fault = invalidOf(recording);
        return fault === null ? ["open", "Streaming"] : ["failed", `${placeOf(fault)}; the stream goes on`];
      }
      case "waiting":
        return ["waiting", `Connection lost (${this._lost}), next try ${inSeconds(this._retryAt - performance.now())}`];
      case "off":
        return ["off", `Disconnected after event ${recording.length}. The stream continues on the server.`];
      default:
        return ["connecting", "Connecting …"];
    }
  }

  /**
   * @param {string} state
   * @param {string} text
   */
  _say(state, text) {
    const shown = escapeText(text);
    const { dataset } = byId("dot");
    // Of a countdown only the beginning is told.
    const isTold = text.startsWith("Paused") || (state === "waiting" && dataset.state === state);
    dataset.state = state;
    if (byId("state").textContent === shown) return;
    byId("state").textContent = shown;
    if (!isTold) this.announce(`${byId("title").textContent}: ${shown}`);
  }

  /** @param {string} state */
  _showButtons(state) {
    const isLive = this.live !== null && this.recording?.ended === false;
    const isOff = this.live?.isDisconnected ?? false;
    const isWaiting = isLive && this._connection === "waiting";
    const shown = { retry: isWaiting, disconnect: isLive && !isOff, resume: isLive && isOff, stop: isLive };
    for (const [id, on] of Object.entries(shown)) {
      byId(id).hidden = !on;
      byId(id, HTMLButtonElement).disabled = !on;
    }
    byId("restart").hidden = this._restart === null;
    byId("restart", HTMLButtonElement).disabled = this._restart === null;
    const isMoving = state === "open" || (this.player?.following && isLive);
    byId("play").textContent = isMoving ? "Pause" : "Play";
    const speed = byId("speed", HTMLInputElement);
    const isOwn = isLive && this.player?.playing !== true && this.player?.following === true;
    if (speed.disabled !== isOwn) this._showSpeed(isOwn);
    byId("piece-box").hidden = this.recording?.input !== "text";
  }

  /** @param {string} text `""` for none */
  showProblem(text) {
    showMessage(byId("problem"), escapeText(text));
    if (text) this.announce(text);
  }

  /** @param {string} text */
  announce = (text) => {
    byId("live").textContent = escapeText(text);
  };

  // ---- what views ask for ----

  /** @param {string} view */
  showView(view) {
    this.tabs.show(view);
  }

  /**
   * @param {"hovered" | "selected"} kind
   * @param {[number, number] | null} range
   * @param {boolean} reveals
   */
  link = (kind, range, reveals) => {
    this.raw.link(kind, range, reveals);
    if (kind === "selected") this.tools.moved();
  };

  /**
   * @param {Record<string, string>} query
   * @param {import("./live.js").Listener} listener
   */
  subscribe(query, listener) {
    if (this.live === null) throw new Error("only a live stream has other formats");
    return this.live.subscribe(query, listener);
  }

  // ---- what tools ask for ----

  get currentView() {
    return this.tabs.current;
  }

  get selectedPath() {
    return this._tree?.pane.selection.selected?.node.path ?? null;
  }

  /** @param {number} offset */
  revealText(offset) {
    this.raw.text?.reveal(offset);
  }

  /** @param {import("../js/src/paths.js").Path} path */
  selectPath(path) {
    this.tabs.show("tree");
    this._tree?.selectPath(path);
  }

  get _tree() {
    return /** @type {import("./document-view.js").DocumentView | undefined} */ (this.tabs.view("tree"));
  }

  /** @param {number | null} offset */
  _hoverText(offset) {
    if (this.tabs.current !== "tree") return;
    this.raw.link("hovered", this._tree?.hoverAt(offset) ?? null, false);
  }

  /** @param {number} offset */
  _pickText(offset) {
    if (this.tabs.current === "tree") this._tree?.selectAt(offset);
  }

  // ---- controls ----

  get pace() {
    return 2 ** byId("speed", HTMLInputElement).valueAsNumber;
  }

  get pieceSize() {
    return 2 ** byId("piece", HTMLInputElement).valueAsNumber;
  }

  _listenToButtons() {
    const buttons = {
      disconnect: () => {
        this.live?.disconnect();
        byId("resume").focus();
      },
      resume: () => {
        this.live?.open();
        this._showState();
        byId("disconnect").focus();
      },
      retry: () => this.live?.retry(),
      stop: () => void this._stop(),
      restart: () => this._restart?.(),
      play: () => this._playOrPause(),
      "previous-piece": () => this.player?.step(-1),
      "next-piece": () => this.player?.step(1),
      help: () => byId("keys", HTMLDialogElement).showModal(),
      "paste-file": () => byId("paste-input", HTMLInputElement).click(),
      invite: () => {
        byId("paste-box", HTMLDetailsElement).open = true;
        byId("paste").focus();
      },
    };
    for (const [id, onClick] of Object.entries(buttons)) byId(id).addEventListener("click", onClick);
  }

  _listenToForms() {
    const piece = byId("piece", HTMLInputElement);
    const fileInput = byId("paste-input", HTMLInputElement);
    byId("speed").addEventListener("input", () => this._showSliders());
    piece.addEventListener("input", () => this._showSliders());
    piece.addEventListener("change", () => {
      if (this.live === null && this.recording?.input === "text") this._restart?.();
      else if (this.recording?.input === "text") byId("restart").classList.add("main");
    });
    fileInput.addEventListener("change", () => {
      const file = fileInput.files?.[0];
      if (file) void this._replayFile(file);
      fileInput.value = ""; // so that the same file can be chosen again
    });
    byId("paste-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.replayText(byId("paste", HTMLTextAreaElement).value, "Pasted text");
    });
    byId("open-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const id = byId("open-id", HTMLInputElement).value.trim();
      byId("lead").hidden = true;
      if (id) void this.openStream({ stream: id });
    });
  }

  _listenToShortcuts() {
    const click = (/** @type {string} */ selector) => () => {
      /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
    };
    /** @type {[string, string, () => void][]} */
    const shortcuts = [
      ["k", "play or pause", () => this._playOrPause()],
      [",", "previous piece", () => this.player?.step(-1)],
      [".", "next piece", () => this.player?.step(1)],
      ["/", "search the document", () => this.tabs.focusSearch()],
      ["v", "next view", () => this.tabs.next()],
      ["d", "disconnect or resume", click("#disconnect:enabled, #resume:enabled")],
      ["l", "open or close the event log", click("#log > summary")],
      ["t", "switch the theme: auto, light, dark", click("#theme")],
      ["?", "show these shortcuts", click("#help")],
    ];
    const items = shortcuts.map(([key, label]) => make("div", "", make("dt", "", make("kbd", "", key)), make("dd", "", label)));
    byId("shortcuts").prepend(...items);
    const actions = new Map(shortcuts.map(([key, , action]) => [key, action]));
    listenToKeys(() => byId("keys-on", HTMLInputElement).checked, actions);
  }

  /**
   * Lets the user choose the speed, or says why not.
   * @param {boolean} isOwn true if the stream is live and followed
   */
  _showSpeed(isOwn) {
    const reason = isOwn ? "A live stream has its own speed. Pause it and play it to use another." : "";
    byId("speed", HTMLInputElement).disabled = isOwn;
    byId("speed-reason").textContent = byId("speed-box").title = reason;
    this._showSliders();
  }

  _showSliders() {
    const isOwn = byId("speed", HTMLInputElement).disabled;
    byId("speed-shown").textContent = isOwn ? "live" : `${this.pace}×`;
    byId("piece-shown").textContent = formatCount(this.pieceSize, "char");
    byId("speed").setAttribute("aria-valuetext", `${this.pace} times`);
    byId("piece").setAttribute("aria-valuetext", formatCount(this.pieceSize, "character"));
    if (this.player) this.player.speed = this.pace;
  }

  async _stop() {
    try {
      if (this.live) await this.api.cancel(this.live.handle);
    } catch (error) {
      this.showProblem(`The stream could not be stopped: ${messageOf(error)}`);
    }
  }

  _playOrPause() {
    const { player } = this;
    if (player === null) return;
    if (player.playing || (player.following && !this.recording?.ended)) player.pause();
    else player.play();
  }
}

/** @param {number} milliseconds */
function inSeconds(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds > 0 ? `in ${seconds} s` : "now";
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

new Page();

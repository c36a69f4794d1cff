/** The page: starts a session for what the user chooses, shows its state, and handles the controls. */

import { Api } from "./api.js";
import { button, byId, make, showMessage, within } from "./dom.js";
import { listenToDrops } from "./drop.js";
import { escapeText, formatCount, formatNumber } from "./escaping.js";
import { listenToKeys } from "./keys.js";
import { EventLog } from "./log.js";
import { Pane } from "./pane.js";
import { RawPane } from "./rawpane.js";
import { detect, plan } from "./replay.js";
import { LiveSession, ReplaySession } from "./sessions.js";
import { Theme } from "./theme.js";
import { askToken } from "./token.js";

/** @typedef {import("./api.js").Model} Model */
/** @typedef {import("./sessions.js").SessionState} SessionState */
/**
 * @typedef {object} Start how a session starts
 * @property {string} title
 * @property {() => Promise<LiveSession | ReplaySession>} open
 * @property {(() => void) | null} restart null if it cannot be started again
 * @property {string} [suits] the format that shows it best; none keeps the user's choice
 * @property {string} [every]
 */

// By default the server accepts 16 MiB for a stream.
const MAX_TEXT = 15 * 2 ** 20;

class Page {
  api = new Api(askToken);
  raw = new RawPane(byId("raw"), byId("raw-figures"), byId("raw-description"));
  log = new EventLog(byId("log", HTMLDetailsElement), byId("log-list"), byId("log-count"));
  theme = new Theme(byId("theme"));
  panes = [this._makePane(1), this._makePane(2)];
  /** @type {LiveSession | ReplaySession | null} */
  session = null;
  /** @type {import("./sessions.js").OnState} */
  _onState = (state, detail) => this._showState(state, detail);
  /** What "Restart" does. @type {(() => void) | null} */
  _restart = null;
  _title = "";
  /** Counts the starts, so that one overtaken by the next is noticed. */
  _starts = 0;
  _hasError = false;
  /** The format of the second pane before there were tool calls. @type {string | null} */
  _secondFormat = null;
  /** What was last suggested, so that the user's choice stays for the next stream of its kind. */
  _suggested = "";

  constructor() {
    const [first, second] = this.panes;
    second.element.hidden = true;
    second.format.value = "data";
    second.showControls();
    const isDemo = document.documentElement.dataset.demo === "on";
    const text = "The document appears here, value by value, while it is written.";
    const blank = make("p", "blank", text);
    first.body.replaceChildren(blank);
    this._listenToButtons();
    this._listenToForms();
    this._listenToShortcuts();
    listenToDrops(byId("drop"), {
      onFile: (file) => void this._replayFile(file),
      onText: (text) => void this._replayText(text, "Dropped text"),
    });
    this._showSliders();
    if (!isDemo) {
      byId("paste-box", HTMLDetailsElement).open = true;
      return;
    }
    const start = () => within(byId("model-list"), "button").click();
    blank.append(make("br"), button("Stream a plain object", start, "main"));
    void this._listModels();
  }

  // ---- building ----

  /** @param {number} number */
  _makePane(number) {
    const copy = byId("pane-template", HTMLTemplateElement).content.cloneNode(true);
    const element = within(/** @type {DocumentFragment} */ (copy), ".pane");
    element.id = `pane-${number}`;
    byId("panes").append(element);
    return new Pane(element, number, {
      onChoice: (pane) => this._paneChanged(pane),
      onEvent: (event) => {
        if (number === 1) this.log.add(event);
      },
      onError: (error) => {
        this._hasError = true;
        this.raw.markError(error);
        this._announce(`Error: ${error.message}`);
      },
      announce: (text) => this._announce(text),
    });
  }

  /** @param {Pane} pane */
  _paneChanged(pane) {
    this.session?.add(pane);
    if (!this.live?.isDisconnected) return;
    this._announce("Resume to see the stream in this format");
    pane.showHint("Disconnected: resume to see the stream in this format.");
  }

  async _listModels() {
    byId("models").hidden = false;
    try {
      const models = await this.api.models();
      byId("model-list").replaceChildren(...models.map((model) => this._modelItem(model)));
    } catch (error) {
      this._showProblem(`The models cannot be listed: ${messageOf(error)}`);
    }
  }

  /** @param {Model} model */
  _modelItem(model) {
    const item = button("", () => this._generate(model));
    item.append(make("span", "name", model.title), make("span", "about", model.about));
    item.setAttribute("aria-pressed", "false");
    item.dataset.model = model.name;
    return make("li", "", item);
  }

  // ---- starting ----

  get live() {
    return this.session instanceof LiveSession ? this.session : null;
  }

  get replay() {
    return this.session instanceof ReplaySession ? this.session : null;
  }

  /** @param {Model} model */
  async _generate(model) {
    this._pressModel(model.name);
    await this._start({
      title: model.title,
      restart: () => this._generate(model),
      open: async () => {
        const handle = await this.api.generate(model.name, this.pace, this.pieceSize);
        const stream = { input: model.input, many: false };
        return new LiveSession(this.api, handle, stream, this._onState);
      },
      suits: model.suits === "updates" ? "data" : model.suits,
      every: model.pace >= 500 ? "250" : "0",
    });
  }

  /** @param {string} id */
  async _read(id) {
    this._pressModel("");
    const open = async () => {
      const { input, many } = await this.api.status(id);
      const base = `v1/streams/${encodeURIComponent(id)}`;
      const urls = { stream: base, events: `${base}/events`, cancel: `${base}/cancel` };
      return new LiveSession(this.api, { id, urls }, { input, many }, this._onState);
    };
    await this._start({ title: `Stream ${id}`, restart: null, open });
  }

  /**
   * @param {string} text
   * @param {string} title
   */
  async _replayText(text, title) {
    const select = byId("paste-format", HTMLSelectElement);
    const chosen = /** @type {import("./replay.js").Format | "auto"} */ (select.value);
    byId("paste-found").textContent = "";
    if (text.trim() === "") return this._showProblem("There is no text to replay.");
    if (text.length > MAX_TEXT) return this._showProblem("The text is larger than 15 MB, the limit.");
    let found;
    try {
      found = await detect(text, chosen, (lines) => this.api.recognise(lines));
    } catch (error) {
      return this._fail(messageOf(error));
    }
    if (chosen === "auto") {
      const { text: name } = within(select, `[value=${found.format}]`, HTMLOptionElement);
      byId("paste-found").textContent = `Detected: ${name}`;
    }
    const { options, lines, stream, suits } = plan(text, found.format, this.pieceSize, found.calls);
    this._pressModel("");
    const open = async () => {
      const handle = await this.api.publish(options, lines);
      const onMove = () => this._showPosition();
      return new ReplaySession(this.api, handle, stream, lines.length, this._onState, onMove);
    };
    return this._start({ title, restart: () => this._replayText(text, title), open, suits });
  }

  /** @param {Start} start */
  async _start({ title, restart, open, suits = "", every = "0" }) {
    const number = (this._starts += 1);
    this.session?.close();
    this.session = null;
    this._showProblem("");
    this._restart = restart;
    this._title = title;
    this._hasError = false;
    byId("restart").classList.remove("main");
    this._showState("connecting", "");
    let session;
    try {
      session = await open();
    } catch (error) {
      if (number === this._starts) this._fail(messageOf(error));
      return;
    }
    if (number !== this._starts) return session.close();
    this.session = session;
    const { input } = session.stream;
    for (const pane of this.panes) pane.every.value = every;
    this._chooseFormats(input, suits || (input === "events" ? "calls" : ""));
    for (const pane of this.panes) if (!pane.element.hidden) session.add(pane);
    session.add(this.raw);
    byId("player").hidden = this.replay === null;
    if (this.replay === null) return;
    this.replay.speed = this.pace;
    this._showState("open", "");
    this._showPosition();
  }

  /**
   * Clears everything, because the stream could not be started.
   * @param {string} reason
   */
  _fail(reason) {
    for (const pane of this.panes) pane.reset("There is nothing to show.");
    this.raw.reset();
    byId("player").hidden = true;
    this._showState("failed", reason);
  }

  /**
   * Chooses formats that suit the stream and differ from each other.
   * @param {string} input
   * @param {string} suits
   */
  _chooseFormats(input, suits) {
    const [first, second] = this.panes;
    if (suits && this._suggested !== suits + input) {
      first.format.value = suits;
      this._suggested = suits + input;
    }
    if (input !== "events") {
      if (second.format.value === "chunks") second.format.value = this._secondFormat ?? "chunks";
      if (second.format.value === "calls") second.format.value = "data";
      if (first.format.value === "calls") first.format.value = "fragments";
      this._secondFormat = null;
    } else if (second.format.value !== "calls") {
      // Beside the calls: the model's text, which need not be JSON.
      this._secondFormat ??= second.format.value;
      second.format.value = "chunks";
    }
    if (first.format.value === second.format.value && first.mode.value === second.mode.value) {
      if (first.format.value === "data") second.mode.value = "ONE-BY-ONE";
      else second.format.value = "data";
    }
  }

  /** @param {string} name */
  _pressModel(name) {
    for (const item of byId("model-list").querySelectorAll("button")) {
      item.setAttribute("aria-pressed", String(item.dataset.model === name));
    }
  }

  // ---- showing ----

  /**
   * @param {SessionState} state
   * @param {string} detail
   */
  _showState(state, detail) {
    const isReplay = this.replay !== null;
    const texts = {
      connecting: isReplay ? "Reading the events …" : "Connecting …",
      open: isReplay ? "Playing" : "Streaming",
      waiting: `Connection lost, reconnecting: ${detail}`,
      off: isReplay
        ? `Paused at piece ${detail}`
        : `Disconnected after event ${detail || "0"}. The stream continues on the server.`,
      closed: this._hasError ? "Closed with an error" : "Complete",
      failed: `Failed: ${detail}`,
    };
    const text = escapeText(texts[state]);
    byId("title").textContent = escapeText(this._title);
    if (byId("state").textContent !== text) {
      byId("state").textContent = text;
      if (!isReplay || state !== "off") this._announce(`${this._title}: ${text}`);
    }
    byId("dot").dataset.state = state === "closed" && this._hasError ? "failed" : state;
    const isActive = this.session !== null && ["open", "waiting", "connecting"].includes(state);
    const isOff = state === "off";
    const enabled = { disconnect: isActive, resume: isOff, stop: isActive || isOff };
    for (const [id, on] of Object.entries(enabled)) {
      byId(id).hidden = isReplay;
      byId(id, HTMLButtonElement).disabled = isReplay || !on;
    }
    byId("restart", HTMLButtonElement).disabled = this._restart === null;
    byId("play").textContent = state === "open" ? "Pause" : "Play";
  }

  /** @param {string} text `""` for none */
  _showProblem(text) {
    showMessage(byId("problem"), escapeText(text));
    if (text) this._announce(text);
  }

  /** @param {string} text */
  _announce(text) {
    byId("live").textContent = escapeText(text);
  }

  _showPosition() {
    const { replay } = this;
    if (replay === null) return;
    const scrub = byId("scrub", HTMLInputElement);
    const piece = Math.floor(replay.position);
    scrub.max = String(replay.records);
    if (document.activeElement !== scrub || replay.playing) scrub.value = String(piece);
    scrub.setAttribute("aria-valuetext", `piece ${piece} of ${replay.records}`);
    byId("position").textContent = `${formatNumber(piece)} of ${formatNumber(replay.records)}`;
  }

  // ---- controls ----

  get pace() {
    return 2 ** byId("speed", HTMLInputElement).valueAsNumber;
  }

  get pieceSize() {
    return 2 ** byId("piece", HTMLInputElement).valueAsNumber;
  }

  _listenToButtons() {
    const step = (/** @type {number} */ by) => {
      if (this.replay) this.replay.seek(Math.floor(this.replay.position) + by);
    };
    const buttons = {
      disconnect: () => {
        this.live?.disconnect();
        byId("resume").focus();
      },
      resume: () => {
        this.live?.resume();
        byId("disconnect").focus();
      },
      stop: () => void this._stop(),
      restart: () => this._restart?.(),
      play: () => this._playOrPause(),
      "previous-piece": () => step(-1),
      "next-piece": () => step(1),
      help: () => byId("keys", HTMLDialogElement).showModal(),
      "paste-file": () => byId("paste-input", HTMLInputElement).click(),
    };
    for (const [id, onClick] of Object.entries(buttons)) byId(id).addEventListener("click", onClick);
  }

  _listenToForms() {
    const piece = byId("piece", HTMLInputElement);
    const scrub = byId("scrub", HTMLInputElement);
    const fileInput = byId("paste-input", HTMLInputElement);
    scrub.addEventListener("input", () => this.replay?.seek(scrub.valueAsNumber));
    byId("speed").addEventListener("input", () => this._showSliders());
    piece.addEventListener("input", () => this._showSliders());
    piece.addEventListener("change", () => {
      if (this.replay) this._restart?.();
    });
    byId("compare").addEventListener("change", () => this._compare());
    fileInput.addEventListener("change", () => {
      const file = fileInput.files?.[0];
      if (file) void this._replayFile(file);
      fileInput.value = ""; // so that the same file can be chosen again
    });
    byId("paste-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this._replayText(byId("paste", HTMLTextAreaElement).value, "Pasted text");
    });
    byId("open-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const id = byId("open-id", HTMLInputElement).value.trim();
      if (id) void this._read(id);
    });
  }

  _listenToShortcuts() {
    const click = (/** @type {string} */ selector) => () => {
      /** @type {HTMLElement | null} */ (document.querySelector(selector))?.click();
    };
    /** @type {[string, string, () => void][]} */
    const shortcuts = [
      ["/", "search the document", () => this.panes[0].query.focus()],
      ["d", "disconnect or resume", click("#disconnect:enabled, #resume:enabled")],
      ["s", "show two formats side by side", click("#compare")],
      ["l", "open or close the event log", click("#log > summary")],
      ["k", "play or pause a replay", () => this._playOrPause()],
      ["t", "switch the theme: auto, light, dark", click("#theme")],
      ["?", "show these shortcuts", click("#help")],
    ];
    const items = shortcuts.map(([key, label]) =>
      make("div", "", make("dt", "", make("kbd", "", key)), make("dd", "", label)),
    );
    byId("shortcuts").prepend(...items);
    const actions = new Map(shortcuts.map(([key, , action]) => [key, action]));
    listenToKeys(() => byId("keys-on", HTMLInputElement).checked, actions);
  }

  _showSliders() {
    byId("speed-shown").textContent = `${this.pace}×`;
    byId("piece-shown").textContent = formatCount(this.pieceSize, "char");
    byId("speed").setAttribute("aria-valuetext", `${this.pace} times`);
    byId("piece").setAttribute("aria-valuetext", formatCount(this.pieceSize, "character"));
    if (this.replay) this.replay.speed = this.pace;
    // A model keeps the speed it was started with: only a restart changes it.
    else if (this.session && this._restart) byId("restart").classList.add("main");
  }

  async _stop() {
    try {
      if (this.live) await this.api.cancel(this.live.handle);
    } catch (error) {
      this._showProblem(`The stream could not be stopped: ${messageOf(error)}`);
    }
  }

  _playOrPause() {
    if (this.replay?.playing) this.replay.pause();
    else this.replay?.play();
  }

  _compare() {
    const [, second] = this.panes;
    const isOn = byId("compare", HTMLInputElement).checked;
    second.element.hidden = !isOn;
    byId("panes").classList.toggle("compared", isOn);
    if (!isOn) return this.session?.remove(second);
    this._chooseFormats(this.session?.stream.input ?? "text", "");
    this.session?.add(second);
  }

  /** @param {File} file */
  async _replayFile(file) {
    let text;
    try {
      text = await file.text();
    } catch (error) {
      // A folder, for instance, or a file that was deleted.
      return this._showProblem(`${file.name} cannot be read: ${messageOf(error)}`);
    }
    byId("paste-box", HTMLDetailsElement).open = true;
    if (text.length < 200_000) byId("paste", HTMLTextAreaElement).value = text;
    return this._replayText(text, file.name);
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

new Page();

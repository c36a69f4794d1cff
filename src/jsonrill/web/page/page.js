/**
 * The page: what is chosen becomes a session, and its channels show it. Buttons, sliders, keys.
 */

import { button, byId, make, within } from "./dom.js";
import { listenToDrops } from "./drop.js";
import { listenToKeys } from "./keys.js";
import { EventLog } from "./log.js";
import { Pane } from "./pane.js";
import { RawPane } from "./rawpane.js";
import { KIND_NAMES, detect, plan } from "./replay.js";
import { LiveSession, ReplaySession } from "./sessions.js";
import { Refused, Source } from "./api.js";
import { Theme } from "./theme.js";
import { askToken } from "./token.js";
import { counted, grouped, visible } from "./escaping.js";

/** @typedef {import("./api.js").Model} Model */
/** @typedef {import("./sessions.js").SessionState} SessionState */
/** @typedef {import("./replay.js").Kind} Kind */

const PACES = { text: 40, snapshots: 6, events: 14 };
// Larger than what the server takes for a stream.
const MOST_TEXT = 15 * 2 ** 20;

class Page {
  constructor() {
    this.source = new Source(askToken);
    this.raw = new RawPane(byId("raw"), byId("raw-figures"), byId("raw-kind"));
    this.log = new EventLog(byId("log", HTMLDetailsElement), byId("log-list"), byId("log-count"));
    /** @type {LiveSession | ReplaySession | null} */
    this.session = null;
    /** What "Again" does. @type {(() => void) | null} */
    this._again = null;
    this._title = "";
    this._turn = 0;
    this._faulty = false;
    this.panes = [this._makePane(1), this._makePane(2)];
    this.panes[1].element.hidden = true;
    this.panes[1].format.value = "data";
    this.panes[1]._adapt();
    this._blank();
    this._listen();
    listenToKeys(() => byId("keys-on", HTMLInputElement).checked, (key) => this._key(key));
    listenToDrops(byId("drop"), {
      onFile: (file) => void this._file(file),
      onText: (text) => void this._replay(text, "Dropped text"),
    });
    this.theme = new Theme(byId("theme"));
    if (document.documentElement.dataset.demo === "on") void this._models();
    else byId("paste-box", HTMLDetailsElement).open = true;
  }

  // ---- building ----

  /** @param {number} number */
  _makePane(number) {
    const copy = byId("pane-template", HTMLTemplateElement).content.cloneNode(true);
    const element = within(/** @type {DocumentFragment} */ (copy), ".pane");
    element.id = `pane-${number}`;
    byId("panes").append(element);
    const pane = new Pane(element, number, {
      onChoice: (changed) => this._chosen(changed),
      onEvent: (event) => {
        if (number === 1) this.log.take(event);
      },
      onFault: (fault) => this._fault(fault),
      announce: (text) => this._announce(text),
    });
    return pane;
  }

  /** @param {Pane} pane */
  _chosen(pane) {
    this.session?.add(pane);
    if (this.session instanceof LiveSession && this.session.cut) {
      this._announce("Resume to see the stream in this format");
      pane.tell("Disconnected: resume to see the stream like this.");
    }
  }

  _blank() {
    const text = make("p", "blank", "The document will grow here, value by value, as it is written.");
    if (document.documentElement.dataset.demo === "on") {
      text.append(make("br"), button("Stream a plain object", () => this._firstModel(), "main"));
    }
    this.panes[0].body.replaceChildren(text);
  }

  _firstModel() {
    within(byId("model-list"), "button").click();
  }

  async _models() {
    byId("models").hidden = false;
    try {
      const models = await this.source.models();
      byId("model-list").replaceChildren(...models.map((model) => this._modelItem(model)));
    } catch (error) {
      this._problem(`The models cannot be listed: ${textOf(error)}`);
    }
  }

  /** @param {Model} model */
  _modelItem(model) {
    const made = button("", () => this._generate(model));
    made.append(make("span", "name", model.title), make("span", "about", model.about));
    made.setAttribute("aria-pressed", "false");
    made.dataset.model = model.name;
    return make("li", "", made);
  }

  // ---- beginning ----

  /** @param {Model} model */
  async _generate(model) {
    this._press(model.name);
    await this._begin(
      model.title,
      () => this._generate(model),
      async () => {
        const made = await this.source.generate(model.name, this.pace, this.pieceSize);
        const stream = { input: model.input, many: false };
        return new LiveSession(this.source, made, stream, (state, detail) => this._state(state, detail));
      },
      model.suits === "updates" ? "data" : model.suits,
      model.pace >= 500 ? "250" : "0",
    );
  }

  /** @param {string} id */
  async _open(id) {
    this._press("");
    await this._begin(`Stream ${id}`, null, async () => {
      const status = await this.source.status(id);
      const base = `v1/streams/${encodeURIComponent(id)}`;
      const urls = { stream: base, events: `${base}/events`, cancel: `${base}/cancel` };
      const stream = { input: status.input, many: status.many };
      return new LiveSession(this.source, { id, urls }, stream, (state, detail) => this._state(state, detail));
    }, "");
  }

  /**
   * @param {string} text
   * @param {string} name
   */
  async _replay(text, name) {
    const chosen = /** @type {Kind | "auto"} */ (byId("paste-kind", HTMLSelectElement).value);
    byId("paste-found").textContent = "";
    if (text.trim() === "") return this._problem("There is nothing to replay yet.");
    if (text.length > MOST_TEXT) return this._problem("This is more than the server takes: 15 MB.");
    let found;
    try {
      found = await detect(text, chosen, (lines) => this.source.recognise(lines));
    } catch (error) {
      return this._failed(textOf(error));
    }
    if (chosen === "auto") byId("paste-found").textContent = `This is ${KIND_NAMES[found.kind]}.`;
    const what = plan(text, found.kind, this.pieceSize, found.calls);
    this._press("");
    await this._begin(
      name,
      () => this._replay(text, name),
      async () => {
        const made = await this.source.publish(what.options, what.lines);
        const session = new ReplaySession(
          this.source,
          made,
          { input: what.input, many: what.many },
          what.lines.length,
          (state, detail) => this._state(state, detail),
          () => this._moved(),
        );
        session.rate = this.pace * PACES[/** @type {keyof typeof PACES} */ (what.input)];
        return session;
      },
      what.suits,
    );
  }

  /**
   * @param {string} title
   * @param {(() => void) | null} again
   * @param {() => Promise<LiveSession | ReplaySession>} make
   * @param {string} suits the format that shows it best; "" leaves what is chosen
   * @param {string} [every]
   */
  async _begin(title, again, make, suits, every = "0") {
    const turn = (this._turn += 1);
    this.session?.close();
    this.session = null;
    this._problem(null);
    this._again = again;
    this._title = title;
    this._faulty = false;
    byId("again").classList.remove("main");
    this._state("connecting", "");
    let session;
    try {
      session = await make();
    } catch (error) {
      if (turn === this._turn) this._failed(textOf(error));
      return;
    }
    if (turn !== this._turn) return session.close();
    this.session = session;
    const { input } = session.stream;
    this._suit(input, suits || (input === "events" ? "calls" : ""), every);
    this.raw.begin(session.stream);
    for (const channel of [...this._shownPanes(), this.raw]) session.add(channel);
    byId("player").hidden = !(session instanceof ReplaySession);
    byId("stop").hidden = session instanceof ReplaySession;
    if (session instanceof ReplaySession) this._state("live", "");
    this._moved();
    return undefined;
  }

  /**
   * Nothing came of what was chosen: what is still shown is not it.
   * @param {string} reason
   */
  _failed(reason) {
    for (const channel of [...this.panes, this.raw]) channel.leave();
    byId("player").hidden = true;
    this._state("failed", reason);
  }

  /**
   * Formats that say something about this kind of stream.
   * @param {string} input
   * @param {string} suits
   * @param {string} every
   */
  _suit(input, suits, every) {
    const [first, second] = this.panes;
    if (suits && this._suits !== suits + input) {
      first.format.value = suits;
      this._suits = suits + input;
    }
    for (const pane of this.panes) pane.every.value = every;
    // Beside the calls: what the model said, which need not be JSON.
    if (input === "events" && second.format.value !== "calls") {
      this._beside ??= second.format.value;
      second.format.value = "chunks";
    } else if (input !== "events" && this._beside !== null) {
      if (second.format.value === "chunks") second.format.value = this._beside;
      this._beside = null;
    }
    if (input !== "events" && first.format.value === "calls") first.format.value = "fragments";
    if (input !== "events" && second.format.value === "calls") second.format.value = "data";
    if (first.format.value === second.format.value && first.mode.value === second.mode.value) {
      // Twice the same would be nothing to compare.
      if (first.format.value === "data") second.mode.value = "ONE-BY-ONE";
      else second.format.value = "data";
    }
  }

  /** What the second pane showed before there were calls. @type {string | null} */
  _beside = null;

  /** What was last suited, so that a choice made by hand stays for the next of its kind. */
  _suits = "";

  _shownPanes() {
    return this.panes.filter((pane) => !pane.element.hidden);
  }

  /** @param {string} name */
  _press(name) {
    for (const made of byId("model-list").querySelectorAll("button")) {
      made.setAttribute("aria-pressed", String(made.dataset.model === name));
    }
  }

  // ---- telling ----

  /**
   * @param {SessionState} state
   * @param {string} detail
   */
  _state(state, detail) {
    const replay = this.session instanceof ReplaySession;
    const texts = {
      connecting: replay ? "Reading the events …" : "Connecting …",
      live: replay ? "Playing" : "Streaming",
      waiting: `Connection lost, trying again: ${detail}`,
      off: replay ? `Paused at piece ${detail}` : `Disconnected after event ${detail || "0"}. The stream goes on without us.`,
      done: this._faulty ? "Ended, with an error" : "Complete: everything has come",
      failed: `Failed: ${detail}`,
    };
    const done = this._faulty ? "bad" : "done";
    const dots = { connecting: "waiting", live: "live", waiting: "waiting", off: "off", done, failed: "bad" };
    const text = visible(texts[state]);
    byId("title").textContent = visible(this._title);
    if (byId("state").textContent !== text) {
      byId("state").textContent = text;
      if (!replay || state !== "off") this._announce(`${this._title}: ${text}`);
    }
    byId("dot").dataset.state = dots[state];
    const busy = this.session !== null && ["live", "waiting", "connecting"].includes(state);
    byId("disconnect", HTMLButtonElement).disabled = !busy || replay;
    byId("resume", HTMLButtonElement).disabled = state !== "off" || replay;
    byId("stop", HTMLButtonElement).disabled = !(busy || state === "off") || replay;
    byId("again", HTMLButtonElement).disabled = this._again === null;
    byId("disconnect").hidden = byId("resume").hidden = replay;
    byId("play").textContent = state === "live" ? "Pause" : "Play";
  }

  /** @param {string | null} text */
  _problem(text) {
    const place = byId("problem");
    place.hidden = text === null;
    place.textContent = visible(text ?? "");
    if (text) this._announce(text);
  }

  /** @param {import("./renderers.js").Fault} fault */
  _fault(fault) {
    this._faulty = true;
    this.raw.fault(fault);
    this._announce(`Error: ${fault.problem.message}`);
  }

  /** @param {string} text */
  _announce(text) {
    byId("live").textContent = visible(text);
  }

  _moved() {
    const { session } = this;
    if (!(session instanceof ReplaySession)) return;
    const scrub = byId("scrub", HTMLInputElement);
    const at = Math.floor(session.position);
    scrub.max = String(session.records);
    if (document.activeElement !== scrub || session.playing) scrub.value = String(at);
    scrub.setAttribute("aria-valuetext", `piece ${at} of ${session.records}`);
    byId("position").textContent = `${grouped(at)} of ${grouped(session.records)}`;
  }

  // ---- hands ----

  get pace() {
    return 2 ** byId("speed", HTMLInputElement).valueAsNumber;
  }

  get pieceSize() {
    return 2 ** byId("piece", HTMLInputElement).valueAsNumber;
  }

  _listen() {
    const on = (/** @type {string} */ id, /** @type {() => void} */ work) => byId(id).addEventListener("click", work);
    on("disconnect", () => this._cut());
    on("resume", () => this._resume());
    on("stop", () => void this._stop());
    on("again", () => this._again?.());
    on("play", () => this._play());
    on("back", () => this._step(-1));
    on("forth", () => this._step(1));
    on("help", () => byId("keys", HTMLDialogElement).showModal());
    on("paste-file", () => byId("paste-input", HTMLInputElement).click());
    byId("scrub").addEventListener("input", () => {
      if (this.session instanceof ReplaySession) this.session.seek(byId("scrub", HTMLInputElement).valueAsNumber);
    });
    byId("speed").addEventListener("input", () => this._sliders());
    byId("piece").addEventListener("input", () => this._sliders());
    byId("piece").addEventListener("change", () => {
      if (this.session instanceof ReplaySession) this._again?.();
    });
    byId("compare").addEventListener("change", () => this._compare());
    byId("paste-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this._replay(byId("paste", HTMLTextAreaElement).value, "Your text");
    });
    byId("paste-input").addEventListener("change", () => {
      const input = byId("paste-input", HTMLInputElement);
      const file = input.files?.[0];
      if (file) void this._file(file);
      input.value = ""; // so that the same file, changed meanwhile, can be chosen again
    });
    byId("open-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const id = byId("open-id", HTMLInputElement).value.trim();
      if (id) void this._open(id);
    });
    this._sliders();
  }

  _sliders() {
    byId("speed-shown").textContent = `${this.pace}×`;
    byId("piece-shown").textContent = counted(this.pieceSize, "char");
    byId("speed").setAttribute("aria-valuetext", `${this.pace} times`);
    byId("piece").setAttribute("aria-valuetext", counted(this.pieceSize, "character"));
    const { session } = this;
    if (session instanceof ReplaySession) {
      session.rate = this.pace * PACES[/** @type {keyof typeof PACES} */ (session.stream.input)];
    } else if (session !== null && this._again !== null) {
      // A model that has begun goes on as it was told to: the next one hears of it.
      byId("again").classList.add("main");
    }
  }

  _cut() {
    if (this.session instanceof LiveSession) this.session.disconnect();
    byId("resume").focus();
  }

  _resume() {
    if (this.session instanceof LiveSession) this.session.resume();
    byId("disconnect").focus();
  }

  async _stop() {
    if (!(this.session instanceof LiveSession)) return;
    try {
      await this.source.cancel(this.session.made);
    } catch (error) {
      this._problem(`It could not be stopped: ${textOf(error)}`);
    }
  }

  _play() {
    if (!(this.session instanceof ReplaySession)) return;
    if (this.session.playing) this.session.pause();
    else this.session.play();
  }

  /** @param {number} by */
  _step(by) {
    if (this.session instanceof ReplaySession) this.session.seek(Math.floor(this.session.position) + by);
  }

  _compare() {
    const [, second] = this.panes;
    const on = byId("compare", HTMLInputElement).checked;
    second.element.hidden = !on;
    byId("panes").classList.toggle("compared", on);
    if (on && this.session) {
      this._suit(this.session.stream.input, "", second.every.value);
      this.session.add(second);
    } else if (on) this._suit("text", "", "0");
    else this.session?.remove(second);
  }

  // ---- files and keys ----

  /** @param {File} file */
  async _file(file) {
    let text;
    try {
      text = await file.text();
    } catch (error) {
      // A folder, for instance, or a file that is gone.
      return this._problem(`${file.name} cannot be read: ${textOf(error)}`);
    }
    byId("paste-box", HTMLDetailsElement).open = true;
    if (text.length < 200_000) byId("paste", HTMLTextAreaElement).value = text;
    return this._replay(text, file.name);
  }

  /** @param {string} key */
  _key(key) {
    switch (key) {
      case "/":
        this.panes[0].query.focus();
        return true;
      case "d":
        if (!byId("disconnect", HTMLButtonElement).disabled) this._cut();
        else if (!byId("resume", HTMLButtonElement).disabled) this._resume();
        return true;
      case "s":
        byId("compare").click();
        return true;
      case "l":
        byId("log", HTMLDetailsElement).open = !byId("log", HTMLDetailsElement).open;
        return true;
      case "k":
        this._play();
        return true;
      case "t":
        this.theme.next();
        return true;
      case "?":
        byId("keys", HTMLDialogElement).showModal();
        return true;
    }
    return false;
  }
}

/** @param {unknown} error */
function textOf(error) {
  if (error instanceof Refused) return error.message;
  return error instanceof Error ? error.message : String(error);
}

new Page();

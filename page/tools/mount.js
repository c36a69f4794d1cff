/**
 * The tools around a stream: figures, the reading of pasted texts, what is copied and exported, the address, the
 * prompt. The page calls `opened`, `draw` and `moved`; what is large is loaded when it is needed.
 */

import { byId } from "../dom.js";
import { endOf } from "../ending.js";
import { pathOf } from "../errors.js";
import { escapeText, shorten } from "../escaping.js";
import { formatPath } from "../../js/src/paths.js";
import { Address } from "./address.js";
import { Figures } from "./figures.js";
import { PromptTool } from "./prompt.js";
import { Share } from "./share.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../views.js").Stage} Stage */
/** @typedef {import("../views.js").Start} Start */
/** @typedef {import("./build.js").Wishes} Wishes */
/** @typedef {import("./state.js").PageState} PageState */
/**
 * What the tools need of the page.
 * @typedef {Stage & {
 *   readonly pieceSize: number,
 *   readonly currentView: string,
 *   readonly selectedPath: import("../../js/src/paths.js").Path | null,
 *   readonly transport: import("./figures.js").Transport | null,
 *   readonly server: {url?: string, server?: string, hasToken?: boolean},
 *   readonly api: import("../api.js").Api,
 *   replace: (recording: Recording) => void,
 *   openModel: (name: string) => Promise<void>,
 *   openStream: (state: PageState, how?: {begun?: number, known?: boolean}) => Promise<void>,
 *   leave: () => void,
 *   showProblem: (text: string) => void,
 * }} ToolsPage
 */

export class Tools {
  /** Where the next recording comes from. @type {PageState | null} */
  next = null;
  /** Where the recording that is shown comes from. @type {PageState} */
  _origin = {};
  /** @type {import("./paste.js").PasteTool | null} */
  _paste = null;
  /** The recording about whose end all was said. @type {Recording | null} */
  _checked = null;
  _errors = 0;
  _key = "";
  _isFirst = false;
  _isOpening = false;
  /** @type {import("./prompt.js").PromptTool | null} */
  _prompt = null;

  /** @param {ToolsPage} page */
  constructor(page) {
    this._page = page;
    this._figures = new Figures(byId("figures"));
    this._address = new Address(
      () => this._state(),
      (state) => this._restore(state),
      () => this._paste?.tell("This text is too large to be kept: a reload of the page loses it."),
    );
    new Share(byId("actions"), {
      recording: () => page.recording,
      link: () => this._address.link(),
      server: () => page.server,
      value: () => page.recording?.valueAt(page.player?.position ?? 0),
      announce: page.announce,
    });
    this._offerPrompt();
  }

  /** Shows what the address says. False if it says nothing. */
  start() {
    return this._address.start();
  }

  /**
   * Reads a text that was pasted or dropped.
   * @param {string} text
   * @param {string} title
   * @param {Wishes} [wishes]
   * @param {Start} [how]
   */
  async read(text, title, wishes = {}, how = {}) {
    (await this._reading()).read(text, title, wishes, how);
  }

  async _reading() {
    const { PasteTool } = await import("./paste.js");
    const page = this._page;
    this._paste ??= new PasteTool(byId("offers"), {
      open: (recording, start) => {
        const { text: read = "", title: name, wishes: chosen } = this._paste?.current ?? {};
        this.next = stateOf(read, name ?? "", chosen ?? {});
        page.open(recording, start);
      },
      readAgain: (change) => void this._readAgain(change),
      refuse: (reason) => page.showProblem(reason),
      revealText: (offset) => page.revealText(offset),
      announce: page.announce,
      pieceSize: () => page.pieceSize,
    });
    return this._paste;
  }

  /**
   * Says what is wrong with a stream of the server that has ended.
   * @param {Recording} recording
   */
  async _check(recording) {
    const tool = await this._reading();
    if (this._page.recording === recording) tool.check(recording);
  }

  /** @param {Wishes} change */
  async _readAgain({ repair, many, prefix }) {
    const { recording } = this._page;
    if (recording === null) return;
    const { readAgain } = await import("./paste.js");
    this.next = { ...this._origin, repair };
    this._page.replace(readAgain(recording, { repair, many, prefix }));
  }

  /** A recording is shown. */
  opened() {
    const isText = this.next?.text !== undefined;
    if (!isText) this._paste?.clear();
    const isSame = JSON.stringify(this._origin) === JSON.stringify(this.next);
    this._origin = this.next ?? {};
    this.next = null;
    this._key = "";
    const title = this._page.recording?.title ?? "";
    document.title = title ? `${escapeText(shorten(title, 60))} – jsonrill` : "jsonrill";
    // Which moment and which view will be shown is not known yet.
    this._isOpening = true;
    if (hasOrigin(this._origin)) this._address.changed({ isNew: !this._isFirst && !isSame, atOnce: true });
    this._isOpening = false;
    this._isFirst = false;
  }

  /** What the page shows by itself on arrival is the entry of the history that is there. */
  isFirst() {
    this._isFirst = true;
  }

  /**
   * Draws the figures. True if something is left.
   * @param {number} position
   */
  draw(position) {
    const { recording } = this._page;
    // An error that the server found may come after the end.
    const count = recording?.errors.length ?? 0;
    if (recording?.ended && (this._checked !== recording || this._errors !== count)) {
      this._checked = recording;
      this._errors = count;
      const isWrong = endOf(recording).state === "failed" || recording.outline.repairs.length > 0;
      if (this._origin.text === undefined && isWrong) void this._check(recording);
    }
    this.moved();
    return this._figures.draw(this._page.recording, position, this._page.transport);
  }

  /** Another moment, view or value is shown. */
  moved() {
    if (!hasOrigin(this._origin)) return;
    const { piece, view, path } = this._state();
    const key = `${piece} ${view} ${path}`;
    if (key === this._key) return;
    this._key = key;
    this._address.changed();
  }

  // ---- the address ----

  /** @returns {PageState} */
  _state() {
    const { recording, player, currentView: view, selectedPath: path } = this._page;
    /** @type {PageState} */
    const state = this._isOpening ? { ...this._origin } : { ...this._origin, view };
    const isStill = player !== null && !player.playing && !(player.following && !recording?.ended);
    if (isStill && !this._isOpening) state.piece = player.position;
    if (path !== null) state.path = formatPath(path);
    return state;
  }

  /** @param {PageState} state */
  async _restore(state) {
    const { text, title, model, stream, prompt, piece, view, path } = state;
    const page = this._page;
    const number = (this._restores += 1);
    if (text !== undefined) await this.read(text, title ?? "Pasted text", wishesOf(state));
    else if (stream !== undefined) await page.openStream(state, { known: true });
    else if (model !== undefined) await page.openModel(model);
    else return page.leave();
    if (prompt !== undefined) this._offerPrompt()?.fill(prompt);
    const { recording } = page;
    if (recording === null || number !== this._restores) return;
    const show = () => {
      if (piece !== undefined) page.player?.seek(piece);
      const steps = path === undefined ? null : pathOf(path);
      // The tree is drawn before a value in it is selected.
      if (steps !== null)
        requestAnimationFrame(() =>
          requestAnimationFrame(() => {
            page.selectPath(steps);
            if (view !== undefined) page.showView(view);
          }),
        );
      if (view !== undefined) page.showView(view);
    };
    if (view !== undefined) page.showView(view);
    if (piece === undefined || recording.ended || recording.length >= piece) return show();
    const unlisten = recording.listen(() => {
      if (!recording.ended && recording.length < piece) return;
      unlisten();
      if (page.recording === recording) show();
    });
  }

  _restores = 0;

  // ---- the prompt ----

  /** The form for a prompt, if the server relays to models. */
  _offerPrompt() {
    if (document.documentElement.dataset.upstream !== "on") return null;
    const { api } = this._page;
    this._prompt ??= new PromptTool(byId("prompt-place"), {
      models: () => api.chatModels(),
      ask: (body) => api.ask(body),
      open: (stream, prompt, begun) => void this._page.openStream({ stream, prompt, title: shorten(prompt, 60) }, { begun }),
    });
    return this._prompt;
  }
}

/** @param {PageState} state */
function hasOrigin({ model, stream, text }) {
  return model !== undefined || stream !== undefined || text !== undefined;
}

/**
 * @param {string} text
 * @param {string} title
 * @param {Wishes} wishes
 * @returns {PageState}
 */
function stateOf(text, title, { format, provider, repair, many, prefix, entity, schema }) {
  /** @type {PageState} */
  const state = { text, title };
  if (format && format !== "auto") state.format = format;
  if (provider) state.provider = provider;
  if (repair) state.repair = true;
  if (many) state.many = true;
  if (prefix) state.prefix = prefix;
  if (entity) state.entity = entity;
  if (schema) state.schema = schema;
  return state;
}

/**
 * @param {PageState} state
 * @returns {Wishes}
 */
function wishesOf({ format, provider, repair, many, prefix, entity, schema }) {
  const known = ["text", "many", "snapshots", "events", "sse"].includes(format ?? "");
  return { format: known ? /** @type {any} */ (format) : "auto", provider, repair, many, prefix, entity, schema };
}

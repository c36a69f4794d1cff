/**
 * The tools around a stream: figures, the reading of pasted texts, the menu "Keep", the address, the
 * prompt. The page calls `opened`, `draw` and `moved`; what is large is loaded when it is needed.
 */

import { byId } from "../dom.js";
import { escapeText, shorten } from "../escaping.js";
import { formatPath, parsePath, PathError } from "../../js/src/paths.js";
import { Address } from "./address.js";
import { Figures } from "./figures.js";
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
 *   readonly eventsUrl: string,
 *   readonly api: import("../api.js").Api,
 *   openGrowing: (recording: Recording, restart: () => void) => void,
 *   openModel: (name: string) => Promise<void>,
 *   openStream: (id: string) => Promise<void>,
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
  _key = "";

  /** @param {ToolsPage} page */
  constructor(page) {
    this._page = page;
    this._figures = new Figures(byId("figures"));
    this._address = new Address(
      () => this._state(),
      (state) => this._restore(state),
    );
    new Share(byId("actions"), {
      recording: () => page.recording,
      link: () => this._address.link(),
      url: () => page.eventsUrl,
      announce: page.announce,
    });
    if (document.documentElement.dataset.upstream === "on") void this._offerPrompt();
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
    if (this._paste === null) {
      const { PasteTool } = await import("./paste.js");
      const page = this._page;
      this._paste ??= new PasteTool(byId("offers"), {
        open: (recording, start) => {
          const { text: read = "", title: name, wishes: chosen } = this._paste?.current ?? {};
          this.next = stateOf(read, name ?? "", chosen ?? {});
          page.open(recording, start);
        },
        refuse: (reason) => page.showProblem(reason),
        revealText: (offset) => page.revealText(offset),
        announce: page.announce,
        pieceSize: () => page.pieceSize,
      });
    }
    this._paste.read(text, title, wishes, how);
  }

  /** A recording is shown. */
  opened() {
    const isText = this.next?.text !== undefined;
    if (!isText) this._paste?.clear();
    this._origin = this.next ?? {};
    this.next = null;
    this._key = "";
    const title = this._page.recording?.title ?? "";
    document.title = title ? `${escapeText(shorten(title, 60))} – jsonrill` : "jsonrill";
    if (hasOrigin(this._origin)) this._address.changed({ isNew: true });
  }

  /**
   * Draws the figures. True if something is left.
   * @param {number} position
   */
  draw(position) {
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
    const state = { ...this._origin, view };
    const isStill = player !== null && !player.playing && !(player.following && !recording?.ended);
    if (isStill) state.piece = player.position;
    if (path !== null) state.path = formatPath(path);
    return state;
  }

  /** @param {PageState} state */
  async _restore(state) {
    const { text, title = "Pasted text", model, stream, piece, view, path } = state;
    const page = this._page;
    const number = (this._restores += 1);
    if (text !== undefined) await this.read(text, title, wishesOf(state), { plays: piece === undefined });
    else if (model !== undefined) await page.openModel(model);
    else if (stream !== undefined) await page.openStream(stream);
    else return page.leave();
    const { recording } = page;
    if (recording === null || number !== this._restores) return;
    const show = () => {
      if (piece !== undefined) page.player?.seek(piece);
      const steps = path === undefined ? null : pathOf(path);
      // The tree is drawn before a value in it is selected.
      if (steps !== null) requestAnimationFrame(() => requestAnimationFrame(() => {
        page.selectPath(steps);
        if (view !== undefined) page.showView(view);
      }));
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

  async _offerPrompt() {
    const { PromptTool } = await import("./prompt.js");
    const { api } = this._page;
    new PromptTool(byId("prompt-place"), {
      models: () => api.chatModels(),
      send: (path, init) => fetch(api.url(path), { ...init, headers: { ...init.headers, ...api.headers() } }),
      open: (recording, restart) => this._page.openGrowing(recording, restart),
    });
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

/** @param {string} text */
function pathOf(text) {
  try {
    return parsePath(text);
  } catch (error) {
    if (error instanceof PathError) return null;
    throw error;
  }
}

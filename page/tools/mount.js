/**
 * The tools around a stream: the reading of pasted texts, what is copied, the address. The page calls
 * `opened`, `draw` and `moved`.
 */

import { byId } from "../dom.js";
import { endOf } from "../ending.js";
import { pathOf } from "../errors.js";
import { escapeText, shorten } from "../escaping.js";
import { formatPath } from "../../js/src/paths.js";
import { Address } from "./address.js";
import { CopyButtons } from "./copy.js";
import { PasteTool } from "./paste.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../views.js").Stage} Stage */
/** @typedef {import("../views.js").Start} Start */
/** @typedef {import("./recognise.js").Chosen} Chosen */
/** @typedef {import("./state.js").PageState} PageState */
/**
 * What the tools need of the page.
 * @typedef {Stage & {
 *   readonly pieceSize: number,
 *   readonly currentView: string,
 *   readonly selectedPath: import("../../js/src/paths.js").Path | null,
 *   openModel: (name: string) => Promise<void>,
 *   openStream: (state: PageState, known?: boolean) => Promise<void>,
 *   leave: () => void,
 *   showProblem: (text: string) => void,
 * }} ToolsPage
 */

export class Tools {
  /** Where the next recording comes from. @type {PageState | null} */
  next = null;
  /** Where the recording that is shown comes from. @type {PageState} */
  _origin = {};
  /** The recording about whose end all was said. @type {Recording | null} */
  _checked = null;
  _errors = 0;
  _key = "";
  _isFirst = false;
  _isOpening = false;

  /** @param {ToolsPage} page */
  constructor(page) {
    this._page = page;
    this._address = new Address(
      () => this._state(),
      (state) => this._restore(state),
      () => this._paste.tell("This text is too large to be kept: a reload of the page loses it."),
    );
    new CopyButtons(byId("actions"), {
      link: () => this._address.link(),
      value: () => page.recording?.valueAt(page.player?.position ?? 0),
      announce: page.announce,
    });
    this._paste = new PasteTool(byId("findings"), {
      open: (recording, start) => {
        const { format, ...text } = this._paste.current ?? { format: "auto" };
        this.next = format === "auto" ? text : { ...text, format };
        page.open(recording, start);
      },
      refuse: (reason) => page.showProblem(reason),
      revealText: (offset) => page.revealText(offset),
      announce: page.announce,
      pieceSize: () => page.pieceSize,
    });
  }

  /** Shows what the address says. False if it says nothing. */
  start() {
    return this._address.start();
  }

  /**
   * Reads a text that was pasted or dropped.
   * @param {string} text
   * @param {string} title
   * @param {Chosen} format
   */
  read(text, title, format) {
    this._paste.read(text, title, format);
  }

  /** A recording is shown. */
  opened() {
    const isText = this.next?.text !== undefined;
    if (!isText) this._paste.clear();
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

  /** Shows what is known of the end, and remembers the moment in the address. */
  draw() {
    const { recording } = this._page;
    // An error that the server found may come after the end.
    const count = recording?.errors.length ?? 0;
    if (recording?.ended && (this._checked !== recording || this._errors !== count)) {
      this._checked = recording;
      this._errors = count;
      if (this._origin.text === undefined && endOf(recording).state === "failed") this._paste.check(recording);
    }
    this.moved();
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
    const { text, title, format, model, stream, piece, view, path } = state;
    const page = this._page;
    const number = (this._restores += 1);
    if (text !== undefined) this.read(text, title ?? "Pasted text", chosenOf(format));
    else if (stream !== undefined) await page.openStream(state, true);
    else if (model !== undefined) await page.openModel(model);
    else return page.leave();
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
}

/** @param {PageState} state */
function hasOrigin({ model, stream, text }) {
  return model !== undefined || stream !== undefined || text !== undefined;
}

/**
 * The format in an address; any other text means that it is recognised.
 * @param {string | undefined} format
 * @returns {Chosen}
 */
function chosenOf(format) {
  const isKnown = ["text", "many", "snapshots", "events", "sse"].includes(format ?? "");
  return isKnown ? /** @type {Chosen} */ (format) : "auto";
}

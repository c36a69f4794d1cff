/** The views whose modules are loaded when they are first shown, so that the first visit is small. */

import { make } from "./dom.js";
import { registerView } from "./views.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./views.js").Stage} Stage */
/** @typedef {import("./views.js").View} View */
/** @typedef {(panel: HTMLElement, stage: Stage) => View} Mount */

/** Stands for a view until its module is there. @implements {View} */
class LazyView {
  /** @type {View | null} */
  _view = null;
  _isLoading = false;
  _isFocused = false;
  /** @type {Recording | null} */
  _recording = null;

  /**
   * @param {HTMLElement} panel
   * @param {Stage} stage
   * @param {() => Promise<{mount: Mount}>} load
   * @param {(recording: Recording) => boolean} suits
   */
  constructor(panel, stage, load, suits) {
    this._panel = panel;
    this._stage = stage;
    this._load = load;
    this.suits = suits;
  }

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._view?.begin(recording);
  }

  /**
   * @param {number} position
   * @param {number} until
   */
  draw(position, until) {
    if (this._view !== null) return this._view.draw(position, until);
    if (!this._isLoading) {
      this._isLoading = true;
      this._load().then(
        ({ mount }) => this._mount(mount),
        () => this._panel.replaceChildren(make("p", "blank", "This view could not be loaded. Reload the page.")),
      );
    }
    return false;
  }

  focus() {
    this._isFocused = true;
    this._view?.focus?.();
  }

  /** @param {Mount} mount */
  _mount(mount) {
    this._view = mount(this._panel, this._stage);
    this._view.begin(this._recording);
    if (this._isFocused) this._view.focus?.();
    this._stage.redraw();
  }
}

/**
 * @param {{id: string, label: string, order: number, load: () => Promise<{mount: Mount}>,
 *   suits?: (recording: Recording) => boolean}} spec
 */
function register({ load, suits = () => true, ...spec }) {
  registerView({ ...spec, mount: (panel, stage) => new LazyView(panel, stage, load, suits) });
}

register({
  id: "updates",
  label: "Updates",
  order: 20,
  load: () => import("./updates-view.js"),
  suits: ({ options, input, hasDocument }) => options.live === true && (input !== "events" || hasDocument),
});

/**
 * Keeps the address of the page: reload, Back and Forward show the same stream at the same moment.
 *
 * What is shown is an entry of the browser's history; a new stream is a new entry, another moment or
 * view changes the entry. A text that is too large for the address is kept with the entry, in the
 * browser.
 */

import { fromHash, toHash } from "./state.js";

/** @typedef {import("./state.js").PageState} PageState */

// Milliseconds after the last change: browsers limit how often the address may change.
const PAUSE = 300;
// A text larger than this is not kept for a reload.
const MAX_KEPT = 4 << 20;

export class Address {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  _timer = undefined;
  _isNew = false;
  /** Counts the changes, so that one overtaken by the next is noticed. */
  _count = 0;
  /** True while the page shows what the address says: that is no change. */
  _isRestoring = false;

  /**
   * @param {() => PageState} stateOf what is shown now
   * @param {(state: PageState) => Promise<void> | void} show shows what an address says
   * @param {() => void} onLost a reload will not show what is shown: its text is too large
   */
  constructor(stateOf, show, onLost) {
    this._stateOf = stateOf;
    this._show = show;
    this._onLost = onLost;
    addEventListener("popstate", (event) => void this._restore(event.state, true));
  }

  /** Shows what the address says. False if it says nothing. */
  async start() {
    return this._restore(history.state);
  }

  /**
   * Something else is shown.
   * @param {{isNew?: boolean, atOnce?: boolean}} [how] isNew: another stream, which Back leaves
   */
  changed({ isNew = false, atOnce = isNew } = {}) {
    if (this._isRestoring) return;
    this._isNew ||= isNew;
    clearTimeout(this._timer);
    // A new entry at once: Back or reload may be pressed soon.
    if (atOnce) void this._write();
    else this._timer = setTimeout(() => void this._write(), PAUSE);
  }

  async _write() {
    const count = (this._count += 1);
    const state = this._stateOf();
    const isNew = this._isNew;
    this._isNew = false;
    const isKept = (state.text?.length ?? 0) <= MAX_KEPT;
    const kept = isKept ? state : { ...state, text: undefined };
    // The entry is there at once; packing a text for its address takes a moment.
    if (isNew) put("pushState", kept, "");
    const { hash, complete } = await toHash(state);
    if (isNew && !isKept && !complete) this._onLost();
    if (count === this._count) put("replaceState", kept, hash);
  }

  /**
   * @param {unknown} kept
   * @param {boolean} [isBack] true if something else was shown before
   */
  async _restore(kept, isBack = false) {
    clearTimeout(this._timer);
    this._count += 1;
    const state = isState(kept) ? kept : await fromHash(location.hash);
    if (!isBack && !state.model && !state.stream && !state.text) return false;
    this._isRestoring = true;
    try {
      await this._show(state);
    } finally {
      this._isRestoring = false;
    }
    return true;
  }

  /** The whole address of what is shown, and whether the text is in it. */
  async link() {
    const { hash, complete } = await toHash(this._stateOf());
    const url = new URL(location.href);
    url.hash = hash;
    return { url: url.href, complete };
  }
}

/**
 * @param {unknown} kept
 * @returns {kept is PageState}
 */
function isState(kept) {
  if (typeof kept !== "object" || kept === null) return false;
  const { model, stream, text } = /** @type {any} */ (kept);
  return [model, stream, text].some((one) => typeof one === "string" && one !== "");
}

/**
 * Changes the history of the browser.
 * @param {"pushState" | "replaceState"} how
 * @param {PageState} kept
 * @param {string} hash
 */
function put(how, kept, hash) {
  const url = hash === "" ? location.pathname + location.search : hash;
  try {
    history[how](kept, "", url);
  } catch {
    // The browser keeps no such large text: then the address alone counts.
    history[how](null, "", url);
  }
}

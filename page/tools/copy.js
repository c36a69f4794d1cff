/** The buttons that copy the value as JSON, and a link to what is shown. */

import { button, copyText } from "../dom.js";

/**
 * @typedef {object} Host
 * @property {() => Promise<{url: string, complete: boolean}>} link
 * @property {() => any} value at the moment that is shown; undefined if there is none
 * @property {(text: string) => void} announce
 */

export class CopyButtons {
  /**
   * @param {HTMLElement} place
   * @param {Host} host
   */
  constructor(place, host) {
    this._host = host;
    const json = button("Copy JSON", () => void this._copyJson(json));
    const link = button("Copy link", () => void this._copyLink(link));
    place.append(json, link);
  }

  /** @param {HTMLElement} item */
  async _copyJson(item) {
    const value = this._host.value();
    if (value === undefined) this._tell(item, "There is no value yet");
    else await this._copy(item, JSON.stringify(value, null, 2), "Copied");
  }

  /** @param {HTMLElement} item */
  async _copyLink(item) {
    const { url, complete } = await this._host.link();
    await this._copy(item, url, complete ? "Copied" : "Copied without the text, which is too large");
  }

  /**
   * @param {HTMLElement} item
   * @param {string} text
   * @param {string} told
   */
  async _copy(item, text, told) {
    const isCopied = await copyText(text).then(
      () => true,
      () => false,
    );
    this._tell(item, isCopied ? told : "Not allowed");
  }

  /**
   * Shows the result for a moment in place of the label.
   * @param {HTMLElement} item
   * @param {string} text
   */
  _tell(item, text) {
    item.dataset.label ??= item.textContent ?? "";
    item.textContent = text;
    this._host.announce(text);
    setTimeout(() => (item.textContent = item.dataset.label ?? ""), 1500);
  }
}

/** The menu "Keep": a link, the stream as a program, as a test case, as a file. */

import { button, copyText, make, setAttributes } from "../dom.js";
import { parse, stringify } from "../../js/src/jsontext.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("./snippets.js").Case} Case */
/**
 * @typedef {object} Host
 * @property {() => Recording | null} recording
 * @property {() => Promise<{url: string, complete: boolean}>} link
 * @property {() => string} url where the server has the events of the stream; `""` if it has not
 * @property {(text: string) => void} announce
 */

export class Share {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  _timer = undefined;

  /**
   * @param {HTMLElement} place
   * @param {Host} host
   */
  constructor(place, host) {
    this._host = host;
    this._told = make("p", "hint told");
    this._told.setAttribute("role", "status");
    const copy = (/** @type {string} */ label, /** @type {"asPython" | "asJavaScript" | "asCurl"} */ name) =>
      button(label, () => void this._copy(name));
    const save = (/** @type {string} */ label, /** @type {"asPythonTest" | "asJavaScriptTest" | "asRecording"} */ name, /** @type {string} */ file) =>
      button(label, () => void this._save(name, file));
    const items = make(
      "div",
      "menu-items",
      button("Copy a link", () => void this._copyLink()),
      make("h3", "", "Copy as"),
      copy("Python", "asPython"),
      copy("JavaScript", "asJavaScript"),
      copy("curl", "asCurl"),
      make("h3", "", "Export as test case"),
      save("pytest", "asPythonTest", "test_stream.py"),
      save("node:test", "asJavaScriptTest", "stream.test.js"),
      save("Recording, to open here again", "asRecording", "recording.json"),
      this._told,
    );
    this.menu = make("details", "menu", make("summary", "", "Keep"), items);
    setAttributes(/** @type {HTMLElement} */ (this.menu.firstElementChild), { title: "Link, copy as a program, export as a test case" });
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.menu.open) return;
      this.menu.open = false;
      /** @type {HTMLElement} */ (this.menu.firstElementChild).focus();
      event.stopPropagation();
    });
    document.addEventListener("click", (event) => {
      if (this.menu.open && !this.menu.contains(/** @type {Node} */ (event.target))) this.menu.open = false;
    });
    place.append(this.menu);
  }

  /** @returns {Case | null} */
  _case() {
    const recording = this._host.recording();
    return recording === null || recording.length === 0 ? null : caseOf(recording, this._host.url());
  }

  async _copyLink() {
    const { url, complete } = await this._host.link();
    const how = complete ? "Copied the link." : "Copied the link, without the text: it is too large. Export a recording instead.";
    await this._put(url, how);
  }

  /** @param {"asPython" | "asJavaScript" | "asCurl"} name */
  async _copy(name) {
    const shown = this._case();
    if (shown === null) return this._tell("There is nothing to copy yet.");
    const snippets = await import("./snippets.js");
    return this._put(snippets[name](shown), "Copied.");
  }

  /**
   * @param {"asPythonTest" | "asJavaScriptTest" | "asRecording"} name
   * @param {string} file
   */
  async _save(name, file) {
    const shown = this._case();
    if (shown === null) return this._tell("There is nothing to export yet.");
    const snippets = await import("./snippets.js");
    const url = URL.createObjectURL(new Blob([snippets[name](shown)], { type: "text/plain" }));
    const link = make("a");
    setAttributes(link, { href: url, download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    return this._tell(`Saved ${file}.`);
  }

  /**
   * @param {string} text
   * @param {string} told
   */
  async _put(text, told) {
    try {
      await copyText(text);
      this._tell(told);
    } catch {
      this._tell("The browser did not allow copying.");
    }
  }

  /** @param {string} text */
  _tell(text) {
    this._told.textContent = text;
    clearTimeout(this._timer);
    this._timer = setTimeout(() => (this._told.textContent = ""), 4000);
  }
}

/**
 * A recording as what snippets are made of.
 * @param {Recording} recording
 * @param {string} url
 * @returns {Case}
 */
export function caseOf(recording, url) {
  const { input, pieces, title, timed, options, many } = recording;
  const { repair, prefix, entity, provider } = options;
  const calls = recording.calls.length > 0;
  /** @type {any} */
  let value = calls
    ? recording.calls.map(({ call }) => ({ name: call.name, args: call.args ?? null }))
    : recording.valueAt(recording.length);
  // A copy: the value of the recording must not be changed by what reads it.
  if (value !== undefined) value = parse(stringify(value), "exact");
  const [error] = recording.errors.filter(({ code }) => code !== "INVALID_SCHEMA");
  return {
    title,
    input,
    pieces: pieces.map(({ source }) => source),
    times: pieces.map(({ at }) => (timed ? Math.round(at * 1000) / 1000 : null)),
    options: { repair: repair === true, many, prefix, entity, provider },
    value,
    error: !calls && error ? { code: error.code, message: error.message } : null,
    calls,
    url,
  };
}

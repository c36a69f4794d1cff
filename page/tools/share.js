/** The value as JSON, and a menu: a link, the stream as a program, as a test case, as a file. */

import { button, copyText, make, setAttributes } from "../dom.js";
import { PROVIDER } from "../errors.js";
import * as CODES from "../../js/src/codes.js";
import { parse, stringify } from "../../js/src/jsontext.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("./snippets.js").Case} Case */
/**
 * @typedef {object} Host
 * @property {() => Recording | null} recording
 * @property {() => Promise<{url: string, complete: boolean}>} link
 * @property {() => {url?: string, server?: string, hasToken?: boolean}} server where it is, and where it has the events
 * @property {() => any} value at the moment that is shown; undefined if there is none
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
    /** @type {(label: string, name: "asPythonTest" | "asJavaScriptTest" | "asRecording", file: string) => HTMLElement} */
    const save = (label, name, file) => button(label, () => void this._save(name, file));
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
    this.menu = make("details", "menu", make("summary", "", "Copy or export"), items);
    setAttributes(/** @type {HTMLElement} */ (this.menu.firstElementChild), {
      title: "Link, copy as a program, export as a test case",
    });
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.menu.open) return;
      this.menu.open = false;
      /** @type {HTMLElement} */ (this.menu.firstElementChild).focus();
      event.stopPropagation();
    });
    document.addEventListener("click", (event) => {
      if (this.menu.open && !this.menu.contains(/** @type {Node} */ (event.target))) this.menu.open = false;
    });
    this._json = button("Copy JSON", () => void this._copyJson());
    place.append(this._json, this.menu);
  }

  /** Copies the value of the moment that is shown. */
  async _copyJson() {
    const value = this._host.value();
    let text = "There is no value yet";
    if (value !== undefined)
      text = await copyText(stringify(value, 2)).then(
        () => "Copied",
        () => "Not allowed",
      );
    this._json.textContent = text;
    this._host.announce(text);
    setTimeout(() => (this._json.textContent = "Copy JSON"), 1500);
  }

  /** @returns {Case | null} */
  _case() {
    const recording = this._host.recording();
    return recording === null || recording.length === 0 ? null : caseOf(recording, this._host.server());
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
 * @param {{url?: string, server?: string, hasToken?: boolean}} [where] the server, and its events of the stream
 * @returns {Case}
 */
export function caseOf(recording, where = {}) {
  const { input, pieces, title, timed, options, many } = recording;
  const { repair, prefix, entity, provider, schema } = options;
  const kind = kindOf(recording);
  return {
    title,
    kind,
    input,
    pieces: pieces.map(({ source }) => source),
    times: pieces.map(({ at }) => (timed ? Math.round(at * 1000) / 1000 : null)),
    options: { repair: repair === true, many, prefix, entity, provider, schema },
    value: finalValue(recording, kind),
    error: kind === "calls" ? null : errorOf(recording),
    ...where,
  };
}

/**
 * @param {Recording} recording
 * @returns {import("./snippets.js").Kind}
 */
function kindOf({ input, calls, hasDocument, options, many }) {
  if (input === "snapshots") return "snapshots";
  if (calls.length > 0) return "calls";
  if (!hasDocument) return "prose";
  if (options.entity) return "entities";
  return many ? "many" : "value";
}

/**
 * @param {Recording} recording
 * @param {import("./snippets.js").Kind} kind
 */
function finalValue(recording, kind) {
  if (kind === "prose") return recording.text;
  const value =
    kind === "calls"
      ? recording.calls.map(({ call }) => ({ name: call.name, args: call.args ?? null }))
      : recording.valueAt(recording.length);
  // A copy: the value of the recording must not be changed by what reads it.
  return value === undefined ? undefined : parse(stringify(value));
}

/** The error that the library raises. @param {Recording} recording */
function errorOf(recording) {
  const { errors, cut } = recording;
  const [first] = errors;
  if (first === undefined && cut === null) return null;
  if (first?.code === PROVIDER) return { code: CODES.SOURCE_FAILED, message: first.message };
  if (first === undefined && cut !== null) return { code: CODES.TRUNCATED, message: cut.message };
  return { code: first.code, message: first.message };
}

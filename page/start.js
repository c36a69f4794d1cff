/** The first view: the box to paste into, files, examples, the address. */

import { describePlace } from "./characters.js";
import { button, byId, make } from "./dom.js";
import { parseJson } from "./format.js";
import { Outline } from "./outline.js";
import { describeFault } from "./remedies.js";

/** @typedef {import("./source.js").Sample} Sample */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./recognise.js").Kind} Kind */

export class Start {
  #paste = byId("paste", HTMLTextAreaElement);
  /** @type {Sample[]} */
  #samples = [];
  #source;

  /** @param {Source} source */
  constructor(source) {
    this.#source = source;
    const input = byId("file-input", HTMLInputElement);
    byId("paste-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#open(this.#paste.value, "Pasted");
    });
    this.#paste.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#open(this.#paste.value, "Pasted");
    });
    byId("new").addEventListener("click", () => this.focus());
    byId("file").addEventListener("click", () => input.click());
    input.addEventListener("change", () => this.#openFile(input.files?.[0]));
    addEventListener("paste", (event) => this.#onPaste(event));
    addEventListener("popstate", () => this.#route());
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => this.#take(event, event.dataTransfer, "Dropped"));
  }

  /** Show the box to paste into. */
  focus() {
    document.body.dataset.view = "start";
    document.title = "jsonrill";
    this.#paste.focus();
    this.#paste.select();
  }

  async arrive() {
    const { version = "", server } = document.documentElement.dataset;
    byId("version").textContent = version;
    byId("api").hidden = server === "off";
    byId("privacy").textContent = this.#source.canRender
      ? `What you paste goes to ${location.host} as a private stream, which is deleted after an hour.`
      : "The text stays in your browser.";
    const response = await fetch(new URL("web/page/samples.json", document.baseURI));
    this.#samples = await response.json();
    byId("samples").replaceChildren(...this.#samples.map((sample) => this.#chip(sample)));
    this.#route();
  }

  /** Open the example or stream that the address names. */
  #route() {
    const address = new URLSearchParams(location.hash.slice(1));
    const sample = this.#samples.find(({ name }) => name === address.get("example"));
    const stream = address.get("stream");
    if (sample) void this.#play(sample);
    else if (stream !== null) void this.#source.stream(stream);
    else document.body.dataset.view = "start";
  }

  /** @param {Sample} sample */
  #chip(sample) {
    const chip = button(sample.title, () => {
      history.pushState(null, "", `#example=${sample.name}`);
      void this.#play(sample);
    });
    chip.title = sample.about;
    chip.dataset.sample = sample.name;
    return make("li", "", chip);
  }

  /** @param {Sample} sample */
  async #play(sample) {
    await this.#source.example(sample);
    this.#press(sample.name);
  }

  /** @param {string} name */
  #press(name) {
    const list = byId("samples");
    for (const chip of list.querySelectorAll("button")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.sample === name));
      if (chip.dataset.sample === name) list.scrollLeft = chip.offsetLeft - list.clientWidth / 3;
    }
  }

  /**
   * @param {string} text
   * @param {string} title
   */
  #open(text, title) {
    const kind = /** @type {Kind | "auto"} */ (byId("kind", HTMLSelectElement).value);
    const schema = byId("schema", HTMLTextAreaElement).value.trim();
    const entity = byId("entity", HTMLInputElement).value.trim();
    /** @type {{[name: string]: any}} */
    const options = entity === "" ? {} : { entity };
    if (schema !== "") options.schema = parseJson(schema);
    const [fault] = schema === "" ? [] : Outline.of(schema).faults;
    const place = fault ? ` (${describePlace(schema, fault.offset, fault.path)})` : "";
    const wrong = fault ? describeFault(fault, schema, "The schema is not JSON") + place : "";
    history.pushState(null, "", "#pasted");
    const problem = wrong || this.#source.paste(text, title, kind, options);
    byId("problem").textContent = problem;
    byId("problem").hidden = problem === "";
    this.#press("");
    if (problem !== "") this.focus();
    if (wrong !== "") byId("schema").focus();
  }

  /** Open a file. A folder, or a file that was deleted, has no text. @param {File | undefined} file */
  #openFile(file) {
    const open = (/** @type {string} */ text) => this.#open(text, file?.name ?? "");
    void file?.text().then(open, () => open(""));
  }

  /** @param {ClipboardEvent} event */
  #onPaste(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!target.closest?.("input, textarea, dialog")) this.#take(event, event.clipboardData, "Pasted");
  }

  /**
   * @param {Event} event
   * @param {DataTransfer | null} data
   * @param {string} title
   */
  #take(event, data, title) {
    event.preventDefault();
    const [file] = data?.files ?? [];
    if (file) this.#openFile(file);
    else this.#open(data?.getData("text/plain") ?? "", title);
  }
}

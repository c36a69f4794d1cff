/**
 * What was pasted or dropped: says what was recognised, offers what would help if it fails, and lets
 * the user change how it is read. Nothing of the text leaves the browser.
 */

import { button, make, setAttributes, showMessage } from "../dom.js";
import { describe } from "../errors.js";
import { escapeText, formatCount, shorten } from "../escaping.js";
import { build, placesOf, repairedText, verdict } from "./build.js";
import { PROVIDERS } from "./recognise.js";

export { readAgain } from "./build.js";

/** @typedef {import("./build.js").Built} Built */
/** @typedef {import("./build.js").Wishes} Wishes */
/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../views.js").Start} Start */
/** What is at a place in the text; -1: at none. @typedef {[string, number]} Spot */
/**
 * What the page offers to this tool.
 * @typedef {object} Host
 * @property {(recording: Recording, how: Start) => void} open shows a recording
 * @property {(change: Wishes) => void} readAgain shows the stream that is not of a text, read in another way
 * @property {(reason: string) => void} refuse says why a text cannot be read at all
 * @property {(offset: number) => void} revealText
 * @property {(text: string) => void} announce
 * @property {() => number} pieceSize
 */

const FORMATS = [
  ["auto", "Auto-detect"],
  ["text", "JSON text"],
  ["many", "Several documents (NDJSON)"],
  ["snapshots", "Snapshots, one per line"],
  ["events", "Provider events"],
  ["sse", "Server-sent events"],
];
// Larger texts would fill the memory of a browser.
const MAX_TEXT = 64 << 20;
const SHOWN = 8;

export class PasteTool {
  /** What is read; null if another stream is shown. @type {{text: string, title: string, wishes: Wishes} | null} */
  current = null;
  /** @type {Built | null} */
  built = null;

  /**
   * @param {HTMLElement} place
   * @param {Host} host
   */
  constructor(place, host) {
    this._place = place;
    this._host = host;
    this._sentence = make("p", "recognised");
    this._change = button("Change how it is read", () => this._toggle(this._form.element.hidden), "small");
    this._change.setAttribute("aria-expanded", "false");
    this._problem = make("p", "problem");
    this._advice = make("p", "advice");
    this._buttons = make("div", "row-of-buttons");
    this._help = make("div", "help", this._problem, this._advice, this._buttons);
    this._details = make("div", "found-places");
    this._form = new ReadingForm((wishes) => this.change(wishes));
    this._head = make("div", "reading-head", this._sentence, this._change);
    this._element = make("div", "reading", this._head, this._help, this._details, this._form.element);
  }

  /**
   * Reads a text and shows it.
   * @param {string} text
   * @param {string} title
   * @param {Wishes} [wishes]
   * @param {Start} [how]
   */
  read(text, title, wishes = {}, how = {}) {
    if (text !== this.current?.text) this._toggle(false);
    if (text.trim() === "") return this._host.refuse("There is no text to replay.");
    if (text.length > MAX_TEXT) return this._host.refuse("The text is larger than 64 MB, the limit.");
    this.current = { text, title, wishes };
    const built = build(text, { title, pieceSize: this._host.pieceSize() }, wishes);
    this.built = built;
    const { recording, suits } = built;
    const restart = () => void this.read(text, title, this.current?.wishes, { plays: true });
    this._host.open(recording, { suits, restart, ...how });
    this._show();
    return undefined;
  }

  /**
   * Reads the same text in another way.
   * @param {Wishes} change
   */
  change(change) {
    if (this.current === null) return this._host.readAgain(change);
    const { text, title, wishes } = this.current;
    this.read(text, title, { ...wishes, ...change });
    return this._host.announce(this.built?.problem || this.built?.description || "");
  }

  /**
   * Says what is wrong with a recording that is not of a text, and offers what would help.
   * @param {Recording} recording that has ended
   */
  check(recording) {
    this.current = this.built = null;
    this._head.hidden = this._form.element.hidden = true;
    this._showFindings(recording, verdict(recording), placesOf(recording), []);
  }

  /**
   * Says something about the text as a whole.
   * @param {string} text
   */
  tell(text) {
    this._details.prepend(make("p", "note", text));
  }

  /** Another stream is shown. */
  clear() {
    this.current = this.built = null;
    this._element.remove();
    this._place.hidden = true;
  }

  // ---- showing ----

  _show() {
    const { built, current } = this;
    if (built === null || current === null) return;
    const { recognised, description, places, notes, recording } = built;
    this._head.hidden = false;
    this._sentence.replaceChildren("Detected: ", make("b", "", escapeText(description)));
    this._showFindings(recording, built, places, notes);
    if (current.wishes.schema && built.problem === "" && notes.length === 0) {
      this._details.append(make("p", "valid", "The value is valid."));
    }
    this._form.fill(recognised, current.wishes);
  }

  /**
   * @param {Recording} recording
   * @param {import("./build.js").Verdict} verdict
   * @param {Built["places"]} places
   * @param {string[]} notes
   */
  _showFindings(recording, { problem, advice, suggestions }, places, notes) {
    this._place.replaceChildren(this._element);
    this._place.hidden = false;
    this._showHelp(problem, advice, suggestions);
    const repaired = places.map(({ start, label }) => /** @type {Spot} */ ([label, start]));
    const faults = recording.textErrors.map((fault) => /** @type {Spot} */ ([describe(fault), fault.offset ?? -1]));
    // The only one that is no violation is the problem itself.
    const isTold = faults.length === 1 && recording.textErrors[0].code !== "INVALID_SCHEMA";
    this._details.replaceChildren();
    if (repaired.length > 0) this._details.append(this._listed("repaired", repairedText(places), repaired));
    if (notes.length > 0) this._details.append(make("p", "note", escapeText(notes.join(" "))));
    if (faults.length > 0 && !isTold) this._details.append(this._listed("faults", "", faults));
  }

  /**
   * @param {string} className
   * @param {string} text
   * @param {Spot[]} spots
   */
  _listed(className, text, spots) {
    const list = make("ul", "spots");
    for (const [label, offset] of spots.slice(0, SHOWN)) {
      const shown = escapeText(shorten(label, 90));
      const item = offset < 0 ? make("span", "", shown) : button(shown, () => this._host.revealText(offset), "spot");
      list.append(make("li", "", item));
    }
    if (spots.length > SHOWN) list.append(make("li", "muted", `and ${formatCount(spots.length - SHOWN, "more", "more")}`));
    return make("div", className, ...(text ? [make("p", "", escapeText(text))] : []), list);
  }

  /**
   * @param {string} problem
   * @param {string} advice
   * @param {import("./build.js").Suggestion[]} suggestions
   */
  _showHelp(problem, advice, suggestions) {
    this._help.hidden = problem === "" && advice === "" && suggestions.length === 0;
    showMessage(this._problem, escapeText(problem));
    showMessage(this._advice, advice);
    const buttons = suggestions.map(({ label, change }, at) => button(label, () => this.change(change), at === 0 ? "main" : ""));
    this._buttons.replaceChildren(...buttons);
    this._buttons.hidden = buttons.length === 0;
    if (problem) this._host.announce(problem);
  }

  /** @param {boolean} isOpen whether the form is shown */
  _toggle(isOpen) {
    this._form.element.hidden = !isOpen;
    this._change.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this._form.focus();
  }
}

/** How a text is read, as a form. */
class ReadingForm {
  _format = select(FORMATS);
  _provider = select([["", "Auto-detect"], ...Object.entries(PROVIDERS).sort((one, other) => one[1].localeCompare(other[1]))]);
  _response = select([]);
  _repair = make("input");
  _prefix = line("such as {");
  _entity = line("such as days[*].activities");
  _schema = make("textarea");
  _responseBox = make("label", "", "Response of the HAR file ", this._response);

  /** @param {(wishes: Wishes) => void} onChange */
  constructor(onChange) {
    this._repair.type = "checkbox";
    setAttributes(this._schema, { rows: 3, spellcheck: false, autocomplete: "off", placeholder: '{"type": "object", …}' });
    this.element = make(
      "form",
      "reading-form",
      make("label", "", "Format ", this._format),
      make("label", "", "Provider ", this._provider),
      this._responseBox,
      make("label", "", "Text before it ", this._prefix),
      make("label", "", "Entity ", this._entity),
      make("label", "check", this._repair, " Repair what is nearly JSON"),
      make("label", "wide", "JSON Schema ", this._schema),
    );
    this.element.hidden = true;
    this.element.addEventListener("change", () => onChange(this._wishes));
    this.element.addEventListener("submit", (event) => event.preventDefault());
  }

  focus() {
    this._format.focus();
  }

  /** @returns {Wishes} */
  get _wishes() {
    return {
      format: /** @type {any} */ (this._format.value),
      many: false, // the format says it
      provider: this._provider.value,
      repair: this._repair.checked,
      prefix: this._prefix.value,
      entity: this._entity.value.trim(),
      schema: this._schema.value,
      response: this._responseBox.hidden ? -1 : Number(this._response.value),
    };
  }

  /**
   * @param {import("./recognise.js").Recognised} recognised
   * @param {Wishes} wishes
   */
  fill(recognised, wishes) {
    this._format.value = wishes.many && !wishes.format ? "many" : (wishes.format ?? "auto");
    this._provider.value = wishes.provider ?? "";
    this._repair.checked = wishes.repair ?? recognised.options?.repair ?? false;
    this._prefix.value = wishes.prefix ?? "";
    this._entity.value = wishes.entity ?? "";
    this._schema.value = wishes.schema ?? "";
    this._responseBox.hidden = recognised.responses.length < 2;
    this._response.replaceChildren(
      ...recognised.responses.map(({ title }, at) => option(String(at), escapeText(shorten(title, 80)))),
    );
    if (recognised.response >= 0) this._response.value = String(recognised.response);
  }
}

/** @param {string[][]} options */
function select(options) {
  const element = make("select");
  for (const [value, label] of options) element.append(option(value, label));
  return element;
}

/** @param {string} placeholder */
function line(placeholder) {
  const input = make("input");
  setAttributes(input, { type: "text", placeholder, spellcheck: false, autocomplete: "off" });
  return input;
}

/**
 * @param {string} value
 * @param {string} label
 */
function option(value, label) {
  const element = make("option", "", label);
  element.value = value;
  return element;
}

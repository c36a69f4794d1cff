/** What was pasted or dropped: says what was recognised and what is wrong. The text stays in the browser. */

import { button, make, showMessage } from "../dom.js";
import { endOf } from "../ending.js";
import { describe } from "../errors.js";
import { escapeText, formatCount, shorten } from "../escaping.js";
import { build } from "./build.js";

/** @typedef {import("./recognise.js").Chosen} Chosen */
/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {import("../views.js").Start} Start */
/**
 * What the page offers to this tool.
 * @typedef {object} Host
 * @property {(recording: Recording, how: Start) => void} open shows a recording
 * @property {(reason: string) => void} refuse says why a text cannot be read at all
 * @property {(offset: number) => void} revealText
 * @property {(text: string) => void} announce
 * @property {() => number} pieceSize
 */

// Larger texts would fill the memory of a browser.
const MAX_TEXT = 64 << 20;
const SHOWN = 8;

export class PasteTool {
  /** What is read; null if another stream is shown. @type {{text: string, title: string, format: Chosen} | null} */
  current = null;

  /**
   * @param {HTMLElement} place
   * @param {Host} host
   */
  constructor(place, host) {
    this._place = place;
    this._host = host;
    this._sentence = make("p", "recognised");
    this._problem = make("p", "problem");
    this._advice = make("p", "advice");
    this._details = make("div", "found-places");
    this._element = make("div", "reading", this._sentence, this._problem, this._advice, this._details);
  }

  /**
   * Reads a text and shows it.
   * @param {string} text
   * @param {string} title
   * @param {Chosen} format
   * @param {Start} [how]
   */
  read(text, title, format, how = {}) {
    if (text.trim() === "") return this._host.refuse("There is no text to replay.");
    if (text.length > MAX_TEXT) return this._host.refuse("The text is larger than 64 MB, the limit.");
    this.current = { text, title, format };
    const built = build(text, { title, pieceSize: this._host.pieceSize(), format });
    const restart = () => void this.read(text, title, format, { plays: true });
    this._host.open(built.recording, { suits: built.suits, restart, ...how });
    this._sentence.hidden = false;
    this._sentence.replaceChildren("Detected: ", make("b", "", escapeText(built.description)));
    this._show(built.recording, built);
    if (built.note) this.tell(built.note);
    return undefined;
  }

  /**
   * Says what is wrong with a recording that is not of a text.
   * @param {Recording} recording that has ended
   */
  check(recording) {
    this.current = null;
    this._sentence.hidden = true;
    this._show(recording, endOf(recording));
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
    this.current = null;
    this._element.remove();
    this._place.hidden = true;
  }

  /**
   * @param {Recording} recording
   * @param {import("./build.js").Verdict} verdict
   */
  _show({ textErrors }, { problem, advice }) {
    this._place.replaceChildren(this._element);
    this._place.hidden = false;
    showMessage(this._problem, escapeText(problem));
    showMessage(this._advice, advice);
    if (problem) this._host.announce(problem);
    this._details.replaceChildren();
    // A single error in the text is the problem itself.
    const isTold = textErrors.length === 1 && textErrors[0].code !== "INVALID_SCHEMA";
    if (textErrors.length > 0 && !isTold) this._details.append(this._listed(textErrors));
  }

  /** @param {Recording["textErrors"]} faults */
  _listed(faults) {
    const list = make("ul", "spots");
    for (const fault of faults.slice(0, SHOWN)) {
      const { offset } = fault;
      const shown = escapeText(shorten(describe(fault), 90));
      const item = offset === null ? make("span", "", shown) : button(shown, () => this._host.revealText(offset), "spot");
      list.append(make("li", "", item));
    }
    if (faults.length > SHOWN) list.append(make("li", "muted", `and ${formatCount(faults.length - SHOWN, "more", "more")}`));
    return make("div", "faults", list);
  }
}

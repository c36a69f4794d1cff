/**
 * The view "Others": what `JSON.parse` and other libraries make of the text at this moment, beside
 * what jsonrill shows. The other libraries are there only if `make page` added them.
 */

import { make, setAttributes } from "../dom.js";
import { escapeText, shorten } from "../escaping.js";
import { stringify } from "../../js/src/jsontext.js";

/** @typedef {import("../recording.js").Recording} Recording */
/** @typedef {(text: string) => unknown} Reader */

const MAX_TEXT = 200_000;
const SHOWN = 4000;
// Milliseconds between two looks: each reads the whole text again.
const PAUSE = 120;

class Others {
  /** @type {Recording | null} */
  _recording = null;
  _drawn = "";
  _at = 0;
  /** @type {Map<string, Reader>} */
  _readers = new Map([["JSON.parse", (/** @type {string} */ text) => JSON.parse(text)]]);
  _isLoaded = false;

  /** @param {HTMLElement} panel */
  constructor(panel) {
    this._note = make("p", "hint");
    this._list = make("div", "others");
    panel.append(this._note, this._list);
  }

  /** The other libraries are loaded when the view is opened. */
  focus() {
    const url = document.documentElement.dataset.rivals;
    if (this._isLoaded || !url) return;
    this._isLoaded = true;
    import(new URL(url, document.baseURI).href).then(
      ({ rivals }) => {
        for (const [name, read] of Object.entries(rivals)) this._readers.set(name, /** @type {Reader} */ (read));
        this._drawn = "";
        this._draw(this._position);
      },
      () => (this._note.textContent = "The other libraries could not be loaded."),
    );
  }

  _position = 0;

  /** @param {Recording | null} recording */
  begin(recording) {
    this._recording = recording;
    this._drawn = "";
    this._list.replaceChildren();
  }

  /** @param {number} position */
  draw(position) {
    this._position = position;
    const key = `${position} ${this._recording?.length} ${this._readers.size}`;
    if (key === this._drawn || this._recording === null) return false;
    const now = performance.now();
    if (now < this._at + PAUSE) return true;
    this._at = now;
    this._drawn = key;
    this._draw(position);
    return false;
  }

  /** @param {number} position */
  _draw(position) {
    const recording = this._recording;
    if (recording === null) return;
    if (recording.input === "snapshots") {
      this._note.textContent = "Snapshots are complete values: there is nothing to compare.";
      return;
    }
    const text = recording.textAt(position);
    if (text.length > MAX_TEXT) {
      this._note.textContent = "The text is too large to be read again at every moment.";
      this._list.replaceChildren();
      return;
    }
    this._note.textContent = `Each reads the ${text.length} characters that have come by piece ${position}.`;
    const ours = recording.valueAt(position);
    const own = ours === undefined ? null : stringify(ours, 2);
    const boxes = [box("jsonrill", own === null ? "no value yet" : own, own === null ? "none" : "ours")];
    for (const [name, read] of this._readers) {
      let shown;
      let kind = "value";
      try {
        const value = read(text);
        shown = value === undefined ? "undefined" : JSON.stringify(value, null, 2);
        const isSame = own !== null && JSON.stringify(value) === JSON.stringify(JSON.parse(own));
        kind = isSame ? "same" : "value";
      } catch (error) {
        shown = error instanceof Error ? error.message : String(error);
        kind = "thrown";
      }
      boxes.push(box(name, shown ?? "undefined", kind));
    }
    this._list.replaceChildren(...boxes);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {string} kind
 */
function box(name, text, kind) {
  /** @type {Record<string, string>} */
  const words = { same: "the same value", value: "another value", thrown: "throws", ours: "", none: "" };
  const pre = make("pre", "", escapeText(shorten(text, SHOWN)));
  setAttributes(pre, { tabindex: 0, role: "region", "aria-label": name });
  return make("section", `other ${kind}`, make("h4", "", name, " ", make("span", "badge", words[kind])), pre);
}

/** @param {HTMLElement} panel */
export function mount(panel) {
  return new Others(panel);
}

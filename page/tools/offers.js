/**
 * Whether a text can be read, and what would help if it cannot.
 *
 * Every offer has been tried: it is made only if the text can be read with it. No DOM.
 */

import { Document } from "../../js/src/build/document.js";
import { JsonrillError, Truncated } from "../../js/src/errors.js";
import { formatCount, skipCharacters } from "../escaping.js";
import { RULES } from "./rules.js";
import "../../js/src/repair.js";

/** @typedef {import("../../js/src/parse/machine.js").Repair} Repair */
/** How a text is read. @typedef {{repair?: boolean, many?: boolean, prefix?: string}} Reading */
/**
 * `change` is what the click changes in the reading; `repairs` are what it would repair.
 * @typedef {{label: string, change: Reading, repairs: Repair[]}} Offer
 */
/**
 * `error` is null if the text can be read. `isCut`: it is JSON that has not ended.
 * @typedef {{error: JsonrillError | null, isCut: boolean, repairs: Repair[], offers: Offer[]}} Verdict
 */

// Larger texts are not tried: reading one takes about a second.
const MAX_TRIED = 8 << 20;

/**
 * Reads a text: what went wrong, what was repaired.
 * @param {string} text
 * @param {Reading} [reading]
 */
function read(text, { repair = false, many = false, prefix = "" } = {}) {
  const document = new Document({ repair, many, prefix });
  /** @type {JsonrillError | null} */
  let error = null;
  try {
    document.feed(text);
    document.flush();
    if (document.errors.length > 0) error = document.errors[0];
  } catch (thrown) {
    if (!(thrown instanceof JsonrillError)) throw thrown;
    error = thrown;
  }
  const documents = document.document + 1;
  return { error, repairs: document.repairs, started: document.started, documents };
}

/**
 * Whether a text can be read so, and the offers if it cannot.
 * @param {string} text
 * @param {Reading} [reading]
 * @returns {Verdict}
 */
export function diagnose(text, reading = {}) {
  const { error, repairs } = read(text, reading);
  const isCut = error instanceof Truncated && error.path !== undefined && text.trim() !== "";
  /** @type {Offer[]} */
  const offers = [];
  if (error === null || text.length > MAX_TRIED) return { error, isCut, repairs, offers };
  const offer = (/** @type {string} */ label, /** @type {Reading} */ change) => {
    const tried = read(text, { ...reading, ...change });
    if (tried.error === null && tried.started) offers.push({ label, change, repairs: tried.repairs });
    return tried;
  };
  if (!reading.many && /[}\]"\d\w]\s*[{["]/.test(text)) {
    const { documents } = read(text, { ...reading, many: true });
    if (documents > 1) offer(`Read ${formatCount(documents, "document")}`, { many: true });
  }
  // Repair would take the first of several documents and leave out the others.
  if (!reading.repair && offers.length === 0) {
    const { repairs: needed } = offer("Repair", { repair: true });
    const last = offers.at(-1);
    if (last?.change.repair) {
      const onlyCut = isCut && needed.every(({ rule }) => rule === "cut-off");
      last.label = onlyCut ? "Close what is cut off" : `Repair ${formatCount(needed.length, "place")}`;
    }
  }
  if (!reading.prefix && /^\s*"[^"\n]*"\s*:/.test(text)) {
    offer("Put { before it", { prefix: "{" });
    if (!reading.repair) offer("Put { before it and repair", { prefix: "{", repair: true });
  }
  return { error, isCut, repairs, offers: fewest(offers) };
}

/** The offers, without those that change more than another one. @param {Offer[]} offers */
function fewest(offers) {
  return offers.filter(({ change }) => {
    const keys = Object.keys(change);
    return !offers.some((other) => {
      const fewer = Object.keys(other.change);
      return fewer.length < keys.length && fewer.every((key) => keys.includes(key));
    });
  });
}

/**
 * The places that were repaired, as ranges of UTF-16 units, with what each rule did.
 * @param {string} text
 * @param {readonly Pick<Repair, "rule" | "offset">[]} repairs
 * @param {boolean} [inUnits] true if their offsets are UTF-16 units, and not characters
 * @returns {{start: number, end: number, rule: string, label: string}[]}
 */
export function repairedPlaces(text, repairs, inUnits = false) {
  const sorted = [...repairs].sort((a, b) => a.offset - b.offset);
  let units = 0;
  let count = 0;
  return sorted.map(({ rule, offset }) => {
    const from = Math.max(0, offset);
    units = inUnits ? Math.min(from, text.length) : skipCharacters(text, from - count, units);
    count = from;
    return { start: units, end: endOf(text, units, rule), rule, label: RULES[rule] ?? rule };
  });
}

/**
 * The end of what a rule is about, as far as it can be seen in the text.
 * @param {string} text
 * @param {number} start
 * @param {string} rule
 */
function endOf(text, start, rule) {
  const rest = text.slice(start, start + 2000);
  /** @type {Record<string, RegExp>} */
  const shapes = {
    fences: /^\x60{3,}[^\n]*/,
    comments: /^(?:\/\*[^]*?\*\/|\/\/[^\n]*|#[^\n]*)/,
    "bare-keys": /^[\p{L}\p{N}_$-]+/u,
    "bare-values": /^[^,\]}\n]+/,
    "python-literals": /^\w+/,
    nan: /^-?\w+/,
    numbers: /^[\w.+-]+/,
    ellipses: /^(?:\.{3}|…)/,
    "single-quotes": /^'[^'\n]*'/,
    "bad-escapes": /^\\./,
    "markdown-escapes": /^\\./,
    "leading-text": /^[^{["\n]+/,
    "trailing-text": /^[^\n]+/,
  };
  const length = shapes[rule]?.exec(rest)?.[0].length ?? 0;
  return Math.min(text.length, length > 0 ? start + length : skipCharacters(text, 1, start));
}

/**
 * One text → prose, reasoning, JSON blocks and the tool calls that open models write as text.
 *
 * `TAGS` is the table: each entry says how a part begins, and names the reader of what follows. Nothing
 * is lost: joined, the `raw` of all segments is the text. Only what may be the beginning of a tag is
 * held back. A tag inside of a JSON string, after a back-tick, or in a fenced block of another language
 * is text.
 */

import { READERS } from "./readers.js";
import { TAGS } from "./split-tags.js";
import { MOST_SPACE, SPACE, WORD, trim, trimStart } from "./split-text.js";

/** @typedef {import("./split-tags.js").Tag} Tag */
/** @typedef {import("./readers.js").Reader} Reader */
/** @typedef {boolean | string | Iterable<string>} Split */
/** True, false, or null if more text is needed to know. @typedef {(rest: string) => boolean | null} Accepts */
/**
 * A piece of one part: its content, and the characters of the text that it stands for. The parts of a
 * text are numbered; the prose before, between and behind them, too. `closed`: the part has ended as it
 * should.
 * @typedef {{kind: "text" | "reasoning" | "json" | "call", number: number, content: string, raw: string,
 *   name: string | null, id: string | null, closed: boolean}} Segment
 */

const JSON_FENCES = ["json", "jsonc", "json5"];
const CALL_NAME = new RegExp(`^\\n?${WORD}{1,200}`, "u");
const MISTRAL_NAME = new RegExp(`^[${SPACE}]{0,100}${WORD}{1,200}`, "u");
const FUNCTION_NAME = new RegExp(`^["']?${WORD}{0,200}["']?[ \\t]{0,10}`, "u");
const PYTHON_CALL = new RegExp(`^[${SPACE}]{0,100}[A-Za-z_][\\p{L}\\p{N}_.]{0,100}\\(`, "u");
const PYTHON_BEGUN = new RegExp(`^[${SPACE}]{0,100}(?:[A-Za-z_][\\p{L}\\p{N}_.]{0,100})?$`, "u");

/**
 * Accepts a text that begins, after white space, with one of these.
 * @param {...string} beginnings
 * @returns {Accepts}
 */
function afterSpace(...beginnings) {
  return (rest) => {
    const trimmed = trimStart(rest);
    if (rest.length - trimmed.length > MOST_SPACE) return false;
    if (beginnings.some((it) => trimmed.startsWith(it))) return true;
    return beginnings.some((it) => it.startsWith(trimmed)) ? null : false;
  };
}

/** The functions that the table names. @type {{[name: string]: Accepts}} */
const FUNCTIONS = {
  anything: () => true,

  /** The rest of a fence's first line, and what follows, if the block holds JSON. */
  "json fence"(rest) {
    const end = rest.indexOf("\n");
    const line = end < 0 ? rest : rest.slice(0, end);
    const info = trim(line).toLowerCase();
    if (line.length > 80) return false;
    if (end < 0) return JSON_FENCES.some((name) => name.startsWith(info)) ? null : false;
    if (JSON_FENCES.includes(info)) return true;
    return info ? false : afterSpace("{", "[")(rest.slice(end + 1));
  },

  /** What may follow `<tool_call>`: an object, a function tag, or a name and arguments. */
  "names a call"(rest) {
    let verdict = afterSpace("{", "<function=", "```")(rest);
    const begun = trimStart(rest);
    if (verdict && begun.startsWith("<function=")) return FUNCTIONS["function name"](begun.slice(10));
    if (verdict === false) verdict = FUNCTIONS["object in list"](rest);
    const name = CALL_NAME.exec(rest);
    if (verdict !== false || name === null) return verdict;
    return afterSpace("<arg_key>", "</tool_call>")(rest.slice(name[0].length));
  },

  /** A list whose first element is an object. */
  "object in list"(rest) {
    const verdict = afterSpace("[")(rest);
    return verdict ? afterSpace("{")(trimStart(rest).slice(1)) : verdict;
  },

  /** What may follow `[TOOL_CALLS]`: a list of objects, or a name and arguments. */
  "mistral call"(rest) {
    const verdict = FUNCTIONS["object in list"](rest);
    const name = MISTRAL_NAME.exec(rest);
    if (verdict !== false || name === null) return verdict;
    return afterSpace("[ARGS]", "[CALL_ID]", "{")(rest.slice(name[0].length));
  },

  "function name"(rest) {
    const [name] = /** @type {RegExpExecArray} */ (FUNCTION_NAME.exec(rest));
    const behind = rest.slice(name.length);
    return behind ? behind.startsWith(">") && /[^"' \t]/.test(name) : null;
  },

  "python call"(rest) {
    if (PYTHON_CALL.test(rest)) return true;
    return PYTHON_BEGUN.test(rest) ? null : false;
  },
};

/** @param {Tag} tag @returns {Accepts} */
function acceptsOf({ accepts: [name, ...beginnings] }) {
  return beginnings.length === 0 ? FUNCTIONS[name] : afterSpace(...beginnings);
}

const ACCEPTS = new Map(TAGS.map((tag) => [tag, acceptsOf(tag)]));

/** The names of the formats. */
export const FORMATS = [...new Set(TAGS.map(({ name }) => name))];

/**
 * The entries of the table that `split` asks for; `TypeError` for a name that it lacks.
 * @param {Split} split
 */
export function chosen(split) {
  if (typeof split === "boolean") return TAGS.filter(({ surely }) => split && surely);
  const names = new Set(typeof split === "string" ? [split] : split);
  const unknown = [...names].filter((name) => !FORMATS.includes(name));
  if (unknown.length !== 0) {
    throw new TypeError(`split has no ${unknown.sort().join(", ")}; it has ${FORMATS.join(", ")}`);
  }
  return TAGS.filter(({ name }) => names.has(name));
}

/** Divides one text: `feed` it in pieces, then `flush`. */
export class Splitter {
  /** True once there was any text. */
  fed = false;
  #tags;
  #repair;
  #openings;
  #literals;
  #atLine;
  #longest;
  // The text that is not decided yet, and what reads it: null in prose.
  #held = "";
  /** @type {Reader | null} */
  #reader = null;
  #raw = "";
  #number = 0;
  /** @type {string[]} */
  #stops = [];
  // The last character before the held text, and whether the line is blank so far.
  #before = "";
  #blank = true;
  // Inside of a fenced block that holds no JSON.
  #fenced = false;

  /**
   * @param {Split} split
   * @param {boolean} repair JSON may be in single quotes
   * @param {boolean} first it is the first text of an answer
   */
  constructor(split, repair, first) {
    const tags = chosen(split);
    this.#tags = tags.filter(({ opening }) => opening);
    this.#repair = repair;
    this.#literals = [...new Set([...this.#tags.map(({ opening }) => opening), "```"])];
    const longest = [...this.#literals].sort((a, b) => b.length - a.length);
    this.#longest = longest[0].length;
    this.#openings = new RegExp(longest.map((it) => it.replace(/[[\]|`]/g, "\\$&")).join("|"), "g");
    this.#atLine = new Set(["```", ...this.#tags.filter(({ atLine }) => atLine).map(({ opening }) => opening)]);
    const special = this.#tags.filter(({ name, opening }) => /^<[|｜]/.test(opening) && name !== "think");
    this.#stops = special.map(({ opening }) => opening);
    // The text begins inside of it.
    for (const tag of first ? tags : []) if (!tag.opening) this.#begin(tag);
  }

  /**
   * The segments that this piece makes certain.
   * @param {string} text
   */
  feed(text) {
    this.fed ||= text !== "";
    this.#held += text;
    return this.#run(false);
  }

  /** The segments at the end of the text: what was held back is what it looks like. */
  flush() {
    return this.#run(true);
  }

  /** @param {boolean} end */
  #run(end) {
    /** @type {Segment[]} */
    const out = [];
    for (;;) {
      if (this.#reader === null) {
        if (!this.#prose(end, out)) return out;
      } else {
        this.#part(this.#reader, end, out);
        if (this.#reader !== null) return out;
      }
    }
  }

  // ---- prose ----

  /**
   * Emit prose up to the next part. Returns true if a part begins.
   * @param {boolean} end
   * @param {Segment[]} out
   */
  #prose(end, out) {
    let at = 0;
    for (;;) {
      this.#openings.lastIndex = at;
      const match = this.#openings.exec(this.#held);
      if (match === null) {
        const keep = end ? 0 : this.#possibleOpening(at);
        this.#text(this.#held.length - keep, out);
        return false;
      }
      let tag = this.#decide(match[0], match.index, end);
      if (tag === false && !end && this.#mayBeLonger(match.index)) tag = null;
      if (tag === false) {
        at = match.index + match[0].length;
        continue;
      }
      this.#text(match.index, out);
      if (tag === null) return false;
      this.#begin(tag);
      return true;
    }
  }

  /**
   * The tag that begins here; false if none does; null if more text is needed.
   * @param {string} opening
   * @param {number} start
   * @param {boolean} end
   * @returns {Tag | false | null}
   */
  #decide(opening, start, end) {
    const blank = this.#isBlank(start);
    const before = start > 0 ? this.#held[start - 1] : this.#before;
    const isFence = opening === "```";
    if (isFence && (this.#fenced || !this.#tags.some(({ name }) => name === "fence"))) {
      this.#fenced = this.#fenced !== blank;
      return false;
    }
    if (this.#fenced || before === "`") return false;
    const rest = this.#held.slice(start + opening.length);
    let undecided = false;
    for (const tag of this.#tags) {
      if (tag.opening !== opening || (tag.atLine && !blank)) continue;
      const accepted = /** @type {Accepts} */ (ACCEPTS.get(tag))(rest);
      if (accepted) return tag;
      undecided ||= accepted === null;
    }
    if (undecided && !end) return null;
    if (isFence && blank) this.#fenced = true;
    return false;
  }

  /**
   * How many characters at the end may be the beginning of an opening.
   * @param {number} at
   */
  #possibleOpening(at) {
    const held = this.#held;
    for (let start = Math.max(at, held.length - this.#longest + 1); start < held.length; start += 1) {
      const tail = held.slice(start);
      const possible = this.#literals.filter((literal) => literal.startsWith(tail));
      if (possible.length !== 0 && (this.#isBlank(start) || !possible.every((it) => this.#atLine.has(it)))) {
        return tail.length;
      }
    }
    return 0;
  }

  /**
   * True if the text from here on may become a longer opening.
   * @param {number} at
   */
  #mayBeLonger(at) {
    const tail = this.#held.slice(at, at + this.#longest);
    return this.#literals.some((literal) => literal.startsWith(tail) && literal !== tail);
  }

  /**
   * True if nothing but white space is before this place in its line.
   * @param {number} at
   */
  #isBlank(at) {
    const line = at > 0 ? this.#held.lastIndexOf("\n", at - 1) : -1;
    return !trim(this.#held.slice(line + 1, at)) && (line >= 0 || this.#blank);
  }

  /**
   * @param {number} length
   * @param {Segment[]} out
   */
  #text(length, out) {
    const text = this.#held.slice(0, length);
    const blank = this.#isBlank(length);
    this.#held = this.#held.slice(length);
    if (!text) return;
    this.#before = text[text.length - 1];
    this.#blank = blank;
    out.push({ kind: "text", number: this.#number, content: text, raw: text, name: null, id: null, closed: false });
  }

  /** @param {Tag} tag */
  #begin({ opening, reader: [name, ...settings] }) {
    this.#number += 1;
    this.#reader = new READERS[name](...settings);
    this.#reader.stops = this.#stops;
    this.#reader.repair = this.#repair;
    this.#raw = this.#held.slice(0, opening.length);
    this.#held = this.#held.slice(opening.length);
  }

  // ---- a part ----

  /**
   * @param {Reader} reader
   * @param {boolean} end
   * @param {Segment[]} out
   */
  #part(reader, end, out) {
    const { taken, contents, isDone } = reader.read(this.#held, end);
    const before = this.#raw.length;
    // Text that says nothing yet belongs to what follows it, however it was cut.
    const all = this.#raw + this.#held.slice(0, taken);
    this.#held = this.#held.slice(taken);
    const { kind } = reader;
    let shown = 0;
    for (const { text: content, name, id, closed, begins, at } of contents) {
      if (begins) this.#number += 1;
      const raw = all.slice(shown, before + at);
      shown = before + at;
      out.push({ kind, number: this.#number, content, raw, name, id, closed });
    }
    const raw = all.slice(shown);
    this.#raw = isDone || end ? "" : raw;
    if (raw && (isDone || end)) out.push({ kind, number: this.#number, content: "", raw, name: null, id: null, closed: false });
    if (!isDone && !end) return;
    this.#reader = null;
    this.#number += 1;
    this.#before = "";
    this.#blank = true;
  }
}

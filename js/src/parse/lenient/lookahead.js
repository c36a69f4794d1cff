/**
 * What lenient reading looks at before it decides: shapes of the text that comes next.
 *
 * A shape is a pattern of `tables.js`. A second one is made of it, which sees that the piece ended too
 * early to tell. Every shape is bounded, so a look ahead costs O(1). Nothing here knows the machine or
 * its rules.
 */

import { endOf } from "./characters.js";
import { ODD_SPACES, PARTS, REACH, SHAPES, WORDS } from "./tables.js";

// A part of a pattern: a bracket of a group, a bar, or an atom with its quantifier. What is seen behind
// it belongs to the atom.
const PART = /\(\?:|[)|]|(?:\(\?<=[^)]*\))?(?:\[(?:\\.|[^\]\\])*\]|\\.|[^()|])(?:\{\d+(?:,\d+)?\})?/gsu;

/** @typedef {any} Item an atom as text, or the ways of a group */

/**
 * A pattern of characters, classes with a number of times, and groups with bars.
 *
 * `whole` matches where the shape is seen, `cut` where more text must come to tell. They are made when
 * first asked for: the large ones take a while.
 */
export class Shape {
  #pattern;
  /** @type {RegExp | null} */
  #whole = null;
  /** @type {RegExp | null} */
  #cut = null;

  /** @param {string} pattern */
  constructor(pattern) {
    this.#pattern = pattern.replace(/%[bnw]/g, (mark) => PARTS[mark]);
  }

  /**
   * Where the shape ends that begins at `pos`; -1 if it is not seen.
   * @param {string} text
   * @param {number} pos
   */
  whole(text, pos) {
    this.#whole ??= new RegExp(this.#pattern, "uy");
    return endOf(this.#whole, text, pos);
  }

  /**
   * True if more text must come to tell.
   * @param {string} text
   * @param {number} pos
   */
  cut(text, pos) {
    if (this.#cut === null) {
      const parts = /** @type {string[]} */ (this.#pattern.match(PART));
      this.#cut = new RegExp(cutPattern(ways(parts)), "uy");
    }
    return endOf(this.#cut, text, pos) >= 0;
  }

  /**
   * True if the text goes on in this shape, null if more text must come to tell.
   *
   * The end of the text counts as the end of a line.
   * @param {string} text
   * @param {number} pos
   * @param {boolean} last
   * @returns {boolean | null}
   */
  sees(text, pos, last) {
    if (last) return this.whole(`${text}\n`, pos) >= 0;
    if (this.whole(text, pos) >= 0) return true;
    return this.cut(text, pos) ? null : false;
  }
}

/**
 * The ways through a group, up to its bracket or the end; removes what it reads.
 * @param {string[]} parts
 * @returns {Item[][]}
 */
function ways(parts) {
  /** @type {Item[][]} */
  const all = [[]];
  while (parts.length !== 0) {
    const part = /** @type {string} */ (parts.shift());
    if (part === ")") break;
    if (part === "|") all.push([]);
    else all[all.length - 1].push(part === "(?:" ? ways(parts) : part);
  }
  return all;
}

/**
 * @param {Item} item
 * @returns {string}
 */
function written(item) {
  if (typeof item === "string") return item;
  const all = item.map((/** @type {Item[]} */ way) => way.map(written).join(""));
  return `(?:${all.join("|")})`;
}

/**
 * A pattern for text that ends before the last character of one of these ways.
 * @param {Item[][]} all
 * @returns {string}
 */
function cutPattern(all) {
  const cuts = ["$"];
  for (const [first, ...rest] of all) {
    if (first !== undefined && typeof first !== "string") cuts.push(cutPattern(first));
    if (rest.length !== 0) cuts.push(`${written(first)}(?:${cutPattern([rest])})`);
  }
  return cuts.join("|");
}

/** @type {RegExp} */
const SPACES = new RegExp(`[ \t\r\n${ODD_SPACES}]*`, "y");

/**
 * Where white space of any kind ends that may be at `pos`.
 * @param {string} text
 * @param {number} pos
 */
export function pastSpaces(text, pos) {
  return endOf(SPACES, text, pos);
}

/** The shapes by their names. @type {{[name: string]: Shape}} */
export const SHAPE = Object.fromEntries(Object.entries(SHAPES).map(([name, pattern]) => [name, new Shape(pattern)]));
/** @type {{[word: string]: Shape}} */
export const WORD = Object.fromEntries(WORDS.map((word) => [word, new Shape(word)]));

/**
 * What may follow a run of closing brackets: a member of an object, a value, the end of the text, or
 * something that is not JSON.
 * @typedef {"key" | "value" | "end" | "text"} Following
 */
/**
 * A run of closing brackets: where it ends, if a comma comes after it, and what then.
 * @typedef {{closers: string, end: number, comma: boolean, then: Following}} Run
 */

/**
 * The closing brackets from `pos` on, and what follows; null if more text must come to tell.
 *
 * After an `ellipsis` a bracket or a tick is the end; only commas and comments are passed over.
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @param {boolean} ellipsis
 * @returns {Run | null}
 */
export function afterBrackets(text, pos, last, ellipsis = false) {
  const start = pos;
  let closers = "";
  let comma = false;
  let end = pos;
  for (;;) {
    pos = pastSpaces(text, pos);
    if (pos - start > REACH / 2) return { closers, end, comma, then: "text" };
    if (pos === text.length) return last ? { closers, end, comma, then: "end" } : null;
    const char = text[pos];
    if (ellipsis && !",，/#".includes(char)) {
      return { closers, end, comma, then: "}])`".includes(char) ? "end" : "text" };
    }
    if ("}])".includes(char)) {
      closers += char;
      comma = false;
      end = pos + 1;
    } else if (",，".includes(char)) {
      comma = true;
    } else {
      const next = following(text, pos, last);
      if (typeof next === "string") return { closers, end, comma, then: next };
      if (next === null) {
        const far = text.length - start > REACH / 2;
        return far ? { closers, end, comma, then: "text" } : null;
      }
      pos = next - 1;
    }
    pos += 1;
  }
}

/**
 * What the text at `pos` is; where to look on after a comment or an ellipsis; null: wait.
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {Following | number | null}
 */
function following(text, pos, last) {
  const char = text[pos];
  if (char === "#" || (char === "/" && ["/", "*", ""].includes(text.slice(pos + 1, pos + 2)))) {
    const mark = text.startsWith("/*", pos) ? "*/" : "\n";
    const markAt = text.indexOf(mark, pos);
    return markAt >= 0 ? markAt + mark.length : last ? "end" : null;
  }
  /** @type {[Shape, Following | number][]} */
  const ways = [
    [SHAPE.NEXT_VALUE, "value"],
    [SHAPE.NEXT_KEY, "key"],
    [SHAPE.NEXT_SCALAR, "value"],
    [SHAPE.FENCE, "end"],
    [SHAPE.ELLIPSIS, char === "." ? pos + 3 : pos + 1],
  ];
  for (const [shape, next] of ways) {
    const seen = shape.sees(text, pos, last);
    if (seen !== false) return seen ? next : null;
  }
  return "text";
}

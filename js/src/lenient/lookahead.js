/**
 * What lenient reading looks at before it decides: shapes of the text that comes next.
 *
 * A shape is a table of ways in which text may go on, each a sequence of short patterns. Two patterns
 * are made of it: one that sees the shape, one that sees that the piece ended too early to tell.
 * Every way is bounded, so a look ahead costs O(1). Nothing here knows the machine or its rules.
 */

import { WORD as LETTERS, endOf, isDigit } from "./characters.js";
import { ELEMENTS, MARKS } from "./reasoning-tags.js";

/** @typedef {string[]} Way */
/** @typedef {Map<string, any>} Tree */

/** No look ahead reaches further than this, in characters. */
export const REACH = 1024;

/**
 * Any of some ways: each step is one character or a run of alike ones, the last is one.
 *
 * No way is the beginning of another. `whole` matches where the shape is seen, `cut` where more text
 * must come to tell. They are made when first asked for: the large ones take a while.
 */
export class Shape {
  #ways;
  /** @type {RegExp | null} */
  #whole = null;
  /** @type {RegExp | null} */
  #cut = null;

  /** @param {...Iterable<string>} ways */
  constructor(...ways) {
    this.#ways = ways;
  }

  /**
   * Where the shape ends that begins at `pos`; -1 if it is not seen.
   * @param {string} text
   * @param {number} pos
   */
  whole(text, pos) {
    this.#whole ??= new RegExp(wholePattern(this.#tree()), "uy");
    return endOf(this.#whole, text, pos);
  }

  /**
   * True if more text must come to tell.
   * @param {string} text
   * @param {number} pos
   */
  cut(text, pos) {
    this.#cut ??= new RegExp(cutPattern(this.#tree()), "uy");
    return endOf(this.#cut, text, pos) >= 0;
  }

  /** The steps of all ways; those that begin alike share their beginning. @returns {Tree} */
  #tree() {
    /** @type {Tree} */
    const tree = new Map();
    for (const way of this.#ways) {
      let branch = tree;
      for (const step of way) {
        let next = branch.get(step);
        if (next === undefined) branch.set(step, (next = new Map()));
        branch = next;
      }
    }
    return tree;
  }
}

/**
 * A pattern for any way to a leaf.
 * @param {Tree} tree
 * @returns {string}
 */
function wholePattern(tree) {
  return [...tree]
    .map(([step, rest]) => step + (rest.size === 0 ? "" : `(?:${wholePattern(rest)})`))
    .join("|");
}

/**
 * A pattern for any way that the end of the text cuts off before its leaf.
 * @param {Tree} tree
 * @returns {string}
 */
function cutPattern(tree) {
  const ways = [...tree]
    .filter(([, rest]) => rest.size !== 0)
    .map(([step, rest]) => `${step}(?:${cutPattern(rest)})`);
  return ["$", ...ways].join("|");
}

/**
 * Steps for this text in capital or small letters.
 * @param {string} text
 * @returns {Way}
 */
function letters(text) {
  return [...text].map((char) => {
    if (/[a-z]/.test(char)) return `[${char}${char.toUpperCase()}]`;
    return "|[]".includes(char) ? `\\${char}` : char;
  });
}

/** Values that are words: JSON's, Python's, in capitals, and those that JSON does not have. */
export const WORDS = [
  ...["true", "false", "null", "True", "False", "None", "TRUE", "FALSE", "NULL", "Null"],
  ...["NaN", "Infinity", "-Infinity", "undefined"],
];

/** White space that is none in JSON: no-break, zero-width, ideographic, byte order mark. */
export const ODD_SPACES =
  "\x0b\x0c\x85\xa0\u1680\u180e" +
  "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d" +
  "\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff";
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

const QUOTE = "[\"'“‘]";
const BLANK = `[ \t\r\n${ODD_SPACES}]`;
const SPACE = `${BLANK}{0,32}`;
const SOME_SPACE = `${BLANK}{1,32}`;
const MUCH_SPACE = [`${BLANK}{32}`, BLANK];
const NARROW = `[ \t${ODD_SPACES}]`;
const GAP = `${NARROW}{0,8}`;
const SOME_GAP = `${NARROW}{1,8}`;
const WIDE_GAP = [`${NARROW}{8}`, NARROW];
const COLON = "[:：]";
const COMMA = "[,，]";
const NUMBER = "[-0-9][-+.eE0-9]{0,23}";
const LONG_NUMBER = ["[-0-9][-+.eE0-9]{23}", "[-+.eE0-9]"];
const NAME = `[${LETTERS}$]`;
const NAME_REST = `[${LETTERS}$-]{0,40}`;
const KEY = [NAME_REST, GAP, COLON];
const COMMENT_WAY = ["/", "[/*]"];
const BEGINS_VALUE = "[\"'“‘{\\[0-9-]";
const DOTS = ["\\.", "\\.", "\\."];

export const FENCE = new Shape("```");
export const COMMENT = new Shape(COMMENT_WAY);
export const ELLIPSIS = new Shape(DOTS, "…");
export const NAMED_FENCE = new Shape("```json");
export const THOUGHTS = new Shape(
  ...ELEMENTS.map((name) => letters(`<${name}>`)),
  ...ELEMENTS.map((name) => [...letters(`<${name}`), "[ \t]", "[^<>]{0,100}", ">"]),
  ...MARKS.map(([mark]) => letters(mark)),
);
const NO_THOUGHTS = [
  ...ELEMENTS.map((name) => letters(`</${name}>`)),
  ...MARKS.map(([, mark]) => letters(mark)),
];
export const THOUGHTS_END = new Shape(...NO_THOUGHTS, letters("<|end|>"));
/** What ends nothing but thoughts. */
export const ONLY_THOUGHTS_END = new Shape(...NO_THOUGHTS);
/** @type {{[word: string]: Shape}} */
export const WORD = Object.fromEntries(WORDS.map((word) => [word, new Shape(word)]));

// After what may as well be part of a sentence the line must end: `{}`, `[]`, `[1]`, `42`, `true`.
const LINE_ENDS = [[GAP, "[\r\n`]"], [GAP, ...COMMENT_WAY], WIDE_GAP];
/** @type {Way[]} */
const ANYTHING = [[]];

/** @returns {Iterable<Way>} */
function* container() {
  yield* [[SPACE, QUOTE], [SPACE, ...COMMENT_WAY], MUCH_SPACE];
  yield [SOME_SPACE, "#"]; // a comment; {#this} is none
}

/**
 * What follows `{` in JSON, or nearly so.
 * @param {Way[]} ends
 * @param {string[]} values
 * @returns {Iterable<Way>}
 */
function* object(ends, values) {
  yield* container();
  yield [SPACE, ",", SPACE, QUOTE];
  yield [SPACE, NAME, NAME_REST, '"', GAP, COLON];
  for (const value of values) yield [SPACE, NAME, ...KEY, SPACE, ...steps(value)];
  if (values.length === 0) yield [SPACE, NAME, ...KEY];
  for (const end of ends) yield [SPACE, "\\}", ...end];
}

/**
 * What follows `[` in JSON, or nearly so.
 * @param {Way[]} ends
 * @param {string[]} values
 * @param {boolean} [nested]
 * @returns {Iterable<Way>}
 */
function* array(ends, values, nested = false) {
  yield* container();
  yield [SPACE, ...LONG_NUMBER];
  yield [SPACE, "[+.]", "[0-9]"];
  yield [SPACE, "[+]", "[.]", "[0-9]"];
  yield [SPACE, "\\(", SPACE, QUOTE];
  for (const scalar of [[NUMBER], ...WORDS.map((word) => [...word])]) {
    const after = [[SPACE, ","], [SPACE, ...COMMENT_WAY], [SOME_SPACE, "#"], MUCH_SPACE];
    for (const way of after) yield [SPACE, ...scalar, ...way];
    yield [SPACE, ...scalar, SOME_SPACE, BEGINS_VALUE];
  }
  for (const word of WORDS) yield [SPACE, ...word, SPACE, "\\]"];
  for (const end of ends) {
    yield [SPACE, "\\]", ...end];
    yield [SPACE, NUMBER, SPACE, "\\]", ...end];
  }
  for (const way of object(ANYTHING, values)) yield [SPACE, "\\{", ...way];
  for (const way of nested ? ANYTHING : array(ANYTHING, values, true)) yield [SPACE, "\\[", ...way];
}

/** @param {string} value */
function steps(value) {
  return value.startsWith("[") ? [value] : [...value];
}

/**
 * @param {Way[]} ends
 * @param {string[]} [values]
 * @returns {Way[]}
 */
function brackets(ends, values = []) {
  return [
    ...[...object(ends, values)].map((way) => ["\\{", ...way]),
    ...[...array(ends, values)].map((way) => ["\\[", ...way]),
  ];
}

/**
 * @param {Way[]} ends
 * @returns {Way[]}
 */
function scalars(ends) {
  const found = [['"'], LONG_NUMBER];
  for (const word of WORDS) for (const end of ends) found.push([...word, ...end]);
  for (const [first, ...rest] of ends) {
    if (first !== undefined) found.push([NUMBER, `(?<=[0-9])${first}`, ...rest]);
  }
  return found;
}

// Brackets that begin no prose: what is in them is not the value, so these are refused.
const EMPTY = [
  ["\\{", SPACE, "\\}"],
  ["\\[", SPACE, "\\]"],
];
const LISTED = ["\\[", SPACE, NUMBER, SPACE, "\\]"];
const BROKEN = [
  ["\\{", SPACE, COLON],
  ["\\[", SPACE, "[,:}]"],
  ...["\\{", "\\["].map((bracket) => [bracket, SPACE, "`", "`", "`"]),
  ["[\\]}:,]"],
  ...[[NUMBER], ...WORDS.map((word) => [...word])].map((one) => ["\\[", SPACE, ...one, '"']),
  // Something complete that something else of JSON follows.
  ...EMPTY.map((one) => [...one, GAP, "[\"'{\\[:}\\]]"]),
  ...[...EMPTY, LISTED, [NUMBER], ...WORDS.map((word) => [...word])].flatMap((one) => {
    return [[BEGINS_VALUE], COMMENT_WAY].map((after) => [...one, GAP, ",", SPACE, ...after]);
  }),
  ...LINE_ENDS.map((end) => [...LISTED, GAP, ...LISTED, ...end]),
];

// A tuple that is alone in its line.
const TUPLE = ["\\(", "[\"'“0-9-]", "[^(),\r\n]{0,200}", ",", "[^()\r\n]{0,200}", "\\)"];

/** A bracket that begins JSON, told from one in prose by the first thing inside it. */
export const BRACKET = new Shape(...brackets(LINE_ENDS, [BEGINS_VALUE, ...WORDS]));
/** A fence that names JSON, or one that names nothing and begins with a bracket. */
export const JSON_FENCE = new Shape("```json", [..."```", GAP, "[\r\n]", SPACE, "[{\\[]"]);
/**
 * The same where a value is due: it may also be a string, a number or a word, and {name: is an object
 * whatever follows.
 */
export const VALUE_BEGINS = new Shape(
  ...brackets(LINE_ENDS),
  ...scalars(LINE_ENDS),
  ...BROKEN,
  ...LINE_ENDS.map((end) => [...TUPLE, ...end]),
);
/** A value that is no bracket and alone in its line. */
export const ALONE = new Shape(
  ...scalars(LINE_ENDS).slice(1),
  ...LINE_ENDS.map((end) => [...TUPLE, ...end]),
);
/** A value in a sentence. */
export const LATER_VALUE = new Shape(
  ...[...object([], [BEGINS_VALUE, ...WORDS])].map((way) => ["\\{", ...way]),
  ["\\[", SPACE, QUOTE],
  ...[...object([], [BEGINS_VALUE, ...WORDS])].map((way) => ["\\[", SPACE, "\\{", ...way]),
);
/** The same where any number of values may follow each other. */
export const ANY_VALUE_BEGINS = new Shape(...brackets(ANYTHING), ...scalars(ANYTHING), [
  NUMBER,
  "(?<=[0-9])[^-+.eE0-9]",
]);

/**
 * What follows the quote that ends a string in a container.
 * @param {Way[]} following what may come next in it, after a comma or on a line of its own
 * @returns {Iterable<Way>}
 */
function* stringEnds(following) {
  yield* [[GAP, "[}\\]\x1e]"], WIDE_GAP, [GAP, ...COMMENT_WAY], [SOME_GAP, "#"]];
  yield [GAP, "\\+", GAP, '"']; // strings joined by a plus are refused
  for (const start of [[GAP, COMMA, SPACE], [GAP, "[\r\n]", SPACE]]) {
    for (const way of following) yield [...start, ...way];
    for (const next of [["[}\\]#`]"], COMMENT_WAY, DOTS, ["…"]]) yield [...start, ...next];
  }
  yield [GAP, "[\r\n]", SPACE, COMMA];
  yield [GAP, COMMA, SPACE, COMMA];
  yield [GAP, COMMA, ...MUCH_SPACE];
  yield [GAP, "[\r\n]", ...MUCH_SPACE];
}

const QUOTED_KEYS = [
  ['"', '[^"\\\\\r\n]{0,80}', '"', SPACE, COLON],
  ["'", "[^'\\\\\r\n]{0,80}", "'", SPACE, COLON],
  ["“", "[^”\\\\\r\n]{0,80}", "”", SPACE, COLON],
];
const BARE_NAME = [NAME, ...KEY];

/** What follows a quote that ends a string, and not one that is part of its text. */
export const STRING_ENDS_IN_OBJECT = new Shape(
  ...stringEnds([...QUOTED_KEYS, BARE_NAME]),
  // An object of a list whose brace was forgotten.
  [GAP, COMMA, SPACE, "\\{", SPACE, QUOTE],
  // A key whose first quote was forgotten.
  [GAP, COMMA, SPACE, NAME, NAME_REST, '"', GAP, COLON],
  [SOME_GAP, "[A-Za-z_$]", ...KEY],
  ...QUOTED_KEYS.map((way) => [GAP, ...way]),
);
export const STRING_ENDS_IN_ARRAY = new Shape(
  ...stringEnds([[BEGINS_VALUE], ...WORDS.map((word) => [...word])]),
  [SOME_GAP, "[\"'“‘{\\[]"],
  ...[[NUMBER], ...WORDS.map((word) => [...word])].map((scalar) => [
    SOME_GAP,
    ...scalar,
    GAP,
    "[\\],]",
  ]),
);
/** What follows a quote that opens a key, and one that opens an element. */
export const QUOTED_KEY = new Shape(QUOTED_KEYS[0]);
export const COLON_AHEAD = new Shape([SPACE, COLON]);
export const KEY_AHEAD = new Shape(['[^"\\\\\r\n]{1,80}', '"', SPACE, COLON]);
export const ELEMENT_AHEAD = new Shape(['[^"\\\\\r\n]{1,200}', '"', SPACE, "[\\],]"]);
/** The same where curly quotes close straight ones. */
export const CURLY_ELEMENT_AHEAD = new Shape([
  '[^"”’\\\\\r\n]{1,200}',
  '["”’]',
  SPACE,
  "[\\],}]",
]);

/** @type {{[quote: string]: RegExp}} */
const QUOTED = Object.fromEntries(
  ['""', "''", "“”", "‘’"].map(([quote, closer]) => [
    quote,
    new RegExp(`${quote}(?:[^${closer}\\\\\r\n]|\\\\[^\n]){0,120}${closer}`, "uy"),
  ]),
);
const BARE_WORD = new RegExp(`[${LETTERS}$-]{1,80}`, "uy");

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
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {Run | null}
 */
export function afterBrackets(text, pos, last) {
  const start = pos;
  let closers = "";
  let comma = false;
  let end = pos;
  for (;;) {
    pos = pastSpaces(text, pos);
    if (pos - start > REACH / 2) return { closers, end, comma, then: "text" };
    if (pos === text.length) return last ? { closers, end, comma, then: "end" } : null;
    const char = text[pos];
    if ("}])".includes(char)) {
      closers += char;
      comma = false;
      end = pos + 1;
    } else if (",，".includes(char)) {
      comma = true;
    } else {
      const found = following(text, pos, last);
      if (typeof found === "string") return { closers, end, comma, then: found };
      if (found === null) {
        const far = text.length - start > REACH / 2;
        return far ? { closers, end, comma, then: "text" } : null;
      }
      pos = found - 1;
    }
    pos += 1;
  }
}

/**
 * True if a closing bracket, a fence or the end comes next, but for commas and comments; null: wait.
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @returns {boolean | null}
 */
export function closesNext(text, pos, last) {
  const start = pos;
  for (;;) {
    pos = pastSpaces(text, pos);
    if (pos === text.length) return last ? true : pos - start < REACH / 2 ? null : false;
    const char = text[pos];
    if ("}])`".includes(char)) return true;
    if (",，".includes(char)) {
      pos += 1;
    } else if (char === "/" || char === "#") {
      const found = following(text, pos, last);
      if (typeof found !== "number") {
        return found === null && text.length - start < REACH / 2 ? null : found === "end";
      }
      pos = found;
    } else {
      return false;
    }
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
  const rest = text.length - pos;
  if (Object.hasOwn(QUOTED, char)) {
    const end = endOf(QUOTED[char], text, pos);
    if (end >= 0) return keyOr(text, end, last, "value");
    return rest < 122 && !last && !text.includes("\n", pos) ? null : "value";
  }
  if ("{[(-+".includes(char) || isDigit(char)) return "value";
  const end = endOf(BARE_WORD, text, pos);
  if (end >= 0) {
    if (end === text.length && !last) return null;
    return keyOr(text, end, last, WORDS.includes(text.slice(pos, end)) ? "value" : "text");
  }
  if (char === "#" || (char === "/" && ["/", "*", ""].includes(text.slice(pos + 1, pos + 2)))) {
    const mark = text.startsWith("/*", pos) ? "*/" : "\n";
    const found = text.indexOf(mark, pos);
    return found >= 0 ? found + mark.length : last ? "end" : null;
  }
  /** @type {[string, Following | number][]} */
  const marks = [
    ["```", "end"],
    ["...", pos + 3],
    ["…", pos + 1],
  ];
  for (const [mark, meaning] of marks) {
    if (text.startsWith(mark, pos)) return meaning;
    if (rest < mark.length && mark.startsWith(text.slice(pos)) && !last) return null;
  }
  return "text";
}

/**
 * @param {string} text
 * @param {number} pos
 * @param {boolean} last
 * @param {Following} other
 * @returns {Following | null}
 */
function keyOr(text, pos, last, other) {
  pos = pastSpaces(text, pos);
  if (pos === text.length && !last) return null;
  return ":：".includes(text[pos] ?? " ") ? "key" : other;
}

/** Explain why a text is not JSON, and what to do about it. */

/** @typedef {import("./outline.js").Fault} Fault */

/** Why an answer was cut off, and what to do. @type {Record<string, [string, string]>} */
export const CUTS = {
  length: ["Cut off: the model reached its token limit", "Raise the token limit of the request (max_tokens), or ask for less."],
  filtered: ["Cut off: a content filter stopped the answer", "Change the prompt, or the settings of the content filter."],
  refused: ["Refused: the model declined to answer", "Change the prompt. The request itself was accepted."],
  lost: [
    "Cut off: the stream ended before the answer did",
    "Request it again: the connection broke, or the copy stops too early.",
  ],
  "": ["Cut off: the text ends too early", "Request it again, or use what is there: jsonrill.partial(text) reads it."],
};

/**
 * What to do about the character at which a text stops being JSON. The first rule that fits counts.
 * @type {[(before: string, rest: string) => boolean, string][]}
 */
const REMEDIES = [
  [
    (before, rest) => before === "" && /^<[!?a-z]/i.test(rest),
    "This is HTML or XML, often an error page of a proxy. Look at the status of the response.",
  ],
  [(before) => before === "", "Ask for JSON only: without words or a code fence around it."],
  [(_, rest) => /^['‘’“”]/.test(rest), "Use double quotes: JSON has no others."],
  [(before, rest) => /,$/.test(before) && /^[}\]]/.test(rest), "Remove the comma before the closing bracket."],
  [(_, rest) => /^(?:\/[/*]|#)/.test(rest), "Remove the comment: JSON has none."],
  [
    (_, rest) => /^(?:True|False|None|undefined)\b/i.test(rest),
    "Write true, false or null in lower case. This is the output of another language.",
  ],
  [(_, rest) => /^[+-]?(?:NaN|Infinity)/.test(rest), "Write null: JSON has no NaN and no Infinity."],
  [(before, rest) => /[{,]$/.test(before) && /^[\w$]/.test(rest), "Put the key in double quotes."],
  [
    (before, rest) => /[:[,]$/.test(before) && /^\p{L}/u.test(rest),
    "Put the word in double quotes, or ask for structured output (a JSON Schema).",
  ],
  [(_, rest) => /^[\n\r\t]/.test(rest), "Write the line break or tab in the string as \\n or \\t."],
  [(before) => /\\(?:u[\da-f]{0,3})?$/i.test(before), "Write the backslash twice: this is not an escape of JSON."],
  [(before, rest) => /["\d}\]el]$/.test(before) && /^["\d{[]/.test(rest), "Put a comma between the two values."],
  [(before, rest) => /"$/.test(before) && /^\p{L}/u.test(rest), 'Write a quote inside a string as \\".'],
];
export const GENERAL = "Correct the text at the mark, or ask for structured output (a JSON Schema).";

/**
 * Say what was expected and what was found.
 * @param {Fault} fault
 * @param {string} text
 */
export function inWords({ code, message, expected, offset }, text) {
  if (code === "LIMIT_EXCEEDED" || expected === "") return message;
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 32);
  /** @type {Record<string, string>} */
  const names = {
    "\n": "a line break",
    "\r": "a line break",
    "\t": "a tab",
    "'": "a single quote",
    " ": "a space",
    "`": "a backtick",
  };
  return `expected ${expected}, but got ${names[character] ?? `‘${character}’`}`;
}

/**
 * Say what to do, and whether the server's repair reads the text.
 * @param {Fault} fault
 * @param {string} text
 * @param {boolean | null} isRepairable
 */
export function remedy({ offset, expected }, text, isRepairable) {
  const before = text.slice(Math.max(0, offset - 200), offset).trimEnd();
  const rest = text.slice(offset, offset + 40);
  const isSecond = expected === "the end of the text";
  const advice = isSecond ? "Remove what follows the document." : REMEDIES.find(([fits]) => fits(before, rest))?.[1];
  const repair = isRepairable === null ? "" : isRepairable ? " repair=True reads this text." : " repair=True refuses it, too.";
  return `${advice ?? GENERAL}${repair}`;
}

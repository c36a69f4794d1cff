/** Explain why a text is not JSON, and what to do about it. */

/** @typedef {import("./outline.js").Fault} Fault */

/** Why an answer was cut off, and what to do. @type {Record<string, [string, string]>} */
export const CUTS = {
  length: ["Cut off: the model reached its token limit", "Raise the token limit of the request (max_tokens), or ask for less."],
  filtered: ["Cut off: a content filter stopped the answer", "Change the prompt, or the settings of the content filter."],
  refused: ["Refused: the model declined to answer", "Change the prompt. The request itself was accepted."],
  lost: ["Cut off: the stream ended before the answer did", "Request it again: the connection broke, or the copy is too short."],
  "": ["Cut off: the text ends too early", "Request it again, or use what is there: jsonrill.partial(text) reads it."],
};

/**
 * What to do about the character at which a text stops being JSON: what was expected there, the text before it, the
 * text from it on, and the advice, where # is the line on which the text before ends. The first row that fits counts.
 * @type {[RegExp, RegExp, RegExp, string][]}
 */
const REMEDIES = [
  [/^the end/, /./, /^data:/, "Put a line break and a blank line between the events: readers join them otherwise."],
  [/./, /^[\da-z]$/, /^:["[{]/, "This is the AI SDK's old stream protocol. Send its UI message stream instead."],
  [/./, /^\[?\d{2,4}$/, /^[-:/]/, "Paste only what was sent: this begins with a time, as lines of a log do."],
  [/^the end/, /^"[^"]*"$/, /^:/, 'Put { before it and } after it. If the request prefilled the {, read it with prefix="{".'],
  [/^the end/, /./, /^[{[]/, "A second JSON document begins here. Remove it, or put each document on its own line."],
  [/^the end/, /./, /./, "Remove what follows the document."],
  [/./, /^/, /^[\u00a0\u200b-\u200d\u2060\u3000\ufeff]/, "Replace the special space with an ordinary one, or remove it."],
  [/./, /^$/, /^<(?:think|reason|tool|function)/i, "Remove the model's thoughts or tags around the JSON."],
  [/./, /^$/, /^<[!?a-z]/i, "Look at the status of the response, and at what this HTML or XML says."],
  [/./, /^$/, /^(?:[<>*] |HTTP\/\d)/, "Paste the body only: this begins with the status and headers of a response."],
  [/./, /^\[?$/, /^(?:<?[A-Z]\w+\(\w+=|b['"])/, "Python printed these objects: paste chunk.model_dump_json() or data.decode()."],
  [/./, /^\[$/, /^object /, "A program wrote an object as text: write JSON.stringify(value) instead."],
  [/./, /^$/, /^(?:data|event|id|retry):/, "Write data: once on each line of an event, and nothing else between the events."],
  [/./, /^\W?$/, /^[\x00-\x08\x0e-\x1f\ufffd]/, "These are bytes, not text. Decompress or decode them first."],
  [/./, /^$/, /^[\w+/-]{40}/, "Decode it first: this is not text, but perhaps base64."],
  [/./, /^/, /^[+-]?(?:NaN|Infinity)/, "Write null: JSON has no NaN and no Infinity."],
  [/./, /^[a-z]{0,4}$/, /^[^{[]*$/, "There is no JSON here: ask for it, or look at what sent this. Is it an error message?"],
  [/./, /^[a-z]{0,4}$/, /./, "Ask for JSON only: without words or a code fence around it."],
  [/^a value/, /[^:[,]$/, /./, "Write one JSON value on each line, and nothing else."],
  [/./, /./, /^['‘’“”`]/, "Use double quotes: JSON has no others."],
  [/./, /,$/, /^[}\]]/, "Remove the comma before the closing bracket."],
  [/./, /./, /^(?:\/[/*]|#)/, "Remove the comment: JSON has none."],
  [/./, /./, /^(?:True|False|None|undefined)\b/i, "Write true, false or null in lower case: JSON has no other words."],
  [/^':'/, /./, /./, "Put a colon between the key and its value."],
  [/^'[tfn]/, /./, /./, "Write the whole word true, false or null, or put another word in double quotes."],
  [/^a digit$/, /[-+.\de]$/i, /./, "Complete the number: a digit has to follow."],
  [/./, /[:[,]$/, /^[+.]\d/, "Write the number without a plus, and with a digit before the point."],
  [/./, /\b0$/, /^[\dx]/, "Write the number without leading zeros, in decimal digits."],
  [/^','/, /\d$/, /^[-:/]\d/, "Put the date or time in double quotes."],
  [/key/, /\d,$/, /^\d/, "Write the number without a comma between its digits."],
  [/key/, /[{,]$/, /^[\w$]/, "Put the key in double quotes."],
  [/./, /[{[,]$/, /^,/, "Remove one of the commas."],
  [/./, /[{[,]$/, /^(?:\.{3}|…)/, "Remove the ellipsis: the model left something out."],
  [/^a value/, /:$/, /^[,}\]]/, "Write a value after the colon, or null."],
  [/./, /[:[,]$/, /^\p{L}/u, "Put the word in double quotes, or ask for structured output (a JSON Schema)."],
  [/^no control/, /[}\],]$/, /^[\n\r](?!(?:[^"\\]|\\.)*"\s*[,:}\]])/, "Close the string: it runs past the end of its line."],
  [/./, /./, /^[\n\r\t]/, "Write the line break or tab in the string as \\n or \\t."],
  [/^no control/, /./, /./, "Write the character as an escape, such as \\u0000, or remove it."],
  [/./, /\\(?:u[\da-f]{0,3})?$/i, /./, "Write the backslash twice: this is not an escape of JSON."],
  [/./, /./, /^\\/, "Remove the backslash: outside strings JSON has none. If there are many, the text is escaped twice."],
  [/]/, /"$/, /^:/, "Put the key and its value in braces: an array has no keys."],
  [/]/, /./, /^}/, "Close the array with ] first."],
  [/}/, /./, /^]/, "Close the object with } first."],
  [/./, /["\d}\]el]$/, /^["\d{[;]/, "Put a comma after the value on line #."],
  [/./, /"$/, /^\p{L}/u, 'Write a quote inside a string as \\", or close the string before.'],
  [/./, /./, /^[\p{L}\p{N}]/u, "Write only a number, true, false or null without quotes: put everything else in double quotes."],
];
const HTML = "This is an HTML page, not JSON: probably the error page of a proxy or server";
export const GENERAL = "Correct the text at the mark, or ask for structured output (a JSON Schema).";

/** Say what to do about a provider's error. @param {string} message */
export function ofError(message) {
  return /rate|quota|overload|capacity|unavailable|busy|too many/i.test(message)
    ? "Try again later, with growing pauses: the provider limits requests, or has too many."
    : "The request reached the provider. Its message says whether to change the request or to try again later.";
}

/** Characters that cannot be seen, or not in quotes. @type {Record<string, string>} */
const NAMES = {
  ...{ "\n": "a line break", "\r": "a line break", "\t": "a tab", " ": "a space", "\u00a0": "a no-break space" },
  ...{ "'": "a single quote", "`": "a backtick" },
};

/**
 * Say what was expected and what was found.
 * @param {Fault} fault
 * @param {string} text
 * @param {string} subject such as `Invalid JSON`
 */
export function inWords({ code, message, expected, offset }, text, subject) {
  if (/^\s*<(?:!doctype html|html|head|body)\b/i.test(text)) return HTML;
  if (code === "LIMIT_EXCEEDED" || expected === "") return `${subject}: ${message}`;
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 32);
  return `${subject}: expected ${expected}, but got ${NAMES[character] ?? `‘${character}’`}`;
}

/**
 * Say what to do.
 * @param {Fault} fault
 * @param {string} text
 * @param {boolean} [isRepaired] whether the server's repair has read the text
 */
export function remedy({ offset, expected }, text, isRepaired = false) {
  const before = text.slice(Math.max(0, offset - 200), offset).trimEnd();
  const line = text.slice(0, offset).trimEnd().split("\n").length;
  const rest = text.slice(offset, offset + 4000);
  const row = REMEDIES.find(([wanted, left, right]) => wanted.test(expected) && left.test(before) && right.test(rest));
  return `${row?.[3].replace("#", String(line)) ?? GENERAL}${isRepaired ? " “Show repaired” opens a repaired copy." : ""}`;
}

/** Explain why a text is not JSON, and what to do about it. */

/** @typedef {import("./outline.js").Fault} Fault */

/** Why an answer was cut off, and what to do. @type {Record<string, [string, string]>} */
export const CUTS = {
  complete: ["Incomplete JSON in an answer that the provider calls complete", "Ask again: the model left out the end."],
  length: ["Cut off: the model reached its token limit", "Raise the token limit of the request (max_tokens), or ask for less."],
  filtered: ["Cut off: a content filter stopped the answer", "Change the prompt, or the settings of the content filter."],
  blocked: ["Blocked: the provider did not accept the prompt", "Change the prompt, or the settings of the content filter."],
  refused: ["Refused: the model declined to answer", "Change the prompt. The request itself was accepted."],
  lost: ["Cut off: the stream ended before the answer did", "Request it again: the connection broke, or only a part was pasted."],
  "": ["Cut off: the text ends too early", "Request it again, or use what is there: the tree shows what can be read."],
};

/**
 * What to do about the character at which a text stops being JSON: what was expected there, the text before it, the
 * text from it on, and the advice, where # is the line on which the text before ends. The first row that fits counts.
 * @type {[RegExp, RegExp, RegExp, string][]}
 */
const REMEDIES = [
  [/'}'$/, /./, /^[\r\n]/, "Close the object with } on line #."],
  [/']'$/, /./, /^[\r\n]/, "Close the array with ] on line #."],
  [/^(?!no control)/, /./, /^[\r\n]/, "Complete line #: it stops too early."],
  [/^the end/, /./, /^data:/, "Put a line break and a blank line between the events: readers join them otherwise."],
  [/./, /^\[?\d{2,4}$/, /^[-:/]/, "Paste only what was sent: this begins with a time, as lines of a log do."],
  [/^the end/, /^"[^"]*"$/, /^:/, "Put { before it (the request may have prefilled it), and } after it if that is missing."],
  [/^the end/, /./, /^[{[]/, "Put each document on one line of its own, or remove the second one."],
  [/^the end/, /./, /^[}\]]/, "Remove this bracket: everything is closed before it."],
  [/^the end/, /[}\]]$/, /^,/, "Remove the bracket before this comma: it closes the document too early."],
  [/^the end/, /./, /./, "Remove what follows the document."],
  [/./, /^/, /^[\u00a0\u200b-\u200d\u2060\u3000\ufeff]/, "Replace the special space with an ordinary one, or remove it."],
  [/./, /^$/, /^<(?:think|reason|tool|function)/i, "Remove the model's thoughts or tags around the JSON."],
  [/./, /^$/, /^<[^]*<title>\s*5\d\d/i, "Try again later: the server, or a proxy before it, failed."],
  [/./, /^$/, /^<[!?a-z]/i, "Look at the address of the request and at the status of its response: a proxy may have answered."],
  [/./, /^$/, /^(?:[<>*] |HTTP\/\d)/, "Read the status in them, or paste only the body to see the rest."],
  [/./, /^\[?$/, /^(?:<?[A-Z]\w+\(\w+=|b['"])/, "Python printed these objects: print chunk.model_dump_json() or data.decode()."],
  [/./, /^\[$/, /^object /, "A JavaScript program wrote an object as text: write JSON.stringify(value) there."],
  [/./, /^$/, /^(?:data|event|id|retry):/, "Write data: once on each line of an event, and nothing else between the events."],
  [/./, /^\W?$/, /^[\x00-\x08\x0e-\x1f\ufffd]/, "These are bytes, not text. Decompress or decode them first."],
  [/./, /^$/, /^[\w+/-]{40}/, "Decode it first: this is not text, but perhaps base64."],
  [/./, /^/, /^[+-]?(?:NaN|Infinity)/, "Write null: JSON has no NaN and no Infinity."],
  [/./, /^[a-z]{0,4}$/, /^[^{[]*$/, "Check the sender: is this an error message? If a model wrote it, ask for JSON only."],
  [/./, /^[a-z]{0,4}$/, /./, "Ask for JSON only: without words or a code fence around it."],
  [/^a value/, /[^:[,]$/, /./, "Write one JSON value on each line, and nothing else."],
  [/./, /./, /^['‘’“”`]/, "Use double quotes: JSON has no others."],
  [/./, /,$/, /^[}\]]/, "Remove the comma before the closing bracket."],
  [/./, /./, /^(?:\/[/*]|#)/, "Remove the comment: JSON has none."],
  [/./, /./, /^undefined\b/, "Write null, or leave the key out: JSON has no undefined."],
  [/./, /./, /^(?:True|False|None)\b/i, "Write true, false or null in lower case: JSON has no other words."],
  [/^':'/, /:\s*"$/, /^\w/, "Close the key with a double quote before its colon."],
  [/^':'/, /./, /^[,}\]]/, "Put a colon and a value after the key, or remove the key."],
  [/^':'/, /./, /./, "Put a colon between the key and its value."],
  [/^'[tfn]/, /./, /./, "Write the whole word true, false or null, or put another word in double quotes."],
  [/^a digit$/, /[-+.\de]$/i, /./, "Complete the number: a digit has to follow."],
  [/./, /[:[,]$/, /^[+.]\d/, "Write the number without a plus, and with a digit before the point."],
  [/./, /\b0$/, /^[\dx]/, "Write the number without leading zeros, in decimal digits."],
  [/^','/, /\d$/, /^[-:/]\d/, "Put the date or time in double quotes."],
  [/key/, /[{,]$/, /^[\w$]/, "Put the key in double quotes."],
  [/./, /[{[,]$/, /^,/, "Remove one of the commas."],
  [/./, /[{[,]$/, /^(?:\.{3}|…)/, "Remove the ellipsis: the model left something out."],
  [/^a value/, /:$/, /^[,}\]]/, "Write a value after the colon, or null."],
  [/^a value/, /[:[,]$/, /./, "Put the value in double quotes, or ask for structured output (a JSON Schema)."],
  [/^no control/, /[}\],]$/, /^[\n\r](?!(?:[^"\\]|\\.)*"\s*[,:}\]])/, "Close the string: it runs past the end of its line."],
  [/./, /./, /^[\n\r]/, "Write the line break in the string as \\n."],
  [/./, /./, /^\t/, "Write the tab in the string as \\t."],
  [/^no control/, /./, /./, "Write the character as an escape, such as \\u0000, or remove it."],
  [/./, /\\(?:u[\da-f]{0,3})?$/i, /./, "Write the backslash twice: this is not an escape of JSON."],
  [/./, /./, /^\\/, "Remove the backslash: outside strings JSON has none. If there are many, the text is escaped twice."],
  [/]/, /"$/, /^:/, "Put the key and its value in braces: an array has no keys."],
  [/]/, /./, /^}/, "Close the array with ] first, or remove this bracket."],
  [/}/, /./, /^]/, "Close the object with } first, or remove this bracket."],
  [/./, /["\d}\]el]$/, /^["\d{[;]/, "Put a comma after the value on line #."],
  [/./, /"$/, /^\p{L}/u, 'Write a quote inside a string as \\", or close the string before this character.'],
  [/./, /./, /^[\p{L}\p{N}]/u, "Write only a number, true, false or null without quotes: put everything else in double quotes."],
];
export const GENERAL = "Correct the text at the mark, or ask for structured output (a JSON Schema).";

/** What is wrong with a text that does not begin as JSON. The first row that fits counts. @type {[RegExp, string][]} */
const BEGINNINGS = [
  [/^<(?:!doctype html|html|head|body)\b/i, "this is an HTML page, probably the error page of a proxy or server"],
  [/^(?:[<>*] |HTTP\/\d)/, "these are the headers of a response, not its body"],
  [/^[^{[]*$/, "there is no JSON in this text"],
  [/^<\w/, "there is a tag before the JSON"],
  [/^`{3}/, "the JSON is in a code fence"],
  [/^[A-Z][\w' -]*[,.:!;\n]/, "there are words before the JSON"],
];

/** The types of errors whose messages do not always say the type. */
const ERROR_TYPE = /(?<!\\)"(?:rate_limit_\w+|overloaded_error|insufficient_quota)"/;
/** What to do about a provider's error message. The first row that fits counts. @type {[RegExp, string][]} */
const ERRORS = [
  [/quota|billing|credit/i, "Look at the plan and the billing of the account."],
  [/rate.?limit|too many requests/i, "Send fewer requests or less text, and try again later: the rate limit is reached."],
  [/overload|capacity|unavailable|busy/i, "The provider is overloaded: try again later."],
  [/api.?key|authenti|credential|permission|unauthori|forbidden/i, "Look at the API key and its permissions."],
  [/context|too (?:long|large)|maximum/i, "Shorten the request: the model does not accept so much text."],
  [/internal|server|time.?out|timed out|failed/i, "Try again: the provider failed. If it happens again, report it there."],
  [/malformed/i, "Try again: the model wrote a call that cannot be read. A simpler tool schema prevents it."],
  [/^/, "The message says whether to change the request or to try again later."],
];

/**
 * Say what to do about a provider's error.
 * @param {string} message
 * @param {string[]} events
 */
export function adviseOnError(message, events) {
  const [type = ""] = ERROR_TYPE.exec(events.join("\n")) ?? [];
  return ERRORS.find(([pattern]) => pattern.test(type || message))?.[1] ?? "";
}

const REPAIRED = " “Show repaired” opens a repaired copy (jsonrill in Python: repair=True). In JavaScript, ask for valid JSON.";

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
export function describeFault({ code, message, expected, offset, path }, text, subject) {
  const beginning = path.length === 0 && offset < 5 ? BEGINNINGS.find(([pattern]) => pattern.test(text.trimStart())) : undefined;
  const [, title, status] = /<title>\s*([^<]{1,80})|^(?:[<>*] )?HTTP\/\S+ (\d{3}.*)/i.exec(text.trimStart()) ?? [];
  const detail = title || status ? `: “${(title ?? status).trim()}”` : "";
  if (beginning !== undefined && expected !== "the end of the text") return `${subject}: ${beginning[1]}${detail}`;
  if (code === "TRUNCATED") return `${subject}: ${expected.replace("',' or ", "")} is missing at the end of the line`;
  if (code === "LIMIT_EXCEEDED" || expected === "") return `${subject}: ${message}`;
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 32);
  const name = NAMES[character] ?? `'${character}'`;
  if (expected === "the end of the text" && /[{[]/.test(character)) return `${subject}: there are two JSON documents`;
  if (expected.startsWith("no control")) return `${subject}: a string contains ${name}`;
  return `${subject}: expected ${expected}, but got ${name}`;
}

/**
 * Say what to do.
 * @param {Fault} fault
 * @param {string} text
 * @param {boolean} [isRepaired] whether the server's repair has read the text
 */
export function findRemedy({ offset, expected }, text, isRepaired = false) {
  const before = text.slice(Math.max(0, offset - 200), offset).trimEnd();
  const line = text.slice(0, offset).trimEnd().split("\n").length;
  const rest = text.slice(offset, offset + 4000);
  const row = REMEDIES.find(([wanted, left, right]) => wanted.test(expected) && left.test(before) && right.test(rest));
  return `${row?.[3].replace("#", String(line)) ?? GENERAL}${isRepaired ? REPAIRED : ""}`;
}

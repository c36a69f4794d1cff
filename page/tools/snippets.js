/**
 * The stream that is shown, as a program: a request with curl, a few lines of Python or JavaScript, a
 * test case. No DOM.
 *
 * A test has the pieces as they came and the value that they make, so that it fails when either
 * changes.
 */

import { parse, stringify } from "../../js/src/jsontext.js";
import { ExactNumber } from "../../js/src/parse/values.js";

/**
 * What a snippet is made of. `pieces` are texts, or events as JSON; `value` is the final value,
 * undefined if there is none; `url` is where the server has the stream.
 * @typedef {object} Case
 * @property {string} title
 * @property {"text" | "events" | "snapshots"} input
 * @property {string[]} pieces
 * @property {(number | null)[]} [times]
 * @property {{repair?: boolean, many?: boolean, prefix?: string, provider?: string, entity?: string}} options
 * @property {any} [value]
 * @property {{code: string, message: string} | null} [error]
 * @property {boolean} [calls] true if the events are read as tool calls
 * @property {string} [url]
 */

/** The value of a piece, with all digits. @param {string} piece */
const exact = (piece) => parse(piece, "exact");

/** A Python literal of any value. @param {any} value @returns {string} */
export function pythonLiteral(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "number" && Number.isNaN(value)) return 'float("nan")';
  if (typeof value === "number" && !Number.isFinite(value)) return `float("${value > 0 ? "" : "-"}inf")`;
  if (typeof value === "string") return pythonString(value);
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    return `{${Object.entries(value).map(([key, each]) => `${pythonString(key)}: ${pythonLiteral(each)}`).join(", ")}}`;
  }
  return String(value);
}

/** @param {string} text */
function pythonString(text) {
  // JSON's escapes are Python's, but for a lone surrogate, which Python spells the same way. What is
  // invisible or changes the order of the text around it is escaped.
  return escaped(JSON.stringify(text).replaceAll("\\/", "/"));
}

/** @param {string} literal */
function escaped(literal) {
  return literal.replace(/[\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]/g, (one) =>
    `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @param {any} value */
function javaScriptLiteral(value) {
  return value === undefined ? "undefined" : escaped(stringify(value));
}

/**
 * @param {Case} shown
 * @param {(value: any) => string} literal
 * @param {"=" | ": "} sign
 */
function optionsOf({ options }, literal, sign) {
  return Object.entries(options)
    .filter(([, value]) => value !== undefined && value !== false && value !== "" && value !== "auto")
    .map(([name, value]) => `${name}${sign}${literal(value)}`);
}

/** @param {Case} shown */
function functionOf({ calls, input, options }) {
  if (calls) return { python: "tool_calls", js: "toolCalls" };
  if (options.entity || input === "snapshots") return { python: "updates", js: "updates" };
  return { python: "values", js: "values" };
}

/**
 * Lines of Python that read the stream.
 * @param {Case} shown
 */
export function asPython(shown) {
  const { python: name } = functionOf(shown);
  const options = optionsOf(shown, pythonLiteral, "=");
  if (shown.input === "snapshots") {
    return [
      "import jsonrill",
      "",
      `snapshots = ${pythonList(shown.pieces.map((piece) => pythonLiteral(exact(piece))))}`,
      "for chunk in jsonrill.chunks(snapshots):",
      "    print(chunk, end=\"\")",
      "",
    ].join("\n");
  }
  const print = { tool_calls: "update.call.name, update.call.args", updates: "update.status, update.data", values: "value" }[name];
  const item = name === "values" ? "value" : "update";
  return [
    "import jsonrill",
    "",
    `stream = ${pythonList(shown.pieces.map((piece) => (shown.input === "events" ? pythonLiteral(exact(piece)) : pythonLiteral(piece))))}`,
    `for ${item} in jsonrill.${name}(${["stream", ...options].join(", ")}):`,
    `    print(${print})`,
    "",
  ].join("\n");
}

/** @param {string[]} items */
function pythonList(items) {
  return `[\n${items.map((item) => `    ${item},\n`).join("")}]`;
}

/**
 * Lines of JavaScript that read the stream.
 * @param {Case} shown
 */
export function asJavaScript(shown) {
  const { js: name } = functionOf(shown);
  const options = optionsOf(shown, javaScriptLiteral, ": ");
  const argument = options.length > 0 ? `, { ${options.join(", ")} }` : "";
  const print = { toolCalls: "call.name, call.args", updates: "update.status, update.data", values: "value" }[name];
  const item = { toolCalls: "call", updates: "update", values: "value" }[name];
  return [
    `import { ${name} } from "jsonrill";`,
    ...(shown.options.repair ? ['import "jsonrill/repair";'] : []),
    "",
    `const stream = ${javaScriptList(shown.input === "text" ? shown.pieces.map(javaScriptLiteral) : shown.pieces.map(escaped))};`,
    `for await (const ${item} of ${name}(stream${argument})) console.log(${print});`,
    "",
  ].join("\n");
}

/** @param {string[]} items */
function javaScriptList(items) {
  return `[\n${items.map((item) => `  ${item},\n`).join("")}]`;
}

/**
 * A request that reads the stream: from the server if it is there, else the server is asked to read it.
 * @param {Case} shown
 */
export function asCurl(shown) {
  if (shown.url) return `curl -N ${shellQuoted(shown.url)}\n`;
  const { python: name } = functionOf(shown);
  const command = name === "tool_calls" ? "calls" : name;
  const flags = [];
  if (shown.options.repair) flags.push("--repair");
  if (shown.options.many) flags.push("--many");
  if (shown.options.entity) flags.push("--entity", shellQuoted(shown.options.entity));
  const text = shown.input === "text" ? shown.pieces.join("") : shown.pieces.join("\n");
  return `printf %s ${shellQuoted(text)} | ${["jsonrill", command, ...flags].join(" ")}\n`;
}

/** @param {string} text */
function shellQuoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * A file for pytest.
 * @param {Case} shown
 */
export function asPythonTest(shown) {
  const { calls, input, error, value } = shown;
  const options = optionsOf(shown, pythonLiteral, "=");
  const pieces = shown.pieces.map((piece) => (input === "text" ? pythonLiteral(piece) : pythonLiteral(exact(piece))));
  const head = [`"""${docText(shown.title)}"""`, "", ...(error ? ["import pytest", ""] : []), "import jsonrill", "", `PIECES = ${pythonList(pieces)}`];
  if (!calls && !error) head.push(`VALUE = ${pythonLiteral(value)}`);
  /** @type {string[]} */
  const body = [];
  if (calls) {
    const ended = /** @type {any[]} */ (Array.isArray(value) ? value : []);
    body.push(
      "def test_the_calls() -> None:",
      `    calls = {update.call.id: update.call for update in jsonrill.tool_calls(${["PIECES", ...options].join(", ")})}`,
      `    assert [(call.name, call.args) for call in calls.values()] == ${pythonList(ended.map((one) => `(${pythonLiteral(one.name)}, ${pythonLiteral(one.args)})`)).replaceAll("\n", "\n    ")}`,
    );
  } else if (input === "snapshots") {
    body.push("def test_the_value() -> None:", '    text = "".join(jsonrill.chunks(PIECES))', "    assert jsonrill.partial(text) == VALUE");
  } else if (error) {
    body.push(
      "def test_the_error() -> None:",
      "    with pytest.raises(jsonrill.JsonrillError) as caught:",
      `        [*jsonrill.values(${["PIECES", ...options].join(", ")})]`,
      `    assert caught.value.code == ${pythonLiteral(error.code)}`,
    );
  } else {
    const take = shown.options.many ? "values" : "*_, last";
    body.push(
      "def test_the_value() -> None:",
      `    ${shown.options.many ? "found = [*" : `${take} = `}jsonrill.${shown.options.many ? "select" : "values"}(${["PIECES", ...(shown.options.many ? ['"root"'] : []), ...options].join(", ")})${shown.options.many ? "]" : ""}`,
      `    assert ${shown.options.many ? "found" : "last"} == VALUE`,
    );
  }
  return [...head, "", "", ...body, ""].join("\n");
}

/** @param {string} text */
function docText(text) {
  return escaped(JSON.stringify(text).slice(1, -1)).replaceAll('"""', '"') + ".";
}

/**
 * A file for `node --test`.
 * @param {Case} shown
 */
export function asJavaScriptTest(shown) {
  const { calls, input, error, value } = shown;
  const options = optionsOf(shown, javaScriptLiteral, ": ");
  const argument = options.length > 0 ? `, { ${options.join(", ")} }` : "";
  const pieces = javaScriptList(input === "text" ? shown.pieces.map(javaScriptLiteral) : shown.pieces.map(escaped));
  const name = calls ? "toolCalls" : shown.options.many ? "select" : "values";
  const source = shown.options.many ? `pieces, "root"` : "pieces";
  const lines = [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    "",
    `import { ${name} } from "jsonrill";`,
    ...(shown.options.repair ? ['import "jsonrill/repair";'] : []),
    "",
    `const pieces = ${pieces};`,
    "",
    `test(${javaScriptLiteral(shown.title)}, async () => {`,
  ];
  if (calls) {
    const ended = /** @type {any[]} */ (Array.isArray(value) ? value : []).map((one) => [one.name, one.args ?? null]);
    lines.push(
      "  const calls = new Map();",
      `  for await (const call of toolCalls(${source}${argument})) calls.set(call.id, call);`,
      `  const found = [...calls.values()].map((call) => [call.name, call.args ?? null]);`,
      `  assert.deepEqual(found, ${javaScriptLiteral(ended)});`,
    );
  } else if (error) {
    lines.push(
      `  const read = async () => { for await (const _ of ${name}(${source}${argument})); };`,
      `  await assert.rejects(read, { code: ${javaScriptLiteral(error.code)} });`,
    );
  } else {
    lines.push(
      "  const found = [];",
      `  for await (const value of ${name}(${source}${argument})) found.push(value);`,
      `  assert.deepEqual(${shown.options.many ? "found" : "found.at(-1)"}, ${javaScriptLiteral(value)});`,
    );
  }
  return [...lines, "});", ""].join("\n");
}

/**
 * A recording: the pieces with their times, to be opened by the page again.
 * @param {Case} shown
 */
export function asRecording({ title, input, pieces, times = [], options, value, error = null }) {
  const records = pieces.map((data, at) => ({ at: times[at] ?? null, data: input === "text" ? data : exact(data) }));
  return `${stringify({ recording: 1, title, input, options, records, value: value === undefined ? null : value, error }, 1)}\n`;
}

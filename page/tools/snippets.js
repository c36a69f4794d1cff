/**
 * The stream that is shown, as a program: a request with curl, a few lines of Python or JavaScript, a
 * test case. No DOM.
 *
 * A test has the pieces as they came and the value that they make, so that it fails when either
 * changes. All of these are run by the tests of the page.
 */

import { parse, stringify } from "../../js/src/jsontext.js";
import { ExactNumber } from "../../js/src/parse/exact.js";

/**
 * What is read from a stream: the calls in it, the prose, the snapshots, its entities, several values, or
 * one.
 * @typedef {"calls" | "prose" | "snapshots" | "entities" | "many" | "value"} Kind
 */
/**
 * What a snippet is made of. `pieces` are texts, or events as JSON; `value` is the final value,
 * undefined if there is none; `url` is where the server has the stream, `server` where it is.
 * @typedef {object} Case
 * @property {string} title
 * @property {Kind} kind
 * @property {"text" | "events" | "snapshots"} input
 * @property {string[]} pieces
 * @property {(number | null)[]} [times]
 * @property {{repair?: boolean, many?: boolean, prefix?: string, provider?: string, entity?: string,
 *   schema?: any}} options
 * @property {any} [value]
 * @property {{code: string, message: string} | null} [error]
 * @property {string} [url]
 * @property {string} [server]
 * @property {boolean} [hasToken]
 */

/** The value of a piece, with all digits. @param {string} piece */
const exact = (piece) => parse(piece);

// ---- literals ----

/** @typedef {{words: Record<string, string>, key: (key: string) => string, string: (text: string) => string}} Language */

/** @type {Language} */
const PYTHON = {
  words: {
    null: "None",
    true: "True",
    false: "False",
    NaN: 'float("nan")',
    Infinity: 'float("inf")',
    "-Infinity": 'float("-inf")',
  },
  key: (key) => pythonString(key),
  string: (text) => pythonString(text),
};
/** @type {Language} */
const JAVASCRIPT = {
  words: {},
  // Written plainly, this key would set the prototype.
  key: (key) => (key === "__proto__" ? '["__proto__"]' : javaScriptString(key)),
  string: (text) => javaScriptString(text),
};

/**
 * A literal of any value.
 * @param {any} value
 * @param {Language} language
 * @returns {string}
 */
function literal(value, language) {
  if (typeof value === "string") return language.string(value);
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, language)).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const fields = Object.entries(value).map(([key, each]) => `${language.key(key)}: ${literal(each, language)}`);
    return `{${fields.join(", ")}}`;
  }
  const word = String(value ?? null);
  return language.words[word] ?? word;
}

/** A Python literal of any value. @param {any} value */
export const pythonLiteral = (value) => literal(value, PYTHON);
/** @param {any} value */
const javaScriptLiteral = (value) => literal(value, JAVASCRIPT);

/** JSON's escapes are Python's; a lone surrogate is spelled the same way, too. @param {string} text */
function pythonString(text) {
  return escaped(JSON.stringify(text));
}

/** @param {string} text */
function javaScriptString(text) {
  return escaped(JSON.stringify(text));
}

/** What is invisible or changes the order of the text around it is escaped. @param {string} text */
function escaped(text) {
  return text.replace(
    /[\u007f-\u00a0\u00ad\u0600-\u0605\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * The pieces as a list over several lines.
 * @param {Case} shown
 * @param {Language} language
 */
function list({ pieces, input }, language) {
  const indent = language === PYTHON ? "    " : "  ";
  const items = pieces.map((piece) => literal(input === "text" ? piece : exact(piece), language));
  return `[\n${items.map((item) => `${indent}${item},\n`).join("")}]`;
}

// ---- calls of the library ----

/** Which options a kind of reading takes. @type {Record<Kind, string[]>} */
const TAKES = {
  calls: ["repair", "provider"],
  prose: ["provider"],
  snapshots: [],
  entities: ["repair", "many", "prefix", "provider", "entity"],
  many: ["repair", "many", "prefix", "provider", "schema"],
  value: ["repair", "prefix", "provider", "schema"],
};

/**
 * The options that are set, as `[name, value]`.
 * @param {Case} shown
 * @returns {[string, any][]}
 */
function optionsOf({ kind, options }) {
  return Object.entries(options).filter(
    ([name, value]) => TAKES[kind].includes(name) && value !== undefined && value !== false && value !== "" && value !== "auto",
  );
}

/** @type {Record<Exclude<Kind, "snapshots">, {python: string, js: string, item: string}>} */
const READERS = {
  calls: { python: "tool_calls", js: "toolCalls", item: "call" },
  prose: { python: "content", js: "content", item: "text" },
  entities: { python: "updates", js: "updates", item: "update" },
  many: { python: "select", js: "select", item: "value" },
  value: { python: "values", js: "values", item: "value" },
};

/**
 * @param {Case} shown
 * @param {string} source the name of the variable
 */
function pythonCall(shown, source) {
  if (shown.kind === "snapshots") return `jsonrill.chunks(${source})`;
  const options = optionsOf(shown).map(([name, value]) => `${name}=${pythonLiteral(value)}`);
  const field = shown.kind === "many" ? ['"root"'] : [];
  return `jsonrill.${READERS[shown.kind].python}(${[source, ...field, ...options].join(", ")})`;
}

/**
 * @param {Case} shown
 * @param {string} source
 */
function javaScriptCall(shown, source) {
  // A schema of the JavaScript library is a Standard Schema, not a JSON Schema.
  const options = optionsOf(shown)
    .filter(([name]) => name !== "schema")
    .map(([name, value]) => `${name}: ${javaScriptLiteral(value)}`);
  const field = shown.kind === "many" ? ['"root"'] : [];
  const all = options.length > 0 ? [`{ ${options.join(", ")} }`] : [];
  return `${READERS[/** @type {"value"} */ (shown.kind)].js}(${[source, ...field, ...all].join(", ")})`;
}

/**
 * The imports of a JavaScript program, and the schema, which it may validate with.
 * @param {Case} shown
 */
function javaScriptHead(shown) {
  const { schema } = shown.options;
  return [
    ...(shown.kind === "snapshots" ? [] : [`import { ${READERS[shown.kind].js} } from "jsonrill";`]),
    ...(shown.options.repair && TAKES[shown.kind].includes("repair") ? ['import "jsonrill/repair";'] : []),
    "",
    ...(schema === undefined
      ? []
      : ["// For a validator of JSON Schema, such as ajv.", `const schema = ${javaScriptLiteral(schema)};`]),
  ];
}

// ---- programs ----

// A larger argument of a command is refused by the system.
const LARGEST = 30_000;

/**
 * Lines of Python that read the stream.
 * @param {Case} shown
 */
export function asPython(shown) {
  const text = ["text", 'print(text, end="")'];
  const value = ["value", "print(value)"];
  const calls = ["update", "print(update.call.name, update.call.args)"];
  const entities = ["update", "print(update.status, update.data)"];
  const [item, print] = { calls, prose: text, snapshots: text, entities, many: value, value }[shown.kind];
  const loop = `for ${item} in ${pythonCall(shown, "stream")}:\n    ${print}\n`;
  return `import jsonrill\n\nstream = ${list(shown, PYTHON)}\n${loop}`;
}

/**
 * Lines of JavaScript that read the stream.
 * @param {Case} shown
 */
export function asJavaScript(shown) {
  const head = [...javaScriptHead(shown), `const stream = ${list(shown, JAVASCRIPT)};`];
  const value = "console.log(JSON.stringify(value))";
  if (shown.kind === "snapshots") return [...head, `for (const value of stream) ${value};`, ""].join("\n");
  const calls = "console.log(call.name, JSON.stringify(call.args))";
  const entities = "console.log(update.status, JSON.stringify(update.data))";
  const print = { calls, prose: "process.stdout.write(text)", entities, many: value, value }[shown.kind];
  const loop = `for await (const ${READERS[shown.kind].item} of ${javaScriptCall(shown, "stream")}) {`;
  return [...head, loop, `  ${print};`, "}", ""].join("\n");
}

/**
 * A request that reads the stream: from the server if it has it, else the server converts what was pasted.
 * @param {Case} shown
 */
export function asCurl({ kind, input, pieces, options, url, server = "http://127.0.0.1:8377/", hasToken = false }) {
  const format = kind === "calls" ? "calls" : kind === "prose" ? "raw" : "updates";
  const token = hasToken ? ['-H "authorization: Bearer $JSONRILL_TOKEN"'] : [];
  if (url) return `${["curl -N", shellQuoted(`${url}?format=${format}`), ...token].join(" ")}\n`;
  const { repair, many, prefix, provider, entity, schema } = options;
  const ofEvents = input === "events" && provider !== "auto" ? { provider } : {};
  const asked = { input: input !== "text" && input, repair, many, prefix, ...ofEvents, entity };
  const set = Object.fromEntries(Object.entries(asked).filter(([, value]) => value));
  const query = new URLSearchParams({ format, options: stringify(kind === "value" ? { ...set, schema } : set) });
  const type = input === "text" ? "text/plain" : "application/x-ndjson";
  const body = input === "text" ? pieces.join("") : pieces.map((piece) => `${piece.replaceAll(/[\r\n]+\s*/g, " ")}\n`).join("");
  const parts = ["curl -N", shellQuoted(`${server}v1/convert?${query}`), ...token, `-H 'content-type: ${type}'`];
  if (body.length < LARGEST) return `${parts.join(" ")} --data-raw ${shellQuoted(body)}\n`;
  let mark = "END";
  while (body.includes(mark)) mark += "_";
  return `${parts.join(" ")} --data-binary @- <<'${mark}'\n${body}${body.endsWith("\n") ? "" : "\n"}${mark}\n`;
}

/** @param {string} text */
function shellQuoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

// ---- test cases ----

/** The calls as pairs of name and arguments. @param {any} value */
function pairs(value) {
  return /** @type {any[]} */ (value ?? []).map(({ name, args }) => [name, args]);
}

/**
 * A test compares the complete value, not its entities.
 * @param {Case} shown
 * @returns {Case}
 */
function whole(shown) {
  return { ...shown, kind: shown.options.many ? "many" : "value" };
}

/**
 * A file for pytest.
 * @param {Case} shown
 */
export function asPythonTest(shown) {
  if (shown.kind === "entities") return asPythonTest(whole(shown));
  const { kind, error, value } = shown;
  const call = pythonCall(shown, "PIECES");
  const imports = error ? ["import pytest", "", "import jsonrill"] : ["import jsonrill"];
  const head = [`"""${docText(shown.title)}"""`, "", ...imports, "", `PIECES = ${list(shown, PYTHON)}`];
  if (!error) head.push(`VALUE = ${pythonLiteral(kind === "calls" ? pairs(value) : value)}`);
  const results = {
    calls: [
      `calls = {update.call.id: update.call for update in ${call}}`,
      "assert [[call.name, call.args] for call in calls.values()] == VALUE",
    ],
    prose: [`assert "".join(${call}) == VALUE`],
    snapshots: [`assert jsonrill.loads("".join(${call})) == VALUE`],
    many: [`assert [*${call}] == VALUE`],
    value: [`*_, last = ${call}`, "assert last == VALUE"],
  };
  const body = error
    ? [
        "def test_the_error() -> None:",
        "    with pytest.raises(jsonrill.JsonrillError) as caught:",
        `        [*${call}]`,
        `    assert caught.value.code == ${pythonLiteral(error.code)}`,
      ]
    : ["def test_the_value() -> None:", ...results[/** @type {"value"} */ (kind)].map((line) => `    ${line}`)];
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
  if (shown.kind === "entities") return asJavaScriptTest(whole(shown));
  const { kind, value } = shown;
  // Only a JSON Schema can say this error.
  const error = shown.error?.code === "INVALID_SCHEMA" ? null : shown.error;
  const wanted = javaScriptLiteral(kind === "calls" ? pairs(value) : value);
  const call = kind === "snapshots" ? "" : javaScriptCall(shown, "pieces");
  const results = {
    calls: [
      "const calls = new Map();",
      `for await (const call of ${call}) calls.set(call.id, call);`,
      `assert.deepEqual([...calls.values()].map(({ name, args }) => [name, args ?? null]), ${wanted});`,
    ],
    prose: ['let text = "";', `for await (const more of ${call}) text += more;`, `assert.equal(text, ${wanted});`],
    snapshots: [`assert.deepEqual(pieces.at(-1), ${wanted});`],
    many: ["const all = [];", `for await (const value of ${call}) all.push(value);`, `assert.deepEqual(all, ${wanted});`],
    value: ["let last;", `for await (const value of ${call}) last = value;`, `assert.deepEqual(last, ${wanted});`],
  };
  const body = error
    ? [
        `const read = async () => { for await (const _ of ${call}); };`,
        `await assert.rejects(read, { code: ${javaScriptLiteral(error.code)} });`,
      ]
    : results[/** @type {"value"} */ (kind)];
  return [
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    "",
    ...javaScriptHead(shown),
    `const pieces = ${list(shown, JAVASCRIPT)};`,
    "",
    `test(${javaScriptLiteral(shown.title)}, async () => {`,
    ...body.map((line) => `  ${line}`),
    "});",
    "",
  ].join("\n");
}

/**
 * A recording: the pieces with their times, to be opened by the page again.
 * @param {Case} shown
 */
export function asRecording({ title, input, pieces, times = [], options, value, error = null }) {
  const { schema, ...others } = options;
  const records = pieces.map((data, at) => ({ at: times[at] ?? null, data: input === "text" ? data : exact(data) }));
  const all = { ...others, ...(schema === undefined ? {} : { schema: stringify(schema) }) };
  return `${stringify({ recording: 1, title, input, options: all, records, value: value === undefined ? null : value, error }, 1)}\n`;
}

/**
 * jsonrill: JSON that streams, for programs that talk to language models.
 *
 * `values`, `states`, `fields`, `text`, `select` and `fragments` read text from any source, a provider's
 * stream among them; `content`, `parts` and `toolCalls` read such a stream as what it is. `Document`,
 * `Parser`, `Rebuilder`, `Parts` and `ToolCalls` are what they are made of; `open` reads
 * the events of a jsonrill server. `send` and `receive` keep a remote copy of a growing value equal.
 */

// Names are passed on as `export *`, and by files of their own where a module has more: esbuild loads all that
// a file names when it uses one of its names and splits the program into chunks.
export * from "./streams/values.js";
export * from "./streams/answering.js";
export * from "./streams/documents.js";
export * from "./streams/fragmenting.js";
export * from "./streams/selecting.js";
export * from "./streams/states.js";
export * from "./answer.js";
export * from "./answers/feedback.js";
export * from "./build/document.js";
export * from "./build/field-not-found.js";
export * from "./client/server-error.js";
export * from "./public/answers.js";
export * from "./public/client.js";
export * from "./public/errors.js";
export * from "./public/paths.js";
export * from "./public/wire.js";
export * from "./receive.js";
export * from "./schema/invalid-schema.js";
export * from "./send.js";
export * from "./sources/failures.js";
export * from "./wire/parser.js";

/** @typedef {import("./deltas.js").Operation} Operation */
/** @typedef {import("./receive.js").Message} Message */
/** @typedef {import("./receive.js").Snapshot} Snapshot */
/** @typedef {import("./receive.js").WireError} WireError */
/** @typedef {import("./paths.js").Path} Path */
/** @typedef {import("./parse/machine.js").Limits} Limits */
/** @typedef {import("./parse/machine.js").ParserOptions} ParserOptions */
/** @typedef {import("./providers/index.js").Provider} Provider */
/** @typedef {import("./providers/statements.js").Statement} Statement */
/** @typedef {import("./sources/reading.js").Source} Source */
/** @typedef {import("./sources/reading.js").SourceOptions} SourceOptions */
/** @typedef {import("./eventstream/sse.js").SSEEvent} SSEEvent */
/** @typedef {import("./wire/fragments.js").Kind} Kind */
/** @typedef {import("./wire/fragments.js").FullFragment} FullFragment */
/** @typedef {import("./wire/fragments.js").CompactFragment} CompactFragment */
/** @typedef {import("./wire/fragments.js").JufFragment} JufFragment */
/** @typedef {import("./wire/fragments.js").WireFragment} WireFragment */
/** @typedef {import("./providers/jsonrill.js").ToolCallUpdate} ToolCallUpdate */
/** @typedef {import("./providers/jsonrill.js").ToolCallEvent} ToolCallEvent */
/**
 * @template T
 * @typedef {import("./build/builder.js").DeepPartial<T>} DeepPartial
 */
/**
 * @template [T=any]
 * @typedef {import("./schema/standard.js").StandardSchema<T>} StandardSchema
 */
/**
 * @template T
 * @typedef {import("./client/open.js").Opened<T>} Opened
 */
/**
 * @template T
 * @typedef {import("./build/state.js").ValueState<T>} ValueState
 */
/**
 * @template T
 * @typedef {import("./streams/growing.js").ValuesOptions<T>} ValuesOptions
 */
/**
 * @template T
 * @typedef {import("./streams/selecting.js").SelectOptions<T>} SelectOptions
 */

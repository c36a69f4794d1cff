/**
 * jsonrill: JSON that streams, for programs that talk to language models.
 *
 * `values`, `text`, `texts`, `select`, `updates` and `fragments` read text from any source, a provider's
 * stream among them; `content`, `parts` and `toolCalls` read such a stream as what it is. `Document`,
 * `Parser`, `PartialStream`, `Rebuilder`, `Parts` and `ToolCalls` are what they are made of; `open` reads
 * the events of a jsonrill server.
 */

export { Answer } from "./answer.js";
export { content, parts, toolCalls } from "./answers.js";
export { applyDelta, DeltaError } from "./delta.js";
export { Document } from "./document.js";
export {
  FieldNotFound,
  InvalidJSON,
  InvalidSchema,
  JsonrillError,
  LimitExceeded,
  ServerError,
  StreamClosed,
  Truncated,
} from "./errors.js";
export { EventsError, LimitError, openEvents, openEventSource, SSEDecoder } from "./events.js";
export { Fragment, FragmentError } from "./fragments.js";
export { open } from "./open.js";
export { Parser } from "./parser.js";
export { Part, Parts } from "./parts.js";
export { PartialStream } from "./partialstream.js";
export { formatPath, fromPointer, parsePath, PathError, toPointer } from "./paths.js";
export { Rebuilder } from "./rebuilder.js";
export { SourceFailed, UnknownSource } from "./source-errors.js";
export { fragments, loads, partial, select, text, texts, updates, values } from "./streams.js";
export { ToolCall, ToolCalls } from "./toolcalls.js";
export { parse, stringify } from "./json.js";
export { Update } from "./update.js";
export { ExactNumber } from "./values.js";

/** @typedef {import("./paths.js").Path} Path */
/** @typedef {import("./machine.js").Limits} Limits */
/** @typedef {import("./machine.js").ParserOptions} ParserOptions */
/** @typedef {import("./providers/index.js").Provider} Provider */
/** @typedef {import("./providers/statements.js").Statement} Statement */
/** @typedef {import("./sources.js").Source} Source */
/** @typedef {import("./sources.js").SourceOptions} SourceOptions */
/** @typedef {import("./sse.js").SSEEvent} SSEEvent */
/** @typedef {import("./fragments.js").Kind} Kind */
/** @typedef {import("./fragments.js").FullFragment} FullFragment */
/** @typedef {import("./fragments.js").CompactFragment} CompactFragment */
/** @typedef {import("./fragments.js").JufFragment} JufFragment */
/** @typedef {import("./fragments.js").WireFragment} WireFragment */
/** @typedef {import("./providers/jsonrill.js").ToolCallUpdate} ToolCallUpdate */
/** @typedef {import("./providers/jsonrill.js").ToolCallEvent} ToolCallEvent */
/** @typedef {import("./values.js").Numbers} Numbers */
/**
 * @template T
 * @typedef {import("./growing.js").DeepPartial<T>} DeepPartial
 */
/**
 * @template [T=any]
 * @typedef {import("./schema.js").StandardSchema<T>} StandardSchema
 */
/**
 * @template T
 * @typedef {import("./open.js").Opened<T>} Opened
 */
/** @typedef {import("./entities.js").EntityOption} EntityOption */
/** @typedef {import("./partialstream.js").Mode} Mode */
/** @typedef {import("./partialstream.js").PartialStreamOptions} PartialStreamOptions */
/** @typedef {import("./update.js").UpdateError} UpdateError */
/**
 * @template T
 * @typedef {import("./streams.js").ValuesOptions<T>} ValuesOptions
 */
/**
 * @template T
 * @typedef {import("./streams.js").SelectOptions<T>} SelectOptions
 */

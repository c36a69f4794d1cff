/**
 * jsonrill: JSON that streams, for programs that talk to language models.
 *
 * `values`, `states`, `fields`, `text`, `texts`, `select`, `updates` and `fragments` read text from any source, a provider's
 * stream among them; `content`, `parts` and `toolCalls` read such a stream as what it is. `Document`,
 * `Parser`, `PartialStream`, `Rebuilder`, `Parts` and `ToolCalls` are what they are made of; `open` reads
 * the events of a jsonrill server.
 */

import { Part as PartClass } from "./answers/parts.js";

export { Answer } from "./answer.js";
export { content, parts, toolCalls } from "./streams/answering.js";
export { applyDelta, DeltaError } from "./partial-stream/delta.js";
export { Document } from "./build/document.js";
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
export { EventsError, LimitError, openEvents, openEventSource, SSEDecoder } from "./client/events.js";
export { Fragment, FragmentError } from "./wire/fragments.js";
export { open } from "./client/open.js";
export { Parser } from "./wire/parser.js";
export { Parts } from "./answers/parts.js";
export { PartialStream } from "./partial-stream/stream.js";
export { formatPath, fromPointer, parsePath, PathError, toPointer } from "./paths.js";
export { Rebuilder } from "./build/rebuilder.js";
export { RevisionError, SourceFailed, UnknownSource } from "./sources/failures.js";
export { fields, fragments, loads, partial, select, states, text, texts, updates, values } from "./streams/functions.js";
export { ToolCall, ToolCalls } from "./toolcalls/toolcalls.js";
export { parse, stringify } from "./jsontext.js";
export { Update } from "./partial-stream/update.js";
export { ExactNumber } from "./parse/values.js";

/** The class of parts; as a type, a union by `kind`. */
export const Part = PartClass;
/** @typedef {import("./answers/parts.js").AnyPart} Part */
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
/** @typedef {import("./parse/values.js").Numbers} Numbers */
/**
 * @template T
 * @typedef {import("./build/growing.js").DeepPartial<T>} DeepPartial
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
/** @typedef {import("./partial-stream/entities.js").EntityOption} EntityOption */
/** @typedef {import("./partial-stream/stream.js").Mode} Mode */
/** @typedef {import("./partial-stream/stream.js").PartialStreamOptions} PartialStreamOptions */
/** @typedef {import("./partial-stream/update.js").UpdateError} UpdateError */
/**
 * @template T
 * @typedef {import("./streams/functions.js").ValuesOptions<T>} ValuesOptions
 */
/**
 * @template T
 * @typedef {import("./streams/functions.js").SelectOptions<T>} SelectOptions
 */

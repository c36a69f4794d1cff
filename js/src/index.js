/**
 * jsonrill: JSON that is still arriving, as values.
 *
 * `values`, `states`, `fields`, `text`, `select` and `fragments` read text; `content`, `parts` and `toolCalls` read a
 * provider's stream; `open` reads a jsonrill server. `send` and `receive` keep a remote copy of a growing value in sync.
 * `Document`, `Parser`, `Rebuilder`, `Parts` and `ToolCalls` are the low-level API: `feed` and `flush`, no I/O.
 */

export { Document } from "./build/document.js";
export { openEvents } from "./client.js";
export { applyDelta } from "./deltas.js";
export { FieldNotFound, FragmentError, Gap, InvalidJSON, InvalidMessage, InvalidSchema } from "./errors.js";
export { JsonrillError, LimitExceeded, SourceFailed, StreamClosed, Truncated, UnknownSource } from "./errors.js";
export { content, partLists, parts, toolCalls } from "./events.js";
export { SSEDecoder } from "./eventstream.js";
export { Fragment, Parser, Rebuilder } from "./fragments.js";
export { observe } from "./observe.js";
export { open } from "./open.js";
export { Parts } from "./parts.js";
export { formatPath, parsePath, toPointer } from "./paths.js";
export { Receiver, receive } from "./receive.js";
export { Sender, send } from "./send.js";
export { fields, fragments, partial, select, states, text, values } from "./streams.js";
export { ToolCalls } from "./toolcalls/calls.js";

/** @typedef {import("./client.js").ConnectOptions} ConnectOptions */
/** @typedef {import("./deltas.js").Operation} Operation */
/** @typedef {import("./driver.js").Source} Source */
/** @typedef {import("./eventstream.js").SSEEvent} SSEEvent */
/** @typedef {import("./fragments.js").Kind} Kind */
/** @typedef {import("./fragments.js").WireFragment} WireFragment */
/** @typedef {import("./open.js").Update} Update */
/** @typedef {import("./parse/machine.js").Limits} Limits */
/** @typedef {import("./parts.js").Part} Part */
/** @typedef {import("./paths.js").Path} Path */
/** @typedef {import("./providers/jsonrill.js").ToolCallEvent} ToolCallEvent */
/** @typedef {import("./providers/jsonrill.js").ToolCallUpdate} ToolCallUpdate */
/** @typedef {import("./providers/reader.js").Provider} Provider */
/** @typedef {import("./providers/statements.js").Statement} Statement */
/** @typedef {import("./receive.js").Message} Message */
/** @typedef {import("./receive.js").Snapshot} Snapshot */
/** @typedef {import("./receive.js").WireError} WireError */
/**
 * @template T
 * @typedef {import("./build/builder.js").DeepPartial<T>} DeepPartial
 */
/**
 * @template T
 * @typedef {import("./open.js").Opened<T>} Opened
 */
/**
 * @template [T=any]
 * @typedef {import("./schema.js").StandardSchema<T>} StandardSchema
 */
/**
 * @template T
 * @typedef {import("./streams.js").State<T>} State
 */
/**
 * @template {string} [N=string]
 * @template [A=any]
 * @typedef {import("./toolcalls/call.js").ToolCall<N, A>} ToolCall
 */
/**
 * @template S
 * @typedef {import("./observe.js").Store<S>} Store
 */

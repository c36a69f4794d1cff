"use client";

/**
 * Streams in React: `useValue` reads the wire, `useStream` any value that grows, `useParts` a model's answer.
 *
 * Each returns a state that changes at most once per frame. Reading begins when the component is mounted, never on a
 * server, and stops when it is unmounted. A source is an address, which is read across lost connections; a function,
 * which is called when reading begins; or an endpoint, to which `submit(body)` posts.
 */

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { connect } from "./client.js";
import { Truncated } from "./errors.js";
import { partLists } from "./events.js";
import { isRestart } from "./eventstream.js";
import { isSnapshot, receivedState, serverError, wrongFormat } from "./formats.js";
import { Observed } from "./observe.js";
import { open } from "./open.js";
import { Receiver } from "./receive.js";

/** @import { DeepPartial } from "./build/builder.js" */
/** @import { ConnectionState, ConnectOptions } from "./client.js" */
/** @import { Source } from "./driver.js" */
/** @import { EventOptions } from "./events.js" */
/** @import { Reading } from "./observe.js" */
/** @import { OpenOptions } from "./open.js" */
/** @import { Part, PartsOptions } from "./parts.js" */
/** @import { Progress } from "./streams.js" */
/**
 * Where `submit(body)` sends the body: a URL, which gets it as JSON, or a function that returns a source for it.
 * @typedef {{api: string | URL | ((body: any, signal: AbortSignal) => any), headers?: HeadersInit,
 *   credentials?: RequestCredentials, fetch?: typeof globalThis.fetch}} Endpoint
 */
/**
 * @template S
 * @typedef {string | URL | Endpoint | S | ((signal: AbortSignal) => S | PromiseLike<S>) | null | undefined} HookSource
 */
/**
 * `initial` is the value before anything has arrived, also on a server. Another `key` reads a function again.
 * @template T
 * @typedef {{initial?: DeepPartial<T>, key?: string | number}} HookOptions
 */
/**
 * `connection` is "waiting" between a lost connection and the next try. `submit(body)` is for endpoints.
 * @typedef {Reading & {readonly connection: ConnectionState, readonly submit: (body?: unknown) => void}} HookState
 */
/**
 * `value` is the value so far; once `complete` it is a `T`.
 * @template T
 * @typedef {HookState & Progress & ({readonly complete: true, readonly value: T} | {readonly complete: false, readonly value: DeepPartial<T> | undefined})} ValueState
 */
/**
 * An entity of a stream of updates.
 * @template T
 * @typedef {{readonly entity?: string, readonly index?: number, readonly value: DeepPartial<T>, readonly complete: boolean}} Entity
 */
/**
 * `entities`: of a stream of updates, each entity; `value` is then the latest.
 * @template T
 * @typedef {ValueState<T> & {readonly entities: readonly Entity<T>[]}} StreamState
 */
/**
 * `parts` are the answer's parts, in order; `text` is the text of its text parts.
 * @typedef {HookState & {readonly complete: boolean, readonly parts: readonly Part[], readonly text: string}} PartsState
 */

const NO_PROGRESS = { openPath: null, isComplete: () => false };

/**
 * Receive the value of a `Sender` or of the format `deltas`.
 * @template [T=unknown]
 * @param {HookSource<Response | AsyncIterable<any>>} source
 * @param {ConnectOptions & HookOptions<T>} [options]
 * @returns {ValueState<T>}
 */
export function useValue(source, options = {}) {
  return useRead(source, options, { value: options.initial, ...NO_PROGRESS }, receivedState, receiveStates);
}

/**
 * Read the value that the format updates, fragments, text or deltas describes, or a body of JSON text.
 * @template [T=unknown]
 * @param {HookSource<Response>} source
 * @param {OpenOptions & HookOptions<T>} [options]
 * @returns {StreamState<T>}
 */
export function useStream(source, options = {}) {
  const empty = { value: options.initial, entities: [], ...NO_PROGRESS };
  const read = (/** @type {any} */ input, /** @type {OpenOptions} */ how) => entitiesOf(open(input, how));
  return useRead(source, options, empty, (state) => state, read);
}

/**
 * Read the parts of a model's answer: the formats parts, calls, raw, ai-sdk and ag-ui, or a provider's stream.
 * @param {HookSource<Source>} source
 * @param {ConnectOptions & PartsOptions & EventOptions & {key?: string | number}} [options]
 * @returns {PartsState}
 */
export function useParts(source, options = {}) {
  const fields = (/** @type {readonly Part[]} */ parts) => ({
    parts,
    text: parts.map(({ kind, text }) => (kind === "text" ? text : "")).join(""),
  });
  return useRead(source, options, fields([]), fields, (input, { choice, provider, limits, sse, signal, ...how }) =>
    partLists(isAddress(input) ? connect(input, how) : input, { choice, provider, limits, sse, signal }),
  );
}

/**
 * @param {any} source
 * @param {any} options
 * @param {object} empty
 * @param {(item: any) => object} fieldsOf
 * @param {(source: any, options: any) => AsyncIterable<any>} read
 * @returns {any}
 */
function useRead(source, options, empty, fieldsOf, read) {
  // Headers and functions may be new objects in each render; what is read is the same.
  const isEndpoint = typeof source === "object" && source !== null && "api" in source;
  const isMade = isEndpoint || typeof source === "function";
  const key = isMade ? typeof source : isAddress(source) ? String(source) : (source ?? null);
  const id = JSON.stringify([options.key, isEndpoint ? String(source.api) : null]);
  const latest = useRef({ source, options, read });
  useEffect(() => {
    latest.current = { source, options, read };
  });
  const make = () => ({
    key,
    id,
    observed: new Observed(
      (signal, body, note) => {
        const now = latest.current;
        const { initial: _initial, key: _key, ...how } = now.options;
        const onState = (/** @type {ConnectionState} */ connection, /** @type {any} */ detail) => {
          note({ connection });
          how.onState?.(connection, detail);
        };
        return now.read(openSource(now.source, signal, body), { ...how, signal, onState });
      },
      { connection: "connecting", ...empty },
      fieldsOf,
      isEndpoint || source == null,
    ),
  });
  const [stored, store] = useState(make);
  const current = stored.key === key && stored.id === id ? stored : make();
  if (current !== stored) store(current);
  const { subscribe, state, serverState } = current.observed;
  return useSyncExternalStore(subscribe, state, serverState);
}

/**
 * Return the source: the result of a function, the response of an endpoint, or the source itself.
 * @param {any} source
 * @param {AbortSignal} signal
 * @param {any} body
 */
function openSource(source, signal, body) {
  if (typeof source === "function") return source(signal);
  if (typeof source !== "object" || !("api" in source)) return source;
  const { api, headers, fetch = globalThis.fetch, credentials } = source;
  if (typeof api === "function") return api(body, signal);
  const allHeaders = new Headers(headers);
  if (!allHeaders.has("content-type")) allHeaders.set("content-type", "application/json");
  return fetch(api, { method: "POST", headers: allHeaders, credentials, body: JSON.stringify(body), signal });
}

/** @param {any} source */
function isAddress(source) {
  return typeof source === "string" || source instanceof URL;
}

/**
 * Yield the receiver after each message that changed it. The source yields messages, or events with messages.
 * @param {any} source
 * @param {ConnectOptions} options
 */
async function* receiveStates(source, options) {
  const isIterable = typeof source !== "string" && (source?.[Symbol.asyncIterator] ?? source?.[Symbol.iterator]) !== undefined;
  let receiver = new Receiver();
  for await (const element of isIterable ? source : connect(source, options)) {
    if (isRestart(element)) receiver = new Receiver();
    if (isRestart(element)) continue;
    const message = typeof element?.hasId === "boolean" ? JSON.parse(element.data) : element;
    if (message?.status === "ERROR") throw serverError(message.error);
    if (receiver.n === 0 && !isSnapshot(message)) throw wrongFormat("useValue()", message);
    if (receiver.feed(message) || receiver.ended) yield receiver;
    if (receiver.error !== null) throw serverError(receiver.error);
  }
  if (receiver.n > 0 && !receiver.ended) throw new Truncated("the messages stopped before the end", { reason: "lost" });
}

/** @param {AsyncIterable<any>} states */
async function* entitiesOf(states) {
  const entities = new Map();
  for await (const { id, ...state } of states) {
    const { entity, index, value, complete } = state;
    if (index !== undefined) entities.set(`${index} ${entity}`, { entity, index, value, complete });
    yield { ...state, entities: [...entities.values()] };
  }
}

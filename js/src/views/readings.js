/**
 * What views read, and the states they get: the values of a source, the parts of an answer, and both of
 * a run. `observe.js` and `react.js` hand them to views.
 */

import { parts } from "../streams/answering.js";
import { JsonrillError } from "../errors.js";
import { LocatedBuilder } from "../build/located.js";
import { NO_PROGRESS, progress } from "../build/state.js";
import { Observed } from "./observed.js";
import { checked, opening } from "../client/open.js";
import { PartList } from "./part-list.js";
import { sharedEvents } from "./shared-events.js";
import { checkSource, drive, isPiece } from "../sources/reading.js";
import { grown } from "../streams/growing.js";
import { isObject } from "../parse/values.js";

/** @import { DeepPartial } from "../build/builder.js" */
/** @import { Begin, Fields } from "./observed.js" */
/** @import { PartsOptions } from "../answers/parts.js" */
/** @import { Source } from "../sources/reading.js" */
/** @typedef {import("./observed.js").Status} Status */
/** @typedef {import("./part-list.js").PartState} PartState */
/** @typedef {import("./part-list.js").CallState} CallState */
/** @typedef {import("../client/stream.js").State} Connection */
/**
 * A source; a function that makes one when reading begins, and should hand its signal on to `fetch`;
 * or nothing yet.
 * @typedef {Source | ((signal: AbortSignal) => Source) | null | undefined} StreamSource
 */
/**
 * `initial` is the value before anything has arrived, also on a server.
 * @template T
 * @typedef {Omit<import("../streams/growing.js").ValuesOptions<T>, "live">
 *   & {initial?: DeepPartial<T>}} StreamOptions
 */
/**
 * Where to ask, when `submit(body)` says so: an address that is sent the body as JSON, or a function that
 * makes a source of it.
 * @typedef {{api: string | URL | ((body: any, signal: AbortSignal) => Source), headers?: HeadersInit,
 *   credentials?: RequestCredentials, fetch?: typeof globalThis.fetch}} Endpoint
 */
/**
 * `error` is set if reading failed; `value` is then what was good before it. `isLoading`: more may come.
 * `stop()` closes the source, `restart()` reads it again if it is a function, a run or an endpoint.
 * @typedef {{readonly error: Error | undefined, readonly status: Status, readonly isLoading: boolean,
 *   readonly stop: () => void, readonly restart: () => void}} Common
 */
/**
 * `value` is what is known so far, once `complete` it is a `T`.
 * @template T
 * @typedef {Common & import("../build/state.js").Progress & ({readonly complete: true, readonly value: T}
 *   | {readonly complete: false, readonly value: DeepPartial<T> | undefined})} StreamState
 */
/**
 * `submit(body)` asks, in place of what was asked before.
 * @template T
 * @typedef {StreamState<T> & {readonly submit: (body?: unknown) => void}} SubmitState
 */
/**
 * `parts` are those of the answer, in order; `text` is the text of its text parts.
 * @typedef {Common & {readonly complete: boolean, readonly parts: readonly PartState[],
 *   readonly text: string}} PartsState
 */
/**
 * An entity of a run that is read as updates.
 * @template T
 * @typedef {import("../build/state.js").Progress & {readonly entity: string | undefined,
 *   readonly index: number | undefined, readonly value: DeepPartial<T>, readonly complete: boolean}} EntityState
 */
/**
 * `connection`: "waiting" after a lost connection, until the next try. `id` is the position of the last
 * event. `entities`: of a run that is read as updates, each entity; `value` is then the latest.
 * @template T
 * @typedef {StreamState<T> & {readonly connection: Connection, readonly id: string,
 *   readonly entities: readonly EntityState<T>[]}} RunState
 */
/** @typedef {PartsState & {readonly connection: Connection, readonly id: string}} RunPartsState */
/**
 * @template T
 * @typedef {Omit<import("../client/open.js").OpenOptions, "live" | "onEvent">
 *   & {initial?: DeepPartial<T>}} RunOptions
 */
/** @typedef {Omit<import("../client/stream.js").Options, "onEvent"> & PartsOptions} RunPartsOptions */
/**
 * How a reading begins, and the state before anything has arrived. `run`: it is that of an address.
 * @typedef {{name: string, run: boolean, begin: (source: any, options: any) => Begin,
 *   empty: (options: any) => Fields}} Reading
 */

/** @type {readonly PartState[]} */
const NO_PARTS = Object.freeze([]);

/**
 * A reading that has not begun. Nothing to read is an idle one.
 * @param {any} source
 * @param {Fields} options
 * @param {Reading} reading
 */
export function observed(source, options, reading) {
  const { signal } = options;
  if (source == null) return new Observed(null, reading.empty(options), { repeatable: true });
  check(source, reading);
  const waits = isEndpoint(source);
  const repeatable = reading.run || waits || isRepeatable(source);
  return new Observed(reading.begin(source, options), reading.empty(options), { repeatable, waits, signal });
}

/**
 * Throw a TypeError for what cannot be read.
 * @param {any} source
 * @param {Reading} reading
 */
export function check(source, { run }) {
  if (!run && typeof source !== "function" && !isEndpoint(source)) checkSource(source);
  if (run && typeof source !== "string" && !(source instanceof URL)) {
    throw new TypeError(`the address of a run is a string or a URL, not ${typeof source}`);
  }
}

/** @param {any} source @returns {source is Endpoint} */
export function isEndpoint(source) {
  return typeof source === "object" && source !== null && "api" in source;
}

/**
 * The source itself, made if it is a function or an endpoint.
 * @param {any} source
 * @param {AbortSignal} signal
 * @param {unknown} body
 */
function begun(source, signal, body) {
  if (typeof source === "function") return source(signal);
  if (!isEndpoint(source)) return source;
  const { api, headers, fetch = globalThis.fetch, credentials } = source;
  if (typeof api === "function") return api(body, signal);
  const asked = new Headers(headers);
  if (!asked.has("content-type")) asked.set("content-type", "application/json");
  return fetch(api, { method: "POST", headers: asked, credentials, body: JSON.stringify(body), signal });
}

/** True if a source can be read again from its beginning. @param {any} source */
export function isRepeatable(source) {
  return typeof source === "function" || Array.isArray(source) || isPiece(source);
}

/** @type {Reading} */
export const VALUES = {
  name: "Stream",
  run: false,
  empty: ({ initial }) => ({ value: initial, ...NO_PROGRESS }),
  begin: (source, { initial, ...options }) =>
    async function* (signal, _, body) {
      const itself = (/** @type {any} */ value) => value;
      const read = grown(drive, begun(source, signal, body), itself, itself, { ...options, signal }, LocatedBuilder);
      for await (const latest of read) {
        yield () => {
          const isGrowing = latest instanceof LocatedBuilder;
          const value = isGrowing ? latest.value : latest;
          return { value, ...progress(value, isGrowing ? latest.openPath : null) };
        };
      }
    },
};

/** @type {Reading} */
export const PARTS = {
  name: "Parts",
  run: false,
  empty: () => ({ parts: NO_PARTS, text: "" }),
  begin: (source, options) => (signal, _, body) => listed(begun(source, signal, body), { ...options, signal }),
};

/** @type {Reading} */
export const RUN = {
  name: "Run",
  run: true,
  empty: ({ initial }) => ({ value: initial, ...NO_PROGRESS, entities: NO_PARTS, ...NOT_OPEN }),
  begin: (url, { initial, ...options }) =>
    async function* (signal, note) {
      const entities = new Map();
      const connection = connecting(options, signal, note);
      const itself = (/** @type {any} */ value) => value;
      for await (const opened of opening(url, itself, connection.options, sharedEvents)) {
        connection.hasCome = true;
        const { value: latest, id, ...entity } = opened;
        const { index, openPath, isComplete } = entity;
        if (index !== undefined) {
          entities.set(JSON.stringify([entity.entity, index]), { ...entity, value: latest });
        }
        yield () => {
          const isLive = index === undefined && typeof latest?.openPath !== "undefined";
          const value = isLive ? latest.value : latest;
          const known = isLive ? progress(value, latest.openPath) : { openPath, isComplete };
          return { value, ...known, entities: [...entities.values()], id };
        };
      }
      connection.end();
    },
};

/** @type {Reading} */
export const RUN_PARTS = {
  name: "RunParts",
  run: true,
  empty: () => ({ parts: NO_PARTS, text: "", ...NOT_OPEN }),
  begin: (url, options) =>
    async function* (signal, note) {
      const { choice, provider, limits, ...rest } = options;
      const connection = connecting(rest, signal, note);
      const events = eventsOf(url, connection, note);
      yield* listed(events, { choice, provider, limits, signal });
      connection.end();
    },
};

const NOT_OPEN = { connection: "connecting", id: "" };

/**
 * @param {Source} source
 * @param {PartsOptions & {signal: AbortSignal}} options
 */
async function* listed(source, options) {
  const list = new PartList();
  for await (const part of parts(source, options)) {
    list.add(part);
    yield () => {
      const text = list.list.map(({ kind, text }) => (kind === "text" ? text : "")).join("");
      return { parts: list.list, text };
    };
  }
}

/**
 * The options of a connection that notes its state. `end` notes that there was no run.
 * @param {Fields} options
 * @param {AbortSignal} signal
 * @param {(fields: Fields) => void} note
 */
function connecting({ onState, ...options }, signal, note) {
  let isAbsent = false;
  const connection = {
    hasCome: false,
    options: {
      ...options,
      signal,
      onState: (/** @type {Connection} */ state, /** @type {any} */ detail) => {
        isAbsent = detail.reason === "204";
        note({ connection: state });
        onState?.(state, detail);
      },
    },
    end() {
      if (isAbsent && !connection.hasCome) note({ status: "idle" });
    },
  };
  return connection;
}

/**
 * The logged events of a run.
 * @param {string} url
 * @param {ReturnType<typeof connecting>} connection
 * @param {(fields: Fields) => void} note
 */
async function* eventsOf(url, connection, note) {
  const events = sharedEvents(url, connection.options);
  connection.options.signal.addEventListener("abort", events.close);
  for await (const { data, id } of events) {
    connection.hasCome = true;
    note({ id });
    const event = checked(JSON.parse(data));
    if (!isObject(event)) {
      throw new JsonrillError("parts are read of a provider's events (format=raw); read a run of text or fragments as values");
    }
    yield event;
  }
}

"use client";

/**
 * Streams in React: `useStream` and `useParts` read a source, `useRun` and `useRunParts` the events of
 * a run. Each returns a state that changes at most once per frame.
 *
 * Reading begins when the component is mounted, never on a server, and stops when it is unmounted. A
 * source is read once, however many components use it; a run is read by each component.
 */

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { parts } from "./answers.js";
import { Document } from "./document.js";
import { JsonrillError, ServerError } from "./errors.js";
import { openEvents } from "./events.js";
import { Growing } from "./growing.js";
import { parse } from "./json.js";
import { Observed } from "./observed.js";
import { opening } from "./open.js";
import { PartList } from "./part-list.js";
import { Rebuilder } from "./rebuilder.js";
import { checkSource, isPiece } from "./sources.js";
import { stoppable } from "./stopping.js";
import { growing } from "./streams.js";
import { isObject } from "./values.js";

/** @import { DeepPartial } from "./growing.js" */
/** @import { Begin, Fields } from "./observed.js" */
/** @import { PartsOptions } from "./parts.js" */
/** @import { Source } from "./sources.js" */
/** @typedef {import("./observed.js").Status} Status */
/** @typedef {import("./part-list.js").PartState} PartState */
/** @typedef {import("./part-list.js").CallState} CallState */
/** @typedef {import("./stream.js").State} Connection */
/**
 * A source; a function that makes one when reading begins, and should hand its signal on to `fetch`;
 * or nothing yet.
 * @typedef {Source | ((signal: AbortSignal) => Source) | null | undefined} StreamSource
 */
/**
 * `initial` is the value before anything has arrived, also on a server.
 * @template T
 * @typedef {Omit<import("./streams.js").ValuesOptions<T>, "live">
 *   & {initial?: DeepPartial<T>}} StreamOptions
 */
/**
 * `error` is set if reading failed; `value` is then what was good before it. `stop()` closes the source,
 * `restart()` reads it again if it is a function or a run.
 * @typedef {{readonly error: Error | undefined, readonly status: Status, readonly stop: () => void,
 *   readonly restart: () => void}} Common
 */
/**
 * `value` is what is known so far, once `complete` it is a `T`.
 * @template T
 * @typedef {Common & ({readonly complete: true, readonly value: T} | {readonly complete: false,
 *   readonly value: DeepPartial<T> | undefined})} StreamState
 */
/**
 * `parts` are those of the answer, in order; `text` is the text of its text parts.
 * @typedef {Common & {readonly complete: boolean, readonly parts: readonly PartState[],
 *   readonly text: string}} PartsState
 */
/**
 * An entity of a run that is read as updates.
 * @template T
 * @typedef {{readonly entity: string | undefined, readonly index: number | undefined,
 *   readonly value: DeepPartial<T>, readonly complete: boolean}} EntityState
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
 * @typedef {Omit<import("./open.js").OpenOptions, "live" | "signal" | "onEvent">
 *   & {initial?: DeepPartial<T>}} RunOptions
 */
/** @typedef {Omit<import("./stream.js").Options, "signal" | "onEvent"> & PartsOptions} RunPartsOptions */
/**
 * How the reading of a hook begins, and the state before anything has arrived.
 * @typedef {{name: string, isOfSource: boolean, begin: (source: any, options: any) => Begin,
 *   empty: (options: any) => Fields}} Hook
 */

// A new source in this many renders in a row, each after a state of the one before, is a loop.
const MOST_NEW = 5;
/** @type {readonly PartState[]} */
const NO_PARTS = Object.freeze([]);

/**
 * The value of a source while it arrives.
 *
 * A source is read once: make it in an event handler and keep it with `useState`, or give a function
 * that `useCallback` keeps. The options are those of `values`, when reading begins.
 * @template [T=any]
 * @param {StreamSource} source
 * @param {StreamOptions<T>} [options]
 * @returns {StreamState<T>}
 */
export function useStream(source, options = {}) {
  return useSource(source, options, VALUES);
}

/**
 * The parts of a model's answer while they arrive: text, reasoning, calls and results.
 * @param {StreamSource} source
 * @param {PartsOptions} [options]
 * @returns {PartsState}
 */
export function useParts(source, options = {}) {
  return useSource(source, options, PARTS);
}

/**
 * The value of a run while it grows (`format=fragments`, `updates` or `chunks`), across lost connections
 * and reloads: a page that is loaded again reads what there is and goes on.
 *
 * The status is "idle" if there is no run, which the server says with 204. Another `url` is another
 * run; the options are those of `open`, when reading begins.
 * @template [T=any]
 * @param {string | URL | null | undefined} url
 * @param {RunOptions<T>} [options]
 * @returns {RunState<T>}
 */
export function useRun(url, options = {}) {
  return useKept(url, options, RUN);
}

/**
 * The parts of a model's answer that a run has logged (`format=raw`), as `useRun` reads it.
 * @param {string | URL | null | undefined} url
 * @param {RunPartsOptions} [options]
 * @returns {RunPartsState}
 */
export function useRunParts(url, options = {}) {
  return useKept(url, options, RUN_PARTS);
}

// ---- the state of a source, and of a run ----

/**
 * @param {StreamSource} source
 * @param {Fields} options
 * @param {Hook} hook
 */
function useSource(source, options, hook) {
  const isShared = isObject(source) || Array.isArray(source) || typeof source === "function";
  const own = useOwn(isShared ? null : source, options, hook);
  const observed = isShared ? shared(source, options, hook) : own;
  const seen = useRef({ observed, times: 0 });
  useEffect(() => {
    const { current } = seen;
    const isNew = current.observed !== observed && current.observed.told;
    current.times = isNew && isShared ? current.times + 1 : 0;
    current.observed = observed;
    observed.told = false;
    if (current.times < MOST_NEW) return;
    throw new TypeError(
      `${hook.name}() got a new source in each of ${MOST_NEW} renders: make it in an event handler ` +
        "and keep it with useState, or give a function that useCallback keeps",
    );
  });
  return useObserved(observed);
}

/**
 * @param {string | URL | null | undefined} url
 * @param {Fields} options
 * @param {Hook} hook
 */
function useKept(url, options, hook) {
  if (url != null && typeof url !== "string" && !(url instanceof URL)) {
    throw new TypeError(`${hook.name}() takes the address of a run, not ${typeof url}`);
  }
  return useObserved(useOwn(url == null ? null : String(url), options, hook));
}

/**
 * @param {Observed} observed
 * @returns {any}
 */
function useObserved({ subscribe, state, serverState }) {
  return useSyncExternalStore(subscribe, state, serverState);
}

/**
 * The reading that belongs to this component, of a text or an address; another key is another one.
 * @param {any} source
 * @param {Fields} options
 * @param {Hook} hook
 */
function useOwn(source, options, hook) {
  const key = source ?? null;
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const [kept, keep] = useState(() => ({ key, observed: make() }));
  if (kept.key === key) return kept.observed;
  const next = { key, observed: make() };
  keep(next);
  return next.observed;

  function make() {
    if (key === null) return new Observed(null, hook.empty(options), true);
    // Headers may have changed when it begins again.
    const begin = (/** @type {[AbortSignal, any]} */ ...given) => hook.begin(key, latest.current)(...given);
    if (hook.isOfSource) checkSource(key);
    return new Observed(begin, hook.empty(options), true);
  }
}

/** What is read of a source, and how. @type {WeakMap<object, Map<string, Observed>>} */
const READINGS = new WeakMap();

/**
 * The reading of a source, for all components that use it.
 * @param {any} source
 * @param {Fields} options
 * @param {Hook} hook
 */
function shared(source, options, hook) {
  const isFunction = typeof source === "function";
  if (!isFunction) checkSource(source);
  const readings = READINGS.get(source) ?? new Map();
  READINGS.set(source, readings);
  const key = hook.name + JSON.stringify(options, plain);
  let observed = readings.get(key);
  if (observed !== undefined) return observed;
  const isRepeatable = isFunction || Array.isArray(source) || isPiece(source);
  if (readings.size !== 0 && !isRepeatable) {
    const [other] = readings.keys();
    throw new TypeError(`a source is read once, and this one is read as ${other} already, not ${key}`);
  }
  observed = new Observed(hook.begin(source, options), hook.empty(options), isRepeatable);
  readings.set(key, observed);
  return observed;
}

/**
 * What tells options apart: not schemas and functions, which may be made anew with each render.
 * @param {string} name
 * @param {any} value
 */
function plain(name, value) {
  return name === "schema" || name === "initial" || typeof value === "function" ? undefined : value;
}

// ---- what each hook reads ----

/** @type {Hook} */
const VALUES = {
  name: "useStream",
  isOfSource: true,
  empty: ({ initial }) => ({ value: initial }),
  begin: (source, { initial, ...options }) =>
    async function* (signal) {
      const given = stoppable(typeof source === "function" ? source(signal) : source, signal);
      for await (const found of growing(given, (value) => value, options)) {
        yield () => ({ value: found instanceof Growing ? found.value : found });
      }
    },
};

/** @type {Hook} */
const PARTS = {
  name: "useParts",
  isOfSource: true,
  empty: () => ({ parts: NO_PARTS, text: "" }),
  begin: (source, options) => (signal) =>
    listed(stoppable(typeof source === "function" ? source(signal) : source, signal), options),
};

/** @type {Hook} */
const RUN = {
  name: "useRun",
  isOfSource: false,
  empty: ({ initial }) => ({ value: initial, entities: NO_PARTS, ...NOT_OPEN }),
  begin: (url, { initial, ...options }) =>
    async function* (signal, note) {
      const entities = new Map();
      const connection = connecting(options, signal, note);
      for await (const opened of opening(url, (value) => value, connection.options)) {
        connection.hasCome = true;
        const { value, complete, id, entity, index } = opened;
        const rebuilt = value instanceof Rebuilder || value instanceof Document ? value : null;
        if (index !== undefined) {
          entities.set(JSON.stringify([entity, index]), { entity, index, value, complete });
        }
        yield () => ({ value: rebuilt ? rebuilt.value : value, entities: [...entities.values()], id });
      }
      connection.end();
    },
};

/** @type {Hook} */
const RUN_PARTS = {
  name: "useRunParts",
  isOfSource: false,
  empty: () => ({ parts: NO_PARTS, text: "", ...NOT_OPEN }),
  begin: (url, options) =>
    async function* (signal, note) {
      const { choice, provider, numbers, limits, repair, onRepair, ...rest } = options;
      const connection = connecting(rest, signal, note);
      const events = eventsOf(url, connection, numbers, note);
      yield* listed(events, { choice, provider, numbers, limits, repair, onRepair });
      connection.end();
    },
};

const NOT_OPEN = { connection: "connecting", id: "" };

/**
 * @param {Source} source
 * @param {PartsOptions} options
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
 * @param {any} numbers
 * @param {(fields: Fields) => void} note
 */
async function* eventsOf(url, connection, numbers, note) {
  for await (const { data, id } of openEvents(url, connection.options)) {
    connection.hasCome = true;
    note({ id });
    const event = parse(data, numbers);
    if (isObject(event) && event.status === "ERROR" && isObject(event.error)) {
      throw new ServerError(event.error);
    }
    if (!isObject(event)) {
      const remedy = "read a run of text or fragments with useRun()";
      throw new JsonrillError(`useRunParts() reads the events of a provider (format=raw); ${remedy}`);
    }
    yield event;
  }
}

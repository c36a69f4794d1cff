"use client";

/**
 * Streams in React: `useStream` and `useParts` read a source, `useRun` and `useRunParts` the events of
 * a run. Each returns a state that changes at most once per frame.
 *
 * Reading begins when the component is mounted, never on a server, and stops when it is unmounted. A
 * source is read once, however many components use it; a run is read by each component.
 */

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { check, isEndpoint, isRepeatable, observed, PARTS, RUN, RUN_PARTS, VALUES } from "./views/readings.js";
import { isObject } from "./parse/values.js";

/** @import { Fields, Observed } from "./views/observed.js" */
/** @import { PartsOptions } from "./answers/parts.js" */
/** @import { Reading } from "./views/readings.js" */
/** @typedef {import("./views/readings.js").StreamSource} StreamSource */
/** @typedef {import("./views/readings.js").Endpoint} Endpoint */
/** @typedef {import("./views/readings.js").PartState} PartState */
/** @typedef {import("./views/readings.js").CallState} CallState */
/** @typedef {import("./views/readings.js").PartsState} PartsState */
/** @typedef {import("./views/readings.js").RunPartsState} RunPartsState */
/** @typedef {import("./views/readings.js").RunPartsOptions} RunPartsOptions */
/**
 * @template T
 * @typedef {import("./views/readings.js").StreamState<T>} StreamState
 */
/**
 * @template T
 * @typedef {import("./views/readings.js").SubmitState<T>} SubmitState
 */
/**
 * @template T
 * @typedef {import("./views/readings.js").StreamOptions<T>} StreamOptions
 */
/**
 * @template T
 * @typedef {import("./views/readings.js").RunState<T>} RunState
 */
/**
 * @template T
 * @typedef {import("./views/readings.js").RunOptions<T>} RunOptions
 */

// A new source in this many renders in a row, each after a state of the one before, is a loop.
const MOST_NEW = 5;

/**
 * The value of what an endpoint answers to `submit(body)`; nothing is asked before.
 * @template [T=unknown]
 * @overload
 * @param {Endpoint} endpoint
 * @param {StreamOptions<T>} [options]
 * @returns {SubmitState<T>}
 */
/**
 * The value of a source while it arrives.
 *
 * A source is read once: make it in an event handler and keep it with `useState`, or give a function
 * that `useCallback` keeps. The options are those of `values`, when reading begins.
 * @template [T=unknown]
 * @overload
 * @param {StreamSource} source
 * @param {StreamOptions<T>} [options]
 * @returns {StreamState<T>}
 */
/**
 * @param {any} source
 * @param {any} [options]
 * @returns {any}
 */
export function useStream(source, options = {}) {
  return useSource(source, options, VALUES);
}

/**
 * The parts of a model's answer while they arrive: text, reasoning, calls and results.
 * @param {StreamSource} source
 * @param {PartsOptions & {signal?: AbortSignal}} [options]
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
 * @template [T=unknown]
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
 * @param {Reading} reading
 */
function useSource(source, options, reading) {
  const isKept = isObject(source) || Array.isArray(source) || typeof source === "function";
  const isShared = isKept && !isEndpoint(source);
  const own = useOwn(isShared ? null : source, options, reading);
  const current = isShared ? shared(source, options, reading) : own;
  const seen = useRef({ observed: current, times: 0 });
  useEffect(() => {
    const last = seen.current;
    const isNew = last.observed !== current && last.observed.told;
    last.times = isNew && isShared ? last.times + 1 : 0;
    last.observed = current;
    current.told = false;
    if (last.times < MOST_NEW) return;
    throw new TypeError(
      `use${reading.name}() got a new source in each of ${MOST_NEW} renders: make it in an event handler ` +
        "and keep it with useState, or give a function that useCallback keeps",
    );
  });
  return useObserved(current);
}

/**
 * @param {string | URL | null | undefined} url
 * @param {Fields} options
 * @param {Reading} reading
 */
function useKept(url, options, reading) {
  return useObserved(useOwn(url instanceof URL ? url.href : url, options, reading));
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
 * @param {Reading} reading
 */
function useOwn(source, options, reading) {
  // An endpoint may be a new object in each render: its address tells it apart.
  const key = isEndpoint(source) ? `api ${source.api}` : (source ?? null);
  const latest = useRef({ source, options });
  useEffect(() => {
    latest.current = { source, options };
  });
  const [kept, keep] = useState(() => ({ key, observed: make() }));
  if (kept.key === key) return kept.observed;
  const next = { key, observed: make() };
  keep(next);
  return next.observed;

  function make() {
    // Headers may have changed when it begins again.
    const begin =
      (/** @type {any} */ first) =>
      (/** @type {[any, any, any]} */ ...words) => {
        const now = latest.current;
        return reading.begin(isEndpoint(first) ? now.source : first, now.options)(...words);
      };
    return observed(source, options, { ...reading, begin });
  }
}

/** What is read of a source, and how. @type {WeakMap<object, Map<string, Observed>>} */
const READINGS = new WeakMap();

/**
 * The reading of a source, for all components that use it.
 * @param {any} source
 * @param {Fields} options
 * @param {Reading} reading
 */
function shared(source, options, reading) {
  check(source, reading);
  const readings = READINGS.get(source) ?? new Map();
  READINGS.set(source, readings);
  const key = `use${reading.name}(${JSON.stringify(options, plain)})`;
  const known = readings.get(key);
  if (known !== undefined) return known;
  if (readings.size !== 0 && !isRepeatable(source)) {
    const [other] = readings.keys();
    throw new TypeError(`a source is read once, and this one is read by ${other} already, not by ${key}`);
  }
  const reads = observed(source, options, reading);
  readings.set(key, reads);
  return reads;
}

/**
 * What tells options apart: not schemas, signals and functions, which may be made anew with each render.
 * @param {string} name
 * @param {any} value
 */
function plain(name, value) {
  return ["schema", "initial", "signal"].includes(name) || typeof value === "function" ? undefined : value;
}

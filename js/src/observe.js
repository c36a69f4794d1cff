/**
 * Streams for views of any framework: `observeStream` and `observeParts` read a source, `observeRun` and
 * `observeRunParts` the events of a run. What they return is a store as Svelte has them.
 *
 * Reading begins with the first subscriber and stops when the last one has left; subscribers get a new
 * state at most once per frame.
 */

import { observed, PARTS, RUN, RUN_PARTS, VALUES } from "./views/readings.js";

/** @import { Fields } from "./views/observed.js" */
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
/**
 * `subscribe` calls back at once and with each new state, and returns what ends it. `state` is the
 * latest one.
 * @template S
 * @typedef {{subscribe: (view: (state: S) => void) => () => void, readonly state: S}} Store
 */

/**
 * The value of what an endpoint answers to `submit(body)` of the state.
 * @template [T=unknown]
 * @overload
 * @param {Endpoint} endpoint
 * @param {StreamOptions<T>} [options]
 * @returns {Store<SubmitState<T>>}
 */
/**
 * The value of a source while it arrives, with the options of `values`.
 * @template [T=unknown]
 * @overload
 * @param {StreamSource} source
 * @param {StreamOptions<T>} [options]
 * @returns {Store<StreamState<T>>}
 */
/**
 * @param {any} source
 * @param {any} [options]
 * @returns {any}
 */
export function observeStream(source, options = {}) {
  return store(source, options, VALUES);
}

/**
 * The parts of a model's answer while they arrive: text, reasoning, calls and results.
 * @param {StreamSource} source
 * @param {PartsOptions & {signal?: AbortSignal}} [options]
 * @returns {Store<PartsState>}
 */
export function observeParts(source, options = {}) {
  return store(source, options, PARTS);
}

/**
 * The value of a run while it grows (`format=fragments`, `updates` or `chunks`), across lost
 * connections, with the options of `open`.
 * @template [T=unknown]
 * @param {string | URL | null | undefined} url
 * @param {RunOptions<T>} [options]
 * @returns {Store<RunState<T>>}
 */
export function observeRun(url, options = {}) {
  return store(url, options, RUN);
}

/**
 * The parts of a model's answer that a run has logged (`format=raw`).
 * @param {string | URL | null | undefined} url
 * @param {RunPartsOptions} [options]
 * @returns {Store<RunPartsState>}
 */
export function observeRunParts(url, options = {}) {
  return store(url, options, RUN_PARTS);
}

/**
 * @param {any} source
 * @param {Fields} options
 * @param {Reading} reading
 * @returns {Store<any>}
 */
function store(source, options, reading) {
  const { subscribe, state } = observed(source, options, reading);
  return {
    subscribe(view) {
      view(state());
      return subscribe(() => view(state()));
    },
    get state() {
      return state();
    },
  };
}

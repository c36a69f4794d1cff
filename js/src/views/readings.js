/**
 * What views read, and the states they get: the values of a source, the parts of an answer, and both of
 * a run. `observe.js` and `react.js` hand them to views.
 */

import { parts } from "../streams/answering.js";
import { Document } from "../build/document.js";
import { JsonrillError, ServerError } from "../errors.js";
import { openEvents } from "../client/events.js";
import { Growing } from "../build/growing.js";
import { parse } from "../jsontext.js";
import { Observed } from "./observed.js";
import { opening } from "../client/open.js";
import { PartList } from "./part-list.js";
import { Rebuilder } from "../build/rebuilder.js";
import { checkSource, isPiece } from "../sources/reading.js";
import { growing } from "../streams/functions.js";
import { isObject } from "../parse/values.js";

/** @import { DeepPartial } from "../build/growing.js" */
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
 * @typedef {Omit<import("../streams/functions.js").ValuesOptions<T>, "live">
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
  if (source == null) return new Observed(null, reading.empty(options), true);
  check(source, reading);
  const again = reading.run || isRepeatable(source);
  return new Observed(reading.begin(source, options), reading.empty(options), again, options.signal);
}

/**
 * Throw a TypeError for what cannot be read.
 * @param {any} source
 * @param {Reading} reading
 */
export function check(source, { run }) {
  if (!run && typeof source !== "function") checkSource(source);
  if (run && typeof source !== "string" && !(source instanceof URL)) {
    throw new TypeError(`the address of a run is a string or a URL, not ${typeof source}`);
  }
}

/** True if a source can be read again from its beginning. @param {any} source */
export function isRepeatable(source) {
  return typeof source === "function" || Array.isArray(source) || isPiece(source);
}

/** @type {Reading} */
export const VALUES = {
  name: "Stream",
  run: false,
  empty: ({ initial }) => ({ value: initial }),
  begin: (source, { initial, ...options }) =>
    async function* (signal) {
      const read = typeof source === "function" ? source(signal) : source;
      for await (const found of growing(read, (value) => value, { ...options, signal })) {
        yield () => ({ value: found instanceof Growing ? found.value : found });
      }
    },
};

/** @type {Reading} */
export const PARTS = {
  name: "Parts",
  run: false,
  empty: () => ({ parts: NO_PARTS, text: "" }),
  begin: (source, options) => (signal) =>
    listed(typeof source === "function" ? source(signal) : source, { ...options, signal }),
};

/** @type {Reading} */
export const RUN = {
  name: "Run",
  run: true,
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

/** @type {Reading} */
export const RUN_PARTS = {
  name: "RunParts",
  run: true,
  empty: () => ({ parts: NO_PARTS, text: "", ...NOT_OPEN }),
  begin: (url, options) =>
    async function* (signal, note) {
      const { choice, provider, numbers, limits, repair, onRepair, split, ...rest } = options;
      const connection = connecting(rest, signal, note);
      const events = eventsOf(url, connection, numbers, note);
      yield* listed(events, { choice, provider, numbers, limits, repair, onRepair, split, signal });
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
      throw new JsonrillError(
        "parts are read of a provider's events (format=raw); read a run of text or fragments as values",
      );
    }
    yield event;
  }
}

/**
 * Text → updates: `PartialStream`.
 *
 * The machine emits to the sink of what is being read: outside entities the finder of `entities.js`,
 * inside one its log. Bad data never throws here: an error is an update like any other.
 */

import { Finder, declaredEntities, patternOf } from "./entities.js";
import { InvalidJSON, LimitExceeded, Truncated } from "../errors.js";
import { FinishedLog, Held, Log, Whole } from "./log.js";
import { createMachine } from "../parse/create.js";
import { DEFAULT_MODE, MODES, MODE_OPTIONS } from "./modes.js";
import { UNREAD, Update } from "./update.js";
import { conversion, isObject } from "../parse/values.js";
import { Zeros } from "../schema/zeros.js";

/** @import { Place } from "../parse/place.js" */
/** @import { Path } from "../paths.js" */
/** @import { JSONSchema } from "../schema/zeros.js" */
/** @import { Declared, EntityOption } from "./entities.js" */
/** @import { Mode } from "./modes.js" */
/** @import { Entity } from "./update.js" */
/**
 * @typedef {object} OwnOptions
 * @property {Mode | {readonly [name: string]: Mode}} [mode] When updates are emitted: for all
 *   entities, or for each declared name. ("REALTIME")
 * @property {EntityOption | null} [entity] What counts as an entity. By default a root array's
 *   elements, else the root.
 * @property {"data" | "delta" | "both"} [send] Whether updates have their data, what is new in it, or
 *   both. ("data")
 * @property {boolean} [partialNumbers] Show numbers as they grow. (true)
 * @property {boolean} [earlyLiterals] Show true at its t. (false)
 * @property {boolean} [zeroValues] Show the zeros of the schema's types before values come. (false)
 * @property {string | readonly string[]} [onlyComplete] What of an entity is shown only when it is
 *   complete: keys, or patterns in it.
 * @property {JSONSchema | {readonly [name: string]: JSONSchema}} [schema] For `zeroValues`: the JSON
 *   Schema of one entity, or of each declared name. It is not validated.
 */
/** @typedef {import("../parse/machine.js").ParserOptions & OwnOptions} PartialStreamOptions */

// What is shown of a number that grows; what a literal is that begins so.
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/;
/** @type {{[letter: string]: boolean | null}} */
const LITERALS = { t: true, f: false, n: null };
const BEGINS = /^[-0-9tfn]/;

/**
 * Text in, updates out. Nothing is thrown for bad data: an ERROR is an update. After the end, or an
 * ERROR of the stream, `ended` is true and nothing more comes.
 * @template [T=unknown]
 */
export class PartialStream {
  /** True after the end, or an ERROR of the stream. */
  ended = false;
  #machine;
  #finder;
  /** The mode of each declared name. @type {Map<string | undefined, Mode>} */
  #modeOf;
  #data;
  #delta;
  #number;
  #partialNumbers;
  #earlyLiterals;
  #onlyComplete;
  /** The zeros of an entity's schema. @type {(entity: Entity) => ((path: Path) => any) | null} */
  #zerosOf;
  /** Those of the entity being read. @type {((path: Path) => any) | null} */
  #zeros = null;
  /** @type {Map<string | undefined, number>} */
  #counts = new Map();
  // Which document this is; how many errors, repairs and kept updates were before it.
  #document = 0;
  #errors = 0;
  #repairs = 0;
  #keptBefore = 0;
  // The entity being read, and what writes it down (a log, if it is read before its end).
  /** @type {Entity | null} */
  #entity = null;
  /** @type {Whole | Log | null} */
  #recorder = null;
  /** @type {Log | null} */
  #log = null;
  #looks;
  #realtime = false;
  #told = { ended: () => this.#end(), givenUp: () => this.#nextDocument() };
  // Updates for this call, and those for the end.
  /** @type {Update<T>[]} */
  #out = [];
  /** @type {Update<T>[]} */
  #kept = [];

  /** @param {PartialStreamOptions} [options] */
  constructor(options = {}) {
    const { mode = DEFAULT_MODE, entity, send = "data", ...others } = options;
    const { partialNumbers = true, earlyLiterals = false, zeroValues = false, ...rest } = others;
    const { onlyComplete = [], schema, ...parsing } = rest;
    if (!["data", "delta", "both"].includes(send)) {
      throw new TypeError(`send is "data", "delta" or "both", not ${String(send)}`);
    }
    for (const [name, flag] of Object.entries({ partialNumbers, earlyLiterals, zeroValues })) {
      if (typeof flag !== "boolean") throw new TypeError(`${name} is true or false, not ${flag}`);
    }
    const declared = declaredEntities(entity);
    this.#modeOf = modes(mode, declared);
    const only = texts(onlyComplete);
    const ofModes = { partialNumbers, earlyLiterals, zeroValues, onlyComplete: only };
    refuseUnused(new Set(this.#modeOf.values()), ofModes);
    this.#onlyComplete = only.map(patternOf);
    this.#zerosOf = zeros(zeroValues, schema, declared);
    for (const { name } of declared) this.#counts.set(name, 0);
    this.#data = send === "delta" ? undefined : UNREAD;
    this.#delta = send === "data" ? undefined : UNREAD;
    this.#looks = zeroValues || [...this.#modeOf.values()].includes("REALTIME");
    this.#earlyLiterals = earlyLiterals;
    this.#number = conversion(parsing.numbers ?? "number");
    const begin = this.#begin.bind(this);
    this.#finder = new Finder(declared, begin, () => this.#nextDocument());
    this.#machine = createMachine(this.#finder, parsing);
    // A number that is cut off is dropped by that repair, so it is shown when it is complete.
    this.#partialNumbers = partialNumbers && !this.#machine.rules?.has("cut-off");
  }

  /**
   * The updates that this piece of text brings: at most one for each entity.
   * @param {string | ArrayBuffer | ArrayBufferView} piece
   * @returns {Update<T>[]}
   */
  feed(piece) {
    if (this.ended) return [];
    try {
      this.#machine.feed(piece);
    } catch (error) {
      return this.#failed(error);
    }
    if (this.#looks && (this.#zeros !== null || (this.#log?.string ?? null) === null)) this.#showPending();
    const log = this.#log;
    const updates = this.#out;
    this.#out = [];
    if (log !== null && this.#entity !== null && (log.doubtful ? log.news() : log.changed)) {
      updates.push(this.#update(this.#entity, "PARTIAL", this.#data));
      log.mark();
    }
    return updates;
  }

  /**
   * The text has ended: the last updates, among them an ERROR if it stopped early. With `cut` the
   * answer goes on behind the text, as the provider says: nothing is repaired.
   * @param {import("../errors.js").Cut | null} [cut]
   * @returns {Update<T>[]}
   */
  flush(cut = null) {
    if (this.ended) return [];
    try {
      this.#machine.flush(cut);
    } catch (error) {
      return this.#failed(error);
    }
    this.#lost();
    this.ended = true;
    // What comes at the end, in the modes that have some.
    const batched = this.#batched();
    const others = this.#kept.filter(({ entity }) => !batched.includes(entity));
    return [...this.#out, ...others, ...batched.map((name) => this.#batch(name))];
  }

  #batched() {
    return [...this.#modeOf].filter(([, mode]) => mode === "BATCH").map(([name]) => name);
  }

  /**
   * Begin an entity; gives the sink for its events.
   * @param {Declared} declared
   * @param {Place | null} place
   */
  #begin({ name }, place) {
    const index = /** @type {number} */ (this.#counts.get(name));
    this.#counts.set(name, index + 1);
    this.#entity = { index, name, place, document: this.#document };
    const mode = this.#modeOf.get(name);
    this.#realtime = mode === "REALTIME";
    this.#log = null;
    if (this.#realtime) this.#recorder = this.#log = new Log(this.#told);
    else if (mode === "PROGRESSIVE") this.#recorder = this.#log = new FinishedLog(this.#told);
    else this.#recorder = new Whole(this.#told);
    this.#zeros = this.#log === null ? null : this.#zerosOf(this.#entity);
    /** @type {import("../parse/machine.js").Sink} */
    let sink = this.#recorder;
    if (this.#log !== null && this.#onlyComplete.length !== 0) {
      sink = this.#log.held = new Held(this.#log, this.#onlyComplete);
    }
    this.#machine.tell(sink);
    return sink;
  }

  /** Complete the entity. */
  #end() {
    const entity = /** @type {Entity} */ (this.#entity);
    const mode = this.#modeOf.get(entity.name);
    const data = this.#recorder instanceof Whole ? this.#recorder.live : UNREAD;
    const update = this.#update(entity, "COMPLETED", data);
    (mode === "BATCH" || mode === "ALL-TOGETHER" ? this.#kept : this.#out).push(update);
    this.#leave();
  }

  #leave() {
    this.#entity = this.#recorder = this.#log = null;
    this.#machine.tell(this.#finder);
  }

  /** Leave a document, one of many, that has ended or failed. */
  #nextDocument() {
    this.#lost();
    this.#leave();
    this.#finder.restart();
    this.#document += 1;
    this.#repairs = this.#machine.repairs.length;
    this.#keptBefore = this.#kept.length;
  }

  /** Look at the number or literal that is being read, or at a key without a value. */
  #showPending() {
    const text = this.#machine.pendingText;
    const begins = text !== null && this.#entity === null && this.#machine.rules === null;
    if (begins) this.#finder.begin();
    const log = this.#log;
    if (log === null || log.held?.holdsNext()) return;
    const isShown = text !== null && this.#realtime && this.#show(log, text);
    if (isShown || this.#zeros === null || !log.waits) return;
    const zero = this.#zeros(log.waitingPath());
    if (zero !== undefined) log.show(zero);
  }

  /**
   * Show the number or literal that begins so; false if nothing can be shown of it.
   * @param {Log} log
   * @param {string} text
   */
  #show(log, text) {
    if (Object.hasOwn(LITERALS, text[0])) {
      if (this.#earlyLiterals) log.show(LITERALS[text[0]]);
      return this.#earlyLiterals;
    }
    const match = this.#partialNumbers ? NUMBER.exec(text) : null;
    if (match !== null) log.show(this.#number(match[0]));
    return match !== null;
  }

  /**
   * End the stream, and the open entity, with an error.
   * @param {unknown} error
   */
  #failed(error) {
    if (!(error instanceof InvalidJSON || error instanceof LimitExceeded)) throw error;
    this.ended = true;
    this.#fail(error);
    this.#leave();
    return this.#out;
  }

  /** Emit the error of a document that was given up, one of many. */
  #lost() {
    if (this.#machine.errors.length <= this.#errors) return;
    this.#errors += 1;
    this.#fail(/** @type {InvalidJSON} */ (this.#machine.errors.at(-1)));
  }

  /**
   * End the document with an error; what is complete in it is emitted.
   * @param {InvalidJSON | LimitExceeded} error
   */
  #fail(error) {
    this.#beginPending(error);
    const finished = this.#kept.splice(this.#keptBefore);
    const batched = this.#batched();
    const [known, open] = this.#recorder?.known() ?? [null, null];
    const data = batched.length === 0 ? (known ?? null) : byName(batched, finished);
    const told = /** @type {any} */ (error.toJSON());
    // In a stream, a text that stopped early is INVALID_JSON.
    if (error instanceof Truncated) told.code = "INVALID_JSON";
    const entity = this.#entity ?? { place: null, document: this.#document };
    for (const one of finished) if (!batched.includes(one.entity)) this.#out.push(one);
    this.#out.push(this.#update(entity, "ERROR", data, told, open));
  }

  /**
   * A number or literal that had begun counts, however the text was cut before it.
   * @param {InvalidJSON | LimitExceeded} error
   */
  #beginPending(error) {
    let text = this.#machine.pendingText;
    if (!text && error instanceof LimitExceeded && error.limit === "number") text = "0";
    if (text !== null && BEGINS.test(text) && this.#entity === null) this.#finder.begin();
  }

  /**
   * All entities of one name, as one.
   * @param {string | undefined} name
   * @returns {Update<any>}
   */
  #batch(name) {
    const data = this.#kept.filter(({ entity }) => entity === name).map((update) => update.data);
    const entity = { index: 0, name, place: null, document: 0 };
    this.#repairs = 0;
    return this.#update(entity, "COMPLETED", data);
  }

  /** With `repair`: all that had to be repaired so far, also after the last update. */
  get repairs() {
    return this.#machine.repairs;
  }

  /**
   * An update of an entity as its log has it now.
   * @param {Entity} entity
   * @param {import("./update.js").Status} status
   * @param {any} data
   * @param {import("./update.js").UpdateError} [error]
   * @param {import("../paths.js").Path | null} [open]
   * @returns {Update<any>}
   */
  #update(entity, status, data, error, open) {
    const all = this.#machine.repairs;
    const repairs = { all, start: this.#repairs, end: all.length };
    return new Update(entity, status, this.#log, data, this.#delta, repairs, error, open);
  }
}

/**
 * The mode of each declared name; of those that an object does not name, the default.
 * @param {any} mode
 * @param {Declared[]} declared
 * @returns {Map<string | undefined, Mode>}
 */
function modes(mode, declared) {
  const names = new Set(declared.map(({ name }) => name));
  if (typeof mode !== "object" || mode === null) {
    const one = modeOf(mode);
    return new Map([...names].map((name) => [name, one]));
  }
  const unknown = Object.keys(mode).filter((name) => !names.has(name));
  if (unknown.length !== 0) {
    throw new TypeError(`mode names ${unknown.join(", ")}, which \`entity\` does not declare`);
  }
  return new Map(
    [...names].map((name) => {
      const isNamed = name !== undefined && Object.hasOwn(mode, name);
      return [name, isNamed ? modeOf(mode[name]) : DEFAULT_MODE];
    }),
  );
}

/**
 * The mode of this name, in any spelling.
 * @param {unknown} mode
 * @returns {Mode}
 */
function modeOf(mode) {
  const folded = String(mode).toUpperCase().replaceAll("_", "-");
  const known = MODES.find((one) => one === folded);
  if (known !== undefined) return known;
  throw new TypeError(`mode is one of ${MODES.join(", ")}, not ${String(mode)}`);
}

/**
 * The data of complete entities, for an ERROR in BATCH: a list, or one for each name.
 * @param {(string | undefined)[]} names
 * @param {Update[]} finished
 */
function byName(names, finished) {
  const lists = names.map((name) => {
    return finished.filter(({ entity }) => entity === name).map((update) => update.data);
  });
  if (names.length === 1) return lists[0];
  return Object.fromEntries(names.map((name, at) => [name, lists[at]]));
}

/**
 * Throw a TypeError for an option that is not at its default and that none of these modes uses.
 * @param {Set<Mode>} modes
 * @param {{[name: string]: any}} options
 */
function refuseUnused(modes, options) {
  for (const [name, { default: usual, modes: uses }] of Object.entries(MODE_OPTIONS)) {
    const isGiven = Array.isArray(usual) ? options[name].length !== 0 : options[name] !== usual;
    if (!isGiven || uses.some((mode) => modes.has(mode))) continue;
    const kind = uses.length === 1 ? "mode" : "modes";
    const these = MODES.filter((mode) => modes.has(mode)).join(" and ");
    throw new TypeError(`${name} is for the ${kind} ${uses.join(" and ")}, not for ${these}`);
  }
}

/**
 * @param {any} onlyComplete
 * @returns {string[]}
 */
function texts(onlyComplete) {
  const several = typeof onlyComplete === "string" ? [onlyComplete] : onlyComplete;
  if (Array.isArray(several) && several.every((text) => typeof text === "string")) return several;
  throw new TypeError(`onlyComplete is a pattern such as steps[*].name, or several, not ${String(onlyComplete)}`);
}

/**
 * What gives the zeros of an entity's schema: that of its name, the only one, or its part of one that
 * describes a root array.
 * @param {boolean} zeroValues
 * @param {any} schema
 * @param {Declared[]} declared
 * @returns {(entity: Entity) => ((path: Path) => any) | null}
 */
function zeros(zeroValues, schema, declared) {
  if (!zeroValues) {
    if (schema !== undefined) throw new TypeError("schema is for zeroValues: updates are not validated");
    return () => null;
  }
  if (schema === undefined || schema === null) throw new TypeError("zeroValues needs a schema");
  const names = new Set(declared.map(({ name }) => name));
  const keys = isObject(schema) ? Object.keys(schema) : [];
  const byName = keys.length !== 0 && keys.every((key) => names.has(key) && isSchema(schema[key]));
  if (byName) {
    const each = new Map(keys.map((key) => [key, zerosAt(schema[key])]));
    return ({ name }) => (name === undefined ? null : (each.get(name) ?? null));
  }
  const whole = new Zeros(jsonSchema(schema));
  const isDefault = declared[0].name === undefined && declared[0].pattern.length === 0;
  const ofArray = isDefault && whole.describesArrays();
  return ({ place }) => {
    const before = ofArray && place !== null ? place.path : [];
    return (path) => whole.at([...before, ...path]);
  };
}

/** @param {any} schema */
function zerosAt(schema) {
  const known = new Zeros(jsonSchema(schema));
  return (/** @type {Path} */ path) => known.at(path);
}

/** @param {unknown} value */
function isSchema(value) {
  return typeof value === "boolean" || isObject(value);
}

/**
 * The JSON Schema of what has one: itself, or what a Standard Schema says of itself.
 * @param {any} schema
 * @returns {JSONSchema}
 */
function jsonSchema(schema) {
  const standard = schema["~standard"];
  if (typeof standard?.jsonSchema?.input === "function") {
    return standard.jsonSchema.input({ target: "draft-2020-12" });
  }
  if (standard === undefined && isSchema(schema)) return schema;
  throw new TypeError("schema is a JSON Schema, as z.toJSONSchema makes it of one of zod");
}

/**
 * The sending end of the wire for growing JSON (docs/wire.md): a value in, small messages out.
 */

import { contains, exists, LENGTHS, LIMITS, SURROGATE } from "./deltas.js";
import { JsonrillError, StreamClosed } from "./errors.js";
import { createMachine } from "./parse/create.js";
import { copyOf, isObject, put } from "./parse/values.js";
import { drive } from "./sources/reading.js";
import { SourceFailed } from "./sources/failures.js";
import { apart } from "./streams/growing.js";

/** @typedef {import("./deltas.js").Operation} Operation */
/** @typedef {import("./receive.js").Message} Message */
/** @typedef {import("./receive.js").WireError} WireError */
/** @typedef {{numbered?: boolean, ordered?: boolean, frozen?: boolean}} SenderOptions */

// A splice that keeps fewer characters is longer than a `set` of the new string.
const MIN_KEPT = 24;

// ---- values ----

/**
 * A deep copy, as `JSON.stringify` would write it; but what is no number, and what is too deep, is an error.
 * @param {any} value
 * @param {number} [levels]
 * @returns {any}
 */
function plain(value, levels = LIMITS.depth) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value?.toJSON === "function") return plain(value.toJSON(), levels);
  if (typeof value !== "object") throw new TypeError(`${String(value)} is not a JSON value`);
  if (levels === 0) throw new TypeError(`the value has more than ${LIMITS.depth} levels, or contains itself`);
  if (Array.isArray(value)) return Array.from(value, (item) => plain(isMember(item) ? item : null, levels - 1));
  /** @type {{[key: string]: any}} */
  const copy = {};
  for (const key of Object.keys(value)) if (isMember(value[key])) put(copy, key, plain(value[key], levels - 1));
  return copy;
}

/** True if JSON has a member with this value. @param {any} value */
function isMember(value) {
  return value !== undefined && typeof value !== "function" && typeof value !== "symbol";
}

/** @param {{[key: string]: any}} value */
function keysOf(value) {
  return Object.keys(value).filter((key) => isMember(value[key]));
}

/**
 * @param {any} old
 * @param {any} fresh
 * @returns {boolean}
 */
function isEqual(old, fresh) {
  if (old === fresh) return true;
  if (typeof fresh?.toJSON === "function") return isEqual(old, fresh.toJSON());
  if (Array.isArray(old)) {
    return Array.isArray(fresh) && old.length === fresh.length && old.every((item, at) => isEqual(item, fresh[at]));
  }
  if (!isObject(old) || !isObject(fresh)) return false;
  let count = 0;
  for (const key of Object.keys(fresh)) {
    if (!isMember(fresh[key])) continue;
    if (old[key] !== fresh[key] && !(Object.hasOwn(old, key) && isEqual(old[key], fresh[key]))) return false;
    count += 1;
  }
  return count === Object.keys(old).length;
}

// ---- difference ----

/** Notes operations that turn one value into another. */
class Comparison {
  /** @type {Operation[]} */
  operations = [];
  /** @type {(string | number)[]} */
  #path = [];

  /**
   * `old` if it equals `fresh`; else note how it changed, and return a copy of `fresh` that shares with `old`.
   * @param {any} old
   * @param {any} fresh
   * @returns {any}
   */
  compare(old, fresh) {
    if (old === fresh) return old;
    if (typeof fresh?.toJSON === "function") return this.compare(old, fresh.toJSON());
    if (typeof old === "string" && typeof fresh === "string") return this.#compareStrings(old, fresh);
    if (Array.isArray(old) && Array.isArray(fresh)) return this.#compareLists(old, fresh);
    if (isObject(old) && isObject(fresh)) return this.#compareObjects(old, fresh);
    return this.#set(fresh);
  }

  /**
   * @param {{[key: string]: any}} old
   * @param {{[key: string]: any}} fresh
   */
  #compareObjects(old, fresh) {
    const [before, after] = [keysOf(old), keysOf(fresh)];
    const removed = before.filter((key) => !Object.hasOwn(fresh, key) || !isMember(fresh[key]));
    if (removed.length === before.length && before.length + after.length > 1) return this.#set(fresh);
    let copy = old;
    const mine = () => (copy === old ? (copy = copyOf(old)) : copy);
    for (const key of removed) {
      delete mine()[key];
      this.#at(key, () => this.#note("remove"));
    }
    for (const key of after) {
      const isNew = !Object.hasOwn(old, key);
      if (!isNew && old[key] === fresh[key]) continue;
      const value = this.#at(key, () => (isNew ? this.#set(fresh[key]) : this.compare(old[key], fresh[key])));
      if (isNew || value !== old[key]) put(mine(), key, value);
    }
    return copy;
  }

  /**
   * @param {any[]} old
   * @param {any[]} fresh
   */
  #compareLists(old, fresh) {
    const shorter = Math.min(old.length, fresh.length);
    let front = 0;
    while (front < shorter && isEqual(old[front], fresh[front])) front += 1;
    if (front === old.length && front === fresh.length) return old;
    let back = 0;
    while (back < shorter - front && isEqual(old.at(-1 - back), fresh.at(-1 - back))) back += 1;
    const [oldEnd, freshEnd] = [old.length - back, fresh.length - back];
    const copy = old.slice(0, front);
    let at = front;
    for (; at < oldEnd && at < freshEnd; at += 1) copy.push(this.#at(at, () => this.compare(old[at], fresh[at])));
    const isSpliced = at < oldEnd || at < freshEnd;
    const added = isSpliced ? this.#spliceList(at, oldEnd - at, fresh.slice(at, freshEnd), fresh.length) : [];
    return copy.concat(added, old.slice(oldEnd));
  }

  /**
   * @param {number} start
   * @param {number} count
   * @param {any[]} added
   * @param {number} length
   */
  #spliceList(start, count, added, length) {
    if (count === 0 && added.length === 1 && start + 1 === length) return [this.#at(start, () => this.#set(added[0]))];
    const copy = plain(added, LIMITS.depth - this.#path.length);
    this.#note("splice", start, count, copy);
    return copy;
  }

  /**
   * @param {string} old
   * @param {string} fresh
   */
  #compareStrings(old, fresh) {
    const shorter = Math.min(old.length, fresh.length);
    let front = 0;
    if (fresh.startsWith(old)) front = old.length;
    else while (front < shorter && old.charCodeAt(front) === fresh.charCodeAt(front)) front += 1;
    if (isInPair(old, front) || isInPair(fresh, front)) front -= 1;
    if (front === old.length) {
      this.#note("append", fresh.slice(front));
      return fresh;
    }
    let back = 0;
    const most = shorter - front;
    while (back < most && old.charCodeAt(old.length - 1 - back) === fresh.charCodeAt(fresh.length - 1 - back)) back += 1;
    if (isInPair(old, old.length - back) || isInPair(fresh, fresh.length - back)) back -= 1;
    if (front + back < MIN_KEPT) {
      this.#note("set", fresh);
    } else {
      const count = codePoints(old.slice(front, old.length - back));
      this.#note("splice", codePoints(old.slice(0, front)), count, fresh.slice(front, fresh.length - back));
    }
    return fresh;
  }

  /** @param {any} value */
  #set(value) {
    const copy = plain(isMember(value) ? value : null, LIMITS.depth - this.#path.length);
    this.#note("set", copy);
    return copy;
  }

  /**
   * @template T
   * @param {string | number} key
   * @param {() => T} work
   */
  #at(key, work) {
    this.#path.push(key);
    const result = work();
    this.#path.pop();
    return result;
  }

  /**
   * @param {string} name
   * @param {...any} rest
   */
  #note(name, ...rest) {
    this.operations.push(/** @type {any} */ ([name, pointerOf(this.#path), ...rest]));
  }
}

/**
 * Operations that turn `old` into `fresh`; `applyDelta` is the inverse.
 * @param {any} old
 * @param {any} fresh
 */
export function difference(old, fresh) {
  const comparison = new Comparison();
  comparison.compare(old, fresh);
  return comparison.operations;
}

/**
 * True if this index is inside a surrogate pair.
 * @param {string} text
 * @param {number} at
 */
function isInPair(text, at) {
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** @param {string} text */
function codePoints(text) {
  return SURROGATE.test(text) ? Array.from(text).length : text.length;
}

/** @param {(string | number)[]} path */
function pointerOf(path) {
  return path.map((key) => "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

// ---- messages ----

/** Numbers changes, shortens appends, and knows what a snapshot says besides the value. */
class MessageWriter {
  n = 0;
  ended = false;
  /** @type {string[]} */
  done = [];
  /** @type {WireError | null} */
  #error = null;
  /** @type {string | null} */
  #last = null;
  #numbered;
  #ordered;

  /** @param {SenderOptions} options */
  constructor({ numbered = true, ordered = false }) {
    this.#numbered = numbered;
    this.#ordered = ordered;
  }

  /** @param {any} value @returns {Message} */
  snapshot(value) {
    this.n = Math.max(this.n, 1);
    /** @type {any} */
    const message = { n: this.n, value };
    if (this.#last !== null) message.last = this.#last;
    if (this.done.length !== 0) message.done = [...this.done];
    if (this.#ordered) message.ordered = true;
    if (this.#error !== null) message.error = this.#error;
    else if (this.ended) message.end = true;
    return message;
  }

  /** @param {any[]} operations @returns {Message} */
  change(operations) {
    this.n += 1;
    const steps = operations.map((operation) => {
      const isShort = operation[0] === "append" && operation[1] === this.#last;
      if (Object.hasOwn(LENGTHS, operation[0])) this.#last = operation[1];
      return isShort ? operation[2] : operation;
    });
    if (this.#numbered) return [this.n, ...steps];
    return steps.length === 1 && typeof steps[0] === "string" ? steps[0] : steps;
  }

  /** End the stream; the operation that says so. @param {WireError | null} error */
  end(error) {
    if (this.ended) throw new StreamClosed();
    this.ended = true;
    this.#error = error;
    return error === null ? ["end"] : ["error", error];
  }
}

/**
 * Turns successive states of one value into messages. A state may be the same object, changed in place; `frozen`
 * promises that it is not, and makes parts that two states share cheap. `ordered` promises that states grow in
 * document order. `numbered: false` leaves the numbers out, for transports that lose nothing.
 */
export class Sender {
  #writer;
  #frozen;
  /** @type {any} */
  #value = undefined;

  /** @param {SenderOptions} [options] */
  constructor(options = {}) {
    this.#writer = new MessageWriter(options);
    this.#frozen = options.frozen === true;
  }

  get ended() {
    return this.#writer.ended;
  }

  /**
   * The message for this state, null if nothing is new. `done` are JSON Pointers of values that are final from now
   * on; a state that changes one of them is refused.
   * @param {any} state
   * @param {string[]} [done]
   * @returns {Message | null}
   */
  feed(state, done = []) {
    const writer = this.#writer;
    if (writer.ended) throw new StreamClosed();
    const comparison = new Comparison();
    const value = writer.n === 0 ? plain(state) : comparison.compare(this.#value, state);
    const { operations } = comparison;
    for (const operation of operations) {
      const mark = writer.done.find((pointer) => isBroken(pointer, operation));
      if (mark !== undefined) throw new TypeError(`the state changes ${operation[1]}, but ${mark} is done`);
    }
    const isMarked = (/** @type {string} */ pointer) => writer.done.some((mark) => contains(mark, pointer));
    const marks = [...new Set(done)].filter((pointer) => !isMarked(pointer));
    for (const mark of marks) if (!exists(value, mark)) throw new TypeError(`there is no value at ${mark}`);
    writer.done = writer.done.filter((pointer) => !marks.some((mark) => contains(mark, pointer))).concat(marks);
    this.#value = this.#frozen ? state : value;
    if (writer.n === 0) return writer.snapshot(value);
    const steps = [...operations, ...marks.map((mark) => ["done", mark])];
    return steps.length === 0 ? null : writer.change(steps);
  }

  /**
   * The last message: everything is final, or `error` says why it is not.
   * @param {WireError | Error | null} [error]
   * @returns {Message}
   */
  end(error = null) {
    const operation = this.#writer.end(problemOf(error));
    return this.#writer.n === 0 ? this.#writer.snapshot(null) : this.#writer.change([operation]);
  }

  /** The message for a receiver that joins now; null before the first state. */
  snapshot() {
    if (this.#writer.n === 0) return null;
    return this.#writer.snapshot(this.#frozen ? plain(this.#value) : this.#value);
  }
}

/**
 * True if an operation changes or moves the value at `mark`.
 * @param {string} mark
 * @param {Operation} operation
 */
function isBroken(mark, operation) {
  const [name, pointer] = operation;
  if (contains(mark, pointer)) return true;
  if (!mark.startsWith(pointer + "/")) return false;
  if (name !== "splice") return true;
  const [, , start, count, added] = operation;
  const index = Number(mark.slice(pointer.length + 1).split("/")[0]);
  return index >= start && (index < start + count || count !== added.length);
}

/**
 * @param {WireError | Error | null} error
 * @returns {WireError | null}
 */
function problemOf(error) {
  if (error instanceof Error && !(error instanceof JsonrillError)) return problemOf(new SourceFailed("the source failed"));
  return error === null ? null : plain(error);
}

// ---- text ----

/** Events of the parser → operations. What is inside a value that began since the last message needs none. */
class OperationSink {
  /** @type {Operation[]} */
  #operations = [];
  // The open containers: the key or index, and the container itself if it is not sent yet.
  /** @type {{key: string | number, value: any}[]} */
  #frames = [];
  // What holds the open string until it is sent: its container, or its operation.
  /** @type {{holder: any, key: string | number} | null} */
  #string = null;

  startObject() {
    this.#open({}, "");
  }

  startArray() {
    this.#open([], -1);
  }

  endContainer() {
    this.#frames.pop();
  }

  /** @param {string} key */
  key(key) {
    this.#frames[this.#frames.length - 1].key = key;
  }

  startString() {
    this.#string = this.#put("");
  }

  /** @param {string} run */
  text(run) {
    if (this.#string === null) {
      const operation = /** @type {Operation} */ (["append", pointerOf(this.#frames.map(({ key }) => key)), ""]);
      this.#operations.push(operation);
      this.#string = { holder: operation, key: 2 };
    }
    const { holder, key } = this.#string;
    put(holder, /** @type {any} */ (key), holder[key] + run);
  }

  endString() {
    this.#string = null;
  }

  /** @param {any} value */
  scalar(value) {
    this.#put(value);
  }

  endDocument() {}

  nextDocument() {}

  /** The operations since the last call. */
  take() {
    const operations = this.#operations;
    this.#operations = [];
    this.#string = null;
    for (const frame of this.#frames) frame.value = null;
    return operations;
  }

  /**
   * @param {any} value
   * @param {string | number} key
   */
  #open(value, key) {
    this.#put(value);
    this.#frames.push({ key, value });
  }

  /** @param {any} value */
  #put(value) {
    const frame = this.#frames.at(-1);
    if (frame !== undefined && typeof frame.key === "number") frame.key += 1;
    if (frame?.value) {
      put(frame.value, /** @type {any} */ (frame.key), value);
      return { holder: frame.value, key: frame.key };
    }
    this.#operations.push(["set", pointerOf(this.#frames.map(({ key }) => key)), value]);
    return { holder: this.#operations.at(-1), key: 2 };
  }
}

/** Pieces of JSON text → messages, at constant cost per piece. */
class TextSender {
  #sink = new OperationSink();
  #machine;
  #writer;

  /**
   * @param {import("./parse/machine.js").ParserOptions} options
   * @param {boolean} [numbered]
   */
  constructor(options, numbered) {
    this.#machine = createMachine(this.#sink, options);
    this.#writer = new MessageWriter({ numbered, ordered: true });
  }

  get ended() {
    return this.#writer.ended;
  }

  /**
   * The message for a piece of text; undefined is the end.
   * @param {any} piece
   * @param {import("./errors.js").Cut | null} cut
   */
  feed(piece, cut) {
    try {
      if (piece === undefined) this.#machine.flush(cut);
      else this.#machine.feed(piece);
    } catch (error) {
      if (error instanceof JsonrillError) return this.fail(error);
      throw error;
    }
    return this.#messages(piece === undefined ? [null] : []);
  }

  /** The last message of a stream whose text or source is bad. @param {any} error */
  fail(error) {
    return this.#messages([problemOf(error)]);
  }

  /**
   * The message for what was read, with the end and its error, if there is one.
   * @param {(WireError | null)[]} ending
   * @returns {Message[]}
   */
  #messages(ending) {
    const operations = this.#sink.take();
    const steps = [...operations, ...ending.map((error) => this.#writer.end(error))];
    if (steps.length === 0) return [];
    const isFirst = this.#writer.n === 0;
    return [isFirst ? this.#writer.snapshot(operations.length === 0 ? null : operations[0][2]) : this.#writer.change(steps)];
  }
}

/**
 * The messages that keep a remote copy of a growing value equal. The source is JSON text, or whatever else `values`
 * reads; with `states` it yields the states of a value. Bad text ends in an error message. So does a source that
 * fails, and its error is thrown after it.
 * @param {any} source
 * @param {import("./parse/machine.js").ParserOptions & import("./sources/driving.js").SourceOptions & SenderOptions
 *   & {states?: boolean}} [options]
 * @returns {AsyncGenerator<Message, void, undefined>}
 */
export function send(source, { states = false, numbered, ordered, frozen, ...options } = {}) {
  if (states) return sendStates(source, new Sender({ numbered, ordered, frozen }));
  const [reading, parsing] = apart(options);
  return sendText(source, new TextSender(parsing, numbered), { ...reading, first: true });
}

/**
 * @param {any} source
 * @param {Sender} sender
 */
async function* sendStates(source, sender) {
  try {
    for await (const state of source) {
      const message = sender.feed(state);
      if (message !== null) yield message;
    }
  } catch (error) {
    yield sender.end(/** @type {Error} */ (error));
    throw error;
  }
  yield sender.end();
}

/**
 * @param {any} source
 * @param {TextSender} sender
 * @param {import("./sources/driving.js").Reading} reading
 */
async function* sendText(source, sender, reading) {
  const stage = (/** @type {any} */ piece, /** @type {Message[]} */ out, /** @type {any} */ cut) => {
    out.push(...sender.feed(piece, cut));
    return sender.ended;
  };
  try {
    yield* drive(source, stage, reading);
  } catch (error) {
    if (!sender.ended) yield* sender.fail(error);
    throw error;
  }
}

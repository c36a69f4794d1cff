/**
 * jsonrill's wire events of tool calls → the calls, with arguments that grow.
 *
 * `tools_call_update` brings deltas with their fragments, `tool_result` what a tool answered,
 * `tools_aggregate` the final state of a message. The sender decides, the receiver follows, and
 * nothing is ever thrown on data. Which call an event means is `identity.js`'s to know.
 */

import { Document } from "./document.js";
import { JsonrillError } from "./errors.js";
import { Identity } from "./identity.js";
import { parse } from "./json.js";
import { FragmentError, Rebuilder } from "./rebuilder.js";
import { isComplete } from "./growing.js";
import { isObject, own } from "./values.js";

/** @typedef {import("./values.js").Numbers} Numbers */
/** @typedef {import("./paths.js").Path} Path */
/** @typedef {"streaming" | "complete" | "error" | "truncated"} Status */
/**
 * What is wrong with a call; offset, line and column are those in its `raw`, `path` is text.
 * @typedef {{code: string, message: string, offset?: number, line?: number, column?: number,
 *   path?: string, rule?: string, limit?: string, [field: string]: any}} Problem
 */
/**
 * What one event says about one call; null: nothing. `args` is there only in an aggregate.
 * @typedef {{id: string | null, index: number | null, name: string | null, text: string | null,
 *   free: boolean, fragments: unknown[] | null, status: Status | null, error: Problem | null,
 *   args?: any}} Delta
 */

// The most argument text that is kept, and the most calls that may be open at once.
const MOST_TEXT = 64 * 2 ** 20;
const MOST_CALLS = 10_000;
const ENDED = ["complete", "error", "truncated"];

/**
 * How the arguments of a call grow: fragments are applied, the text is kept.
 *
 * Text that came without fragments, or with fragments that do not fit, takes their place: from
 * then on the value is that of the text, once it is complete.
 */
class Arguments {
  #numbers;
  #rebuilder;
  /** @type {Document | null} */
  #fallback = null;
  // True for a `{}` that came alone and without fragments: arguments that follow replace it.
  #isPlaceholder = false;

  /**
   * @param {boolean} free the text is no JSON but the value itself
   * @param {Numbers} numbers
   */
  constructor(free, numbers) {
    this.free = free;
    this.raw = "";
    this.#numbers = numbers;
    this.#rebuilder = new Rebuilder({ numbers });
  }

  get value() {
    if (this.free) return this.raw;
    if (this.#isPlaceholder) return {};
    return this.#fallback?.complete ? this.#fallback.value : this.#rebuilder.value;
  }

  /** The path of the value that still grows, or was cut off; null if there is none. */
  get openPath() {
    if (this.free) return [];
    if (this.#isPlaceholder || this.#fallback?.complete) return null;
    return this.#rebuilder.openPath;
  }

  get complete() {
    if (this.free) return false;
    return this.#isPlaceholder || this.#fallback?.complete || this.#rebuilder.complete;
  }

  /** True if they are complete, and no other arguments may follow. */
  get isCertain() {
    return this.complete && !this.#isPlaceholder;
  }

  /**
   * @param {string | null} text
   * @param {unknown[] | null} fragments null: none were sent
   */
  receive(text, fragments) {
    if (this.raw.length > MOST_TEXT) return;
    if (this.#isPlaceholder && text) {
      if (isBlank(text) || isEmptyObject(text)) return;
      this.raw = "";
      this.#isPlaceholder = false;
    } else if (this.#isPlaceholder) {
      this.#isPlaceholder = !fragments?.length;
    } else if (fragments?.length === 0 && text && this.raw === "" && isEmptyObject(text)) {
      this.#isPlaceholder = !this.free;
    }
    if (text) this.raw += text;
    if (this.#isPlaceholder) return;
    if (fragments !== null && this.#fallback === null) {
      if (this.#applied(fragments) || this.free) return;
    } else if (!text || this.free) {
      return;
    }
    this.#fallBack(text ?? "");
  }

  /**
   * Ends the text and returns its outcome.
   * @returns {"complete" | "empty" | "truncated"}
   */
  end() {
    this.#isPlaceholder = false;
    if (this.free || this.complete) return "complete";
    if (isBlank(this.raw)) return "empty";
    this.#fallBack("");
    this.#read((document) => document.flush());
    return this.complete ? "complete" : "truncated";
  }

  /** @param {unknown[]} fragments */
  #applied(fragments) {
    try {
      this.#rebuilder.feed(fragments);
      return true;
    } catch (error) {
      if (error instanceof FragmentError) return false;
      throw error;
    }
  }

  /** @param {string} text */
  #fallBack(text) {
    if (this.#fallback === null) {
      this.#fallback = new Document({ numbers: this.#numbers });
      text = this.raw;
    }
    this.#read((document) => document.feed(text));
  }

  /** What is wrong with the text is the sender's to say. @param {(document: Document) => void} work */
  #read(work) {
    try {
      if (this.#fallback !== null) work(this.#fallback);
    } catch (error) {
      if (!(error instanceof JsonrillError)) throw error;
    }
  }
}

/**
 * One call. It grows with the stream; the `args` it hands out are safe to keep.
 *
 * `raw` is the argument text as received; `args` its value as far as known, undefined before
 * anything is.
 */
export class ToolCall {
  #numbers;
  /** @type {Arguments | null} */
  #arguments = null;
  // What is left of them when all is over.
  #raw = "";
  /** @type {any} */
  #args = undefined;
  /** @type {Path | null} */
  #openPath = null;

  /**
   * @param {string} id
   * @param {number | null} index
   * @param {string} messageId
   * @param {Numbers} numbers
   */
  constructor(id, index, messageId, numbers) {
    this.#numbers = numbers;
    this.id = id;
    this.index = index;
    this.messageId = messageId;
    /** @type {string | null} */
    this.name = null;
    /** @type {Status} */
    this.status = "streaming";
    /** @type {Problem | null} */
    this.error = null;
    /** "text": the arguments are free text, not JSON. @type {"json" | "text"} */
    this.encoding = "json";
    /** True once there is a result, which may be null. */
    this.answered = false;
    /** @type {any} */
    this.result = undefined;
    this.resultIsError = false;
    /** For identity: true if the id is the sender's own. */
    this.given = true;
    /** True while more of it may come. */
    this.open = true;
  }

  /** The argument text as received. */
  get raw() {
    return this.#arguments?.raw ?? this.#raw;
  }

  /** The arguments as far as they are known, safe to keep. */
  get args() {
    return this.#arguments === null ? this.#args : this.#arguments.value;
  }

  /**
   * The path, within the arguments, of the value that still grows, or was cut off.
   * @returns {Path | null}
   */
  get openPath() {
    return this.#arguments === null ? this.#openPath : this.#arguments.openPath;
  }

  /**
   * True if there is a value at `path`, within the arguments, and it is complete.
   * @param {Path | string} path
   */
  isComplete(path) {
    return isComplete(this.args, path, this.openPath);
  }

  /**
   * True if the arguments are a complete JSON value; `status` is the provider's word. `{}` may be a
   * placeholder: if the arguments follow, they replace it.
   */
  get completeArgs() {
    return this.status === "complete" || (this.status === "streaming" && this.argsEnded);
  }

  /** For identity: true if they are a complete JSON value, though the call may be in error. */
  get argsEnded() {
    return this.status === "complete" || (this.#arguments?.complete ?? false);
  }

  /** True if it is complete or truncated. (One in error may still gain text, or its id.) */
  get settled() {
    return this.status === "complete" || this.status === "truncated";
  }

  /**
   * More of the arguments, or how they ended.
   * @param {Delta} delta
   */
  _take(delta) {
    if (!this.open) return;
    if (this.#arguments === null) {
      this.#arguments = new Arguments(delta.free, this.#numbers);
      if (delta.free) this.encoding = "text";
    }
    this.#arguments.receive(delta.text, delta.fragments);
    if (this.status !== "streaming") return;
    if (delta.status === "error") {
      this.status = "error";
      this.error = delta.error ?? {
        code: "PROVIDER_ERROR",
        message: "the sender gave no reason",
      };
    } else if (delta.status === "complete") {
      this._close();
    } else if (delta.status === "truncated") {
      this.status = "truncated";
      this.#freeze(this.args);
    }
  }

  /**
   * Nothing more will come: decide what has become of it.
   */
  _close() {
    const known = this.args;
    if (this.status !== "streaming") return this.#freeze(known);
    const outcome = this.#arguments?.end() ?? "empty";
    this.status = outcome === "truncated" ? "truncated" : "complete";
    this.#freeze(outcome === "empty" ? {} : outcome === "complete" ? this.args : known);
  }

  /**
   * The stream has ended without an event that ends the call.
   */
  _abandon() {
    if (this.status === "streaming" && !this.#arguments?.isCertain) {
      this.status = "truncated";
      this.#freeze(this.args);
    } else {
      this._close();
    }
  }

  /**
   * The final state, whatever was streamed.
   * @param {Delta} delta
   */
  _replace(delta) {
    const raw = delta.text ?? "";
    let value;
    if (Object.hasOwn(delta, "args")) value = delta.args;
    else if (delta.free) value = raw;
    else if (raw === this.raw && this.status !== "streaming") value = this.args;
    else value = isBlank(raw) ? {} : loaded(raw, this.#numbers);
    this.encoding = delta.free ? "text" : "json";
    this.status = delta.status ?? "complete";
    this.error = delta.error;
    this.#freeze(value, raw);
  }

  /**
   * @param {any} value
   * @param {string} [raw]
   */
  #freeze(value, raw = this.raw) {
    this.#raw = raw;
    this.#openPath = this.status === "complete" ? null : this.openPath;
    this.#args = value;
    this.#arguments = null;
    this.open = false;
  }
}

/** Wire events → tool calls whose arguments grow, however the calls are interleaved. */
export class ToolCalls {
  #keep;
  #numbers;
  /** @type {Identity<ToolCall>} */
  #identity;
  /** @type {Set<ToolCall>} */
  #calls = new Set();
  // Of these the messages have ended.
  /** @type {Set<ToolCall>} */
  #done = new Set();
  /** @type {Set<ToolCall>} */
  #changed = new Set();

  /**
   * `keep`: the number of calls of ended messages to keep; `numbers`: how numbers become values.
   * @param {{keep?: number, numbers?: Numbers}} [options]
   */
  constructor({ keep = 256, numbers = "number" } = {}) {
    this.#keep = keep;
    this.#numbers = numbers;
    this.#identity = new Identity(
      (id, index, message) => new ToolCall(id, index, message, numbers),
    );
  }

  /** The calls that are kept, in order of appearance. */
  get calls() {
    return [...this.#calls];
  }

  /**
   * The latest call of this id.
   * @param {string} id
   */
  get(id) {
    return this.#identity.known(id);
  }

  /**
   * Read one event, decoded or as JSON text. What is not understood is ignored.
   * @param {unknown} event
   * @returns {ToolCall[]} the calls that it changed
   */
  add(event) {
    this.#evict();
    this.#changed = new Set();
    const plain = typeof event === "string" ? loaded(event, this.#numbers) : event;
    if (isObject(plain)) this.#read(plain);
    return [...this.#changed];
  }

  /**
   * The stream is over: what has not ended is truncated. Another stream may follow.
   * @returns {ToolCall[]} the calls that it changed
   */
  flush() {
    this.#evict();
    this.#changed = new Set();
    for (const scope of this.#identity.ended({ all: true })) this.#end(scope);
    return [...this.#changed];
  }

  /**
   * Drop the calls of this message, as if it had never come.
   * @param {string} messageId
   */
  forget(messageId) {
    for (const call of this.#identity.forget(messageId)) {
      this.#calls.delete(call);
      this.#done.delete(call);
    }
  }

  /** @param {{[key: string]: any}} event */
  #read(event) {
    const message = anId(own(event, "messageId"));
    switch (own(event, "kind")) {
      case "tools_call_update":
        for (const call of items(own(event, "tool_call_updates"))) this.#call(delta(call), message);
        break;
      case "tool_result":
        this.#result(event);
        break;
      case "tools_aggregate":
        this.#aggregate(items(either(event, "tool_calls", "toolCalls")), message);
        for (const result of items(either(event, "tool_results", "toolResults"))) {
          this.#result(result);
        }
        break;
      default:
    }
  }

  /**
   * @param {Delta} delta
   * @param {string | null} message
   */
  #call(delta, message) {
    const { id, index, name, text, fragments } = delta;
    const named = id !== null || index !== null || name !== null;
    if (!named && !text && !fragments?.length) return;
    const call = this.#identity.find(id, index, name, message);
    if (call === null || !(call.open || this.#identity.linked)) return;
    this.#add(call);
    // Before the arguments a name may come in pieces; the sender sends all of it.
    if (name !== null && (call.name === null || call.raw === "")) call.name = name;
    call._take(delta);
    this.#changed.add(call);
  }

  /** @param {{[key: string]: any}} result */
  #result(result) {
    const call = this.#identity.known(anId(either(result, "tool_call_id", "toolCallId")));
    if (call === null) return;
    // A tool that has answered was called: nothing more of its arguments will come.
    if (call.open && call.status === "streaming") call._close();
    call.answered = true;
    call.result = own(result, "result") ?? null;
    call.resultIsError = either(result, "is_error", "isError") === true;
    this.#changed.add(call);
  }

  /**
   * The final state of a message takes the place of what was streamed.
   * @param {{[key: string]: any}[]} calls
   * @param {string | null} message
   */
  #aggregate(calls, message) {
    const told = new Set();
    for (const said of calls) {
      const state = delta(said);
      if (Object.hasOwn(said, "args")) state.args = said.args;
      const call = this.#identity.find(state.id, state.index, state.name, message);
      if (call === null) continue;
      this.#add(call);
      told.add(call);
      call.name ??= state.name;
      call._replace(state);
      this.#changed.add(call);
    }
    for (const scope of this.#identity.ended({ message })) {
      for (const call of [...scope.calls]) if (!told.has(call)) this.#drop(call);
      this.#end(scope);
    }
  }

  /** @param {ToolCall} call */
  #add(call) {
    if (this.#calls.has(call)) return;
    this.#calls.add(call);
    if (this.#calls.size > this.#keep + MOST_CALLS) {
      const [oldest] = this.#calls;
      if (oldest.open) oldest._abandon();
      this.#drop(oldest);
    }
  }

  /** @param {import("./identity.js").Scope<ToolCall>} scope */
  #end(scope) {
    for (const call of scope.calls) {
      if (call.open) {
        call._abandon();
        this.#changed.add(call);
      }
      this.#done.add(call);
    }
  }

  #evict() {
    for (const call of this.#done) {
      if (this.#done.size <= this.#keep) break;
      this.#drop(call);
    }
  }

  /** @param {ToolCall} call */
  #drop(call) {
    this.#identity.drop(call);
    this.#calls.delete(call);
    this.#done.delete(call);
    this.#changed.delete(call);
  }
}

// ---- what an event says ----

/**
 * @param {{[key: string]: any}} call
 * @returns {Delta}
 */
function delta(call) {
  const fragments = own(call, "json_update_fragments");
  const error = own(call, "error");
  const status = own(call, "status");
  return {
    id: anId(either(call, "tool_call_id", "toolCallId")),
    index: anIndex(own(call, "index")),
    name: aText(own(call, "function_name")),
    text: aText(own(call, "function_args")),
    free: own(call, "encoding") === "text",
    fragments: Array.isArray(fragments) ? fragments : null,
    status: ENDED.includes(status) ? status : null,
    error: isObject(error) ? /** @type {Problem} */ (error) : null,
  };
}

/**
 * A field by its name here, else by its name elsewhere.
 * @param {{[key: string]: any}} holder
 * @param {string} snake
 * @param {string} camel
 */
function either(holder, snake, camel) {
  return own(holder, snake) ?? own(holder, camel);
}

/**
 * An id, if this is one: not empty, and not the "null" that some clients fill in.
 * @param {unknown} value
 */
function anId(value) {
  return typeof value === "string" && value !== "" && value !== "null" ? value : null;
}

/** @param {unknown} value */
function anIndex(value) {
  return typeof value === "number" && Number.isInteger(value) ? value : null;
}

/** @param {unknown} value */
function aText(value) {
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * The objects in what should be a list of objects.
 * @param {unknown} value
 * @returns {{[key: string]: any}[]}
 */
function items(value) {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** An object without fields, and nothing else. @param {string} text */
function isEmptyObject(text) {
  return /^[ \t\n\r]*\{\}[ \t\n\r]*$/.test(text);
}

/** Nothing but white space, as JSON has it. @param {string} text */
function isBlank(text) {
  return /^[ \t\n\r]*$/.test(text);
}

/**
 * What the text says, undefined if it is not JSON.
 * @param {string} text
 * @param {Numbers} numbers
 */
function loaded(text, numbers) {
  try {
    return parse(text, numbers);
  } catch {
    return undefined;
  }
}

/**
 * Tool calls as they stream: a provider's statements in, calls with growing arguments out.
 *
 * `identity.js` finds the call that a statement is about, `call.js` updates it. Nothing here depends on a
 * provider, or throws on data.
 */

import { isCut } from "../providers/statements.js";
import { Reader } from "../providers/reader.js";
import { Call, joinNews } from "./call.js";
import { Identity } from "./identity.js";

/** @import { Limits } from "../parse/machine.js" */
/** @import { Provider } from "../providers/reader.js" */
/** @import { Aggregate, CallDelta, Finish, Result, Statement } from "../providers/statements.js" */
/** @import { ToolCall } from "./call.js" */
/** @import { Scope } from "./identity.js" */
/**
 * A change of one call by one event: new argument text (null: none), or a result.
 * @typedef {{call: Call, text: string | null, isResult: boolean}} CallUpdate
 */
/**
 * `keep`: the number of calls of ended responses to keep.
 * @typedef {{keep?: number, limits?: Limits}} CallOptions
 */

// The most calls in responses that have not ended.
const MAX_CALLS = 10_000;
// The most results to keep that came before their calls.
const MAX_EARLY = 256;

/** Statements → calls whose arguments grow, however the calls are interleaved. */
export class Calls {
  #keep;
  #identity;
  /** @type {Set<Call>} */
  #calls = new Set();
  // The calls whose responses have ended.
  /** @type {Set<Call>} */
  #endedCalls = new Set();
  /** @type {CallUpdate[]} */
  #updates = [];
  // The results that came before their calls, by id.
  /** @type {Map<string, Result>} */
  #earlyResults = new Map();
  // True if a response ended with the last statements.
  #hasEnded = false;
  // The number of the last event, and of the last one with token counts.
  #event = 0;
  #usageEvent = 0;

  /** @param {CallOptions} [options] */
  constructor({ keep = 256, limits } = {}) {
    this.#keep = keep;
    /** @type {Identity<Call>} */
    this.#identity = new Identity((id, index, message) => new Call(id, index, message, { limits }));
  }

  /** The calls that are kept, in order of appearance. */
  get all() {
    return [...this.#calls];
  }

  /** @param {string} id */
  latest(id) {
    return this.#identity.latest(id);
  }

  /**
   * Return the updates that the statements of one event make.
   * @param {Statement[]} statements
   */
  read(statements) {
    if (this.#hasEnded) {
      this.#hasEnded = false;
      this.#evict();
    }
    this.#event += 1;
    for (const statement of statements) this.#act(statement);
    return this.#take();
  }

  /**
   * Return the updates at the end of a stream: calls that have not ended are truncated.
   * @param {string[]} messages the messages of this stream, if several are read at once
   */
  end(messages) {
    this.#evict();
    for (const message of messages.length ? messages : [null]) {
      for (const scope of this.#identity.endScopes(message, null)) this.#end(scope, null);
    }
    return this.#take();
  }

  /**
   * Drop the calls of this message, as if it had never come.
   * @param {string} messageId
   */
  forget(messageId) {
    for (const call of this.#identity.forget(messageId)) {
      this.#calls.delete(call);
      this.#endedCalls.delete(call);
    }
  }

  #take() {
    const updates = this.#updates;
    this.#updates = [];
    return updates;
  }

  /** @param {Statement} statement */
  #act(statement) {
    switch (statement.kind) {
      case "call":
        return this.#call(statement);
      case "usage":
        this.#usageEvent = this.#event;
        return;
      case "begin": {
        const message = statement.message ?? null;
        for (const scope of this.#identity.endScopes(null, null, message)) this.#end(scope, null);
        return this.#identity.begin(message);
      }
      case "finish":
        for (const scope of this.#identity.endScopes(statement.message ?? null, statement.choice ?? null)) {
          this.#end(scope, statement);
        }
        return;
      case "result":
        return this.#result(statement);
      case "aggregate":
        return this.#aggregate(statement);
      default: // text does not affect calls
    }
  }

  /** @param {CallDelta} delta */
  #call(delta) {
    if (isEmpty(delta)) return;
    const isFull = this.#calls.size - this.#endedCalls.size >= MAX_CALLS;
    // Without id and name it continues a call that was refused.
    if (isFull && !delta.id && !delta.name) delta.opens = false;
    const call = this.#identity.find(delta);
    let isNew = this.#identity.hasLinked;
    if (call === null || !(call.open || isNew)) return;
    if (!this.#calls.has(call)) {
      if (isFull) return this.#refuse(call, delta);
      isNew = true;
      this.#calls.add(call);
    }
    const { status } = call;
    call.event = this.#event;
    const isNamed = this.#name(call, delta);
    let news = null;
    if (call.open) {
      news = call.take(delta);
      if (delta.end) news = joinNews(news, call.end(delta.end));
    }
    if (isNew || isNamed || news !== null || call.status !== status) this.#update(call, news);
    if (isNew) this.#takeEarly(call);
  }

  /**
   * @param {Call} call
   * @param {string | null} [text]
   * @param {boolean} [isResult]
   */
  #update(call, text = null, isResult = false) {
    this.#updates.push({ call, text: text || null, isResult });
  }

  /**
   * End a call beyond the limit with an error, and forget it.
   * @param {Call} call
   * @param {CallDelta} delta
   */
  #refuse(call, { name = null }) {
    call.name = name;
    call.refuse(MAX_CALLS);
    this.#update(call);
    this.#identity.drop(call);
  }

  /**
   * Set the name of a call; return true if it changed. Before the arguments, a name may come in pieces or be repeated.
   * @param {Call} call
   * @param {CallDelta} delta
   */
  #name(call, { name = null, end = null, received = false }) {
    if (name === null) return false;
    if (call.name !== null) {
      if (call.raw !== "" || name === call.name || end !== null || !call.open) return false;
      if (!received && !name.startsWith(call.name)) name = call.name + name;
    }
    call.name = name;
    return true;
  }

  /**
   * End the calls of a response; `finish` is null if the provider did not end it.
   * @param {Scope<Call>} scope
   * @param {Finish | null} finish
   */
  #end(scope, finish) {
    for (const call of scope.calls) {
      if (call.open) this.#close(call, finish);
      call.ended = true;
      this.#endedCalls.add(call);
    }
    this.#hasEnded = true;
  }

  /**
   * @param {Call} call
   * @param {Finish | null} finish
   */
  #close(call, finish) {
    const { status } = call;
    let news = null;
    // Some servers end a response only with its token counts.
    if (finish === null) call.abandon(this.#usageEvent > call.event);
    else news = call.finish({ incomplete: isCut(finish), error: finish.malformed ? finish.detail : null });
    if (call.status !== status || news) this.#update(call, news);
  }

  /** @param {Result} answer */
  #result(answer) {
    const { id } = answer;
    const call = this.#identity.latest(id);
    if (call === null) {
      // The result came before its call.
      if (id !== null) this.#earlyResults.set(id, answer);
      if (this.#earlyResults.size > MAX_EARLY) this.#earlyResults.delete([...this.#earlyResults.keys()][0]);
      return;
    }
    // The tool was called, so its arguments are complete.
    if (call.open && call.status === "streaming") this.#close(call, { kind: "finish" });
    this.#answer(call, answer);
  }

  /** Give a call the result that came before it. Its arguments may still grow. @param {Call} call */
  #takeEarly(call) {
    for (const [id, answer] of this.#earlyResults) {
      if (this.#identity.latest(id) !== call) continue;
      this.#earlyResults.delete(id);
      this.#answer(call, answer);
    }
  }

  /**
   * @param {Call} call
   * @param {Result} answer
   */
  #answer(call, { result, isError = false }) {
    call.answered = true;
    call.result = result;
    call.resultIsError = isError;
    this.#update(call, null, true);
  }

  /** Replace the calls of a message by their final state. @param {Aggregate} statement */
  #aggregate({ message, calls }) {
    const finalCalls = new Set();
    for (const delta of calls) {
      const call = this.#identity.find(delta);
      if (call === null) continue;
      this.#calls.add(call);
      finalCalls.add(call);
      const { status } = call;
      const isNamed = this.#name(call, delta);
      call.replace(delta);
      if (isNamed || call.status !== status) this.#update(call);
      this.#takeEarly(call);
    }
    for (const scope of this.#identity.endScopes(message, 0)) {
      for (const call of [...scope.calls]) if (!finalCalls.has(call)) this.#drop(call);
      this.#end(scope, null);
    }
  }

  #evict() {
    for (const call of this.#endedCalls) {
      if (this.#endedCalls.size <= this.#keep) break;
      this.#drop(call);
    }
  }

  /** @param {Call} call */
  #drop(call) {
    this.#identity.drop(call);
    this.#calls.delete(call);
    this.#endedCalls.delete(call);
  }
}

/**
 * Return true for a delta without an id, an index, a name and content.
 * @param {CallDelta} delta
 */
function isEmpty({ id, index, name, alias, text, parts, end, fragments, value }) {
  const hasContent = text || parts?.length || end || fragments?.length || value !== undefined;
  return !hasContent && !(id || name || alias || (index ?? null) !== null);
}

/**
 * Reads events of any provider and keeps tool calls whose arguments grow, interleaved or not. One object can
 * read any number of responses, one after another or at once. The calls it returns are snapshots.
 */
export class ToolCalls {
  #calls;
  /** Turns events into statements, for `read`. */
  reader;

  /** @param {CallOptions & {provider?: Provider}} [options] */
  constructor({ provider = "auto", ...options } = {}) {
    this.#calls = new Calls(options);
    this.reader = new Reader(provider);
  }

  /** The calls that are kept, in order of appearance. */
  get calls() {
    return this.#calls.all.map((call) => call.snapshot());
  }

  /**
   * Return the latest call of this id; null if there is none.
   * @param {string} id
   */
  get(id) {
    return this.#calls.latest(id)?.snapshot() ?? null;
  }

  /**
   * Read one event, decoded or as JSON text. Return the calls that it changed. Unknown events are ignored.
   * @param {unknown} event
   */
  feed(event) {
    return this.read(this.reader.feed(event));
  }

  /**
   * Return the calls that the statements of one event change.
   * @param {Statement[]} statements
   */
  read(statements) {
    return snapshotsOf(this.#calls.read(statements));
  }

  /**
   * End the stream: open calls are truncated. Another stream may follow; if several are read at once,
   * name the messages of this one.
   * @param {...string} messageIds
   */
  flush(...messageIds) {
    return snapshotsOf(this.#calls.end(messageIds));
  }

  /**
   * Drop the calls of this message, as if it had never come.
   * @param {string} messageId
   */
  forget(messageId) {
    this.#calls.forget(messageId);
  }
}

/**
 * @param {CallUpdate[]} updates
 * @returns {ToolCall[]}
 */
function snapshotsOf(updates) {
  return [...new Set(updates.map(({ call }) => call))].map((call) => call.snapshot());
}

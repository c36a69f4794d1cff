/**
 * Tool calls as they stream: statements of a provider in, calls with growing arguments out.
 *
 * Hands each statement to the call it is about (`identity.js` finds it, `call.js` lets it grow) and
 * bounds how many calls are kept. Knows no provider, and throws nothing on data.
 */

import { joined, ToolCall } from "./call.js";
import { Identity } from "./identity.js";
import { isCut } from "../providers/statements.js";

/** @typedef {import("./call.js").Status} Status */
/** @typedef {import("../parse/machine.js").Limits} Limits */
/** @typedef {import("../providers/statements.js").Statement} Statement */
/** @typedef {import("../providers/statements.js").CallDelta} CallDelta */
/** @typedef {import("../providers/statements.js").Finish} Finish */
/** @typedef {import("../providers/statements.js").Result} Result */
/** @typedef {import("../providers/statements.js").Aggregate} Aggregate */
/**
 * What one event changed in one call: new argument text (null: none), or a result.
 * @typedef {{call: ToolCall, text: string | null, isResult: boolean}} CallUpdate
 */
/**
 * `keep`: the number of calls of ended responses to keep.
 * @typedef {{keep?: number, limits?: Limits}} CallOptions
 */

// A response that never ends must not pile up calls without end.
const MOST = 10_000;
// How many results whose calls have not arrived are kept.
const MOST_EARLY = 256;

/** Statements → tool calls whose arguments grow, however the calls are interleaved. */
export class Calls {
  #keep;
  #identity;
  /** @type {Set<ToolCall>} */
  #calls = new Set();
  // Of these the responses have ended.
  /** @type {Set<ToolCall>} */
  #done = new Set();
  /** @type {CallUpdate[]} */
  #updates = [];
  // The results whose calls have not come yet, by id.
  /** @type {Map<string, Result>} */
  #early = new Map();
  // True if a response ended with the last statements.
  #ended = false;
  // The number of the last event, of the last one about each call, and of the last one with counts.
  #event = 0;
  /** @type {WeakMap<ToolCall, number>} */
  #events = new WeakMap();
  #counted = 0;

  /** @param {CallOptions} [options] */
  constructor({ keep = 256, limits } = {}) {
    this.#keep = keep;
    /** @type {Identity<ToolCall>} */
    this.#identity = new Identity((id, index, message) => new ToolCall(id, index, message, { limits }));
  }

  /** The calls that are kept, in order of appearance. */
  get calls() {
    return [...this.#calls];
  }

  /**
   * The latest call of this id; null if there is none.
   * @param {string} id
   */
  get(id) {
    return this.#identity.known(id);
  }

  /**
   * The updates that the statements of one event make.
   * @param {Statement[]} statements
   */
  read(statements) {
    if (this.#ended) {
      this.#ended = false;
      this.#evict();
    }
    this.#event += 1;
    for (const statement of statements) this.#act(statement);
    return this.#take();
  }

  /**
   * The updates at the end of a stream: calls that have not ended are truncated. Another stream may
   * follow. If several are read at once, name the messages of this one.
   * @param {string[]} messages
   */
  end(messages) {
    this.#evict();
    for (const message of messages.length ? messages : [null]) {
      for (const scope of this.#identity.ended(message, null)) this.#end(scope, null);
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
      this.#done.delete(call);
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
        this.#counted = this.#event;
        return;
      case "begin": {
        const message = statement.message ?? null;
        for (const scope of this.#identity.ended(null, null, message)) this.#end(scope, null);
        return this.#identity.begin(message);
      }
      case "finish":
        for (const scope of this.#identity.ended(statement.message ?? null, statement.choice ?? null)) {
          this.#end(scope, statement);
        }
        return;
      case "result":
        return this.#result(statement);
      case "aggregate":
        return this.#aggregate(statement);
      default: // text says nothing of calls
    }
  }

  /** @param {CallDelta} delta */
  #call(delta) {
    if (saysNothing(delta)) return;
    const call = this.#identity.find(delta);
    let isNew = this.#identity.linked;
    const before = this.#identity.displaced;
    // A receiver knows it by its index alone, and would give it the id of this one.
    if (before !== null && !before.settled) this.#update(before);
    if (call === null || !(call.open || isNew)) return;
    isNew = this.#add(call) || isNew;
    const { status } = call;
    this.#events.set(call, this.#event);
    const isNamed = this.#name(call, delta);
    let news = null;
    if (call.open) {
      news = call._take(delta);
      if (delta.end) news = joined(news, call._end(delta.end));
    }
    if (isNew || isNamed || news !== null || call.status !== status) this.#update(call, news);
    if (isNew) this.#takeEarly(call);
  }

  /**
   * @param {ToolCall} call
   * @param {string | null} [text]
   * @param {boolean} [isResult]
   */
  #update(call, text = null, isResult = false) {
    this.#updates.push({ call, text: text || null, isResult });
  }

  /** True if the call was not there yet. @param {ToolCall} call */
  #add(call) {
    if (this.#calls.has(call)) return false;
    this.#calls.add(call);
    if (this.#calls.size > this.#keep + MOST) {
      const [oldest] = this.#calls;
      if (oldest.open) {
        oldest._abandon();
        this.#update(oldest);
      }
      this.#drop(oldest);
    }
    return true;
  }

  /**
   * Name the call; true if its name changes. Before the arguments a name may come in pieces, or again
   * and longer.
   * @param {ToolCall} call
   * @param {CallDelta} delta
   */
  #name(call, { name = null, end = null, received = false }) {
    if (name === null) return false;
    if (call.name !== null) {
      if (call.begun || name === call.name || end !== null || !call.open) return false;
      if (!received && !name.startsWith(call.name)) name = call.name + name;
    }
    call.name = name;
    return true;
  }

  /**
   * End the calls of a response; `finish` is null if the provider did not end it.
   * @param {import("./identity.js").Scope<ToolCall>} scope
   * @param {Finish | null} finish
   */
  #end(scope, finish) {
    for (const call of scope.calls) {
      if (call.open) this.#close(call, finish);
      call.ended = true;
      this.#done.add(call);
    }
    this.#ended = true;
  }

  /**
   * @param {ToolCall} call
   * @param {Finish | null} finish
   */
  #close(call, finish) {
    const { status } = call;
    let news = null;
    // Some servers end a response with nothing but its token counts.
    if (finish === null) call._abandon(this.#counted > (this.#events.get(call) ?? 0));
    else news = call._finish({ incomplete: isCut(finish), error: finish.malformed ? finish.detail : null });
    if (call.status !== status || news) this.#update(call, news);
  }

  /** @param {Result} answer */
  #result(answer) {
    const { id } = answer;
    const call = this.#identity.known(id);
    if (call === null) return this.#keepEarly(answer);
    // A tool that has answered was called: nothing more of its arguments will come.
    if (call.open && call.status === "streaming") this.#close(call, { kind: "finish" });
    this.#answer(call, answer);
  }

  /** Keep a result that comes before its call. @param {Result} answer */
  #keepEarly(answer) {
    if (answer.id !== null) this.#early.set(answer.id, answer);
    if (this.#early.size > MOST_EARLY) this.#early.delete([...this.#early.keys()][0]);
  }

  /** Give a call the result that came before it. Its arguments may still grow. @param {ToolCall} call */
  #takeEarly(call) {
    for (const [id, answer] of this.#early) {
      if (this.#identity.known(id) !== call) continue;
      this.#early.delete(id);
      this.#answer(call, answer);
    }
  }

  /**
   * @param {ToolCall} call
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
    const told = new Set();
    for (const delta of calls) {
      const call = this.#identity.find(delta);
      if (call === null) continue;
      this.#add(call);
      told.add(call);
      const { status } = call;
      const isNamed = this.#name(call, delta);
      call._replace(delta);
      if (isNamed || call.status !== status) this.#update(call);
      this.#takeEarly(call);
    }
    for (const scope of this.#identity.ended(message, 0)) {
      for (const call of [...scope.calls]) if (!told.has(call)) this.#drop(call);
      this.#end(scope, null);
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
  }
}

/**
 * True for a delta without an id, an index, a name and content: noise.
 * @param {CallDelta} delta
 */
function saysNothing({ id, index, name, alias, text, parts, end, fragments, value }) {
  const hasText = text || parts?.length || end || fragments?.length;
  const named = id || name || alias || (index ?? null) !== null;
  return !hasText && !named && value === undefined;
}

/**
 * Find the call that a statement is about. The rules, in this order:
 *
 * 1. A known id wins. But if it comes with a name and another index, or with another name after the
 *    arguments have ended, it is another call's id: some gateways use one id for all calls.
 * 2. A new id opens a new call, even if its index is taken. But without a name it is another id of
 *    the call at that index; and with the same name it is the id of that call if it has none yet and
 *    its arguments have not ended, or if it comes with their end. A known alias at the same index
 *    means the same call, whatever the id.
 * 3. Without an id, the index decides: the call last opened there. A new index opens a call; but if
 *    the last call was opened at a taken index and has no arguments yet, they come at this one. A name
 *    opens a call, too, if the arguments of that call have begun and it has another name; or, in a
 *    response without ids, if they have ended.
 * 4. Without either, the statement is about the open call. A name opens a new call if the open one
 *    has another name, or has one and its arguments have ended.
 *
 * A call whose id is taken gets a new id derived from it, so that each result has its call.
 *
 * The rules apply within one response and choice, a scope. Identity does not see the text of a call,
 * or how it ends.
 */

/** @typedef {import("../providers/statements.js").CallDelta} CallDelta */
/**
 * The fields of a call that identity uses. `ownId`: the id is the provider's own and will not change. `raw`: the
 * argument text. `argsEnded`: the arguments are a complete JSON value, right or wrong.
 * `settled`: complete or truncated, or its response has ended.
 * @typedef {{id: string, ids: string[], ownId: boolean, index: number | null, name: string | null,
 *   messageId: string, raw: string, readonly argsEnded: boolean, readonly open: boolean,
 *   readonly settled: boolean}} Call
 */

/**
 * The calls of one response and choice.
 * @template {Call} C
 */
export class Scope {
  /**
   * @param {string} messageId
   * @param {number} choice
   */
  constructor(messageId, choice) {
    this.messageId = messageId;
    this.choice = choice;
    this.ended = false;
    // True if an event has named a call by its id.
    this.hasIds = false;
    /** @type {Set<C>} */
    this.calls = new Set();
    /** @type {Map<string, C>} */
    this.ids = new Map();
    /** @type {Map<number, C>} */
    this.indices = new Map();
    /** @type {C | null} */
    this.last = null;
    /** The call that was opened last at an index that another call had. @type {C | null} */
    this.displacing = null;
    this.count = 0;
  }

  /**
   * @param {C} call
   * @param {string} id
   */
  addId(call, id) {
    if (!this.ids.has(id)) this.ids.set(id, call);
    call.ids.push(id);
  }

  /**
   * Return the call with this id; of several, the one at this index.
   * @param {number | null} index
   * @param {string} id
   */
  find(index, id) {
    const call = index === null ? undefined : this.indices.get(index);
    return call?.ids.includes(id) ? call : this.ids.get(id);
  }

  /** Return the call of the last event if it is open, else the open call that began last. */
  openCall() {
    if (this.last?.open) return this.last;
    return [...this.calls].reverse().find((call) => call.open) ?? null;
  }
}

/**
 * Finds the call of a `CallDelta`; `make(id, index, messageId)` makes a new one.
 * @template {Call} C
 */
export class Identity {
  #make;
  /** @type {Map<string, Scope<C>>} */
  #scopes = new Map();
  // The latest call of each id, for results, which come late and do not name a response.
  /** @type {Map<string, C>} */
  #latest = new Map();
  // The current response, and whether the source has named it.
  /** @type {string | null} */
  #response = null;
  #isNamed = false;
  #count = 0;
  /** True if the last `find` linked an id or an index with a call that lacked it. */
  hasLinked = false;

  /** @param {(id: string, index: number | null, messageId: string) => C} make */
  constructor(make) {
    this.#make = make;
  }

  /**
   * Begin a response. Events that do not name a response belong to it.
   * @param {string | null} message
   */
  begin(message) {
    this.#response = message;
    this.#isNamed = message !== null;
  }

  /**
   * Return the call that the delta is about, perhaps a new one; null if there is none.
   * @param {CallDelta} delta
   * @returns {C | null}
   */
  find(delta) {
    if (delta.message) this.begin(delta.message);
    const scope = this.#scope(delta);
    let call = scope === null ? null : choose(scope, delta);
    const { index = null, alias = null, name = null } = delta;
    let id = delta.id ?? null;
    if (call === null) {
      if (delta.opens === false) return null;
      if (id === null && index === null) {
        // Nothing is open, and this delta can only continue a call: ignore it.
        if (alias === null && name === null && scope?.calls.size) return null;
        id = alias; // without any other id, it is the final one
      }
      call = this.#open(scope ?? this.#newScope(delta), id, index);
    }
    this.#link(call, id, index, alias);
    return call;
  }

  /**
   * Return the latest call of this id, in any response.
   * @param {string | null} id
   */
  latest(id) {
    return id === null ? null : (this.#latest.get(id) ?? null);
  }

  /**
   * End the scopes of this response, or all but `exceptFor` if none is named; return those that were open.
   * @param {string | null} message
   * @param {number | null} choice
   * @param {string | null} [exceptFor]
   * @returns {Scope<C>[]}
   */
  endScopes(message, choice, exceptFor = null) {
    let scopes = [...this.#scopes.values()].filter((scope) => scope.messageId !== exceptFor);
    if (message !== null || choice !== null) {
      const scope = this.#scopes.get(keyOf(message || this.#response || "", choice ?? 0));
      scopes = scope === undefined ? [] : [scope];
    }
    scopes = scopes.filter((scope) => !scope.ended);
    for (const scope of scopes) scope.ended = true;
    return scopes;
  }

  /**
   * Forget this call.
   * @param {C} call
   */
  drop(call) {
    const scope = this.#scopes.get(call.messageId);
    if (scope === undefined) return;
    for (const id of call.ids) {
      for (const ids of [scope.ids, this.#latest]) if (ids.get(id) === call) ids.delete(id);
    }
    if (call.index !== null && scope.indices.get(call.index) === call) scope.indices.delete(call.index);
    if (scope.last === call) scope.last = null;
    scope.calls.delete(call);
    if (scope.calls.size === 0) this.#scopes.delete(call.messageId);
  }

  /**
   * Forget this message; return the calls that it had.
   * @param {string} messageId
   */
  forget(messageId) {
    const calls = [...(this.#scopes.get(messageId)?.calls ?? [])];
    for (const call of calls) this.drop(call);
    if (this.#response === messageId) this.#response = null;
    return calls;
  }

  /**
   * Return the scope that the delta is about, if it exists.
   * @param {CallDelta} delta
   * @returns {Scope<C> | null}
   */
  #scope({ message, choice = 0, id = null, name = null }) {
    const response = message || this.#response;
    if (response === null) return null;
    const scope = this.#scopes.get(keyOf(response, choice)) ?? null;
    if (message) return scope;
    const isNew = id !== null && !scope?.ids.has(id);
    // An event that names its call but no response may be about an earlier response.
    const other = scope === null || isNew ? this.latest(id) : null;
    if (other?.open) {
      const otherScope = /** @type {Scope<C>} */ (this.#scopes.get(other.messageId));
      if (otherScope.choice === choice) return otherScope;
    }
    // If the source does not name responses, a new id or a name belongs to the next turn.
    if (scope?.ended && !this.#isNamed && (name !== null || isNew)) {
      this.#response = null;
      return null;
    }
    return scope;
  }

  /**
   * @param {Scope<C>} scope
   * @param {string | null} id
   * @param {number | null} index
   */
  #open(scope, id, index) {
    scope.ended = false;
    scope.count += 1;
    // At an index that is taken, only the generated id distinguishes two calls: keep it.
    const ownId = id !== null || (index !== null && scope.indices.has(index));
    // Derived from what a receiver sees, too, so that both ends generate the same id.
    const tail = `${index ?? ""}${index === null || ownId ? `#${scope.count}` : ""}`;
    const isTaken = id !== null && scope.ids.has(id);
    const name = isTaken ? `${id}#${scope.count}` : (id ?? `${scope.messageId}:${tail}`);
    const call = this.#make(name, index, scope.messageId);
    call.ownId = ownId;
    scope.calls.add(call);
    scope.addId(call, name);
    if (isTaken) scope.addId(call, id);
    this.#latest.set(name, call);
    if (index !== null) {
      // The index now belongs to another call, so a generated id is final.
      const previous = scope.indices.get(index);
      if (previous !== undefined) {
        previous.ownId = true;
        scope.displacing = call;
      }
      scope.indices.set(index, call);
    }
    return call;
  }

  /**
   * @param {CallDelta} delta
   * @returns {Scope<C>}
   */
  #newScope({ message, choice = 0 }) {
    let response = message || this.#response;
    if (response === null) {
      this.#count += 1;
      response = this.#response = `message-${this.#count}`;
      this.#isNamed = false;
    }
    const key = keyOf(response, choice);
    const scope = this.#scopes.get(key) ?? new Scope(key, choice);
    this.#scopes.set(key, scope);
    return scope;
  }

  /**
   * Link the id, the alias and the index that came together.
   * @param {C} call
   * @param {string | null} id
   * @param {number | null} index
   * @param {string | null} alias
   */
  #link(call, id, index, alias) {
    const scope = /** @type {Scope<C>} */ (this.#scopes.get(call.messageId));
    scope.last = call;
    this.hasLinked = false;
    if (id !== null) {
      scope.hasIds = true;
      // After the call has ended, a receiver assigns a new id to another call.
      if (!(call.ownId || call.settled)) {
        call.id = id;
        call.ownId = true;
        this.hasLinked = true;
      }
      if (!call.ids.includes(id)) {
        scope.addId(call, id);
        this.#latest.set(id, call);
      }
    }
    if (alias !== null && !call.ids.includes(alias)) scope.addId(call, alias);
    if (index === null) return;
    if (!scope.indices.has(index)) scope.indices.set(index, call);
    if (call.index === null) {
      call.index = index;
      this.hasLinked = true;
    }
  }
}

/**
 * Return the call of the scope that the delta is about, by rules 1 to 4.
 * @template {Call} C
 * @param {Scope<C>} scope
 * @param {CallDelta} delta
 * @returns {C | null}
 */
function choose(scope, delta) {
  const { id = null, index = null, name = null, alias = null, received } = delta;
  let match = alias === null ? undefined : scope.find(index, alias);
  if (id !== null) {
    const owner = scope.find(index, id);
    if (owner !== undefined) return sharesId(owner, scope, delta) ? null : owner;
    const isHere = index === null || index === match?.index;
    if (match !== undefined && (match.id === alias || isHere)) return match;
    if (match === undefined && index !== null) match = scope.indices.get(index);
    return match !== undefined && takesId(match, scope, delta) ? match : null;
  }
  if (match !== undefined || (alias !== null && index === null)) return match ?? null;
  if (index !== null) {
    const call = scope.indices.get(index) ?? null;
    const { displacing } = scope;
    if (call === null && name === null && displacing?.raw === "" && displacing === scope.last) return displacing;
    if (name === null || call === null || call.name === null) return call;
    // The sender has already decided: it names calls that are not the first at their index.
    if (received || scope.ended) return call;
    return isAnother(call, scope, name) ? null : call;
  }
  const call = scope.openCall();
  if (call === null || name === null || call.name === null) return call;
  return call.argsEnded || call.name !== name ? null : call;
}

/**
 * Return true if a delta with the id of this call is about another one.
 * @template {Call} C
 * @param {C} call
 * @param {Scope<C>} scope
 * @param {CallDelta} delta
 */
function sharesId(call, scope, { index = null, name = null, alias = null, received }) {
  if (name === null || call.name === null || received) return false;
  if (alias !== null && call.ids.includes(alias)) return false;
  if (index !== null && call.index !== null && index !== call.index) return true;
  return call.argsEnded && name !== call.name;
}

/**
 * Return true if an id that is new belongs to this call, decided by what a receiver sees too.
 * @param {Call} call
 * @param {{ended: boolean}} scope
 * @param {CallDelta} delta
 */
function takesId(call, scope, { name = null, alias = null, end = null }) {
  if (call.settled || scope.ended || !call.open) return false;
  if (name === null) return !call.ownId || call.name !== null;
  if (call.ownId) return end !== null && alias === null && call.name === name;
  return call.name === null || (call.name === name && !call.argsEnded);
}

/**
 * Return true if a name that comes at the index of this call is another call's name.
 * @param {Call} call
 * @param {{hasIds: boolean}} scope
 * @param {string} name
 */
function isAnother(call, scope, name) {
  if (call.argsEnded || !call.open) return name !== call.name || !scope.hasIds;
  return call.raw !== "" && name !== call.name;
}

/**
 * @param {string} message
 * @param {number} choice
 */
function keyOf(message, choice) {
  return choice ? `${message}:${choice}` : message;
}

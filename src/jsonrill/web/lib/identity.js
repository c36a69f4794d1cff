/**
 * Which call a wire event speaks of. The rules, in their order:
 *
 * 1. A known id wins.
 * 2. A new id opens a new call, even if its index is taken. But without a name it is another id of
 *    the call at that index; and with the same name it is the id of that call if it has none yet and
 *    its arguments are not complete.
 * 3. Without an id, the index tells: the call last opened there. An index not seen opens a call.
 * 4. With neither, it is the call that is open now; a name opens a new one if the open one has
 *    another name, or has one and is complete.
 *
 * All of it within one message. What calls hold and how they end is not known here.
 */

/**
 * What identity sees of a call; `given`: true if the id is the sender's own.
 * @typedef {{id: string, given: boolean, index: number | null, name: string | null,
 *   messageId: string, readonly argsEnded: boolean, readonly open: boolean,
 *   readonly settled: boolean}} Call
 */

/**
 * The calls of one message.
 * @template {Call} C
 */
export class Scope {
  /** @param {string} messageId */
  constructor(messageId) {
    this.messageId = messageId;
    this.ended = false;
    /** @type {Set<C>} */
    this.calls = new Set();
    /** @type {Map<string, C>} */
    this.ids = new Map();
    // Under which ids a call is known, to find them all when it is dropped.
    /** @type {Map<C, string[]>} */
    this.names = new Map();
    /** @type {Map<number, C>} */
    this.indices = new Map();
    /** @type {C | null} */
    this.last = null;
    this.count = 0;
  }

  /**
   * @param {C} call
   * @param {string} id
   */
  know(call, id) {
    this.ids.set(id, call);
    const names = this.names.get(call);
    if (names === undefined) this.names.set(call, [id]);
    else names.push(id);
  }

  /** The call that is open now: the one spoken of last, if it has not ended. */
  openCall() {
    if (this.last?.open) return this.last;
    return [...this.calls].reverse().find((call) => call.open) ?? null;
  }
}

/**
 * Events' ids, indices and names → calls, which `make(id, index, messageId)` makes.
 * @template {Call} C
 */
export class Identity {
  /** @param {(id: string, index: number | null, messageId: string) => C} make */
  constructor(make) {
    this._make = make;
    /** @type {Map<string, Scope<C>>} */
    this._scopes = new Map();
    // The latest call of each id, for results, which come late and name no message.
    /** @type {Map<string, C>} */
    this._known = new Map();
    // The message at hand; has the sender named it?
    /** @type {string | null} */
    this._message = null;
    this._named = false;
    this._count = 0;
    // Did the last `find` link an id or an index with a call that lacked it?
    this.linked = false;
  }

  /**
   * The call that is meant, a new one if need be; null: nothing that we know.
   * @param {string | null} id
   * @param {number | null} index
   * @param {string | null} name
   * @param {string | null} message
   */
  find(id, index, name, message) {
    if (message !== null) {
      this._message = message;
      this._named = true;
    }
    const scope = this._scope(message, id, name);
    let call = scope === null ? null : among(scope, id, index, name);
    if (call === null) {
      // Nothing is open and this only continues something: a straggler, not a call.
      if (id === null && index === null && name === null && scope?.calls.size) return null;
      call = this._open(scope ?? this._newScope(message), id, index);
    }
    this._learn(call, id, index);
    return call;
  }

  /**
   * The latest call of this id, in whatever message.
   * @param {string | null} id
   */
  known(id) {
    return id === null ? null : (this._known.get(id) ?? null);
  }

  /**
   * The messages that end now: this one (null: the one at hand), or all.
   * @param {{all: true} | {all?: false, message: string | null}} which
   * @returns {Scope<C>[]}
   */
  ended(which) {
    const one = this._scopes.get((which.all ? null : which.message) ?? this._message ?? "");
    const scopes = which.all ? [...this._scopes.values()] : one ? [one] : [];
    const ended = scopes.filter((scope) => !scope.ended);
    for (const scope of ended) scope.ended = true;
    return ended;
  }

  /**
   * Know nothing of this call any more.
   * @param {C} call
   */
  drop(call) {
    const scope = this._scopes.get(call.messageId);
    if (scope === undefined) return;
    for (const id of scope.names.get(call) ?? []) {
      for (const ids of [scope.ids, this._known]) if (ids.get(id) === call) ids.delete(id);
    }
    scope.names.delete(call);
    if (call.index !== null && scope.indices.get(call.index) === call) {
      scope.indices.delete(call.index);
    }
    if (scope.last === call) scope.last = null;
    scope.calls.delete(call);
    if (scope.calls.size === 0) this._scopes.delete(call.messageId);
  }

  /**
   * Know nothing of this message any more; the calls it had.
   * @param {string} messageId
   */
  forget(messageId) {
    const calls = [...(this._scopes.get(messageId)?.calls ?? [])];
    for (const call of calls) this.drop(call);
    if (this._message === messageId) this._message = null;
    return calls;
  }

  /**
   * The message that is meant, if it is there already.
   * @param {string | null} message
   * @param {string | null} id
   * @param {string | null} name
   */
  _scope(message, id, name) {
    if (message !== null) return this._scopes.get(message) ?? null;
    if (this._message === null) return null;
    const scope = this._scopes.get(this._message) ?? null;
    const isNew = id !== null && !scope?.ids.has(id);
    if (isNew) {
      // An event that names its call but no message may mean an earlier message.
      const other = this._known.get(id);
      if (other?.open) return this._scopes.get(other.messageId) ?? null;
    }
    if (scope?.ended && !this._named && (name !== null || isNew)) {
      // A sender that names no messages: a new id or a name is the next turn's.
      this._message = null;
      return null;
    }
    return scope;
  }

  /**
   * @param {Scope<C>} scope
   * @param {string | null} id
   * @param {number | null} index
   */
  _open(scope, id, index) {
    scope.ended = false;
    scope.count += 1;
    // At an index that is taken, a made id is all that tells two calls apart: it stays.
    const given = id !== null || (index !== null && scope.indices.has(index));
    // A made id is told from what the sender sees too, so that both ends make the same one.
    const tail = `${index ?? ""}${index === null || given ? `#${scope.count}` : ""}`;
    const name = id ?? `${scope.messageId}:${tail}`;
    const call = this._make(name, index, scope.messageId);
    call.given = given;
    scope.calls.add(call);
    scope.know(call, name);
    this._known.set(name, call);
    if (index !== null) {
      // The index leads elsewhere from now on, so an id that was made is the id for good.
      const before = scope.indices.get(index);
      if (before !== undefined) before.given = true;
      scope.indices.set(index, call);
    }
    return call;
  }

  /** @param {string | null} message */
  _newScope(message) {
    if (message === null && this._message === null) {
      this._count += 1;
      this._message = `message-${this._count}`;
      this._named = false;
    }
    const id = message ?? /** @type {string} */ (this._message);
    const scope = this._scopes.get(id) ?? new Scope(id);
    this._scopes.set(id, scope);
    return scope;
  }

  /**
   * Link what has been seen together.
   * @param {C} call
   * @param {string | null} id
   * @param {number | null} index
   */
  _learn(call, id, index) {
    const scope = /** @type {Scope<C>} */ (this._scopes.get(call.messageId));
    scope.last = call;
    this.linked = false;
    if (id !== null) {
      if (!call.given) {
        call.id = id;
        call.given = true;
        this.linked = true;
      }
      if (!scope.ids.has(id)) {
        scope.know(call, id);
        this._known.set(id, call);
      }
    }
    if (index !== null && call.index === null) {
      call.index = index;
      if (!scope.indices.has(index)) scope.indices.set(index, call);
      this.linked = true;
    }
  }
}

/**
 * Rules 1 to 4 among the calls that are there.
 * @template {Call} C
 * @param {Scope<C>} scope
 * @param {string | null} id
 * @param {number | null} index
 * @param {string | null} name
 * @returns {C | null}
 */
function among(scope, id, index, name) {
  if (id !== null) {
    const known = scope.ids.get(id);
    if (known !== undefined) return known;
    const there = index === null ? undefined : scope.indices.get(index);
    return there !== undefined && takesId(there, scope, name) ? there : null;
  }
  if (index !== null) return scope.indices.get(index) ?? null;
  const call = scope.openCall();
  if (call === null || name === null || call.name === null) return call;
  return call.argsEnded || call.name !== name ? null : call;
}

/**
 * True if an id that is new belongs to this call.
 * @param {Call} call
 * @param {{ended: boolean}} scope
 * @param {string | null} name
 */
function takesId(call, scope, name) {
  if (call.settled || scope.ended) return false;
  if (name === null) return !call.given || call.name !== null;
  if (call.given) return false;
  return call.name === null || (call.name === name && !call.argsEnded);
}

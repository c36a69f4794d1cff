/** Tool calls, texts and reasoning of an answer, each as it was after any number of pieces. No DOM. */

import { Calls } from "../js/src/toolcalls/calls.js";
import { Reader } from "../js/src/providers/index.js";
import { Ending, ofChoice } from "../js/src/providers/statements.js";
import { PROVIDER, reportedError } from "./errors.js";
import { Growth, Journal, countWhile } from "./growth.js";
import { Outline } from "./outline.js";

/** @typedef {import("../js/src/toolcalls/call.js").ToolCall} ToolCall */
/** @typedef {import("../js/src/toolcalls/call.js").Status} Status */
/** @typedef {import("./outline.js").Fault} Fault */
/**
 * What is known of a call from a piece on, until the next entry.
 * @typedef {{piece: number, name: string | null, status: Status, complete: boolean, answered: boolean}} Entry
 */

// Of several answers the first one is shown.
const CHOICE = 0;

/** A call and its past. */
export class TimedCall {
  kind = /** @type {const} */ ("call");
  /** The argument text as received. */
  raw = new Growth();
  /** @type {Entry[]} */
  history = [];
  /** @type {any} */
  result = undefined;
  resultIsError = false;
  /** @type {Fault | null} */
  error = null;

  /**
   * @param {ToolCall} call
   * @param {number} piece
   */
  constructor(call, piece) {
    this.call = call;
    /** The arguments as a tree. */
    this.outline = new Outline();
    this.id = call.id;
    this.begun = piece;
    this.ended = Infinity;
  }

  /** @param {number} piece */
  update(piece) {
    const { call, raw } = this;
    if (call.raw !== raw.text) this._take(call.raw, piece);
    const { name, status, answered } = call;
    const complete = call.completeArgs;
    const last = this.history.at(-1);
    if (last?.piece === piece) this.history.pop();
    this.history.push({ piece, name, status, complete, answered });
    if (status !== "streaming" && this.ended === Infinity) {
      this.ended = piece;
      this.outline.flush(piece);
    }
    if (answered) Object.assign(this, { result: call.result, resultIsError: call.resultIsError });
    if (call.error !== null && this.error === null) this._fail(call.error, piece);
  }

  /**
   * @param {string} text
   * @param {number} piece
   */
  _take(text, piece) {
    if (!text.startsWith(this.raw.text)) {
      // The provider sent other arguments at the end: they replace those before.
      this.raw = new Growth();
      this.outline = new Outline();
    }
    const news = text.slice(this.raw.text.length);
    this.raw.add(news, piece);
    this.outline.feed(news, piece);
  }

  /**
   * @param {any} error
   * @param {number} piece
   */
  _fail({ code, message, offset, line, column }, piece) {
    const own = this.outline.errors[0];
    const fault = own ?? { message, offset: typeof offset === "number" ? offset : null, line, column, path: [] };
    this.error = { ...fault, piece, code: String(code), message: String(fault.message), call: this.call.name ?? "" };
  }

  /**
   * What was known after this many pieces; null if the call had not begun.
   * @param {number} piece
   */
  at(piece) {
    const count = countWhile(this.history, (entry) => entry.piece <= piece);
    return count === 0 ? null : this.history[count - 1];
  }
}

/** A text of the answer, or of the model's reasoning, and its past. */
export class TimedText {
  growth = new Growth();
  ended = Infinity;

  /**
   * @param {"text" | "reasoning"} kind
   * @param {number} piece
   * @param {unknown} block
   */
  constructor(kind, piece, block) {
    this.kind = kind;
    this.begun = piece;
    this.block = block;
  }
}

/** Reads the events of an answer; everything that it says is kept with its piece. */
export class Answer {
  /** Texts, reasoning and calls in the order in which they began. @type {(TimedCall | TimedText)[]} */
  parts = [];
  /** @type {TimedCall[]} */
  calls = [];
  /** What the provider says went wrong. @type {Fault[]} */
  errors = [];
  /** Token counts, as the provider wrote them. @type {{[name: string]: any} | null} */
  usage = null;
  /** Which parts the pieces changed. @type {Journal<TimedCall | TimedText>} */
  journal = new Journal();
  _reader = new Reader("auto");
  _calls = new Calls({ keep: Infinity });
  _ending = new Ending();
  /** @type {TimedText | null} */
  _open = null;
  /** @type {Map<ToolCall, TimedCall>} */
  _timed = new Map();

  /** How the answer ended; null if the provider has not ended it. */
  get outcome() {
    return this._ending.of(CHOICE);
  }

  /**
   * How the answer was cut, once its events have ended; null if it was not.
   * @param {boolean} ends whether an event says that an answer has ended
   */
  cut(ends) {
    return this._ending.cut(CHOICE, ends && this.provider !== null);
  }

  /** The provider that was recognised; null if none was. */
  get provider() {
    return this._reader.provider;
  }

  /**
   * Reads one event. Returns the text of the answer in it.
   * @param {unknown} event an object, or JSON text
   * @param {number} piece
   */
  read(event, piece) {
    this.journal.begin(piece);
    const statements = ofChoice(this._reader.feed(event), CHOICE);
    this._ending.feed(statements);
    let text = "";
    for (const one of statements) {
      if (one.kind === "text" || one.kind === "reasoning") {
        this._say(one, piece);
        if (one.kind === "text") text += one.text;
      } else if (one.kind === "usage") {
        this.usage = { ...this.usage, ...one.counts };
      } else if (one.kind === "finish" && one.reason === "error") {
        this._report(one.detail ?? "it does not say which", piece);
      }
    }
    if (this.provider === null) this._fail(event, piece);
    this._update(this._calls.read(statements), piece);
    return text;
  }

  /**
   * An error that comes alone is no event of any provider.
   * @param {unknown} event
   * @param {number} piece
   */
  _fail(event, piece) {
    const message = typeof event === "string" ? reportedError(JSON.parse(event)) : null;
    if (message !== null) this._report(message, piece);
  }

  /**
   * @param {string} message
   * @param {number} piece
   */
  _report(message, piece) {
    this.errors.push({ piece, code: PROVIDER, message: `the provider reported an error: ${message}`, offset: null, path: [] });
  }

  /** @param {number} piece */
  end(piece) {
    this.journal.begin(piece);
    this._closeText(piece);
    this._update(this._calls.end([]), piece);
  }

  /**
   * @param {import("../js/src/providers/statements.js").TextStatement} statement
   * @param {number} piece
   */
  _say({ kind, text, block = null }, piece) {
    if (this._open === null || this._open.kind !== kind || this._open.block !== block) {
      this._closeText(piece);
      this._open = new TimedText(kind, piece, block);
      this.parts.push(this._open);
    }
    this._open.growth.add(text, piece);
    this.journal.touch(this._open);
  }

  /** @param {number} piece */
  _closeText(piece) {
    if (this._open === null) return;
    this._open.ended = piece;
    this.journal.touch(this._open);
    this._open = null;
  }

  /**
   * @param {import("../js/src/toolcalls/calls.js").CallUpdate[]} updates
   * @param {number} piece
   */
  _update(updates, piece) {
    for (const { call } of updates) {
      let timed = this._timed.get(call);
      if (timed === undefined) {
        this._closeText(piece);
        timed = new TimedCall(call, piece);
        this._timed.set(call, timed);
        this.calls.push(timed);
        this.parts.push(timed);
      }
      timed.update(piece);
      this.journal.touch(timed);
    }
  }
}

/**
 * The parts of an answer, in the order in which they begin: text, reasoning, calls, results.
 *
 * A text or a thought is complete when another part begins or the answer ends. Calls may grow beside
 * each other, so a call keeps its index while later parts come. For example, an answer with a thought,
 * a call and a text:
 *
 *     reasoning 0 "Let me"     reasoning 0 " look."     reasoning 0 "" complete
 *     call 1 '{"city":'        call 1 '"Rome"}' complete
 *     text 2 "One moment."     text 2 "" complete
 */

import { Calls } from "../toolcalls/calls.js";
import { stringify } from "../jsontext.js";
import { Reader } from "../providers/index.js";
import { Ending, ofChoice, Watch } from "../providers/statements.js";

/** @typedef {import("../answer.js").Answer} Answer */
/** @typedef {import("../errors.js").Cut} Cut */
/** @typedef {import("../toolcalls/call.js").ToolCall} ToolCall */
/** @typedef {import("../toolcalls/calls.js").CallUpdate} CallUpdate */
/** @typedef {import("../providers/statements.js").Statement} Statement */
/** @typedef {import("../providers/statements.js").Said} Said */
/**
 * `choice` selects one of several answers. `split` divides its text (with `import "jsonrill/split"`):
 * true, or the names of formats.
 * @typedef {Omit<import("../toolcalls/calls.js").CallOptions, "keep"> & {choice?: number,
 *   provider?: import("../providers/index.js").Provider,
 *   split?: boolean | string | Iterable<string>}} PartsOptions
 */
/** @typedef {"text" | "reasoning" | "call" | "result" | "json"} PartKind */
/**
 * What divides a text asks for: the next index of a part, whether a call of this id is known, and the
 * parts of a call.
 * @typedef {{index(): number, isKnown(id: string): boolean,
 *   call(delta: import("../providers/statements.js").CallDelta): Part[]}} DividerHost
 */
/**
 * Divides the text of an answer. `end`: the text has ended; `closeText`: another part begins.
 * @typedef {{feed(piece: any): Part[], end(): Part[], closeText(cut: Cut | null): Part[]}} Divider
 */

/** Made known by `split.js`, so that programs without it do not load it. @type {((options: PartsOptions, host: DividerHost) => Divider) | null} */
let makeDivider = null;

/** @param {(options: PartsOptions, host: DividerHost) => Divider} make */
export function useDivider(make) {
  makeDivider = make;
}

/**
 * A part by its kind: of `call` and `result` there is a call, of the others none.
 * @typedef {(Part & {kind: "text" | "reasoning", call: null, value: string})
 *   | (Part & {kind: "call", call: ToolCall}) | (Part & {kind: "result", call: ToolCall})
 *   | (Part & {kind: "json", call: null})} AnyPart
 */

/**
 * A change of one part of an answer, or its end.
 *
 * `index` numbers the parts, `delta` is the text that is new. `complete`: nothing of a text follows,
 * the arguments of a call are a complete value. `call` is the call, also of a result, whose `result`
 * or `error` says what the tool returned. With `split`, `raw` is the text as it came, with tags:
 * joined, the `raw` of all parts is the text.
 */
export class Part {
  #text;
  #document;
  /** @type {any} */
  result = undefined;
  /** @type {string | null} */
  error = null;

  /**
   * @param {PartKind} kind
   * @param {number} index
   * @param {string} delta
   * @param {boolean} complete
   * @param {ToolCall | null} call
   * @param {string} text
   * @param {{readonly value: any} | null} [document]
   */
  constructor(kind, index, delta, complete, call, text, document = null) {
    this.kind = kind;
    this.index = index;
    this.delta = delta;
    this.complete = complete;
    this.call = call;
    this.#text = text;
    this.#document = document;
    this.raw = call === null ? delta : "";
  }

  /** The text of the part up to here; of a call, the argument text so far. */
  get text() {
    return this.call === null ? this.#text : this.call.raw;
  }

  /** The arguments of the call or the value of the JSON, as far as they are known; else the text. It is safe to keep. */
  get value() {
    if (this.#document !== null) return this.#document.value;
    return this.call === null ? this.#text : this.call.args;
  }

  /** The part as JSON wants it: its delta, and of a call its arguments once complete. */
  toJSON() {
    const { kind, index, delta, complete, call, result, error } = this;
    const args = kind === "call" && complete ? { args: call?.args } : {};
    const its = call && { call: { id: call.id, name: call.name, status: call.status, ...args } };
    return kind === "result"
      ? { kind, index, ...its, result, error }
      : { kind, index, ...its, delta, complete };
  }
}

/** Reads a provider's events and returns the parts of the answer as they grow. */
export class Parts {
  #reader;
  #choice;
  #calls;
  /** @type {Divider | null} */
  #divider = null;
  /** The part that text is added to. @type {{kind: PartKind, block: unknown, index: number, text: string} | null} */
  #open = null;
  /** @type {Map<ToolCall, number>} */
  #indices = new Map();
  #count = 0;
  #ending = new Ending();
  /** The error of the provider. @type {string | null} */
  error = null;
  /** The token counts, as the provider wrote them. @type {{[name: string]: any} | null} */
  usage = null;
  /** @type {Watch | null} */
  #watch = null;

  /** @param {PartsOptions} [options] */
  constructor({ choice = 0, provider = "auto", split = false, ...options } = {}) {
    if (!Number.isInteger(choice) || choice < 0) {
      throw new TypeError(`choice is a whole number from 0 up, not ${String(choice)}`);
    }
    this.#choice = choice;
    this.#reader = new Reader(provider, options.numbers);
    this.#calls = new Calls({ ...options, keep: Infinity });
    if (split === false) return;
    if (makeDivider === null) throw new TypeError('split needs import "jsonrill/split"');
    this.#divider = makeDivider({ ...options, split }, {
      index: () => this.#count++,
      isKnown: (id) => this.#calls.get(id) !== null,
      call: (delta) => this.#changes(this.#calls.read([{ ...delta, choice }])),
    });
  }

  /** Let the caller's object know of the text, the end and the token counts. @param {Answer} answer */
  tell(answer) {
    this.#watch = new Watch(answer, this.#choice);
  }

  /** How the answer ended; null if the provider has not ended it. */
  get outcome() {
    return this.#ending.of(this.#choice);
  }

  /** The calls of the answer, in the order in which they began. */
  get calls() {
    return this.#calls.calls;
  }

  /**
   * The parts that one event changes.
   * @param {unknown} event
   */
  add(event) {
    // A call that came before token counts is complete, not one that comes in the same event.
    const said = ofChoice(this.#reader.feed(event), this.#choice);
    this.#ending.feed(said);
    this.#watch?.read(said);
    const counts = said.filter(({ kind }) => kind === "usage");
    const rest = counts.length ? said.filter(({ kind }) => kind !== "usage") : said;
    return [...counts, ...rest].flatMap((one) => this.#act(one));
  }

  /**
   * With `split`: the parts that a piece of the answer's text changes.
   * @param {unknown} piece
   */
  addText(piece) {
    return this.#divider?.feed(piece) ?? [];
  }

  /**
   * The parts at the end of the stream: calls that have not ended are truncated. `isDone`: the stream
   * said that it is at its end, such as with `[DONE]`.
   * @param {boolean} [isDone]
   */
  flush(isDone = false) {
    const ends = this.#reader.provider !== null && !isDone;
    const cut = this.#ending.cut(this.#choice, ends);
    this.#watch?.end(ends);
    return [...this.#endText(), ...this.#changes(this.#calls.end([])), ...this.#closeText(cut)];
  }

  /**
   * @param {Statement} said
   * @returns {Part[]}
   */
  #act(said) {
    switch (said.kind) {
      case "text":
        return this.#divider?.feed(said.text) ?? this.#text(said);
      case "reasoning":
        return [...this.#endText(), ...this.#text(said)];
      case "usage":
        this.usage = { ...this.usage, ...said.counts };
        this.#calls.read([said]);
        return [];
      default: {
        const cut = said.kind === "finish" ? this.#ending.cut(this.#choice, true) : null;
        const parts = [...this.#endText(), ...this.#changes(this.#calls.read([said]))];
        if (said.kind === "begin" || said.kind === "finish") parts.push(...this.#closeText(cut));
        if (said.kind === "finish" && said.reason === "error") this.error ??= said.detail ?? null;
        return parts;
      }
    }
  }

  /** @param {Said} said */
  #text({ kind, text, block = null }) {
    /** @type {Part[]} */
    let parts = [];
    if (this.#open === null || this.#open.kind !== kind || this.#open.block !== block) {
      parts = this.#closeText();
      this.#open = { kind, block, index: this.#count, text: "" };
      this.#count += 1;
    }
    this.#open.text += text;
    parts.push(new Part(kind, this.#open.index, text, false, null, this.#open.text));
    return parts;
  }

  #endText() {
    return this.#divider?.end() ?? [];
  }

  /**
   * End the open text; one that was cut is not complete, and its `error` says why.
   * @param {Cut | null} [cut]
   */
  #closeText(cut = null) {
    const entry = this.#open;
    this.#open = null;
    const parts = this.#divider?.closeText(cut) ?? [];
    if (entry === null) return parts;
    const last = new Part(entry.kind, entry.index, "", cut === null, null, entry.text);
    last.error = cut?.said ?? null;
    return [...parts, last];
  }

  /** @param {CallUpdate[]} updates */
  #changes(updates) {
    return updates.flatMap(({ call, text, isResult }) => {
      if (isResult) return [this.#result(call)];
      let index = this.#indices.get(call);
      const parts = index === undefined ? this.#closeText() : [];
      if (index === undefined) {
        index = this.#count;
        this.#count += 1;
        this.#indices.set(call, index);
      }
      return [...parts, new Part("call", index, text ?? "", call.completeArgs, call, "")];
    });
  }

  /** @param {ToolCall} call */
  #result(call) {
    const part = new Part("result", this.#count, "", true, call, "");
    this.#count += 1;
    const { result } = call;
    if (!call.resultIsError) part.result = result;
    else part.error = typeof result === "string" ? result : stringify(result);
    return part;
  }
}

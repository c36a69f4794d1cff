/**
 * How each part of a text is read, from behind its opening tag to behind its closing one.
 *
 * A reader is a generator that stops wherever it needs more text. It says what it found as `Content`;
 * the arguments of a call are JSON text, also where a model writes them as XML or as Python. It is
 * `answers/readers.py` in JavaScript, step by step.
 */

import { JsonSpan } from "./spans.js";
import { pythonCalls, pythonString } from "./python-literals.js";
import { MOST_SPACE, SPACE, overlap, trim, trimStart } from "./split-text.js";

/**
 * What a reader found: text of the part, and of a call its name and id. `closed`: the part is closed;
 * `begins`: this opens another part of the same kind; `at`: how many characters were taken when it was
 * known.
 * @typedef {{text: string, name: string | null, id: string | null, closed: boolean, begins: boolean, at: number}} Content
 */
/** How many characters were taken, what they say, and whether the part has ended. @typedef {{taken: number, contents: Content[], isDone: boolean}} Read */
/** @template T @typedef {Generator<undefined, T, void>} Steps */

const CALL = "<tool_call>";
const CALL_END = "</tool_call>";
// Calls in Python that are held back; a longer text is no call.
const MOST_PYTHON = 50_000;

const ATTRIBUTE = new RegExp(`\\bname[${SPACE}]*=[${SPACE}]*(?:"([^"]*)"|'([^']*)'|([^${SPACE}"'>]+))`);

/** The text has ended inside of a part. */
class Over extends Error {}

/** A part that has not ended is followed by another. */
class Broken extends Error {}

export class Reader {
  /** @type {"reasoning" | "json" | "call"} */
  kind = "call";
  /** True: near-JSON is repaired later, so strings may be in single quotes. */
  repair = false;
  /** What closes a section of calls, and what may be between calls. @type {string[]} */
  close = [];
  between = [",", ";"];
  /** What ends reasoning that was not closed: beginnings of calls that are never prose. @type {string[]} */
  stops = [];
  /** What begins another part, after a call that was not closed. @type {string[]} */
  breaks = [];
  text = "";
  at = 0;
  end = false;
  calls = 0;
  /** @type {Content[]} */
  #contents = [];
  // The object that is read has had its name, and its arguments.
  #named = false;
  #argued = false;
  /** @type {Steps<void> | null} */
  #steps = null;

  /**
   * Read on: `text` begins with what was not taken before. With `end`, all of it is taken.
   * @param {string} text
   * @param {boolean} end
   * @returns {Read}
   */
  read(text, end) {
    this.text = text;
    this.at = 0;
    this.end = end;
    this.#contents = [];
    this.#steps ??= this.script();
    let isDone;
    try {
      isDone = this.#steps.next().done === true;
    } catch (error) {
      if (!(error instanceof Over || error instanceof Broken)) throw error;
      isDone = true;
      if (error instanceof Over) this.at = text.length;
    }
    return { taken: end && !isDone ? text.length : this.at, contents: this.#contents, isDone };
  }

  /** @returns {Steps<void>} */
  *script() {}

  // ---- what a script does ----

  /** Wait for more text. @returns {Steps<void>} */
  *more() {
    if (this.end) throw new Over();
    yield;
  }

  /**
   * @param {string} [text]
   * @param {Partial<Content>} [fields]
   */
  say(text = "", fields = {}) {
    this.#contents.push({ text, name: null, id: null, closed: false, begins: false, at: this.at, ...fields });
  }

  /**
   * A call begins. Without a name it stays an error.
   * @param {string} name
   * @param {string | null} [id]
   */
  call(name, id = null) {
    this.say("", { name: name || null, id, begins: this.calls > 0 });
    this.calls += 1;
  }

  /**
   * Take white space; which of these literals comes now, or null.
   * @param {...string} literals
   * @returns {Steps<string | null>}
   */
  *starts(...literals) {
    for (;;) {
      const rest = trimStart(this.text.slice(this.at));
      this.at = this.text.length - rest.length;
      if (this.end || !literals.some((one) => one.startsWith(rest) && one !== rest)) {
        return literals.find((one) => rest.startsWith(one)) ?? null;
      }
      yield* this.more();
    }
  }

  /**
   * Take white space, and one of these literals if it comes now; returns it.
   * @param {...string} literals
   * @returns {Steps<string | null>}
   */
  *skip(...literals) {
    const literal = yield* this.starts(...literals);
    this.at += literal === null ? 0 : literal.length;
    return literal;
  }

  /**
   * Where one of these literals comes first, and which; -1 and "" if none does.
   * @param {string[]} literals
   * @returns {[number, string]}
   */
  next(literals) {
    /** @type {[number, string]} */
    let first = [-1, ""];
    for (const one of literals) {
      const at = this.text.indexOf(one, this.at);
      if (at >= 0 && (first[0] < 0 || at < first[0] || (at === first[0] && one < first[1]))) first = [at, one];
    }
    return first;
  }

  /**
   * How many characters at the end may be the beginning of one of these literals.
   * @param {string[]} literals
   */
  overlap(literals) {
    return this.end ? 0 : Math.max(0, ...literals.map((it) => overlap(this.text, this.at, it)));
  }

  /**
   * Take the text up to one of these literals, and the literal; returns both.
   * @param {...string} literals
   * @returns {Steps<[string, string]>}
   */
  *until(...literals) {
    let before = "";
    for (;;) {
      const [index, literal] = this.next(literals);
      const at = literal ? index : this.text.length - this.overlap(literals);
      before += this.text.slice(this.at, at);
      this.at = at + literal.length;
      if (literal) return [before, literal];
      yield* this.more();
    }
  }

  /**
   * Pass text on up to `close`, or to what stops it, which is not taken; only what may be the beginning
   * of either is held back.
   * @param {string} close
   * @returns {Steps<void>}
   */
  *stream(close) {
    for (;;) {
      const ends = [close, ...this.stops];
      const [at, end] = this.next(ends);
      this.#pass(end ? at : this.text.length - this.overlap(ends));
      if (end) {
        this.at += end === close ? close.length : 0;
        return;
      }
      yield* this.more();
    }
  }

  /** Pass text on up to a place. @param {number} upto */
  #pass(upto) {
    if (upto <= this.at) return;
    const text = this.text.slice(this.at, upto);
    this.at = upto;
    this.say(text);
  }

  /**
   * Pass one JSON value on as it comes, without the white space before it. Returns true if it has
   * ended. One of `closes` outside of a string ends it, too; it is not taken. The value is broken then.
   * @param {...string} closes
   * @returns {Steps<boolean>}
   */
  *json(...closes) {
    const span = new JsonSpan(this.repair);
    let rest = trimStart(this.text.slice(this.at));
    while (!rest) {
      yield* this.more();
      rest = trimStart(this.text.slice(this.at));
    }
    this.at = this.text.length - rest.length;
    while (!span.isDone) {
      const [at, close] = this.next(closes);
      const limit = close ? at : this.text.length - this.overlap(closes);
      const upto = span.take(this.text.slice(0, limit), this.at);
      this.#pass(upto);
      if (span.isDone) break;
      if (close && upto === limit) {
        if (!span.inString) return false;
        span.take(close, 0); // it is part of a string
        this.say(close);
        this.at += close.length;
      } else if (this.end && span.started && !span.inString) {
        return false;
      } else {
        yield* this.more();
      }
    }
    return true;
  }

  /**
   * Take the text up to `close`, which should be white space. Anything else is passed on, so that the
   * call fails in sight.
   * @param {string} close
   * @returns {Steps<void>}
   */
  *rest(close) {
    const [text, end] = yield* this.until(close, ...this.breaks);
    if (end !== close) {
      this.at -= end.length;
      throw new Broken();
    }
    if (trim(text)) this.say(text);
  }

  /** Take one complete JSON value and return it; undefined if it is not JSON. @returns {Steps<any>} */
  *string() {
    const span = new JsonSpan(this.repair);
    let taken = "";
    while (!span.isDone) {
      const upto = span.take(this.text, this.at);
      taken += this.text.slice(this.at, upto);
      this.at = upto;
      if (!span.isDone) yield* this.more();
    }
    const text = trim(taken);
    try {
      // A string of Python's is the same in JSON, but for some escapes.
      return text.startsWith("'") ? pythonString(text) : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  /**
   * Read one call: an object with a name and arguments, in any order. What closes the section ends a
   * broken one; it is not taken.
   * @param {...string} close
   * @returns {Steps<void>}
   */
  *object(...close) {
    let depth = 0;
    let begins = true;
    let separated = true;
    const before = this.calls;
    this.#named = this.#argued = false;
    const quotes = this.repair ? ['"', "'"] : ['"'];
    for (;;) {
      const mark = yield* this.skip("{", "}", ",", ...quotes, ...close);
      if (mark === "{") {
        depth += 1;
        if (!begins) continue;
        this.say("", { begins: this.calls > 0 });
        this.calls += 1;
        begins = false;
      } else if (mark === "}") {
        depth -= 1;
        if (depth !== 0) continue;
        this.say("", { closed: true });
        return;
      } else if (mark === ",") {
        separated = true;
      } else if (mark !== null && quotes.includes(mark)) {
        if (!separated) this.say(mark); // the arguments have ended too early: the call fails in sight
        this.at -= 1;
        separated = yield* this.#member(close);
      } else if (mark !== null) {
        // Only the call's own bracket is missing; else the call fails in sight.
        this.at -= mark.length;
        this.say(this.#argued ? "" : mark, { closed: this.#argued });
        return;
      } else if (this.at === this.text.length) {
        yield* this.more();
      } else {
        // Not JSON: pass it on as it is, so that the call fails in sight.
        this.say(this.text[this.at]);
        this.at += 1;
        if (begins && before === this.calls) return;
      }
    }
  }

  /**
   * Read a member of a call. Returns true if its first member follows, false after it.
   * @param {string[]} close
   * @returns {Steps<boolean>}
   */
  *#member(close) {
    const key = yield* this.string();
    yield* this.skip(":");
    if (["arguments", "parameters", "args", "input"].includes(key)) {
      if (this.#argued) this.say(","); // a second time: the call fails in sight
      if ((yield* this.starts('"', ...(this.repair ? ["'"] : []))) !== null) {
        const text = yield* this.string(); // JSON inside a JSON string
        this.say(typeof text === "string" ? text : "");
        this.#argued = true;
      } else {
        this.#argued = yield* this.json(...close);
      }
    } else if (key === "function" && (yield* this.starts("{")) !== null) {
      return true; // its members are those of the call; the object is left with its bracket
    } else if (["name", "id", "function", "tool"].includes(key)) {
      const value = yield* this.string();
      if (typeof value === "string" && key !== "id" && this.#named) {
        this.say(value); // a second name: the call fails in sight
      } else if (typeof value === "string") {
        this.#named ||= key !== "id";
        this.say("", key === "id" ? { id: value } : { name: value || null });
      }
    } else {
      yield* this.string();
    }
    return false;
  }

  /** Calls as JSON objects, one after another or in a list, up to a closing tag. @returns {Steps<void>} */
  *objects() {
    const inList = (yield* this.skip("[")) === "[";
    for (;;) {
      const mark = yield* this.starts("{", "]", ...this.between, ...this.close);
      if (mark === "{") {
        yield* this.object(...this.close, ...this.breaks);
      } else if (mark !== null && this.between.includes(mark)) {
        yield* this.skip(mark);
      } else if (mark === "]" && inList) {
        yield* this.skip(mark);
        if (this.close.length !== 0) yield* this.skip(...this.close);
        return;
      } else if (mark !== null && this.close.includes(mark)) {
        yield* this.skip(mark);
        return;
      } else {
        if (this.close.length !== 0 && this.calls === 0) yield* this.until(...this.close);
        return;
      }
    }
  }

  /**
   * Read a call from behind `<function=`. A parameter that was not closed ends where the next one
   * begins, or the function ends.
   * @returns {Steps<void>}
   */
  *function() {
    const [name] = yield* this.until(">");
    this.call(bare(trim(name)));
    const end = "</function>";
    yield* this.parameters("<parameter=", "</parameter>", end, ["<parameter=", end]);
    this.say("", { closed: true });
  }

  /**
   * Read parameters that are written as XML, or as one JSON object, up to `last`; they become one JSON
   * object. What is neither is passed on, so that the call fails in sight. `opening` is the beginning
   * of a parameter's tag, before its name. `stops` end a parameter that was not closed.
   * @param {string} opening
   * @param {string} closing
   * @param {string} last
   * @param {string[]} [stops]
   * @returns {Steps<void>}
   */
  *parameters(opening, closing, last, stops = []) {
    if ((yield* this.starts("{", opening, last)) === "{") {
      yield* this.json(last);
      yield* this.rest(last);
      return;
    }
    let written = 0;
    let mark = yield* this.skip(opening, last);
    while (mark === opening) {
      const [tag] = yield* this.until(">");
      const name = attribute(tag) || bare(trim(tag).split(" ", 1)[0]);
      this.say(`${written ? "," : "{"}${JSON.stringify(name)}:`);
      written += 1;
      yield* this.value(closing, tag.includes('string="true"'), stops);
      mark = yield* this.skip(opening, last);
    }
    if (mark === null) yield* this.rest(last);
    this.say(written ? "}" : "{}");
  }

  /**
   * Read the text of a parameter as a JSON value; text that can only be a string is passed on as it
   * comes. One line break at either end is not part of it.
   * @param {string} closing
   * @param {boolean} [isText]
   * @param {string[]} [stops]
   * @returns {Steps<void>}
   */
  *value(closing, isText = false, stops = []) {
    let rest = trimStart(this.text.slice(this.at));
    while (!rest && this.text.length < MOST_SPACE) {
      yield* this.more();
      rest = trimStart(this.text.slice(this.at));
    }
    const ends = [closing, ...stops];
    if (rest && !isText && ('"{[-0123456789tfnTFN'.includes(rest[0]) || closing.startsWith(rest[0]))) {
      const [text, end] = yield* this.until(...ends);
      this.at -= end === closing ? 0 : end.length;
      this.say(asJson(text));
      return;
    }
    if (this.text.startsWith("\n", this.at)) this.at += 1;
    this.say('"');
    for (;;) {
      const [at, end] = this.next(ends);
      let upto = this.text.length - this.overlap([...ends, ...ends.map((it) => `\n${it}`)]);
      if (end) upto = at > this.at && this.text[at - 1] === "\n" ? at - 1 : at;
      if (upto > this.at) {
        this.say(JSON.stringify(this.text.slice(this.at, upto)).slice(1, -1));
        this.at = upto;
      }
      if (end) {
        this.at = end === closing ? at + end.length : at;
        this.say('"');
        return;
      }
      yield* this.more();
    }
  }
}

/** Without the quotes around it. @param {string} text */
function bare(text) {
  return text.replace(/^["']+|["']+$/g, "");
}

/** The `name` of a tag, in quotes of either kind or without; null if it has none. @param {string} tag */
function attribute(tag) {
  const match = ATTRIBUTE.exec(tag);
  return match && (match[1] ?? match[2] ?? match[3]);
}

/** A parameter's text as JSON: what is JSON already stays, anything else is a string. @param {string} text */
function asJson(text) {
  const stripped = trim(text);
  try {
    JSON.parse(stripped);
    return stripped;
  } catch {
    const named = new Map([
      ["True", "true"],
      ["False", "false"],
      ["None", "null"],
    ]).get(stripped);
    return named ?? JSON.stringify(text.replace(/^\n/, "").replace(/\n$/, ""));
  }
}

class Reasoning extends Reader {
  /** @type {"reasoning"} */
  kind = "reasoning";

  /** @param {string} closing */
  constructor(closing) {
    super();
    this.closing = closing;
  }

  *script() {
    yield* this.stream(this.closing);
    this.say("", { closed: true });
  }
}

/** Reasoning from the beginning of the text on: the prompt had its opening tag. */
class OpenReasoning extends Reasoning {
  *script() {
    yield* this.skip("<think>");
    yield* super.script();
  }
}

/** A JSON value up to a closing tag, which counts only outside of strings. */
class Json extends Reader {
  /** @type {"json"} */
  kind = "json";

  /** @param {string} closing */
  constructor(closing) {
    super();
    this.closing = closing;
  }

  *script() {
    yield* this.json(this.closing);
    yield* this.until(this.closing);
    this.say("", { closed: true });
  }
}

/** A fenced block: its first line names the language. */
class Fence extends Json {
  constructor() {
    super("```");
  }

  *script() {
    yield* this.until("\n");
    yield* super.script();
  }
}

/** Calls as JSON objects. Without `close` the section ends where no other call follows. */
class Objects extends Reader {
  /** @param {...string} close */
  constructor(...close) {
    super();
    this.close = close;
  }

  *script() {
    yield* this.objects();
  }
}

/** `<tool_call>`: an object (Hermes), a function tag (Qwen), or a name and pairs (GLM). */
class ToolCallTag extends Reader {
  close = [CALL_END];
  breaks = [CALL];
  between = [",", ";", "```"];

  *script() {
    yield* this.skip("```json", "```");
    const mark = yield* this.starts("{", "[", "<function=");
    if (mark === "{" || mark === "[") {
      yield* this.objects();
    } else if (mark === "<function=") {
      while ((yield* this.skip("<function=")) !== null) yield* this.function();
      yield* this.skip(CALL_END);
    } else {
      yield* this.#glm();
    }
  }

  /** @returns {Steps<void>} */
  *#glm() {
    const [name, first] = yield* this.until("\n", "<arg_key>", CALL_END);
    /** @type {string | null} */
    let mark = first;
    this.call(trim(name));
    let written = 0;
    while (mark !== CALL_END) {
      if (mark === "<arg_key>") {
        const [key] = yield* this.until("</arg_key>");
        yield* this.until("<arg_value>");
        this.say(`${written ? "," : "{"}${JSON.stringify(trim(key))}:`);
        written += 1;
        yield* this.value("</arg_value>");
      }
      mark = yield* this.starts("<arg_key>", CALL_END, CALL);
      if (mark === null) return; // malformed: the call stays open, and is truncated
      if (mark === CALL) break; // another call begins: this one has ended without its tag
      this.at += mark.length;
    }
    this.say(written ? "}" : "{}", { closed: true });
  }
}

/** `<function=NAME>`: JSON (Llama) or parameters (Qwen), up to `</function>`. */
class FunctionTag extends Reader {
  *script() {
    yield* this.function();
  }
}

/** `[TOOL_CALLS]`: a list of objects, or NAME[ARGS]{…}, or NAME{…}. */
class Mistral extends Reader {
  *script() {
    if ((yield* this.starts("[")) !== null) {
      yield* this.objects();
      return;
    }
    const [name, mark] = yield* this.until("[ARGS]", "[CALL_ID]", "{");
    let id = null;
    if (mark === "[CALL_ID]") [id] = yield* this.until("[ARGS]");
    else if (mark === "{") this.at -= 1;
    this.call(trim(name), id && trim(id));
    yield* this.json("[TOOL_CALLS]");
    this.say("", { closed: true });
  }
}

/** `<|python_tag|>`: objects with a name and parameters. */
class Llama extends Reader {
  close = ["<|eom_id|>", "<|eot_id|>"];

  *script() {
    do yield* this.object(...this.close);
    while ((yield* this.skip(";", ...this.close)) === ";");
  }
}

/** Calls between tags of their own: a type, a name and a fenced block, or a name and JSON. */
class DeepSeek extends Reader {
  /** @param {string} closing */
  constructor(closing) {
    super();
    this.closing = closing;
  }

  *script() {
    const [begin, end] = ["<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"];
    while ((yield* this.until(begin, this.closing))[1] === begin) {
      let [name] = yield* this.until("<｜tool▁sep｜>");
      if (trim(name) === "function") [name] = yield* this.until("\n");
      this.call(trim(name));
      const fenced = yield* this.skip("```json", "```");
      yield* this.json(end);
      if (fenced !== null) yield* this.skip("```");
      yield* this.rest(end);
      this.say("", { closed: true });
    }
  }
}

/** Calls whose id is `functions.NAME:NUMBER`. */
class Kimi extends Reader {
  *script() {
    const [begin, close] = ["<|tool_call_begin|>", "<|tool_calls_section_end|>"];
    while ((yield* this.until(begin, close))[1] === begin) {
      const [text] = yield* this.until("<|tool_call_argument_begin|>");
      const id = trim(text);
      this.call(id.replace(/^functions\.|:\d+$/g, ""), id);
      yield* this.json("<|tool_call_end|>");
      yield* this.rest("<|tool_call_end|>");
      this.say("", { closed: true });
    }
  }
}

/** `<invoke name="NAME">` with parameters; some models put a prefix before their tags. */
class Invokes extends Reader {
  /**
   * @param {string} section
   * @param {string} [prefix]
   */
  constructor(section, prefix = "") {
    super();
    this.closing = `</${section}>`;
    this.prefix = prefix;
  }

  *script() {
    const it = this.prefix;
    while ((yield* this.until(`<${it}invoke `, this.closing))[1] !== this.closing) {
      const [tag] = yield* this.until(">");
      this.call(attribute(tag) ?? "");
      yield* this.parameters(`<${it}parameter`, `</${it}parameter>`, `</${it}invoke>`);
      this.say("", { closed: true });
    }
  }
}

/** `[f(a=1), g()]`: calls as Python writes them, read when the list is complete. */
class Pythonic extends Reader {
  *script() {
    let calls = this.#callsIn(this.text);
    while (calls === null) {
      if (this.text.length > MOST_PYTHON) throw new Over();
      yield* this.more();
      calls = this.#callsIn(this.text);
    }
    for (const [name, text] of calls) {
      this.call(name);
      this.say(text, { closed: true });
    }
  }

  /** The calls of the shortest list that is complete; takes its text. @param {string} text */
  #callsIn(text) {
    for (let at = text.indexOf("]"); at >= 0; at = text.indexOf("]", at + 1)) {
      try {
        const calls = pythonCalls(`[${text.slice(0, at + 1)}`);
        this.at = at + 1;
        return calls;
      } catch (error) {
        if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
      }
    }
    return null;
  }
}

/** The readers that the table names. @type {{[name: string]: new (...settings: any[]) => Reader}} */
export const READERS = {
  reasoning: Reasoning,
  "open reasoning": OpenReasoning,
  json: Json,
  fence: Fence,
  objects: Objects,
  "tool call": ToolCallTag,
  function: FunctionTag,
  mistral: Mistral,
  llama: Llama,
  deepseek: DeepSeek,
  kimi: Kimi,
  invokes: Invokes,
  pythonic: Pythonic,
};

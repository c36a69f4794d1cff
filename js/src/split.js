/**
 * Texts of models that write everything into them: `import "jsonrill/split"` once, and `parts` takes
 * `split`. It divides the text of an answer into prose, reasoning, JSON blocks and tool calls.
 */

import { Document } from "./build/document.js";
import { Part, useDivider } from "./answers/parts.js";
import { Splitter } from "./answers/splitter.js";

export { FORMATS } from "./answers/splitter.js";

/** @typedef {import("./answers/splitter.js").Segment} Segment */
/** @typedef {import("./answers/parts.js").DividerHost} DividerHost */
/** @typedef {{kind: import("./answers/parts.js").PartKind, index: number, text: string, document: Document | null, error: string | null}} Entry */

/** The segments of an answer's texts → parts. */
class Divider {
  #options;
  #host;
  #splitter;
  // The parts of a text, by the number of the segment; and how many texts have ended.
  /** @type {Map<number, Entry | Part>} */
  #segments = new Map();
  #texts = 0;
  #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The part that is not closed. @type {Entry | null} */
  #open = null;

  /**
   * @param {import("./answers/parts.js").PartsOptions} options
   * @param {DividerHost} host
   */
  constructor(options, host) {
    this.#options = options;
    this.#host = host;
    this.#splitter = this.#newSplitter(true);
  }

  /** @param {boolean} first */
  #newSplitter(first) {
    const { split = true, repair = false } = this.#options;
    return new Splitter(split, repair !== false, first);
  }

  /** The parts that a piece of text makes. @param {any} piece */
  feed(piece) {
    const text = typeof piece === "string" ? piece : this.#utf8.decode(piece, { stream: true });
    return this.#divided(this.#splitter.feed(text));
  }

  /** The text has ended: what follows is divided anew. */
  end() {
    if (!this.#splitter.fed) return [];
    const parts = this.#divided(this.#splitter.flush());
    this.#splitter = this.#newSplitter(false);
    this.#segments.clear();
    this.#texts += 1;
    return parts;
  }

  /**
   * The last part of the open text; one that was cut is not complete.
   * @param {import("./errors.js").Cut | null} [cut]
   */
  closeText(cut = null) {
    const entry = this.#open;
    this.#open = null;
    if (entry === null) return [];
    if (entry.document === null) {
      entry.error = cut?.message ?? null;
    } else if (entry.error === null) {
      try {
        entry.document.flush(cut);
      } catch (error) {
        entry.error = /** @type {Error} */ (error).message;
      }
    }
    return [part(entry, "", entry.error === null, "")];
  }

  /** @param {Segment[]} segments */
  #divided(segments) {
    return segments.flatMap((it) => (it.kind === "call" ? this.#call(it) : this.#segment(it)));
  }

  /**
   * @param {Segment} segment
   * @returns {Part[]}
   */
  #segment({ kind, number, content, raw, closed }) {
    let entry = /** @type {Entry | undefined} */ (this.#segments.get(number));
    /** @type {Part[]} */
    const parts = [];
    if (entry === undefined) {
      parts.push(...this.closeText());
      const { numbers, limits, repair, onRepair } = this.#options;
      const document = kind === "json" ? new Document({ numbers, limits, repair, onRepair }) : null;
      entry = { kind, index: this.#host.index(), text: "", document, error: null };
      this.#segments.set(number, entry);
      this.#open = entry;
    }
    if (entry.document !== null && entry.error === null) {
      try {
        entry.document.feed(content);
        if (closed) entry.document.flush();
      } catch (error) {
        entry.error = /** @type {Error} */ (error).message;
      }
    }
    const isComplete = closed && entry.error === null;
    if (content || raw || isComplete) {
      entry.text += content;
      parts.push(part(entry, content, isComplete, raw));
    }
    if (closed) this.#open = null;
    return parts;
  }

  /** The parts of a call that the model wrote as text. @param {Segment} segment */
  #call({ number, content, raw, name, id, closed }) {
    const parts = this.#host.call({
      kind: "call",
      // An id that comes twice names two calls, whatever the model means.
      id: id !== null && this.#host.isKnown(id) ? null : id,
      index: null,
      name,
      text: content || null,
      alias: `text-${this.#texts}-${number}`,
      end: closed ? { sure: true } : undefined,
    });
    const last = parts.at(-1);
    if (last !== undefined) {
      last.raw = raw;
      this.#segments.set(number, last);
    } else if (raw) {
      const { index, call } = /** @type {Part} */ (this.#segments.get(number));
      const more = new Part("call", index, "", call?.completeArgs ?? false, call, "");
      more.raw = raw;
      parts.push(more);
    }
    return parts;
  }
}

/**
 * @param {Entry} entry
 * @param {string} delta
 * @param {boolean} complete
 * @param {string} raw
 */
function part({ kind, index, text, document, error }, delta, complete, raw) {
  const result = new Part(kind, index, delta, complete, null, text, document);
  result.raw = raw;
  result.error = error;
  return result;
}

useDivider((options, host) => new Divider(options, host));

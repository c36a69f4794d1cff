/**
 * One module for each provider: its events in, statements out. This file lists the modules and
 * recognises which provider an event is from.
 */

import { isObject, own } from "../parse/values.js";
import * as agUi from "./ag-ui.js";
import * as anthropic from "./anthropic.js";
import * as gemini from "./gemini.js";
import * as jsonrill from "./jsonrill.js";
import * as openaiChat from "./openai-chat.js";
import * as openaiResponses from "./openai-responses.js";
import * as parts from "./parts.js";
import { failed } from "./statements.js";
import * as vercel from "./vercel.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */
/** @typedef {import("./statements.js").Translate} Translate */
/**
 * What a module has: `accepts` tells if an event is its provider's; one that remembers events makes a
 * new `translation` for each stream. `ends: false`: no event says that an answer is at its end.
 * @typedef {{accepts: (event: Fields) => boolean, translate?: unknown,
 *   translation?: () => Translate, ends?: boolean}} Page
 */
/**
 * @typedef {"openai_chat" | "anthropic" | "openai_responses" | "jsonrill" | "parts" | "gemini" | "ag_ui"
 *   | "vercel"} ProviderName
 */
/**
 * `"auto"` recognises the provider; a function reads events of one's own.
 * @typedef {"auto" | ProviderName | Translate} Provider
 */

// An event is offered to them in this order: those that recognise theirs most surely come first.
/** @type {Map<ProviderName, Page>} */
const PROVIDERS = new Map(
  /** @type {[ProviderName, Page][]} */ ([
    ["openai_chat", openaiChat],
    ["anthropic", anthropic],
    ["openai_responses", openaiResponses],
    ["jsonrill", jsonrill],
    ["parts", parts],
    ["gemini", gemini],
    ["ag_ui", agUi],
    ["vercel", vercel],
  ]),
);

/**
 * Events → statements.
 *
 * With `auto` the provider of the event before reads an event if it accepts it, else the first that
 * does. An event that none accepts (an `error`) is read by the provider of the event before; if it is
 * the first event, only an error is read.
 */
export class Reader {
  /** @type {Map<ProviderName, Translate>} */
  #pages = new Map();
  /** @type {(event: Fields) => boolean} */
  #accepts = () => false;
  /** @type {Translate} */
  #translate = onlyErrors;

  /**
   * @param {Provider} [provider]
   */
  constructor(provider = "auto") {
    this.named = provider;
    /** The provider of the last event; null if it is not known yet. @type {ProviderName | null} */
    this.provider = null;
    if (provider === "auto") return;
    if (typeof provider === "function") {
      this.#translate = provider;
    } else {
      if (!PROVIDERS.has(provider)) {
        const names = [...PROVIDERS.keys()].join(", ");
        throw new TypeError(`provider is auto, ${names} or a function, not ${String(provider)}`);
      }
      this.#switchTo(provider);
    }
    this.#accepts = () => true;
  }

  /** True if the provider is known, and has an event for the end of an answer. */
  get ends() {
    return this.provider !== null && !this.endsWithSource;
  }

  /** True if the provider is known, and the end of the source is that of the answer. */
  get endsWithSource() {
    return this.provider !== null && PROVIDERS.get(this.provider)?.ends === false;
  }

  /**
   * The statements of an event: an object, or JSON text.
   * @param {unknown} event
   * @returns {Statement[]}
   */
  feed(event) {
    const known = plain(event);
    if (known === null) return [];
    if (!this.#accepts(known)) {
      const name = pageOf(known);
      if (name !== null) this.#switchTo(name);
    }
    return this.#translate(known);
  }

  /** @param {ProviderName} name */
  #switchTo(name) {
    const { accepts, translate, translation } = /** @type {Page} */ (PROVIDERS.get(name));
    const page = this.#pages.get(name) ?? translation?.() ?? /** @type {Translate} */ (translate);
    this.#pages.set(name, page);
    this.provider = name;
    this.#accepts = accepts;
    this.#translate = page;
  }
}

/**
 * The statements of an event before the provider is known.
 * @param {Fields} event
 * @returns {Statement[]}
 */
function onlyErrors({ error }) {
  if (!isObject(error)) return [];
  return [failed(error)];
}

/**
 * The name of the provider that this event is from; null if it is not known.
 * @param {unknown} event
 */
export function recognise(event) {
  const known = plain(event);
  return known === null ? null : pageOf(known);
}

/** @param {Fields} event */
function pageOf(event) {
  for (const [name, { accepts }] of PROVIDERS) if (accepts(event)) return name;
  return null;
}

/**
 * The event as an object; null for what cannot be one. Unwraps the events that some clients wrap in
 * an object with `data`.
 * @param {unknown} event
 * @returns {Fields | null}
 */
function plain(event) {
  let known = event;
  if (typeof event === "string") {
    try {
      known = JSON.parse(event);
    } catch {
      return null;
    }
  }
  if (!isObject(known)) return null;
  // Own, because the events of some clients have a property `data` that makes something up.
  const data = own(known, "data");
  return isObject(data) && typeof known.type !== "string" && !("run_id" in known) ? data : known;
}

/**
 * One module for each provider: its events in, statements out. This file lists the modules and
 * recognises which provider an event is from.
 */

import { isObject } from "../parse/values.js";
import * as agUi from "./ag-ui.js";
import * as anthropic from "./anthropic.js";
import * as gemini from "./gemini.js";
import * as jsonrill from "./jsonrill.js";
import * as openaiChat from "./openai-chat.js";
import * as openaiResponses from "./openai-responses.js";
import * as parts from "./parts.js";
import { failed } from "./fields.js";
import * as vercel from "./vercel.js";

/** @import { Fields } from "./fields.js" */
/** @import { Statement, Translate } from "./statements.js" */
/**
 * A provider's module: `accepts` recognises its events; `translation` makes a translator for each stream, if it has
 * to remember events. `ends: false`: no event marks the end of an answer.
 * @typedef {{accepts: (event: Fields) => boolean, translate?: unknown,
 *   translation?: () => Translate, ends?: boolean}} Module
 */
/**
 * @typedef {"openai_chat" | "anthropic" | "openai_responses" | "jsonrill" | "parts" | "gemini" | "ag_ui"
 *   | "vercel"} ProviderName
 */
/**
 * `"auto"` recognises the provider; a function reads your own events.
 * @typedef {"auto" | ProviderName | Translate} Provider
 */

// In the order in which they are tried: the ones with the most certain signs come first.
/** @type {{[name in ProviderName]: Module}} */
const PROVIDERS = {
  openai_chat: openaiChat,
  anthropic,
  openai_responses: openaiResponses,
  jsonrill,
  parts,
  gemini,
  ag_ui: agUi,
  vercel,
};
const NAMES = /** @type {ProviderName[]} */ (Object.keys(PROVIDERS));

/**
 * Events → statements.
 *
 * With `auto` an event is read by the previous event's provider if that accepts it, else by the first one that does.
 * An event that no provider accepts (an `error`) is also read by the previous event's provider. If it is the first event,
 * only an error is read.
 */
export class Reader {
  /** @type {Map<string, Translate>} */
  #translations = new Map();
  /** @type {Translate} */
  #translate = onlyErrors;

  /** @param {Provider} [provider] */
  constructor(provider = "auto") {
    this.named = provider;
    /** The provider of the last event; null if it is not known yet. @type {ProviderName | null} */
    this.provider = null;
    if (typeof provider === "function") this.#translate = provider;
    else if (Object.hasOwn(PROVIDERS, provider)) this.#switchTo(/** @type {ProviderName} */ (provider));
    else if (provider !== "auto") {
      throw new TypeError(`provider must be auto, ${NAMES.join(", ")} or a function, not ${String(provider)}`);
    }
  }

  /** True if the provider is known, and has an event for the end of an answer. */
  get ends() {
    return this.provider !== null && !this.endsWithSource;
  }

  /** True if the provider is known, and the end of the source ends the answer. */
  get endsWithSource() {
    return this.provider !== null && PROVIDERS[this.provider].ends === false;
  }

  /**
   * Return the statements of an event: an object, or JSON text.
   * @param {unknown} event
   * @returns {Statement[]}
   */
  feed(event) {
    return this.read(plain(event));
  }

  /**
   * Return the statements of an event that `plain` has decoded.
   * @param {Fields | null} known
   */
  read(known) {
    if (known === null) return [];
    if (known.status === "ERROR" && isObject(known.error)) return [failed(known.error)]; // a jsonrill server's
    const isAccepted = this.provider !== null && PROVIDERS[this.provider].accepts(known);
    const name = this.named !== "auto" || isAccepted ? null : recognise(known);
    if (name !== null) this.#switchTo(name);
    return this.#translate(known);
  }

  /** @param {ProviderName} name */
  #switchTo(name) {
    const { translate, translation } = PROVIDERS[name];
    this.#translate = this.#translations.get(name) ?? translation?.() ?? /** @type {Translate} */ (translate);
    this.#translations.set(name, this.#translate);
    this.provider = name;
  }
}

/**
 * Return the statements of an event before the provider is known.
 * @param {Fields} event
 * @returns {Statement[]}
 */
function onlyErrors(event) {
  const error = event.error || (event.type === "error" ? event : null);
  return isObject(error) || typeof error === "string" ? [failed(error)] : [];
}

/** Return the name of the provider that this event is from; null if it is not known. @param {Fields} event */
function recognise(event) {
  return NAMES.find((name) => PROVIDERS[name].accepts(event)) ?? null;
}

/**
 * Return the event as an object; null for what cannot be one. Unwraps the events that some clients wrap in
 * an object with `data`.
 * @param {unknown} event
 * @returns {Fields | null}
 */
export function plain(event) {
  let known = event;
  if (typeof event === "string") {
    try {
      known = JSON.parse(event);
    } catch {
      return null;
    }
  }
  if (!isObject(known)) return null;
  // Only an own property: on the events of some clients `data` is a getter that computes something.
  if (!Object.hasOwn(known, "data")) return known;
  const { data } = known;
  if (typeof data === "string" && "hasId" in known) return plain(data); // a server-sent event
  return isObject(data) && typeof known.type !== "string" && !("run_id" in known) ? data : known;
}

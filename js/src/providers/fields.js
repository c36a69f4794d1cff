/**
 * Helpers for the providers' modules: read fields of events, and make common statements.
 *
 * An event may hold anything. A field of another type than expected counts as absent, so that an odd event never
 * throws.
 */

import { isObject } from "../parse/values.js";
import { REASONS, WORDS } from "./finish.js";

/** @import { Finish, Reason, Statement } from "./statements.js" */
/** @typedef {{[field: string]: any}} Fields */

/**
 * Return the first field that exists: many have a name in camelCase and in snake_case.
 * @param {any} holder
 * @param {...string} names
 */
export function first(holder, ...names) {
  if (!isObject(holder)) return undefined;
  return holder[names.find((name) => holder[name] != null) ?? ""] ?? undefined;
}

/**
 * Return an id, or null. The empty text and the "null" of some clients are not ids.
 * @param {any} holder
 * @param {...string} names
 */
export function asId(holder, ...names) {
  const text = asText(holder, ...names);
  return text === "null" ? null : text;
}

/**
 * @param {any} holder
 * @param {...string} names
 * @returns {number | null}
 */
export function asIndex(holder, ...names) {
  const value = first(holder, ...names);
  return Number.isInteger(value) ? value : null;
}

/**
 * Return a text that is not empty, or null.
 * @param {any} holder
 * @param {...string} names
 * @returns {string | null}
 */
export function asText(holder, ...names) {
  const value = first(holder, ...names);
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * Return the value if it is an object, else an empty object.
 * @param {any} holder
 * @param {...string} names
 * @returns {Fields}
 */
export function asObject(holder, ...names) {
  const value = first(holder, ...names);
  return isObject(value) ? value : {};
}

/**
 * Return the objects in a list; none if this is not a list.
 * @param {any} holder
 * @param {...string} names
 * @returns {Fields[]}
 */
export function items(holder, ...names) {
  const value = first(holder, ...names);
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/**
 * Return a function that checks whether the `type` of an event begins with one of these.
 * @param {...string} prefixes
 * @returns {(event: Fields) => boolean}
 */
export function typed(...prefixes) {
  return ({ type }) => typeof type === "string" && prefixes.some((prefix) => type.startsWith(prefix));
}

/**
 * Return the statement of a text or a thought; none if there is no text.
 * @param {"text" | "reasoning"} kind
 * @param {string | null} text
 * @param {number} [choice]
 * @param {number | string | null} [block]
 * @returns {Statement[]}
 */
export function textOf(kind, text, choice = 0, block = null) {
  return text === null ? [] : [{ kind, text, choice, block }];
}

/**
 * Return the message of an error, which is a text or an object with a `message`.
 * @param {unknown} error
 */
export function errorText(error) {
  return asText({ error }, "error") ?? asText(error, "message") ?? "the provider reported an error";
}

/**
 * Return the statement of the provider's word for why a response has ended. `native` is the word of the provider behind
 * a gateway.
 * @param {unknown} stated
 * @param {{message?: string | null, choice?: number | null, detail?: string | null}} [fields]
 * @param {unknown} [native]
 * @returns {Finish}
 */
export function finished(stated, fields = {}, native = null) {
  const [outer, behind] = [reasonOf(stated), reasonOf(native)];
  const isWorse = behind != null && REASONS.indexOf(behind) > REASONS.indexOf(outer ?? "complete");
  const word = isWorse || outer === null ? (native ?? stated) : stated;
  const reason = isWorse ? behind : outer === undefined ? "lost" : (outer ?? behind ?? null);
  const detail = fields.detail ?? (reason === "error" ? String(word) : null);
  const malformed = reason === "error" && /^malformed/i.test(String(word));
  return { kind: "finish", ...fields, reason, detail, malformed };
}

/**
 * Return what a provider's word means: null if it is not a word, undefined if it is unknown. Spelling does not matter
 * (`MAX_TOKENS`, `max-tokens`).
 * @param {unknown} word
 * @returns {Reason | null | undefined}
 */
function reasonOf(word) {
  if (typeof word !== "string" || word === "") return null;
  const name = word.slice(word.lastIndexOf(".") + 1).toLowerCase();
  return WORDS.get(name.replace(/[^\p{L}\p{N}]/gu, ""));
}

/**
 * Return the statement of a provider's error.
 * @param {unknown} error
 * @returns {Finish}
 */
export function failed(error) {
  return { kind: "finish", reason: "error", detail: errorText(error) };
}

/**
 * Return the statement of a field with token counts; none if it is not an object.
 * @param {Fields} holder
 * @param {...string} names
 * @returns {Statement[]}
 */
export function usage(holder, ...names) {
  const counts = first(holder, ...names);
  return isObject(counts) ? [{ kind: "usage", counts }] : [];
}

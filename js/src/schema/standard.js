/** Standard Schema: what zod, valibot, arktype and others have in common. */

import { InvalidSchema } from "./invalid-schema.js";
import { formatPath } from "../streams/core.js";

/**
 * @typedef {{readonly message: string,
 *   readonly path?: readonly (PropertyKey | {readonly key: PropertyKey})[] | undefined}} Issue
 */
/**
 * @template T
 * @typedef {{readonly value: T, readonly issues?: undefined}
 *   | {readonly issues: readonly Issue[]}} Result
 */
/**
 * A schema that says what a complete value must be, and may convert it to `T`.
 * @template [T=any]
 * @typedef {{readonly "~standard": {readonly version: 1, readonly vendor: string,
 *   readonly validate: (value: unknown) => Result<T> | Promise<Result<T>>,
 *   readonly types?: {readonly input: any, readonly output: T} | undefined}}} StandardSchema
 */

/**
 * What is wrong with a value; undefined if nothing is.
 * @param {StandardSchema} schema
 * @param {unknown} value
 */
export async function issuesOf(schema, value) {
  return (await schema["~standard"].validate(value)).issues;
}

/**
 * The error for a value of which a schema says this.
 * @param {readonly Issue[]} issues
 * @param {unknown} value
 */
export function refusal(issues, value) {
  const [first] = issues;
  const path = (first?.path ?? []).map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "number" ? key : String(key);
  });
  const message = `${first?.message ?? "the schema refuses it"}, in ${formatPath(path)}`;
  return new InvalidSchema(message, path, issues, value);
}

/**
 * What the schema makes of a complete value; InvalidSchema if it refuses it.
 * @template T
 * @param {StandardSchema<T>} schema
 * @param {unknown} value
 * @returns {Promise<T>}
 */
export async function validated(schema, value) {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  throw refusal(result.issues, value);
}

/**
 * What finds what the schema makes of a complete value, as `shown` shows it. Validation begins when it is called, so
 * that a value that is never reached is not refused.
 * @template T
 * @param {StandardSchema<T>} schema
 * @param {unknown} value
 * @param {(value: T) => any} [shown]
 */
export function later(schema, value, shown = (value) => value) {
  return async () => ({ value: shown(await validated(schema, value)) });
}

/**
 * The options of a function that takes a schema in their place.
 * @param {any} options
 */
export function withSchema(options) {
  return options?.["~standard"] ? { schema: options } : options;
}

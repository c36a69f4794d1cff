/** Standard Schema: what zod, valibot, arktype and others have in common. */

import { InvalidSchema } from "../errors.js";
import { formatPath } from "../paths.js";

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
 * Throw a TypeError for what is no schema.
 * @param {any} schema
 */
export function checkSchema(schema) {
  if (schema === undefined || typeof schema?.["~standard"]?.validate === "function") return;
  throw new TypeError("schema is a Standard Schema, as zod, valibot and arktype make them");
}

/**
 * What the schema makes of a complete value; InvalidSchema if it refuses it.
 * @template T
 * @param {StandardSchema<T>} schema
 * @param {unknown} value
 * @returns {Promise<T>}
 */
async function validated(schema, value) {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const [first] = result.issues;
  const path = (first?.path ?? []).map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "number" ? key : String(key);
  });
  const message = `${first?.message ?? "the schema refuses it"}, in ${formatPath(path)}`;
  throw new InvalidSchema(message, path, result.issues, value);
}

/**
 * What the schema makes of a complete value, to be awaited: validation begins then, so that a value
 * that is never reached is not refused.
 * @template T
 * @param {StandardSchema<T>} schema
 * @param {unknown} value
 * @returns {PromiseLike<T>}
 */
export function later(schema, value) {
  return { then: (found, failed) => validated(schema, value).then(found, failed) };
}

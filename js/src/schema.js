/** Standard Schema: what zod, valibot, arktype and others have in common. */

import { InvalidSchema } from "./errors.js";
import { formatPath } from "./paths.js";

/** @import { Path } from "./paths.js" */
/**
 * @typedef {{readonly message: string,
 *   readonly path?: readonly (PropertyKey | {readonly key: PropertyKey})[] | undefined}} Issue
 */
/**
 * @template T
 * @typedef {{readonly value: T, readonly issues?: undefined} | {readonly issues: readonly Issue[]}} Result
 */
/**
 * A schema that validates a complete value, and may convert it to `T`.
 * @template [T=any]
 * @typedef {{readonly "~standard": {readonly version: 1, readonly vendor: string,
 *   readonly validate: (value: unknown) => Result<T> | Promise<Result<T>>,
 *   readonly types?: {readonly input: any, readonly output: T} | undefined}}} StandardSchema
 */

/**
 * Throw a TypeError unless `schema` is undefined or a Standard Schema.
 * @param {any} schema
 */
export function checkSchema(schema) {
  if (schema === undefined || typeof schema?.["~standard"]?.validate === "function") return;
  throw new TypeError("schema must be a Standard Schema");
}

/**
 * Validate a complete value and return the schema's output; InvalidSchema if it is rejected.
 * @template T
 * @param {StandardSchema<T>} schema
 * @param {unknown} value
 * @returns {Promise<T>}
 */
export async function validate(schema, value) {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return result.value;
  const { issues } = result;
  const steps = issues[0]?.path ?? [];
  const path = /** @type {Path} */ (steps.map((step) => (typeof step === "object" ? step.key : step)));
  const message = `${issues[0]?.message}, in ${formatPath(path)}`;
  throw new InvalidSchema(message, issues, { path, value });
}

/** What is a schema; readers without one load nothing more of schemas. */

/**
 * Throw a TypeError for what is no schema.
 * @param {any} schema
 */
export function checkSchema(schema) {
  if (schema === undefined || typeof schema?.["~standard"]?.validate === "function") return;
  throw new TypeError("schema is a Standard Schema, as zod, valibot and arktype make them");
}

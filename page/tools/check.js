/**
 * A value against a JSON Schema, in the browser: what is wrong, and where.
 *
 * The keywords of draft 2020-12 that say something about the value are checked, except those listed
 * in `UNCHECKED`, which are named to the user. The server's check is complete and reports while the
 * value grows; this one needs no server.
 */

import { stringify } from "../../js/src/jsontext.js";
import { isObject } from "../../js/src/parse/values.js";

/** @typedef {import("../../js/src/paths.js").Path} Path */
/** @typedef {{path: Path, message: string}} Violation */

/** A schema that cannot be used, with the reason. */
export class SchemaError extends Error {}

const UNCHECKED = new Set([
  ...["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "contentSchema", "contentEncoding"],
  ...["format", "$recursiveRef", "dependencies"],
]);
const MAX_VIOLATIONS = 100;
const MAX_STEPS = 200_000;

/**
 * What is wrong with a value; `partial`: values may still come, so that what is missing is not wrong.
 * @param {any} schema
 * @param {any} value
 * @returns {{violations: Violation[], unchecked: string[]}}
 */
export function check(schema, value) {
  const checker = new Checker(schema);
  checker.visit(schema, value, []);
  return { violations: checker.violations, unchecked: [...checker.unchecked].sort() };
}

/**
 * The schema in a text; SchemaError if there is none.
 * @param {string} text
 */
export function schemaOf(text) {
  let schema;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new SchemaError(`The schema is not JSON: ${/** @type {Error} */ (error).message}`);
  }
  // The forms in which the providers take a schema.
  for (const name of ["json_schema", "schema", "parameters", "input_schema"]) {
    if (isObject(schema) && isObject(schema[name]) && !("properties" in schema)) schema = schema[name];
  }
  if (!isObject(schema) && typeof schema !== "boolean") throw new SchemaError("A schema is a JSON object, or true or false.");
  return schema;
}

class Checker {
  /** @type {Violation[]} */
  violations = [];
  /** @type {Set<string>} */
  unchecked = new Set();
  _steps = 0;

  /** @param {any} root */
  constructor(root) {
    this._root = root;
  }

  /**
   * True if the value fits; what is wrong is added to the violations.
   * @param {any} schema
   * @param {any} value
   * @param {Path} path
   * @param {number} [depth]
   * @returns {boolean}
   */
  visit(schema, value, path, depth = 0) {
    if (schema === true || (schema === false ? false : !isObject(schema))) return true;
    if (schema === false) return this._wrong(path, "nothing is allowed here");
    this._steps += 1;
    if (this._steps > MAX_STEPS || depth > 200)
      throw new SchemaError("The check takes too long: the schema refers to itself too often.");
    const before = this.violations.length;
    for (const key of Object.keys(schema)) if (UNCHECKED.has(key)) this.unchecked.add(key);
    if (typeof schema.$ref === "string") this.visit(this._resolved(schema.$ref), value, path, depth + 1);
    this._type(schema, value, path);
    if (typeof value === "string") this._string(schema, value, path);
    if (typeof value === "number") this._number(schema, value, path);
    if (Array.isArray(value)) this._array(schema, value, path, depth);
    else if (isObject(value)) this._object(schema, value, path, depth);
    this._combined(schema, value, path, depth);
    return this.violations.length === before;
  }

  /**
   * @param {any} schema
   * @param {any} value
   * @param {Path} path
   * @param {number} depth
   */
  _fits(schema, value, path, depth) {
    const { violations } = this;
    this.violations = [];
    const fits = this.visit(schema, value, path, depth + 1);
    this.violations = violations;
    return fits;
  }

  /**
   * @param {Path} path
   * @param {string} message
   */
  _wrong(path, message) {
    if (this.violations.length < MAX_VIOLATIONS) this.violations.push({ path, message });
    return false;
  }

  /** @param {string} reference */
  _resolved(reference) {
    if (reference === "#") return this._root;
    if (!reference.startsWith("#/")) throw new SchemaError(`The schema refers to ${reference}, which is not part of it.`);
    let target = this._root;
    for (const step of decodeURIComponent(reference.slice(2)).split("/")) {
      const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
      target = target !== null && typeof target === "object" && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    if (target === undefined) throw new SchemaError(`The schema refers to ${reference}, which is not there.`);
    return target;
  }

  /**
   * @param {any} schema
   * @param {any} value
   * @param {Path} path
   */
  _type(schema, value, path) {
    const { type } = schema;
    if (type !== undefined) {
      const types = Array.isArray(type) ? type : [type];
      if (!types.some((name) => hasType(value, name))) {
        this._wrong(path, `${types.join(" or ")} is wanted, but this is ${article(typeOf(value))}`);
      }
    }
    if (Array.isArray(schema.enum) && !schema.enum.some((/** @type {any} */ one) => equal(one, value))) {
      const listed = Array.from(schema.enum.slice(0, 6), (one) => stringify(one)).join(", ");
      this._wrong(path, `one of ${listed}${schema.enum.length > 6 ? ", …" : ""} is wanted`);
    }
    if ("const" in schema && !equal(schema.const, value)) this._wrong(path, `${stringify(schema.const)} is wanted`);
  }

  /**
   * @param {any} schema
   * @param {string} value
   * @param {Path} path
   */
  _string(schema, value, path) {
    const length = [...value].length;
    if (length < schema.minLength) this._wrong(path, `at least ${schema.minLength} characters are wanted`);
    if (length > schema.maxLength) this._wrong(path, `at most ${schema.maxLength} characters are wanted`);
    if (typeof schema.pattern === "string" && !patternOf(schema.pattern).test(value)) {
      this._wrong(path, `the pattern ${schema.pattern} is wanted`);
    }
  }

  /**
   * @param {any} schema
   * @param {number} value
   * @param {Path} path
   */
  _number(schema, value, path) {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
    if (value < minimum) this._wrong(path, `at least ${minimum} is wanted`);
    if (value > maximum) this._wrong(path, `at most ${maximum} is wanted`);
    if (value <= exclusiveMinimum) this._wrong(path, `more than ${exclusiveMinimum} is wanted`);
    if (value >= exclusiveMaximum) this._wrong(path, `less than ${exclusiveMaximum} is wanted`);
    if (multipleOf > 0) {
      const times = value / multipleOf;
      const isWhole = Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
      if (!Number.isFinite(times) || !isWhole) this._wrong(path, `a multiple of ${multipleOf} is wanted`);
    }
  }

  /**
   * @param {any} schema
   * @param {any[]} value
   * @param {Path} path
   * @param {number} depth
   */
  _array(schema, value, path, depth) {
    const { minItems, maxItems, uniqueItems, contains, minContains = 1, maxContains = Infinity } = schema;
    if (value.length < minItems) this._wrong(path, `at least ${minItems} elements are wanted`);
    if (value.length > maxItems) this._wrong(path, `at most ${maxItems} elements are wanted`);
    if (uniqueItems === true && new Set(value.map(canonical)).size < value.length) this._wrong(path, "two elements are the same");
    const first = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : []);
    const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items;
    value.forEach((item, at) => {
      if (at < first.length) this.visit(first[at], item, [...path, at], depth + 1);
      else if (rest !== undefined) this.visit(rest, item, [...path, at], depth + 1);
    });
    if (contains === undefined) return;
    const count = value.filter((item, at) => this._fits(contains, item, [...path, at], depth)).length;
    if (count < minContains || count > maxContains) this._wrong(path, `${count} elements fit “contains”`);
  }

  /**
   * @param {any} schema
   * @param {{[key: string]: any}} value
   * @param {Path} path
   * @param {number} depth
   */
  _object(schema, value, path, depth) {
    const { properties = {}, patternProperties = {}, additionalProperties, propertyNames } = schema;
    const keys = Object.keys(value);
    if (keys.length < schema.minProperties) this._wrong(path, `at least ${schema.minProperties} fields are wanted`);
    if (keys.length > schema.maxProperties) this._wrong(path, `at most ${schema.maxProperties} fields are wanted`);
    for (const key of schema.required ?? []) {
      if (!Object.hasOwn(value, key)) this._wrong(path, `the field ${JSON.stringify(key)} is missing`);
    }
    for (const [key, needs] of Object.entries(schema.dependentRequired ?? {})) {
      if (!Object.hasOwn(value, key)) continue;
      for (const need of /** @type {string[]} */ (needs)) {
        if (!Object.hasOwn(value, need)) this._wrong(path, `the field ${JSON.stringify(need)} is missing`);
      }
    }
    for (const [key, below] of Object.entries(schema.dependentSchemas ?? {})) {
      if (Object.hasOwn(value, key)) this.visit(below, value, path, depth + 1);
    }
    const patterns = Object.entries(patternProperties).map(
      ([pattern, below]) => /** @type {const} */ ([patternOf(pattern), below]),
    );
    for (const key of keys) {
      const inner = [...path, key];
      if (propertyNames !== undefined) this.visit(propertyNames, key, inner, depth + 1);
      let known = false;
      if (Object.hasOwn(properties, key)) {
        known = true;
        this.visit(properties[key], value[key], inner, depth + 1);
      }
      for (const [pattern, below] of patterns) {
        if (!pattern.test(key)) continue;
        known = true;
        this.visit(below, value[key], inner, depth + 1);
      }
      if (known || additionalProperties === undefined) continue;
      if (additionalProperties === false) this._wrong(inner, "the schema has no such field");
      else this.visit(additionalProperties, value[key], inner, depth + 1);
    }
  }

  /**
   * @param {any} schema
   * @param {any} value
   * @param {Path} path
   * @param {number} depth
   */
  _combined(schema, value, path, depth) {
    for (const each of schema.allOf ?? []) this.visit(each, value, path, depth + 1);
    if (Array.isArray(schema.anyOf) && !schema.anyOf.some((/** @type {any} */ one) => this._fits(one, value, path, depth))) {
      this._wrong(path, `none of ${schema.anyOf.length} alternatives fits`);
    }
    if (Array.isArray(schema.oneOf)) {
      const count = schema.oneOf.filter((/** @type {any} */ one) => this._fits(one, value, path, depth)).length;
      if (count !== 1)
        this._wrong(path, `one of ${schema.oneOf.length} alternatives is wanted, but ${count || "none"} of them fit`);
    }
    if (schema.not !== undefined && this._fits(schema.not, value, path, depth)) this._wrong(path, "it fits what is excluded");
    if (schema.if === undefined) return;
    const branch = this._fits(schema.if, value, path, depth) ? schema.then : schema.else;
    if (branch !== undefined) this.visit(branch, value, path, depth + 1);
  }
}

/** @param {string} pattern */
function patternOf(pattern) {
  try {
    return new RegExp(pattern, "u");
  } catch {
    throw new SchemaError(`The schema has a pattern that cannot be read: ${pattern}`);
  }
}

/** @param {any} value */
function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

/** @param {string} name */
function article(name) {
  if (name === "null") return name;
  return `${/^[aio]/.test(name) ? "an" : "a"} ${name}`;
}

/**
 * @param {any} value
 * @param {string} name
 */
function hasType(value, name) {
  const type = typeOf(value);
  return type === name || (name === "number" && type === "integer");
}

/**
 * @param {any} one
 * @param {any} other
 */
function equal(one, other) {
  return one === other || (typeof one === "object" && canonical(one) === canonical(other));
}

/** JSON with sorted keys. @param {any} value @returns {string} */
function canonical(value) {
  return JSON.stringify(value, (_, each) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}

/**
 * The zero values of a JSON Schema: what is shown of a value of which nothing can be shown yet.
 *
 * A schema is followed step by step along the path of the value. What several keywords say of one
 * place is put together as a schema again (`allOf`, `anyOf`), so that there is one way to read it.
 * Nothing is validated.
 */

import { isObject } from "../parse/values.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {boolean | {[keyword: string]: any}} JSONSchema */

const [NULL, BOOLEAN, NUMBER, STRING, ARRAY, OBJECT] = [1, 2, 4, 8, 16, 32];
const EVERY = 63;
/** @type {{[name: string]: number}} */
const TYPES = {
  null: NULL,
  boolean: BOOLEAN,
  integer: NUMBER,
  number: NUMBER,
  string: STRING,
  array: ARRAY,
  object: OBJECT,
};
/** @type {Map<number, () => any>} */
const ZEROS = new Map([
  [STRING, () => ""],
  [NUMBER, () => 0],
  [BOOLEAN, () => false],
  [OBJECT, () => ({})],
  [ARRAY, () => []],
]);
const OF_ARRAYS = ["items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems"];
const OF_OTHERS = ["properties", "patternProperties", "additionalProperties", "required", "pattern"];

/** The zeros of one JSON Schema. */
export class Zeros {
  #root;

  /** @param {JSONSchema} schema */
  constructor(schema) {
    this.#root = schema;
  }

  /**
   * The zero of the type at a path: "", 0, false, [], {}, or null where that may be; undefined if
   * the schema does not tell.
   * @param {Path} path
   */
  at(path) {
    /** @type {JSONSchema | undefined} */
    let schema = this.#root;
    for (const step of path) {
      if (schema === undefined) return undefined;
      schema = this.#below(schema, step, new Set());
    }
    const kinds = schema === undefined ? EVERY : this.#kinds(schema, new Set());
    if (kinds !== EVERY && (kinds & NULL) !== 0) return null;
    return ZEROS.get(kinds)?.();
  }

  /** True if the schema says what an array must be, rather than what each element must be. */
  describesArrays() {
    const kinds = this.#kinds(this.#root, new Set());
    if (kinds !== EVERY) return kinds === 0 || (kinds & ARRAY) !== 0;
    const schema = this.#root;
    if (!isObject(schema)) return true;
    const has = (/** @type {string} */ keyword) => Object.hasOwn(schema, keyword);
    return OF_ARRAYS.some(has) || !OF_OTHERS.some(has);
  }

  /**
   * The kinds of value that are allowed, as far as the schema tells.
   * @param {JSONSchema} schema
   * @param {Set<JSONSchema>} seen those that this one is in, so that a circle ends
   * @returns {number}
   */
  #kinds(schema, seen) {
    if (schema === false) return 0;
    if (!isObject(schema) || seen.has(schema)) return EVERY;
    const around = new Set(seen).add(schema);
    const { type, enum: values } = schema;
    let kinds = type === undefined ? EVERY : union([type].flat().map((name) => TYPES[name] ?? 0));
    if (Object.hasOwn(schema, "const")) kinds &= kindOf(schema.const);
    else if (Array.isArray(values)) kinds &= union(values.map(kindOf));
    for (const inner of this.#all(schema)) kinds &= this.#kinds(inner, around);
    for (const several of choices(schema)) {
      kinds &= union(several.map((inner) => this.#kinds(inner, around)));
    }
    return kinds;
  }

  /**
   * The schema of what is one step below; undefined if nothing is known.
   * @param {JSONSchema} schema
   * @param {string | number} step
   * @param {Set<JSONSchema>} seen
   * @returns {JSONSchema | undefined}
   */
  #below(schema, step, seen) {
    if (!isObject(schema) || seen.has(schema)) return undefined;
    const around = new Set(seen).add(schema);
    const told = typeof step === "number" ? element(schema, step) : member(schema, step);
    for (const inner of this.#all(schema)) told.push(this.#below(inner, step, around));
    const kind = typeof step === "number" ? ARRAY : OBJECT;
    for (const several of choices(schema)) {
      const fit = several.filter((inner) => (this.#kinds(inner, new Set()) & kind) !== 0);
      const inside = fit.map((inner) => this.#below(inner, step, around));
      if (!inside.includes(undefined) && inside.length !== 0) told.push({ anyOf: inside });
    }
    const known = told.filter((one) => one !== undefined);
    return known.length < 2 ? known[0] : { allOf: known };
  }

  /**
   * What holds together with the schema's own keywords.
   * @param {{[keyword: string]: any}} schema
   * @returns {JSONSchema[]}
   */
  #all({ allOf = [], $ref }) {
    const target = typeof $ref === "string" ? this.#lookUp($ref) : undefined;
    return target === undefined ? allOf : [...allOf, target];
  }

  /** @param {string} reference a JSON Pointer in the schema; others are not followed */
  #lookUp(reference) {
    if (!/^#(\/|$)/.test(reference)) return undefined;
    /** @type {any} */
    let target = this.#root;
    for (const token of decodeURIComponent(reference).split("/").slice(1)) {
      const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
      target = typeof target === "object" && target !== null && Object.hasOwn(target, key) ? target[key] : undefined;
    }
    return /** @type {JSONSchema | undefined} */ (target);
  }
}

/** @param {number[]} kinds */
function union(kinds) {
  return kinds.reduce((all, one) => all | one, 0);
}

/** @param {unknown} value */
function kindOf(value) {
  if (value === null) return NULL;
  return TYPES[Array.isArray(value) ? "array" : typeof value] ?? 0;
}

/**
 * @param {{[keyword: string]: any}} schema
 * @returns {JSONSchema[][]}
 */
function choices({ anyOf, oneOf }) {
  return [anyOf, oneOf].filter(Array.isArray);
}

/**
 * @param {{[keyword: string]: any}} schema
 * @param {string} key
 * @returns {(JSONSchema | undefined)[]}
 */
function member({ properties = {}, patternProperties = {}, additionalProperties }, key) {
  const told = Object.entries(patternProperties)
    .filter(([pattern]) => new RegExp(pattern, "u").test(key))
    .map(([, schema]) => schema);
  if (Object.hasOwn(properties, key)) told.push(properties[key]);
  return told.length === 0 ? [additionalProperties] : told;
}

/**
 * @param {{[keyword: string]: any}} schema
 * @param {number} index
 * @returns {(JSONSchema | undefined)[]}
 */
function element({ prefixItems, items, additionalItems }, index) {
  const first = prefixItems ?? (Array.isArray(items) ? items : []);
  if (index < first.length) return [first[index]];
  return [Array.isArray(items) ? additionalItems : items];
}

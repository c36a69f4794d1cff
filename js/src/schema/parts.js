/**
 * A schema and a value that is not complete yet: each top-level field, and each element of a list that
 * is the value or such a field, is validated when it is complete.
 *
 * A Standard Schema validates a value as a whole. So the part is put into an otherwise empty value, and
 * only what the schema says of the part counts: what is missing around it may still arrive.
 */

import { LocatedBuilder } from "../build/located.js";
import { issuesOf, refusal } from "./standard.js";

export { later } from "./standard.js";

/** @typedef {import("../paths.js").Path} Path */
/** @typedef {import("./standard.js").StandardSchema} StandardSchema */

/** The growing value, which notes the parts that became complete since `begin`. */
export class NotedBuilder extends LocatedBuilder {
  /** @type {Path[]} */
  completed = [];

  begin() {
    super.begin();
    this.completed = [];
  }

  endContainer() {
    super.endContainer();
    this.#note();
  }

  endString() {
    super.endString();
    this.#note();
  }

  /** @param {any} value */
  scalar(value) {
    super.scalar(value);
    this.#note();
  }

  #note() {
    const { length } = this._spine;
    if (length !== 1 && !(length === 2 && this._isArray)) return;
    const last = this._isArray ? this._inner.length - 1 : this._key;
    const [root] = this._spine;
    const first = Array.isArray(root) ? root.length - 1 : this._keys[1];
    this.completed.push(length === 1 ? [last] : [first, last]);
  }
}

/**
 * Put a check of the parts that became complete behind what a stage found.
 * @param {StandardSchema} schema
 * @param {NotedBuilder} growing
 * @param {any[]} out
 */
export function putCheck(schema, growing, out) {
  const { completed } = growing;
  if (completed.length !== 0) out.push(() => checkParts(schema, growing, completed));
}

/**
 * Throw InvalidSchema if the schema refuses what is at one of these paths, whatever else arrives.
 * @param {StandardSchema} schema
 * @param {NotedBuilder} growing
 * @param {Path[]} paths
 */
export async function checkParts(schema, growing, paths) {
  for (const path of paths) await checkPart(schema, growing, path);
}

/**
 * @param {StandardSchema} schema
 * @param {NotedBuilder} growing
 * @param {Path} path
 */
async function checkPart(schema, growing, path) {
  const part = path.reduce((value, step) => value[step], growing.live);
  const alone = path.reduceRight((value, step) => (typeof step === "number" ? [value] : { [step]: value }), part);
  const place = path.map((step) => (typeof step === "number" ? 0 : step));
  if ((await issuesAt(schema, alone, place)).length === 0) return;
  // Where it is, the part may be allowed: in a tuple, or beside what tells alternatives apart.
  const { value } = growing;
  const issues = isChoice(schema) ? [] : await issuesAt(schema, value, path);
  if (issues.length !== 0) throw refusal(issues, value);
}

/**
 * What the schema says of the part at `path` of a value, most of which may be missing. A schema with
 * code that needs the rest says nothing.
 * @param {StandardSchema} schema
 * @param {any} value
 * @param {Path} path
 */
async function issuesAt(schema, value, path) {
  try {
    const issues = (await issuesOf(schema, value)) ?? [];
    return issues.filter(({ path: place = [] }) => path.every((step, at) => step === keyOf(place[at])));
  } catch {
    return [];
  }
}

/** @param {PropertyKey | {readonly key: PropertyKey} | undefined} step */
function keyOf(step) {
  return typeof step === "object" ? step.key : step;
}

/**
 * True for alternatives of valibot, which reports what one of them says although another may still fit.
 * @param {any} schema
 * @returns {boolean}
 */
function isChoice(schema) {
  return schema.type === "union" || (schema.wrapped !== undefined && isChoice(schema.wrapped));
}

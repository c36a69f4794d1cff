/**
 * JSON values as JavaScript holds them.
 *
 * Objects are ordinary ones, as `JSON.parse` makes them, and every key is an own property: a key
 * `__proto__` is defined, never assigned.
 * Which values are open or finished is not known here.
 */

/**
 * True for a JSON object: no array or null.
 * @param {unknown} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Give an object a member of its own, whatever the key.
 * @param {{[key: string]: any}} object
 * @param {string} key
 * @param {any} value
 */
export function put(object, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else {
    object[key] = value;
  }
}

/**
 * The member or element of this name that a value has of its own.
 * @param {any} holder
 * @param {string | number} step
 */
export function own(holder, step) {
  return Object.hasOwn(holder, step) ? holder[step] : undefined;
}

/**
 * A copy of a container, one level deep.
 * @template {any[] | {[key: string]: any}} T
 * @param {T} container
 * @returns {T}
 */
export function copyOf(container) {
  return /** @type {T} */ (Array.isArray(container) ? container.slice() : { ...container });
}

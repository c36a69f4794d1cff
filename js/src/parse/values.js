/**
 * JSON values as JavaScript holds them.
 *
 * Objects are ordinary ones, as `JSON.parse` makes them, and every key is an own property: a key
 * `__proto__` is defined, never assigned.
 */

/**
 * True for a JSON object: not an array, not null.
 * @param {unknown} value
 * @returns {value is {[key: string]: any}}
 */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Set an own property of a container, whatever the key.
 * @param {any} container
 * @param {string | number} key
 * @param {any} value
 */
export function put(container, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    container[key] = value;
  }
}

/**
 * Return a copy of a container, one level deep.
 * @template {any[] | {[key: string]: any}} T
 * @param {T} container
 * @returns {T}
 */
export function copyOf(container) {
  return /** @type {T} */ (Array.isArray(container) ? container.slice() : { ...container });
}

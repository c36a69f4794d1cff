/** Helpers to create, find and update DOM elements. */

/**
 * Creates an element with a class and children; strings become text nodes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string} [className]
 * @param {...(string | Node)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, className = "", ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/**
 * Creates a button.
 * @param {string} label
 * @param {() => void} onClick
 * @param {string} [className]
 */
export function button(label, onClick, className = "") {
  const element = make("button", className, label);
  element.type = "button";
  element.addEventListener("click", onClick);
  return element;
}

/**
 * The element with this id; TypeError if it is missing or of another type.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byId(id, type = /** @type {any} */ (HTMLElement)) {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new TypeError(`there is no ${type.name} #${id}`);
  return element;
}

/**
 * Sets several attributes.
 * @param {Element} element
 * @param {Record<string, string | number | boolean>} attributes
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/**
 * Shows rows in a list: reuses the element of each key, and updates it only if its `look` is another one.
 * @template {{key: string | number, look: string}} Row
 * @param {HTMLElement} list
 * @param {Row[]} rows
 * @param {(row: Row, element: HTMLElement) => void} fill
 * @param {"div" | "tr" | "article"} [tag]
 */
export function showRows(list, rows, fill, tag = "div") {
  /** @type {Map<string, HTMLElement>} */
  const before = new Map();
  const wanted = new Set(rows.map(({ key }) => String(key)));
  for (const element of /** @type {HTMLElement[]} */ ([...list.children])) {
    const key = element.dataset.key ?? "";
    if (wanted.has(key)) before.set(key, element);
    else element.remove();
  }
  let next = list.firstElementChild;
  for (const row of rows) {
    const element = before.get(String(row.key)) ?? document.createElement(tag);
    if (element !== next) list.insertBefore(element, next);
    else next = next.nextElementSibling;
    if (element.dataset.look === row.look) continue;
    element.dataset.key = String(row.key);
    element.dataset.look = row.look;
    fill(row, element);
  }
}

/**
 * Runs `draw`, and stays at the end of a pane that was scrolled to its end; with `goes` it goes there.
 * @param {HTMLElement} pane
 * @param {() => void} draw
 * @param {boolean} [goes]
 */
export function followEnd(pane, draw, goes = false) {
  const isAtEnd = goes || pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
  draw();
  if (isAtEnd) pane.scrollTop = pane.scrollHeight;
}

/**
 * Scrolls a pane, and nothing around it, to an element that is out of sight.
 * @param {Element | null} element
 * @param {HTMLElement} pane
 */
export function reveal(element, pane) {
  if (element === null) return;
  const [inner, outer] = [element.getBoundingClientRect(), pane.getBoundingClientRect()];
  const isInSight = inner.top >= outer.top && inner.bottom <= outer.bottom;
  if (!isInSight) pane.scrollTop += inner.top - outer.top - outer.height / 3;
}

/**
 * Copies a text to the clipboard, and says so in the button for a moment.
 * @param {string} text
 * @param {HTMLElement} element
 */
export async function copyText(text, element) {
  element.dataset.label ??= element.textContent ?? "";
  try {
    await navigator.clipboard.writeText(text);
    element.textContent = "Copied";
  } catch {
    element.textContent = "Not allowed";
  }
  announce(element.textContent ?? "");
  setTimeout(() => (element.textContent = element.dataset.label ?? ""), 1200);
}

/** Tells users of screen readers. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

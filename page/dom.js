/** Helpers to create, find and update DOM elements. */

/**
 * Create an element with a class and children. Strings become text nodes.
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
 * Create a button.
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
 * Return the element with this id; TypeError if it is missing or has another type.
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
 * Set several attributes.
 * @param {Element} element
 * @param {Record<string, string | number | boolean>} attributes
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/** What each row's element shows. @type {WeakMap<Element, string>} */
const signatures = new WeakMap();

/**
 * Show rows in a list. Reuse the element of each key, and fill it only if the row's `signature` has changed.
 * @template {{key: string | number, signature: string}} Row
 * @param {HTMLElement} list
 * @param {Row[]} rows
 * @param {(row: Row, element: HTMLElement) => void} fill
 * @param {"div" | "tr" | "article" | "span"} [tag]
 */
export function showRows(list, rows, fill, tag = "div") {
  /** @type {Map<string, HTMLElement>} */
  const before = new Map();
  const keys = new Set(rows.map(({ key }) => String(key)));
  for (const element of /** @type {HTMLElement[]} */ ([...list.children])) {
    const key = element.dataset.key ?? "";
    if (keys.has(key)) before.set(key, element);
    else element.remove();
  }
  let next = list.firstElementChild;
  for (const row of rows) {
    const element = before.get(String(row.key)) ?? document.createElement(tag);
    if (element !== next) list.insertBefore(element, next);
    else next = next.nextElementSibling;
    if (signatures.get(element) === row.signature) continue;
    element.dataset.key = String(row.key);
    signatures.set(element, row.signature);
    fill(row, element);
  }
}

/**
 * Run `draw`, and keep a pane at its end if it was scrolled there. With `isForced`, scroll to the end.
 * @param {HTMLElement} pane
 * @param {() => void} draw
 * @param {boolean} [isForced]
 */
export function followEnd(pane, draw, isForced = false) {
  const isAtEnd = isForced || pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
  draw();
  if (isAtEnd) pane.scrollTop = pane.scrollHeight;
}

/**
 * Scroll a pane, and nothing around it, to an element that is out of sight.
 * @param {Element | null} element
 * @param {HTMLElement} pane
 */
export function reveal(element, pane) {
  if (element === null) return;
  const [target, frame] = [element.getBoundingClientRect(), pane.getBoundingClientRect()];
  const isInSight = target.top >= frame.top && target.bottom <= frame.bottom;
  if (!isInSight) pane.scrollTop += target.top - frame.top - frame.height / 3;
}

/**
 * Copy a text to the clipboard, and confirm it in the button for a moment.
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

/** Announce a text to screen readers. @param {string} text */
export function announce(text) {
  byId("live").textContent = text;
}

// Milliseconds of work before the browser may draw a frame.
const SLICE = 30;

let end = 0;

/** Await this between the steps of long work: now and then it lets the browser draw a frame. */
export async function pause() {
  if (performance.now() < end) return;
  await new Promise((resolve) => setTimeout(resolve));
  end = performance.now() + SLICE;
}

/** Helpers to create and find DOM elements. */

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

/** Creates the mark of the place where a text grows. */
export function makeCursor() {
  const cursor = make("span", "cursor");
  cursor.setAttribute("aria-hidden", "true");
  return cursor;
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
 * The element with this id; TypeError if it is missing or of another type.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byId(id, type) {
  return within(document, `#${id}`, type);
}

/**
 * The first match of a selector below `parent`; TypeError if it is missing or of another type.
 * @template {HTMLElement} T
 * @param {ParentNode} parent
 * @param {string} selector
 * @param {new () => T} [type]
 * @returns {T}
 */
export function within(parent, selector, type = /** @type {any} */ (HTMLElement)) {
  const element = parent.querySelector(selector);
  if (!(element instanceof type)) throw new TypeError(`there is no ${type.name} ${selector}`);
  return element;
}

/**
 * Shows a message in an element, or hides the element.
 * @param {HTMLElement} element
 * @param {string} text already escaped; `""` hides the element
 */
export function showMessage(element, text) {
  element.hidden = text === "";
  element.textContent = text;
}

/**
 * Copies a text to the clipboard; rejects if the browser does not allow it.
 * @param {string} text
 */
export async function copyText(text) {
  // navigator.clipboard exists only in secure contexts; over plain http the old command still works.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const area = make("textarea", "unseen");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  if (!copied) throw new Error("not allowed");
}

/**
 * Shows figures as `<span>label <b>value</b></span>` and writes only those that changed.
 * @param {HTMLElement} parent
 * @param {[string, string][]} figures label and value
 */
export function showFigures(parent, figures) {
  while (parent.children.length > figures.length) parent.lastElementChild?.remove();
  figures.forEach(([label, value], index) => {
    const span = parent.children[index] ?? parent.appendChild(make("span", "", "", make("b")));
    const [name, shown] = span.childNodes;
    if (name.textContent !== `${label} `) name.textContent = `${label} `;
    if (shown.textContent !== value) shown.textContent = value;
  });
}

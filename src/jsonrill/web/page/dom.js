/** Small words for the DOM: elements made of classes and texts, found by their ids. */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {string} [kind] its class
 * @param {...(string | globalThis.Node)} inside texts become text nodes
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(name, kind = "", ...inside) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...inside);
  return made;
}

/**
 * @param {string} label
 * @param {() => void} work
 * @param {string} [kind]
 */
export function button(label, work, kind = "") {
  const made = make("button", kind, label);
  made.type = "button";
  made.addEventListener("click", work);
  return made;
}

/**
 * The element of this id, which is there.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} [type]
 * @returns {T}
 */
export function byId(id, type = /** @type {any} */ (HTMLElement)) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`there is no ${type.name} #${id}`);
  return found;
}

/**
 * The element of this class inside another one.
 * @template {HTMLElement} T
 * @param {ParentNode} inside
 * @param {string} selector
 * @param {new () => T} [type]
 * @returns {T}
 */
export function within(inside, selector, type = /** @type {any} */ (HTMLElement)) {
  const found = inside.querySelector(selector);
  if (!(found instanceof type)) throw new TypeError(`there is no ${selector}`);
  return found;
}

/**
 * Put a text into the clipboard; rejected if the browser does not allow it.
 * @param {string} text
 */
export async function copyText(text) {
  // Only pages of https or of this machine have one to write to: elsewhere, as it was done before.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  const area = make("textarea", "unseen");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  before?.focus({ preventScroll: true });
  if (!done) throw new Error("not allowed");
}

/**
 * Figures as `<span>label <b>value</b></span>`, written only where they changed.
 * @param {HTMLElement} place
 * @param {[string, string, boolean?][]} figures label, value, whether it is alarming
 */
export function showFigures(place, figures) {
  while (place.children.length > figures.length) place.lastElementChild?.remove();
  figures.forEach(([label, value, alarm = false], at) => {
    let span = /** @type {HTMLElement | undefined} */ (place.children[at]);
    if (span === undefined) {
      span = make("span", "", "", make("b"));
      place.append(span);
    }
    const [name, shown] = span.childNodes;
    if (name.textContent !== `${label} `) name.textContent = `${label} `;
    if (shown.textContent !== value) shown.textContent = value;
    span.classList.toggle("alarm", alarm);
  });
}

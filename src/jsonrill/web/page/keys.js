/** Single keys that do something, anywhere on the page but where somebody is typing. */

const TYPING = "input:not([type=range]):not([type=checkbox]), textarea, select";

/**
 * @param {() => boolean} isOn
 * @param {(key: string) => boolean} press whether the key meant something
 */
export function listenToKeys(isOn, press) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!isOn() || document.querySelector("dialog[open]")) return;
    if (/** @type {HTMLElement} */ (event.target).closest(TYPING)) return;
    if (press(event.key)) event.preventDefault();
  });
}

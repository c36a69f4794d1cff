/** Single-key shortcuts, active everywhere except in text fields and dialogs. */

const TEXT_FIELDS = "input:not([type=range]):not([type=checkbox]), textarea, select";

/**
 * @param {() => boolean} isOn
 * @param {Map<string, () => void>} actions by key
 */
export function listenToKeys(isOn, actions) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (!isOn() || document.querySelector("dialog[open]")) return;
    const action = actions.get(event.key);
    if (!action || /** @type {HTMLElement} */ (event.target).closest(TEXT_FIELDS)) return;
    event.preventDefault();
    action();
  });
}

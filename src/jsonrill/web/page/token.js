/** The dialog that asks for a token. What was typed leaves it once, to whoever asked. */

import { byId } from "./dom.js";

/** @returns {Promise<string | null>} null: not now */
export function askToken() {
  const dialog = byId("token", HTMLDialogElement);
  const text = byId("token-text", HTMLInputElement);
  text.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const done = () => {
      const token = text.value.trim();
      text.value = "";
      resolve(dialog.returnValue === "give" && token ? token : null);
    };
    dialog.addEventListener("close", done, { once: true });
  });
}

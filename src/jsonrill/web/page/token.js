/** The dialog that asks for a token. The token is returned once and not kept here. */

import { byId } from "./dom.js";

/**
 * Asks the user for a token.
 * @returns {Promise<string | null>} null if the user cancelled
 */
export function askToken() {
  const dialog = byId("token", HTMLDialogElement);
  const field = byId("token-text", HTMLInputElement);
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    const onClose = () => {
      const token = field.value.trim();
      field.value = "";
      resolve(dialog.returnValue === "submit" && token ? token : null);
    };
    dialog.addEventListener("close", onClose, { once: true });
  });
}

/** The dialog that asks for a token. The token is returned once and not kept here. */

import { byId } from "./dom.js";

/**
 * Asks the user for a token.
 * @param {boolean} wasWrong whether the server refused the one before
 * @returns {Promise<string | null>} null if the user cancelled
 */
export function askToken(wasWrong) {
  const dialog = byId("token", HTMLDialogElement);
  const field = byId("token-text", HTMLInputElement);
  field.value = "";
  byId("token-wrong").hidden = !wasWrong;
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

/** Files and texts that are dropped anywhere on the page. */

/**
 * Calls the listener with what is dropped, and shows `overlay` while something is dragged.
 * @param {HTMLElement} overlay
 * @param {{onFile: (file: File) => void, onText: (text: string) => void}} listener
 */
export function listenToDrops(overlay, { onFile, onText }) {
  addEventListener("dragover", (event) => {
    const types = event.dataTransfer?.types ?? [];
    if (!types.includes("Files") && !types.includes("text/plain")) return;
    event.preventDefault();
    overlay.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) overlay.hidden = true;
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    overlay.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) onFile(file);
    else onText(event.dataTransfer?.getData("text/plain") ?? "");
  });
}

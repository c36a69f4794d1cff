/** Files and texts that are dropped anywhere on the page. */

/**
 * @param {HTMLElement} place what is shown while something is held above the page
 * @param {{onFile: (file: File) => void, onText: (text: string) => void}} listener
 */
export function listenToDrops(place, { onFile, onText }) {
  addEventListener("dragover", (event) => {
    const types = event.dataTransfer?.types ?? [];
    if (!types.includes("Files") && !types.includes("text/plain")) return;
    event.preventDefault();
    place.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) place.hidden = true;
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    place.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) onFile(file);
    else onText(event.dataTransfer?.getData("text/plain") ?? "");
  });
}

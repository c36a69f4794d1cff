/** Light, dark, or as the system has it; the choice is remembered by this browser. */

const THEMES = /** @type {const} */ (["auto", "light", "dark"]);
const KEPT = "jsonrill-theme";

export class Theme {
  /** @param {HTMLElement} button shows the theme, and changes it */
  constructor(button) {
    this._button = button;
    this._show(kept());
    button.addEventListener("click", () => this.next());
  }

  next() {
    const at = THEMES.findIndex((name) => name === document.documentElement.dataset.theme);
    const next = THEMES[(at + 1) % THEMES.length];
    try {
      localStorage.setItem(KEPT, next);
    } catch {
      // Without a place to keep it, it holds until the page is left.
    }
    this._show(next);
  }

  /** @param {string} theme */
  _show(theme) {
    document.documentElement.dataset.theme = theme;
    this._button.textContent = `Theme: ${theme}`;
  }
}

function kept() {
  try {
    return THEMES.find((name) => name === localStorage.getItem(KEPT)) ?? "auto";
  } catch {
    return "auto";
  }
}

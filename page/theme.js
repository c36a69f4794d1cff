/** The colour theme: light, dark, or the system's (auto). The browser remembers the choice. */

const THEMES = ["auto", "light", "dark"];
const STORAGE_KEY = "jsonrill-theme";

export class Theme {
  /** @param {HTMLElement} button shows the theme and switches to the next one */
  constructor(button) {
    this._button = button;
    this._show(stored());
    button.addEventListener("click", () => this.next());
  }

  next() {
    const index = THEMES.indexOf(document.documentElement.dataset.theme ?? "");
    const next = THEMES[(index + 1) % THEMES.length];
    this._show(next);
    try {
      localStorage.setItem(STORAGE_KEY, next);
    } catch {
      // Storage is blocked: the choice lasts until the page is closed.
    }
  }

  /** @param {string} theme */
  _show(theme) {
    document.documentElement.dataset.theme = theme;
    this._button.textContent = `Theme: ${theme}`;
  }
}

function stored() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORAGE_KEY)) ?? "auto";
  } catch {
    return "auto";
  }
}

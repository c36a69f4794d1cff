/** The tabs of the views. From 700 px on the received text has a pane of its own and needs no tab. */

import { button, byId, setAttributes } from "./dom.js";

/** @typedef {"text" | "tree" | "calls" | "chunks" | "events"} Tab */

const ALL = /** @type {Tab[]} */ (["text", "tree", "calls", "chunks", "events"]);
const LABELS = { text: "Text", tree: "Tree", calls: "Calls", chunks: "Text", events: "Events" };

export class Tabs {
  /** @type {Tab} */
  current = "tree";
  /** @type {Map<Tab, HTMLElement>} */
  #buttons = new Map();

  /** @param {() => void} onChange */
  constructor(onChange) {
    this.#onChange = onChange;
    const list = byId("tabs");
    for (const tab of ALL) {
      const element = button(LABELS[tab], () => this.choose(tab), "tab");
      element.id = `tab-${tab}`;
      setAttributes(element, { role: "tab", "aria-controls": `panel-${tab}` });
      this.#buttons.set(tab, element);
      list.append(element);
    }
    list.addEventListener("keydown", (event) => this.#press(event));
  }

  #onChange;

  /**
   * Offer these tabs, with these labels instead of their own. On a wide screen the text has no tab.
   * @param {Tab[]} tabs
   * @param {Partial<Record<Tab, string>>} labels
   */
  offer(tabs, labels) {
    for (const [tab, element] of this.#buttons) {
      element.hidden = !tabs.includes(tab);
      element.textContent = labels[tab] ?? LABELS[tab];
    }
    const { display } = getComputedStyle(byId(`tab-${this.current}`));
    if (display === "none") this.choose(tabs[1]);
  }

  /** @param {Tab} tab */
  choose(tab) {
    this.current = tab;
    byId("panes").dataset.tab = tab;
    for (const [name, element] of this.#buttons) {
      setAttributes(element, { "aria-selected": name === tab, tabindex: name === tab ? 0 : -1 });
    }
    this.#onChange();
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const visible = ALL.filter((tab) => this.#buttons.get(tab)?.checkVisibility());
    const next = visible[(visible.indexOf(this.current) + step + visible.length) % visible.length];
    this.choose(next);
    this.#buttons.get(next)?.focus();
  }
}

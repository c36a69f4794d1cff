/** Scrolls along with growing content until the user scrolls back; resumes at the end of it. */

const BACK = new Set(["ArrowUp", "PageUp", "Home"]);

export class AutoScroll {
  /**
   * @param {HTMLElement} scroller
   * @param {boolean} on
   * @param {(on: boolean) => void} [onChange]
   */
  constructor(scroller, on, onChange = () => {}) {
    this.scroller = scroller;
    this.on = on;
    this._onChange = onChange;
    /** The last known scroll position, to tell the user's scrolling from ours. */
    this._position = 0;
    /** True once the window was scrolled, too: a user who scrolls it back is not disturbed. */
    this._hasMovedWindow = false;
    if (!on) return;
    const passive = { passive: true };
    scroller.addEventListener("wheel", (event) => event.deltaY < 0 && this.stop(), passive);
    scroller.addEventListener("touchmove", () => this.stop(), passive);
    // The scroll bar is dragged, or text is selected.
    scroller.addEventListener("pointerdown", () => this.stop(), passive);
    scroller.addEventListener("keydown", (event) => BACK.has(event.key) && this.stop());
    scroller.addEventListener("scroll", () => this._scrolled(), passive);
  }

  stop() {
    if (this.on) this._onChange((this.on = false));
  }

  start() {
    if (!this.on) this._onChange((this.on = true));
  }

  /** Resumes when the user scrolls down to the end. */
  _scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollTop > this._position && scrollTop + clientHeight >= scrollHeight - 4) this.start();
    this._position = scrollTop;
  }

  toEnd() {
    if (this.on) this._scrollTo(this.scroller.scrollHeight);
  }

  /** @param {number} top */
  _scrollTo(top) {
    this.scroller.scrollTop = top;
    this._position = this.scroller.scrollTop;
  }

  /**
   * Scrolls an element into view, whether following is on or not. True if that went down: lines that
   * come into view may turn out to be higher than was estimated, and move it out of view again.
   * @param {HTMLElement} element
   */
  to(element) {
    const box = this.scroller.getBoundingClientRect();
    const line = element.getBoundingClientRect();
    const top = this.scroller.scrollTop;
    if (line.bottom > box.bottom - 12) this._scrollTo(top + line.bottom - box.bottom + 28);
    else if (line.top < box.top) this._scrollTo(top - box.top + line.top - 28);
    if (!this._hasMovedWindow && Math.min(line.bottom, box.bottom) > innerHeight) {
      this._hasMovedWindow = true;
      this.scroller.scrollIntoView({ block: "nearest" });
    }
    return this.scroller.scrollTop > top;
  }
}

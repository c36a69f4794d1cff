/** Scrolling along with what grows, until the reader scrolls back; at the end again, it goes on. */

const BACK = new Set(["ArrowUp", "PageUp", "Home"]);

export class Follow {
  /**
   * @param {HTMLElement} scroller
   * @param {boolean} on
   */
  constructor(scroller, on) {
    this.scroller = scroller;
    this.on = on;
    if (!on) return;
    const leave = () => {
      this.on = false;
    };
    const quiet = { passive: true };
    scroller.addEventListener("wheel", (event) => event.deltaY < 0 && leave(), quiet);
    scroller.addEventListener("touchmove", leave, quiet);
    // A hand on the scroll bar, or on the text.
    scroller.addEventListener("pointerdown", leave, quiet);
    scroller.addEventListener("keydown", (event) => BACK.has(event.key) && leave());
    scroller.addEventListener("scroll", () => this._atEnd() && (this.on = true), quiet);
  }

  stop() {
    this.on = false;
  }

  _atEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 4;
  }

  /** To the end of all. */
  toEnd() {
    if (this.on) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /**
   * To this element, if it is out of sight.
   * @param {HTMLElement} element
   */
  to(element) {
    const box = this.scroller.getBoundingClientRect();
    const line = element.getBoundingClientRect();
    if (line.bottom > box.bottom - 12) this.scroller.scrollTop += line.bottom - box.bottom + 28;
    else if (line.top < box.top) this.scroller.scrollTop -= box.top - line.top + 28;
  }
}

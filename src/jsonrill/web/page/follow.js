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
    // Where it was when we, or the reader, last scrolled.
    this._place = 0;
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
    scroller.addEventListener("scroll", () => this._scrolled(), quiet);
  }

  stop() {
    this.on = false;
  }

  /** Down to the end, by the reader: that means to go on. Our own scrolling means nothing. */
  _scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollTop > this._place && scrollTop + clientHeight >= scrollHeight - 4) this.on = true;
    this._place = scrollTop;
  }

  /** To the end of all. */
  toEnd() {
    if (this.on) this._move(this.scroller.scrollHeight);
  }

  /** @param {number} top */
  _move(top) {
    this.scroller.scrollTop = top;
    this._place = this.scroller.scrollTop;
  }

  /**
   * To this element, if it is out of sight.
   * @param {HTMLElement} element
   */
  to(element) {
    const box = this.scroller.getBoundingClientRect();
    const line = element.getBoundingClientRect();
    const top = this.scroller.scrollTop;
    if (line.bottom > box.bottom - 12) this._move(top + line.bottom - box.bottom + 28);
    else if (line.top < box.top) this._move(top - box.top + line.top - 28);
  }
}

/**
 * Drawing, once a frame and never for long: whatever has something to draw asks for a frame, is
 * called with the time until which it may draw, and is called again if it was not done by then.
 * In a hidden tab no frame comes; all that was missed is drawn when it is shown again.
 */

/** @typedef {(until: number) => boolean} Painter draws until then; true if something is left */

// Of the 16 ms of a frame the browser needs some for layout and paint.
const SLICE = 7;

export class Frames {
  constructor() {
    /** @type {Set<Painter>} */
    this._waiting = new Set();
    this._asked = false;
    /** The longest time that drawing took in one frame, in milliseconds. */
    this.longest = 0;
    this.count = 0;
  }

  /** @param {Painter} painter */
  ask(painter) {
    this._waiting.add(painter);
    if (this._asked) return;
    this._asked = true;
    requestAnimationFrame(() => this._draw());
  }

  _draw() {
    this._asked = false;
    const begun = performance.now();
    const painters = [...this._waiting];
    this._waiting.clear();
    painters.forEach((painter, at) => {
      // Each gets its share of what is left, so that none starves the others.
      const now = performance.now();
      const share = Math.max(1, (begun + SLICE - now) / (painters.length - at));
      if (painter(now + share)) this.ask(painter);
    });
    this.count += 1;
    this.longest = Math.max(this.longest, performance.now() - begun);
  }
}

export const frames = new Frames();

/**
 * Drawing, once per animation frame and only for a few milliseconds: a painter requests a frame, is
 * called with the time until which it may draw, and is called again in the next frame if it was not
 * done. A hidden tab gets no frames; everything it missed is drawn when it is shown again.
 */

/** @typedef {(until: number) => boolean} Painter draws until then; true if something is left */

// A frame has 16 ms, and the browser needs some of them for layout and paint.
const SLICE = 7;

export class Frames {
  constructor() {
    /** @type {Set<Painter>} */
    this._waiting = new Set();
  }

  /** @param {Painter} painter */
  request(painter) {
    if (this._waiting.size === 0) requestAnimationFrame(() => this._draw());
    this._waiting.add(painter);
  }

  _draw() {
    const end = performance.now() + SLICE;
    const painters = [...this._waiting];
    this._waiting.clear();
    painters.forEach((painter, index) => {
      // Each gets an equal share of the time left, so that none starves the others.
      const now = performance.now();
      const share = Math.max(1, (end - now) / (painters.length - index));
      if (painter(now + share)) this.request(painter);
    });
  }
}

export const frames = new Frames();

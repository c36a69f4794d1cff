/** The time line: which moment is shown, with marks to go to, playing, and exact steps. */

import { byId, button } from "./dom.js";
import { formatDuration, formatNumber } from "./format.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{position: number, label: string, tone: string}} Stop */

export class TimeLine {
  position = 0;
  /** True while new items are shown as they arrive. */
  isFollowing = false;
  /** @type {Recording | null} */
  #recording = null;
  isPlaying = false;
  #clock = 0;
  #play = byId("play");
  #slider = byId("slider", HTMLInputElement);
  #stops = "";

  /** @param {() => void} onMove */
  constructor(onMove) {
    this.#onMove = onMove;
    this.#slider.addEventListener("input", () => this.seek(Number(this.#slider.value)));
    this.#play.addEventListener("click", () => this.toggle());
    byId("back").addEventListener("click", () => this.step(-1));
    byId("forward").addEventListener("click", () => this.step(1));
  }

  #onMove;

  /**
   * @param {Recording} recording
   * @param {"end" | "play" | "follow"} how
   */
  open(recording, how) {
    this.#recording = recording;
    this.#stops = "";
    this.isPlaying = false;
    this.isFollowing = how === "follow";
    this.position = how === "play" ? 0 : recording.length;
    if (how === "play") this.toggle();
    this.#onMove();
  }

  /** @param {number} position */
  seek(position) {
    const length = this.#recording?.length ?? 0;
    this.isPlaying = false;
    this.isFollowing = position >= length && !this.#recording?.isEnded;
    this.position = Math.max(0, Math.min(position, length));
    this.#onMove();
  }

  /** @param {number} steps */
  step(steps) {
    this.seek(this.position + steps);
  }

  /** Play from here (from the start if this is the end), or pause. */
  toggle() {
    const recording = this.#recording;
    if (recording === null) return;
    this.isPlaying = !this.isPlaying;
    this.isFollowing = false;
    if (this.isPlaying) {
      if (this.position >= recording.length) this.position = 0;
      this.#clock = performance.now() - (recording.times[this.position - 1] ?? 0);
      requestAnimationFrame(() => this.#tick(recording));
    }
    this.#onMove();
  }

  /** @param {Recording} recording */
  #tick(recording) {
    if (!this.isPlaying || recording !== this.#recording) return;
    const time = performance.now() - this.#clock;
    while (this.position < recording.length && recording.times[this.position] <= time) this.position += 1;
    if (this.position >= recording.length) {
      this.isPlaying = false;
      this.isFollowing = !recording.isEnded;
    } else {
      requestAnimationFrame(() => this.#tick(recording));
    }
    this.#onMove();
  }

  /** @param {Stop[]} stops */
  draw(stops) {
    const recording = this.#recording;
    if (recording === null) return;
    if (this.isFollowing) this.position = recording.length;
    const { length } = recording;
    this.#slider.max = String(length);
    this.#slider.value = String(this.position);
    const time = recording.times[this.position - 1] ?? 0;
    const where = `${formatNumber(this.position)} of ${formatNumber(length)}`;
    this.#slider.setAttribute("aria-valuetext", where);
    byId("position").textContent = recording.isTimed ? `${where} · ${formatDuration(time)}` : where;
    this.#play.textContent = this.isPlaying ? "Pause" : "Play";
    this.#drawStops(stops, length);
  }

  /**
   * Show the marks, without those that would overlap an earlier one in the list.
   * @param {Stop[]} stops
   * @param {number} length
   */
  #drawStops(stops, length) {
    const signature = JSON.stringify([stops, length]);
    if (signature === this.#stops) return;
    this.#stops = signature;
    const room = byId("stops").clientWidth || 600;
    /** @type {number[]} */
    const occupied = [];
    const free = stops.filter(({ position }) => {
      const at = (position / Math.max(1, length)) * room;
      if (occupied.some((other) => Math.abs(other - at) < 26)) return false;
      occupied.push(at);
      return true;
    });
    byId("stops").replaceChildren(...free.map((stop) => this.#stop(stop, length)));
  }

  /**
   * @param {Stop} stop
   * @param {number} length
   */
  #stop({ position, label, tone }, length) {
    const element = button("", () => this.seek(position), `stop ${tone}`);
    element.style.setProperty("--at", String(position / Math.max(1, length)));
    element.title = `${label} (${formatNumber(position)})`;
    element.setAttribute("aria-label", `Go to ${element.title}`);
    return element;
  }
}

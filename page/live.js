/** Reads a live stream of the server into a recording. It can be disconnected and resumed. */

import { byId, pause } from "./dom.js";
import { errorOf } from "./server.js";

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./server.js").Server} Server */

export class Live {
  #server;
  #recording;
  #id;
  #onChange;
  #lastId = "";
  #start = performance.now();
  #stop = new AbortController();

  /**
   * @param {Server} server
   * @param {Recording} recording
   * @param {string} id
   * @param {() => void} onChange
   */
  constructor(server, recording, id, onChange) {
    this.#server = server;
    this.#recording = recording;
    this.#id = id;
    this.#onChange = onChange;
  }

  close() {
    this.#stop.abort();
    byId("disconnect").hidden = true;
    byId("published").textContent = "closed";
  }

  /** Disconnect, or connect again and continue after the last event. */
  toggle() {
    if (this.#stop.signal.aborted) return void this.read();
    this.#stop.abort();
    byId("disconnect").textContent = "Reconnect";
    this.#setState("Disconnected: the server continues the stream");
  }

  async read() {
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    byId("disconnect").hidden = false;
    byId("disconnect").textContent = "Disconnect";
    this.#setState("");
    try {
      await this.#readEvents(signal);
      if (!signal.aborted) this.#recording.end();
    } catch (error) {
      const failure = `The connection failed: ${/** @type {Error} */ (error).message}`;
      if (!signal.aborted) this.#recording.end(failure, "Check that the server is running.");
    }
    if (signal.aborted) return;
    this.close();
    this.#setState("");
  }

  /** @param {AbortSignal} signal */
  async #readEvents(signal) {
    const onState = (/** @type {string} */ state) => this.#setState(state === "waiting" ? "Connection lost, trying again" : "");
    const options = { signal, after: this.#lastId, onState };
    for await (const { id, data } of this.#server.events(this.#id, { format: "raw" }, options)) {
      this.#lastId = id;
      const error = errorOf(data);
      if (error !== null)
        this.#recording.end(`The stream ended early: ${error.message}`, "Start it again, or use what came before.");
      else this.#recording.add(this.#recording.kind === "text" ? data : JSON.stringify(data), performance.now() - this.#start);
      this.#onChange();
      await pause();
    }
  }

  /** @param {string} state */
  #setState(state) {
    if (this.#stop.signal.aborted && state === "") return;
    this.#recording.state = state;
    this.#recording.version += 1;
    this.#onChange();
  }
}

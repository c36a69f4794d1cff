/** An EventSource as browsers have it, over fetch: for node, which has none. */

import { SSEDecoder } from "../src/eventstream/sse.js";

export class FakeEventSource extends EventTarget {
  static CONNECTING = 0;
  static OPEN = 1;
  static CLOSED = 2;
  static opened = [];

  constructor(url, { withCredentials = false } = {}) {
    super();
    this.url = url;
    this.withCredentials = withCredentials;
    this.readyState = FakeEventSource.CONNECTING;
    this.onopen = this.onerror = null;
    this._abort = new AbortController();
    this._lastEventId = "";
    FakeEventSource.opened.push(url);
    void this._run();
  }

  close() {
    this.readyState = FakeEventSource.CLOSED;
    this._abort.abort();
  }

  async _run() {
    let retry = 1;
    while (this.readyState !== FakeEventSource.CLOSED) {
      const decoder = new SSEDecoder({ lastEventId: this._lastEventId });
      try {
        const headers = this._lastEventId ? { "last-event-id": this._lastEventId } : {};
        const response = await fetch(this.url, { headers, signal: this._abort.signal });
        const type = response.headers.get("content-type") ?? "";
        if (response.status !== 200 || !type.startsWith("text/event-stream")) return this._giveUp();
        this.readyState = FakeEventSource.OPEN;
        this.onopen?.(new Event("open"));
        for await (const piece of response.body) this._dispatch(decoder.feed(piece));
      } catch {
        // The connection is lost: it is tried again.
      }
      this._lastEventId = decoder.lastEventId;
      retry = decoder.retry ?? retry;
      if (this.readyState === FakeEventSource.CLOSED) return;
      this.readyState = FakeEventSource.CONNECTING;
      this.onerror?.(new Event("error"));
      await new Promise((resolve) => setTimeout(resolve, retry));
    }
  }

  _giveUp() {
    if (this.readyState === FakeEventSource.CLOSED) return;
    this.readyState = FakeEventSource.CLOSED;
    this.onerror?.(new Event("error"));
  }

  _dispatch(events) {
    for (const { type, data, id } of events) {
      if (this.readyState !== FakeEventSource.OPEN) return;
      this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId: id }));
    }
  }
}

/** Requests to the server. A token, if the server wants one, is kept in this object only. */

import { inBytes } from "../lib/connection.js";

/**
 * @typedef {object} Model a simulated model
 * @property {string} name
 * @property {string} title
 * @property {string} about
 * @property {string} input what it publishes: text, snapshots or events
 * @property {string} suits the format that shows it best
 * @property {number} pace pieces per second
 */
/** @typedef {{id: string, urls: Record<string, string>}} Handle */

// Characters in one request that publishes records.
const MAX_BODY = 4 << 20;

export class Api {
  _token = "";
  /** @type {Promise<string | null> | null} */
  _tokenRequest = null;

  /** @param {() => Promise<string | null>} askToken asks the user when the server wants a token */
  constructor(askToken) {
    this._askToken = askToken;
  }

  /** @returns {Record<string, string>} */
  headers() {
    return this._token ? { authorization: `Bearer ${inBytes(this._token)}` } : {};
  }

  /**
   * A URL of this server; TypeError for any other.
   * @param {string} path
   */
  url(path) {
    const url = new URL(path, document.baseURI);
    if (url.origin !== location.origin) throw new TypeError(`not a URL of this server: ${path}`);
    return url;
  }

  /** @returns {Promise<Model[]>} */
  async models() {
    return (await this._request("demo/models")).models;
  }

  /**
   * Starts a stream of a simulated model.
   * @param {string} model
   * @param {number} pace
   * @param {number} piece
   * @returns {Promise<Handle>}
   */
  generate(model, pace, piece) {
    return this._post("demo/streams", JSON.stringify({ model, pace, piece }));
  }

  /**
   * Publishes a closed stream of these records.
   * @param {Record<string, any>} options
   * @param {string[]} lines one JSON record each
   * @returns {Promise<Handle>}
   */
  async publish(options, lines) {
    const handle = await this._post("v1/streams", JSON.stringify(options));
    try {
      for (let at = 0; at < lines.length; ) {
        let body = "";
        for (; at < lines.length && body.length < MAX_BODY; at += 1) body += lines[at] + "\n";
        await this._post(handle.urls.chunks, body, "application/x-ndjson");
      }
      await this._post(handle.urls.close);
    } catch (error) {
      void this.remove(handle); // the server refused a part, so the rest will not be read
      throw error;
    }
    return handle;
  }

  /**
   * Which provider these events come from, and whether they contain tool calls.
   * @param {string[]} lines
   * @returns {Promise<import("./replay.js").Recognised>}
   */
  recognise(lines) {
    return this._post("recognise", lines.join("\n"), "application/x-ndjson");
  }

  /** @param {string} id */
  status(id) {
    return this._request(`v1/streams/${encodeURIComponent(id)}`);
  }

  /** @param {Handle} handle */
  cancel(handle) {
    return this._post(handle.urls.cancel);
  }

  /**
   * Deletes a stream; a failure is ignored, because the server deletes old streams itself.
   * @param {Handle} handle
   */
  async remove(handle) {
    const init = { method: "DELETE", headers: this.headers() };
    await fetch(this.url(handle.urls.stream), init).catch(() => {});
  }

  /**
   * @param {string} path
   * @param {string} [body]
   * @param {string} [type]
   */
  _post(path, body = "", type = "application/json") {
    return this._request(path, { method: "POST", body, headers: { "content-type": type } });
  }

  /**
   * The JSON of an answer; Error with the server's message if the request failed.
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<any>}
   */
  async _request(path, init = {}) {
    for (;;) {
      const sent = this._token;
      const headers = { ...init.headers, ...this.headers() };
      const answer = await fetch(this.url(path), { ...init, headers });
      if (answer.ok) return answer.json();
      const content = await answer.json().catch(() => ({}));
      if (answer.status !== 401) throw new Error(content.error?.message ?? `status ${answer.status}`);
      // Another request may have got a new token in the meantime.
      if (this._token === sent) this._token = await this._newToken();
    }
  }

  /** Asks for a token, once for all requests that wait for it. */
  async _newToken() {
    this._tokenRequest ??= this._askToken().finally(() => {
      this._tokenRequest = null;
    });
    const token = await this._tokenRequest;
    if (token === null) throw new Error("a token is needed");
    return token;
  }
}

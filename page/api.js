/** Requests to the server. A token, if the server wants one, is kept in this object only. */

import { inBytes } from "../js/src/client/connection.js";

/**
 * @typedef {object} Model a simulated model
 * @property {string} name
 * @property {string} title
 * @property {string} about
 * @property {string} input what it publishes: text, snapshots or events
 * @property {string} suits the format that shows it best
 * @property {number} pace pieces per second
 * @property {Record<string, any>} options of the stream
 */
/** @typedef {{id: string, urls: Record<string, string>}} Handle */

export class Api {
  _token = "";
  /** @type {Promise<string | null> | null} */
  _tokenRequest = null;

  /** @param {(wasWrong: boolean) => Promise<string | null>} askToken asks the user when the server wants one */
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
   * The examples of a page without a server, each with all that it writes.
   * @returns {Promise<(Model & {text: string})[]>}
   */
  async examples() {
    return (await this._request("examples.json")).models;
  }

  /** The names of the models that the server relays to. @returns {Promise<string[]>} */
  async chatModels() {
    const { data } = await this._request("v1/models");
    return data.map((/** @type {{id: string}} */ { id }) => String(id));
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
    this._tokenRequest ??= this._askToken(this._token !== "").finally(() => {
      this._tokenRequest = null;
    });
    const token = await this._tokenRequest;
    if (token === null) throw new Error("a token is needed");
    return token;
  }
}

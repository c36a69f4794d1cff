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

/** A request that the server refused. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status
   */
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

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

  /**
   * Why a request or a stream failed, for people.
   * @param {unknown} error
   * @param {string} [otherwise]
   */
  reasonOf(error, otherwise = "") {
    if (error instanceof TypeError) return "the server does not answer";
    return error instanceof Error ? error.message : otherwise;
  }

  /**
   * What it means that a stream which was there is not.
   * @param {any} error
   */
  asLost(error) {
    const isLost = error?.status === 404 && document.documentElement.dataset.store === "memory";
    return isLost ? new ApiError("the server was restarted; its streams were in memory", 404) : error;
  }

  /** The token is asked for again. */
  forgetToken() {
    this._token = "";
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
   * The examples of a page without simulated models, each with all that it writes.
   * @returns {Promise<(Model & {text: string})[]>}
   */
  async examples() {
    return (await this._request("web/page/examples.json")).models;
  }

  /**
   * @param {string} id
   * @param {boolean} known whether it was there before
   */
  async status(id, known) {
    try {
      return await this._request(`v1/streams/${encodeURIComponent(id)}`);
    } catch (error) {
      throw known ? this.asLost(error) : error;
    }
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
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<any>} the JSON of the answer
   */
  async _request(path, init) {
    return (await this._fetch(path, init)).json();
  }

  /**
   * An answer that is good; ApiError with the server's message if the request failed.
   * @param {string} path
   * @param {RequestInit} [init]
   */
  async _fetch(path, init = {}) {
    for (;;) {
      const sent = this._token;
      const headers = { ...init.headers, ...this.headers() };
      const answer = await fetch(this.url(path), { ...init, headers });
      if (answer.ok) return answer;
      const content = await answer.json().catch(() => ({}));
      const message = content.error?.message ?? `status ${answer.status}`;
      if (answer.status !== 401) throw new ApiError(message, answer.status);
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
    if (token === null) throw new ApiError("a token is needed", 401);
    return token;
  }
}

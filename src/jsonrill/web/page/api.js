/**
 * The server, asked with a token if it wants one: models, streams, publishing. The token is kept in
 * this object and nowhere else.
 */

import { inBytes } from "../lib/connection.js";

/** @typedef {{name: string, title: string, about: string, input: string, suits: string, pace: number}} Model */
/** @typedef {{id: string, urls: Record<string, string>}} Made */

/** An answer that is not what was asked for. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export class Source {
  /** @param {() => Promise<string | null>} askToken what the user gives when the server asks */
  constructor(askToken) {
    this._askToken = askToken;
    this._token = "";
    /** @type {Promise<string | null> | null} */
    this._asked = null;
    this._base = document.baseURI;
  }

  /** @returns {Record<string, string>} */
  headers() {
    return this._token ? { authorization: `Bearer ${inBytes(this._token)}` } : {};
  }

  /**
   * The address of something of this server; other places are never asked.
   * @param {string} path
   */
  url(path) {
    const url = new URL(path, this._base);
    if (url.origin !== location.origin) throw new TypeError("not a place on this server");
    return url;
  }

  /** @returns {Promise<Model[]>} */
  async models() {
    return (await this._json("demo/models")).models;
  }

  /**
   * @param {string} model
   * @param {number} pace
   * @param {number} piece
   * @returns {Promise<Made>}
   */
  generate(model, pace, piece) {
    return this._post("demo/streams", JSON.stringify({ model, pace, piece }));
  }

  /**
   * A finished stream of these records, each a line of NDJSON.
   * @param {Record<string, any>} options
   * @param {string[]} lines
   * @returns {Promise<Made>}
   */
  async publish(options, lines) {
    const made = await this._post("v1/streams", JSON.stringify(options));
    try {
      await this._append(made, lines);
      await this._post(made.urls.close, "");
    } catch (error) {
      void this.forget(made); // nobody will read what was refused halfway
      throw error;
    }
    return made;
  }

  /**
   * @param {Made} made
   * @param {string[]} lines
   */
  async _append(made, lines) {
    const most = 4 << 20;
    for (let at = 0; at < lines.length; ) {
      let body = "";
      for (; at < lines.length && body.length < most; at += 1) body += lines[at] + "\n";
      await this._post(made.urls.chunks, body, "application/x-ndjson");
    }
  }

  /**
   * Whose events these lines are, and whether there are tool calls among them.
   * @param {string[]} lines
   * @returns {Promise<import("./replay.js").Recognised>}
   */
  recognise(lines) {
    return this._post("recognise", lines.join("\n"), "application/x-ndjson");
  }

  /** @param {string} id */
  async status(id) {
    return this._json(`v1/streams/${encodeURIComponent(id)}`);
  }

  /** @param {Made} made */
  async cancel(made) {
    await this._post(made.urls.cancel, "");
  }

  /** @param {Made} made */
  async forget(made) {
    const init = { method: "DELETE", headers: this.headers() };
    await fetch(this.url(made.urls.stream), init).catch(() => {});
  }

  /**
   * @param {string} path
   * @param {string} body
   * @param {string} [type]
   */
  _post(path, body, type = "application/json") {
    return this._json(path, { method: "POST", body, headers: { "content-type": type } });
  }

  /**
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<any>}
   */
  async _json(path, init = {}) {
    for (;;) {
      const sent = this._token;
      const headers = { ...init.headers, ...this.headers() };
      const answer = await fetch(this.url(path), { ...init, headers });
      if (answer.ok) return answer.json();
      const said = await answer.json().catch(() => ({}));
      if (answer.status !== 401) throw new Refused(answer.status, said.error?.message ?? `${answer.status}`);
      // Another request may have got a better one meanwhile.
      if (this._token === sent) this._token = await this._newToken();
    }
  }

  /** One question for all that wait for the answer. */
  async _newToken() {
    this._asked ??= this._askToken().finally(() => {
      this._asked = null;
    });
    const token = await this._asked;
    if (token === null) throw new Refused(401, "a token is needed");
    return token;
  }
}

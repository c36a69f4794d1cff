/** The page's own server: publishes pasted streams and reads streams in any of its formats. */

import { openEvents, parsePath } from "../js/src/index.js";
import { byId } from "./dom.js";
import { isObject, parseJson } from "./format.js";

/** One rendered event and the number of the record that it comes from. @typedef {{id: string, record: number, data: any}} Rendered */
/** @typedef {{id: string, input: string, last: number, closed: boolean, options: {[name: string]: any}}} Status */

// Seconds after which the server deletes pasted streams.
const KEEP = 3600;
// Every server accepts bodies of this many characters.
const BODY = 2_000_000;

export class Server {
  #token = "";
  /** False for a page on a plain file server. */
  exists = document.documentElement.dataset.server !== "off";

  /**
   * @param {string} path
   * @param {Record<string, string>} [query]
   */
  #url(path, query = {}) {
    const url = new URL(path, document.baseURI);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  /** @returns {Record<string, string>} */
  #headers() {
    return this.#token === "" ? {} : { authorization: `Bearer ${this.#token}` };
  }

  /**
   * Return the JSON of a response. Ask for a token if the server requires one.
   * @param {string} path
   * @param {RequestInit} [init]
   * @returns {Promise<any>}
   */
  async #request(path, init = {}) {
    for (;;) {
      const sent = this.#token;
      const response = await fetch(this.#url(path), { ...init, headers: { ...init.headers, ...this.#headers() } });
      const content = await response.json().catch(() => ({}));
      if (response.ok) return content;
      const message = content.error?.message ?? `status ${response.status}`;
      if (response.status !== 401) throw new Error(message);
      // Another request may have got a token in the meantime.
      if (this.#token === sent) this.#token = await this.#askToken(sent !== "");
    }
  }

  /** @type {Promise<string> | null} */
  #asking = null;

  /** @param {boolean} wasWrong */
  #askToken(wasWrong) {
    this.#asking ??= askToken(wasWrong).finally(() => (this.#asking = null));
    return this.#asking;
  }

  /**
   * Publish records as a stream that is deleted after an hour, and return its id.
   * @param {{[option: string]: any}} options
   * @param {string[]} records one JSON value each
   * @returns {Promise<string>}
   */
  async publish(options, records) {
    const created = { "content-type": "application/json" };
    const stream = JSON.stringify({ ...options, keep: KEEP });
    const { id } = await this.#request("v1/streams", { method: "POST", headers: created, body: stream });
    const headers = { "content-type": "application/x-ndjson" };
    for (const body of bodies(records)) await this.#request(`v1/streams/${id}/events`, { method: "POST", headers, body });
    await this.#request(`v1/streams/${id}/close`, { method: "POST" });
    return id;
  }

  /**
   * @param {string} id
   * @returns {Promise<Status>}
   */
  status(id) {
    return this.#request(`v1/streams/${encodeURIComponent(id)}`);
  }

  /**
   * Yield the events of a stream in a format, across lost connections.
   * @param {string} id
   * @param {Record<string, string>} query
   * @param {{signal?: AbortSignal, after?: string, onState?: (state: string) => void}} [options]
   * @returns {AsyncGenerator<Rendered>}
   */
  async *events(id, query, options = {}) {
    await this.status(id); // which asks for a token if one is needed
    const url = this.#url(`v1/streams/${encodeURIComponent(id)}/events`, query);
    for await (const event of openEvents(url, { headers: this.#headers(), ...options })) {
      yield { id: event.id, record: recordOf(event.id), data: parseJson(event.data) };
    }
  }
}

/** Return the number of the record that an event comes from. @param {string} id */
function recordOf(id) {
  return Number(/(?:^|-)(\d+)(?:\.\d+)?-[^-]+$/.exec(id)?.[1] ?? 0);
}

/** Split records into bodies that the server accepts. @param {string[]} records */
function* bodies(records) {
  let body = "";
  for (const record of records) {
    if (body.length + record.length > BODY) {
      yield body;
      body = "";
    }
    body += `${record}\n`;
  }
  yield body;
}

/**
 * Return the error in an event of the server; null if there is none.
 * @param {any} data
 * @returns {{code: string, message: string, offset: number | null, path: (string | number)[]} | null}
 */
export function errorOf(data) {
  if (!isObject(data) || data.status !== "ERROR" || !isObject(data.error)) return null;
  const { code, message, offset, path } = data.error;
  const place = typeof path === "string" ? ` at character ${offset}, in ${path}` : "";
  return {
    code: String(code),
    // The page shows the place in its own way.
    message: String(message).replace(place, ""),
    offset: Number.isSafeInteger(offset) ? offset : null,
    path: typeof path === "string" ? parsePath(path) : [],
  };
}

/**
 * Ask the user for a token.
 * @param {boolean} wasWrong whether the server refused the one before
 * @returns {Promise<string>}
 */
function askToken(wasWrong) {
  const dialog = byId("token", HTMLDialogElement);
  const field = byId("token-text", HTMLInputElement);
  byId("token-wrong").hidden = !wasWrong;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve, reject) => {
    const finish = () => {
      const token = field.value.trim();
      field.value = "";
      if (dialog.returnValue === "submit" && token !== "") resolve(token);
      else reject(new Error("The server requires a token."));
    };
    dialog.addEventListener("close", finish, { once: true });
  });
}

/** A prompt for a model, if the server relays to one: what comes back is a stream like any other. */

import { button, make, setAttributes } from "../dom.js";
import { escapeText, shorten } from "../escaping.js";
import { Recording } from "../recording.js";
import { SSEDecoder, isDone } from "../../js/src/eventstream/sse.js";

/**
 * @typedef {object} Host
 * @property {() => Promise<string[]>} models the names of the models of this server
 * @property {(path: string, init: RequestInit) => Promise<Response>} send a request to this server
 * @property {(recording: Recording, restart: () => void) => void} open
 */

export class PromptTool {
  /** @type {AbortController | null} */
  _abort = null;
  /** When the models are listed. */
  _listed = Promise.resolve();

  /**
   * @param {HTMLElement} place
   * @param {Host} host
   */
  constructor(place, host) {
    this._host = host;
    this._model = make("select");
    this._text = make("textarea");
    setAttributes(this._text, { rows: 5, placeholder: "Write a recipe for pancakes as JSON.", autocomplete: "off" });
    this._json = make("input");
    this._json.type = "checkbox";
    this._json.checked = true;
    this._problem = make("p", "problem");
    this._problem.setAttribute("role", "alert");
    this._problem.hidden = true;
    this._stop = button("Stop", () => this._abort?.abort());
    this._stop.hidden = true;
    const send = make("button", "main", "Send");
    send.type = "submit";
    const form = make(
      "form",
      "",
      make("label", "", "Model ", this._model),
      make("label", "", "Prompt ", this._text),
      make("label", "check", this._json, " Ask for a JSON object"),
      make("div", "row-of-buttons", send, this._stop),
      this._problem,
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await this._listed;
      void this.send(this._model.value, this._text.value, this._json.checked);
    });
    this.box = make("details", "source", make("summary", "", "Ask a model"), form);
    this.box.addEventListener("toggle", () => (this._listed = this._listModels()), { once: true });
    place.append(this.box);
  }

  async _listModels() {
    try {
      const names = await this._host.models();
      this._model.replaceChildren(...names.map((name) => make("option", "", escapeText(name))));
      names.forEach((name, at) => (this._model.options[at].value = name));
    } catch (error) {
      this._fail(`The models cannot be listed: ${messageOf(error)}`);
    }
  }

  /**
   * Asks the model, and shows its answer while it is written.
   * @param {string} model
   * @param {string} prompt
   * @param {boolean} asJson
   */
  async send(model, prompt, asJson) {
    this._fail("");
    if (model === "") return this._fail("Choose a model.");
    if (prompt.trim() === "") return this._fail("Write a prompt.");
    this._abort?.abort();
    const abort = (this._abort = new AbortController());
    const body = {
      model,
      messages: [{ role: "user", content: prompt }],
      stream: true,
      ...(asJson ? { response_format: { type: "json_object" } } : {}),
    };
    const recording = new Recording({ input: "events", title: shorten(prompt.trim(), 60) });
    const start = performance.now();
    this._stop.hidden = false;
    try {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", body: JSON.stringify(body), headers, signal: abort.signal };
      const answer = await this._host.send("v1/chat/completions", init);
      if (!answer.ok || answer.body === null) {
        const { error } = await answer.json().catch(() => ({ error: null }));
        throw new Error(error?.message ?? `the server answered with status ${answer.status}`);
      }
      this._host.open(recording, () => void this.send(model, prompt, asJson));
      await read(answer.body, (data) => recording.add(data, { at: performance.now() - start }));
      recording.end("complete");
    } catch (error) {
      const isStopped = abort.signal.aborted;
      recording.end(isStopped ? "stopped" : "failed", isStopped ? "" : messageOf(error));
      if (!isStopped) this._fail(messageOf(error));
    } finally {
      if (this._abort === abort) this._stop.hidden = true;
    }
    return undefined;
  }

  /** @param {string} text `""` for none */
  _fail(text) {
    this._problem.hidden = text === "";
    this._problem.textContent = escapeText(text);
  }
}

/**
 * Calls `onData` with the data of each event of a body.
 * @param {ReadableStream<Uint8Array>} body
 * @param {(data: string) => void} onData
 */
async function read(body, onData) {
  const decoder = new SSEDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { data } of decoder.feed(value)) if (!isDone(data)) onData(data);
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

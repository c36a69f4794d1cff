/** A prompt for a model, if the server relays to one: what comes back is a stream like any other. */

import { make, setAttributes } from "../dom.js";
import { escapeText } from "../escaping.js";

/**
 * @typedef {object} Host
 * @property {() => Promise<string[]>} models the names of the models of this server
 * @property {(body: object) => Promise<string>} ask sends a request to a model; the id of the stream that answers
 * @property {(stream: string, prompt: string, begun: number) => void} open
 */

export class PromptTool {
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
    const send = make("button", "main", "Send");
    send.type = "submit";
    const form = make(
      "form",
      "",
      make("label", "", "Model ", this._model),
      make("label", "", "Prompt ", this._text),
      make("label", "check", this._json, " Ask for a JSON object"),
      make("div", "row-of-buttons", send),
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
   * Asks the model; its answer is a stream of the server.
   * @param {string} model
   * @param {string} prompt
   * @param {boolean} asJson
   */
  async send(model, prompt, asJson) {
    this._fail("");
    if (model === "") return this._fail("Choose a model.");
    if (prompt.trim() === "") return this._fail("Write a prompt.");
    const messages = [{ role: "user", content: prompt }];
    const format = asJson ? { response_format: { type: "json_object" } } : {};
    const begun = performance.now();
    try {
      this._host.open(await this._host.ask({ model, messages, stream: true, ...format }), prompt, begun);
    } catch (error) {
      this._fail(messageOf(error));
    }
    return undefined;
  }

  /**
   * Shows the prompt that was sent.
   * @param {string} prompt
   */
  fill(prompt) {
    this._text.value = prompt;
    this.box.open = true;
  }

  /** @param {string} text `""` for none */
  _fail(text) {
    this._problem.hidden = text === "";
    this._problem.textContent = escapeText(text);
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Splits JSON text into coloured runs, from any point on: what a run is depends on a small state only.
 * It colours what is there and validates nothing; text that is no JSON gets some colours, too.
 */

/** @typedef {"key" | "string" | "number" | "word" | ""} Colour */
/**
 * `stack` has a bracket for each open container. `token` is the colour of the token in which the text
 * so far ends, `escaped` is true after a backslash in it.
 * @typedef {{stack: string, expectsKey: boolean, token: Colour, escaped: boolean}} LexerState
 */

/** @returns {LexerState} */
export const newLexer = () => ({ stack: "", expectsKey: false, token: "", escaped: false });

const SPACE = /[\s,:]/;

/**
 * Calls `onRun` with each run between two offsets, and leaves the state as it is at the second.
 * @param {LexerState} state
 * @param {string} text
 * @param {number} from
 * @param {number} to
 * @param {(start: number, end: number, colour: Colour) => void} onRun
 */
export function lex(state, text, from, to, onRun) {
  let start = from;
  /** @type {Colour} */
  let colour = state.token;
  const turn = (/** @type {number} */ at, /** @type {Colour} */ next) => {
    if (at > start) onRun(start, at, colour);
    start = at;
    colour = next;
  };
  for (let at = from; at < to; at += 1) {
    const character = text[at];
    if (state.token === "key" || state.token === "string") {
      if (state.escaped) state.escaped = false;
      else if (character === "\\") state.escaped = true;
      else if (character === '"') {
        state.token = "";
        turn(at + 1, "");
      }
      continue;
    }
    /** @type {Colour} */
    let next = "";
    if (character === '"') {
      next = state.expectsKey && state.stack.endsWith("{") ? "key" : "string";
      state.expectsKey = false;
    } else if (character === "{" || character === "[") {
      state.stack += character;
      state.expectsKey = character === "{";
    } else if (character === "}" || character === "]") {
      state.stack = state.stack.slice(0, -1);
      state.expectsKey = false;
    } else if (character === ",") {
      state.expectsKey = state.stack.endsWith("{");
    } else if (!SPACE.test(character)) {
      next = state.token || (/[-\d]/.test(character) ? "number" : "word");
    }
    if (next !== colour) turn(at, next);
    state.token = next;
  }
  turn(to, "");
}

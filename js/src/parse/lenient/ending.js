/** The end of the text: what is open is closed, or refused. */

import { InvalidJSON, Truncated } from "../../errors.js";
import { END, FIRST_ELEMENT, KEY, Machine, STRING, VALUE } from "../machine.js";
import {
  ASIDE,
  BARE_KEY,
  BARE_VALUE,
  BEFORE,
  BLOCK_COMMENT,
  BLOCK_STRING,
  CLOSING,
  CODE,
  IGNORED,
  LENIENT,
  LINE_COMMENT,
  ODD_KEY,
  ODD_STRING,
  PROSE,
  THOUGHTS,
} from "./states.js";
import { closesBracket } from "./strings.js";
import { AFTER_VALUE, SECOND_IN_LINE, SECOND_SCALAR, TAKES_BACK, USES_NAME } from "./tables.js";
import { ALL_WORDS } from "./words.js";

/** @typedef {import("./core.js").Leniency} Leniency */

const ANY_SPACE = /\s/g;
/**
 * What the states of leniency are to the strict machine; a comment is what it interrupted.
 * @type {{[state: number]: number}}
 */
const STRICT = {
  [BEFORE]: VALUE,
  [PROSE]: VALUE,
  [THOUGHTS]: VALUE,
  [ASIDE]: VALUE,
  [CODE]: VALUE,
  [IGNORED]: END,
  [CLOSING]: END,
  [BARE_KEY]: KEY,
  [ODD_KEY]: KEY,
  [ODD_STRING]: STRING,
  [BLOCK_STRING]: STRING,
  [BARE_VALUE]: VALUE,
};

/** Ends a text, wherever it stops. */
export class TextEnd {
  /** @param {Leniency} m */
  finish(m) {
    m._last = m._flushing = true;
    const held = m._held + m._half;
    m._held = m._half = "";
    m._read(held, 0);
    m._endRepair(m._offset + m._held.length);
    if (m._state >= LENIENT) m._tail = new Uint8Array(0); // of text that is not read
    const inString = [STRING, ODD_STRING, BLOCK_STRING].includes(m._state);
    if (inString && m.text.stringAt !== m._token) m.text.beginText(m); // of one that has just begun
    if (m._state === STRING && /^[”’]/.test(m.text.tailText) && m._frames.length !== 0) {
      this.endCurly(m);
    }
    if (m._state === CLOSING) m.brackets.endRoot(m);
    if (m._state === IGNORED) this.refuseSecond(m);
    if (m._state === LINE_COMMENT || m._state === BLOCK_COMMENT) {
      m.comments.refuse(m, m._held.length, Truncated, true);
    }
    const atRoot = m._frames.length === 0;
    const apostrophe = m._state === ODD_STRING && m.text.opened === "'" && atRoot;
    const inProse = [PROSE, ASIDE, CODE].includes(m._state);
    this.strictly(m);
    if (apostrophe) {
      const [one, other] = ["the text stopped in a string", "it begins with an apostrophe"];
      throw m._twoReadings(one, other, m._held.length, Truncated);
    }
    if (inProse && !m._many) throw m._errorHere(InvalidJSON, "a value", "but the text has none");
    const isOpen = !atRoot || m._state === STRING;
    if (isOpen && m.rules.has("cut-off") && m._mayClose && !m._cut) {
      this.refuseSwallowed(m);
      m._mayRepair("cut-off", m._held.length, 0);
      this.cutOff(m);
    } else {
      Machine.prototype._finish.call(m);
    }
  }

  /**
   * A number, a text or a word after another; or after a bracket, in its line or alone. Or the value
   * is part of a program that goes on after it.
   * @param {Leniency} m
   */
  refuseSecond(m) {
    const second = m.prose.isScalar ? SECOND_SCALAR : SECOND_IN_LINE;
    const after = m.prose.trailingText;
    const program = USES_NAME.test(`${m.prose.introduction}\0${after}`);
    if ((second.test(after) || TAKES_BACK.test(after) || program) && !m._many) {
      const one = "the value is before this";
      throw m._twoReadings(one, "it is in this text", m._held.length);
    }
  }

  /**
   * The text ends after a curly quote and brackets: `{"a": "b”}`.
   * @param {Leniency} m
   */
  endCurly(m) {
    const tail = m.text.tailText;
    const end = m._held.length;
    const closers = tail.slice(1).replace(ANY_SPACE, "");
    const expected = [...m.brackets.brackets(m)].reverse().join("");
    const meant = closers !== "" && closers === expected && !m.quotes.opensCurly(m);
    if (meant && m.rules.has("curly-quotes")) {
      m._mayRepair("curly-quotes", end);
      m.text.tailText = "";
      m.text.finishString(m, m._held, end - 1);
      m.quotes.replay(m, tail.slice(1), end);
    }
  }

  /**
   * A string that only the end of the text ends may have swallowed what came after it.
   * @param {Leniency} m
   */
  refuseSwallowed(m) {
    const end = m._held.length;
    let swallowed;
    if (m._state === KEY) {
      swallowed = /[:{}[\],]/.test(m._begun);
    } else if (m._state === STRING) {
      swallowed = this.maySwallow(m);
    } else {
      swallowed = false; // one before it: `refuseOpen`
    }
    if (swallowed) {
      const [one, other] = ["the text stopped in a string", "a quote is missing"];
      throw m._twoReadings(one, other, end, Truncated);
    }
    m.brackets.refuseOpen(m, end, Truncated);
  }

  /**
   * True if the string that is cut off has what may come after the value.
   * @param {Leniency} m
   */
  maySwallow(m) {
    const curly = m.text.tailText.startsWith("”") && !m.quotes.opensCurly(m);
    if (m.quotes.quoted || curly) return true;
    // Without one that is not escaped, no line break counts.
    let text = m.text.emitted + m.text.tailText;
    if (m.text.linesAt !== m._token) text = text.replaceAll("\n", " ");
    return AFTER_VALUE.test(text) || closesBracket(text) || m.brackets.swallows(m, text);
  }

  /**
   * Close what is open. Half a key, escape or number is dropped, half a word has one end.
   * @param {Leniency} m
   */
  cutOff(m) {
    const end = m._held.length;
    if (m._state === STRING) {
      m.text.finishString(m, m._held, end - 1);
    } else if (m._held !== "" && m._state <= FIRST_ELEMENT) {
      const entry = ALL_WORDS.find(([word]) => word.startsWith(m._held));
      if (entry !== undefined) m._sink.scalar(entry[1], undefined, m._offset);
    }
    while (m._frames.length !== 0) m.brackets.leave(m, end);
  }

  /**
   * Be in the state of the strict machine that comes nearest to this one.
   * @param {Leniency} m
   */
  strictly(m) {
    if (m._state === LINE_COMMENT || m._state === BLOCK_COMMENT) m._state = m.comments.resume;
    m._state = STRICT[m._state] ?? m._state;
  }
}

/** Whether the text of an answer is meant to be JSON. */

// What a model says before the JSON that was asked for is short.
const PREAMBLE = 300;
const BEGINS = /^\s*(?:`{3}|[[{"])/;
const INSIDE = /(?:`{3}\w*\s*|[\n:>]\s*)[[{]\s*["'\w[{\]}]/;

/**
 * True if a text is JSON or nearly so, in a code fence or after a few words for instance. An answer in
 * prose that has some JSON in it is not.
 * @param {string} text
 * @param {boolean} ended whether that is all of it
 */
export function meansJson(text, ended) {
  if (BEGINS.test(text)) return true;
  const start = text.slice(0, PREAMBLE + 20).search(INSIDE);
  if (start < 0) return false;
  if (!ended) return true;
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  // One that was cut off has no bracket at its end.
  const prose = end < start ? start : start + text.length - end;
  return prose <= Math.max(PREAMBLE, text.length / 2);
}

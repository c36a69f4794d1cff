/** The rules of lenient reading. Each is explained, with an example, in the docs of repair. */

import { RULES } from "./tables.js";

/**
 * @typedef {"leading-text" | "trailing-text" | "fences" | "trailing-commas" | "missing-commas"
 *   | "brackets" | "ellipses" | "comments" | "single-quotes" | "curly-quotes" | "inner-quotes"
 *   | "bare-keys" | "bare-values" | "python-literals" | "nan" | "numbers" | "tuples" | "odd-spaces"
 *   | "fullwidth" | "missing-quotes" | "block-strings" | "back-ticks" | "raw-newlines"
 *   | "bad-escapes" | "markdown-escapes" | "cut-off"} Rule
 */

/**
 * The rules that `repair` turns on; TypeError for a name that is no rule.
 * @param {true | Rule | Iterable<Rule>} repair
 * @returns {Set<string>}
 */
export function ruleNames(repair) {
  if (repair === true) return new Set(RULES.filter((name) => name !== "bare-values"));
  if (typeof repair !== "string" && typeof repair?.[Symbol.iterator] !== "function") {
    throw new TypeError(`repair is true, false, or names of repairs, not ${String(repair)}`);
  }
  const names = typeof repair === "string" ? [repair] : [...repair];
  const unknown = names.filter((name) => !RULES.includes(name));
  if (unknown.length !== 0) {
    throw new TypeError(`no such repair: ${unknown.join(", ")}; there are ${RULES.join(", ")}`);
  }
  return new Set(names);
}

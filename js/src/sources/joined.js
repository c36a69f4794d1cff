/** The text of what was kept of an answer. Readers of values do not load it. */

/** @param {import("./driving.js").Kept} kept */
export function joined({ pieces }) {
  const utf8 = new TextDecoder();
  const texts = pieces.map((it) => (typeof it === "string" ? it : utf8.decode(it, { stream: true })));
  return texts.join("");
}

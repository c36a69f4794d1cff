/** A path as text. Apart from the other functions of paths, which readers of text alone do not load. */

/** @typedef {import("../paths.js").Path} Path */

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
// How many steps at either end of a long path a message shows.
const STEPS_SHOWN = 6;

/**
 * `["users", 1, "a.b"]` as `root.users[1]["a.b"]`.
 * @param {Path} path
 * @returns {string}
 */
export function formatPath(path) {
  return "root" + path.map(stepText).join("");
}

/**
 * As `formatPath`, for messages: of a path with many steps the first and the last.
 * @param {Path} path
 */
export function shortPath(path) {
  if (path.length <= 2 * STEPS_SHOWN) return formatPath(path);
  const last = path.slice(-STEPS_SHOWN).map(stepText).join("");
  return `${formatPath(path.slice(0, STEPS_SHOWN))}…${last}`;
}

/** @param {string | number} step */
export function stepText(step) {
  if (typeof step === "number") return `[${step}]`;
  return NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/**
 * What reads text. Modules that are loaded later, with `import()`, take from here what they need of it:
 * so bundlers see that they need no more, and put all of it into one chunk.
 */

export { ValueBuilder } from "../build/builder.js";
export { formatPath } from "../parse/path-text.js";
export { createMachine } from "../parse/create.js";
export { SEPARATOR } from "../parse/machine.js";
export { isPiece, KEPT } from "../sources/reading.js";
export { append } from "./growing.js";

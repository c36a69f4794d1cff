/**
 * Near-JSON: `import "jsonrill/repair"` once, and every function and class takes `repair`.
 *
 * It is a module of its own because it is as large as the rest: programs that read JSON alone do not
 * load it.
 */

import { useLenient } from "./create.js";
import { LenientMachine } from "./lenient/inside.js";

useLenient(LenientMachine);

export { RULES } from "./lenient/tables.js";
/** @typedef {import("./lenient/rules.js").Rule} Rule */
/** @typedef {import("./machine.js").Repair} Repair */

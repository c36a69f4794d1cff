/**
 * Near-JSON: `import "jsonrill/repair"` once, and every function and class takes `repair`.
 *
 * It is a module of its own because it is as large as the rest: programs that read JSON alone do not
 * load it.
 */

import { useLenient } from "./parse/create.js";
import { LenientMachine } from "./parse/lenient/inside.js";

useLenient(LenientMachine);

export { RULES } from "./parse/lenient/tables.js";
/** @typedef {import("./parse/lenient/rules.js").Rule} Rule */
/** @typedef {import("./parse/machine.js").Repair} Repair */

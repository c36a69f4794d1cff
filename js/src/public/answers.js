import { Part as PartClass } from "../answers/parts.js";

export { Parts } from "../answers/parts.js";
export { ToolCall, ToolCalls } from "../toolcalls/toolcalls.js";

/** The class of parts; as a type, a union by `kind`. */
export const Part = PartClass;
/** @typedef {import("../answers/parts.js").AnyPart} Part */

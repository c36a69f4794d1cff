export { ExactNumber } from "../parse/exact.js";
export { formatPath, fromPointer, parsePath, PathError, toPointer } from "../paths.js";

export { formatPath, fromPointer, parsePath, PathError, toPointer } from "../paths.js";

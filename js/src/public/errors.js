export { InvalidJSON, JsonrillError, LimitExceeded, StreamClosed, Truncated } from "../errors.js";

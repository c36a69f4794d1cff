export { EventsError, LimitError, openEvents, SSEDecoder } from "../client/events.js";
export { open } from "../client/open.js";

export { EventsError, LimitError, openEvents, openEventSource, SSEDecoder } from "../client/events.js";
export { open } from "../client/open.js";

/** The media types of event streams and of lines of JSON, as in Python's `eventstream.py`. */

// There are many names, and no standard.
const LINES = /^(?:application|text)\/(?:x-)?(?:ndjson|jsonl|json-?lines|json-stream|stream\+json)$/;

/** @param {string} contentType */
function mediaType(contentType) {
  return contentType.split(";")[0].trim().toLowerCase();
}

/** True for the type of server-sent events. @param {string} contentType */
export function isEventStream(contentType) {
  return mediaType(contentType) === "text/event-stream";
}

/** True for a type of JSON texts, one a line. @param {string} contentType */
export function isLines(contentType) {
  return LINES.test(mediaType(contentType));
}

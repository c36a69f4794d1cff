/**
 * What each class of errors is called on the wire, written by tools/tables.py from errors.py:
 * change it there. Constants, so that a program has only those that it uses.
 */

export const ERROR = "ERROR";
export const INVALID_JSON = "INVALID_JSON";
export const TRUNCATED = "TRUNCATED";
export const LIMIT_EXCEEDED = "LIMIT_EXCEEDED";
export const INVALID_SCHEMA = "INVALID_SCHEMA";
export const FIELD_NOT_FOUND = "FIELD_NOT_FOUND";
export const INVALID_FRAGMENT = "INVALID_FRAGMENT";
export const REVISION = "REVISION";
export const INVALID_MESSAGE = "INVALID_MESSAGE";
export const GAP = "GAP";
export const CLOSED = "CLOSED";
export const SOURCE_FAILED = "SOURCE_FAILED";
export const UNKNOWN_SOURCE = "UNKNOWN_SOURCE";

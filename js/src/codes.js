/**
 * What each class of errors is called on the wire, written by tools/tables.py from errors.py:
 * change it there. Constants, so that a program has only those that it uses.
 */

export const JsonrillError = "ERROR";
export const InvalidJSON = "INVALID_JSON";
export const Truncated = "TRUNCATED";
export const LimitExceeded = "LIMIT_EXCEEDED";
export const InvalidSchema = "INVALID_SCHEMA";
export const FieldNotFound = "FIELD_NOT_FOUND";
export const FragmentError = "INVALID_FRAGMENT";
export const RevisionError = "REVISION";
export const StreamClosed = "CLOSED";
export const SourceFailed = "SOURCE_FAILED";
export const UnknownSource = "UNKNOWN_SOURCE";

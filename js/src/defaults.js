/**
 * What errors are called on the wire, and defaults, written by tools/tables.py from errors.py and
 * eventstream.py: change them there.
 */

/** The code of each class of errors. */
export const CODES = {
  JsonrillError: "ERROR",
  InvalidJSON: "INVALID_JSON",
  Truncated: "TRUNCATED",
  LimitExceeded: "LIMIT_EXCEEDED",
  InvalidSchema: "INVALID_SCHEMA",
  FieldNotFound: "FIELD_NOT_FOUND",
  FragmentError: "INVALID_FRAGMENT",
  RevisionError: "REVISION",
  StreamClosed: "CLOSED",
  SourceFailed: "SOURCE_FAILED",
  UnknownSource: "UNKNOWN_SOURCE",
};

/** Sizes of untrusted input, in characters and for each document. */
export const LIMITS = {
  depth: 256,
  text: 67_108_864,
  string: 16_777_216,
  number: 400,
  keys: 100_000,
  repairs: 100_000,
};

/** Milliseconds of silence after which a connection counts as lost. */
export const SILENCE = 45_000;

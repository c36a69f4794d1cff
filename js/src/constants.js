/** Defaults, written by tools/tables.py from errors.py and eventstream.py: change them there. */

/** Sizes of untrusted input, for each document. */
export const LIMITS = {
  depth: 256,
  text: 67_108_864,
  string: 16_777_216,
  number: 400,
  keys: 100_000,
};

/** Milliseconds of silence after which a connection counts as lost. */
export const SILENCE = 45_000;

/** The states of the machine that JSON does not have. */

/** This and all above: states of leniency. */
export const LENIENT = 11;
/** Where the value may begin. */
export const BEFORE = LENIENT;
/** In text before it. */
export const PROSE = LENIENT + 1;
/** In <think>, where nothing is looked for. */
export const THOUGHTS = LENIENT + 2;
/** In brackets that are part of the prose. */
export const ASIDE = LENIENT + 3;
/** In text after the value. */
export const IGNORED = LENIENT + 4;
export const LINE_COMMENT = LENIENT + 5;
export const BLOCK_COMMENT = LENIENT + 6;
export const BARE_KEY = LENIENT + 7;
/** In a string value with quotes that are not JSON's. */
export const ODD_STRING = LENIENT + 8;
export const ODD_KEY = LENIENT + 9;
/** After the root's bracket, which may be one too many. */
export const CLOSING = LENIENT + 10;
/** In a string between three quotes or ticks. */
export const BLOCK_STRING = LENIENT + 11;
/** In a string without quotes. */
export const BARE_VALUE = LENIENT + 12;
/** In a fence that names another language than JSON. */
export const CODE = LENIENT + 13;

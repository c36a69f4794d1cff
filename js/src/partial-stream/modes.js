/**
 * The modes of updates, and the options that not all of them use, written by tools/tables.py from
 * options.py: change it there.
 */

/** @typedef {"BATCH" | "ALL-TOGETHER" | "ONE-BY-ONE" | "PROGRESSIVE" | "REALTIME"} Mode */

/** @type {readonly Mode[]} */
export const MODES = ["BATCH", "ALL-TOGETHER", "ONE-BY-ONE", "PROGRESSIVE", "REALTIME"];

/** @type {Mode} */
export const DEFAULT_MODE = "REALTIME";

/**
 * Their defaults, and the modes that use them.
 * @type {{[name: string]: {default: any, modes: Mode[]}}}
 */
export const MODE_OPTIONS = {
  partialNumbers: {"default": true, "modes": ["REALTIME"]},
  earlyLiterals: {"default": false, "modes": ["REALTIME"]},
  zeroValues: {"default": false, "modes": ["PROGRESSIVE", "REALTIME"]},
  onlyComplete: {"default": [], "modes": ["PROGRESSIVE", "REALTIME"]},
};

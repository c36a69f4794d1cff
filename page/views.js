/**
 * The views of a stream. Each module of a view registers itself when it is imported (page.js imports
 * them all); the page makes a tab and an empty panel for each.
 *
 *     registerView({
 *       id: "calls", label: "Calls", order: 30,
 *       mount: (panel, stage) => new CallsView(panel, stage),
 *     });
 */

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./player.js").Player} Player */
/** @typedef {import("./live.js").Live} Live */
/** @typedef {import("../js/src/paths.js").Path} Path */
/**
 * What the page offers to a view.
 * @typedef {object} Stage
 * @property {Recording | null} recording the stream that is shown
 * @property {Player | null} player
 * @property {(view: string) => void} showView switches to a view by its id
 * @property {(path: Path) => void} selectPath selects a value in the tree and in the raw text
 * @property {(offset: number) => void} revealText shows a character of the raw text
 * @property {(kind: "hovered" | "selected", range: [number, number] | null, reveals: boolean) => void} link
 *   marks characters of the raw text
 * @property {() => void} redraw draws the view that is shown again
 * @property {(text: string) => void} announce tells users of screen readers
 * @property {Live["subscribe"]} subscribe reads the live stream in another format
 * @property {(recording: Recording, how?: Start) => void} open shows another recording
 */
/**
 * `plays`: from the start, by its own times; else its end is shown. `suits`: the view that shows it
 * best. `restart`: what Restart does.
 * @typedef {{plays?: boolean, suits?: string, restart?: (() => void) | null}} Start
 */
/**
 * A view while it is mounted. All but `begin` and `draw` may be left out.
 * @typedef {object} View
 * @property {(recording: Recording | null) => void} begin another recording is shown; null: none
 * @property {(position: number, until: number) => boolean} draw draws this moment, until this time;
 *   true if something is left. Called in a frame, only while the view is visible.
 * @property {(recording: Recording) => boolean} [suits] false hides the tab
 */
/**
 * @typedef {object} ViewSpec
 * @property {string} id
 * @property {string} label of the tab
 * @property {number} order of the tabs, from left to right
 * @property {(panel: HTMLElement, stage: Stage) => View} mount
 */

/** @type {ViewSpec[]} */
const specs = [];

/** @param {ViewSpec} spec */
export function registerView(spec) {
  specs.push(spec);
}

/** All views, in the order of their tabs. */
export function registeredViews() {
  return [...specs].sort((one, other) => one.order - other.order);
}

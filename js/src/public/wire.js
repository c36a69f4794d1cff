export { Rebuilder } from "../build/rebuilder.js";
export { Update } from "../partial-stream/update.js";
export { Fragment, FragmentError } from "../wire/fragments.js";

export { Rebuilder } from "../build/rebuilder.js";
export { Fragment, FragmentError } from "../wire/fragments.js";

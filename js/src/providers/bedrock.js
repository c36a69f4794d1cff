/** Amazon Bedrock ConverseStream: one member of a union per event, blocks with an index. */

import { isObject } from "../parse/values.js";
import { asId, asIndex, asObject, asText } from "./fields.js";
import { asUsage, failed, finished, unread } from "./statements.js";

/** @typedef {import("./fields.js").Fields} Fields */
/** @typedef {import("./statements.js").Statement} Statement */

const EVENTS = "messageStart contentBlockStart contentBlockDelta contentBlockStop messageStop".split(" ");

/** @param {Fields} event */
export function accepts(event) {
  return EVENTS.some((name) => name in event);
}

/**
 * @param {Fields} event
 * @returns {Statement[]}
 */
export function translate(event) {
  const { contentBlockDelta, contentBlockStart, contentBlockStop, messageStart, messageStop } = event;
  if (isBlock(contentBlockDelta) && isObject(contentBlockDelta.delta)) {
    return delta(asIndex(contentBlockDelta.contentBlockIndex), contentBlockDelta.delta);
  }
  if (isBlock(contentBlockStart) && isObject(asObject(contentBlockStart.start).toolUse)) {
    const { toolUseId, name } = contentBlockStart.start.toolUse;
    const index = asIndex(contentBlockStart.contentBlockIndex);
    return [{ kind: "call", id: asId(toolUseId), index, name: asText(name) }];
  }
  if (isBlock(contentBlockStop)) {
    const index = asIndex(contentBlockStop.contentBlockIndex);
    return [{ kind: "call", index, opens: false, end: {} }];
  }
  if (messageStart !== undefined) return [{ kind: "begin" }];
  if (messageStop !== undefined) {
    return [finished(asObject(messageStop).stopReason)];
  }
  const metadata = asObject(event.metadata);
  if ("usage" in metadata) return asUsage(metadata.usage);
  const errors = Object.keys(event).filter((key) => key.endsWith("Exception"));
  return errors.map((key) => failed(event[key]));
}

/** @param {unknown} block @returns {block is Fields} */
function isBlock(block) {
  return isObject(block) && "contentBlockIndex" in block;
}

/**
 * @param {number | null} index
 * @param {Fields} change
 * @returns {Statement[]}
 */
function delta(index, change) {
  if (isObject(change.toolUse) && "input" in change.toolUse) {
    return [{ kind: "call", index, text: asText(change.toolUse.input) }];
  }
  const text = asText(change.text);
  if (text !== null) return [{ kind: "text", text, choice: 0, block: index }];
  const thought = asText(asObject(change.reasoningContent).text);
  if (thought !== null) return [{ kind: "reasoning", text: thought, choice: 0, block: index }];
  const isKnown = ["text", "reasoningContent", "citation"].some((name) => name in change);
  return isKnown ? [] : unread(index);
}

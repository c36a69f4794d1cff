/** What is wrong with a stream, where, and what to do about it. */

import { formatPath } from "../js/src/index.js";
import { describePlace } from "./characters.js";
import { formatCount, formatNumber, parseJson, shorten } from "./format.js";
import { locate, locateTrack, markItem } from "./marks.js";
import { Outline } from "./outline.js";
import { CUTS, GENERAL, describeFault, adviseOnError, findRemedy } from "./remedies.js";

/** @typedef {import("./answer.js").Track} Track */
/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {import("./marks.js").Mark} Mark */
/**
 * @typedef {{tone: "good" | "bad" | "busy", what: string, where: string, todo: string, mark: Mark | null}} Diagnosis
 */

const ITEMS = { text: "piece", many: "piece", snapshots: "snapshot", events: "event", wire: "message" };

/** What can be wrong; the first finding is shown. */
const FINDERS = [
  ...[findFailure, findBrokenItem, findNoData, findProviderError, findFenced, findInvalidDocument, findCut, findInvalidCall],
  ...[findReport, findWireError, findUnknownEvents, findDoubleEncoding, findMissingId, findLostCharacter, findJoinedEvents],
];

/**
 * @param {Recording} recording
 * @returns {Diagnosis}
 */
export function diagnose(recording) {
  for (const find of FINDERS) {
    const finding = find(recording);
    if (finding !== null) return finding;
  }
  return recording.isEnded ? good(recording) : busy(recording);
}

/**
 * Return the diagnosis at a playback position. Before the end of an error-free stream, it names the value being received.
 * @param {Diagnosis} diagnosis
 * @param {Recording} recording
 * @param {number} position
 * @returns {Diagnosis}
 */
export function atMoment(diagnosis, recording, position) {
  if (diagnosis.tone === "bad" || recording.state !== "" || (position === recording.length && recording.isEnded))
    return diagnosis;
  const view = recording.at(position);
  const node = view?.outline.nodeAt(Math.min(view.offset, view.outline.length) - 1);
  const what = node && !node.isComplete(view?.offset ?? 0) ? `Receiving ${shorten(formatPath(node.path), 80)}` : "Receiving";
  const where = recording.isEnded ? "no error follows" : diagnosis.where;
  return { tone: "busy", what, where, todo: "", mark: null };
}

/**
 * @param {string} what
 * @param {string} todo
 * @param {{where?: string, mark?: Mark | null}} [place]
 * @returns {Diagnosis}
 */
function bad(what, todo, { where = "", mark = null } = {}) {
  return { tone: "bad", what, where, todo, mark };
}

/** @param {Recording} recording */
function findFailure(recording) {
  const { failure, advice, length } = recording;
  const where = length > 0 ? `after ${countItems(recording)}` : "";
  return failure === "" ? null : bad(failure, advice, { where });
}

/** @param {Recording} recording */
function findProviderError(recording) {
  const { answer, items, length } = recording;
  if (!answer?.error) return null;
  const what = `The provider reported an error: ${shorten(answer.error)}`;
  const todo = adviseOnError(answer.error, items);
  const open = answer.calls.find((call) => call.states.at(-1)?.status === "truncated");
  if (open !== undefined) return bad(what, todo, locateTrack(open));
  const { outline } = answer;
  const { path = [] } = outline.faults[0] ?? {};
  const where = recording.hasDocument ? describePlace(outline.text, outline.length, path) : `event ${formatNumber(length)}`;
  const mark = { offset: outline.length, length: 0, path, position: length, label: "provider error", track: null };
  return bad(what, todo, { where, mark });
}

/** @param {Recording} recording */
function findInvalidDocument(recording) {
  const outline = recording.document;
  // Only a line of JSON lines can be cut off with text after it.
  const fault = outline?.faults.find(({ code, offset }) => code !== "TRUNCATED" || /\S/.test(outline.text.slice(offset)));
  if (outline === null || fault === undefined) return null;
  if (fault.code === "LIMIT_EXCEEDED") {
    const todo = `If you expect this, raise the limit “${fault.expected}” of the program that reads it. If not, find what wrote it.`;
    return bad(`Limit exceeded: ${fault.message.split(" at ")[0]}`, todo, locate(recording, fault, outline, "over a limit"));
  }
  const others = outline.faults.length - 1;
  const more = others > 0 ? `, and ${formatCount(others, "more error")}` : "";
  const what = `${describeFault(fault, outline.text, "Invalid JSON")}${more}`;
  const place = locate(recording, fault, outline, fault.expected === "the end of the text" ? "more text follows" : "not JSON");
  return bad(what, findRemedy(fault, outline.text, recording.repaired !== undefined), place);
}

/** Diagnose broken JSON in a code fence. @param {Recording} recording */
function findFenced(recording) {
  const { document, answer, repaired } = recording;
  const [all, before, content] = /^([^]*?```\w*[\r\n])([^]*?)(?:[\r\n]```|$)/.exec(document?.text ?? "") ?? [];
  if (!recording.isEnded || all === undefined || document?.faults[0]?.code !== "INVALID_JSON") return null;
  // Spaces before the content keep its offsets.
  const outline = Outline.of(before.replace(/\S/g, " ") + content);
  const [fault] = outline.faults;
  if (fault === undefined) return null;
  if (fault.code === "TRUNCATED" && answer?.reason) return findCut(recording, outline);
  const what = describeFault(fault, outline.text, "Invalid JSON in a code fence");
  const todo = `Ask for JSON without a code fence. ${findRemedy(fault, outline.text, repaired !== undefined)}`;
  return bad(what, todo, locate(recording, fault, outline, "not JSON"));
}

/**
 * Diagnose an answer or a text that stopped early.
 * @param {Recording} recording
 * @param {Outline | null} [document] the JSON of the answer
 */
function findCut(recording, document = recording.document) {
  const { outline, answer } = recording;
  const fault = document?.faults[0];
  const reason = answer?.reason || fault?.reason || "";
  const isOpen = fault !== undefined && (outline !== null || document?.root !== null);
  if (reason === "" && !isOpen) return null;
  const [cause, advice] = CUTS[reason || (answer ? "complete" : "")] ?? CUTS[""];
  const what = answer?.reasonWord ? `${cause} (${answer.reasonWord})` : cause;
  const todo = recording.isJoined ? `${advice} No blank line separates the events, so readers join them.` : advice;
  if (fault !== undefined && isOpen && document) {
    const isNumber = fault.offset === document.length && /\d$/.test(document.text) && /^'/.test(fault.expected);
    const missing = `${fault.expected} is missing${isNumber ? ", and the number may go on" : ""}`;
    return bad(`${what}; ${missing}`, todo, locate(recording, fault, document, "cut off"));
  }
  const open = answer?.tracks.find((track) => track.states.at(-1)?.status === "truncated") ?? null;
  if (open?.kind === "call") return bad(what, todo, locateTrack(open));
  const finding = reason === "refused" && open?.text ? `${what}: “${shorten(open.text)}”` : what;
  const position = open?.states.at(-1)?.at ?? recording.length;
  const track = document === null ? open : null;
  const mark = { offset: document?.length ?? 0, length: 0, path: [], position, label: "cut off", track };
  return bad(finding, todo, { where: `after ${countItems(recording)}`, mark });
}

/** Diagnose a call whose arguments are wrong or cut off. @param {Recording} recording */
function findInvalidCall(recording) {
  const calls = recording.answer?.calls ?? [];
  const wrong = calls.find((call) => call.states.at(-1)?.status === "error");
  if (wrong !== undefined) {
    const fault = wrong.outline.faults[0];
    const subject = `Invalid arguments of ${wrong.name || "a call"}`;
    const what = fault ? describeFault(fault, wrong.text, subject) : `${subject}: ${wrong.message}`;
    const todo = fault ? findRemedy(fault, wrong.text) : GENERAL;
    return bad(what, `${todo} A strict tool schema prevents it.`, locateTrack(wrong));
  }
  const open = recording.isEnded ? calls.find((call) => call.states.at(-1)?.status === "truncated") : undefined;
  return open ? bad(...CUTS.complete, locateTrack(open)) : null;
}

/** Report what the server found. @param {Recording} recording */
function findReport(recording) {
  const { report } = recording;
  if (report === null) return null;
  const outline = recording.outline ?? recording.answer?.outline;
  if (report.code === "INVALID_SCHEMA") {
    const todo = "Send the model the sentence “Violates the schema: …” and ask again. If the value is right, change the schema.";
    const place = outline ? locate(recording, report, outline, "violates the schema") : {};
    const message = report.message.replace(/ \(\w+\)$/, "").replace("is a required property", "is missing");
    return bad(`Violates the schema: ${message}`, todo, place);
  }
  if (report.code !== "REVISION") return bad(report.message, GENERAL, { where: formatPath(report.path) });
  const { message, path, position } = report;
  const todo = "Text that was sent cannot be changed: add to snapshots only, or send them as messages of the jsonrill wire.";
  const mark = markItem(position, "changed", path);
  return bad(message.split("; ")[0], todo, { where: `snapshot ${formatNumber(position)}, in ${formatPath(path)}`, mark });
}

/** @param {Recording} recording */
function findWireError({ kind, wireError, isWireEnded, isEnded, length }) {
  if (kind !== "wire") return null;
  if (wireError !== null) {
    const mark = markItem(wireError.position, "does not fit");
    const todo = "The receiver keeps its value until the next snapshot: request one from the sender.";
    return bad(`The message does not fit: ${wireError.message}`, todo, { where: `message ${wireError.position}`, mark });
  }
  if (!isEnded || isWireEnded) return null;
  const place = { where: `after ${formatCount(length, "message")}`, mark: markItem(length, "cut off") };
  return bad("Cut off: the messages stop before the end", "Connect again: the sender's next snapshot has the rest.", place);
}

/** Diagnose an event, a snapshot or a message that is not JSON. @param {Recording} recording */
function findBrokenItem({ broken, items, kind, answer }) {
  if (broken === 0) return null;
  const outline = Outline.of(items[broken - 1]);
  const [fault] = outline.faults;
  const isCut = fault.code === "TRUNCATED";
  const subject = `This ${ITEMS[kind]} is not JSON`;
  const what = isCut ? `${subject}: ${fault.expected} is missing` : describeFault(fault, outline.text, subject);
  const error = answer?.error ? `; the provider reported an error: ${shorten(answer.error)}` : "";
  const todo = isCut ? "Check the program that wrote or copied it: it stops too early." : findRemedy(fault, outline.text);
  const where = `${ITEMS[kind]} ${broken}: ${describePlace(outline.text, fault.offset, fault.path)}`;
  return bad(what + error, todo, { where, mark: markItem(broken, "not JSON") });
}

/** Diagnose a stream without data. @param {Recording} recording */
function findNoData({ isEnded, length }) {
  if (!isEnded || length > 0) return null;
  return bad("The stream ended without any data", "Look at the request and at the status of its response.");
}

/** @param {Recording} recording */
function findUnknownEvents({ isEnded, answer }) {
  if (!isEnded || answer === null || answer.tracks.length > 0) return null;
  const empty = "Request it again. If it stays empty, look at the prompt and at the token limit.";
  if (answer.isRecognised) return bad("The answer is empty: it has no text and no call", empty);
  const todo = "If they are not events of a model provider, choose another format under Options.";
  return bad("These events contain no text and no call of a known provider", todo);
}

/** Diagnose JSON in a JSON string. @param {Recording} recording */
function findDoubleEncoding(recording) {
  const { document, answer } = recording;
  const todo = "Encode it once: leave out one json.dumps or JSON.stringify. Or decode it twice.";
  if (document && isEncodedTwice(document)) {
    const place = locate(recording, { offset: document.text.indexOf('"'), path: [] }, document, "encoded twice");
    return bad("Encoded twice: the value is a string that contains JSON", todo, place);
  }
  const call = answer?.calls.find(({ outline }) => isEncodedTwice(outline));
  const what = `Encoded twice: the arguments of ${call?.name} are a string that contains JSON`;
  return call ? bad(what, todo, locateTrack(call, "encoded twice")) : null;
}

/** @param {Outline} outline */
function isEncodedTwice({ root, text }) {
  const inner = root?.kind === "string" ? parseJson(String(parseJson(text))) : null;
  return typeof inner === "object" && inner !== null;
}

/** Diagnose a call to which no result can be sent. @param {Recording} recording */
function findMissingId(recording) {
  const { answer, items, isEnded } = recording;
  // The others send no ids, or always.
  if (!isEnded || !["openai_chat", "openai_responses", "anthropic"].includes(answer?.parts.reader.provider ?? "")) return null;
  // A missing id is made from the message and the index.
  const call = answer?.calls.find(({ id }) => /:\d*(?:#\d+)?$/.test(id) && !items.some((item) => item.includes(`"${id}"`)));
  const todo = "Check the program that sent or copied the events: the API needs the id to match a result with its call.";
  return call ? bad(`The call ${call.name} has no id`, todo, locateTrack(call, "no id")) : null;
}

/** Diagnose characters that were lost when the text was cut or decoded. @param {Recording} recording */
function findLostCharacter(recording) {
  const { document, isEnded } = recording;
  const offset = isEnded && document ? document.text.search(/\ufffd|\p{Cs}|(?<!\\)\\ud[89ab]..(?!\\ud[c-f])/iu) : -1;
  if (document === null || offset < 0) return null;
  const fault = { offset, path: document.nodeAt(offset)?.path ?? [] };
  const todo = "If a piece ended inside a character, read all pieces with one UTF-8 decoder, and join them before writing.";
  return bad("Valid JSON, but a character was lost", todo, locate(recording, fault, document, "half a character"));
}

/** @param {Recording} recording */
function findJoinedEvents({ isJoined }) {
  const todo = "End each event with a blank line, or readers join them. If only this copy lacks the lines, ignore this.";
  const place = { where: "after event 1", mark: markItem(1, "not separated") };
  return isJoined ? bad("No blank line separates the events", todo, place) : null;
}

/**
 * @param {Recording} recording
 * @returns {Diagnosis}
 */
function good(recording) {
  const { answer, outline, document, kind } = recording;
  const calls = answer?.calls.length ?? 0;
  const values = (outline ?? answer?.outline)?.nodes.length ?? 0;
  const of = calls > 0 ? formatCount(calls, "call") : values > 0 ? formatCount(values, "value") : "";
  const isJson = document !== null || kind === "snapshots" || kind === "wire";
  const what = calls > 0 ? "Complete" : isJson ? "Complete, valid JSON" : "Complete answer, without JSON";
  return { tone: "good", what, where: [of, countItems(recording)].filter(Boolean).join(" in "), todo: "", mark: null };
}

/**
 * @param {Recording} recording
 * @returns {Diagnosis}
 */
function busy(recording) {
  return { tone: "busy", what: recording.state || "Receiving", where: `${countItems(recording)} so far`, todo: "", mark: null };
}

/** @param {Recording} recording */
function countItems({ kind, length }) {
  return formatCount(length, ITEMS[kind]);
}

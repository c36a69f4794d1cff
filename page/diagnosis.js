/** What is wrong with a stream, where, and what to do about it. */

import { formatPath } from "../js/src/index.js";
import { describePlace } from "./characters.js";
import { formatCount, formatNumber, parseJson, shorten } from "./format.js";
import { Outline } from "./outline.js";
import { CUTS, GENERAL, inWords, ofError, remedy } from "./remedies.js";

/** @typedef {import("./answer.js").Track} Track */
/** @typedef {import("./outline.js").Fault} Fault */
/** @typedef {import("./recording.js").Recording} Recording */
/**
 * A place in the stream: characters of the document, or with `track` of a part of the answer. `label` names what is wrong.
 * @typedef {{offset: number, length: number, path: (string | number)[], position: number, label: string, track: Track | null}} Mark
 */
/**
 * @typedef {{tone: "good" | "bad" | "busy", what: string, where: string, todo: string, mark: Mark | null}} Diagnosis
 */

const ITEMS = { text: "piece", many: "piece", snapshots: "snapshot", events: "event", wire: "message" };

/**
 * @param {Recording} recording
 * @returns {Diagnosis}
 */
export function diagnose(recording) {
  const finders = [ofConnection, ofBroken, ofNothing, ofProvider, ofDocument, ofCut, ofCalls, ofReport, ofWire, ofStrange];
  for (const find of [...finders, ofEncoding, ofJoined]) {
    const found = find(recording);
    if (found !== null) return found;
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
function ofConnection(recording) {
  const { failure, advice, length } = recording;
  const where = length > 0 ? `after ${countItems(recording)}` : "";
  return failure === "" ? null : bad(failure, advice, { where });
}

/** @param {Recording} recording */
function ofProvider(recording) {
  const { answer, length } = recording;
  if (!answer?.error) return null;
  const what = `The provider reported an error: ${shorten(answer.error)}`;
  const todo = ofError(answer.error);
  const open = answer.calls.find((call) => call.states.at(-1)?.status === "truncated");
  if (open !== undefined) return ofTrack(recording, open, what, todo);
  const { outline } = answer;
  const { path = [] } = outline.faults[0] ?? {};
  const where = recording.hasDocument ? describePlace(outline.text, outline.length, path) : `event ${formatNumber(length)}`;
  const mark = { offset: outline.length, length: 0, path, position: length, label: "error of the provider", track: null };
  return bad(what, todo, { where, mark });
}

/** @param {Recording} recording */
function ofDocument(recording) {
  const outline = recording.document;
  const fault = outline?.faults.find(({ code }) => code !== "TRUNCATED");
  if (outline === null || fault === undefined) return null;
  if (fault.code === "LIMIT_EXCEEDED") {
    const todo = `Raise the limit if you expect such values: Limits(${fault.expected}=…).`;
    return bad(`Limit exceeded: ${fault.message.split(" at ")[0]}`, todo, placed(recording, fault, outline, "over a limit"));
  }
  const others = outline.faults.length - 1;
  const more = others > 0 ? `, and ${formatCount(others, "more error")}` : "";
  const what = `${inWords(fault, outline.text, "Invalid JSON")}${more}`;
  return bad(what, remedy(fault, outline.text, recording.repaired !== undefined), placed(recording, fault, outline));
}

/** Diagnose an answer or a text that stopped early. @param {Recording} recording */
function ofCut(recording) {
  const { outline, answer, document } = recording;
  const fault = document?.faults[0];
  const reason = answer?.reason || fault?.reason || "";
  const isOpen = fault !== undefined && (outline !== null || document?.root !== null);
  if (reason === "" && !isOpen) return null;
  const [what, advice] = CUTS[reason] ?? CUTS[""];
  const todo = recording.isJoined ? `${advice} No blank line separates the events, so that readers join them.` : advice;
  if (fault !== undefined && isOpen && document) {
    return bad(`${what}; ${fault.expected} is missing`, todo, placed(recording, fault, document, "cut off"));
  }
  const open = answer?.tracks.find((track) => track.states.at(-1)?.status === "truncated") ?? null;
  if (open?.kind === "call") return ofTrack(recording, open, what, todo);
  const said = reason === "refused" && open?.text ? `${what}: “${shorten(open.text)}”` : what;
  const position = open?.states.at(-1)?.at ?? recording.length;
  const track = document === null ? open : null;
  const mark = { offset: document?.length ?? 0, length: 0, path: [], position, label: "cut off", track };
  return bad(said, todo, { where: `after ${countItems(recording)}`, mark });
}

/** Diagnose a call whose arguments are wrong or cut off. @param {Recording} recording */
function ofCalls(recording) {
  const calls = recording.answer?.calls ?? [];
  const wrong = calls.find((call) => call.states.at(-1)?.status === "error");
  if (wrong !== undefined) {
    const fault = wrong.outline.faults[0];
    const subject = `Invalid arguments of ${wrong.name || "a call"}`;
    const what = fault ? inWords(fault, wrong.text, subject) : `${subject}: ${wrong.message}`;
    const todo = fault ? remedy(fault, wrong.text) : GENERAL;
    return ofTrack(recording, wrong, what, `${todo} A strict tool schema prevents it.`);
  }
  const open = recording.isEnded ? calls.find((call) => call.states.at(-1)?.status === "truncated") : undefined;
  return open ? ofTrack(recording, open, "Cut off: the provider ended the answer inside a call", CUTS.length[1]) : null;
}

/**
 * @param {Recording} recording
 * @param {Track} track
 * @param {string} what
 * @param {string} todo
 * @param {string} [reason] what is wrong if all of it is JSON
 */
function ofTrack(recording, track, what, todo, reason = "cut off") {
  const fault = track.outline.faults[0];
  const { offset = reason === "cut off" ? track.outline.length : 0, path = [] } = fault ?? {};
  const state = track.states.find(({ length }) => length > offset) ?? track.states[track.states.length - 1];
  const label = fault?.code === "TRUNCATED" || !fault ? reason : "not JSON";
  const mark = { offset, length: label === "cut off" ? 0 : 1, path, position: state.at, label, track };
  return bad(what, todo, { where: `${track.name}: ${describePlace(track.text, offset, path)}`, mark });
}

/** Report what the server found. @param {Recording} recording */
function ofReport(recording) {
  const { report } = recording;
  if (report === null) return null;
  const outline = recording.outline ?? recording.answer?.outline;
  if (report.code === "INVALID_SCHEMA") {
    const todo = "Give the model this schema, or change the schema. jsonrill.feedback(error) is the text to send back.";
    const place = outline ? placed(recording, report, outline, "violates the schema") : {};
    return bad(`Violates the schema: ${report.message}`, todo, place);
  }
  if (report.code !== "REVISION") return bad(report.message, GENERAL, { where: formatPath(report.path) });
  const { message, path, position } = report;
  const todo = 'Read it with on_revision="keep", or send the states over the wire, which allows changes.';
  const mark = markOf(position, "changed", path);
  return bad(message.split("; ")[0], todo, { where: `snapshot ${formatNumber(position)}, in ${formatPath(path)}`, mark });
}

/** @param {Recording} recording */
function ofWire({ kind, wireError, isWireEnded, isEnded, length }) {
  if (kind !== "wire") return null;
  if (wireError !== null) {
    const mark = markOf(wireError.position, "does not fit");
    const todo = "The receiver keeps its value and needs a snapshot: call sender.snapshot() and send it.";
    return bad(`The message does not fit: ${wireError.message}`, todo, { where: `message ${wireError.position}`, mark });
  }
  if (!isEnded || isWireEnded) return null;
  const place = { where: `after ${formatCount(length, "message")}`, mark: markOf(length, "cut off") };
  return bad("Cut off: the messages stop before the end", "Connect again: the sender's next snapshot has the rest.", place);
}

/** Diagnose an event, a snapshot or a message that is not JSON. @param {Recording} recording */
function ofBroken({ broken, items, kind }) {
  if (broken === 0) return null;
  const outline = new Outline();
  outline.feed(items[broken - 1]);
  outline.flush();
  const [fault] = outline.faults;
  const isCut = fault.code === "TRUNCATED";
  const subject = `This ${ITEMS[kind]} is not JSON`;
  const what = isCut ? `${subject}: ${fault.expected} is missing` : inWords(fault, outline.text, subject);
  const todo = isCut ? "Look at what wrote or copied it: it stops too early." : remedy(fault, outline.text);
  const where = `${ITEMS[kind]} ${broken}: ${describePlace(outline.text, fault.offset, fault.path)}`;
  return bad(what, todo, { where, mark: markOf(broken, "not JSON") });
}

/** Diagnose a stream without data. @param {Recording} recording */
function ofNothing({ isEnded, length }) {
  if (!isEnded || length > 0) return null;
  return bad("The stream ended without any data", "Look at the request and at the status of its response.");
}

/** @param {Recording} recording */
function ofStrange({ isEnded, answer }) {
  if (!isEnded || answer === null || answer.tracks.length > 0) return null;
  const empty = "Request it again. If it stays empty, look at the prompt and at the token limit.";
  if (answer.isRecognised) return bad("The answer is empty: it has no text and no call", empty);
  const todo = "Supported providers: OpenAI, Anthropic, Gemini, the AI SDK and AG-UI. Otherwise choose a format under Options.";
  return bad("These events contain no text and no call of a provider that is known here", todo);
}

/** Diagnose JSON in a JSON string. @param {Recording} recording */
function ofEncoding(recording) {
  const { document, answer } = recording;
  const todo = "Encode it once: leave out one json.dumps or JSON.stringify. Or decode it twice.";
  if (document && isEncodedTwice(document)) {
    const place = placed(recording, { offset: document.text.indexOf('"'), path: [] }, document, "encoded twice");
    return bad("Encoded twice: the value is a string that contains JSON", todo, place);
  }
  const call = answer?.calls.find(({ outline }) => isEncodedTwice(outline));
  const what = `Encoded twice: the arguments of ${call?.name} are a string that contains JSON`;
  return call ? ofTrack(recording, call, what, todo, "encoded twice") : null;
}

/** @param {Outline} outline */
function isEncodedTwice({ root, text }) {
  const inner = root?.kind === "string" ? parseJson(String(parseJson(text))) : null;
  return typeof inner === "object" && inner !== null;
}

/** @param {Recording} recording */
function ofJoined({ isJoined }) {
  const todo =
    "End each event with a blank line, or readers join them. If only this copy lacks the lines, the stream is complete.";
  const place = { where: "after event 1", mark: markOf(1, "not separated") };
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

/**
 * Mark an item of the stream.
 * @param {number} position
 * @param {string} label
 * @param {(string | number)[]} [path]
 * @returns {Mark}
 */
function markOf(position, label, path = []) {
  return { offset: 0, length: 0, path, position, label, track: null };
}

/**
 * @param {Recording} recording
 * @param {Pick<Fault, "offset" | "path">} fault
 * @param {Outline} outline
 * @param {string} [label]
 */
function placed(recording, { offset, path }, outline, label = "not JSON") {
  const position = Math.min(recording.positionOf(offset), recording.length);
  const length = label === "cut off" ? 0 : label === "violates the schema" ? sizeOf(outline, offset, path) : 1;
  return { where: describePlace(outline.text, offset, path), mark: { offset, length, path, position, label, track: null } };
}

/**
 * Return the number of characters of the value at a path.
 * @param {Outline} outline
 * @param {number} offset
 * @param {(string | number)[]} path
 */
function sizeOf(outline, offset, path) {
  const node = outline.find(path);
  return node?.start === offset && !node.isContainer && node.end !== Infinity ? node.end - offset : 1;
}

/**
 * The modules as a program: one job a line on stdin, one answer a line on stdout, both JSON.
 *
 * Values are answered as JSON texts, so that their numbers and the order of their keys are seen.
 */

import { createInterface } from "node:readline";

import "../src/repair.js";
import "../src/split.js";
import { applyDelta } from "../src/partial-stream/delta.js";
import { Document } from "../src/build/document.js";
import { SSEDecoder } from "../src/client/events.js";
import { Parser } from "../src/wire/parser.js";
import { PartialStream } from "../src/partial-stream/stream.js";
import { Parts } from "../src/answers/parts.js";
import { formatPath, fromPointer, parsePath, toPointer } from "../src/paths.js";
import { Reader } from "../src/providers/index.js";
import { Rebuilder } from "../src/build/rebuilder.js";
import * as streams from "../src/index.js";
import { ToolCalls } from "../src/toolcalls/toolcalls.js";
import { parse, stringify } from "../src/jsontext.js";
import { frozen } from "./support.js";
import { ExactNumber } from "../src/parse/exact.js";

const text = (value) => (value === undefined ? null : stringify(value));

/** What `work` gives, or the name of its error. */
function tried(work) {
  try {
    return { value: work() };
  } catch (error) {
    return { error: error.name };
  }
}

/** An error as Python's peer describes it. */
const told = (error) => [error.name, error.toJSON(), error.expected ?? error.limit];

/** Feed and flush: what was found, and the error if there was one. */
function read(stage, piece, last) {
  try {
    return [last ? stage.flush() : stage.feed(piece), null];
  } catch (error) {
    if (error.code === undefined) throw error;
    return [error.fragments, told(error)];
  }
}

const shownCall = (call) => ({
  ...call,
  args: text(frozen(call.args)),
  raw: call.raw,
  result: text(call.result),
  completeArgs: call.completeArgs,
  repairs: call.repairs.map((repair) => ({ ...repair })),
  openPath: call.openPath && formatPath(call.openPath),
});

const shownPart = (part) => ({
  ...part,
  call: part.call?.id ?? null,
  status: part.call?.status ?? null,
  text: part.text,
  value: text(frozen(part.value)),
  result: text(part.result),
  json: text(part.toJSON()),
});

const jobs = {
  /** What a Document and a Parser make of each piece and of the end. */
  document({ pieces, base64, options }) {
    const cut = base64 ? pieces.map((piece) => Buffer.from(piece, "base64")) : pieces;
    const looked = new Document(options);
    const unseen = new Document(options);
    const parser = new Parser(options);
    const kept = [];
    const steps = [];
    for (let at = 0; at <= cut.length; at += 1) {
      const last = at === cut.length;
      const [, error] = read(looked, cut[at], last);
      read(unseen, cut[at], last);
      const [fragments, same] = read(parser, cut[at], last);
      if (JSON.stringify(error) !== JSON.stringify(same)) throw new Error("errors differ");
      const value = frozen(looked.value);
      if (text(value) !== text(unseen.live)) throw new Error("live differs");
      const finished = looked.finished.map((one) => text(frozen(one)));
      kept.push([value, text(value)]);
      const { pending, openPath } = looked;
      steps.push({
        value: text(value),
        finished,
        error,
        open: openPath && formatPath(openPath),
        pending: pending && [formatPath(pending.path), pending.text],
        complete: looked.complete,
        started: looked.started,
        changed: looked.changed,
        document: looked.document,
        fragments: fragments.map((one) => [one.toJSON(), one.offset, one.document]),
        errors: last ? looked.errors.map(told) : [],
      });
      if (error) break;
    }
    if (kept.some(([value, shown]) => text(value) !== shown)) throw new Error("a value changed");
    return steps;
  },

  /** What a Document and a Parser say of each of these texts, with repair. */
  repaired({ texts }) {
    return texts.map(({ pieces, options: asked }) => {
      const options = exactly(asked);
      const reported = [];
      const document = new Document({ ...options, onRepair: (repair) => reported.push(repair) });
      const parser = new Parser(options);
      const fragments = [];
      const values = [];
      let error = null;
      for (let at = 0; at <= pieces.length && error === null; at += 1) {
        const last = at === pieces.length;
        const [ready, failed] = read(parser, pieces[at], last);
        fragments.push(...ready);
        [, error] = read(document, pieces[at], last);
        if (JSON.stringify(error) !== JSON.stringify(failed)) throw new Error("errors differ");
        values.push(...document.finished.map(text));
      }
      if (JSON.stringify(reported) !== JSON.stringify(parser.repairs)) throw new Error("repairs differ");
      return {
        values: [...values, text(document.value)],
        error,
        errors: document.errors.map(told),
        repairs: reported,
        fragments: fragments.map((one) => [one.toJSON(), one.offset, one.document]),
      };
    });
  },

  /** The parts of each of these texts, divided. */
  split({ texts }) {
    return texts.map(({ pieces, options }) => {
      const parts = new Parts(options);
      const early = pieces.flatMap((piece) => parts.addText(piece));
      return [...early, ...parts.flush()].map(({ kind, index, delta, complete, raw, call, error, value }) => ({
        kind,
        index,
        delta,
        complete,
        raw,
        error,
        call: call && [call.name, call.status, call.raw],
        value: text(frozen(value)),
      }));
    });
  },

  /** The updates of each piece and of the end, read at once, and read last first. */
  updates({ pieces, base64, options }) {
    const cut = base64 ? pieces.map((piece) => Buffer.from(piece, "base64")) : pieces;
    const [looked, unseen] = [new PartialStream(options), new PartialStream(options)];
    const shown = (update) => ({
      ...update.toJSON(),
      data: text(frozen(update.data)),
      delta: update.delta?.map((one) => ({ ...one, value: text(frozen(one.value)) })),
      path: formatPath(update.path),
      open: update.openPath && formatPath(update.openPath),
      completed: update.completed.map(formatPath),
      document: update.document,
      repairs: update.repairs,
      sent: Object.keys(update.toJSON()),
    });
    const kept = [];
    const later = [];
    const steps = [];
    for (let at = 0; at <= cut.length; at += 1) {
      const last = at === cut.length;
      const updates = last ? looked.flush() : looked.feed(cut[at]);
      later.unshift(...(last ? unseen.flush() : unseen.feed(cut[at])).reverse());
      const told = updates.map(shown);
      for (const [number, update] of updates.entries()) kept.unshift([update, told[number]]);
      steps.push(told);
    }
    for (const [number, [update, told]] of kept.entries()) {
      for (const one of [later[number], update]) {
        if (JSON.stringify(shown(one)) !== JSON.stringify(told)) throw new Error("an update changed");
      }
    }
    return { steps, ended: looked.ended };
  },

  /** What shows after each item, looked at each time and only at the end. */
  rebuild({ items, dialect }) {
    const looked = new Rebuilder({ dialect, numbers: ExactNumber, onMisfit: "collect" });
    const unseen = new Rebuilder({ dialect, numbers: ExactNumber, onMisfit: "collect" });
    const kept = [];
    const steps = items.map((item) => {
      const before = looked.misfitCount;
      const fragment = looked.add(item);
      unseen.add(item);
      const value = frozen(looked.value);
      const shown = text(value);
      kept.push([value, shown]);
      const open = looked.openPath;
      return [
        shown,
        open && formatPath(open),
        looked.complete,
        looked.misfitCount > before,
        fragment && [fragment.kind, fragment.pathText],
      ];
    });
    if (kept.some(([value, shown]) => text(value) !== shown)) throw new Error("a value changed");
    if (text(unseen.value) !== text(looked.value)) throw new Error("looking makes a difference");
    if (unseen.misfitCount !== looked.misfitCount) throw new Error("looking changes what fits");
    return steps;
  },

  /** The calls after each event, and after the end. */
  calls({ events, keep, provider, repair }) {
    const calls = new ToolCalls({ keep, provider, repair, numbers: ExactNumber });
    const steps = events.map((event) => (calls.add(frozen(event)), calls.calls.map(shownCall)));
    calls.flush();
    return [...steps, calls.calls.map(shownCall)];
  },

  /** What each event says, and the parts that it and the end change. */
  provider({ events, provider, choice }) {
    const reader = new Reader(provider, ExactNumber);
    const parts = new Parts({ provider, choice, numbers: ExactNumber });
    const steps = events.map((event) => ({
      statements: text(reader.feed(frozen(event))),
      provider: reader.provider,
      parts: parts.add(event).map(shownPart),
    }));
    return { steps, last: parts.flush().map(shownPart), error: parts.error, usage: text(parts.usage) };
  },

  /** What a function yields of a source, and the error that it throws. */
  async stream({ name, source, fields = [], options }) {
    const items = [];
    try {
      for await (const one of streams[name](source, ...fields, options)) {
        items.push(name === "values" || name === "select" ? text(frozen(one)) : one);
      }
    } catch (error) {
      if (error.code === undefined) throw error;
      return { items, error: error.name };
    }
    return { items, error: null };
  },

  /** The value after each delta. */
  deltas({ previous, deltas }) {
    let value = previous;
    return deltas.map((delta) => tried(() => text((value = frozen(applyDelta(value, frozen(delta)))))));
  },

  events({ pieces }) {
    const decoder = new SSEDecoder();
    const events = pieces.map((piece) =>
      decoder.feed(Buffer.from(piece, "base64")).map(({ type, data, id }) => [type, data, id]),
    );
    return [events, decoder.lastEventId, decoder.retry];
  },

  /** The words with which options are refused; null if they are not. */
  refusal({ options }) {
    try {
      return new PartialStream(options) && null;
    } catch (error) {
      return error.message;
    }
  },

  path: ({ path }) => [formatPath(path), toPointer(path)],
  parsePath: ({ path }) => tried(() => parsePath(path)),
  fromPointer: ({ pointer, value }) => tried(() => fromPointer(pointer, value)),
  parse: ({ json }) => tried(() => text(parse(json))),
};

/** Options with the class that the word of a request stands for. */
const exactly = (options) => (options?.numbers === "exact" ? { ...options, numbers: ExactNumber } : options);

for await (const line of createInterface({ input: process.stdin })) {
  const { job, ...rest } = parse(line);
  rest.options = exactly(rest.options);
  let answer;
  try {
    answer = { answer: await jobs[job](rest) };
  } catch (error) {
    answer = { failure: String(error.stack) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

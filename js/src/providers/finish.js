/**
 * Finish reasons: the words of all providers, and what they mean. Written by tools/tables.py
 * from providers/finish.py: change it there.
 */

/** @typedef {"complete" | "calls" | "length" | "filtered" | "refused" | "lost" | "error"} Reason */

/** Each is worse than those before it. @type {readonly Reason[]} */
export const REASONS = ["complete", "calls", "length", "filtered", "refused", "lost", "error"];

/**
 * The messages for an answer that is not complete.
 * @type {{[reason: string]: string}}
 */
export const MEANINGS = {
  length: "the model stopped at its token limit",
  filtered: "a content filter stopped the answer",
  refused: "the model refused to answer",
  lost: "the stream ended before the answer did",
  error: "the provider reported an error",
};

// The words in lower case, without separators.
/** @type {{[reason: string]: string}} */
const SPELLINGS = {
  complete: "stop stopped end endturn stopsequence eos eostoken complete completed done finish finished success",
  calls: "toolcalls toolcall tooluse functioncall functioncalls calls requiresaction",
  length:
    "length maxtokens maxoutputtokens maxlength maxtokensreached modellength tokenlimit maxmessages " +
    "modelcontextwindowexceeded contextlengthexceeded errorlimit errormaxturns errormaxbudgetusd " +
    "errormaxstructuredoutputretries",
  filtered:
    "contentfilter contentfiltered filtered guardrailintervened safety recitation blocklist blocked " +
    "prohibitedcontent spii modelarmor language sensitive errortoxic jailbreak imagesafety imageprohibitedcontent " +
    "imagerecitation",
  refused: "refusal refused",
  lost:
    "lost abort aborted cancelled canceled usercancel interrupted incomplete pauseturn clientcancelled turndetected " +
    "compaction",
  error:
    "error failed timeout networkerror insufficientsystemresource expired malformedfunctioncall " +
    "malformedmodeloutput malformedtooluse malformedresponse unexpectedtoolcall toomanytoolcalls " +
    "missingthoughtsignature errorduringexecution",
};

/** @type {Map<string, Reason>} */
export const WORDS = new Map(
  REASONS.flatMap((reason) => SPELLINGS[reason].split(" ").map((word) => [word, reason])),
);

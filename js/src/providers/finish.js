/**
 * How an answer ended, in the words of all providers, written by tools/tables.py from
 * providers/finish.py: change it there.
 */

/** @typedef {"complete" | "calls" | "length" | "filtered" | "refused" | "lost" | "error"} Reason */

/** Each is worse than those before it. @type {readonly Reason[]} */
export const REASONS = ["complete", "calls", "length", "filtered", "refused", "lost", "error"];

/**
 * What messages say of an answer that is not complete.
 * @type {{[reason: string]: string}}
 */
export const MEANINGS = {
  length: "the model stopped at its token limit",
  filtered: "a content filter stopped the answer",
  refused: "the model refused to answer",
  lost: "the stream ended before the answer did",
  error: "the provider reported an error",
};

/** In small letters, without what is between them. @type {Map<string, Reason>} */
export const WORDS = new Map([
  ["stop", "complete"],
  ["stopped", "complete"],
  ["end", "complete"],
  ["endturn", "complete"],
  ["stopsequence", "complete"],
  ["eos", "complete"],
  ["eostoken", "complete"],
  ["complete", "complete"],
  ["completed", "complete"],
  ["done", "complete"],
  ["finish", "complete"],
  ["finished", "complete"],
  ["success", "complete"],
  ["toolcalls", "calls"],
  ["toolcall", "calls"],
  ["tooluse", "calls"],
  ["functioncall", "calls"],
  ["functioncalls", "calls"],
  ["calls", "calls"],
  ["requiresaction", "calls"],
  ["length", "length"],
  ["maxtokens", "length"],
  ["maxoutputtokens", "length"],
  ["maxlength", "length"],
  ["maxtokensreached", "length"],
  ["modellength", "length"],
  ["tokenlimit", "length"],
  ["modelcontextwindowexceeded", "length"],
  ["contextlengthexceeded", "length"],
  ["errorlimit", "length"],
  ["errormaxturns", "length"],
  ["errormaxbudgetusd", "length"],
  ["errormaxstructuredoutputretries", "length"],
  ["contentfilter", "filtered"],
  ["contentfiltered", "filtered"],
  ["filtered", "filtered"],
  ["guardrailintervened", "filtered"],
  ["safety", "filtered"],
  ["recitation", "filtered"],
  ["blocklist", "filtered"],
  ["blocked", "filtered"],
  ["prohibitedcontent", "filtered"],
  ["spii", "filtered"],
  ["modelarmor", "filtered"],
  ["language", "filtered"],
  ["sensitive", "filtered"],
  ["errortoxic", "filtered"],
  ["jailbreak", "filtered"],
  ["imagesafety", "filtered"],
  ["imageprohibitedcontent", "filtered"],
  ["imagerecitation", "filtered"],
  ["refusal", "refused"],
  ["refused", "refused"],
  ["lost", "lost"],
  ["abort", "lost"],
  ["aborted", "lost"],
  ["cancelled", "lost"],
  ["canceled", "lost"],
  ["usercancel", "lost"],
  ["interrupted", "lost"],
  ["incomplete", "lost"],
  ["pauseturn", "lost"],
  ["clientcancelled", "lost"],
  ["turndetected", "lost"],
  ["compaction", "lost"],
  ["error", "error"],
  ["failed", "error"],
  ["timeout", "error"],
  ["networkerror", "error"],
  ["insufficientsystemresource", "error"],
  ["expired", "error"],
  ["malformedfunctioncall", "error"],
  ["malformedmodeloutput", "error"],
  ["malformedtooluse", "error"],
  ["malformedresponse", "error"],
  ["unexpectedtoolcall", "error"],
  ["toomanytoolcalls", "error"],
  ["missingthoughtsignature", "error"],
  ["errorduringexecution", "error"],
]);

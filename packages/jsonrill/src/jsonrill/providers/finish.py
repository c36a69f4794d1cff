"""Finish reasons: the words of all providers, and what they mean.

JavaScript has a copy, which tools/tables.py writes.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from ..errors import CUTS

# complete: the model has finished. calls: it waits for the results of tools. length: a limit of
# tokens, turns or cost was reached. filtered: a content filter stopped it. refused: the model
# declined to answer. lost: the answer stopped, and nothing says that the model had finished.
# error: the provider failed. Each is worse than those before it.
Reason = Literal["complete", "calls", "length", "filtered", "refused", "lost", "error"]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

# The messages for an answer that is not complete.
MEANINGS: Final = {**CUTS, "error": "the provider reported an error"}

# The words in lower case, without separators.
_SPELLINGS: Final[dict[Reason, str]] = {
    "complete": """
            stop stopped end endturn stopsequence eos eostoken complete completed done finish
            finished success
        """,
    "calls": "toolcalls toolcall tooluse functioncall functioncalls calls requiresaction",
    "length": """
            length maxtokens maxoutputtokens maxlength maxtokensreached modellength tokenlimit
            maxmessages
            modelcontextwindowexceeded contextlengthexceeded errorlimit
            errormaxturns errormaxbudgetusd errormaxstructuredoutputretries
        """,
    "filtered": """
            contentfilter contentfiltered filtered guardrailintervened safety recitation blocklist
            blocked prohibitedcontent spii modelarmor language sensitive errortoxic jailbreak
            imagesafety imageprohibitedcontent imagerecitation
        """,
    "refused": "refusal refused",
    "lost": """
            lost abort aborted cancelled canceled usercancel interrupted incomplete pauseturn
            clientcancelled turndetected compaction
        """,
    "error": """
            error failed timeout networkerror insufficientsystemresource expired
            malformedfunctioncall malformedmodeloutput malformedtooluse malformedresponse
            unexpectedtoolcall toomanytoolcalls missingthoughtsignature errorduringexecution
        """,
}
WORDS: Final = {word: reason for reason, words in _SPELLINGS.items() for word in words.split()}


def finish_reason(word: Any) -> Reason | None:
    """Return the meaning of a provider's finish reason; None if it is not a text.

    Spelling does not matter: `MAX_TOKENS`, `max-tokens`, `FinishReason.MAX_TOKENS` and a member of
    an enumeration are the same. An unknown word is `lost`: it does not say that the answer ended.
    """
    value = getattr(word, "value", word)
    if not isinstance(value, str) or not value:
        return None
    return WORDS.get(_letters(value), "lost")


def _letters(word: Any) -> str:
    name = str(getattr(word, "value", word)).rpartition(".")[2].lower()
    return "".join([char for char in name if char.isalnum()])


def worse_word(word: Any, native: Any) -> Any:
    """Return the worse of two finish reasons: a gateway's, and that of the provider behind it.

    An unknown word of the provider does not count.
    """
    inner = finish_reason(native)
    if inner is None or (inner == "lost" and _letters(native) not in WORDS):
        return word
    reason = finish_reason(word)
    return native if reason is None or REASONS.index(inner) > REASONS.index(reason) else word


def is_complete(reason: Reason | None) -> bool:
    """Return whether an answer with this finish reason has all of its text."""
    return reason == "complete" or reason == "calls"

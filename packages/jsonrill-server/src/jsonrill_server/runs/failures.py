"""What readers are told when a source has failed: which kind of failure it was, never its text.

SDKs differ in their classes and agree in what these carry: the status of the provider's response,
or, where the provider reports the failure in a stream that began well, its word for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .records import End

RATE_LIMITED: Final = End(
    "error", "RATE_LIMITED", "the provider has had too many requests: ask again in a while"
)
UNAUTHORIZED: Final = End(
    "error", "UNAUTHORIZED", "the provider refused the server's key: asking again does not help"
)
TIMED_OUT: Final = End("error", "SOURCE_TIMEOUT", "the provider did not answer in time: ask again")
REFUSED: Final = End(
    "error", "SOURCE_REFUSED", "the provider refused the request: asking again does not help"
)
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed: asking again may help")
KINDS: Final = (RATE_LIMITED, UNAUTHORIZED, TIMED_OUT, REFUSED, FAILED)
_BY_STATUS: Final = {
    **dict.fromkeys(range(400, 500), REFUSED),
    **dict.fromkeys((401, 403), UNAUTHORIZED),
    **dict.fromkeys((408, 504), TIMED_OUT),
    **dict.fromkeys((409, 425), FAILED),
    429: RATE_LIMITED,
}
# Parts of the words that providers have for a failure, without their underscores.
_BY_WORD: Final = {
    **dict.fromkeys(("ratelimit", "throttl", "toomanyrequests", "exhausted"), RATE_LIMITED),
    **dict.fromkeys(("authentication", "permission", "apikey", "accessdenied"), UNAUTHORIZED),
    **dict.fromkeys(("timeout", "timedout", "deadline"), TIMED_OUT),
    **dict.fromkeys(("invalidrequest", "validation"), REFUSED),
}


def end_of(error: BaseException) -> End:
    """The end of a stream whose source raised this."""
    for one in _causes(error):
        for word in _words(one):
            for part, end in _BY_WORD.items():
                if part in word:
                    return end
        if (status := _status(one)) is not None:
            return _BY_STATUS.get(status, FAILED)
        if any("Timeout" in kind.__name__ for kind in type(one).__mro__):
            return TIMED_OUT
    return FAILED


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, those in a group, and those that each was raised from."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Exception):
            yield one
        waiting.append(one.__cause__)
        if isinstance(one, BaseExceptionGroup):
            waiting += reversed(one.exceptions)


def _words(error: BaseException) -> Iterator[str]:
    """The provider's words for the failure, as the SDKs have them."""
    # Of anthropic the body of the response, of boto3 the response itself.
    inside = [getattr(error, "body", None), getattr(error, "response", None)]
    named = [
        it.get(name) for it in inside if isinstance(it, Mapping) for name in ("error", "Error")
    ]
    words = [getattr(error, name, None) for name in ("code", "type", "status")]
    words += [it.get(name) for it in named if isinstance(it, Mapping) for name in ("type", "Code")]
    for word in words:
        if isinstance(word, str):
            yield word.replace("_", "").lower()


def _status(error: BaseException) -> int | None:
    """The status of the response that an exception is about, as the SDKs have it."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of boto3
        metadata = response.get("ResponseMetadata")
        return _http(metadata.get("HTTPStatusCode")) if isinstance(metadata, Mapping) else None
    names = ("status_code", "status", "code", "http_status")
    known = [_http(getattr(it, name, None)) for it in (error, response) for name in names]
    return next((status for status in known if status is not None), None)


def _http(value: Any) -> int | None:
    return value if isinstance(value, int) and 400 <= value < 600 else None

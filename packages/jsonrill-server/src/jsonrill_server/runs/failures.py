"""What readers are told when a source has failed: which kind of failure it was, never its text.

SDKs differ in their classes and agree in what these carry: the status of the provider's response.
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
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed")
KINDS: Final = (RATE_LIMITED, UNAUTHORIZED, TIMED_OUT, REFUSED, FAILED)
_BY_STATUS: Final = {
    **dict.fromkeys(range(400, 500), REFUSED),
    **dict.fromkeys((401, 403), UNAUTHORIZED),
    **dict.fromkeys((408, 504), TIMED_OUT),
    429: RATE_LIMITED,
}


def end_of(error: BaseException) -> End:
    """The end of a stream whose source raised this."""
    for one in _causes(error):
        if (status := _status(one)) is not None:
            return _BY_STATUS.get(status, FAILED)
        if any("Timeout" in kind.__name__ for kind in type(one).__mro__):
            return TIMED_OUT
    return FAILED


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception, and those that it was raised from."""
    seen: list[BaseException] = []
    while isinstance(error, Exception) and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__


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
    return value if type(value) is int and 400 <= value < 600 else None

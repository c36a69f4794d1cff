"""Why a source failed, as the end of its run. Readers never see the exception's text."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from jsonrill.errors import JsonrillError, stream_error

from .records import End

log = logging.getLogger("jsonrill_server")
RATE_LIMITED: Final = End(
    "error", "RATE_LIMITED", "the provider received too many requests: ask again later"
)
UNAUTHORIZED: Final = End(
    "error", "UNAUTHORIZED", "the provider refused the server's key: asking again does not help"
)
TIMED_OUT: Final = End("error", "SOURCE_TIMEOUT", "the provider did not answer in time: ask again")
REFUSED: Final = End(
    "error", "SOURCE_REFUSED", "the provider refused the request: asking again does not help"
)
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed: asking again may help")
BY_STATUS: Final = {
    **dict.fromkeys(range(400, 500), REFUSED),
    **dict.fromkeys((409, 425, *range(500, 600)), FAILED),
    **dict.fromkeys((401, 403), UNAUTHORIZED),
    **dict.fromkeys((408, 504), TIMED_OUT),
    429: RATE_LIMITED,
}


def end_of_error(error: BaseException) -> End:
    """Return the end of a run whose source raised this; the exception itself is only logged."""
    if isinstance(error, JsonrillError):
        problem = stream_error(error)
        return End("error", problem["code"], problem["message"])
    log.error("the source of a run failed", exc_info=error)
    for cause in islice(_causes(error), 20):
        for status in _statuses(cause):
            if isinstance(status, int) and status in BY_STATUS:
                return BY_STATUS[status]
        if any("Timeout" in kind.__name__ for kind in type(cause).__mro__):
            return TIMED_OUT
    return FAILED


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, the members of a group, and the causes of each."""
    yield error
    for cause in (*getattr(error, "exceptions", ()), error.__cause__):
        if cause is not None:
            yield from _causes(cause)


def _statuses(error: BaseException) -> Iterator[Any]:
    """Yield the attributes in which providers' exceptions may have the response's status."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):  # boto3
        yield response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    for item in (error, response):
        for name in ("status_code", "status", "code"):
            yield getattr(item, name, None)

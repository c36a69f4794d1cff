"""Why a source failed, as the end of its run. Readers never see the exception's text."""

from __future__ import annotations

import logging
from typing import Any, Final

from jsonrill.errors import JsonrillError, stream_error

from .records import End

log = logging.getLogger("jsonrill_server")
AGAIN: Final = "the provider received too many requests: ask again later"
KEY: Final = "the provider refused the server's key: asking again does not help"
REQUEST: Final = "the provider refused the request: asking again does not help"
TIMED_OUT: Final = End("error", "SOURCE_TIMEOUT", "the provider did not answer in time: ask again")
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed: asking again may help")
BY_STATUS: Final = {
    **dict.fromkeys((400, 404, 413, 422), End("error", "SOURCE_REFUSED", REQUEST)),
    **dict.fromkeys((401, 403), End("error", "UNAUTHORIZED", KEY)),
    **dict.fromkeys((408, 504), TIMED_OUT),
    429: End("error", "RATE_LIMITED", AGAIN),
}


def end_of_error(error: BaseException) -> End:
    """Return the end of a run whose source raised this; the exception itself is only logged."""
    if isinstance(error, JsonrillError):
        problem = stream_error(error)
        return End("error", problem["code"], problem["message"])
    log.error("the source of a run failed", exc_info=error)
    end = next((BY_STATUS[status] for status in _statuses(error) if status in BY_STATUS), FAILED)
    is_late = any("Timeout" in kind.__name__ for kind in type(error).__mro__)
    return TIMED_OUT if is_late and end is FAILED else end


def _statuses(error: BaseException) -> list[Any]:
    """Return the attributes in which a provider's exception, or its cause, may have a status."""
    objects = (error, getattr(error, "response", None), error.__cause__)
    names = ("status_code", "status", "code")
    statuses = [getattr(item, name, None) for item in objects for name in names]
    return [status for status in statuses if isinstance(status, int)]

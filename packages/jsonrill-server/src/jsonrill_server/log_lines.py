"""Log lines as JSON, one a line, with the time and the request that they belong to."""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar
from typing import Any, Final

# The id of the request that is being answered, also in tasks that it started.
request_id: ContextVar[str] = ContextVar("jsonrill_request_id", default="")
_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")


def new_id(id: str = "") -> str:
    """The id that a client or proxy gave its request, or a new one if that cannot be one."""
    return id if _ID.fullmatch(id) else secrets.token_hex(8)


class JsonLines(logging.Formatter):
    """`time`, `level`, `logger`, `message`, `request`, and what a record has in `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{at}.{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if message := record.getMessage():
            line["message"] = message
        if request := request_id.get():
            line["request"] = request
        line.update(getattr(record, "fields", {}))
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def to_stderr() -> None:
    """Send all log lines to standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])

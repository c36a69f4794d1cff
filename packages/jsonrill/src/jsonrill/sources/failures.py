"""What messages say of a source that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..errors import SourceFailed

ACCEPTED: Final = (
    "text, a provider's stream or its events, an open file, a pipe or an HTTP response"
)
_SHOWN: Final = 500


def described(element: Any) -> str:
    """An element's type and keys, for messages."""
    from ..providers.objects import plain

    kind = type(element)
    name = kind.__qualname__
    if kind.__module__ != "builtins":
        name = f"{kind.__module__}.{name}"
    if isinstance(element, (str, bytes)):
        return f"{name} {element[:60]!r}{'...' if len(element) > 60 else ''}"
    if isinstance(element, (tuple, list)):
        return f"{name} of ({', '.join(described(item) for item in element[:4])})"
    keys = element if isinstance(element, Mapping) else plain(element)
    if not keys:
        return name
    shown = ", ".join(str(key) for key in list(keys)[:12])
    return f"{name} with {shown}"


def is_complete_answer(source: Any) -> bool:
    """True for the answer to a request without `stream=True`: it holds no events."""
    from ..providers.objects import plain

    answer = plain(source) or {}
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    chat = isinstance(choice, dict) and choice.get("message") and "delta" not in choice
    parts = answer.get("output" if answer.get("object") == "response" else "content")
    is_message = answer.get("type") == "message" and answer.get("role") == "assistant"
    listed = isinstance(parts, list) and (is_message or answer.get("object") == "response")
    return bool(chat) or listed


def refuse_complete(source: Any) -> None:
    """`TypeError` for an answer that was not streamed."""
    if is_complete_answer(source):
        name = type(source).__qualname__
        raise TypeError(
            f"this {name} is a complete answer, not a stream: ask for it with stream=True, "
            "or pass its text"
        )


class FailedResponse:
    """Reads the body of a response whose status is an error, and raises it with the body."""

    done = False

    def __init__(self, status: int, reason: str) -> None:
        self._status = status
        self._reason = reason
        self._body = b""

    def feed(self, element: Any) -> Iterator[str]:
        """Keep a block; raise when there is enough of the body."""
        self._body += element.encode() if isinstance(element, str) else bytes(element)
        if len(self._body) > 4 * _SHOWN:
            raise self._error()
        return iter(())

    def flush(self) -> Iterator[str]:
        """Raise the error."""
        raise self._error()

    def _error(self) -> SourceFailed:
        body = " ".join(self._body.decode("utf-8", "replace").split())
        quoted = f": {body[:_SHOWN]}" if body else ""
        status = f"{self._status} {self._reason}".strip()
        return SourceFailed(f"the response has status {status}{quoted}", status=self._status)

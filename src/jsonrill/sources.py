"""The text of the answer in a provider's events, which the stages of jsonrill read."""

from __future__ import annotations

from typing import Any

from .providers import Reader
from .providers.statements import CallDelta, Translate, text_in


class AnswerText:
    """Reads events and returns the text of one choice, without reasoning and calls."""

    def __init__(self, provider: str | Translate = "auto", *, choice: int = 0) -> None:
        if type(choice) is not int or choice < 0:
            raise ValueError(f"choice is a whole number from 0 up, not {choice!r}")
        self._reader = Reader(provider)
        self._choice = choice
        self._has_text = False
        self._has_calls = False

    def feed(self, event: Any) -> str:
        """The text that an event adds: a dict, JSON text, or an object of a client library."""
        said = self._reader.feed(event)
        text = text_in(said, self._choice)
        if text:
            self._has_text = True
        elif not self._has_text:
            self._has_calls = self._has_calls or any(type(one) is CallDelta for one in said)
        return text

    @property
    def recognised(self) -> bool:
        """True after the first event of a known provider."""
        return self._reader.provider is not None

    @property
    def has_only_calls(self) -> bool:
        """True if tool calls have come and no text."""
        return self._has_calls and not self._has_text

"""The text of the answer in a provider's events, which the stages of jsonrill read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..errors import CutShort
from ..options import TABLE, Provider
from ..providers import Reader
from ..providers.statements import (
    CallDelta,
    Ending,
    Statement,
    Text,
    text_in,
)


class AnswerText:
    """Reads events and returns the text of one choice, without reasoning and calls."""

    # All of an answer is wanted.
    done = False

    def __init__(self, provider: Provider = "auto", *, choice: int = 0) -> None:
        self._reader = Reader(provider)
        self._choice = TABLE["choice"].check(choice)
        self._has_text = False
        # The names of the calls, as far as they matter: before the first text.
        self._calls: list[str] = []
        self._has_calls = False
        # A choice that has text while the one that is read has none.
        self._elsewhere: int | None = None
        self._ending = Ending()
        self._ended = False

    def feed(self, event: Any) -> str:
        """The text that an event adds: a dict, JSON text, or an object of a client library."""
        statements = self._reader.feed(event)
        return self.read(statements)

    def read(self, statements: Sequence[Statement]) -> str:
        """The text that statements add."""
        text = text_in(statements, self._choice)
        one = statements[0] if len(statements) == 1 else None
        if not (self._has_text and type(one) is Text and not one.refusal) or self._ended:
            # Most events are nothing but more text.
            self._ending.feed(statements)
            self._ended = self._ending.of(self._choice) is not None
        if text:
            self._has_text = True
        elif not self._has_text:
            for one in statements:
                if type(one) is CallDelta:
                    self._has_calls = True
                    if one.name and one.name not in self._calls:
                        self._calls.append(one.name)
                elif type(one) is Text and one.text:
                    self._elsewhere = one.choice
        return text

    def cut(self, *, ends: bool | None = None) -> CutShort | None:
        """How the answer was cut, once its stream has ended; None if it is complete.

        `ends`: the stream should have had an event for its end; by default if its provider has one.
        """
        return self._ending.cut(self._choice, ends=self._reader.ends if ends is None else ends)

    @property
    def failure(self) -> str | None:
        """The error that the provider has reported; None if it has not."""
        return self._ending.failure(self._choice)

    @property
    def recognised(self) -> bool:
        """True after the first event of a known provider."""
        return self._reader.provider is not None

    @property
    def has_only_calls(self) -> bool:
        """True if tool calls have come and no text."""
        return self._has_calls and not self._has_text

    @property
    def missing(self) -> str | None:
        """Why there is no text, and the remedy; None if there may be none."""
        if not self._has_text and self._elsewhere is not None:
            return f"choice {self._choice} has no text, but choice {self._elsewhere} has"
        if not self.has_only_calls:
            return None
        name = f"tool={self._calls[0]!r} or tool=True" if self._calls else "tool=True"
        calls = f" ({', '.join(self._calls)})" if self._calls else ""
        return f"the answer has tool calls{calls} and no text: pass {name} for their arguments"

    def pieces(self, statements: Sequence[Statement]) -> Iterator[str]:
        """As `read`, for a decoder."""
        text = self.read(statements)
        if text:
            yield text

    def flush(self) -> Iterator[str]:
        return iter(())

"""Elements of a source → pieces of text. The first element decides what they are.

Text stays as it is, unless it is an event stream; anything else is an event of a provider.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ..answer import Answer, joined
from ..errors import CutShort, JsonrillError
from ..eventstream import is_event_stream, is_lines
from .explain import explain
from .opening import TEXT, Opened

if TYPE_CHECKING:
    from .answer import AnswerReader

# How many characters of an answer are kept for its errors.
_KEPT: Final = 1 << 16


class TextReader:
    """Reads the text of a source: plain text, a provider's answer, or the arguments of its calls.

    `many`: the stage reads many documents. `is_first_call`: only the first call is read.
    `reads_events`: plain text holds events, and an answer may have no text.
    """

    def __init__(
        self,
        *,
        tool: str | bool | None = None,
        choice: int = 0,
        provider: Any = "auto",
        sse: bool = False,
        answer: Answer | None = None,
        repair: Any = False,
        prefix: str = "",
        many: bool = False,
        is_first_call: bool = False,
        reads_events: bool = False,
    ) -> None:
        if type(choice) is not int or choice < 0:
            raise ValueError(f"choice is a whole number from 0 up, not {choice!r}")
        if not isinstance(tool, str | bool | None):
            raise ValueError(f"tool is a tool's name, or true for any, not {tool!r}")
        if not isinstance(sse, bool):
            raise ValueError(f"sse is true or false, not {sse!r}")
        if not isinstance(answer, Answer | None):
            raise ValueError(f"answer is an Answer object, not {answer!r}")
        if provider != "auto":
            from ..providers import Reader

            Reader(provider)  # refuses an unknown name
        self.tool = tool or None
        self.choice, self.provider, self.answer = choice, provider, answer
        self.repair, self.is_first_call, self.reads_events = repair, is_first_call, reads_events
        # An answer that cannot begin JSON is prose, unless something else may come before it.
        self.may_be_prose = not (repair or many or reads_events or prefix or self.tool)
        self._sse, self._many = sse, many
        self._failure: tuple[int, str] | None = None
        self._of_events = bool(reads_events or sse or self.tool or provider != "auto" or choice)
        # What reads events; None for plain text.
        self._events: AnswerReader | None = None
        self._is_decided = False
        self._pieces: list[Any] = []
        self._size = 0

    def open(self, source: Opened) -> None:
        """Take what is known about the source before its first element."""
        self._sse = self._sse or is_event_stream(source.content_type)
        is_lined = is_lines(source.content_type) and not self._many
        self._of_events = self._of_events or self._sse or is_lined or source.failure is not None
        self._failure = source.failure

    @property
    def cut(self) -> CutShort | None:
        """How the provider cut the answer, once the text has ended."""
        return None if self._events is None else self._events.cut

    @property
    def done(self) -> bool:
        """True if no more of the source is needed."""
        return self._events is not None and self._events.done

    @property
    def reads_calls(self) -> bool:
        """True if the text is the arguments of one call after another."""
        return self.tool is not None and not self.is_first_call

    def feed(self, element: Any) -> Iterable[Any]:
        """Return the pieces of text that an element brings; it may be None in a list of deltas."""
        if element is None:
            return ()
        if not self._is_decided:
            self._decide(not isinstance(element, TEXT))
        if self._events is not None:
            return self._events.feed(element)
        if self.answer is not None:
            self.answer.add(element)
        self.keep(element)
        return (element,)

    def flush(self) -> Iterable[Any]:
        """Return the last pieces; raise an error if the source is not what was requested."""
        if not self._is_decided:
            self._decide(False)
        return () if self._events is None else self._events.flush()

    def keep(self, piece: Any) -> None:
        """Keep a piece for the message of an error."""
        if self._size < _KEPT and isinstance(piece, TEXT):
            self._pieces.append(piece)
            self._size += len(piece)

    def explain(self, error: JsonrillError) -> JsonrillError:
        """Return the error with the text that was read, and with a helpful message."""
        return explain(error, joined(self._pieces)[:_KEPT], is_strict=not self.repair)

    def _decide(self, is_event: bool) -> None:
        self._is_decided = True
        if is_event or self._of_events:
            from .answer import AnswerReader

            self._events = AnswerReader(self, self._sse, self._failure)
        elif self.answer is not None:
            self.answer.begin()

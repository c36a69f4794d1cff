"""Where the text of an event is, so that the next event can be read without decoding all of it.

Nearly all events of an answer are the same but for one string:

    {"id":"c1","choices":[{"index":0,"delta":{"content":"Hel"}}],"usage":null}
    {"id":"c1","choices":[{"index":0,"delta":{"content":"lo, "}}],"usage":null}

What comes before and after that string in the JSON text decides what the event says, whatever the
string is. That is proved for each event before its successors are read so: with another text in
this place its provider says the same of it, but for the text.
"""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

from .objects import plain
from .statements import CallDelta, Statement, Text, Translate

# A text that no event has; nothing in it needs an escape.
_PROBE: Final = "<any other text>"


def with_text(statement: CallDelta | Text, text: str) -> CallDelta | Text:
    """The same with another text. (Of a call that is all that most deltas have.)"""
    if isinstance(statement, Text):
        return Text(text, statement.choice, statement.block, statement.refusal)
    of = statement
    return CallDelta(of.id, of.index, of.name, text, of.message, of.choice, opens=of.opens)


def around_text(
    event: str, statement: CallDelta | Text, translation: Callable[[], Translate]
) -> tuple[str, str] | None:
    """What is before and after the text in an event that says this; None if it is not sure."""
    if not statement.text:
        return None
    for written in (encode_basestring(statement.text), encode_basestring_ascii(statement.text)):
        if (at := event.rfind(written)) < 0:
            continue
        head, tail = event[: at + 1], event[at + len(written) :]
        probe = plain(f'{head}{_PROBE}"{tail}')
        told: list[Statement] = [] if probe is None else [*translation()(probe)]
        if told == [with_text(statement, _PROBE)]:
            return head, tail
    return None

"""What a model thinks aloud is the same for `repair`, which skips it, and for `split`."""

from __future__ import annotations

import pytest

from jsonrill import parts, values
from jsonrill.parse.reasoning import ELEMENTS, MARKS

NAMES = [spelled(name) for name in ELEMENTS for spelled in (str.lower, str.upper, str.capitalize)]
PAIRS = [
    *((f"<{name}>", f"</{name}>") for name in NAMES),
    *((spelled(begin), spelled(end)) for begin, end in MARKS for spelled in (str.lower, str.upper)),
]


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_both_know_every_tag(begin: str, end: str) -> None:
    text = f'{begin}{{"a": 1}} or so{end}\n{{"b": 2}}'
    assert [*values(text, repair=True)][-1] == {"b": 2}
    deltas = [(part.kind, part.delta) for part in parts(text, split=True) if part.delta]
    assert deltas == [("reasoning", '{"a": 1} or so'), ("text", '\n{"b": 2}')]

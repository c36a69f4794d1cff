"""Every text up to a small length is read by JavaScript as by Python, whole and in characters.

Python's reading of the same texts is compared with `json.loads` by its own tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from support.every_text import sloppy_texts, strict_texts
from support.javascript import Ask

from .test_repair_agreement import differences


def check(ask: Ask, texts: Iterable[str], **options: bool) -> None:
    left = iter(texts)
    while some := list(islice(left, 500)):
        jobs = [(cut, options) for text in some for cut in ([text], list(text))]
        assert differences(ask, jobs) == []


def test_every_short_text(ask: Ask) -> None:
    check(ask, (text for text, _ in strict_texts(3)))


def test_every_short_text_that_is_almost_json(ask: Ask) -> None:
    check(ask, sloppy_texts(2), repair=True)

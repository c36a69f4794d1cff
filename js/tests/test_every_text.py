"""Every text up to a small length is read by JavaScript as by Python, whole and in characters.

Python's reading of the same texts is compared with `json.loads` by its own tests.
"""

from __future__ import annotations

from support.javascript import Ask, check_alike
from support.prefixes import sloppy_texts, strict_texts


def test_every_short_text(ask: Ask) -> None:
    check_alike(ask, (text for text, _ in strict_texts(3)))


def test_every_short_text_that_is_almost_json(ask: Ask) -> None:
    check_alike(ask, sloppy_texts(2), repair=True)

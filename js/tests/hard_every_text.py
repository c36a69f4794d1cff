"""Every text up to length 6, and near-JSON up to 4, is read by JavaScript as by Python."""

from __future__ import annotations

from support.javascript import Ask, check_alike
from support.prefixes import sloppy_texts, strict_texts


def test_every_text(ask: Ask) -> None:
    check_alike(ask, (text for text, _ in strict_texts(6)))


def test_every_text_that_is_almost_json(ask: Ask) -> None:
    check_alike(ask, sloppy_texts(4), repair=True)

"""Each provider's finish reason is translated to the same set of reasons."""

from __future__ import annotations

import enum
import json
from typing import Any

import pytest

from jsonrill import Parts
from jsonrill.providers import Reader
from jsonrill.providers.ending import Ending
from jsonrill.providers.fields import finished
from jsonrill.providers.finish import MEANINGS, REASONS, WORDS, finish_reason, is_complete
from support import cases

CASES: list[dict[str, Any]] = cases("finish_reasons.json")["cases"]


def stream(case: dict[str, Any], word: str) -> list[Any]:
    """Return the events of a case that ends with this word."""
    end = json.dumps(case["end"]).replace("$WORD", word)
    return [*case["before"], *json.loads(end)]


ENDS = [(case, word) for case in CASES for word in case["words"]]
NAMES = [f"{case['name']}-{word}" for case, word in ENDS]


@pytest.mark.parametrize(("case", "word"), ENDS, ids=NAMES)
def test_a_finish_reason_becomes_one_of_our_words(case: dict[str, Any], word: str) -> None:
    reader, ending, parts = Reader(), Ending(), Parts()
    for event in stream(case, word):
        ending.read(reader.feed(event))
        parts.feed(event)
    reason = case["words"][word]
    assert ending.outcome == parts.outcome == reason
    assert (parts.error is not None) == (reason == "error")


def test_only_an_error_is_explained_by_the_providers_word() -> None:
    assert finished("network_error").detail == "network_error"
    assert finished("network_error", detail="no route").detail == "no route"
    assert finished("stop").detail is None
    assert finished("length").detail is None


def test_every_reason_of_the_table_is_one_of_the_words() -> None:
    assert {*WORDS.values()} == {*REASONS}
    assert {*MEANINGS} == {reason for reason in REASONS if not is_complete(reason)}


def test_spelling_does_not_matter() -> None:
    class Reason(enum.Enum):
        MAX_TOKENS = "MAX_TOKENS"

    for word in (
        "MAX_TOKENS",
        "max-tokens",
        "maxTokens",
        "FinishReason.MAX_TOKENS",
        Reason.MAX_TOKENS,
    ):
        assert finish_reason(word) == "length"


def test_only_a_text_is_a_reason_and_an_unknown_one_is_not_complete() -> None:
    assert finish_reason(None) is None and finish_reason("") is None and finish_reason(3) is None
    assert finish_reason("brand_new") == "lost"

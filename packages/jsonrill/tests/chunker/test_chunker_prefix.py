"""Texts that begin alike are read from where they differ, and read as if decoded from the start."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from jsonrill import Chunker, Document, InvalidJSON, JsonrillError
from jsonrill.chunker.prefix import PrefixReader
from jsonrill.chunker.snapshot import decode
from jsonrill.paths import ABSENT

# So that the texts are worth it.
LONG = "x" * 200
KEYS = ("a", "b}", "[", "é", '"', "", "a")
SCALARS = (
    *(1, 0, -1, 1.5, 1e30, -0.0, True, False, None, 12345678901234567890),
    *("", "x", 'a"b', "\\", "}]", "😀", "\ud800", "中中中", "abc def", "\n\t"),
)
MUTANTS = (
    *('"', "}", "]", "{", "[", ",", ":", "1", "\\", "\\u", "\\ud83d", "\ud83d", " ", ""),
    *("true", "-", "e", "x", "\ufeff"),
)


def random_value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth < 4 and kind < 0.3:
        keys = [
            chance.choice(KEYS) + str(chance.randint(0, 3)) for _ in range(chance.randint(0, 4))
        ]
        return {key: random_value(chance, depth + 1) for key in keys}
    if depth < 4 and kind < 0.5:
        return [random_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return chance.choice(SCALARS)


def growing(chance: random.Random) -> Iterator[str]:
    """The texts of a value that grows, written in one of several ways; some are broken."""
    text = json.dumps(
        {"long": LONG, "r": random_value(chance), "s": [random_value(chance), random_value(chance)]}
    )
    style: dict[str, Any] = {
        "ensure_ascii": chance.random() < 0.5,
        "indent": chance.choice((None, None, 1)),
        "separators": chance.choice((None, (",", ":"))),
    }
    document, at = Document(), len(LONG)
    document.feed(text[:at])
    while at < len(text):
        size = chance.choice((1, 2, 4, 8))
        document.feed(text[at : at + size])
        at += size
        shown = json.dumps(document.live, **style)
        if chance.random() < 0.02:
            for _ in range(chance.randint(1, 3)):
                cut = chance.randrange(len(shown) // 2, len(shown) + 1)
                shown = shown[:cut] + chance.choice(MUTANTS) + shown[cut + chance.randint(0, 2) :]
        yield shown


def exact(tree: Any) -> Any:
    """The tree with the order of its members, which `==` does not compare."""
    if isinstance(tree, dict):
        return [(key, exact(value)) for key, value in tree.items()]
    return [exact(value) for value in tree] if isinstance(tree, list) else (type(tree), tree)


def test_a_text_that_is_taken_is_read_as_if_decoded() -> None:
    taken = texts = 0
    for seed in range(150):
        reader = PrefixReader()
        for text in growing(random.Random(seed)):
            tree = reader.read(text)
            texts += 1
            if tree is not ABSENT:
                taken += 1
                assert exact(tree) == exact(decode(text)), (seed, text)
    assert taken > texts / 2, (taken, texts)


@pytest.mark.parametrize(
    "wrong",
    [
        '{"a": "' + LONG + 'y"',
        '{"a": "' + LONG + 'y"]',
        '{"a": "' + LONG + 'y\\"}',
        '{"a": "' + LONG + '", "b"}',
        '{"a": "' + LONG + '", "b{}',
        '{"a": "' + LONG + '", "b:1}',
        '{"a": "' + LONG + '", 1}',
        '{"a": "' + LONG + '",}',
        '{"a": "' + LONG + '", "b": 01}',
        '{"a": "' + LONG + '", "b": [1 2]}',
        '{"a": "' + LONG + '", "b": }',
    ],
)
def test_a_text_that_is_wrong_is_refused(wrong: str) -> None:
    chunker = Chunker()
    written = [chunker.feed('{"a": "' + LONG + '"}'), chunker.feed('{"a": "' + LONG + '"}')]
    with pytest.raises(InvalidJSON):
        chunker.feed(wrong)
    # It is as if it had not come.
    written += [chunker.feed('{"a": "' + LONG + 'z"}'), chunker.flush()]
    assert json.loads("".join(written)) == {"a": LONG + "z"}


def test_what_was_read_before_does_not_change_with_later_texts() -> None:
    reader = PrefixReader()
    texts = ['{"a": "' + LONG + f'", "b": [{", ".join(map(str, range(n)))}]}}' for n in range(9)]
    trees = [reader.read(text) for text in texts]
    assert trees[-1] is not ABSENT
    for text, tree in zip(texts, trees, strict=True):
        assert tree is ABSENT or tree == decode(text)


def test_texts_that_begin_differently_cost_hardly_more_than_their_decoding() -> None:
    reader = PrefixReader()
    texts = [json.dumps({str(n): LONG, "b": n}) for n in range(1000)]
    for text in texts:
        assert reader.read(text) is ABSENT
    assert reader.read(texts[-1]) is ABSENT


def test_a_chunker_that_reads_prefixes_writes_what_one_that_decodes_does() -> None:
    for seed in range(60):
        one, other = Chunker(on_revision="keep"), Chunker(on_revision="keep")
        for number, text in enumerate(growing(random.Random(seed))):
            # White space before a text makes it begin differently.
            chunks = [_fed(one, text), _fed(other, " " * (number % 7) + text)]
            assert chunks[0] == chunks[1], (seed, text)
        assert one.flush() == other.flush()


def _fed(chunker: Chunker, text: str) -> Any:
    try:
        return chunker.feed(text)
    except JsonrillError as error:
        return type(error)

"""Every text up to a small length: verdict, place and value as `json.loads`, in every cutting.

`hard_every_text.py` goes further, and compares the engines.
"""

from __future__ import annotations

from support.prefixes import check_strict, digest, is_beginning, strict_texts


def test_every_short_text_is_read_as_json_loads_reads_it() -> None:
    count, _ = digest(4, 4, 2)
    assert count > 3000


def test_the_reference_knows_what_begins_a_text() -> None:
    for text in ('{"1":[-', '["\\"', "-1.0e", '{"', '{"":1', "[1,", '{"1":0,'):
        assert is_beginning(text), text
    for text in ("]", "01", "[,", '{"1",', "1.e", "{}1", '""""', "[}", "-e"):
        assert not is_beginning(text), text


def test_each_text_is_checked_once_and_refused_ones_are_not_continued() -> None:
    texts = dict(strict_texts(2))
    assert texts["["] and texts["[["] and not texts["}"] and "}}" not in texts
    for text, good in texts.items():
        check_strict(text, good)

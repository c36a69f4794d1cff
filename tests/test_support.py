"""The helpers of the other tests: a helper that is wrong makes every test that uses it weak."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from support import at, at_random, by_character, by_threes, cuttings, pieces, whole

TEXT = "añ\U0001f600{}12"


def test_each_cutting_cuts_as_its_name_says() -> None:
    assert whole(TEXT) == [TEXT]
    assert by_character("añ\U0001f600") == ["a", "ñ", "\U0001f600"]
    assert by_character("ñ".encode()) == [b"\xc3", b"\xb1"]
    assert by_threes("abcdefg") == ["abc", "def", "g"]
    assert at([1, 1, 3], "abcd") == ["a", "", "bc", "d"]
    assert at_random(TEXT * 9) == at_random(TEXT * 9) != at_random(TEXT * 9, seed=1)


@given(st.text(), st.binary())
def test_pieces_of_every_standard_cutting_join_to_the_text(text: str, data: bytes) -> None:
    assert ["".join(cut) for cut in cuttings(text)] == [text] * 4
    assert [b"".join(cut) for cut in cuttings(data)] == [data] * 4


@given(st.data())
def test_drawn_pieces_join_to_the_text(data: st.DataObject) -> None:
    assert "".join(data.draw(pieces(TEXT))) == TEXT

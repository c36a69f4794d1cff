"""The promises with leniency: P1, P2, P3, P8 and P9 hold, and valid JSON is never touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill import Document, InvalidJSON, LimitExceeded, Limits, Parser, PartialStream, Rebuilder
from jsonrill.options import Mode
from support import by, by_character, examples, few, pieces
from support.costs import is_flat, is_linear
from support.documents import is_prefix, loads, same, spoiled, texts
from support.json_texts import ACCEPTED
from support.near_json import Sloppy, broken, garbage, read, report, rule_sets, sloppy

any_text = st.one_of(broken(), sloppy().map(lambda one: one.text), garbage, spoiled())
options = st.fixed_dictionaries({"repair": rule_sets})
small = st.builds(
    Limits,
    depth=st.integers(0, 4),
    text=st.sampled_from([1, 1024, 1100]),
    string=st.integers(0, 12),
    number=st.integers(0, 6),
    keys=st.integers(0, 3),
    repairs=st.integers(0, 4),
)


@examples(100)
@given(sloppy())
def test_what_models_write_is_read_as_they_mean_it(sloppy_text: Sloppy) -> None:
    value, rules = read(sloppy_text.text)
    assert same(value, sloppy_text.value)
    assert set(rules) == sloppy_text.rules


@examples(60)
@given(sloppy())
def test_the_rules_that_it_takes_are_enough(sloppy_text: Sloppy) -> None:
    """With fewer rules a text may have no reading; then it is refused, and never misread."""
    try:
        value, rules = read(sloppy_text.text, repair=sloppy_text.rules)
    except InvalidJSON:
        return
    assert same(value, sloppy_text.value)
    assert set(rules) == sloppy_text.rules


@pytest.mark.parametrize("rules", [["brackets"], ["brackets", "trailing-text"]])
@pytest.mark.parametrize("text", ["[1]x", "[ false \r\n  ]NaN", "[1]true"])
def test_p1_holds_for_lists_where_no_prose_is_read(text: str, rules: list[str]) -> None:
    assert report(by_character(text), repair=rules) == report([text], repair=rules)


@examples(100)
@given(any_text, options, st.data())
def test_p1_any_cutting_gives_the_same_fragments_repairs_and_errors(
    text: str, options: Any, data: Any
) -> None:
    whole = report([text], **options)
    assert report(by_character(text), **options) == whole
    assert report(data.draw(pieces(text)), **options) == whole


@examples(60)
@given(any_text, options, small, st.data())
def test_p1_holds_under_limits(text: str, options: Any, limits: Limits, data: Any) -> None:
    whole = report([text], limits=limits, **options)
    assert report(data.draw(pieces(text)), limits=limits, **options) == whole


@examples(100)
@given(any_text, st.binary(max_size=3), st.integers(0, 60), options, st.data())
def test_p1_holds_for_bytes(text: str, noise: bytes, at: int, options: Any, data: Any) -> None:
    source = text.encode("utf-8", "surrogatepass")
    source = source[:at] + noise + source[at:]
    whole = report([source], **options)
    assert report(by_character(source), **options) == whole
    assert report(data.draw(pieces(source)), **options) == whole


@examples(100)
@given(any_text, rule_sets)
def test_p2_every_value_shown_is_a_prefix_of_the_last(text: str, rules: Any) -> None:
    document = Document(repair=rules)
    shown = []
    try:
        for char in text:
            document.feed(char)
            if document.started:
                shown.append(document.value)
        document.flush()
    except (InvalidJSON, LimitExceeded):
        pass
    for one, other in zip(shown, [*shown[1:], document.value], strict=False):
        assert is_prefix(one, other)


def run(stage: Document | Parser, cut: list[str]) -> tuple[list[Any], str | None]:
    """What each call gave, and the error that it all ended in."""
    returned: list[Any] = []
    try:
        for piece in cut:
            returned.append(stage.feed(piece))
        returned.append(stage.flush())
    except (InvalidJSON, LimitExceeded) as error:
        return [*returned, error.fragments], str(error)
    return returned, None


@examples(80)
@given(any_text, options, st.data())
def test_p3_rebuilder_and_document_agree(text: str, options: Any, data: Any) -> None:
    document, parser, rebuilder = Document(**options), Parser(**options), Rebuilder()
    _, end = run(document, data.draw(pieces(text)))
    returned, other = run(parser, data.draw(pieces(text)))
    assert (end, document.repairs) == (other, parser.repairs)
    rebuilder.feed([one for ones in returned for one in ones])
    assert same(rebuilder.value, document.value)
    assert rebuilder.complete == document.complete


@examples(80)
@given(texts(), rule_sets, st.data())
def test_valid_json_is_never_touched(text: str, rules: Any, data: Any) -> None:
    strict = report([text])
    lenient = report(data.draw(pieces(text)), repair=rules)
    assert lenient == strict
    assert not lenient.repairs


@examples(80)
@given(st.one_of(garbage, broken()), rule_sets)
def test_what_json_accepts_is_never_touched(text: str, rules: Any) -> None:
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return
    assert same(read(text, repair=rules), (value, []))


@pytest.mark.parametrize("text", ACCEPTED)
def test_valid_json_by_hand_is_never_touched(text: str) -> None:
    data = text.encode()
    assert report(by_character(data), repair=True) == report([data])


@examples(60)
@given(sloppy().filter(lambda sloppy_text: isinstance(sloppy_text.value, dict)), st.data())
def test_a_schema_raises_no_false_alarm(sloppy_text: Sloppy, data: Any) -> None:
    pytest.importorskip("jsonschema_rs")
    stream = PartialStream("REALTIME", schema={"const": sloppy_text.value}, repair=True)
    all_updates = [
        update for piece in data.draw(pieces(sloppy_text.text)) for update in stream.feed(piece)
    ]
    all_updates += stream.flush()
    assert {update.status for update in all_updates} <= {"PARTIAL", "COMPLETED"}
    assert same(all_updates[-1].data, sloppy_text.value)
    assert {repair.rule for repair in all_updates[-1].repairs} <= sloppy_text.rules


@examples(60)
@given(any_text, st.sampled_from(["BATCH", "ONE-BY-ONE", "REALTIME"]), options, st.data())
def test_p1_holds_for_updates(text: str, mode: Mode, options: Any, data: Any) -> None:
    def ends(cut: list[str]) -> list[Any]:
        stream = PartialStream(mode, **options)
        all_updates = [update for piece in cut for update in stream.feed(piece)] + stream.flush()
        fields = ("document", "repairs")
        return [one.to_json(*fields) for one in all_updates if one.status != "PARTIAL"]

    # A COMPLETED has the repairs up to its last character; those after it are the next one's.
    assert ends(data.draw(pieces(text))) == ends([text])


# ---- P8 ----

LONG: dict[str, Callable[[int], str]] = {
    "prose": lambda size: "So here is what I think about it. " * (size // 34) + '{"a": 1}',
    "brackets in prose": lambda size: "[see] {this} [x] " * (size // 17) + '{"a": 1}',
    "footnotes in prose": lambda size: "[1] {} " * (size // 7) + '{"a": 1}',
    "open brackets in prose": lambda size: "{ \n " * (size // 4),
    "ticks in prose": lambda size: "so" + "`" * size,
    "a long fence": lambda size: "```" + "json" * (size // 4),
    "thoughts": lambda size: "<think>" + "a < b </thin " * (size // 13),
    "trailing text": lambda size: "{}\n" + "`` // text " * (size // 11),
    "white space before a line ends": lambda size: "12" + " " * size,
    "white space in a bracket": lambda size: "so [1" + " " * size,
    "missing commas": lambda size: "[" + "1 " * (size // 2),
    "extra commas": lambda size: "[" + ",\n" * (size // 2),
    "inner quotes": lambda size: '["' + 'a "b" c ' * (size // 8),
    "doubtful quotes": lambda size: '["' + '" , x' * (size // 5),
    "stray brackets": lambda size: "[" + "}" * size,
    "comments": lambda size: "[" + "/*a*/ // *\n" * (size // 11),
    "a long comment": lambda size: "[/*" + "* /" * (size // 3),
    "raw newlines": lambda size: '["' + "\n" * size,
    "bad escapes": lambda size: '["' + "\\d" * (size // 2),
    "single quotes": lambda size: "['" + "a\\'" * (size // 3),
    "ellipses": lambda size: "[" + "... " * (size // 4),
    "bare keys": lambda size: "{" + "a: 1, " * (size // 6),
    "a long bare key": lambda size: "{" + "a" * size,
    "quotes in a comment": lambda size: "[//" + '" "' * (size // 3),
    "brackets in a comment": lambda size: "[//" + "]" * size,
    "commas in a string": lambda size: '["' + ", " * (size // 2),
    "curly quotes": lambda size: '["' + "“a”, " * (size // 5),
    "white space after a quote": lambda size: '["a"' + " " * size,
    "strings and numbers": lambda size: "[" + '"a", 1, ' * (size // 8),
    "JSON in a string": lambda size: '["{' + '"a": 1, ' * (size // 8),
    "brackets in a string": lambda size: '["' + "}]" * (size // 2),
    "back-ticks": lambda size: '{"a": `' + "\\d" * (size // 2),
    "quoted brackets in prose": lambda size: 'so "[1]" ' * (size // 9),
    "keys that come again": lambda size: "{" + '"a": 1, ' * (size // 8),
    "objects with a bracket too many": lambda size: "[" + '{"a": 1}}, ' * (size // 11),
}


PATIENT = Limits(repairs=10**9)
# These have no reading: they are refused after a few characters.
REFUSED = ("extra commas", "doubtful quotes", "stray brackets", "objects with a bracket too many")


@few(5)
@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", [name for name in LONG if name not in REFUSED])
def test_p8_leniency_is_linear(name: str, size: int) -> None:
    def start(length: int) -> Callable[[], object]:
        document, text = Document(repair=True, limits=PATIENT), LONG[name](length + 2_000)
        for piece in by(7, text[:length]):
            document.feed(piece)
        rest = iter(by(size, text[length:]))
        return lambda: document.feed(next(rest))

    is_flat(start, small=500, large=20_000)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_reading_is_refused_early(name: str) -> None:
    with pytest.raises(InvalidJSON) as caught:
        Document(repair=True, limits=PATIENT).feed(LONG[name](2_000))
    assert caught.value.offset is not None and caught.value.offset < 30


@few(10)
@pytest.mark.parametrize("name", LONG)
def test_p8_leniency_is_linear_in_one_piece(name: str) -> None:
    def work(length: int) -> Callable[[], None]:
        text = LONG[name](length)

        def run() -> None:
            document = Document(repair=True, limits=PATIENT)
            try:
                document.feed(text)
                document.flush()
            except InvalidJSON:
                pass

        return run

    is_linear(work, 2_000)


@examples(80)
@given(st.one_of(any_text, st.text(max_size=20)), options, st.data())
def test_p9_nothing_but_the_documented_errors(text: str, options: Any, data: Any) -> None:
    report(data.draw(pieces(text)), **options)
    document = Document(**options)
    try:
        for piece in data.draw(pieces(text)):
            document.feed(piece)
        document.flush()
    except (InvalidJSON, LimitExceeded):
        pass

"""The parser in JavaScript and the one in Python say the same: values, fragments and errors.

Whatever the text and however it is cut, as text or as bytes, with limits, with many documents.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jsonrill import Document, InvalidJSON, LimitExceeded, Limits, Parser
from jsonrill.paths import format_path
from jsonrill.wire import to_wire
from support import pieces
from support.documents import spoiled, texts
from support.javascript import Ask, agree, examples, in_js_order, spelled_message

LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "depth": st.integers(0, 4),
        "text": st.integers(1, 40),
        "string": st.integers(0, 8),
        "number": st.integers(0, 6),
        "keys": st.integers(0, 3),
    },
)
OPTIONS = st.fixed_dictionaries(
    {}, optional={"many": st.booleans(), "duplicates": st.sampled_from(["last", "error"])}
)
ODD = [
    *('"\\ud83d\\ude00"', '"\\ud83d"', '"\\ud83dx"', '"\\ud83d\\n"', '"\\ud83d\\ud83d\\ude00"'),
    *('"\\ud83d\\u0041"', '"\\ud83d\\uZ"', '"\\ud83d\\uD8zz"', '"\\ud83d\\udcz"', '"\\ude00"'),
    *(
        '"\\u00e9"',
        '"\\u00G9"',
        '"\\x"',
        '"\\',
        '"\\u',
        '"a\nb"',
        '"\x7f\x1f"',
        '"😀',
        '{"😀": 1}😀',
    ),
    *("-", "-0", "01", "1.", "1.5e", "1e+", "1e5x", "12,", "[1,]", "[,1]", "{,}", '{"a":1,}'),
    *("[1 2]", "tru", "trux", "nul]", "falsee", "\ufeff[]", "[] x", "", " \n\t", "\n\n [1,\n x]"),
    *("'a'", "\u00a0[]", '{"a": 1, "\\u0061": 2}', '{"a" 1}', "{1: 2}", "[[[[[1]]]]]"),
    *('["é\u2028", "😀😀", }', '{"when": 2024-05-01}', "[1.0.0]", '{"k\'": "\\q"}'),
    '{"it\'s \\"": 1, "it\'s \\"": 2}',
]
MANY = [
    *("1\n2\n3", '{"a": 1}{"a": 2}', "\x1e1\n\x1e2\n", "[1\n[2]", "{x}\n[1]", "truefalse nul\n1"),
    *("1 x\n2", '"a""b', "[1]\n\n{]\n{}", "\x1e[\x1e{}", "😀\n1", '["😀\n[1]😀\n2', "1e400 -0 0"),
    "[1,\n[2]",
]


def told(error: InvalidJSON | LimitExceeded) -> list[Any]:
    """What an error says, as the peer answers it."""
    about = error.limit if isinstance(error, LimitExceeded) else error.expected
    fields = error.to_dict()
    # What Python says on how to raise a limit is Python.
    fields["message"] = fields["message"].partition(": pass limits=")[0]
    return [type(error).__name__, fields, about]


def steps(cut: list[Any], options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    document, parser = Document(**options), Parser(**options)
    for piece in (*cut, None):
        error = None
        try:
            fragments = parser.flush() if piece is None else parser.feed(piece)
        except (InvalidJSON, LimitExceeded) as raised:
            error, fragments = told(raised), raised.fragments
        try:
            document.flush() if piece is None else document.feed(piece)
        except (InvalidJSON, LimitExceeded):
            pass
        yield {
            "value": document.value if document.started else None,
            "finished": document.finished,
            "error": error,
            "open": None if document.open_path is None else format_path(document.open_path),
            "pending": document.pending and [format_path(document.pending[0]), document.pending[1]],
            "complete": document.complete,
            "started": document.started,
            "changed": document.changed,
            "document": document.document,
            "fragments": [(to_wire(one), one.offset, one.document) for one in fragments],
            "errors": [told(one) for one in document.errors] if piece is None else [],
        }
        if error:
            return


def merged(fragments: list[Any]) -> list[Any]:
    """Fragments without regard to how many parts the text of a string came in."""
    out: list[Any] = []
    for wire, offset, document in fragments:
        wire = dict(wire)
        if wire["kind"] == "CompleteNumber" and "value" in wire:
            wire["value"] = float(wire["value"])  # JavaScript writes 1e16 as an integer
        if wire["kind"] == "PartialString" and out and out[-1][0]["kind"] == "PartialString":
            out[-1][0]["textValue"] += wire["textValue"]
        else:
            out.append((wire, offset, document))
    return [in_js_order(list(one)) for one in out]


def spelled(error: list[Any] | None) -> Any:
    """The error as `told` tells it."""
    if error is None:
        return None
    name, fields, about = error
    return [name, {**fields, "message": spelled_message(fields["message"])}, about]


def compare(ask: Ask, cut: list[Any], options: dict[str, Any]) -> None:
    limits = {"limits": Limits(**options["limits"])} if "limits" in options else {}
    ours = list(steps(cut, {**options, **limits}))
    is_bytes = bool(cut) and isinstance(cut[0], bytes)
    sent = [base64.b64encode(piece).decode() for piece in cut] if is_bytes else cut
    exact = {"numbers": "exact", **options}
    theirs = ask("document", pieces=sent, base64=is_bytes, options=exact)
    assert len(theirs) == len(ours)
    for mine, other in zip(ours, theirs, strict=True):
        assert spelled(other["error"]) == spelled(mine["error"])
        assert list(map(spelled, other["errors"])) == list(map(spelled, mine["errors"]))
        assert agree(other["value"], mine["value"])
        assert len(other["finished"]) == len(mine["finished"])
        assert all(map(agree, other["finished"], mine["finished"]))
        assert merged(other["fragments"]) == merged(mine["fragments"])
        # After an error nothing is read on: what is pending then is nobody's business.
        pending = () if mine["error"] else ("pending",)
        for name in (*pending, "open", "complete", "started", "changed", "document"):
            assert in_js_order(other[name]) == in_js_order(mine[name]), name


def cut_texts(text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Any]]:
    """Any cutting of any of these texts, or of its bytes."""
    return text.flatmap(
        lambda one: st.one_of(
            pieces(one), pieces(one.encode("utf8", "surrogatepass").replace(b"\xed\xa0", b"?"))
        )
    )


@examples(100)
@given(cut=cut_texts(texts()), options=OPTIONS)
def test_valid_texts(ask: Ask, cut: list[Any], options: dict[str, Any]) -> None:
    compare(ask, cut, options)


@examples(150)
@given(cut=cut_texts(spoiled()), options=OPTIONS)
def test_spoiled_texts(ask: Ask, cut: list[Any], options: dict[str, Any]) -> None:
    compare(ask, cut, options)


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_at_every_cut(ask: Ask, text: str) -> None:
    for many in (False, True):
        for at in range(len(text) + 1):
            compare(ask, [text[:at], text[at:]], {"many": many})
        compare(ask, list(text), {"many": many, "duplicates": "error"})
        data = text.encode()
        compare(ask, [data[at : at + 1] for at in range(len(data))], {"many": many})


@pytest.mark.parametrize("text", MANY)
def test_many_documents_at_every_cut(ask: Ask, text: str) -> None:
    for at in range(len(text) + 1):
        compare(ask, [text[:at], text[at:]], {"many": True})
    compare(ask, list(text), {"many": True, "limits": {"text": 3}})


@examples(150)
@given(
    cut=cut_texts(st.one_of(texts(), st.sampled_from(ODD), st.sampled_from(MANY))),
    options=OPTIONS,
    limits=LIMITS,
)
def test_limits(ask: Ask, cut: list[Any], options: dict[str, Any], limits: dict[str, int]) -> None:
    # Python does not count what is nested in a value that a later key of the same piece replaces.
    assume(all((b"0061" if isinstance(one, bytes) else "0061") not in one for one in cut))
    compare(ask, cut, {**options, "limits": limits})


@examples(100)
@given(
    cut=cut_texts(st.lists(st.one_of(texts(), st.sampled_from(MANY)), max_size=5).map("\n".join))
)
def test_many_documents(ask: Ask, cut: list[Any]) -> None:
    compare(ask, cut, {"many": True})


# Without the bytes of a surrogate, cut in two: of these Python waits for the last one.
BYTES = (
    *(b'"', b"[", b"]", b"\n", b"a", b"1", b"\xef\xbb\xbf", b"\xef", b"\xe2", b"\x82", b"\xac"),
    *(b"\xf0\x9f", b"\x98", b"\x80", b"\xf4\x90", b"\xe0\x80", b"\xc0", b"\xff"),
)


@examples(100)
@given(
    data=st.lists(st.sampled_from(BYTES), max_size=12).map(b"".join).flatmap(pieces),
    many=st.booleans(),
)
def test_bytes_that_are_not_utf8(ask: Ask, data: list[bytes], many: bool) -> None:
    compare(ask, data, {"many": many})

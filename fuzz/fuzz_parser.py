"""Any text, however cut, gives a result or a documented error, and what json.loads says.

`python -m fuzz parser --seconds 600`. Inputs are random documents in random spelling, most
of them spoiled; as text or bytes; through Parser, Document, both wire forms and Rebuilder; in two
cuttings, whose every word must agree; strict and lenient, one document and many.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.seeds import json_texts
from jsonrill import (
    Document,
    Fragment,
    FragmentError,
    InvalidJSON,
    LimitExceeded,
    Limits,
    Parser,
    Rebuilder,
    partial,
)
from jsonrill.jsontext import dumps
from jsonrill.wire import CompactEncoder, from_wire, to_wire

BYTES = True
TARGET = "any text, any cutting: a result or a documented error, and json.loads agrees"

Text = str | bytes
WORDS = ["true", "false", "null", "NaN", "Infinity", "-Infinity", "True", "None", "undefined"]
WORDS += ["```json\n", "```", "//", "/*", "*/", "#", "'", '"', "\\", "\\u", "\\ud83d", "\\ude00"]
WORDS += ["{", "}", "[", "]", ":", ",", ",,", "{}", "[]", '""', "0", "-", "1e5", "1.", ".5", "01"]
WORDS += [" ", "\n", "\r\n", "\t", "\x00", "\x1e", "\x1f", "\x7f", "\xa0", "\ufeff", "\u2028", "é"]
WORDS += ["日本", "\U0001f600", "abc", "a b", "__proto__", "9" * 30, "1" * 500, "x" * 70, "[" * 9]


# ---- inputs ----


def value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(9 if depth < 4 else 6)
    match kind:
        case 0:
            return random.choice([None, True, False])
        case 1:
            return random.choice([0, -1, 7, 2**53 + 1, -(10**25), random.randrange(10**6)])
        case 2:
            return random.choice([0.5, -0.0, 1e16, 5e-324, 1e308, random.random()])
        case 3 | 4 | 5:
            return text(random)
        case 6:
            return [value(random, depth + 1) for _ in range(random.randrange(5))]
        case _:
            return {text(random): value(random, depth + 1) for _ in range(random.randrange(5))}


def text(random: Random) -> str:
    if random.random() < 0.3:
        return random.choice(["a", "b", "", "name", "a.b"])
    words = "".join(random.choice(WORDS) for _ in range(random.randrange(4)))
    # A lone half may stand in a string, but two that meet are a pair for every reader of JSON.
    return words + random.choice(["", "", "\ud83d", "\udc00"])


def written(random: Random, value: Any) -> str:
    """One of the many spellings of a value."""
    space = random.choice(["", "", " ", "\n  ", "\t\r"])
    if isinstance(value, dict):
        items = [f"{written(random, k)}{space}:{written(random, v)}" for k, v in value.items()]
        if items and random.random() < 0.05:
            items.append(items[0])
        return f"{{{space}{f',{space}'.join(items)}{space}}}"
    if isinstance(value, list):
        return f"[{space}{f'{space},'.join(written(random, item) for item in value)}{space}]"
    if isinstance(value, str) and random.random() < 0.5:
        return dumps(value)
    return json.dumps(value)


def spoiled(random: Random, whole: str) -> str:
    """Cut, copied, deleted, replaced or filled with strange words."""
    for _ in range(random.randrange(4)):
        at = random.randint(0, len(whole))
        upto = at + random.choice([0, 1, 1, 2, 5, 40])
        word = random.choice([random.choice(WORDS), chr(random.randrange(0xD800)), whole[at:upto]])
        match random.randrange(4):
            case 0:
                whole = whole[:at]
            case 1:
                whole = whole[:at] + whole[upto:]
            case 2:
                whole = whole[:at] + word + whole[upto:]
            case _:
                whole = whole[:at] + word + whole[at:]
    return whole


def made(random: Random) -> Text:
    if random.random() < 0.15:
        whole = "".join(random.choice(WORDS) for _ in range(random.randrange(12)))
    else:
        whole = spoiled(random, written(random, value(random)))
    if random.random() < 0.6:
        return whole
    data = bytearray(whole.encode("utf-8", "replace"))
    if random.random() < 0.2:
        data[:0] = b"\xef\xbb\xbf"[: random.randint(1, 3)]
    if random.random() < 0.3 and data:
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data)


def cut(random: Random, whole: Text) -> list[Any]:
    size = random.choice([1, 1, 2, 3, 7, 64, 100, max(1, len(whole))])
    if random.random() < 0.5:
        return [whole[at : at + size] for at in range(0, len(whole), size)]
    edges = sorted(random.randint(0, len(whole)) for _ in range(random.randrange(8)))
    pairs = zip([0, *edges], [*edges, len(whole)], strict=True)
    return [whole[start:end] for start, end in pairs]


def some_limits(random: Random) -> Limits:
    if random.random() < 0.5:
        return Limits()
    return Limits(
        depth=random.randrange(6),
        text=random.choice([1, 5, 30, 90, 200]),
        string=random.choice([0, 3, 8, 70, 100]),
        number=random.choice([0, 1, 4, 9]),
        keys=random.randrange(5),
    )


# ---- what is said of them ----


def merged(fragments: list[Fragment]) -> list[tuple[Any, ...]]:
    joined: list[tuple[Any, ...]] = []
    for one in fragments:
        new = one.text
        if one.kind == "PartialString" and joined and joined[-1][0] == "PartialString":
            new = f"{joined.pop()[2]}{new}"
        joined.append((one.kind, one.path, new, repr(one.value), one.offset, one.document))
    return joined


def described(error: Any) -> tuple[Any, ...]:
    place = (error.offset, error.line, error.column, error.path)
    return (type(error).__name__, str(error), *place)


def parsed(pieces: list[Any], **options: Any) -> tuple[list[Fragment], Any, Parser]:
    """Fragments and error; what is not documented gets out, and is a finding."""
    parser, fragments = Parser(**options), list[Fragment]()
    try:
        for piece in pieces:
            fragments += parser.feed(piece)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        return fragments + error.fragments, error, parser
    return fragments, None, parser


def grown(pieces: list[Any], **options: Any) -> tuple[Any, Any, Document]:
    document = Document(**options)
    try:
        for number, piece in enumerate(pieces):
            document.feed(piece)
            if number % 3 == 0:
                repr(document.value)
            if number % 5 == 0:
                repr(document.live)
        document.flush()
    except (InvalidJSON, LimitExceeded) as error:
        return document.value, error, document
    return document.value, None, document


def loads(whole: Text) -> tuple[bool, Any]:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        decoded = whole.decode("utf-8-sig") if isinstance(whole, bytes) else whole
        return True, json.loads(decoded, parse_constant=refuse)
    except ValueError:
        return False, None


def rebuilt(fragments: list[Fragment]) -> Any:
    """Near, and through both wire forms as real JSON text: all must agree."""
    direct, full, compact = Rebuilder(), Rebuilder(), Rebuilder()
    direct.feed(fragments)
    full.feed(from_wire(json.loads(dumps(to_wire(one)).encode())) for one in fragments)
    compact.feed(json.loads(dumps(CompactEncoder().feed(fragments)).encode()))
    assert repr(direct.value) == repr(full.value) == repr(compact.value), "the wire changed it"
    assert direct.open_path == full.open_path == compact.open_path
    return direct.value


# ---- the checks ----


def check_strict(random: Random, whole: Text) -> None:
    fragments, error, _ = parsed([whole])
    one, two = cut(random, whole), cut(random, whole)
    for pieces in (one, two):
        others, other, _ = parsed(pieces)
        assert merged(others) == merged(fragments), "cutting changed the fragments"
        assert (other and described(other)) == (error and described(error)), "and the error"
    value, fault, document = grown(one)
    assert (fault and described(fault)) == (error and described(error)), "Document disagrees"
    assert repr(value) == repr(rebuilt(fragments)), "Document and Rebuilder disagree"
    valid, want = loads(whole)
    if isinstance(error, LimitExceeded):
        return
    assert valid is (error is None), "json.loads disagrees"
    if valid:
        assert repr(value) == repr(want), "json.loads has another value"
        assert document.complete and document.open_path is None
        assert repr(partial(whole)) == repr(want)


def check_limits(random: Random, whole: Text) -> None:
    options: dict[str, Any] = {"limits": some_limits(random)}
    options["duplicates"] = random.choice(["last", "error"])
    fragments, error, _ = parsed([whole], **options)
    pieces = cut(random, whole)
    others, other, _ = parsed(pieces, **options)
    assert merged(others) == merged(fragments), "cutting changed the fragments under limits"
    assert (other and described(other)) == (error and described(error)), "and the error"
    value, fault, _ = grown(pieces, **options)
    assert (fault and described(fault)) == (error and described(error)), "Document disagrees"
    assert repr(value) == repr(rebuilt(fragments))


def check_modes(random: Random, whole: Text) -> None:
    """Lenient, many, or both: no other error, and cutting changes nothing."""
    options: dict[str, Any] = {"repair": random.random() < 0.7, "many": random.random() < 0.5}
    if random.random() < 0.3:
        options["limits"] = some_limits(random)
    fragments, error, parser = parsed([whole], **options)
    pieces = cut(random, whole)
    others, other, again = parsed(pieces, **options)
    assert merged(others) == merged(fragments), f"cutting changed the fragments under {options}"
    assert (other and described(other)) == (error and described(error)), f"and the error {options}"
    assert again.repairs == parser.repairs, f"cutting changed the repairs under {options}"
    assert list(map(described, again.errors)) == list(map(described, parser.errors)), f"{options}"
    grown(pieces, **options)
    valid, want = loads(whole)
    if valid and error is None and not parser.errors:
        assert not parser.repairs, "valid JSON was repaired"
        assert repr(rebuilt(fragments)) == repr(want)


def check_wire(random: Random, whole: Text) -> None:
    """Fragments that were shuffled, lost or spoiled: FragmentError at most."""
    fragments, _, _ = parsed([whole])
    wire = [to_wire(one) for one in fragments] if random.random() < 0.5 else []
    items: list[Any] = wire or CompactEncoder().feed(fragments)
    for _ in range(random.randrange(3)):
        at = random.randint(0, len(items))
        match random.randrange(4):
            case 0:
                items[at : at + 1] = []
            case 1:
                items[at:at] = items[at - 1 : at]
            case 2:
                items[at:at] = [
                    random.choice([None, 1, "x", [], {}, [7], [4, None], value(random)])
                ]
            case _ if at < len(items) and isinstance(items[at], dict):
                key = random.choice(["path", "kind", "textValue", "value"])
                items[at] = {**items[at], key: value(random)}
    rebuilder = Rebuilder(dialect=random.choice(["jsonrill", "jsonrill", "juf"]))
    for item in items:
        before = repr(rebuilder.value), rebuilder.open_path, rebuilder.complete
        try:
            rebuilder.feed([item])
        except FragmentError:
            assert (repr(rebuilder.value), rebuilder.open_path, rebuilder.complete) == before


def seeds() -> tuple[bytes, ...]:
    random = Random("seeds")
    texts = (written(random, value(random)) for _ in range(60))
    return tuple(text.encode("utf-8", "replace") for text in (*texts, *json_texts()))


def run(random: Random) -> None:
    """One execution."""
    check(made(random), random)


def check(whole: Text, random: Random) -> None:
    """One text."""
    try:
        check_strict(random, whole)
        check_limits(random, whole)
        check_modes(random, whole)
        check_wire(random, whole)
    except Exception as error:
        error.add_note(f"the text was {whole!r}")
        raise

"""JSON to test with: values, the many ways to write each one, ways to spoil it, and oracles.

`json.loads` judges whole texts. `growth` is the specification of what a growing value shows after
every single character, computed from the tokens that were written and not by parsing.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from jsonrill import Document, Fragment, InvalidJSON, LimitExceeded, Parser, Rebuilder
from jsonrill.jsontext import dumps
from jsonrill.paths import Path

# Characters that some part of the code treats in its own way.
ODD = (
    '"\\/\b\f\n\r\t\x00\x1f\x7f\x80\xa0\u2028\u3000\ufeff\ufffd\uffff\U0001f600\U0010ffff aé0{}[],:'
)
LONE = ["\ud800", "\udbff", "\udc00", "\udfff"]
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n"} | {
    "\r": "\\r",
    "\t": "\\t",
}
SPACE = st.sampled_from(["", "", "", " ", "\n", "\t", "\r\n  "])

characters = st.one_of(
    st.sampled_from(ODD), st.characters(exclude_categories=["Cs"]), st.characters(codec="ascii")
)
# Two lone surrogates in a row would be one pair when written, so `strings` puts "." between them.
strings = st.one_of(
    st.text(characters, max_size=8),
    st.builds("{}{}.{}".format, st.text(characters, max_size=3), st.sampled_from(LONE), st.text()),
    st.sampled_from(["", "\ud83d", "\ude00\ud83d", "\U0001f600\U0001f601"]),
)
keys = st.one_of(st.sampled_from(["a", "b", "", "__proto__", "a.b", "0", "\n"]), strings)
numbers = st.one_of(
    st.integers(-10, 10),
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 1e16, 5e-324, 1.7976931348623157e308, 2**53, 2**53 + 1, 10**308]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, strings)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)


def escaped(char: str, style: int) -> str:
    """Return one way to write a character of a string; style 0 is the shortest that JSON allows."""
    if style == 2 and char in SHORT:
        return SHORT[char]
    must = char in '"\\' or char < " "
    # A lone surrogate cannot be sent unescaped.
    if not must and not "\ud800" <= char <= "\udfff" and style in (0, 2):
        return char
    if must and style == 0 and char in SHORT:
        return SHORT[char]
    units = char.encode("utf-16-be", "surrogatepass")
    code = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    return code if style == 1 else code.replace("a", "A").replace("d", "D")


@st.composite
def string_tokens(draw: st.DrawFn, text: str) -> str:
    styles = draw(st.lists(st.integers(0, 3), min_size=len(text), max_size=len(text)))
    return '"' + "".join(map(escaped, text, styles)) + '"'


@st.composite
def number_tokens(draw: st.DrawFn, number: int | float) -> str:
    text = json.dumps(number)
    if isinstance(number, int) or "e" in text:
        return text.replace("e", draw(st.sampled_from("eE"))) if "e" in text else text
    return text + draw(st.sampled_from(["", "0", "00", "e0", "E+00", "e-0"]))


@st.composite
def tokens(draw: st.DrawFn, value: Any) -> list[str]:
    """Return the tokens of one way to write `value`, white space included."""
    written: list[str] = []

    def write(value: Any) -> None:
        if isinstance(value, dict):
            written.append("{")
            for number, (key, item) in enumerate(value.items()):
                written.extend(["," if number else "", draw(SPACE), draw(string_tokens(key))])
                written.extend([draw(SPACE), ":", draw(SPACE)])
                write(item)
                written.append(draw(SPACE))
            written.extend([draw(SPACE), "}"])
        elif isinstance(value, list):
            written.append("[")
            for number, item in enumerate(value):
                written.extend(["," if number else "", draw(SPACE)])
                write(item)
                written.append(draw(SPACE))
            written.extend([draw(SPACE), "]"])
        elif isinstance(value, str):
            written.append(draw(string_tokens(value)))
        elif value is None or isinstance(value, bool):
            written.append(json.dumps(value))
        else:
            written.append(draw(number_tokens(value)))

    written.append(draw(SPACE))
    write(value)
    written.append(draw(SPACE))
    return [token for token in written if token]


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw a valid JSON text, sometimes with a duplicate key, sometimes long enough for `scan`."""
    text = "".join(draw(tokens(draw(values))))
    match draw(st.integers(0, 9)):
        case 0:
            inner = "".join(draw(tokens(draw(scalars))))
            return f'{{"a": {text}, "b": 1, "\\u0061": {inner}}}'
        case 1 | 2:
            return f'[{text}, {{"long": "{"x" * 80}"}}]'
    return text


strange = st.one_of(st.text(max_size=1), st.sampled_from(["NaN", "-Infinity", "null", '"\\ud83d"']))


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Draw a valid text with one or two changes, which may leave it valid."""
    text = draw(texts())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        upto = at + draw(st.integers(0, 3))
        new = draw(st.one_of(st.text(st.sampled_from(GRAMMAR), max_size=2), strange))
        what = draw(st.integers(0, 3))
        if what == 0:
            text = text[:at]
        elif what == 1:
            text = text[:at] + text[upto:]
        else:
            text = text[:at] + new + text[upto if what == 2 else at :]
    return text


GRAMMAR = '{}[]",:\\ \n\t\r-+.eE019truefalsnudD8cC/\x00\x0b\xa0NaIity'


def refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def loads(text: str) -> Any:
    """Decode with the standard library, but refuse NaN and Infinity."""
    return json.loads(text, parse_constant=refused)


class Merged(NamedTuple):
    """All fields of a fragment, its offset included."""

    kind: str
    path: Path
    text: str | None
    value: str
    offset: int


def merged(fragments: Iterable[Fragment]) -> list[Merged]:
    """Join adjoining PartialStrings: the result must not depend on the cutting."""
    joined: list[Merged] = []
    for fragment in fragments:
        # repr distinguishes 1, 1.0 and True, and == does not.
        text, value = fragment.text, repr(fragment.value)
        if fragment.kind == "PartialString" and joined and joined[-1].kind == "PartialString":
            text = f"{joined.pop().text}{text}"
        joined.append(Merged(fragment.kind, fragment.path, text, value, fragment.offset))
    return joined


class Outcome(NamedTuple):
    """The results of parsing a text."""

    fragments: list[Merged]
    error: tuple[Any, ...] | None


def described(error: InvalidJSON | LimitExceeded) -> tuple[Any, ...]:
    named = error.limit if isinstance(error, LimitExceeded) else error.expected
    place = (error.offset, error.line, error.column, error.path)
    return (type(error).__name__, str(error), named, *place)


def outcome(pieces: Iterable[str | bytes], **options: Any) -> Outcome:
    parser = Parser(**options)
    fragments: list[Fragment] = []
    try:
        for piece in pieces:
            fragments += parser.feed(piece)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        return Outcome(merged(fragments + error.fragments), described(error))  # type: ignore[operator]
    return Outcome(merged(fragments), None)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal in contents, types and order of keys."""
    return repr(one) == repr(other)


def is_prefix(part: Any, whole: Any, *, numbers_grow: bool = False) -> bool:
    """Return whether P2 holds: strings and arrays only grow, keys are whole, all else is final.

    With `numbers_grow` a number at the end may still become any other.
    """
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(part)
    if isinstance(part, list) and isinstance(whole, list):
        return _items_prefix(list(enumerate(part)), list(enumerate(whole)), numbers_grow)
    if isinstance(part, dict) and isinstance(whole, dict):
        return _items_prefix(list(part.items()), list(whole.items()), numbers_grow)
    if numbers_grow and _is_number(part) and _is_number(whole):
        return True
    return same(part, whole)


def _items_prefix(
    part: list[tuple[Any, Any]], whole: list[tuple[Any, Any]], numbers_grow: bool
) -> bool:
    if len(part) > len(whole):
        return False
    if not part:
        return True
    (key, last), (other, upto) = part[-1], whole[len(part) - 1]
    if key != other or not same(part[:-1], whole[: len(part) - 1]):
        return False
    return is_prefix(last, upto, numbers_grow=numbers_grow)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
UNIT = re.compile(
    r"[^\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]"
)
MAY_BECOME_LOW = re.compile(r"(\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?)?")


def shown(source: str) -> str:
    """Return what may be shown of a string when `source` has come after its opening quote."""
    at, text = 0, ""
    while unit := UNIT.match(source, at):
        if HIGH.fullmatch(unit.group()) and MAY_BECOME_LOW.fullmatch(source, unit.end()):
            break  # the other half may still come
        text += json.loads(f'"{unit.group()}"')
        at = unit.end()
    return text


class Growth(NamedTuple):
    """What is known after a character; `open` is None when nothing grows."""

    started: bool
    value: Any
    open: Path | None
    complete: bool


class _Grower:
    """Puts tokens, character by character, into a value."""

    def __init__(self) -> None:
        self.root: list[Any] = []
        self.stack: list[Any] = []
        self.path: list[str | int] = []
        self.in_string = False
        self.key: str | None = None
        self.number: str | None = None

    def put(self, value: Any) -> None:
        if not self.stack:
            self.root[:] = [value]
        elif isinstance(self.stack[-1], dict):
            self.stack[-1][self.key] = value
        else:
            self.stack[-1].append(value)

    def step(self) -> str | int | None:
        top = self.stack[-1]
        return self.key if isinstance(top, dict) else len(top) - 1

    def replace(self, text: str) -> None:
        if self.stack:
            self.stack[-1][self.step()] = text
        else:
            self.root[:] = [text]

    def growth(self, complete: bool = False) -> Growth:
        value = copy.deepcopy(self.root[0]) if self.root else None
        path: Path | None = tuple(self.path) if self.stack else None
        if self.in_string:
            path = (*self.path, self.step()) if self.stack else ()  # type: ignore[arg-type]
        return Growth(bool(self.root), value, path, complete)

    def end_number(self) -> None:
        if self.number is not None:
            self.put(json.loads(self.number))
            self.number = None

    def whole(self) -> bool:
        return bool(self.root) and not self.stack and not self.in_string


def growth(tokens: Iterable[str]) -> Iterator[Growth]:
    """Yield what a growing value must show after each character of these tokens, and at the end."""
    grow = _Grower()
    before = ""
    for token in tokens:
        is_key = bool(grow.stack) and isinstance(grow.stack[-1], dict) and before != ":"
        if not token.isspace():
            before = token
        for at, char in enumerate(token):
            if at == 0 and char not in "-0123456789":
                grow.end_number()
            _character(grow, token, at, char, is_key)
            yield grow.growth(grow.whole())
    grow.end_number()
    yield grow.growth(grow.whole())


def _character(grow: _Grower, token: str, at: int, char: str, is_key: bool) -> None:
    last = at == len(token) - 1
    if token[0] == '"' and is_key:
        if last:
            grow.key = json.loads(token)
    elif token[0] == '"':
        if at == 0:
            grow.put("")
            grow.in_string = True
        else:
            grow.replace(json.loads(token) if last else shown(token[1 : at + 1]))
            grow.in_string = not last
    elif char in "{[":
        container: Any = {} if char == "{" else []
        grow.put(container)
        if grow.stack:
            grow.path.append(grow.step())  # type: ignore[arg-type]
        grow.stack.append(container)
    elif char in "}]":
        grow.stack.pop()
        if grow.path:
            grow.path.pop()
    elif token in ("true", "false", "null"):
        if last:
            grow.put(json.loads(token))
    elif token[0] in "-0123456789":
        grow.number = token[: at + 1] if last else None


class Rebuilt:
    """Parser and Rebuilder side by side."""

    def __init__(self) -> None:
        self.parser = Parser()
        self.rebuilder = Rebuilder()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rebuilder, name)

    def feed(self, text: str) -> None:
        self.rebuilder.feed(self.sent(self.parser.feed(text)))

    def flush(self) -> None:
        self.rebuilder.feed(self.sent(self.parser.flush()))

    def sent(self, fragments: list[Any]) -> list[Any]:
        return fragments


class RebuiltFromFull(Rebuilt):
    """The fragments travel as JSON text, in the full form."""

    def sent(self, fragments: list[Any]) -> list[Any]:
        return [json.loads(dumps(fragment.to_dict()).encode()) for fragment in fragments]


WAYS: list[Callable[[], Any]] = [Document, Rebuilt, RebuiltFromFull]

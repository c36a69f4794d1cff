"""Strategies for JSON values and for valid and damaged texts, and oracles for the results.

`json.loads` is the oracle for whole texts. `growth` specifies the growing value after every
character. It computes it from the tokens of the text, without parsing.
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

# Characters that some part of the code treats specially.
SPECIAL_CHARACTERS = (
    '"\\/\b\f\n\r\t\x00\x1f\x7f\x80\xa0\u2028\u3000\ufeff\ufffd\uffff\U0001f600\U0010ffff aé0{}[],:'
)
LONE_SURROGATES = ["\ud800", "\udbff", "\udc00", "\udfff"]
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n"} | {
    "\r": "\\r",
    "\t": "\\t",
}
SPACE = st.sampled_from(["", "", "", " ", "\n", "\t", "\r\n  "])

characters = st.one_of(
    st.sampled_from(SPECIAL_CHARACTERS),
    st.characters(exclude_categories=["Cs"]),
    st.characters(codec="ascii"),
)
# Two adjoining lone surrogates would be written as a pair, so `strings` puts "." between them.
strings = st.one_of(
    st.text(characters, max_size=8),
    st.builds(
        "{}{}.{}".format,
        st.text(characters, max_size=3),
        st.sampled_from(LONE_SURROGATES),
        st.text(),
    ),
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


def escape(char: str, style: int) -> str:
    """Write a character of a string in one of four styles; style 0 is the shortest."""
    if style == 2 and char in SHORT_ESCAPES:
        return SHORT_ESCAPES[char]
    needs_escape = char in '"\\' or char < " "
    # A lone surrogate cannot be sent unescaped.
    if not needs_escape and not "\ud800" <= char <= "\udfff" and style in (0, 2):
        return char
    if needs_escape and style == 0 and char in SHORT_ESCAPES:
        return SHORT_ESCAPES[char]
    units = char.encode("utf-16-be", "surrogatepass")
    code = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
    return code if style == 1 else code.replace("a", "A").replace("d", "D")


@st.composite
def string_tokens(draw: st.DrawFn, text: str) -> str:
    styles = draw(st.lists(st.integers(0, 3), min_size=len(text), max_size=len(text)))
    return '"' + "".join(map(escape, text, styles)) + '"'


@st.composite
def number_tokens(draw: st.DrawFn, number: int | float) -> str:
    text = json.dumps(number)
    if isinstance(number, int) or "e" in text:
        return text.replace("e", draw(st.sampled_from("eE"))) if "e" in text else text
    return text + draw(st.sampled_from(["", "0", "00", "e0", "E+00", "e-0"]))


@st.composite
def tokens(draw: st.DrawFn, value: Any) -> list[str]:
    """Draw the tokens of a text for `value`, including white space."""
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


unexpected_text = st.one_of(
    st.text(max_size=1), st.sampled_from(["NaN", "-Infinity", "null", '"\\ud83d"'])
)


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """Draw a valid text with one or two random changes. The result may still be valid."""
    text = draw(texts())
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 3))
        new = draw(st.one_of(st.text(st.sampled_from(GRAMMAR), max_size=2), unexpected_text))
        change = draw(st.sampled_from(["truncate", "delete", "replace", "insert"]))
        if change == "truncate":
            text = text[:at]
        elif change == "delete":
            text = text[:at] + text[end:]
        else:
            text = text[:at] + new + text[end if change == "replace" else at :]
    return text


GRAMMAR = '{}[]",:\\ \n\t\r-+.eE019truefalsnudD8cC/\x00\x0b\xa0NaIity'


def refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def loads(text: str) -> Any:
    """Decode with the standard library, but refuse NaN and Infinity."""
    return json.loads(text, parse_constant=refuse_constant)


class FragmentFields(NamedTuple):
    """All fields of a fragment, including its offset."""

    kind: str
    path: Path
    text: str | None
    value: str
    offset: int


def merge_strings(fragments: Iterable[Fragment]) -> list[FragmentFields]:
    """Join adjoining PartialStrings, whose number depends on where the text was cut."""
    joined: list[FragmentFields] = []
    for fragment in fragments:
        # repr distinguishes 1, 1.0 and True, and == does not.
        text, value = fragment.text, repr(fragment.value)
        if fragment.kind == "PartialString" and joined and joined[-1].kind == "PartialString":
            text = f"{joined.pop().text}{text}"
        joined.append(FragmentFields(fragment.kind, fragment.path, text, value, fragment.offset))
    return joined


class Outcome(NamedTuple):
    """The results of parsing a text."""

    fragments: list[FragmentFields]
    error: tuple[Any, ...] | None


def error_fields(error: InvalidJSON | LimitExceeded) -> tuple[Any, ...]:
    cause = error.limit if isinstance(error, LimitExceeded) else error.expected
    position = (error.offset, error.line, error.column, error.path)
    return (type(error).__name__, str(error), cause, *position)


def outcome(pieces: Iterable[str | bytes], **options: Any) -> Outcome:
    parser = Parser(**options)
    fragments: list[Fragment] = []
    try:
        for piece in pieces:
            fragments += parser.feed(piece)
        fragments += parser.flush()
    except (InvalidJSON, LimitExceeded) as error:
        fragments += error.fragments  # type: ignore[arg-type]
        return Outcome(merge_strings(fragments), error_fields(error))
    return Outcome(merge_strings(fragments), None)


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal in contents, types and order of keys."""
    return repr(one) == repr(other)


def is_prefix(part: Any, whole: Any, *, numbers_grow: bool = False) -> bool:
    """Return whether `part` may grow into `whole` (promise P2).

    Strings and arrays only grow, keys are complete, and other values are final. With
    `numbers_grow`, the last number may still change.
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
    (key, last), (whole_key, whole_last) = part[-1], whole[len(part) - 1]
    if key != whole_key or not same(part[:-1], whole[: len(part) - 1]):
        return False
    return is_prefix(last, whole_last, numbers_grow=numbers_grow)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


HIGH_SURROGATE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}")
CHARACTER = re.compile(
    r"[^\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[^u]"
)
MAY_BECOME_LOW_SURROGATE = re.compile(r"(\\(u([dD]([c-fC-F][0-9a-fA-F]?)?)?)?)?")


def decode_partial_string(source: str) -> str:
    """Return the text of a string of which `source` has arrived after the opening quote."""
    at, text = 0, ""
    while match := CHARACTER.match(source, at):
        is_high = HIGH_SURROGATE.fullmatch(match.group())
        if is_high and MAY_BECOME_LOW_SURROGATE.fullmatch(source, match.end()):
            break  # the second half of the pair may still arrive
        text += json.loads(f'"{match.group()}"')
        at = match.end()
    return text


class Growth(NamedTuple):
    """The expected state after a character; `open` is None when nothing grows."""

    started: bool
    value: Any
    open: Path | None
    complete: bool


class _ValueBuilder:
    """Build a value from tokens, character by character."""

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

    def is_complete(self) -> bool:
        return bool(self.root) and not self.stack and not self.in_string


def growth(tokens: Iterable[str]) -> Iterator[Growth]:
    """Yield the expected state after each character of these tokens, and at the end."""
    builder = _ValueBuilder()
    previous = ""
    for token in tokens:
        is_key = bool(builder.stack) and isinstance(builder.stack[-1], dict) and previous != ":"
        if not token.isspace():
            previous = token
        for at, char in enumerate(token):
            if at == 0 and char not in "-0123456789":
                builder.end_number()
            _add_character(builder, token, at, char, is_key)
            yield builder.growth(builder.is_complete())
    builder.end_number()
    yield builder.growth(builder.is_complete())


def _add_character(builder: _ValueBuilder, token: str, at: int, char: str, is_key: bool) -> None:
    is_last = at == len(token) - 1
    if token[0] == '"' and is_key:
        if is_last:
            builder.key = json.loads(token)
    elif token[0] == '"':
        if at == 0:
            builder.put("")
            builder.in_string = True
        else:
            text = json.loads(token) if is_last else decode_partial_string(token[1 : at + 1])
            builder.replace(text)
            builder.in_string = not is_last
    elif char in "{[":
        container: Any = {} if char == "{" else []
        builder.put(container)
        if builder.stack:
            builder.path.append(builder.step())  # type: ignore[arg-type]
        builder.stack.append(container)
    elif char in "}]":
        builder.stack.pop()
        if builder.path:
            builder.path.pop()
    elif token in ("true", "false", "null"):
        if is_last:
            builder.put(json.loads(token))
    elif token[0] in "-0123456789":
        builder.number = token[: at + 1] if is_last else None


class ParserAndRebuilder:
    """A Rebuilder that reads the fragments of a Parser."""

    def __init__(self) -> None:
        self.parser = Parser()
        self.rebuilder = Rebuilder()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rebuilder, name)

    def feed(self, text: str) -> None:
        self.rebuilder.feed(self.transfer(self.parser.feed(text)))

    def flush(self) -> None:
        self.rebuilder.feed(self.transfer(self.parser.flush()))

    def transfer(self, fragments: list[Any]) -> list[Any]:
        return fragments


class ParserAndRemoteRebuilder(ParserAndRebuilder):
    """A Rebuilder that gets the fragments as JSON text, as over the wire."""

    def transfer(self, fragments: list[Any]) -> list[Any]:
        return [json.loads(dumps(fragment.to_dict()).encode()) for fragment in fragments]


READERS: list[Callable[[], Any]] = [Document, ParserAndRebuilder, ParserAndRemoteRebuilder]

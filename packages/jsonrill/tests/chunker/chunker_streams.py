"""Made-up sources for the chunker's tests: documents, and the snapshots a source shows of them.

A document is written in one order, character by character; a snapshot is what a partial parser
would show at some character, with its keys in any order. Numbers are `Num`, their source text.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from jsonrill import Document
from jsonrill.paths import Path, lookup
from support import ROOT

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(r'"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)')
_WORDS = {"t": "true", "f": "false", "n": "null"}
MISSING = object()


class Num(str):
    """A number, as its source text."""

    __slots__ = ()


def dump(value: Any, rng: random.Random | None = None) -> str:
    """JSON text, numbers as they are, keys shuffled if `rng` is given."""
    if isinstance(value, Num):
        return str(value)
    if isinstance(value, dict):
        items = list(value.items())
        if rng is not None:
            rng.shuffle(items)
        return "{" + ", ".join(f"{json.dumps(k)}: {dump(v, rng)}" for k, v in items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(dump(item, rng) for item in value) + "]"
    return json.dumps(value)


def load(text: str) -> Any:
    """Like `json.loads`, but numbers stay the text they are, so that 1, 1.0 and true differ."""
    return json.loads(text, parse_int=Num, parse_float=Num)


def same(a: Any, b: Any) -> bool:
    """Equal as `load` reads them; the number 1 and the string "1" differ."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


class Prefix:
    """What can be known of a JSON text that is cut off.

    Strings show from their opening quote, keys when their value shows, literals when whole; a
    number shows when whole, or (`grow`) whenever what is there so far is a number.
    """

    def __init__(self, text: str, *, grow: bool) -> None:
        self.text, self.at, self.grow = text, 0, grow

    def read(self) -> Any:
        self.space()
        start = self.peek()
        if start == '"':
            return self.string()[0]
        if start == "{":
            return self.object()
        if start == "[":
            return self.array()
        if start in _WORDS:
            self.at += len(_WORDS[start])
            return json.loads(_WORDS[start]) if self.at <= len(self.text) else MISSING
        return self.number()

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def space(self) -> None:
        while self.peek().isspace():
            self.at += 1

    def string(self) -> tuple[str, bool]:
        match = _STRING.match(self.text, self.at)
        assert match is not None
        done = self.text[match.end() : match.end() + 1] == '"'
        self.at = match.end() + 1 if done else len(self.text)
        body = json.loads(f'"{match[1]}"')
        if not done and body and "\ud800" <= body[-1] <= "\udbff":
            body = body[:-1]
        return body, done

    def number(self) -> Any:
        begin = self.at
        while self.peek() and self.peek() in "+-.0123456789eE":
            self.at += 1
        word = self.text[begin : self.at]
        shown = self.at < len(self.text) or self.grow
        return Num(word) if shown and _NUMBER.fullmatch(word) else MISSING

    def object(self) -> dict[str, Any]:
        value: dict[str, Any] = {}
        self.at += 1
        while True:
            self.space()
            if self.peek() != '"':
                self.at += 1
                return value
            key, done = self.string()
            self.at += 1
            if not done or self.at > len(self.text):
                return value
            member = self.read()
            if member is MISSING:
                return value
            value[key] = member
            self.space()
            self.at += self.peek() == ","

    def array(self) -> list[Any]:
        value: list[Any] = []
        self.at += 1
        while True:
            self.space()
            if self.peek() in ("", "]"):
                self.at += 1
                return value
            item = self.read()
            if item is MISSING:
                return value
            value.append(item)
            self.space()
            self.at += self.peek() == ","


def cut(text: str, *, grow: bool = False) -> Any:
    """The value of a cut-off text; `MISSING` when nothing of it shows yet."""
    return Prefix(text, grow=grow).read()


def sequential(
    document: Any, rng: random.Random, step: int, *, grow: bool = False, repeat: float = 0.0
) -> Iterator[Any]:
    """Snapshots of a document that is written from its first to its last character."""
    text = dump(document)
    at = 0
    while at < len(text):
        at = min(at + rng.randint(1, step), len(text))
        value = cut(text[:at], grow=grow) if at < len(text) else document
        if value is not MISSING:
            yield value
            while rng.random() < repeat:
                yield value


KEYS = ["a", "b", "c", "name", "x.y", "x[0]", "[0]", "", 'q"', "\\", "é", "\n", "0", "a.b[1].c"]
TEXTS = ["", "a", "Hello", "x" * 40, "é", "😀", '"', "\\", "\n\t", "\u0001", "\u2028", "/", "1.0"]
DIGITS = ["0", "7", "30", "128", "12345678901234567890"]
ALL_KINDS = ("object arrays", "mixed arrays", "string arrays", "numbers", "literals")


class Documents:
    """Random documents. `kinds` names what may be in them besides objects and strings."""

    def __init__(self, rng: random.Random, kinds: set[str]) -> None:
        self.rng, self.kinds = rng, kinds

    def value(self, depth: int) -> Any:
        choices: list[Callable[[], Any]] = [self.string, self.string]
        if depth:
            choices += [lambda: self.object(depth - 1)] * 2
            if "object arrays" in self.kinds:
                choices.append(lambda: self.array(lambda: self.object(depth - 1)))
            if "mixed arrays" in self.kinds:
                choices.append(lambda: self.array(lambda: self.value(depth - 1)))
        if "string arrays" in self.kinds:
            choices.append(lambda: self.array(self.string))
        if "numbers" in self.kinds:
            choices += [self.number, self.number]
        if "literals" in self.kinds:
            choices.append(lambda: self.rng.choice([True, False, None]))
        return self.rng.choice(choices)()

    def string(self) -> str:
        return "".join(self.rng.choice(TEXTS) for _ in range(self.rng.randint(0, 4)))

    def number(self) -> Num:
        fraction = self.rng.choice(["", "", ".0", ".34", ".05", ".50"])
        power = self.rng.choice(["", "", "", "e5", "E-2"])
        sign = self.rng.choice(["", "", "-"])
        return Num(sign + self.rng.choice(DIGITS) + fraction + power)

    def array(self, item: Callable[[], Any]) -> list[Any]:
        return [item() for _ in range(self.rng.randint(0, 4))]

    def object(self, depth: int) -> dict[str, Any]:
        return {key: self.value(depth) for key in self.rng.sample(KEYS, self.rng.randint(0, 5))}


# ---- reading back what was written ----


def is_prefix(shown: Any, value: Any) -> bool:
    """Is `shown` what a reader may see before it sees `value`? (P6)"""
    if isinstance(shown, dict):
        return isinstance(value, dict) and all(
            key in value and is_prefix(item, value[key]) for key, item in shown.items()
        )
    if isinstance(shown, list):
        return (
            isinstance(value, list)
            and len(shown) <= len(value)
            and all(map(is_prefix, shown, value))
        )
    if type(shown) is str:
        return type(value) is str and value.startswith(shown)
    return same(shown, value)


def overlaid(known: Any, value: Any) -> Any:
    """`value`, and where it has no key or element, the last snapshot that had it."""
    if isinstance(known, dict) and isinstance(value, dict):
        return {**known, **{key: overlaid(known.get(key), value[key]) for key in value}}
    if isinstance(known, list) and isinstance(value, list):
        return [overlaid(*pair) for pair in zip(known, value, strict=False)] + (
            known[len(value) :] or value[len(known) :]
        )
    return value


def contradicts(text: str, value: Any, *, placeholder: bool = False) -> bool:
    """Can no continuation of `text` lead to `value`? What is merely missing may come back."""
    document = Document()
    document.feed(text)
    if document.pending is not None:
        path, number = document.pending
        there, now = lookup(value, path)
        if there and not (placeholder and now is None):
            if not isinstance(now, Num) or not now.startswith(number):
                return True

    def clash(path: Path, shown: Any, now: Any) -> bool:
        if placeholder and now is None:
            return False
        done = document.is_complete(path)
        if isinstance(shown, dict):
            return (
                not isinstance(now, dict)
                or (done and any(k not in shown and not blank(now[k], placeholder) for k in now))
                or any(k in now and clash((*path, k), shown[k], now[k]) for k in shown)
            )
        if isinstance(shown, list):
            return (
                not isinstance(now, list)
                or (done and not all(blank(item, placeholder) for item in now[len(shown) :]))
                or any(
                    clash((*path, i), *pair) for i, pair in enumerate(zip(shown, now, strict=False))
                )
            )
        return not (same(shown, now) if done else is_prefix(shown, now))

    shown = cut(text)
    return shown is not MISSING and clash((), shown, value)


def blank(value: Any, placeholder: bool) -> bool:
    """Nothing but nulls, where nulls are placeholders."""
    if not placeholder:
        return False
    if isinstance(value, (dict, list)) and value:
        items = value.values() if isinstance(value, dict) else value
        return all(blank(item, True) for item in items)
    return value is None


def withholds(text: str, value: Any) -> bool:
    """Does `value` have text that a reader of `text` cannot see?"""
    return not _sees(cut(text) if text else MISSING, value)


def _sees(shown: Any, value: Any) -> bool:
    if isinstance(value, dict):
        shown = shown if isinstance(shown, dict) else {}
        return all(_sees(shown.get(key, MISSING), item) for key, item in value.items())
    if isinstance(value, list):
        shown = shown if isinstance(shown, list) else []
        shown = shown + [MISSING] * (len(value) - len(shown))
        return all(map(_sees, shown, value))
    return value == "" or value == shown


def itineraries() -> list[list[str]]:
    """Snapshots of a growing itinerary, as a structured-output framework shows them."""
    files = sorted((ROOT / "packages/jsonrill/tests/chunker/snapshots").glob("*.jsonl"))
    return [file.read_text("utf8").splitlines() for file in files]


class Changes:
    """What a source may do to a value it has already shown."""

    leaves = ("", "a", "ab", "abc", "b", "1", "\ufffd", "a\ufffd", True, False, None) + tuple(
        map(Num, ("0", "1", "12", "1.0", "1.05", "1e5", "-0"))
    )

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def value(self, depth: int = 3) -> Any:
        chance = self.rng.random()
        if depth == 0 or chance < 0.45:
            return self.rng.choice(self.leaves)
        if chance < 0.75:
            keys = self.rng.sample(["a", "b", "c", ""], self.rng.randint(0, 3))
            return {key: self.value(depth - 1) for key in keys}
        return [self.value(depth - 1) for _ in range(self.rng.randint(0, 3))]

    def growth(self, value: Any) -> Any:
        """Mostly growth, somewhere in it; now and then a rewriting, a removal, another type."""
        chance = self.rng.random()
        if isinstance(value, dict):
            return self._object(dict(value), chance)
        if isinstance(value, list):
            return self._array(list(value), chance)
        if isinstance(value, Num):
            return self.rng.choice([*map(Num, ("1", "12", "123", "12.5", "1.0", "0")), value])
        if isinstance(value, str):
            more = self.rng.choice(["x", "yz", "é", "\ufffd"])
            return value + more if chance < 0.8 else self.rng.choice(["", value[:-1], "zz", value])
        return self.value() if chance < 0.4 else value

    def _object(self, value: dict[str, Any], chance: float) -> Any:
        if chance < 0.25:
            value[self.rng.choice(["a", "b", "c", ""])] = self.value(2)
        elif chance < 0.32 and value:
            del value[self.rng.choice(list(value))]
        elif chance < 0.9 and value:
            key = self.rng.choice(list(value))
            value[key] = self.growth(value[key])
        return value if chance < 0.95 else self.value()

    def _array(self, value: list[Any], chance: float) -> Any:
        if chance < 0.35:
            value.append(self.value(2))
        elif chance < 0.4 and value:
            value.pop()
        elif chance < 0.9 and value:
            at = self.rng.choice([len(value) - 1, self.rng.randrange(len(value))])
            value[at] = self.growth(value[at])
        return value if chance < 0.95 else self.value()

    def rewriting(self, value: Any) -> Any:
        """One value, somewhere in it, rewritten, shortened, removed or of another type."""
        if isinstance(value, (dict, list)) and value and self.rng.random() < 0.9:
            value = value.copy()
            key = self.rng.choice([*value] if isinstance(value, dict) else [*range(len(value))])
            if self.rng.random() < 0.15:
                del value[key]
            else:
                value[key] = self.rewriting(value[key])
            return value
        if isinstance(value, bool):
            return self.rng.choice([Num("1") if value else Num("0"), not value, None])
        if isinstance(value, Num):
            return self.rng.choice([Num("7" + value.lstrip("-")), value == "1", str(value), None])
        if isinstance(value, str):
            return self.rng.choice([value[:-1], "Z" + value, value[1:] + "Z", None, {}, Num("3")])
        return self.rng.choice([True, "", Num("0"), {"a": None}, [value]])

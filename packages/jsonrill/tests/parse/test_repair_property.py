"""The specification of repair: a damaged document is read as what it was, or refused.

A document is written as tokens, one or two damages that the twelve rules cover are applied, and the
text is read back, cut at random. The result equals the document (after a cut, it is a prefix of
it), or the text is refused; it is never another value. A failure prints the seed that repeats it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from jsonrill import Document, InvalidJSON
from support import HARDER
from support.documents import is_prefix, same

WORDS = [
    *r"""a it Ada's x1 2 -7 true null note: é 文 😀 C:\new \d "so" "Stop!" 5" 'q' [1] {b} } ] , : ;
    // # /* ... a,b ( ) \ ' " ``` <b> _x_""".split(),
    *("\n", "\t", '{"a": 1}', "\u00a0", "” “"),
]
KEYS = ["a", "b", "name", "two words", "$x", "is-big", "é", "", "0", 'q"q', "it's", "c:d", "e,f"]

# A token: its kind, and how it is written.
Token = tuple[str, str]


def document(random: Random, depth: int = 0) -> Any:
    kind = random.choice(["list", "object"] if depth == 0 else ["list", "object", *"ssssnnw"])
    if kind in ("list", "object") and depth < 4:
        size = random.choice([0, 1, 2, 2, 3, 4])
        if kind == "list":
            return [document(random, depth + 1) for _ in range(size)]
        return {random.choice(KEYS): document(random, depth + 1) for _ in range(size)}
    if kind == "n":
        return random.choice([0, 1, -12, 345, 0.5, -1e30, 12.25])
    if kind == "w":
        return random.choice([True, False, None])
    glue = random.choice([" ", " ", "", ", "])
    return glue.join(random.choice(WORDS) for _ in range(random.choice([0, 1, 1, 2, 3, 5])))


def tokens_of(value: Any, random: Random) -> list[Token]:
    comma, colon, indent = random.choice([("", "", 0), (" ", " ", 0), ("\n", " ", 1)])
    tokens: list[Token] = []

    def write(value: Any, depth: int) -> None:
        if not isinstance(value, (dict, list)):
            tokens.append(("string" if isinstance(value, str) else "scalar", dumps(value)))
            return
        brackets = "{}" if isinstance(value, dict) else "[]"
        margin = comma + " " * (2 * indent * (depth + 1)) if indent else ""
        tokens.append(("open", brackets[0]))
        for number, item in enumerate(value):
            if number:
                tokens.extend([("comma", ","), ("space", margin or comma)])
            else:
                tokens.append(("space", margin))
            if isinstance(value, dict):
                tokens.extend([("key", dumps(item)), ("colon", ":"), ("space", colon)])
                item = value[item]
            write(item, depth + 1)
        tokens.extend(
            [("space", margin[: -2 * indent] if value and indent else ""), ("close", brackets[1])]
        )

    def dumps(value: Any) -> str:
        return json.dumps(value, ensure_ascii=random.random() < 0.1)

    write(value, 0)
    return tokens


class Discarded(Exception):
    """This damage does not apply to this document, or leaves it intact."""


Damage = Callable[[list[Token], Random], list[Token]]


def pick(tokens: list[Token], random: Random, *kinds: str, where: str = "") -> int:
    places = [at for at, (kind, text) in enumerate(tokens) if kind in kinds and where in text]
    if not places:
        raise Discarded
    return random.choice(places)


def change(tokens: list[Token], at: int, text: str) -> list[Token]:
    return [*tokens[:at], (tokens[at][0], text), *tokens[at + 1 :]]


def insert(tokens: list[Token], at: int, text: str) -> list[Token]:
    return [*tokens[:at], ("inserted", text), *tokens[at:]]


def between(tokens: list[Token], random: Random) -> int:
    """Draw a place between two tokens of the value."""
    places = [at for at, (kind, _) in enumerate(tokens) if kind not in ("open", "around")]
    return random.choice([at for at in places if at > 0] or [1])


def around(tokens: list[Token], random: Random) -> list[Token]:
    before, after = random.choice(
        [
            ("Here is the JSON:\n", ""),
            ("Sure! ", "\nHope [this] helps, {you}!"),
            ("```json\n", "\n```"),
            ("See [1] and d['k'].\n\n```\n", "\n```\nBye."),
            ('<think>\nMaybe {"a": 1}?\n</think>\n', ""),
            ("", "\nLet me know."),
            ("3 results: ", " ."),
            ("\ufeff", ""),
        ]
    )
    in_line = before and before[-1] not in "\n\ufeff"
    if in_line and not re.match(r'\{\s*"|\[\s*(\{\s*)?"', "".join(text for _, text in tokens)):
        raise Discarded  # in a sentence only what has a key or string first is taken for JSON
    return [("around", before), *tokens, ("around", after)]


def extra_comma(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "close")
    if tokens[at - 2][0] == "open" or tokens[at - 1][0] == "open":
        raise Discarded
    return insert(tokens, at - random.randint(0, 1), ",")


def missing_comma(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "comma")
    if not tokens[at + 1][1] and tokens[at - 1][0] == tokens[at + 2][0] == "scalar":
        raise Discarded  # `[1,2]` becomes `[12]`
    return change(tokens, at, "")


def comment(tokens: list[Token], random: Random) -> list[Token]:
    return insert(
        tokens,
        between(tokens, random),
        random.choice([" // note\n", '/* it\'s, "x": 1 */', " # a\n"]),
    )


def quotes(tokens: list[Token], random: Random) -> list[Token]:
    opener, closer = random.choice(["''", "“”", "‘’"])  # type: ignore[str-unpack]
    every = random.random() < 0.7
    chosen = pick(tokens, random, "string", "key")
    for at, (kind, text) in enumerate(tokens):
        if at == chosen or (every and kind in ("string", "key")):
            if not text.startswith('"') or (closer != "'" and closer in text):
                raise Discarded
            inside = re.sub(r"\\(.)|'", single_quoted, text[1:-1])
            if random.random() < 0.5 and closer == "'":
                inside = re.sub(r"(?<=[a-z])\\'(?=[a-z])", "'", inside)  # it's
            tokens = change(tokens, at, opener + inside + closer)
    return tokens


def single_quoted(match: re.Match[str]) -> str:
    return {"'": r"\'", r"\"": '"'}.get(match[0], match[0])


def inner_quotes(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "string", "key", where='\\"')
    text = tokens[at][1]
    inside = re.sub(r"\\(.)", lambda match: '"' if match[1] == '"' else match[0], text[1:-1])
    spaced = re.sub(r"\\[nrt]", "\n", inside)
    if re.search(r'"\s*(?:[,:}\]]|//|/\*|#)|"\s+["\'“‘]|"\s+[\w$-]+\s*:|"\s+\Z', spaced):
        raise Discarded  # an unescaped quote before a delimiter
    return change(tokens, at, text[0] + inside + text[-1])


def bare_keys(tokens: list[Token], random: Random) -> list[Token]:
    every = random.random() < 0.5
    chosen = pick(tokens, random, "key")
    for at, (kind, text) in enumerate(tokens):
        if kind == "key" and (every or at == chosen) and re.fullmatch(r'"[\w$-]+"', text):
            tokens = change(tokens, at, text[1:-1])
    return tokens


def words(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "scalar")
    python = {"true": ["True", "TRUE"], "false": ["False"]}
    python["null"] = ["None", "NULL", "NaN", "undefined", "Infinity", "-Infinity"]
    return change(tokens, at, random.choice(python.get(tokens[at][1], [tokens[at][1]])))


def newlines(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "string", "key", where="\\")
    if not is_json(tokens[at][1]):
        raise Discarded
    raw = {"\\n": "\n", "\\t": "\t"}
    return change(
        tokens, at, re.sub(r"\\.", lambda match: raw.get(match[0], match[0]), tokens[at][1])
    )


def escapes(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "string", "key")
    text = tokens[at][1]
    spelled = random.choice([("\\\\\\\\", "\\\\"), ("_", r"\\_"), ("'", r"\\'")])
    damaged = text[0] + re.sub(*spelled, text[1:-1]) + text[-1]
    means_another = re.fullmatch(r'(?:[^\\]|\\["\\/bfnrtu])*', damaged) or (
        spelled[1] == "\\\\" and re.search(r"\\['_]", damaged)
    )
    if text[0] != '"' or means_another:
        raise Discarded  # `"C:\\new"` without one backslash is another string
    return change(tokens, at, damaged)


def spaces(tokens: list[Token], random: Random) -> list[Token]:
    return insert(tokens, between(tokens, random), random.choice("\u00a0\u200b\u3000\ufeff"))


def ellipses(tokens: list[Token], random: Random) -> list[Token]:
    at = pick(tokens, random, "close")
    if tokens[at - 2][0] == "open" or tokens[at - 1][0] == "open":
        raise Discarded
    return insert(tokens, at, ", ...")


DAMAGES: list[Damage] = [
    *(around, extra_comma, missing_comma, comment, quotes, inner_quotes, bare_keys, words),
    *(newlines, escapes, spaces, ellipses),
]


def damaged(random: Random) -> tuple[Any, str, bool]:
    """Draw a document, its damaged text, and whether that text is cut off."""
    while True:
        with suppress(Discarded):
            return damaged_or_discarded(random)


def damaged_or_discarded(random: Random) -> tuple[Any, str, bool]:
    value = document(random)
    tokens = tokens_of(value, random)
    if random.random() < 0.05:
        chosen = []
    else:
        chosen = random.sample(DAMAGES, random.choice([1, 2]))
        if missing_comma in chosen and random.random() < 0.3:
            chosen.append(missing_comma)
    for damage in chosen:
        tokens = damage(tokens, random)
    text = "".join(text for _, text in tokens)
    is_cut = len(chosen) < 2 and random.random() < 0.3
    if is_cut:
        text = text[: random.randrange(len(text) + 1)]
    if chosen and is_json(text):
        raise Discarded
    if is_cut and escapes in chosen and begins_json(text):
        raise Discarded  # `"C:\\new` without one backslash is the beginning of another string
    return value, text, is_cut


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def begins_json(text: str) -> bool:
    try:
        Document().feed(text)
    except InvalidJSON:
        return False
    return True


def at_random(text: str, random: Random) -> list[str]:
    size = random.choice([1, 2, 3, 8, len(text) or 1])
    return [text[at : at + size] for at in range(0, len(text), size)]


def outcome(pieces: list[str]) -> tuple[Any, ...]:
    """Return all results of reading these pieces, and whether something shown was taken back."""
    document = Document(repair=True)
    shown: list[Any] = []
    error: InvalidJSON | None = None
    try:
        for piece in pieces:
            if document.feed(piece):
                shown.append(document.value)
        document.flush()
    except InvalidJSON as raised:
        error = raised
    shown.append(document.value)
    for before, after in zip(shown, shown[1:], strict=False):
        assert is_prefix(before, after), (pieces, before, after)
    place = (
        None if error is None else (type(error), error.offset, error.line, error.column, error.path)
    )
    return place, document.value, tuple(document.repairs)


def check(seed: int) -> str:
    random = Random(seed)
    value, text, is_cut = damaged(random)
    whole = outcome([text])
    cut = outcome(at_random(text, random))
    assert repr(whole) == repr(cut), (seed, text)
    if whole[0] is not None:
        return "refused"
    if is_cut:
        assert is_prefix(whole[1], value), (seed, text, whole[1], value)
    else:
        assert same(whole[1], value), (seed, text, whole[1], value)
    return "read"


@pytest.mark.parametrize("part", range(10))
def test_a_damaged_document_is_read_as_it_was_or_refused(part: int) -> None:
    count = 100_000 if HARDER else 1_000
    results = [check(seed) for seed in range(part * count, (part + 1) * count)]
    assert results.count("read") > results.count("refused")

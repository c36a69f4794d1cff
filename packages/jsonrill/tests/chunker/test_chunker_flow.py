"""P11: text flows. In a source that writes one value after another, a value that shows something
is not held any more two different snapshots after it was first shown."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import jiter
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonrill.chunker import Chunker
from jsonrill.paths import Path, lookup
from support import examples, few

from .chunker_streams import MISSING, Num, cut, dump, is_prefix, load, same

STEPS = (1, 4, 11, 23, 40, 90)
EMPTY = ("", Num("0"), Num("0.0"), None)


class Records:
    """Random documents of the kinds that sources write, many of their values short or empty."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def text(self) -> str:
        words = self.rng.choice(["", "v", "Ada", "a walk", "x\ufffd", "café " * 4, "prose " * 20])
        return words + self.rng.choice(["", "", "s"])

    def number(self) -> Num:
        pick, rng = self.rng.choice, self.rng
        return Num(
            pick(["0", "7", "1.0", "-0.5", "30.34", "1e5", "0.05", "1" * 20, str(rng.random())])
        )

    def leaf(self) -> Any:
        return self.rng.choice([self.text(), self.text(), self.number(), True, None])

    def flat(self) -> Any:
        return {f"k{at}": self.text() for at in range(self.rng.randint(1, 24))}

    def numbers(self) -> Any:
        return {f"n{at}": self.number() for at in range(self.rng.randint(1, 24))}

    def mixed(self) -> Any:
        def member() -> Any:
            return self.rng.choice([self.leaf(), self.leaf(), [], {}, [self.leaf(), self.leaf()]])

        return {f"m{at}": member() for at in range(self.rng.randint(1, 16))}

    def nested(self, depth: int = 3) -> Any:
        members = range(self.rng.randint(1, 5))
        inner = [depth > 0 and self.rng.random() < 0.4 for _ in members]
        return {f"o{at}": self.nested(depth - 1) if inner[at] else self.leaf() for at in members}

    def objects(self) -> Any:
        items = [self.nested(1) for _ in range(self.rng.randint(0, 6))]
        return {"items": items, "total": self.number(), "note": self.text()}

    def elements(self) -> Any:
        return [self.rng.choice([self.leaf, self.mixed])() for _ in range(self.rng.randint(1, 6))]


KINDS = ("flat", "numbers", "mixed", "nested", "objects", "elements")


def written_one_after_another(document: Any, step: int, *, grow: bool) -> Iterator[Any]:
    """What a partial parser shows after every `step` characters, each snapshot a different one."""
    text, last = dump(document), MISSING
    for end in [*range(step, len(text), step), len(text)]:
        value = cut(text[:end], grow=grow) if end < len(text) else load(text)
        if value is not MISSING and not same(value, last):
            yield value
        last = value


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The values that show something, with their paths."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    elif value not in EMPTY or value is False:
        yield path, value


def late(text: str, shown: list[Any]) -> list[Path]:
    """Paths of what the first of three snapshots showed, and a reader of `text` cannot see after
    the last. A number that changes with the last one, or is not in it, is not written yet."""
    seen = cut(text, grow=True) if text else MISSING
    paths = []
    for path, value in leaves(shown[0]):
        before, now = lookup(shown[1], path), lookup(shown[2], path)
        if isinstance(value, Num) and not (before[0] and now[0] and same(before[1], now[1])):
            continue
        written = MISSING if seen is MISSING else lookup(seen, path)[1]
        if isinstance(value, Num) and isinstance(written, Num):
            # A number may be rewritten before it is certain: 1.0, then 1e-07.
            value, written = str(now[1]), str(written)
        if not is_prefix(value, written):
            paths.append(path)
    return paths


def waits_for_an_open_sibling(path: Path, open_path: Path | None, shown: list[Any]) -> bool:
    """Of several values one is opened, and the others wait while it grows."""
    shared = len(
        list(takewhile(lambda pair: pair[0] == pair[1], zip(path, open_path or (), strict=False)))
    )
    sibling = (open_path or ())[: shared + 1]
    first, *others = [dump(lookup(value, sibling)[1]) for value in shown]
    return any(other != first for other in others)


def assert_flows(snapshots: list[Any], rng: random.Random, *, eager: bool) -> None:
    chunker, text = Chunker(eager=eager), ""
    shown: list[Any] = []
    for value in snapshots:
        text += chunker.feed(dump(value, rng))
        shown = [*shown[-2:], value]
        if len(shown) == 3:
            for path in late(text, shown):
                # By default only a number is opened while others wait.
                opened = lookup(value, chunker.open_path or ())[1]
                excused = eager or isinstance(opened, Num)
                excused = excused and waits_for_an_open_sibling(path, chunker.open_path, shown)
                assert excused, (path, text, shown)
    assert same(load(text + chunker.flush()), snapshots[-1])  # P5


@few(4)
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("step", STEPS)
@examples(20)
@given(kind=st.sampled_from(KINDS), grow=st.booleans(), seed=st.integers(0, 2**32))
def test_p11_nothing_is_held_for_long(
    step: int, eager: bool, kind: str, grow: bool, seed: int
) -> None:
    rng = random.Random(seed)
    document = getattr(Records(rng), kind)()
    snapshots = list(written_one_after_another(document, step, grow=grow))
    assert_flows(snapshots, rng, eager=eager)


# ---- another parser, other documents ----

KEYS = ("a", "id", "name", "name.first", "x[0]", "", "ключ", "k k", "items", "value", "root")
TEXTS = ("", "v", "naïve", "日本語テキスト", "😀😀", 'a "quoted" word', "back\\slash",
         "line\nbreak", "\u2028", "\U0001f468\u200d\U0001f469", "prose " * 15)  # fmt: skip
NUMBERS = (0, 1, 12345, -3, 0.5, 30.34, 3.0, 1e-7, 1000, 10**17 + 7, 0.1234567890123456)


def member(rng: random.Random, depth: int) -> Any:
    """A document whose keys occur again at every level."""
    kind = rng.random()
    if kind < 0.2 and depth:
        keys = [
            rng.choice(KEYS) + rng.choice(["", "", "1", "22"]) for _ in range(rng.randint(0, 8))
        ]
        return {key: member(rng, depth - 1) for key in keys}
    if kind < 0.35 and depth:
        return [member(rng, depth - 1) for _ in range(rng.randint(0, 5))]
    return rng.choice([*TEXTS, *NUMBERS, True, False, None])


def shown_by_jiter(document: Any, rng: random.Random, step: int) -> Iterator[Any]:
    """What jiter shows while the text grows, by `step` characters or by about as many."""
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
    ends = [*range(step, len(text), step), len(text)]
    if rng.random() < 0.5:
        ends = sorted({*rng.choices(ends, k=len(ends)), rng.randint(1, len(text)), len(text)})
    last = ""
    for end in ends:
        try:
            value = jiter.from_json(text[:end].encode(), partial_mode="trailing-strings")
        except ValueError:
            continue
        shown = json.dumps(value)
        if shown != last:
            yield load(shown)
        last = shown


@few(4)
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("step", STEPS)
@examples(8)
@given(seed=st.integers(0, 2**32))
def test_p11_and_p5_with_snapshots_of_jiter(step: int, eager: bool, seed: int) -> None:
    rng = random.Random(seed)
    document = {f"{key}{at}": member(rng, 3) for at, key in enumerate(rng.sample(KEYS, 6))}
    assert_flows(list(shown_by_jiter(document, rng, step)), rng, eager=eager)


def test_what_came_beside_a_number_waits_while_that_gets_digits() -> None:
    """Its digits are written, so nothing can be until it has ended."""
    chunker = Chunker()
    chunks = [chunker.feed({"n": number, "s": "Ada"}) for number in (692, 692309, 6923098)]
    assert chunks == ['{"n":692', "309", "8"]
    assert chunker.feed({"n": 6923098, "s": "Ada", "t": "x"}) == ',"s":"Ada","t":"x'


@pytest.mark.parametrize("eager", [False, True])
def test_p11_short_strings_two_at_a_time(eager: bool) -> None:
    chunker, value = Chunker(eager=eager), {"name": "Ada"}
    out = [chunker.feed(value)]
    for at in range(0, 8, 2):
        value = {**value, f"k{at}": "v", f"k{at + 1}": "v"}
        out.append(chunker.feed(value))
    if eager:
        assert out[2:4] == ['","k1":"v","k2":"v', '","k3":"v","k4":"v']
    else:
        assert out == [
            '{"name":"Ada',
            "",
            '","k0":"v","k1":"v"',
            ',"k2":"v","k3":"v"',
            ',"k4":"v","k5":"v"',
        ]


@pytest.mark.parametrize(
    "shown, chunks",
    [
        # Two empty members at a time tell that the source has left what is open.
        (['{"n":1}', '{"n":1.0}', '{"n":1.0,"a":"","b":""}'], ['{"n":1', "", ".0"]),
        (['{"s":"x\ufffd"}', '{"s":"x\ufffd","a":"","b":[]}'], ['{"s":"x', "\ufffd"]),
        (['{"l":["x",1.0]}', '{"l":["x",1.0],"a":"","b":""}'], ['{"l":["x"', ",1.0"]),
        (
            ['{"l":["x"]}', '{"l":["x",1e5]}', '{"l":["x",1e5],"a":"","b":""}'],
            ['{"l":["x', "", '",1e5'],
        ),
        # A zero may still become another number.
        (['{"l":["x",0]}', '{"l":["x",0],"a":"","b":""}'], ['{"l":["x"', ""]),
    ],
)
def test_what_may_be_rewritten_is_certain_when_the_source_has_left_it(
    shown: list[str], chunks: list[str]
) -> None:
    chunker = Chunker(verify=True)
    assert [chunker.feed(snapshot) for snapshot in shown] == chunks
    chunker.flush()

"""What the drop-ins remember: little, only of this thread and task, and never another text."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from typing import Any

import pytest

from jsonrill.compat import memory
from jsonrill.compat.memory import MOST_TEXTS, Memory
from support import few


def remembered(of: Memory) -> list[Any]:
    return [text.text for text in of._texts]


def test_a_text_is_known_by_all_of_its_beginning() -> None:
    texts = Memory()
    first = texts.read('{"a": [1, 2', float, at_once=True)
    assert first is texts.read('{"a": [1, 2, 3', float, at_once=True)
    # One character differs, at either end of what is remembered.
    for other in ('{"b": [1, 2, 3, 4', '{"a": [1, 2, 4, 4', '{"a": [1, 2', " " + '{"a": [1, 2, 3'):
        reader = texts.read(other, float, at_once=True)
        assert reader is not None and reader is not first
    assert first is texts.read('{"a": [1, 2, 3, 5', float, at_once=True)


def test_a_text_that_the_original_has_read_before_is_known_by_all_of_it() -> None:
    texts, text = Memory(), "[0"
    while (reader := texts.read(text, float)) is None:
        text += ", 1"
    assert reader is not texts.read("[0" + ", 2" * len(text), float)
    assert reader is texts.read(text + ", 1", float)


def test_texts_of_other_types_and_numbers_are_others() -> None:
    texts = Memory()
    readers = [
        texts.read("[1.5", float, at_once=True),
        texts.read(b"[1.5", float, at_once=True),
        texts.read("[1.5", str, at_once=True),
    ]
    assert len({id(reader) for reader in readers}) == 3


def test_the_texts_used_last_are_kept() -> None:
    texts = Memory()
    for number in range(2 * MOST_TEXTS):
        texts.read(f"[{number},", float, at_once=True)
        texts.read("[0, 1", float, at_once=True)
    kept = remembered(texts)
    assert len(kept) == MOST_TEXTS
    assert kept[-1] == "[0, 1"
    assert "[1," not in kept


def test_what_is_complete_makes_room_for_the_next_text() -> None:
    texts = Memory()
    for text in ("[0", "[1]", "[2", "[3]"):
        texts.read(text, float, at_once=True)
    assert remembered(texts) == ["[0", "[2", "[3]"]
    texts.read("[4", float, at_once=True)
    assert remembered(texts) == ["[0", "[2", "[4"]


@few(1)
@pytest.mark.parametrize(
    "part", ['"a string of some length", ', '{"id": 1, "x": [1.5, {}]}, '], ids=["text", "dense"]
)
def test_memory_is_bounded(part: str) -> None:
    texts = Memory()
    tracemalloc.start()
    try:
        for stream in range(6):
            text = f"[{stream}, " + part * (100_000 // len(part))
            assert texts.read(text, float, at_once=True)
            texts.read(text + " ", float)
            del text
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2**20 < held < 4 * 2**20


def test_a_text_that_is_too_large_is_not_remembered() -> None:
    texts = Memory()
    large = '["' + "x" * memory.MOST_BYTES
    for _ in range(3):
        assert texts.read(large, float) is None
    assert remembered(texts) == []


def test_the_original_reads_a_text_until_it_has_read_it_often() -> None:
    texts = Memory()
    readers = [texts.read("[" + "1, " * n, float) for n in range(1, 100)]
    known = [reader is not None for reader in readers]
    assert known == sorted(known) and not known[3] and known[40]


def test_a_text_that_grows_by_much_is_left_to_a_quick_original() -> None:
    for step, expected in ((4, True), (400, False)):
        texts = Memory()
        text = "[" + "1," * 4000
        ends = range(2000, len(text), step)
        readers = [texts.read(text[:end], float, ratio=1000) for end in ends]
        assert (readers[-1] is not None) == expected


@pytest.mark.parametrize("public", [False, True])
def test_threads_and_tasks_have_memories_of_their_own(
    public: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if public:
        monkeypatch.delattr(asyncio, "_get_running_loop")
    here = memory.memory()
    assert memory.memory() is here
    others: list[Memory] = []

    async def task() -> Memory:
        first = memory.memory()
        await asyncio.sleep(0)
        assert memory.memory() is first
        return first

    async def main() -> None:
        others.extend(await asyncio.gather(task(), task(), asyncio.to_thread(memory.memory)))
        others.append(memory.memory())

    asyncio.run(main())
    thread = threading.Thread(target=lambda: others.append(memory.memory()))
    thread.start()
    thread.join()
    assert len({id(each) for each in [here, *others]}) == 6


def test_a_key_that_comes_again_replaces_its_container() -> None:
    texts = Memory()
    text = '{"a": {"b": [1]}, "c": [{"d": {"x": 1}, "d": 2, "d": [3], "e": ["f'
    for end in range(1, len(text) + 1):
        reader = texts.read(text[:end], float, at_once=True)
    assert reader is not None
    assert reader.tree.shown(False, "f") == {"a": {"b": [1]}, "c": [{"d": [3], "e": ["f"]}]}

"""P12 across the languages: Python sends and node receives, and the reverse."""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

from jsonrill import Receiver, Sender
from jsonrill.sending import TextSender
from support import HARDER, ROOT, need_command

PEER = Path(__file__).with_name("wire-peer.js")
COUNT = 4000 if HARDER else 400
KEYS = ("a", "b", "a/b", "~", "0", "", "__proto__", "\ud800", "é😀")
STRINGS = ("", "x", "é😀", "\ud83d", "\ude00", "a long text that is edited", "\u2028")
SCALARS = (0, 1, -2, 0.5, 1e300, 2**53 - 1, True, False, None, "1")


def test_python_and_node_read_each_others_messages() -> None:
    conversations = [conversation(random.Random(seed)) for seed in range(COUNT)]
    lines = "\n".join(json.dumps([message for message, _ in pairs]) for pairs in conversations)
    done = subprocess.run(
        [need_command("node"), PEER, str(COUNT)],
        input=lines, cwd=ROOT, capture_output=True, text=True, encoding="utf8", check=True,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    for pairs, values in zip(conversations, answer["received"], strict=True):
        assert [as_json(value) for _, value in pairs] == [as_json(value) for value in values]
    for pairs in answer["sent"]:
        receiver = Receiver()
        for message, state in pairs:
            receiver.feed(json.loads(message))
            assert as_json(receiver.value) == as_json(json.loads(state))


def conversation(chance: random.Random) -> list[tuple[Any, Any]]:
    """Return messages with the value after each: of a text, or of states."""
    numbered = chance.random() < 0.5
    found: list[tuple[Any, Any]] = []
    if chance.random() < 0.3:
        text = json.dumps(value(chance))
        sender, receiver = TextSender(numbered=numbered), Receiver()
        pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
        messages = [message for piece in pieces for message in sender.feed(piece)]
        for message in [*messages, *sender.flush()]:
            receiver.feed(json.loads(json.dumps(message)))
            found.append((message, receiver.value))
        return found
    states = Sender(numbered=numbered)
    state = value(chance)
    for _ in range(8):
        change = states.feed(state)
        if change is not None:
            found.append((change, json.loads(json.dumps(state))))
        state = edited(state, chance)
    return found


def value(chance: random.Random, depth: int = 3) -> Any:
    kind = chance.randrange(6 if depth else 3)
    if kind == 0:
        return chance.choice(SCALARS)
    if kind < 3:
        return chance.choice(STRINGS) + chance.choice(STRINGS)
    if kind < 5:
        return {chance.choice(KEYS): value(chance, depth - 1) for _ in range(chance.randrange(4))}
    return [value(chance, depth - 1) for _ in range(chance.randrange(5))]


def edited(old: Any, chance: random.Random) -> Any:
    if isinstance(old, str):
        at = chance.choice([len(old), chance.randint(0, len(old))])
        return old[:at] + chance.choice(STRINGS) + old[at + chance.randrange(3) :]
    if isinstance(old, list) and old:
        at = chance.randrange(len(old))
        insert = [value(chance, 1)] if chance.random() < 0.3 else [edited(old[at], chance)]
        return old[:at] + insert + old[at + chance.randrange(3) :]
    if isinstance(old, dict):
        key = chance.choice([*old, *KEYS])
        return {**old, key: edited(old[key], chance) if key in old else value(chance, 1)}
    return value(chance)


def as_json(value: Any) -> str:
    """Return a text that is equal for values that are equal as JSON."""
    return json.dumps(value, sort_keys=True)

"""Models whose answers break off, for the proof of `unbroken`.

A `Model` has one answer in mind. Its first stream breaks, and so do some of the next ones; asked
for the rest, it answers in one of the ways in which models do. Everything is drawn by a seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jsonrill import Document, unbroken
from jsonrill.continuing import SoFar
from jsonrill.testing import Call, FakeAnswer
from support.provider_streams import call_stream

WORDS = (
    "harbour lantern quiet morning the a of and river stone bridge walked slowly towards an old "
    "house with seven windows where nobody had lived for years but someone kept the garden"
).split()
# The protocols of the simulated upstream, and a stream of mere text.
SHAPES = {
    "openai_chat": "/v1/chat/completions",
    "openai_responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/m:streamGenerateContent",
    "text": "",
}
CALL_SHAPES = ("openai_chat", "openai_responses", "anthropic")


# ---- documents ----


def document(chance: random.Random) -> Any:
    """An object as models write them."""
    return {key: _value(chance, 0) for key in _keys(chance, 2, 7)}


def _keys(chance: random.Random, least: int, most: int) -> list[str]:
    names = "title city note days price tags done author body items count é ¶ x".split()
    return chance.sample(names, chance.randint(least, most))


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.choice("tttttnnblo" if depth < 3 else "tttnnb")
    if kind == "t":
        return text(chance)
    if kind == "n":
        return chance.choice([0, 7, 11, 100, -3, 1.5, 2e10, chance.randint(0, 10**6)])
    if kind == "b":
        return chance.choice([True, False, None])
    if kind == "l":
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return {key: _value(chance, depth + 1) for key in _keys(chance, 0, 3)}


def text(chance: random.Random) -> str:
    """A sentence or two, with what is hard to cut among it."""
    words = [chance.choice(WORDS) for _ in range(chance.randint(0, 14))]
    if words and chance.random() < 0.4:
        words[0] = words[0].capitalize()
    if chance.random() < 0.3:
        odd = chance.choice(['"quoted"', "\\", "😀", "línea\nnueva", "{a: 1}", "[", "```", "C:\\x"])
        words.insert(chance.randint(0, len(words)), odd)
    return " ".join(words)


def written(value: Any, chance: random.Random) -> str:
    """The JSON text of a value, in one of the usual styles."""
    return chance.choice(
        [
            json.dumps(value),
            json.dumps(value, ensure_ascii=False),
            json.dumps(value, separators=(",", ":"), ensure_ascii=False),
            json.dumps(value, indent=2),
        ]
    )


# ---- ways of answering ----


def goes_on(model: Model, text: str) -> str:
    return model.rest(text)


def repeats(model: Model, text: str) -> str:
    """The last words again: as many as people would call that."""
    size = model.chance.randint(20, 60)
    return text[-size:] + model.rest(text)


def begins_again(model: Model, text: str) -> str:
    return model.text


def begins_otherwise(model: Model, text: str) -> str:
    """The same value, in another style, with its members in another order."""
    value = json.loads(model.text)
    if isinstance(value, dict):
        keys = [*value]
        model.chance.shuffle(keys)
        value = {key: value[key] for key in keys}
    return written(value, model.chance)


def in_a_fence(model: Model, text: str) -> str:
    return f"```json\n{model.rest(text)}\n```"


def with_a_sentence(model: Model, text: str) -> str:
    before = model.chance.choice(
        ["Here is the rest:\n", "Sure! Continuing:\n\n", "Of course:\n```\n"]
    )
    after = "\n```" if "`" in before else model.chance.choice(["", "\n\nI hope this helps!"])
    return before + model.rest(text) + after


def all_in_a_fence(model: Model, text: str) -> str:
    return f"Here is the complete answer:\n\n```json\n{model.text}\n```\nThat is all."


def only_what_is_missing(model: Model, text: str) -> str:
    value = json.loads(model.text)
    assert model.so_far is not None
    known, path = model.so_far.value, model.so_far.open_path
    if not isinstance(value, dict) or not isinstance(known, dict):
        return model.text
    return json.dumps(
        {key: it for key, it in value.items() if key not in known or path and key == path[0]}
    )


WAYS: tuple[Callable[[Model, str], str], ...] = (
    goes_on,
    repeats,
    begins_again,
    begins_otherwise,
    in_a_fence,
    with_a_sentence,
    all_in_a_fence,
    only_what_is_missing,
)


class NoRest(Exception):
    """The text ends in the middle of a key or a number that is written in another style."""


@dataclass
class Model:
    """Answers with `text`, or calls `tool` with it; breaks off `breaks` times, first at `cut`."""

    text: str
    cut: int
    chance: random.Random
    breaks: int = 1
    tool: str = ""
    ways: tuple[Callable[[Model, str], str], ...] = WAYS
    shape: str = ""
    # All that was written, with what was written twice.
    written: int = 0
    asked: list[str] = field(default_factory=list)
    so_far: SoFar | None = None

    def __call__(self, so_far: SoFar | None) -> Iterator[Any]:
        self.so_far = so_far
        chance = self.chance
        answer = self.text
        if so_far is not None and self.tool and so_far.tool is None:
            # The call is complete, or has not begun: it may come again, with all that it has.
            return self.stream(answer, None)
        if so_far is not None and so_far.text.strip():
            way = chance.choice(self.ways)
            self.asked.append(way.__name__)
            try:
                answer = way(self, so_far.text)
            except NoRest:
                answer = self.text
        cut: int | None = None
        if so_far is None:
            cut = self.cut
        elif self.breaks > 0:
            cut = chance.randint(0, len(answer))
        self.breaks -= cut is not None
        return self.stream(answer, cut)

    def rest(self, text: str) -> str:
        """What follows a text that is the beginning of the answer, in any style."""
        if self.text.startswith(text):
            return self.text[len(text) :]
        try:
            rest = following(text, value := json.loads(self.text))
            if json.loads(text + rest) == value:
                return rest
        except ValueError:
            pass
        raise NoRest

    def stream(self, answer: str, cut: int | None) -> Iterator[Any]:
        """The events of an answer, up to a cut."""
        chance = self.chance
        sent = answer if cut is None else answer[:cut]
        self.written += len(sent)
        names = CALL_SHAPES if self.tool else tuple(SHAPES)
        shape = self.shape or chance.choice(names)
        end = "complete" if cut is None else chance.choice(["length", "reset", "lost"])
        if shape == "text":
            end = "reset" if cut is not None else end
            yield from (sent[at : at + 5] for at in range(0, len(sent), 5))
        elif self.tool:
            yield from self._call(shape, sent, end)
        else:
            yield from _events(shape, sent, end)
        if end == "reset":
            raise ConnectionResetError("the connection was reset")

    def _call(self, shape: str, sent: str, end: str) -> Iterator[Any]:
        events = call_stream(shape, [Call(self.tool, sent)], size=5)
        if end != "complete":
            # The call is not closed, and the answer does not end.
            events = events[: _last_delta(events) + 1]
        yield from events
        if end == "length":
            yield from _length(shape)


def _events(shape: str, sent: str, end: str) -> Iterator[Any]:
    is_long = end == "length"
    script = FakeAnswer(sent, pace=0, ending="length" if is_long else "complete").script(
        SHAPES[shape], {"stream": True}
    )
    events = [json.loads(step.partition(b"data: ")[2]) for step in _steps(script.steps)]
    if end in ("reset", "lost"):
        events = events[: _last_delta(events) + 1]
    yield from events


def _steps(steps: Any) -> Iterator[bytes]:
    return (step for step in steps if isinstance(step, bytes) and b"[DONE]" not in step)


def _last_delta(events: list[Any]) -> int:
    """The last event that brings something of the answer."""
    marks = ('"content"', "arguments.delta", "output_text.delta", "_delta", '"text"', '"arguments"')
    ends = ("message_delta", ".done", ".completed", ".incomplete")
    last = -1
    for at, event in enumerate(events):
        text = json.dumps(event)
        kind = event.get("type", "")
        if any(mark in text for mark in marks) and not any(it in kind for it in ends):
            choice = (event.get("choices") or event.get("candidates") or [{}])[0]
            if not choice.get("finish_reason") and not choice.get("finishReason"):
                last = at
    return last


@cache
def _length_of(shape: str) -> tuple[Any, ...]:
    return (*_events(shape, "x", "length"),)


def _length(shape: str) -> Iterator[Any]:
    """The event that says that the token limit was reached."""
    yield from [
        event
        for event in _length_of(shape)
        if "max" in json.dumps(event) or '"length"' in json.dumps(event)
    ]


def following(text: str, value: Any) -> str:
    """What follows a beginning of the JSON text of a value; it ends in a string or behind one."""
    document = Document()
    document.feed(text)
    known, path = document.value, document.open_path
    if not isinstance(_at(known, path), str):
        document.feed(" ")
        known, path = document.value, document.open_path
    assert path is not None
    rest = ""
    if isinstance(last := _at(known, path), str):
        rest = json.dumps(_at(value, path)[len(last) :])[1:]
        path = path[:-1]
    for depth in range(len(path), -1, -1):
        has, wants = _at(known, path[:depth]), _at(value, path[:depth])
        rest += _members(has, wants)
    return rest


def _at(value: Any, path: Any) -> Any:
    for step in path or ():
        value = value[step]
    return value


def _members(has: Any, wants: Any) -> str:
    """The members that a container lacks, and its bracket."""
    if isinstance(wants, dict):
        lacks = [
            f"{json.dumps(key)}: {json.dumps(it)}" for key, it in wants.items() if key not in has
        ]
    else:
        lacks = [json.dumps(it) for it in wants[len(has) :]]
    comma = ", " if has and lacks else ""
    return comma + ", ".join(lacks) + ("}" if isinstance(wants, dict) else "]")


def unbroken_streams() -> dict[str, list[Any]]:
    """The events of `unbroken` for a text, for calls, and for answers that begin again."""
    value = {"city": "Rome", "days": [1, 2.5, None], "note": "línea 😀"}
    other = {**value, "city": "Oslo"}
    text, again = json.dumps(value), json.dumps(other)
    first, second = Call("plan", value), Call("plan", other)
    calls = call_stream("openai_chat", [first, second], size=5)
    call = call_stream("anthropic", [first], size=5)
    restarted = [*(call_stream("anthropic", [second], size=5) for _ in range(2))]

    def events(*answers: Any, **options: Any) -> list[Any]:
        streams = iter(answers)
        return [*unbroken(lambda so_far: next(streams), stall=None, backoff=0, **options)]

    return {
        "unbroken-text": events(
            _events("openai_chat", text[:30], "lost"), _events("anthropic", text[30:], "complete")
        ),
        "unbroken-calls": events(calls[: len(calls) // 2], calls),
        "unbroken-restart": events([text[:30]], [again], [again], on_contradiction="restart"),
        "unbroken-restarted-call": events(
            call[: len(call) // 2], *restarted, on_contradiction="restart"
        ),
    }


# ---- what must hold ----


def grows_into(value: Any, final: Any) -> bool:
    """True if a value may become the final one by growing only; its keys may come in any order."""
    if isinstance(value, str):
        return isinstance(final, str) and final.startswith(value)
    if isinstance(value, dict):
        return isinstance(final, dict) and all(
            key in final and grows_into(it, final[key]) for key, it in value.items()
        )
    if isinstance(value, list):
        return (
            isinstance(final, list)
            and len(value) <= len(final)
            and all(grows_into(it, other) for it, other in zip(value, final, strict=False))
        )
    return type(value) is type(final) and bool(value == final)

"""An upstream for the relay that does as the model's name says."""

from __future__ import annotations

from jsonrill.eventstream import SSEDecoder
from jsonrill.testing import Call, FakeAnswer, Provider, Script, Upstream

PATH = "/v1/chat/completions"
ARGUMENTS = '{"city": "Zürich", "days": 3, "units": ["c", "f"]}'
CALLED = FakeAnswer(calls=[Call("get_weather", ARGUMENTS, "call_1")], pace=0.002)
TEXT_ANSWER = FakeAnswer("Hello wörld", pace=0.002)
# Each number is a token.
NUMBERS = [f"{number:4}" for number in range(200)]
MODELS: dict[str, FakeAnswer | Script] = {
    "text": TEXT_ANSWER,
    "calls": CALLED,
    "slow": FakeAnswer("Hello wörld", pace=0.3),
    "numbers": FakeAnswer("".join(NUMBERS), pace=0.03),
    "endless": FakeAnswer("".join(f"{number:4}" for number in range(10_000)), pace=0.02),
    "broken": FakeAnswer("Hello wörld", ending="reset", after=1),
    "limited": FakeAnswer(status=429, headers={"retry-after": "7"}),
    "never": Script([float("inf")], framing="raw"),
}


def events_of(answer: FakeAnswer) -> list[str]:
    """The data of the events of an answer, without [DONE]."""
    steps = answer.script(PATH, {"stream": True}).steps
    body = b"".join(step for step in steps if isinstance(step, bytes))
    return [event.data for event in SSEDecoder().feed(body)][:-1]


def an_upstream() -> Upstream:
    return Upstream(Provider(MODELS))

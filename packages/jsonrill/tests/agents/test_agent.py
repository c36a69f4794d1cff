"""The loop of an agent: it asks, runs the tools, asks again, and ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from jsonrill import Part, SourceFailed, agent, run_tools, tool
from jsonrill.agents import state_of
from jsonrill.testing import Call, FakeAnswer

TARGETS = {
    "openai_chat": "/chat/completions",
    "openai_responses": "/responses",
    "anthropic": "/messages",
    "gemini": "/m:streamGenerateContent",
}
PROVIDERS = list(TARGETS)
USER = {"role": "user", "content": "Where is it warmest?"}


class Model:
    """Answers in a row, as a provider sends them; keeps what it was asked."""

    def __init__(self, provider: str, *answers: FakeAnswer) -> None:
        self._target = TARGETS[provider]
        self._answers = list(answers)
        self.asked: list[list[Any]] = []

    def __call__(self, messages: list[Any]) -> Iterator[bytes]:
        self.asked.append(json.loads(json.dumps(messages)))
        answer = self._answers.pop(0)
        steps = answer.script(self._target, {"stream": True}).steps
        return iter([step for step in steps if isinstance(step, bytes)])

    async def later(self, messages: list[Any]) -> AsyncIterator[bytes]:
        return _sent(self(messages))


async def _sent(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


def calls(*called: Call, text: str = "", reasoning: str = "", **fields: Any) -> FakeAnswer:
    return FakeAnswer(text, reasoning, called, pace=0, **fields)


def weather(city: str) -> dict[str, Any]:
    return {"city": city, "degrees": 31}


@tool(approve=True)
def book(city: str, nights: int = 1) -> str:
    """Book a hotel."""
    return f"booked {city} for {nights}"


TOOLS = {"weather": weather, "book": book}
ROME, OSLO = Call("weather", {"city": "Rome"}, "a1"), Call("weather", {"city": "Oslo"}, "a2")
BOOK = Call("book", {"city": "Rome", "nights": 2}, "b1")
BYE = calls(text="Rome is warmest.", id="2")


def both(
    provider: str, answers: list[FakeAnswer], tools: Any = None, **options: Any
) -> tuple[list[Part], Any, Model]:
    """The parts of a sync agent, the agent and its model; an async one gives the same."""
    tools = TOOLS if tools is None else tools
    model = Model(provider, *answers)
    running = agent(model, tools, messages=[USER], **options)
    parts = list(running)

    async def main() -> tuple[list[Part], Any, Model]:
        model = Model(provider, *answers)
        running = agent(model.later, tools, messages=[USER], **options)
        return [part async for part in running], running, model

    beside, later, other = asyncio.run(main())
    assert shown(beside) == shown(parts)
    assert later.messages() == running.messages()
    assert later.outcome == running.outcome
    assert other.asked == model.asked
    return parts, running, model


def shown(parts: list[Part]) -> dict[Any, Any]:
    """What the parts of each kind say, whatever the order in which tools end."""
    return {
        "text": {part.turn: part.text for part in parts if part.kind == "text"},
        "status": sorted(
            (part.call.id, part.status) for part in parts if part.call and part.status
        ),
        "results": sorted(
            (part.turn, part.call.id, str(part.result), part.error)
            for part in parts
            if part.kind == "result"
        ),
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_asks_again_until_the_model_is_done(provider: str) -> None:
    first = calls(ROME, OSLO, text="I look it up.", reasoning="Two places.")
    parts, running, model = both(provider, [first, BYE])
    assert running.outcome == "complete"
    assert running.text == "Rome is warmest."
    assert running.turns == 2
    assert [call.result["city"] for call in running.calls] == ["Rome", "Oslo"]
    assert len(model.asked) == 2
    assert model.asked[0] == [USER]
    assert model.asked[1] == [USER, *running.messages()[: len(model.asked[1]) - 1]]
    assert [part.turn for part in parts] == sorted(part.turn for part in parts)
    started = [part for part in parts if part.status == "started"]
    assert [part.call.name for part in started if part.call] == ["weather", "weather"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_indices_count_over_all_turns(provider: str) -> None:
    parts, _, _ = both(provider, [calls(ROME, text="Look."), BYE])
    ends = {part.index: part.turn for part in parts}
    assert sorted(ends) == list(range(len(ends)))
    assert list(ends.values()) == sorted(ends.values())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_cut_answer_ends_it(provider: str) -> None:
    cut = calls(text="I look it up, and then I say", ending="length", after=2)
    _, running, model = both(provider, [cut, BYE])
    assert running.outcome == "length"
    assert len(model.asked) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_lost_answer_ends_it(provider: str) -> None:
    lost = calls(text="I look it up, and then I say", ending="cut", after=2)
    _, running, _ = both(provider, [lost, BYE])
    assert running.outcome == "lost"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_error_of_the_provider_is_raised(provider: str) -> None:
    failed = calls(text="I look it up, and then I say", ending="error", after=2)
    running = agent(Model(provider, failed), TOOLS, messages=[USER])
    with pytest.raises(SourceFailed):
        list(running)
    assert running.outcome == "error"


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None])
def test_max_turns_is_a_number_of_turns(wrong: Any) -> None:
    with pytest.raises(ValueError, match="max_turns is a whole number from 1 up"):
        agent(lambda _: [], {}, max_turns=wrong)


def test_it_ends_after_max_turns() -> None:
    _, running, model = both("openai_chat", [calls(ROME, id=str(n)) for n in range(3)], max_turns=3)
    assert running.outcome == "max_turns"
    assert len(model.asked) == running.turns == 3
    assert len(running.messages()) == 6


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_call_to_approve_waits_and_the_others_run(provider: str) -> None:
    parts, running, model = both(provider, [calls(ROME, BOOK), BYE])
    assert running.outcome == "waiting"
    assert [part.status for part in parts if part.kind == "call" and part.call.id == "b1"][-1] == (
        "waiting"
    )
    assert [call.id for call in running.waiting] == ["b1"]
    assert [part.call.id for part in parts if part.kind == "result"] == ["a1"]
    assert len(model.asked) == 1


def without_approval() -> dict[str, Any]:
    return {"weather": weather, "book": book.function}


DECISIONS: list[Any] = [True, False, "too expensive", {"city": "Rome", "nights": 3}]


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("saved", ["state", "log"])
def test_a_state_continues_the_turn(provider: str, decision: Any, saved: str) -> None:
    """The next request is the one of an agent that never stopped."""
    first = calls(ROME, BOOK, text="I look it up.", reasoning="Hm.")
    parts, running, _ = both(provider, [first, BYE])
    if saved == "state":
        state = json.loads(json.dumps(running.state()))
    else:
        log = json.loads(json.dumps([part.to_dict(state=True) for part in parts]))
        state = state_of(log, [USER])
        assert state == running.state()
    ran: list[Any] = []

    def never(city: str) -> dict[str, Any]:
        raise AssertionError("it ran twice")

    tools = {"weather": never, "book": book}
    model = Model(provider, BYE)
    again = agent(model, tools, state=state, decisions={"b1": decision})
    more = list(again)
    assert again.outcome == "complete" and again.text == "Rome is warmest."
    assert again.turns == 2
    assert more[0].turn == 0 and more[-1].turn == 1
    assert min(part.index for part in more if part.kind != "call") > max(it.index for it in parts)
    results = {part.call.id: part.error or part.result for part in more if part.kind == "result"}
    if decision is True or isinstance(decision, dict):
        nights = 2 if decision is True else 3
        assert results == {"b1": f"booked Rome for {nights}"}
        booking = BOOK if decision is True else Call("book", decision, "b1")
        straight = Model(provider, calls(ROME, booking, text="I look it up.", reasoning="Hm."), BYE)
        list(agent(straight, without_approval(), messages=[USER]))
        assert model.asked == straight.asked[1:]
    else:
        reason = ": too expensive" if decision else ""
        assert results == {"b1": f"a person refused the call{reason}"}
    assert not ran
    # The whole log, of both processes, is that of a conversation that is complete.
    whole = [part.to_dict(state=True) for part in (*parts, *more)]
    done = state_of(json.loads(json.dumps(whole)), [USER])
    assert done is not None and done["outcome"] == "complete"
    ended = agent(Model(provider), tools, state=done)
    assert list(ended) == [] and ended.outcome == "complete"
    assert ended.messages() == again.messages()


def test_the_state_of_a_log_needs_the_messages() -> None:
    """Else the model would be asked to go on with a conversation that it does not know."""
    model = Model("openai_chat", calls(Call("book", {"city": "Rome"})))
    state = state_of(list(agent(model, {"book": book}, messages=[USER])))
    with pytest.raises(ValueError, match="no messages"):
        agent(model, {"book": book}, state=state)


class Opened:
    """A provider's stream, with a connection that has to be closed."""

    def __init__(self) -> None:
        self.closed = False

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("it was read")

    def close(self) -> None:
        self.closed = True


class AsyncOpened(Opened):
    __iter__ = None  # type: ignore[assignment]

    def __aiter__(self) -> AsyncIterator[Any]:
        raise AssertionError("it was read")

    async def close(self) -> None:  # type: ignore[override]  # as OpenAI's streams have it
        self.closed = True


def test_a_loop_that_is_closed_before_it_begins_closes_its_source() -> None:
    stream = Opened()
    for unread in (agent(lambda _: stream, {}), run_tools(stream, {})):
        stream.closed = False
        unread.close()
        assert stream.closed and list(unread) == []


def test_an_async_loop_that_is_closed_before_it_begins_closes_its_source() -> None:
    async def close(stream: AsyncOpened) -> None:
        async def ask() -> AsyncOpened:
            raise AssertionError("it was awaited")

        await agent(lambda _: ask(), {}).aclose()  # else Python warns of the coroutine
        for unread in (agent(lambda _: stream, {}), run_tools(stream, {})):
            stream.closed = False
            await unread.aclose()
            assert stream.closed and [part async for part in unread] == []

    asyncio.run(close(AsyncOpened()))


# What Anthropic sends if its own tools take longer than one answer may.
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "Rome"}}


def paused(*blocks: dict[str, Any], reason: str = "pause_turn") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "m"}}]
    for at, block in enumerate(blocks):
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events.append({"type": "content_block_stop", "index": at})
    end = {"type": "message_delta", "delta": {"stop_reason": reason}}
    return [*events, end, {"type": "message_stop"}]


def test_an_answer_that_pauses_is_asked_to_go_on() -> None:
    asked: list[Any] = []
    text = {"type": "text", "text": "I search."}
    answers = [paused(text, SEARCH), paused({"type": "text", "text": "31."}, reason="end_turn")]

    def ask(messages: list[Any]) -> list[dict[str, Any]]:
        asked.append(messages)
        return answers[len(asked) - 1]

    running = agent(ask, {"weather": weather}, messages=[USER])
    parts = list(running)
    assert (running.outcome, running.text, running.turns) == ("complete", "31.", 2)
    assert asked[1] == [USER, {"role": "assistant", "content": [text, SEARCH]}]
    assert not any(part.error or part.reason for part in parts)
    assert (state_of(parts, [USER]) or {})["added"] == asked[1][1:]


def test_a_turn_that_pauses_is_not_done() -> None:
    turn = run_tools(paused({"type": "text", "text": "I search."}, SEARCH), {})
    list(turn)
    assert not turn.done and turn.outcome == "calls"
    assert [block["type"] for block in turn.messages()[0]["content"]] == ["text", SEARCH["type"]]


def test_a_model_that_only_pauses_ends_after_max_turns() -> None:
    running = agent(lambda _: paused(SEARCH), {}, max_turns=3)
    list(running)
    assert (running.outcome, running.turns) == ("max_turns", 3)

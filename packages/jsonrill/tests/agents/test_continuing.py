"""A conversation that waits, or was interrupted, goes on elsewhere; nothing runs twice."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from pydantic import TypeAdapter

from jsonrill import Part, agent, run_tools, tool
from jsonrill.agents import state_of

Event = dict[str, Any]
USER = {"role": "user", "content": "Hello"}


def weather(city: str) -> str:
    return f"sun in {city}"


@tool(approve=True)
def book(city: str) -> str:
    return f"booked {city}"


@tool(effects=True)
def pay(sum: float) -> str:
    return f"paid {sum}"


TOOLS = {"weather": weather, "book": book, "pay": pay}
FREE = {"weather": weather, "book": book.function, "pay": pay.function}


def chat() -> list[Event]:
    def chunk(finish: str | None = None, **delta: Any) -> Event:
        return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def call(index: int, name: str, text: str) -> Event:
        function = {"name": name, "arguments": text}
        return chunk(tool_calls=[{"index": index, "id": f"id-{index}", "function": function}])

    return [
        chunk(content="I look. "),
        call(0, "weather", '{"city": "Rome"}'),
        call(1, "book", '{"city": "Rome"}'),
        call(2, "nothing", '{"city": "Rome"}'),
        call(3, "book", '{"city": 1}'),
        call(4, "weather", '{"city": "Ro'),
        chunk(tool_calls=[{"index": 4, "function": {"arguments": ",}"}}]),
        call(5, "pay", '{"sum": 3.5}'),
        chunk("tool_calls"),
    ]


def responses() -> list[Event]:
    done, add = "response.output_item.done", "response.output_item.added"
    thought = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "opaque"}
    web = {"type": "web_search_call", "id": "ws", "status": "completed", "action": _SEARCH}
    items: list[Event] = [thought, web]
    for number, (name, arguments) in enumerate(_CALLS):
        call = {"type": "function_call", "id": f"fc{number}", "call_id": f"id-{number}"}
        items.append({**call, "name": name, "arguments": arguments, "status": "completed"})
    events: list[Event] = [{"type": "response.created", "response": {"id": "r"}}]
    for at, item in enumerate(items):
        empty = {"arguments": ""} if "arguments" in item else {}
        events += [
            {"type": add, "output_index": at, "item": {**item, **empty}},
            {"type": done, "output_index": at, "item": item},
        ]
    return [*events, {"type": "response.completed", "response": {"id": "r", "output": items}}]


_SEARCH = {"type": "search", "query": "x"}
_CALLS = (("weather", '{"city":"Rome"}'), ("book", '{"city":"Rome"}'), ("pay", '{"sum":3.5}'))


def anthropic() -> list[Event]:
    delta, start, stop = "content_block_delta", "content_block_start", "content_block_stop"
    search_result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    blocks: list[tuple[Event, list[Event]]] = [
        (
            thinking,
            [
                {"type": "thinking_delta", "thinking": "Hm."},
                {"type": "signature_delta", "signature": "sig-1"},
            ],
        ),
        ({"type": "redacted_thinking", "data": "opaque"}, []),
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            [{"type": "input_json_delta", "partial_json": '{"query":"x"}'}],
        ),
        (search_result, []),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "One."}]),
        ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Two."}]),
    ]
    for number, (name, arguments) in enumerate(_CALLS):
        use = {"type": "tool_use", "id": f"id-{number}", "name": name, "input": {}}
        blocks.append((use, [{"type": "input_json_delta", "partial_json": arguments}]))
    events: list[Event] = [{"type": "message_start", "message": {"id": "m", "usage": {}}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": start, "index": index, "content_block": block})
        events += [{"type": delta, "index": index, "delta": block_delta} for block_delta in deltas]
        events.append({"type": stop, "index": index})
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ]


def gemini() -> list[Event]:
    """Without ids of its own, of calls and of the response."""

    def event(*parts: Event, **fields: Any) -> Event:
        return {"candidates": [{"content": {"role": "model", "parts": [*parts]}, **fields}]}

    calls = [{"name": name, "args": json.loads(arguments)} for name, arguments in _CALLS]
    return [
        event({"text": "Hm", "thought": True}),
        event({"text": "Look"}),
        event({"text": "ing", "thoughtSignature": "c2ln"}),
        event({"functionCall": calls[0], "thoughtSignature": "c2lnMg=="}),
        event(*({"functionCall": call} for call in calls[1:])),
        event({"text": "", "thoughtSignature": "c2lnMw=="}, finishReason="STOP"),
    ]


STREAMS: dict[str, Callable[[], list[Event]]] = {
    "openai_chat": chat,
    "openai_responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}
BYE: dict[str, list[Event]] = {
    "openai_chat": [
        {"id": "d", "choices": [{"index": 0, "delta": {"content": "Bye"}, "finish_reason": "stop"}]}
    ],
    "openai_responses": [
        {"type": "response.created", "response": {"id": "r2"}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Bye"},
        {"type": "response.completed", "response": {"id": "r2", "output": []}},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"id": "m2"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Bye"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ],
    "gemini": [
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": "Bye"}]}, "finishReason": "STOP"}
            ]
        }
    ],
}
PROVIDERS = list(STREAMS)


class Model:
    """Streams in a row; keeps what it was asked."""

    def __init__(self, *streams: list[Event]) -> None:
        self._streams = list(streams)
        self.asked: list[Any] = []

    def __call__(self, messages: list[Any]) -> Iterator[Event]:
        self.asked.append(copy.deepcopy(messages))
        return iter(self._streams.pop(0))


@cache
def accepts(provider: str) -> TypeAdapter[Any]:
    """The client library's own type of messages."""
    match provider:
        case "openai_chat":
            from openai.types.chat import ChatCompletionMessageParam as Message
        case "openai_responses":
            from openai.types.responses import ResponseInputItemParam as Message
        case "anthropic":
            from anthropic.types import MessageParam as Message
        case _:
            from google.genai.types import Content as Message
    return TypeAdapter(list[Message])


def logged(parts: list[Part]) -> list[Event]:
    """The parts as a log keeps them."""
    log: list[Event] = json.loads(json.dumps([part.to_dict(state=True) for part in parts]))
    return log


@pytest.mark.parametrize("provider", PROVIDERS)
def test_thoughts_signatures_and_errors_go_back_as_if_it_had_never_stopped(provider: str) -> None:
    straight = run_tools(STREAMS[provider](), FREE)
    list(straight)
    model = Model(STREAMS[provider]())
    running = agent(model, TOOLS, messages=[USER])
    parts = list(running)
    assert running.outcome == "waiting" and running.messages() == []
    state = running.state()
    assert json.loads(json.dumps(state)) == state == state_of(logged(parts), [USER])
    [waiting] = [call for call in running.waiting if call.status == "complete"]
    then = Model(BYE[provider])
    again = agent(then, TOOLS, state=state, decisions={waiting.id: True})
    more = list(again)
    assert then.asked == [[USER, *straight.messages()]]
    accepts(provider).validate_python(then.asked[0][1:])
    assert again.text == "Bye" and again.outcome == "complete"
    assert [part.call.name for part in more if part.kind == "result"] == ["book"]
    assert again.messages()[: len(straight.messages())] == straight.messages()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_killed_after_any_part_nothing_runs_twice_and_the_request_is_valid(provider: str) -> None:
    """Another process sees the log up to one part; the one that died may have done more."""
    model = Model(STREAMS[provider]())
    parts = list(agent(model, TOOLS, messages=[USER]))
    log = logged(parts)
    for end in range(len(log) + 1):
        state = state_of(log[:end], [USER])
        begun = {it["call"]["id"] for it in log[:end] if it.get("status") == "started"}
        if state is None:
            assert end == 0
            continue
        then = Model(BYE[provider], BYE[provider])
        again = agent(then, TOOLS, state=state)
        more = list(again)
        results = [
            it["call"]["id"]
            for it in [*log[:end], *logged(more)]
            if it["kind"] == "result" and it["call"]["name"] != "web_search"
        ]
        assert len(set(results)) == len(results), f"a second result after {end} parts"
        for part in more:
            assert not (part.call and part.status == "started" and part.call.id in begun)
        if again.outcome == "complete":
            accepts(provider).validate_python(then.asked[0][1:])
            text = json.dumps(then.asked[0])
            for id in results:
                assert provider == "gemini" or text.count(json.dumps(id)) == 2
        else:
            assert again.outcome == "waiting" and then.asked == []
        # The log of both is one conversation.
        whole = state_of([*log[:end], *logged(more)], [USER])
        assert whole is not None
        if again.outcome == "complete":
            ended = agent(Model(), TOOLS, state=whole)
            assert list(ended) == [] and ended.messages() == again.messages()
        else:
            assert whole["waiting"] == [call.id for call in again.waiting]
            assert whole["entries"] == again.state()["entries"]


def waiting_twice() -> list[Event]:
    [text, weather, book, *_, end] = chat()
    other = copy.deepcopy(book)
    other["choices"][0]["delta"]["tool_calls"][0].update(index=2, id="id-2")
    return [text, weather, book, other, end]


def test_of_two_that_wait_each_can_be_decided_for_itself() -> None:
    running = agent(Model(waiting_twice()), TOOLS, messages=[USER])
    parts = list(running)
    assert [part.call.id for part in parts if part.call and part.status == "waiting"] == [
        "id-1",
        "id-2",
    ]
    second = agent(Model(), TOOLS, state=running.state(), decisions={"id-2": "no"})
    more = list(second)
    assert second.outcome == "waiting" and [call.id for call in second.waiting] == ["id-1"]
    state = second.state()
    assert state == state_of(logged([*parts, *more]), [USER])
    model = Model(BYE["openai_chat"])
    third = agent(model, TOOLS, state=state, decisions={"id-1": True})
    list(third)
    assert third.outcome == "complete"
    _, asked, *told = model.asked[0]
    assert [call["id"] for call in asked["tool_calls"]] == ["id-0", "id-1", "id-2"]
    contents = ["sun in Rome", "booked Rome", "a person refused the call: no"]
    assert [it["content"] for it in told] == contents


def started_log() -> list[Event]:
    """The log of a process that was killed while `weather` ran."""
    parts: list[Part] = []
    for part in agent(Model(waiting_twice()), TOOLS, messages=[USER]):
        parts.append(part)
        if part.status == "started":
            break
    return logged(parts)


def test_what_was_started_and_has_no_end_is_interrupted() -> None:
    state = state_of(started_log(), [USER])
    assert state is not None and state["started"] == ["id-0"]
    model = Model(BYE["openai_chat"])
    again = agent(model, TOOLS, state=state)
    [result, *_] = list(again)
    assert (result.kind, result.error) == ("result", "interrupted")
    assert again.outcome == "complete"
    assert [it["content"] for it in model.asked[0][2:]] == ["interrupted"]


def test_what_is_idempotent_is_run_again() -> None:
    state = state_of(started_log(), [USER])
    tools = {**TOOLS, "weather": tool(idempotent=True)(weather)}
    model = Model(BYE["openai_chat"])
    again = agent(model, tools, state=state)
    assert [part.status for part in list(again)[:1]] == ["started"]
    assert [it["content"] for it in model.asked[0][2:]] == ["sun in Rome"]


def test_a_person_may_let_it_run_again() -> None:
    state = state_of(started_log(), [USER])
    model = Model(BYE["openai_chat"])
    list(agent(model, TOOLS, state=state, decisions={"id-0": True}))
    assert [it["content"] for it in model.asked[0][2:]] == ["sun in Rome"]


def test_a_part_of_an_answer_that_ran_nothing_is_asked_for_again() -> None:
    [text, *_] = chat()
    log = logged([next(agent(Model([text, text]), TOOLS, messages=[USER]))])
    model = Model(BYE["openai_chat"])
    again = agent(model, TOOLS, state=state_of(log), messages=[USER])
    parts = list(again)
    assert model.asked == [[USER]]
    assert {part.turn for part in parts} == {0} and parts[0].index == 1
    whole = state_of([*log, *logged(parts)], [USER])
    assert whole is not None
    assert agent(Model(), TOOLS, state=whole).messages() == again.messages()


# ---- what is refused ----


def waiting_state() -> dict[str, Any]:
    running = agent(Model(waiting_twice()), TOOLS, messages=[USER])
    list(running)
    return running.state()


def test_a_decision_for_an_unknown_call_is_refused() -> None:
    for id in ("id-9", "id-0"):
        with pytest.raises(ValueError, match=f"'{id}' waits .* id-1, id-2"):
            agent(Model(), TOOLS, state=waiting_state(), decisions={id: True})
    with pytest.raises(ValueError, match="decisions"):
        agent(Model(), TOOLS, decisions={"id-1": True})


@pytest.mark.parametrize("wrong", [None, 1, ["yes"]])
def test_a_decision_of_another_type_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="True, False"):
        agent(Model(), TOOLS, state=waiting_state(), decisions={"id-1": wrong})


@pytest.mark.parametrize("other", [{}, {"city": 5}, {"city": "Rome", "more": 1}])
def test_other_arguments_that_misfit_are_refused(other: Any) -> None:
    with pytest.raises(ValueError, match="id-1"):
        agent(Model(), TOOLS, state=waiting_state(), decisions={"id-1": other})


def test_a_changed_tool_is_refused() -> None:
    @tool(approve=True)
    def book(city: str, nights: int = 1) -> str:
        raise AssertionError

    for tools in ({**TOOLS, "book": book}, {"weather": weather}):
        with pytest.raises(ValueError, match="'book' has changed"):
            agent(Model(), tools, state=waiting_state(), decisions={"id-1": True})
    more = {**TOOLS, "new": lambda: None}
    assert agent(Model(), more, state=waiting_state()).waiting


def test_a_broken_state_is_refused() -> None:
    good = waiting_state()
    assert good["version"] == 1
    for name in good:
        for wrong in ("x", 5, None, [], {}, [5], [{"kind": "call"}], {"book": 1}):
            if wrong == good[name] or (name, wrong) in _HARMLESS:
                continue
            with pytest.raises((ValueError, TypeError)):
                agent(Model(), TOOLS, state={**good, name: wrong})
        with pytest.raises(ValueError):
            agent(Model(), TOOLS, state={it: value for it, value in good.items() if it != name})
    others: list[Any] = ["{}", [], {}, {"version": 2}]
    for state in others:
        with pytest.raises(ValueError, match="version"):
            agent(Model(), TOOLS, state=state)


# What is plain JSON of the right shape.
_HARMLESS: list[tuple[str, Any]] = [
    *[("messages", it) for it in (None, [], [5], [{"kind": "call"}])],
    *[("added", it) for it in ([], [5], [{"kind": "call"}])],
    *[("waiting", []), ("turn", 5), ("index", 5), ("tools", {}), ("form", None), ("outcome", None)],
]


def test_a_call_that_the_state_does_not_let_wait_is_asked_for_all_the_same() -> None:
    again = agent(Model(), TOOLS, state={**waiting_state(), "waiting": []})
    assert [part.status for part in again] == ["waiting", "waiting"]
    assert again.outcome == "waiting"


def test_arguments_that_were_changed_in_the_state_are_checked() -> None:
    state = waiting_state()
    for entry in state["entries"]:
        if "call" in entry and entry["call"]["id"] == "id-1":
            entry["call"]["arguments"] = '{"city": 5}'
    with pytest.raises(ValueError, match="id-1"):
        agent(Model(), TOOLS, state=state, decisions={"id-1": True})

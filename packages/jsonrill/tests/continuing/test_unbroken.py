"""`unbroken`: answers that break off, and go on as if nothing had happened."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill.testing import Call
from support.breaking_models import Model, document, goes_on, grows_into, written
from support.provider_streams import call_stream


class Trip(BaseModel):
    city: str
    pace: Literal["slow", "fast"]
    stops: list[str]


VALUE = {"city": "Rome", "pace": "slow", "stops": ["the Forum", "the Vatican"]}
TEXT = json.dumps(VALUE)


def chunk(text: str | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """An event of OpenAI's chat completions."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice], **fields}


def events(text: str, finish: str | None = "stop") -> list[dict[str, Any]]:
    pieces = [chunk(text[at : at + 4]) for at in range(0, len(text), 4)]
    return [*pieces, *([] if finish is None else [chunk(None, finish)])]


def broken(text: str) -> Iterator[Any]:
    yield from events(text, None)
    raise ConnectionResetError("the connection was reset")


class Asked:
    """Answers with these streams, one after another, and keeps what it was told."""

    def __init__(self, *answers: Any) -> None:
        self._answers = iter(answers)
        self.so_far: list[SoFar | None] = []

    def __call__(self, so_far: SoFar | None) -> Any:
        self.so_far.append(so_far)
        answer = next(self._answers)
        return answer() if callable(answer) else answer


def source(*answers: Any, **options: Any) -> Any:
    return jsonrill.unbroken(Asked(*answers), **{"stall": None, "backoff": 0, **options})


# ---- it is a source like any other ----


def test_values_never_go_back() -> None:
    seen = list(jsonrill.values(source(broken(TEXT[:30]), events(TEXT[30:])), Trip))
    assert seen[-1] == Trip(**VALUE) and not jsonrill.is_partial(seen[-1])  # type: ignore[arg-type]
    for trip in seen:
        assert grows_into(trip.model_dump(exclude_unset=True), VALUE)


def test_every_function_reads_it() -> None:
    def broken_at(at: int) -> Any:
        return source(broken(TEXT[:at]), events(TEXT[at:]))

    assert [*jsonrill.fields(broken_at(30), Trip)] == [*VALUE.items()]
    *_, last = jsonrill.updates(broken_at(20), schema=Trip)
    assert last.model == Trip(**VALUE)  # type: ignore[arg-type]
    assert "".join(jsonrill.content(broken_at(51))) == TEXT
    assert [*jsonrill.select(broken_at(60), "stops[*]")] == VALUE["stops"]
    assert "".join(jsonrill.text(broken_at(14), "city")) == "Rome"
    *_, part = jsonrill.parts(broken_at(33))
    assert (part.kind, part.text, part.complete) == ("text", TEXT, True)


def test_the_reader_is_told_before_the_first_request() -> None:
    asked = Asked(broken(TEXT[:30]), events(TEXT[30:]))
    reading = jsonrill.values(jsonrill.unbroken(asked, stall=None), Trip)
    assert not asked.so_far
    [*_] = reading
    assert asked.so_far[0] is None
    so_far = asked.so_far[1]
    assert so_far is not None and so_far.missing == [("pace",), ("stops",)]


def test_two_schemas_are_refused() -> None:
    with pytest.raises(TypeError, match="two different schemas"):
        jsonrill.values(jsonrill.unbroken(Asked(), schema=dict[str, int]), Trip)
    reading = jsonrill.values(jsonrill.unbroken(Asked(events(TEXT)), schema=Trip, stall=None), Trip)
    assert [*reading][-1] == Trip(**VALUE)  # type: ignore[arg-type]


def test_events_are_our_own() -> None:
    assert [*source(broken(TEXT[:30]), events(TEXT[30:]))][-1] == {
        "kind": "answer",
        "finish": "complete",
    }
    kinds = {event["kind"] for event in source(events(TEXT))}
    assert kinds == {"answer"}


def test_a_break_is_told_in_the_stream() -> None:
    [told] = [it for it in source(broken(TEXT[:30]), events(TEXT[30:])) if "break" in it]
    assert told == {"kind": "answer", "break": {"reason": "lost", "attempt": 1}}


def test_async() -> None:
    async def stream(text: str, end: bool) -> AsyncIterator[Any]:
        for event in events(text, "stop" if end else None):
            yield event
        if not end:
            raise ConnectionResetError

    async def ask(so_far: SoFar | None) -> Any:
        return stream(TEXT[:30], False) if so_far is None else stream(TEXT[30:], True)

    async def main() -> list[Trip]:
        return [trip async for trip in jsonrill.values(jsonrill.unbroken(ask), Trip)]

    assert asyncio.run(main())[-1] == Trip(**VALUE)  # type: ignore[arg-type]


def test_a_plain_function_must_not_return_something_async() -> None:
    async def stream() -> AsyncIterator[Any]:
        yield chunk(TEXT, "stop")

    async def coroutine() -> Any:
        return stream()

    for make in (stream, coroutine):
        with pytest.raises(TypeError, match="async def"):
            [*jsonrill.values(jsonrill.unbroken(lambda so_far, make=make: make()))]  # type: ignore[misc]


@pytest.mark.parametrize(
    "options", [{"attempts": 0}, {"stall": -1}, {"budget": 0}, {"backoff": "no"}]
)
def test_options_are_checked(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        jsonrill.unbroken(Asked(), **options)


def test_leaving_the_loop_closes_the_source() -> None:
    closed = []

    def stream() -> Iterator[Any]:
        try:
            yield from events(TEXT)
        finally:
            closed.append(True)

    reading = jsonrill.values(source(stream))
    next(reading)
    reading.close()
    assert closed


# ---- when it asks again ----


def test_it_asks_again_after_lost_length_and_a_body_that_just_ends() -> None:
    for first, reason in (
        (broken(TEXT[:30]), "lost"),
        (events(TEXT[:30], None), "lost"),
        (events(TEXT[:30], "length"), "length"),
        (events(TEXT[:30], "stop"), "ended"),
        ([TEXT[:30]], "ended"),
        ([], "lost"),
    ):
        asked = Asked(first, events(TEXT[30:] if first else TEXT))
        *_, value = jsonrill.values(jsonrill.unbroken(asked, stall=None))
        so_far = asked.so_far[1]
        assert value == VALUE and so_far is not None and so_far.reason == reason


def test_it_does_not_ask_again_after_filtered_or_refused() -> None:
    for finish in ("content_filter", "refusal"):
        asked = Asked(events(TEXT[:30], finish))
        with pytest.raises(jsonrill.Truncated) as raised:
            [*jsonrill.values(jsonrill.unbroken(asked, stall=None))]
        assert raised.value.reason == {"content_filter": "filtered"}.get(finish, "refused")
        assert len(asked.so_far) == 1


def test_a_source_that_stalls_is_closed() -> None:
    let_go = threading.Event()

    def stalls() -> Iterator[Any]:
        yield from events(TEXT[:30], None)
        let_go.wait(60)

    asked = Asked(stalls, events(TEXT[30:]))
    *_, value = jsonrill.values(jsonrill.unbroken(asked, stall=0.05))
    let_go.set()
    so_far = asked.so_far[1]
    assert value == VALUE and so_far is not None and so_far.reason == "stalled"


def test_an_async_source_that_stalls_is_closed() -> None:
    closed = []

    async def stalls() -> AsyncIterator[Any]:
        try:
            for event in events(TEXT[:30], None):
                yield event
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def ask(so_far: SoFar | None) -> Any:
        return stalls() if so_far is None else events(TEXT[30:])

    async def main() -> Any:
        values = jsonrill.values(jsonrill.unbroken(ask, stall=0.05))
        return [value async for value in values][-1]

    assert asyncio.run(main()) == VALUE and closed


def test_a_violation_goes_on_from_the_last_good_prefix() -> None:
    wrong = TEXT.replace("slow", "leisurely")
    asked = Asked(events(wrong), lambda: events(TEXT[TEXT.index('"pace"') - 2 :]))
    *_, trip = jsonrill.values(jsonrill.unbroken(asked, stall=None), Trip)
    assert trip == Trip(**VALUE)  # type: ignore[arg-type]
    so_far = asked.so_far[1]
    assert so_far is not None and (so_far.reason, so_far.text) == ("violation", '{"city": "Rome"')
    assert so_far.feedback is not None and '"fast", "slow"' in so_far.feedback
    told = so_far.messages("A trip to Rome", "openai")[-1]["content"]
    assert '"fast", "slow"' in told and "pace" in told


def test_the_error_of_the_last_attempt_is_raised() -> None:
    asked = Asked(*[lambda: broken(TEXT[:30])] * 5)
    with pytest.raises(ConnectionResetError):
        [*jsonrill.values(jsonrill.unbroken(asked, stall=None, backoff=0))]
    # The first one got on; the others began again and brought nothing new.
    assert len(asked.so_far) == 4
    asked = Asked(*[lambda: events("", "length")] * 5)
    with pytest.raises(jsonrill.Truncated) as raised:
        [*jsonrill.values(jsonrill.unbroken(asked, stall=None, attempts=2))]
    assert raised.value.reason == "length" and len(asked.so_far) == 2


def test_a_mistake_in_the_program_is_not_a_lost_connection() -> None:
    def ask(so_far: SoFar | None) -> Any:
        raise KeyError("model")

    with pytest.raises(KeyError):
        [*jsonrill.values(jsonrill.unbroken(ask))]


def test_a_request_that_is_refused_is_not_sent_again() -> None:
    class BadRequest(Exception):
        status_code = 400

    def ask(so_far: SoFar | None) -> Any:
        asked.append(so_far)
        raise BadRequest

    asked: list[Any] = []
    with pytest.raises(BadRequest):
        [*jsonrill.values(jsonrill.unbroken(ask))]
    assert len(asked) == 1


def test_a_budget_of_tokens() -> None:
    usage = {"completion_tokens": 60, "prompt_tokens": 5}
    asked = Asked(*([*events(TEXT[: 10 + at], "length"), chunk(usage=usage)] for at in range(9)))
    answer = jsonrill.Answer()
    with pytest.raises(jsonrill.Truncated):
        source = jsonrill.unbroken(asked, stall=None, budget=100, attempts=9)
        [*jsonrill.values(source, answer=answer)]
    assert len(asked.so_far) == 2
    assert answer.usage == {"completion_tokens": 120, "prompt_tokens": 10}


def test_an_answer_that_contradicts_is_a_revision_error() -> None:
    other = TEXT.replace("Rome", "Oslo")
    with pytest.raises(jsonrill.RevisionError) as raised:
        [*jsonrill.values(source(broken(TEXT[:30]), events(other)))]
    error = raised.value
    assert (error.path, error.written, error.now) == (("city",), "Rome", "Oslo")


def test_an_answer_whose_joint_is_not_certain_is_asked_for_again_as_a_whole() -> None:
    text = json.dumps({"a": "the the end"})
    cut = text.index("the end")
    asked = Asked([text[:cut]], ['the end"}'], [text])
    *_, value = jsonrill.values(jsonrill.unbroken(asked, stall=None, backoff=0))
    assert value == {"a": "the the end"}
    so_far = asked.so_far[-1]
    assert so_far is not None and so_far.reason == "unclear"
    assert "Write all of it again" in json.dumps(so_far.messages("Go", "openai"))


def test_a_number_that_was_cut_is_not_complete() -> None:
    for cut in (1, 3, 5, 6):
        *_, value = jsonrill.values(source(broken("123.45"[:cut]), events("123.45"[cut:])))
        assert value == 123.45, cut
    with pytest.raises(jsonrill.Truncated):
        # The number again, or more of its digits.
        [*jsonrill.values(source(broken("12"), *[events("123.45")] * 3))]


def test_a_number_before_the_break_stays_complete() -> None:
    value = {"m": [[0, 1], [0, 0]], "n": 12}
    text, short = json.dumps(value, indent=1), json.dumps(value)
    for cut in range(1, len(text)):
        for second in range(1, len(short), 7):
            reading = source(broken(text[:cut]), broken(short[:second]), *[events(short)] * 3)
            try:
                for shown in jsonrill.values(reading):
                    assert grows_into(shown, value), (cut, second)
            except jsonrill.Truncated:
                continue
            assert shown == value, (cut, second)
    for streams in (
        (broken("12345."), broken("12"), broken("12345.6"), events("78")),
        (broken("12345"), broken("1234"), events(".678")),
    ):
        *_, number = jsonrill.values(source(*streams))
        assert number == 12345.678


def test_an_answer_that_does_not_join_was_not_lost() -> None:
    asked = Asked(broken(TEXT[:25]), events("]" * 900), events(TEXT))
    *_, value = jsonrill.values(jsonrill.unbroken(asked, stall=None, backoff=0))
    assert value == VALUE
    assert [it and it.reason for it in asked.so_far] == [None, "lost", "unclear"]


def test_the_rest_of_a_text_may_begin_with_a_colon() -> None:
    cut = TEXT.index(":")
    assert [*jsonrill.values(source([TEXT[:cut]], [TEXT[cut:]]))][-1] == VALUE


# ---- a new start ----

OTHER = {**VALUE, "city": "Oslo"}


def contradicted(**options: Any) -> Any:
    """Breaks off, is contradicted, and begins again."""
    other = json.dumps(OTHER)
    return source(
        broken(TEXT[:30]), events(other), events(other), on_contradiction="restart", **options
    )


READERS: dict[str, Callable[..., Any]] = {
    "values": jsonrill.values,
    "updates": jsonrill.updates,
    "fields": lambda source, **options: jsonrill.fields(source, Trip, **options),
    "fragments": jsonrill.fragments,
    "select": lambda source, **options: jsonrill.select(source, "city", **options),
    "texts": lambda source, **options: jsonrill.texts(source, "city", **options),
    "content": jsonrill.content,
}


@pytest.mark.parametrize("name", READERS)
def test_a_new_start_is_told_and_then_read_on(name: str) -> None:
    read, reading, answer = READERS[name], contradicted(), jsonrill.Answer()
    before = []
    with pytest.raises(jsonrill.RevisionError) as raised:
        before += read(reading, answer=answer)
    assert (raised.value.path, raised.value.now) == (("city",), "Oslo")
    assert answer.breaks == ["lost", "contradiction"] and answer.text == ""
    again = [*read(reading, answer=answer)]
    assert answer.text == json.dumps(OTHER) and answer.breaks == []
    assert repr(again) == repr([*read(source(events(json.dumps(OTHER))))])


def test_a_new_start_is_told_of_an_async_source_too() -> None:
    streams = iter([broken(TEXT[:30]), *[events(json.dumps(OTHER))] * 2])

    async def ask(so_far: SoFar | None) -> Any:
        return next(streams)

    async def main() -> Any:
        reading = jsonrill.unbroken(ask, on_contradiction="restart")
        with pytest.raises(jsonrill.RevisionError):
            async for _ in jsonrill.values(reading):
                pass
        return [it async for it in jsonrill.values(reading)][-1]

    assert asyncio.run(main()) == OTHER


def test_parts_before_a_new_start_end_as_lost() -> None:
    parts = [*jsonrill.parts(contradicted())]
    ends = [part for part in parts if part.complete or part.error]
    assert [(it.index, it.complete, it.error is not None) for it in ends] == [
        (0, False, True),
        (1, True, False),
    ]
    assert json.loads(ends[1].text) == OTHER


def test_a_call_that_is_contradicted_begins_again() -> None:
    first, other = Call("plan", VALUE), Call("plan", OTHER)
    for provider in ("openai_chat", "anthropic"):
        whole = call_events(provider, first)
        reading = source(
            whole[: len(whole) // 2],
            *(call_events(provider, other) for _ in range(2)),
            on_contradiction="restart",
        )
        calls = jsonrill.ToolCalls()
        [*jsonrill.tool_calls(reading, calls=calls)]
        assert [call.status for call in calls.calls] == ["truncated", "complete"]
        assert calls.calls[-1].args == OTHER


def test_ask_learns_of_a_contradiction() -> None:
    asked = Asked(broken(TEXT[:30]), *[events(json.dumps(OTHER))] * 2)
    reading = jsonrill.unbroken(asked, stall=None, backoff=0, on_contradiction="restart")
    [*jsonrill.parts(reading)]
    so_far = asked.so_far[-1]
    assert so_far is not None and (so_far.reason, so_far.text) == ("contradiction", "")
    assert isinstance(so_far.error, jsonrill.RevisionError)
    assert so_far.messages("A trip", "openai") == [{"role": "user", "content": "A trip"}]


def test_another_process_goes_on_after_a_new_start() -> None:
    whole = [*contradicted()]
    other = json.dumps(OTHER)
    begun = next(at for at, it in enumerate(whole) if "path" in it.get("break", {}))
    for size in range(begun + 1, len(whole)):
        log = whole[:size]
        known = "".join(it.get("text", "") for it in log[begun:])
        rest = [*source(events(other[len(known) :]), before=log)]
        assert [*jsonrill.values([*whole[begun + 1 : size], *rest])][-1] == OTHER, size


def test_another_process_goes_on_from_the_log() -> None:
    whole = [*source(events(TEXT))]
    value = json.dumps({"n": 12, "m": [1, 2], "s": "end"})
    numbers = [*source(events(value))]
    for all_of_it, text in ((whole, TEXT), (numbers, value)):
        for size in range(1, len(all_of_it)):
            log = all_of_it[:size]
            known = "".join(it.get("text", "") for it in log)
            rest = source(events(text[len(known) :]), before=log)
            read = [*jsonrill.values([*log, *rest])]
            assert read[-1] == json.loads(text), size


def test_another_process_reads_the_log_whoever_it_asks() -> None:
    log = [*source(events(TEXT))][:3]
    rest = source(events(TEXT), provider="openai_chat", before=log)
    assert [*jsonrill.values([*log, *rest])][-1] == VALUE


def test_a_break_that_is_in_the_log_is_not_told_again() -> None:
    whole = [*source(broken(TEXT[:30]), events("never"), events(TEXT))]
    breaks = [at for at, it in enumerate(whole) if "break" in it]
    assert [whole[at]["break"]["reason"] for at in breaks] == ["lost", "unclear"]
    for count, at in enumerate(breaks, start=1):
        asked = Asked(events(TEXT))
        rest = [*jsonrill.unbroken(asked, stall=None, before=whole[: at + 1])]
        assert not any("break" in it for it in rest)
        so_far = asked.so_far[0]
        assert so_far is not None and so_far.attempts == count
        assert so_far.reason == whole[at]["break"]["reason"]
        assert [*jsonrill.values([*whole[: at + 1], *rest])][-1] == VALUE


def test_a_new_start_that_is_in_the_log_is_told_once() -> None:
    whole = [*contradicted()]
    begun = next(at for at, it in enumerate(whole) if "begins" in it)
    for size in (begun, begun + 1):
        asked = Asked(events(json.dumps(OTHER)))
        log = [*whole[:size], *jsonrill.unbroken(asked, stall=None, before=whole[:size])]
        assert [it for it in log if "break" in it or "begins" in it] == [
            it for it in whole if "break" in it or "begins" in it
        ]
        so_far = asked.so_far[0]
        assert so_far is not None and (so_far.reason, so_far.text) == ("contradiction", "")
        assert json.loads([*jsonrill.parts(log)][-1].text) == OTHER


@pytest.mark.parametrize("other", ["{", chunk("{"), 1], ids=["text", "provider", "number"])
def test_the_log_of_another_source_is_refused(other: Any) -> None:
    own = {"type": "progress", "done": 1}
    jsonrill.unbroken(Asked(), before=[own]).close()
    with pytest.raises(TypeError, match="before are events that unbroken has yielded, not"):
        jsonrill.unbroken(Asked(), before=[own, other])


# ---- tool calls ----


def call_events(provider: str, *calls: Call, cut: int | None = None) -> list[Any]:
    events = call_stream(provider, calls, size=5)
    return events if cut is None else events[:cut]


@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "anthropic"])
def test_the_arguments_of_a_call_go_on(provider: str) -> None:
    call = Call("plan", VALUE)
    whole = call_events(provider, call)
    for cut in range(1, len(whole)):
        last: dict[str, Any] = {}
        for update in jsonrill.tool_calls(source(whole[:cut], call_events(provider, call))):
            assert last.get(update.call.id) is None or grows_into(last[update.call.id], VALUE)
            last[update.call.id] = update.call.args
        assert [*last.values()] == [VALUE], cut
        assert update.call.status == "complete"


def test_a_call_that_was_complete_is_not_asked_for_again() -> None:
    first, second = Call("weather", {"city": "Rome"}), Call("weather", {"city": "Oslo"})
    whole = call_events("openai_chat", first, second)
    for cut in range(1, len(whole)):
        asked = Asked(whole[:cut], call_events("openai_chat", first, second))
        calls = jsonrill.ToolCalls()
        [*jsonrill.tool_calls(jsonrill.unbroken(asked, stall=None), calls=calls)]
        assert [call.args for call in calls.calls] == [{"city": "Rome"}, {"city": "Oslo"}], cut
        so_far = asked.so_far[1]
        assert so_far is not None
        if so_far.calls:
            told = json.dumps(so_far.messages("The weather?", "openai"))
            assert "do not make them again" in told and "Rome" in told


@pytest.mark.parametrize("provider", ["openai_chat", "anthropic"])
def test_an_agent_asks_on_in_the_form_of_the_provider(provider: str) -> None:
    whole = call_events(provider, Call("weather", {"city": "Rome"}))
    streams = iter([whole[:4], whole, events("Sunny.")])
    asked: list[Any] = []

    def ask(messages: list[Any]) -> Any:
        asked.append(messages)
        return jsonrill.unbroken(lambda so_far: next(streams), stall=None, backoff=0)

    agent = jsonrill.agent(ask, {"weather": lambda city: f"sun in {city}"}, messages=["?"])
    assert [*agent] and (agent.outcome, agent.text) == ("complete", "Sunny.")
    plain = jsonrill.agent(
        lambda messages: whole if len(messages) == 1 else events("Sunny."),
        {"weather": lambda city: f"sun in {city}"},
        messages=["?"],
    )
    assert [*plain] and asked[1] == ["?", *plain.messages()][: len(asked[1])]


def spoken(*texts: str, call: Call) -> list[Any]:
    """A text, a call, and another text that follows its result, as an agent's stream has them."""
    before, after = ([{"kind": "answer", "text": it} for it in text.split("|")] for text in texts)
    return [
        *before,
        {"kind": "answer", "call": {"id": "1", "index": 0, "name": call.name, "text": call.text}},
        {"kind": "answer", "call": {"id": "1", "index": 0, "complete": True}},
        {"kind": "answer", "id": "1", "result": "rain"},
        *after,
        {"kind": "answer", "finish": "complete"},
    ]


def test_a_text_that_follows_calls_is_not_lost() -> None:
    call = Call("weather", {"city": "Rome"})
    whole = spoken("Let me |look|.", "It rains| in |Rome.", call=call)
    for cut in range(1, len(whole) + 1):
        parts = jsonrill.Parts()
        for event in source(whole[:cut], whole):
            parts.feed(event)
        parts.flush()
        assert parts.text == "Let me look.It rains in Rome.", cut
        assert [(call.args, call.result) for call in parts.calls] == [({"city": "Rome"}, "rain")]


# ---- what the program learns ----


def so_far_of(cut: int, schema: Any = None) -> SoFar:
    asked = Asked(broken(TEXT[:cut]), events(TEXT[cut:]))
    [*jsonrill.values(jsonrill.unbroken(asked, stall=None), schema)]
    assert asked.so_far[1] is not None
    return asked.so_far[1]


def test_so_far() -> None:
    so_far = so_far_of(TEXT.index("Vat") + 2, Trip)
    assert so_far.text == TEXT[: TEXT.index("Vat") + 2]
    assert so_far.value == {"city": "Rome", "pace": "slow", "stops": ["the Forum", "the Va"]}
    assert so_far.open_path == ("stops", 1)
    assert so_far.complete == [("city",), ("pace",), ("stops", 0)]
    assert so_far.missing == [("stops",)]
    assert (so_far.reason, so_far.attempts, so_far.usage) == ("lost", 1, {})
    assert isinstance(so_far.error, ConnectionResetError)
    schema = so_far.missing_schema()
    assert schema is not None and [*schema["properties"]] == schema["required"] == ["stops"]


def test_messages() -> None:
    so_far = so_far_of(14)
    for provider in ("anthropic", "mistral", "ollama", "bedrock"):
        first, last = so_far.messages("A trip", provider)
        assert first["role"] == "user" and last["role"] == "assistant"
        assert TEXT[:14] in json.loads(json.dumps(last["content"])) or provider == "bedrock"
    for provider in ("openai", "openai_chat", "responses", "openai_responses", "gemini"):
        _, answered, asked = so_far.messages("A trip", provider)
        assert answered["role"] in ("assistant", "model") and asked["role"] == "user"
        assert "Continue it exactly where it ends" in json.dumps(asked)
    assert len(so_far.messages("A trip", "anthropic", prefill=False)) == 3
    with pytest.raises(ValueError, match="openai_chat"):
        so_far.messages("A trip", "nobody")


def test_the_fields_that_are_missing_are_those_of_an_object() -> None:
    for schema, rest, words in (
        (list[str], '["the |the end"]', "Write all of it again"),
        (dict[str, str], '{"a": "the |the end"}', "Write all of it again"),
        (Trip, '{"city": "the |the end", "pace": "slow", "stops": []}', "has only the fields"),
    ):
        first, second = rest.split("|")
        asked = Asked([first], [second], [first + second])
        [*jsonrill.values(jsonrill.unbroken(asked, stall=None, backoff=0), schema)]
        so_far = asked.so_far[-1]
        assert so_far is not None and so_far.reason == "unclear"
        assert words in so_far.messages("Go", "openai")[-1]["content"]


def test_white_space_that_a_prefill_must_not_end_with() -> None:
    text = json.dumps({"a": "one two three"})
    cut = text.index("two")

    def ask(so_far: SoFar | None) -> Any:
        if so_far is None:
            return broken(text[:cut])
        prefilled = so_far.messages("Go", "anthropic")[-1]["content"]
        assert not prefilled.endswith(" ")
        return events(text[len(prefilled) :])

    *_, value = jsonrill.values(jsonrill.unbroken(ask, stall=None))
    assert value == {"a": "one two three"}


# ---- the proof, in short; hard_unbroken.py has all of it ----


@pytest.mark.parametrize("tool", ["", "plan"])
def test_any_break_and_any_way_end_in_the_value_or_a_known_error(tool: str) -> None:
    right = 0
    for seed in range(150):
        right += ends_right(seed, tool)
    assert right >= 147


def ends_right(
    seed: int, tool: str = "", ways: tuple[Callable[[Model, str], str], ...] = ()
) -> bool:
    chance = random.Random(seed)
    value = document(chance)
    text = written(value, chance)
    model = Model(text, chance.randint(0, len(text)), chance, chance.randint(1, 3), tool)
    model.ways = ways or model.ways
    wanted: dict[str, Any] = {"tool": tool} if tool else {}
    try:
        for shown in jsonrill.values(jsonrill.unbroken(model, stall=None, backoff=0), **wanted):
            assert grows_into(shown, value)
    except (jsonrill.Truncated, ConnectionResetError):
        return False
    assert shown == value
    return True


def test_who_goes_on_at_the_character_pays_next_to_nothing_twice() -> None:
    paid = size = 0
    for seed in range(60):
        chance = random.Random(seed)
        text = written(document(chance), chance)
        model = Model(text, chance.randint(1, len(text)), chance, 2, ways=(goes_on,))
        try:
            [*jsonrill.values(jsonrill.unbroken(model, stall=None, backoff=0))]
        except jsonrill.Truncated:
            continue
        paid += model.written - len(text)
        size += len(text)
    assert paid <= 0.05 * size

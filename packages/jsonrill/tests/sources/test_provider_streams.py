"""Every function reads a provider's stream: the answer's text, or with `tool` the arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import jsonrill
from jsonrill import InvalidJSON, JsonrillError, Truncated
from jsonrill.errors import SourceFailed, UnknownSource
from support.streams import collect, sources

Source = Callable[[Iterable[Any]], Any]


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def call(index: int, arguments: str, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    named = {"id": f"call_{index}"} if name else {}
    return delta(tool_calls=[{"index": index, **named, "function": function}])


ENDED = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
ANSWER = [
    delta(role="assistant"),
    delta(content='{"a'),
    delta(content='": "x'),
    delta(content='y"}'),
]
CALLS = [
    call(0, "", "write"),
    call(0, '{"p":'),
    call(1, '{"q": "x', "write"),
    call(0, " 1}"),
    call(1, 'y"}'),
    call(2, '{"r": 0}', "other"),
    ENDED,
]


def as_sse(events: Iterable[Any]) -> bytes:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


# ---- the answer's text ----


def test_a_server_that_does_not_stream_is_read_at_once() -> None:
    message = {"role": "assistant", "content": '{"a": "xy"}', "reasoning_content": "hm"}
    answer = {
        "id": "c1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }
    assert list(jsonrill.values([answer])) == [{"a": "xy"}]
    texts = [(part.kind, part.text) for part in jsonrill.parts([answer]) if part.complete]
    assert texts == [("reasoning", "hm"), ("text", '{"a": "xy"}')]


@sources
def test_values_texts_fragments_and_updates_read_the_answer(source: Source) -> None:
    assert collect(jsonrill.values(source(ANSWER))) == ([{}, {"a": "x"}, {"a": "xy"}], None)
    assert collect(jsonrill.text(source(ANSWER), "a")) == (["x", "y"], None)
    text = ['{"a', '": "x', 'y"}']
    assert collect(jsonrill.fragments(source(ANSWER))) == collect(jsonrill.fragments(text))
    updates, error = collect(jsonrill.updates(source(ANSWER)))
    assert ([item.data for item in updates], error) == ([{"a": "x"}, {"a": "xy"}], None)
    assert collect(jsonrill.updates(source(ANSWER), every=60))[0][-1].data == {"a": "xy"}
    assert collect(jsonrill.content(source(ANSWER))) == (text, None)


def test_choice_selects_one_of_several_answers() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "[2]"}}]}
    assert list(jsonrill.values([*ANSWER, other], choice=1)) == [[2]]


def test_text_is_text_even_if_it_looks_like_an_event() -> None:
    line = json.dumps(ANSWER[1])
    assert list(jsonrill.values([line]))[-1] == ANSWER[1]


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\ndata: [DONE]\n\n"])
def test_an_event_stream_is_decoded_in_any_pieces(size: int, ending: bytes) -> None:
    """The last event counts without its blank line."""
    sent = as_sse(ANSWER).rstrip() + ending
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert list(jsonrill.values(pieces, sse=True))[-1] == {"a": "xy"}
    assert "".join(jsonrill.content(pieces)) == '{"a": "xy"}'


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_provider_that_is_named_reads_lines(size: int, ending: str) -> None:
    sent = "\n".join(json.dumps(event) for event in ANSWER) + ending
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    assert list(jsonrill.values(pieces, provider="openai_chat"))[-1] == {"a": "xy"}
    assert "".join(jsonrill.content(pieces)) == '{"a": "xy"}'


# ---- the arguments of calls ----


@sources
def test_each_call_is_a_document_and_the_later_one_waits(source: Source) -> None:
    expected = [{}, {"p": 1}, {"q": "x"}, {"q": "xy"}]
    assert collect(jsonrill.values(source(CALLS), tool="write")) == (expected, None)
    assert collect(jsonrill.values(source(CALLS), tool=True)) == ([*expected, {"r": 0}], None)
    updates, error = collect(jsonrill.updates(source(CALLS), "ONE-BY-ONE", tool="write"))
    assert ([item.data for item in updates], error) == ([{"p": 1}, {"q": "xy"}], None)


def test_the_later_call_does_not_wait_for_the_end_of_the_response() -> None:
    """OpenAI ends all calls together, but a document ends with its arguments."""
    read = []

    def events() -> Any:
        for event in CALLS:
            read.append(event)
            yield event

    for value in jsonrill.values(events(), tool=True):
        if value == {"q": "xy"}:
            break
    assert len(read) == 5


def test_a_field_is_read_from_the_first_call_and_the_source_is_closed() -> None:
    closed = []

    def events() -> Any:
        try:
            yield call(0, '{"q": "a', "write")
            yield call(0, 'b"}')
            yield call(1, '{"q": "no"}', "write")
            yield ENDED
            yield call(2, '{"q": "never"}', "write")
        finally:
            closed.append(True)

    assert list(jsonrill.text(events(), "q", tool="write")) == ["a", "b"]
    assert closed


def test_a_call_without_arguments_is_an_empty_object() -> None:
    events = [
        {"type": "message_start", "message": {"id": "m", "usage": {}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "now", "input": {}},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ]
    assert list(jsonrill.values(events, tool="now")) == [{}]


def test_a_call_that_is_not_json_does_not_become_several() -> None:
    broken = call(0, '{"a": oops,\n{"b": 1}\n', "write")
    values, error = collect(jsonrill.values([broken, call(1, "[1]", "write"), ENDED], tool="write"))
    assert (values, type(error)) == ([{}], InvalidJSON)
    assert "got 'o' at character 6" in str(error)


def test_a_separator_in_the_arguments_does_not_make_two_documents() -> None:
    values, error = collect(jsonrill.values([call(0, "[1]\x1e[2]", "write"), ENDED], tool="write"))
    assert (values, type(error)) == ([[1]], InvalidJSON)


def test_a_call_that_is_cut_off_is_an_error() -> None:
    cut = [call(0, '{"a": "x', "write")]
    assert collect(jsonrill.values(cut, tool="write"))[0] == [{"a": "x"}]
    assert type(collect(jsonrill.values(cut, tool="write"))[1]) is Truncated
    cut.append(call(1, '{"b": 1}', "write"))
    values, error = collect(jsonrill.values(cut, tool="write"))
    assert (values, type(error)) == ([{"a": "x"}], Truncated)


def test_text_after_complete_arguments_is_an_error() -> None:
    late = [call(0, "[0]", "write"), call(0, "junk"), ENDED]
    values, error = collect(jsonrill.values(late, tool="write"))
    assert (values, type(error)) == ([[0]], InvalidJSON)
    late.insert(1, call(1, "[1]", "write"))
    values, error = collect(jsonrill.values(late, tool="write"))
    assert (values, type(error)) == ([[0], [1]], SourceFailed)


# ---- silence is a defect ----


@sources
def test_the_error_describes_an_unrecognised_source(source: Source) -> None:
    for count in (1, 31):
        values, error = collect(jsonrill.values(source([{"foo": 1, "bar": 2}] * count)))
        assert values == [] and type(error) is UnknownSource
        assert "dict with foo, bar" in str(error) and "provider" in str(error)
    assert isinstance(error, JsonrillError) and isinstance(error, TypeError)


def test_after_32_unknown_elements_the_source_is_closed() -> None:
    read = []

    def events() -> Any:
        for number in range(100):
            read.append(number)
            yield {"number": number}

    _, error = collect(jsonrill.updates(events()))
    assert type(error) is UnknownSource and len(read) == 32


def test_unknown_elements_before_a_known_one_are_accepted() -> None:
    assert list(jsonrill.values([{"hello": 1}] * 31 + ANSWER))[-1] == {"a": "xy"}


def test_a_provider_that_is_named_wrongly_is_noticed() -> None:
    _, error = collect(jsonrill.values(ANSWER, provider="bedrock"))
    assert type(error) is UnknownSource


@sources
def test_an_error_of_the_provider_is_raised(source: Source) -> None:
    events = [*ANSWER[:3], {"error": {"message": "Overloaded"}}]
    values, error = collect(jsonrill.values(source(events)))
    assert (values, type(error)) == ([{}, {"a": "x"}], SourceFailed)
    assert "Overloaded" in str(error)

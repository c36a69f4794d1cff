"""The fifteen jobs of docs/ten-jobs.md, each with every provider and every end of an answer.

An answer is complete, cut at the token limit, filtered, refused, lost on the way, or wrong. What is
good has been yielded, and the message is one that a person wants to read.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Literal, NamedTuple, cast

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessageChunk
from pydantic import BaseModel

import jsonrill
from jsonrill import InvalidJSON, InvalidSchema, JsonrillError, Truncated, feedback, is_partial
from jsonrill.errors import CUTS
from jsonrill.ext.langchain import JsonOutputParser
from support import cases
from support.streams import collect

BEGUN = '{"title": "Ti'


class Stop(BaseModel):
    name: str
    nights: int


class Trip(BaseModel):
    title: str
    pace: Literal["slow", "fast"] = "slow"
    stops: list[Stop] = []


TRIP = '{"title": "Tide", "stops": [{"name": "Ostia", "nights": 2}]}'
WRONG = '{"title": "Tide", "pace": "leisurely", "stops": []}'
COMPLETE = Trip.model_validate_json(TRIP)
MESSAGE_WRONG = (
    'no allowed value begins with "l": allowed are "fast", "slow" (literal_error)'
    " at character 26, in root.pace"
)
MESSAGE_CUT = "expected the end of the string but the text ended at character 13, in root.title"


class End(NamedTuple):
    """An answer of one provider, and how it ended."""

    events: list[Any]
    reason: str
    # What the message adds to the reason.
    detail: str = ""

    @property
    def message(self) -> str:
        return CUTS[self.reason] + self.detail


def written(events: list[Any], text: str) -> list[Any]:
    """These events with another text."""
    return cast(
        "list[Any]", json.loads(json.dumps(events).replace(json.dumps(BEGUN)[1:-1], quoted(text)))
    )


def quoted(text: str) -> str:
    return json.dumps(text)[1:-1]


def ends() -> Iterator[Any]:
    """Of each provider one answer for each end that it has words for."""
    for case in cases("finish_reasons.json")["cases"]:
        name, before = case["name"], case["before"]
        if not before or "refusal" in name or quoted(BEGUN) not in json.dumps(before):
            continue
        words = {reason: word for word, reason in case["words"].items()}
        for reason, word in words.items():
            last = json.loads(json.dumps(case["end"]).replace("$WORD", word))
            if reason == "complete":
                yield pytest.param(
                    End([*written(before, TRIP), *last], reason), id=f"{name}-complete"
                )
                yield pytest.param(
                    End([*written(before, WRONG), *last], "wrong"), id=f"{name}-wrong"
                )
            elif reason in CUTS:
                detail = ": so it is" if "so it is" in json.dumps(last) else ""
                yield pytest.param(End([*before, *last], reason, detail), id=f"{name}-{reason}")
        # (Its text comes complete.)
        if name != "claude_code, its result":
            yield pytest.param(End([*before], "lost"), id=f"{name}-broken-off")


ENDS = [*ends()]
every_end = pytest.mark.parametrize("end", ENDS)


async def later(items: Iterable[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


def as_text(events: list[Any]) -> list[bytes]:
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


# ---- jobs that raise: 1 to 3, 5, and 7 to 10 ----

RAISING: dict[str, tuple[Callable[[list[Any]], Any], Any, Any]] = {
    "1. a typed object": (lambda it: jsonrill.values(it, Trip), COMPLETE, "Ti"),
    "2. each field": (
        lambda it: jsonrill.fields(it, Trip),
        ("stops", COMPLETE.stops),
        None,
    ),
    "3. one text field": (lambda it: jsonrill.text(it, "title", read_all=True), "Tide", "Ti"),
    "5. the elements": (lambda it: jsonrill.select(it, "stops", Stop), COMPLETE.stops[0], None),
    "8. a response": (lambda it: jsonrill.values(as_text(it), Trip, sse=True), COMPLETE, "Ti"),
    "9. an async stream": (lambda it: jsonrill.values(later(it), Trip), COMPLETE, "Ti"),
    "10. cut, with repair": (lambda it: jsonrill.values(it, Trip, repair=True), COMPLETE, "Ti"),
}


@every_end
def test_jobs_that_raise(end: End) -> None:
    for job in RAISING:
        check_job_that_raises(job, end)


def check_job_that_raises(job: str, end: End) -> None:
    read, complete, begun = RAISING[job]
    items, error = collect(read(end.events))
    if end.reason == "complete":
        assert error is None and items[-1] == complete
        return
    if end.reason == "wrong":
        check_wrong(job, items, error)
        return
    assert isinstance(error, Truncated) and error.reason == end.reason
    assert str(error) == f"{end.message}; {MESSAGE_CUT}"
    assert error.text == BEGUN and feedback(error).startswith("Your answer was not accepted: ")
    if begun is None:
        assert items == []
    elif job.startswith("3."):
        assert "".join(items) == begun and error.value == {"title": "Ti"}
    else:
        assert is_partial(error.value) and isinstance(error.value, Trip)
        assert error.value == items[-1] and error.value.title == begun


def check_wrong(job: str, items: list[Any], error: Any) -> None:
    """A value that is not allowed: jobs without a schema for it do not see it."""
    if job.startswith("3."):
        assert error is None and "".join(items) == "Tide"
    elif job.startswith("5."):
        assert error is None and items == []
    else:
        assert isinstance(error, InvalidSchema) and error.path == ("pace",)
        assert str(error) == MESSAGE_WRONG
        assert items[-1] in (("title", "Tide"), error.value)
        assert 'allowed are "fast", "slow"' in feedback(error)


# ---- jobs that tell it in what they yield: 11 and 12 ----


@every_end
def test_11_updates_for_a_screen(end: End) -> None:
    updates, error = collect(jsonrill.updates(end.events, schema=Trip))
    last = updates[-1]
    assert error is None
    if end.reason == "complete":
        assert (last.status, last.model) == ("COMPLETED", COMPLETE)
    elif end.reason == "wrong":
        assert (last.status, last.error["code"]) == ("ERROR", "INVALID_SCHEMA")
        assert last.error["message"] == MESSAGE_WRONG
    else:
        assert (last.status, last.error["reason"]) == ("ERROR", end.reason)
        assert last.error["message"] == f"{end.message}; {MESSAGE_CUT}"
        assert last.data == {"title": "Ti"}


@every_end
def test_12_the_parts_of_an_answer(end: End) -> None:
    if any(event.get("type") == "result" for event in end.events):
        return  # of Claude Code: its messages have ended before it says how all of it ended
    parts, error = collect(jsonrill.parts(end.events))
    text = [part for part in parts if part.kind == "text"]
    assert error is None
    if end.reason in ("complete", "wrong"):
        assert text[-1].complete and text[-1].error is None
        assert text[-1].text == (TRIP if end.reason == "complete" else WRONG)
    else:
        assert not text[-1].complete and text[-1].error == end.message
        assert text[-1].text == BEGUN


# ---- 4 and 13: tools ----


def called(arguments: str, reason: str | None) -> dict[str, list[Any]]:
    """A call as some providers stream it."""
    function = {"name": "plan", "arguments": arguments}
    delta = {"tool_calls": [{"index": 0, "id": "1", "function": function}]}
    block = {"type": "tool_use", "id": "1", "name": "plan", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": arguments}
    chat = [{"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}]
    claude: list[Any] = [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": piece},
    ]
    bedrock: list[Any] = [
        {"messageStart": {"role": "assistant"}},
        {
            "contentBlockStart": {
                "contentBlockIndex": 0,
                "start": {"toolUse": {"toolUseId": "1", "name": "plan"}},
            }
        },
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": arguments}}}},
    ]
    if reason is not None:
        chat += [{"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
        claude += [
            {"type": "message_delta", "delta": {"stop_reason": reason}},
            {"type": "message_stop"},
        ]
        bedrock += [{"messageStop": {"stopReason": reason}}]
    return {"openai_chat": chat, "anthropic": claude, "bedrock": bedrock}


TOOL_ENDS = [
    (TRIP, "tool_use", "complete"),
    (BEGUN, "length", "length"),
    (BEGUN, "content_filter", "filtered"),
    (BEGUN, "refusal", "refused"),
    (BEGUN, None, "lost"),
    (WRONG, "tool_use", "wrong"),
]


@pytest.mark.parametrize("provider", called("", None))
@pytest.mark.parametrize(("text", "word", "reason"), TOOL_ENDS, ids=[it[2] for it in TOOL_ENDS])
def test_4_and_13_tools(provider: str, text: str, word: str | None, reason: str) -> None:
    events = called(text, word)[provider]
    values, error = collect(jsonrill.values(events, Trip, tool="plan"))
    started: list[Any] = []

    def plan(title: str, pace: Literal["slow", "fast"] = "slow", stops: Any = ()) -> str:
        started.append(title)
        return "done"

    parts, failure = collect(jsonrill.run_tools(events, {"plan": plan}))
    [call] = {part.call.id: part.call for part in parts if part.call}.values()
    assert failure is None
    if reason == "complete":
        assert error is None and values[-1] == COMPLETE and started == ["Tide"]
    elif reason == "wrong":
        assert isinstance(error, InvalidSchema) and str(error) == MESSAGE_WRONG and started == []
        assert "pace" in next(part.error for part in parts if part.kind == "result")
    else:
        assert isinstance(error, Truncated) and error.reason == reason
        assert str(error).startswith(CUTS[reason]) and cast(Any, error.value).title == "Ti"
        assert call.status == "truncated" and started == []


# ---- 6: a chain of LangChain ----


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        (TRIP, "stop", None),
        (BEGUN, "length", CUTS["length"]),
        (BEGUN, "content_filter", CUTS["filtered"]),
        (BEGUN, "refusal", CUTS["refused"]),
        (BEGUN, None, CUTS["lost"]),
        (WRONG, "stop", MESSAGE_WRONG),
    ],
    ids=["complete", "length", "filtered", "refused", "lost", "wrong"],
)
def test_6_a_langchain_chain(text: str, word: str | None, message: str | None) -> None:
    metadata = {} if word is None else {"finish_reason": word}
    chunks = [AIMessageChunk(content=text), AIMessageChunk(content="", response_metadata=metadata)]
    parser = JsonOutputParser(pydantic_object=Trip, typed=True)
    values, error = collect(parser.transform(iter(chunks)))
    if message is None:
        assert error is None and values[-1] == COMPLETE
    else:
        assert isinstance(error, OutputParserException) and message in str(error)
        assert isinstance(error.__cause__, JsonrillError) and values[-1].title.startswith("Ti")


# ---- 14: ask again ----


@every_end
def test_14_ask_again(end: End) -> None:
    """What is sent back says what was wrong, and quotes what was good."""
    _, error = collect(jsonrill.values(end.events, Trip))
    if end.reason == "complete":
        assert error is None
        return
    assert isinstance(error, JsonrillError)
    first, good, *rest = feedback(error).split("\n")
    message = MESSAGE_WRONG if end.reason == "wrong" else end.message
    assert message in first and good == "Up to there it was good:"
    assert rest[0] == (WRONG[:26] if end.reason == "wrong" else BEGUN)
    assert "repair" not in feedback(error) and "limits" not in feedback(error)


# ---- 15: a whole text, and a file ----


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (TRIP, None, ""),
        (f"```json\n{TRIP[:-1]},}}\n```", None, ""),
        (BEGUN, Truncated, MESSAGE_CUT),
        (WRONG, InvalidSchema, MESSAGE_WRONG),
        ("I cannot help.", InvalidJSON, "the answer is text, not JSON: 'I cannot help.'"),
    ],
    ids=["complete", "nearly JSON", "cut", "wrong", "refused"],
)
def test_15_a_whole_text(text: str, kind: type[JsonrillError] | None, message: str) -> None:
    if kind is None:
        assert jsonrill.loads(text, Trip, repair=True) == COMPLETE
        return
    with pytest.raises(kind) as caught:
        jsonrill.loads(text, Trip, repair=True)
    assert str(caught.value) == message and type(caught.value) is kind
    assert caught.value.text == text


def test_5_a_large_file() -> None:
    whole = io.BytesIO(TRIP.encode())
    assert collect(jsonrill.select(whole, "stops", Stop)) == (COMPLETE.stops, None)
    stops, error = collect(jsonrill.select(io.BytesIO(TRIP[:-2].encode()), "stops", Stop))
    assert stops == COMPLETE.stops and isinstance(error, Truncated) and error.reason == "ended"
    wrong = TRIP.replace("2}", '2}, {"name": 5}').encode()
    stops, error = collect(jsonrill.select(io.BytesIO(wrong), "stops", Stop))
    assert stops == COMPLETE.stops and isinstance(error, InvalidSchema)
    assert error.path == ("stops", 1, "name")


def test_every_provider_has_ends() -> None:
    names = {str(param.id) for param in ENDS}
    for reason in ("complete", "length", "filtered", "refused", "lost", "wrong"):
        assert sum(name.endswith(f"-{reason}") for name in names) >= 5, reason

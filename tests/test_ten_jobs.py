"""The jobs of docs/ten-jobs.md: how long their programs are, and what bad input does to them.

The page itself is run by test_docs.py. Here the providers' own clients read bad answers: the error
is clear, and nothing that was valid before it is lost.
"""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, cast

import pytest
from anthropic import AsyncAnthropic
from google import genai
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import GenericFakeChatModel
from openai import APIError, OpenAI
from pydantic import BaseModel

import jsonrill
from jsonrill import FieldNotFound, InvalidJSON, InvalidSchema, Truncated, UnknownSource
from jsonrill.ext.langchain import JsonOutputParser
from jsonrill.testing import Call, Cut, FakeAnswer, Script, Upstream
from support import ROOT
from support.markdown import read

PAGE = (ROOT / "docs" / "ten-jobs.md").read_text("utf8")
ROW = re.compile(r"\| \[(\d+)\. .*?\) \| (\d+) \| .*? \| (\d+) \|")


class Stop(BaseModel):
    name: str
    nights: int


class Trip(BaseModel):
    city: str
    start: date
    stops: list[Stop]


TRIP = '{"city": "Rome", "start": "2026-05-01", "stops": [{"name": "Ostia", "nights": 2}]}'
ASK: Any = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("job, ours, usual", ROW.findall(PAGE))
def test_the_page_counts_its_lines_rightly(job: str, ours: str, usual: str) -> None:
    """The program of each job, and the usual one, are as long as the table says."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)[int(job)]
    assert section.startswith(f"{job}. ")
    halves = section.split("The usual way:")
    longest = [
        max(
            sum(bool(line.strip()) for line in block.text.splitlines())
            for block in read(half).blocks
            if block.language == "python"
        )
        for half in halves
    ]
    assert longest == [int(ours), int(usual)]


def test_the_page_has_fifteen_jobs() -> None:
    assert [job for job, *_ in ROW.findall(PAGE)] == [str(job) for job in range(1, 16)]


# Each job reads an answer of an upstream to its end, and notes what it was given on the way.
Job = Callable[[str, list[Any]], None]


def _openai(url: str) -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)


def keep(iterator: Iterator[Any], got: list[Any]) -> None:
    for one in iterator:
        got.append(one)


def chat_values(url: str, got: list[Any]) -> None:
    with _openai(url) as client:
        stream = client.chat.completions.create(model="any", messages=ASK, stream=True)
        keep(jsonrill.values(stream, Trip), got)


def chat_fields(url: str, got: list[Any]) -> None:
    with _openai(url) as client:
        stream = client.chat.completions.create(model="any", messages=ASK, stream=True)
        keep(jsonrill.fields(stream, Trip), got)


def chat_text(url: str, got: list[Any]) -> None:
    with _openai(url) as client:
        stream = client.chat.completions.create(model="any", messages=ASK, stream=True)
        keep(jsonrill.text(stream, "city"), got)


def chat_stops(url: str, got: list[Any]) -> None:
    with _openai(url) as client:
        stream = client.chat.completions.create(model="any", messages=ASK, stream=True)
        keep(jsonrill.select(stream, "stops[*]", Stop), got)


def chat_tool(url: str, got: list[Any]) -> None:
    with _openai(url) as client:
        stream = client.chat.completions.create(model="any", messages=ASK, stream=True)
        keep(jsonrill.values(stream, Trip, tool="plan"), got)


def gemini(url: str, got: list[Any]) -> None:
    client = genai.Client(api_key="none", http_options={"base_url": url})
    try:
        stream = client.models.generate_content_stream(model="any", contents="hello")
        keep(jsonrill.values(stream, Trip), got)
    finally:
        client.close()


def anthropic(url: str, got: list[Any]) -> None:
    async def run() -> None:
        async with AsyncAnthropic(base_url=url, api_key="none", max_retries=0) as client:
            stream = await client.messages.create(
                model="any", max_tokens=500, messages=ASK, stream=True
            )
            async for trip in jsonrill.values(stream, Trip):
                got.append(trip)

    asyncio.run(run())


def response(url: str, got: list[Any]) -> None:
    with urllib.request.urlopen(url) as opened:
        keep(jsonrill.values(opened, Trip), got)


TYPED: list[Job] = [chat_values, gemini, anthropic]
every_typed = pytest.mark.parametrize("job", TYPED, ids=lambda job: job.__name__)


def run(job: Job, reply: Any) -> tuple[list[Any], Exception | None, Upstream]:
    """What the job was given, the error that ended it, and the upstream."""
    got: list[Any] = []
    with Upstream(reply) as upstream:
        try:
            job(upstream.url, got)
        except Exception as error:
            return got, error, upstream
    return got, None, upstream


def answer(text: str = TRIP, **how: Any) -> FakeAnswer:
    return FakeAnswer(text, pace=0.001, **how)


@every_typed
def test_a_typed_object(job: Job) -> None:
    got, error, _ = run(job, answer())
    assert error is None
    assert got[-1] == Trip.model_validate_json(TRIP)
    assert all(jsonrill.is_partial(one) for one in got[:-1])


@every_typed
@pytest.mark.parametrize(
    "text, kind, path, offset",
    [
        (f"Sure: {TRIP}", InvalidJSON, (), 0),
        (TRIP.replace("2026-05-01", "soon"), InvalidSchema, ("start",), 26),
        (TRIP.replace("2}", '"two"}'), InvalidSchema, ("stops", 0, "nights"), 78),
        (TRIP.replace('"start"', "start"), InvalidJSON, (), 17),
        (TRIP.replace('"start"', '"begin"'), InvalidSchema, (), 0),
    ],
    ids=["prose", "date", "number", "no-json", "missing"],
)
def test_a_bad_answer_stops_where_it_is_wrong(
    job: Job, text: str, kind: type[Any], path: Any, offset: int
) -> None:
    """The error has its place and the last good value, which is the last that was yielded."""
    got, error, _ = run(job, answer(text))
    assert isinstance(error, kind)
    assert (error.path, error.offset) == (path, offset)
    assert error.value == (got[-1] if got else None)
    assert not got or got[-1].city == "Rome"


@every_typed
@pytest.mark.parametrize("ending", ["length", "cut"])
def test_a_cut_off_answer_leaves_its_best_typed_value(job: Job, ending: str) -> None:
    got, error, _ = run(job, answer(ending=ending, after=16))
    assert isinstance(error, Truncated)
    assert error.value == got[-1]
    assert jsonrill.is_partial(error.value)
    best = cast(Trip, error.value)
    assert (best.city, best.start) == ("Rome", date(2026, 5, 1))
    assert best.stops[0].name == "Osti"


@every_typed
@pytest.mark.parametrize("ending", ["reset", "error"])
def test_a_failure_of_the_provider_is_no_end_of_the_answer(job: Job, ending: str) -> None:
    got, error, _ = run(job, answer(ending=ending, after=16))
    assert error is not None
    assert not isinstance(error, InvalidJSON | InvalidSchema)
    assert all(jsonrill.is_partial(one) for one in got)
    # A reset takes with it what the client had not read yet.
    if ending == "error":
        assert got[-1].stops[0].name == "Osti"


@every_typed
def test_the_provider_stops_at_the_first_wrong_character(job: Job) -> None:
    long = TRIP.replace("2026-05-01", "soon").replace("Ostia", "Ostia " * 500)
    _, error, upstream = run(job, FakeAnswer(long, pace=0.005))
    assert isinstance(error, InvalidSchema)
    assert upstream.tokens < 100


@every_typed
def test_an_answer_that_only_calls_tools_names_the_remedy(job: Job) -> None:
    _, error, _ = run(job, answer("", calls=[Call("plan", json.loads(TRIP))]))
    assert isinstance(error, UnknownSource)
    assert "tool='plan'" in str(error)


def test_fields_before_an_error_are_yielded() -> None:
    got, error, _ = run(chat_fields, answer(TRIP.replace("2}", '"two"}')))
    assert got == [("city", "Rome"), ("start", date(2026, 5, 1))]
    assert isinstance(error, InvalidSchema)


@pytest.mark.parametrize("city, why", [("null", "string"), (None, "city")])
def test_a_text_that_never_comes_is_an_error(city: str | None, why: str) -> None:
    text = "{}" if city is None else f'{{"city": {city}}}'
    got, error, _ = run(chat_text, answer(text))
    assert got == []
    assert isinstance(error, FieldNotFound)
    assert why in str(error)


def test_a_text_that_is_cut_off_has_been_yielded() -> None:
    got, error, _ = run(chat_text, answer(ending="length", after=3))
    assert ("".join(got), type(error)) == ("Ro", Truncated)


def test_elements_before_a_bad_one_are_yielded() -> None:
    bad = TRIP.replace("}]", '}, {"name": 5}]')
    got, error, _ = run(chat_stops, answer(bad))
    assert got == [Stop(name="Ostia", nights=2)]
    assert isinstance(error, InvalidSchema)
    assert error.path == ("stops", 1, "name")


def test_the_arguments_of_one_tool() -> None:
    calls = [Call("weather", {"city": "Rome"}), Call("plan", TRIP)]
    got, error, _ = run(chat_tool, answer("", calls=calls))
    assert (got[-1], error) == (Trip.model_validate_json(TRIP), None)


@pytest.mark.parametrize(
    "arguments, how, kind",
    [
        (TRIP, {"ending": "length", "after": 16}, Truncated),
        (TRIP.replace('"start"', "start"), {}, InvalidJSON),
        (TRIP.replace("2026-05-01", "soon"), {}, InvalidSchema),
    ],
    ids=["cut-off", "no-json", "date"],
)
def test_bad_arguments_leave_their_best_typed_value(
    arguments: str, how: dict[str, Any], kind: type[Any]
) -> None:
    got, error, _ = run(chat_tool, answer("", calls=[Call("plan", arguments)], **how))
    assert isinstance(error, kind)
    assert error.value == got[-1]
    assert error.value.city == "Rome"


def test_a_tool_that_is_not_called_is_an_error() -> None:
    _, error, _ = run(chat_tool, answer("", calls=[Call("weather", {"city": "Rome"})]))
    assert isinstance(error, UnknownSource)
    assert "weather" in str(error)


@pytest.mark.parametrize(
    "steps, kind",
    [
        ([b"<html>Bad gateway</html>"], InvalidJSON),
        ([TRIP[:60].encode(), Cut.CLOSE], OSError),
        ([TRIP[:60].encode()], Truncated),
        ([TRIP.encode("utf-16")], InvalidJSON),
    ],
    ids=["html", "closed", "short", "utf-16"],
)
def test_a_bad_response(steps: list[Any], kind: type[Any]) -> None:
    from http.client import HTTPException

    got, error, _ = run(response, Script(steps))
    assert isinstance(error, HTTPException if kind is OSError else kind)
    assert not got or got[-1].city == "Rome"


@pytest.mark.parametrize("text", [TRIP[:60], TRIP.replace("2}", '"two"}')])
def test_a_bad_answer_in_a_chain(text: str) -> None:
    """LangChain's exception, caused by ours; what was valid has passed the chain."""
    chain = GenericFakeChatModel(messages=iter([text])) | JsonOutputParser(
        pydantic_object=Trip, typed=True
    )
    got: list[Any] = []
    with pytest.raises(OutputParserException) as caught:
        keep(chain.stream("hello"), got)
    assert isinstance(caught.value.__cause__, Truncated | InvalidSchema)
    assert got[-1].city == "Rome"


def test_a_large_file_that_is_cut_off_yields_its_elements(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text('{"results": [' + '{"name": "x", "nights": 1}, ' * 20_000)
    got: list[Any] = []
    with file.open("rb") as opened, pytest.raises(Truncated):
        keep(jsonrill.select(opened, "results[*]", Stop), got)
    assert len(got) == 20_000


def _complete(url: str) -> list[Callable[[], Any]]:
    client = _openai(url)
    return [
        lambda: client.chat.completions.create(model="any", messages=ASK),
        lambda: client.responses.create(model="any", input="hello"),
        lambda: client.chat.completions.create(model="any", messages=ASK).model_dump(),
        lambda: {"type": "message", "role": "assistant", "content": [{"type": "text"}]},
    ]


@pytest.mark.parametrize("number", range(4))
def test_an_answer_without_a_stream_names_the_remedy(number: int) -> None:
    with Upstream(answer()) as upstream:
        ask = _complete(upstream.url)[number]
        with pytest.raises(TypeError, match="stream=True"):
            jsonrill.values(ask(), Trip)


def test_an_error_of_the_client_passes_through() -> None:
    _, error, _ = run(chat_values, FakeAnswer(status=429))
    assert isinstance(error, APIError)


@pytest.mark.parametrize(
    "use, kind, remedy",
    [
        (lambda: cast(Any, jsonrill.updates)(TRIP, Trip), TypeError, "schema=Trip"),
        (
            lambda: jsonrill.text(TRIP, "stops[*].name"),
            ValueError,
            "use texts(source, ",
        ),
        (lambda: jsonrill.text(TRIP, "/city"), ValueError, "days[0].title"),
        (lambda: jsonrill.text(TRIP, "$.city"), ValueError, "leave out `$.`"),
        (lambda: jsonrill.select(TRIP, "stops[]"), ValueError, "[*]"),
    ],
)
def test_wrong_use_names_the_remedy(use: Callable[[], Any], kind: type[Any], remedy: str) -> None:
    with pytest.raises(kind) as caught:
        use()
    assert remedy in str(caught.value)


def test_a_choice_that_has_no_text_is_an_error() -> None:
    """Unless the answer is empty, in which case the text is."""
    chunk = {"choices": [{"index": 0, "delta": {"content": TRIP}}]}
    with pytest.raises(UnknownSource, match="choice 1 has no text, but choice 0 has"):
        keep(jsonrill.values([chunk], Trip, choice=1), [])
    both = [chunk, {"choices": [{"index": 1, "delta": {"content": TRIP}}]}]
    assert [*jsonrill.values(both, choice=1)] == [json.loads(TRIP)]
    assert [*jsonrill.content([chunk], choice=1)] == []

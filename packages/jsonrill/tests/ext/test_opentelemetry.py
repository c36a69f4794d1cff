"""Spans of answers, agents and tools, as the real SDK exports them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from time import time_ns
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from pydantic import BaseModel

import jsonrill
from jsonrill.ext.opentelemetry import Tracing
from jsonrill.testing import Call, FakeAnswer

SECRET = "Xanadu"


class Telemetry:
    """A tracer and a meter of this test alone, and what they have exported."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._reader = InMemoryMetricReader()
        self.meters = MeterProvider([self._reader])

    def tracing(self, **options: Any) -> Tracing:
        own: dict[str, Any] = {"tracer_provider": self.tracers, "meter_provider": self.meters}
        return Tracing(provider="openai", model="m", **own, **options)

    def spans(self, name: str = "") -> list[ReadableSpan]:
        return [it for it in self._exporter.get_finished_spans() if it.name.startswith(name)]

    def one(self, name: str = "chat") -> ReadableSpan:
        (span,) = self.spans(name)
        return span

    def histograms(self) -> dict[str, int]:
        """How often each was recorded."""
        data = json.loads(self._reader.get_metrics_data().to_json())  # type: ignore[union-attr]
        scopes = [it for each in data["resource_metrics"] for it in each["scope_metrics"]]
        return {
            metric["name"]: sum(point["count"] for point in metric["data"]["data_points"])
            for scope in scopes
            for metric in scope["metrics"]
        }

    def exported(self) -> str:
        return "".join(span.to_json() for span in self.spans())


@pytest.fixture
def telemetry() -> Iterator[Telemetry]:
    own = Telemetry()
    yield own
    own.tracers.shutdown()
    own.meters.shutdown()


def sent(answer: FakeAnswer, target: str = "/chat/completions") -> Iterator[bytes]:
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    steps = answer.script(target, asked).steps
    return iter([step for step in steps if isinstance(step, bytes)])


async def later(pieces: Iterator[Any]) -> AsyncIterator[Any]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def lasted(span: ReadableSpan) -> tuple[int, int]:
    assert span.start_time is not None and span.end_time is not None
    return span.start_time, span.end_time


class Trip(BaseModel):
    city: str
    days: list[dict[str, str]] = []


TEXT = f'{{"city": "{SECRET}", "days": [{{"title": "a long first day"}}]}}'
FIELDS = ("city", "days[0].title", "never")


def read(tracing: Tracing, *, schema: Any, asynchronous: bool) -> list[Any]:
    answer = jsonrill.Answer()
    source = sent(FakeAnswer(TEXT, pace=0))
    if not asynchronous:
        return list(tracing(jsonrill.values(source, schema, sse=True, answer=answer), answer))

    async def run() -> list[Any]:
        stream = jsonrill.values(later(source), schema, sse=True, answer=answer)
        return [item async for item in tracing(stream, answer)]

    return asyncio.run(run())


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("schema", [None, Trip])
def test_values_have_one_span(telemetry: Telemetry, schema: Any, asynchronous: bool) -> None:
    items = read(telemetry.tracing(fields=FIELDS), schema=schema, asynchronous=asynchronous)
    span = telemetry.one()
    named = attributes(span)
    assert (span.name, span.kind, span.status.status_code) == (
        "chat m",
        SpanKind.CLIENT,
        StatusCode.UNSET,
    )
    assert named["gen_ai.operation.name"] == "chat"
    assert named["gen_ai.provider.name"] == "openai"
    assert named["gen_ai.request.model"] == "m"
    assert named["gen_ai.request.stream"] is True
    assert named["gen_ai.response.finish_reasons"] == ("stop",)
    assert named["gen_ai.usage.input_tokens"] == 1
    assert named["gen_ai.usage.output_tokens"] > 1
    assert named["jsonrill.output_chunks"] == len(items)
    first = named["gen_ai.response.time_to_first_chunk"]
    city, title = (named[f"jsonrill.time_to_field.{name}"] for name in FIELDS[:2])
    assert 0 < first <= city < title
    assert title * 1e9 <= span.end_time - span.start_time  # type: ignore[operator]
    assert named["jsonrill.time_per_output_chunk"] > 0
    assert "jsonrill.time_to_field.never" not in named
    assert not span.events
    assert telemetry.histograms() == {
        "gen_ai.client.operation.time_to_first_chunk": 1,
        "gen_ai.client.operation.time_per_output_chunk": len(items) - 1,
    }
    assert SECRET not in telemetry.exported()


def weather(city: str) -> str:
    trace.get_tracer("tool").start_span("inside").end()
    if city == "Oslo":
        raise ValueError(f"{SECRET} is not in Oslo")
    return f"{SECRET} is warm"


ASKS = FakeAnswer("Look.", calls=[Call("weather", {"city": it}) for it in ("Rome", "Oslo")], pace=0)
LAST = FakeAnswer(f"{SECRET} is warmest.", pace=0)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("target", ["/chat/completions", "/messages"])
def test_an_agent_has_a_span_for_each_answer_and_tool(
    telemetry: Telemetry, target: str, asynchronous: bool
) -> None:
    answers = iter([ASKS, LAST])
    tools = {"weather": weather}
    tracing = telemetry.tracing(fields=["city"])

    def ask(messages: list[Any]) -> Any:
        source = sent(next(answers), target)
        return later(source) if asynchronous else source

    async def run() -> list[Any]:
        return [part async for part in tracing(jsonrill.agent(ask, tools))]  # type: ignore[misc]

    items = asyncio.run(run()) if asynchronous else list(tracing(jsonrill.agent(ask, tools)))
    top = telemetry.one("invoke_agent")
    first, last = telemetry.spans("chat")
    rome, oslo = sorted(
        telemetry.spans("execute_tool"), key=lambda span: span.status.status_code.value
    )
    begun, ended = lasted(top)
    for span in (first, last, rome, oslo):
        assert span.parent is not None and span.parent.span_id == top.context.span_id
        assert begun <= lasted(span)[0] <= lasted(span)[1] <= ended
    assert lasted(last)[0] >= max(lasted(span)[1] for span in (first, rome, oslo))
    assert attributes(first)["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert attributes(last)["gen_ai.response.finish_reasons"] == ("stop",)
    assert all(attributes(it)["gen_ai.usage.output_tokens"] > 1 for it in (first, last))
    assert "jsonrill.time_to_field.city" in attributes(first)
    assert "jsonrill.time_to_field.city" not in attributes(last)
    ids = {part.call.id for part in items if part.kind == "result"}
    assert {attributes(it)["gen_ai.tool.call.id"] for it in (rome, oslo)} == ids
    assert rome.name == "execute_tool weather" and rome.kind is SpanKind.INTERNAL
    assert attributes(rome)["gen_ai.tool.name"] == "weather"
    assert oslo.status.status_code is StatusCode.ERROR
    assert attributes(oslo)["error.type"] == "_OTHER"
    assert SECRET not in telemetry.exported() and "Oslo" not in telemetry.exported()


@pytest.mark.parametrize("run_tools", [False, True])
def test_parts_of_one_answer(telemetry: Telemetry, run_tools: bool) -> None:
    answer = jsonrill.Answer()
    tools = {"weather": weather}
    stream: Any = (
        jsonrill.run_tools(sent(ASKS), tools, answer=answer)
        if run_tools
        else jsonrill.parts(sent(ASKS), answer=answer)
    )
    list(telemetry.tracing()(stream, answer))
    assert attributes(telemetry.one())["gen_ai.response.finish_reasons"] == ("tool_call",)
    # What nobody has run has no span.
    assert len(telemetry.spans("execute_tool")) == (2 if run_tools else 0)


def test_an_error_is_its_code(telemetry: Telemetry) -> None:
    with pytest.raises(jsonrill.InvalidJSON):
        list(telemetry.tracing()(jsonrill.values(iter(['{"a": ', f"{SECRET}}}"]))))
    span = telemetry.one()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "INVALID_JSON")
    assert attributes(span)["error.type"] == "INVALID_JSON"
    assert not span.events and SECRET not in telemetry.exported()


def test_an_error_in_an_update(telemetry: Telemetry) -> None:
    list(telemetry.tracing()(jsonrill.updates(iter(['{"a": ', f"{SECRET}}}"]))))
    assert telemetry.one().status.description == "INVALID_JSON"
    assert SECRET not in telemetry.exported()


def test_the_error_of_a_request(telemetry: Telemetry) -> None:
    def ask(messages: list[Any]) -> Any:
        raise ConnectionError(SECRET)

    with pytest.raises(ConnectionError):
        telemetry.tracing()(lambda: jsonrill.agent(ask, {}))
    assert telemetry.one().status.description == "ConnectionError"
    assert SECRET not in telemetry.exported()


def test_an_agent_whose_second_request_fails(telemetry: Telemetry) -> None:
    answers = iter([ASKS])

    def ask(messages: list[Any]) -> Any:
        return sent(next(answers, None) or _raise())

    def _raise() -> Any:
        raise ConnectionError(SECRET)

    with pytest.raises(ConnectionError):
        list(telemetry.tracing()(jsonrill.agent(ask, {"weather": weather})))
    assert telemetry.one("invoke_agent").status.description == "ConnectionError"
    first, second = telemetry.spans("chat")
    assert first.status.status_code is StatusCode.UNSET
    assert second.status.description == "ConnectionError"
    assert SECRET not in telemetry.exported()


def test_a_request_that_a_function_sends_counts(telemetry: Telemetry) -> None:
    sent_at = 0

    def opened() -> Any:
        nonlocal sent_at
        sent_at = time_ns()
        return jsonrill.values(iter(["[1]"]))

    assert list(telemetry.tracing()(opened))[-1] == [1]
    assert telemetry.one().start_time <= sent_at  # type: ignore[operator]


def test_a_loop_that_is_left_ends_the_spans(telemetry: Telemetry) -> None:
    stopped: list[bool] = []

    async def slow(city: str) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append(True)
        return city

    async def ask(messages: list[Any]) -> Any:
        return later(sent(FakeAnswer("", calls=[Call("slow", {"city": "Rome"})], pace=0)))

    async def run() -> None:
        async with aclosing(telemetry.tracing()(jsonrill.agent(ask, {"slow": slow}))) as parts:
            async for part in parts:
                if part.status == "started":
                    break

    asyncio.run(run())
    assert attributes(telemetry.one("execute_tool"))["error.type"] == "interrupted"
    assert telemetry.one("chat").status.status_code is StatusCode.UNSET
    assert telemetry.one("invoke_agent").status.status_code is StatusCode.UNSET

    with closing(telemetry.tracing()(jsonrill.values(iter(["[1,", "2]"])))) as items:
        next(items)
    assert len(telemetry.spans("chat")) == 2


def test_spans_of_clients_are_below(telemetry: Telemetry) -> None:
    tracer = telemetry.tracers.get_tracer("client")

    def source() -> Iterator[str]:
        tracer.start_span("request").end()
        yield "[1]"

    for _ in telemetry.tracing()(jsonrill.values(source())):
        assert not trace.get_current_span().get_span_context().is_valid
    request = telemetry.one("request")
    assert request.parent is not None
    assert request.parent.span_id == telemetry.one().context.span_id


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, (3, 4)),
        ({"input_tokens": 3, "cache_read_input_tokens": 5, "output_tokens": 4}, (8, 4)),
        ({"promptTokenCount": 3, "candidatesTokenCount": 4, "thoughtsTokenCount": 2}, (3, 6)),
        ({"inputTokens": 3, "outputTokens": 0}, (3, 0)),
        ({"tokens": {"input_tokens": 3, "output_tokens": 4}}, (3, 4)),
        ({"prompt_eval_count": 3}, (3, None)),
        ({"input_tokens": "3"}, (None, None)),
        (None, (None, None)),
    ],
)
def test_token_counts(telemetry: Telemetry, usage: Any, expected: Any) -> None:
    answer = jsonrill.Answer()

    def stream() -> Iterator[int]:
        yield 1
        answer.usage = usage

    list(telemetry.tracing()(stream(), answer))
    named = attributes(telemetry.one())
    names = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    assert tuple(named.get(name) for name in names) == expected


def test_without_this_module_nothing_imports_opentelemetry() -> None:
    code = (
        "import sys, jsonrill, jsonrill.ext, jsonrill.agents; list(jsonrill.values('[1]'));"
        "sys.exit('opentelemetry' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

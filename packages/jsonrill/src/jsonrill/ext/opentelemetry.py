"""Spans of OpenTelemetry for answers, agents and tools, in its conventions for generative AI.

What is recorded are names, times and counts: never a prompt, an argument or a word of an answer, so
an error is its code. The conventions are still in development, and have no attribute for the time
per chunk or to a field: those begin with `jsonrill.`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable
from time import perf_counter_ns, time_ns
from typing import Any, Final, TypeVar, overload

from opentelemetry import metrics, trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider

from .. import JsonrillError, ToolCall, Update, __version__
from ..agents import Agent, AsyncAgent
from ..answer import Answer
from ..answers.parts import AnyPart
from ..paths import Path, parse_path
from ..providers.usage import INPUT, OUTPUT
from ..streams.driving import close_async_source, close_source

__all__ = ["Tracing"]

T = TypeVar("T")

_END: Final[Any] = object()
_SECOND: Final = 1e9
# What the conventions call the end of an answer, where it is not our word.
_FINISH: Final = {"complete": "stop", "calls": "tool_call", "filtered": "content_filter"}


class Tracing:
    """Called with a stream of `values`, `updates`, `parts`, `run_tools` or an `agent`, it yields
    what that yields, and writes the spans.

    `provider` and `model` are the names for OpenTelemetry. `fields` are paths in the value, or in
    the arguments of calls: the time is recorded at which each is first there. Without
    `tracer_provider` and `meter_provider`, those that are set for the process are used.
    """

    def __init__(
        self,
        *,
        provider: str | None = None,
        model: str | None = None,
        fields: Iterable[str] = (),
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._tracer = trace.get_tracer("jsonrill", __version__, tracer_provider)
        meter = metrics.get_meter("jsonrill", __version__, meter_provider)
        name = "gen_ai.client.operation.time_{}_chunk"
        self._first_chunk = meter.create_histogram(name.format("to_first"), "s")
        self._next_chunk = meter.create_histogram(name.format("per_output"), "s")
        self._model = model
        named = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
        self._names = {key: value for key, value in named.items() if value is not None}
        self._fields = {name: parse_path(name) for name in fields}

    @overload
    def __call__(
        self, stream: AsyncIterable[T] | Callable[[], AsyncIterable[T]], answer: Answer | None = ...
    ) -> AsyncGenerator[T]: ...
    @overload
    def __call__(
        self, stream: Iterable[T] | Callable[[], Iterable[T]], answer: Answer | None = ...
    ) -> Generator[T]: ...
    def __call__(self, stream: Any, answer: Answer | None = None) -> Any:
        """`stream` may be a function that returns it: then the request that it sends counts, too.

        `answer` is the one that the stream fills in, for the token counts and the finish reason; an
        agent has its own.
        """
        start = time_ns()
        if callable(stream):
            try:
                stream = stream()
            except Exception as error:
                _Spans(self, None, start, answer).end(error)
                raise
        run = _run_async if isinstance(stream, AsyncIterable) else _run
        return run(stream, _Spans(self, stream, start, answer))

    def _span(self, operation: str, name: str | None, start: int, **more: Any) -> Span:
        title = operation if name is None else f"{operation} {name}"
        span = self._tracer.start_span(title, start_time=start, **more)
        span.set_attribute("gen_ai.operation.name", operation)
        return span


class _Chat:
    """The span of one answer."""

    def __init__(self, to: Tracing, start: int, answer: Answer | None, context: Any = None) -> None:
        self._to, self.answer = to, answer
        self._start = self._first = self.last = start
        self._chunks = 0
        self._missing = dict(to._fields)
        self.span = to._span("chat", to._model, start, context=context, kind=SpanKind.CLIENT)
        self.span.set_attributes({**to._names, "gen_ai.request.stream": True})

    def chunk(self, item: Any, now: int) -> None:
        labels = {**self._to._names, "gen_ai.operation.name": "chat"}
        since_start = (now - self._start) / _SECOND
        if self._chunks:
            self._to._next_chunk.record((now - self.last) / _SECOND, labels)
        else:
            self._first = now
            self._to._first_chunk.record(since_start, labels)
            self.span.set_attribute("gen_ai.response.time_to_first_chunk", since_start)
        self._chunks, self.last = self._chunks + 1, now
        value = _value(item) if self._missing else None
        for name in [name for name, path in self._missing.items() if _has(value, path)]:
            del self._missing[name]
            self.span.set_attribute(f"jsonrill.time_to_field.{name}", since_start)

    def end(self, now: int) -> None:
        self.span.set_attribute("jsonrill.output_chunks", self._chunks)
        if self._chunks > 1:
            mean = (self.last - self._first) / (self._chunks - 1) / _SECOND
            self.span.set_attribute("jsonrill.time_per_output_chunk", mean)
        if self.answer is not None and (finish := self.answer.finish) is not None:
            self.span.set_attribute("gen_ai.response.finish_reasons", [_FINISH.get(finish, finish)])
        if self.answer is not None:
            self.span.set_attributes(_counts(self.answer.usage or {}))
        self.span.end(now)


class _Spans:
    """The spans of one stream: told of each item, and of the end."""

    def __init__(self, to: Tracing, stream: Any, start: int, answer: Answer | None) -> None:
        self._to = to
        # Differences stay right when the clock is set.
        self._offset = time_ns() - perf_counter_ns()
        # When the item at hand was asked for: with it the request of its turn was sent.
        self._asked = start
        self._agent = stream if isinstance(stream, Agent | AsyncAgent) else None
        self._answer = answer
        # The calls that run, by id, and since when.
        self._running: dict[str, tuple[ToolCall, int]] = {}
        if self._agent is None:
            self._chat: _Chat | None = _Chat(to, start, answer)
            self.top = self._chat.span
        else:
            self._chat = None
            self.top = to._span("invoke_agent", None, start, attributes=to._names)

    def take(self, item: Any) -> None:
        now = self._now()
        part = item if isinstance(item, AnyPart) else None
        if part is not None and part.call is not None:
            self._call(part, part.call, now)
        if part is None or (part.kind != "result" and part.status is None):
            self._chat_of_now().chunk(item, now)
        if isinstance(item, Update) and item.error is not None:
            _fail(self.top, item.error["code"])

    def go_on(self) -> None:
        self._asked = self._now()

    def current(self) -> Any:
        """While it is entered, the spans of clients are below these. It records nothing."""
        return trace.use_span(self.top, record_exception=False, set_status_on_exception=False)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, _: Any) -> None:
        # A loop that is left, or cancelled, is not a failure.
        self.end(error if isinstance(error, Exception) else None)

    def end(self, error: Exception | None) -> None:
        now = self._now()
        for call, start in self._running.values() if self._agent is not None else ():
            self._tool(call, start, now, "interrupted")
        if error is not None:
            code = error.code if isinstance(error, JsonrillError) else type(error).__qualname__
            for span in {self.top, self._chat_of_now().span}:
                _fail(span, code)
        if (chat := self._chat) is not None:
            chat.end(now if self._agent is None or error is not None else chat.last)
        if self._agent is not None:
            self.top.end(now)

    def _chat_of_now(self) -> _Chat:
        """The span of the answer at hand. In an agent it ends with the last chunk of its turn, as
        tools may run longer; the counts come after that, so the next answer ends it."""
        answer = self._answer
        if self._agent is not None and self._agent.answers:
            answer = self._agent.answers[-1]
        if self._chat is None or self._chat.answer is not answer:
            if self._chat is not None:
                self._chat.end(self._chat.last)
            self._chat = _Chat(self._to, self._asked, answer, self._below())
        return self._chat

    def _call(self, part: AnyPart, call: ToolCall, now: int) -> None:
        if part.kind == "result" and call.id in self._running:
            code = None if part.error is None else "_OTHER"
            self._tool(*self._running.pop(call.id), now, code)
        # An agent says when it starts a tool; without one, it starts with its arguments.
        elif part.status == "started" or (part.complete and self._agent is None):
            self._running.setdefault(call.id, (call, now))

    def _tool(self, call: ToolCall, start: int, now: int, code: str | None) -> None:
        names = {"gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}
        span = self._to._span(
            "execute_tool", call.name, start, context=self._below(), attributes=names
        )
        if code is not None:
            _fail(span, code)
        span.end(now)

    def _below(self) -> Any:
        return trace.set_span_in_context(self.top)

    def _now(self) -> int:
        return self._offset + perf_counter_ns()


def _run(stream: Any, spans: _Spans) -> Generator[Any]:
    with spans:
        try:
            items = iter(stream)
            while True:
                with spans.current():
                    item = next(items, _END)
                if item is _END:
                    return
                spans.take(item)
                yield item
                spans.go_on()
        finally:
            close_source(stream)


async def _run_async(stream: Any, spans: _Spans) -> AsyncGenerator[Any]:
    with spans:
        try:
            items = aiter(stream)
            while True:
                with spans.current():
                    item = await anext(items, _END)
                if item is _END:
                    return
                spans.take(item)
                yield item
                spans.go_on()
        finally:
            await close_async_source(stream)


def _fail(span: Span, code: str) -> None:
    span.set_attribute("error.type", code)
    span.set_status(Status(StatusCode.ERROR, code))


def _value(item: Any) -> Any:
    """The value in which fields are looked for."""
    if isinstance(item, AnyPart) and item.kind in ("call", "json"):
        # Without a copy for each chunk, where there is a way.
        return item.value if item.call is None else item.call.live
    return item.data if isinstance(item, Update) else item


def _has(value: Any, path: Path) -> bool:
    for step in path:
        if hasattr(value, "model_fields_set"):
            value = {name: getattr(value, name) for name in value.model_fields_set}
        # The index of a string is not a field.
        fits = isinstance(value, dict if isinstance(step, str) else list)
        if not fits:
            return False
        try:
            value = value[step]
        except LookupError:
            return False
    return True


def _counts(usage: dict[str, Any]) -> dict[str, int]:
    # Cohere has them one level deeper.
    counts = usage.get("tokens", usage)
    named = {"input": INPUT.of(counts), "output": OUTPUT.of(counts)}
    return {f"gen_ai.usage.{name}_tokens": it for name, it in named.items() if it is not None}

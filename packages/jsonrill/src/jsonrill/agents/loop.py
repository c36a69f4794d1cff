"""`agent`: ask, run the tools, ask again, until the model is done. Sync and async."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, closing
from inspect import isasyncgenfunction, isawaitable
from typing import Any, Literal, Unpack, overload

from ..answer import Answer
from ..answers import Part, turns
from ..answers.saving import restore, unpacked
from ..jsontext import dumps
from ..options import PartOptions, refuse_unknown
from ..providers.finish import Reason
from ..streams.driving import close_async_source, close_source
from ..toolcalls import ToolCall
from ..toolcalls.lifecycle import LiveCall
from .deciding import ToolRun
from .running import events_of, is_async, run_async, run_sync
from .state import VERSION, Recorder, State, check_json, check_state, digests, entry_state
from .tools import Tools, When, check_bounds

# How an agent ended: as its last answer, or because a person has to decide, or by `max_turns`.
Outcome = Reason | Literal["waiting", "max_turns"]
# What a person says of a call: run it, do not (and why), or run it with other arguments.
Decision = bool | str | Mapping[str, Any]
Ask = Callable[[list[Any]], Any]
_FINAL: frozenset[Any] = frozenset({"complete", "length", "filtered", "refused"})


class _Conversation:
    """What `agent` tells of the conversation, besides its parts."""

    def __init__(
        self, run: ToolRun, messages: list[Any], max_turns: int, timeout: float | None
    ) -> None:
        self._run = run
        self._messages = messages
        self._added: list[Any] = []
        self._max_turns = max_turns
        self._timeout = timeout
        self._turn = 0
        # True: the turn at hand has been asked for, or restored.
        self._open = False
        # Where its entries begin.
        self._first = 0
        self._form: str | None = None
        self._tools = digests(run.signatures)
        self._recorder = Recorder(self._tools)
        self._answers: list[Answer] = []
        self._outcome: Outcome | None = None
        # The stream of the first answer, which was opened to see whether it is async; of this one.
        self._unread: Any = None
        self._stream: Any = None
        # Of a state: how its answer ended, and the parts that the decisions make.
        self._saved_outcome: str | None = None
        self._resumed: list[Part] = []

    @property
    def outcome(self) -> Outcome | None:
        """How it ended: complete, or as the last answer was cut: length, filtered, refused, lost,
        error; `waiting` if a person has to decide; `max_turns`. None while it runs."""
        return self._outcome

    @property
    def text(self) -> str:
        """The text of the last answer."""
        entries = self._run.parts.entries[self._first :]
        return "".join([entry.text for entry in entries if entry.kind == "text"])

    @property
    def answers(self) -> list[Answer]:
        """What is known of each answer that was asked for here: its text, end and token counts."""
        return self._answers

    @property
    def calls(self) -> list[ToolCall]:
        """The calls of all turns that were left to your tools, with their results."""
        return self._run.calls

    @property
    def waiting(self) -> list[ToolCall]:
        """The calls that a person has to approve."""
        return self._run.waiting

    @property
    def turns(self) -> int:
        """How many answers there were, those before a state was continued included."""
        return self._turn + self._open

    def messages(self) -> list[Any]:
        """What the conversation has added to the messages that it began with, in the form of the
        provider. A turn of which calls still wait is not among them."""
        return [*self._added, *self._written()]

    def state(self) -> State:
        """The conversation as plain JSON, with which `agent` continues it in another process."""
        entries = self._run.parts.entries[self._first :]
        return {
            "version": VERSION,
            "form": self._provider,
            "messages": check_json(self._messages),
            "added": check_json(self._added),
            "turn": self._turn,
            "index": self._run.parts.began,
            "entries": [entry_state(entry) for entry in entries if entry.kind != "result"],
            "started": [job.call.id for job in self._run.running],
            "waiting": [call.id for call in self._run.waiting],
            "outcome": self._run.parts.outcome or self._saved_outcome,
            "tools": self._tools,
        }

    # ---- from turn to turn ----

    @property
    def _provider(self) -> str | None:
        # The events of `unbroken` are our own.
        behind = getattr(self._stream, "answered_by", None)
        return self._form or behind or self._run.parts.reader.provider

    def _written(self) -> list[Any]:
        """The messages of the turn at hand; none while it waits."""
        if not self._open or self._run.waiting:
            return []
        return turns.messages(self._provider, self._run.parts.entries[self._first :])

    def _request(self) -> list[Any]:
        """The messages to ask with; the next turn begins."""
        if self._open:
            self._added += self._written()
            self._turn += 1
        self._open, self._form, self._saved_outcome = True, None, None
        self._run.begin()
        self._answers.append(Answer())
        self._run.parts.tell(self._answers[-1])
        self._first = len(self._run.parts.entries)
        return [*self._messages, *self._added]

    def _opened(self, ask: Ask, messages: list[Any]) -> Any:
        stream, self._unread = self._unread, None
        return ask(messages) if stream is None else stream

    def _ended(self) -> None:
        """Set the outcome if the answer that has ended, its tools too, is the last one."""
        run = self._run
        if run.cut is not None:
            self._outcome = run.parts.outcome or "lost"
        elif run.waiting:
            self._outcome = "waiting"
        elif not run.waits(self._turn_calls()):
            self._outcome = run.parts.outcome or "complete"
        elif self._turn + 1 >= self._max_turns:
            self._outcome = "max_turns"

    def _turn_calls(self) -> list[LiveCall]:
        entries = self._run.parts.entries[self._first :]
        return [it.call for it in entries if it.call is not None and not it.call.hosted]

    def _recorded(self, part: Part) -> Part:
        part.turn = self._turn
        self._recorder.add(part, self._run.parts, self._first, self._provider)
        return part

    def _take_resumed(self) -> list[Part]:
        resumed, self._resumed = self._resumed, []
        return resumed

    # ---- what was saved ----

    def _resume(self, state: State, decisions: Mapping[str, Decision]) -> None:
        """Take up the turn of a state, with what a person has decided."""
        pending = {*state["waiting"], *state["started"]}
        for id, decision in decisions.items():
            if id not in pending:
                known = ", ".join(sorted(pending)) or "none"
                raise ValueError(f"no call {id!r} waits for a decision; there are: {known}")
            if not isinstance(decision, bool | str | Mapping):
                raise TypeError(f"a decision is True, False, a reason or arguments: {decision!r}")
        self._added, self._turn = unpacked(state["added"]), state["turn"]
        self._form, self._saved_outcome = state["form"], state["outcome"]
        entries = [_decided(entry, decisions) for entry in state["entries"]]
        calls = restore(self._run.parts, entries, state["turn"], state["index"])
        if state["outcome"] in _FINAL:
            self._open, self._outcome = True, state["outcome"]
            return
        for call in calls:
            self._resumed += self._run.resume(
                call,
                decisions.get(call.id),
                waits=call.id in state["waiting"],
                started=call.id in state["started"],
                ended=state["outcome"] is not None,
            )
        self._open = bool(pending) or any(call.answered for call in calls)
        if not self._open:
            # Nothing was run: the same turn is asked for again.
            self._first = len(self._run.parts.entries)
            self._form = None


def _decided(entry: dict[str, Any], decisions: Mapping[str, Decision]) -> dict[str, Any]:
    """The entry of a call with the arguments that a person has put in place of the model's."""
    call = entry.get("call")
    other = None if call is None else decisions.get(call["id"])
    if call is None or not isinstance(other, Mapping):
        return entry
    return {**entry, "call": {**call, "arguments": dumps(dict(other))}}


class Agent(_Conversation, Iterator[Part]):
    """The parts of a conversation, turn after turn."""

    _parts: Generator[Part]

    def __next__(self) -> Part:
        return next(self._parts)

    def close(self) -> None:
        """Close the source; tools that run are told, and not waited for."""
        self._parts.close()
        close_source(self._unread)

    def _loop(self, ask: Ask, options: PartOptions) -> Generator[Part]:
        try:
            if self._outcome is None and self._open:
                yield from self._answer(_none())
            while self._outcome is None:
                messages = self._request()
                stream = self._opened(ask, messages)
                if isawaitable(stream) or isinstance(stream, AsyncIterable):
                    raise TypeError("ask returned something async: write it as `async def`")
                self._stream = stream
                yield from self._answer(events_of(stream, options))
        except Exception:
            self._outcome = "error"
            raise

    def _answer(self, events: Iterator[Any]) -> Iterator[Part]:
        for part in self._take_resumed():
            yield self._recorded(part)
        with closing(run_sync(self._run, events, self._timeout, announce=True)) as parts:
            for part in parts:
                yield self._recorded(part)
        self._ended()


class AsyncAgent(_Conversation, AsyncIterator[Part]):
    """The parts of a conversation, turn after turn."""

    _parts: AsyncGenerator[Part]

    async def __anext__(self) -> Part:
        return await anext(self._parts)

    async def aclose(self) -> None:
        """Close the source and cancel the tools that run."""
        await self._parts.aclose()
        await close_async_source(self._unread)

    async def _loop(self, ask: Ask, options: PartOptions) -> AsyncGenerator[Part]:
        try:
            if self._outcome is None and self._open:
                async with aclosing(self._answer(_none_async())) as parts:
                    async for part in parts:
                        yield part
            while self._outcome is None:
                messages = self._request()
                stream = self._opened(ask, messages)
                if isawaitable(stream):
                    stream = await stream
                self._stream = stream
                if not isinstance(stream, AsyncIterable):
                    stream = _each(stream)
                async with aclosing(self._answer(events_of(stream, options))) as parts:
                    async for part in parts:
                        yield part
        except Exception:
            self._outcome = "error"
            raise

    async def _answer(self, events: AsyncGenerator[Any]) -> AsyncGenerator[Part]:
        for part in self._take_resumed():
            yield self._recorded(part)
        async with aclosing(run_async(self._run, events, self._timeout, announce=True)) as parts:
            async for part in parts:
                yield self._recorded(part)
        self._ended()


def _none() -> Generator[Any]:
    """No events: a turn that was saved needs none."""
    yield from ()


async def _none_async() -> AsyncGenerator[Any]:
    for event in _none():
        yield event


async def _each(stream: Iterable[Any]) -> AsyncGenerator[Any]:
    """The elements of a stream that is not async, from a function that is."""
    for element in stream:
        yield element


@overload
def agent(
    ask: Callable[[list[Any]], Iterable[Any]],
    tools: Tools,
    *,
    messages: Iterable[Any] | None = None,
    max_turns: int = 10,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    state: State | None = None,
    decisions: Mapping[str, Decision] | None = None,
    **options: Unpack[PartOptions],
) -> Agent: ...
@overload
def agent(
    ask: Callable[[list[Any]], Awaitable[Any] | AsyncIterable[Any]],
    tools: Tools,
    *,
    messages: Iterable[Any] | None = None,
    max_turns: int = 10,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    state: State | None = None,
    decisions: Mapping[str, Decision] | None = None,
    **options: Unpack[PartOptions],
) -> AsyncAgent: ...
def agent(
    ask: Ask,
    tools: Tools,
    *,
    messages: Iterable[Any] | None = None,
    max_turns: int = 10,
    when: When = "args",
    concurrency: int = 8,
    timeout: float | None = None,
    state: State | None = None,
    decisions: Mapping[str, Decision] | None = None,
    **options: Unpack[PartOptions],
) -> Any:
    """Yield the parts of a conversation: ask the model, run the tools it calls, ask again.

    `ask(messages)` returns a provider's stream; if it is async, so is the result. Tools run as
    with `run_tools`. It ends when the model is done, was cut, has to wait for a person, or after
    `max_turns` answers: `outcome` says which. A part has its `turn`, and `index` counts over all of
    them. Before a tool runs, a part with the status `started` is yielded; it is run when the next
    part is asked for. A call that a person has to approve is a part with the status `waiting`.

    `state` continues a conversation that was waiting or interrupted: what `state()` returned, or
    `state_of` a log. `decisions` has for the id of a call True, False or the reason why not, or
    other arguments. A tool that was started and has no result is not run again unless it is
    `idempotent` or a person says so: its result is the error `interrupted`.
    """
    refuse_unknown(options, PartOptions.__annotations__, "unknown option")
    check_bounds(concurrency, timeout)
    if type(max_turns) is not int or max_turns < 1:
        raise ValueError(f"max_turns is a whole number from 1 up, not {max_turns!r}")
    if decisions and state is None:
        raise ValueError("decisions are about the calls of a state")
    run = ToolRun(tools, when=when, concurrency=concurrency, **options)
    first = None
    if state is not None:
        check_state(state, run.signatures)
        messages = unpacked(state["messages"]) if messages is None else messages
        if messages is None:
            raise ValueError("the state of a log has no messages: pass those that it began with")
    beginning = list(messages or ())
    asynchronous = is_async(ask) or isasyncgenfunction(ask)
    if not asynchronous and state is None:
        # Only what it returns tells whether it is async.
        first = ask(list(beginning))
        asynchronous = isawaitable(first) or isinstance(first, AsyncIterable)
    conversation = (AsyncAgent if asynchronous else Agent)(run, beginning, max_turns, timeout)
    if state is not None:
        conversation._resume(state, decisions or {})
    conversation._unread = first
    conversation._parts = conversation._loop(ask, options)
    return conversation

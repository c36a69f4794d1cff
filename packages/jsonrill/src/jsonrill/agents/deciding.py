"""Which calls of an answer are run, with which arguments, and when. No threads, no event loop.

A call is started once its arguments are complete and valid (`when="args"`) or once its provider has
closed it (`when="call"`). One that is cut off, broken or violates its schema is never started.
Arguments that are exactly `{}` may be a placeholder, with the real ones still to come: such a call
waits until another part begins or the provider closes it. A tool with effects waits until the
answer has ended, and does not run if it was cut; one that a person has to approve waits for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from ..answers import Part, Parts, turns
from ..answers.parts import CallPart
from ..errors import CutShort, Limits
from ..options import OnRepair, Provider, Rules, Schemas, Split
from ..toolcalls import ToolCall
from ..toolcalls.lifecycle import LiveCall
from .tools import Signature, Tool, ToolContext, Tools, When, named_tools

# How much of broken arguments is quoted to the model.
_QUOTED: Final = 500


@dataclass(slots=True, eq=False)
class Job:
    """A tool that is to be run with these arguments."""

    call: LiveCall
    tool: Tool
    positional: list[Any]
    named: dict[str, Any]
    context: ToolContext
    # True: the provider took the call back after it was started.
    revoked: bool = False


@dataclass(slots=True)
class HeldCalls:
    """What waits: calls with `{}`, calls for the end of the answer, calls for a person."""

    empty: dict[int, tuple[LiveCall, int]] = field(default_factory=dict)
    ready: dict[int, LiveCall] = field(default_factory=dict)
    people: dict[str, LiveCall] = field(default_factory=dict)


class ToolRun:
    """The state of one run: feed it events, start its jobs, and tell it what became of each."""

    def __init__(
        self,
        tools: Tools,
        *,
        when: When = "args",
        concurrency: int = 8,
        schemas: Schemas = None,
        provider: Provider = "auto",
        choice: int = 0,
        repair: Rules = False,
        limits: Limits | None = None,
        on_repair: OnRepair = None,
        split: Split = False,
    ) -> None:
        if when not in ("args", "call"):
            raise ValueError(f'when is "args" or "call", not {when!r}')
        self.tools = named_tools(tools)
        self.signatures = {name: Signature(name, it) for name, it in self.tools.items()}
        checks = dict(schemas or {})
        for name, signature in self.signatures.items():
            if name not in checks and (schema := signature.schema()) is not None:
                checks[name] = schema
        self._when = when
        self._concurrency = concurrency
        self.parts = Parts(
            provider,
            choice=choice,
            schemas=checks,
            repair=repair,
            on_repair=on_repair,
            limits=limits,
            split=split,
        )
        self.parts.asks_again()
        # Calls that were started or answered, and those that wait.
        self._handled: dict[int, Job | None] = {}
        self._held = HeldCalls()
        # How the answer was cut, once it has ended.
        self.cut: CutShort | None = None
        # What can be started now, and what runs.
        self.jobs: list[Job] = []
        self.running: set[Job] = set()

    @property
    def waiting(self) -> list[ToolCall]:
        """The calls that a person has to approve."""
        return [*self._held.people.values()]

    @property
    def calls(self) -> list[ToolCall]:
        """The calls, without those that the provider runs itself."""
        return [call for call in self.parts.calls if not call.hosted]

    def waits(self, calls: Iterable[ToolCall]) -> bool:
        """True if the model waits for the next request, with the results of these calls."""
        return self.parts.paused or any(call.answered for call in calls)

    # ---- the answer ----

    def feed(self, event: Any) -> list[Part]:
        """The parts that an event changes; calls that can be started are in `jobs` then."""
        return self._watched(self.parts.feed(event))

    def flush(self) -> list[Part]:
        """The parts at the end of the stream."""
        parts = self._watched(self.parts.flush())
        self.cut = self.parts.cut
        for call in self.parts.calls:
            if call.status == "error" and not call.hosted and isinstance(call, LiveCall):
                parts += self._broken(call)
        ready, self._held.ready = self._held.ready, {}
        if self.cut is None and self.parts.error is None:
            for number, call in ready.items():
                if number not in self._handled:
                    parts += self._ask_or_run(call)
        return parts

    def begin(self) -> None:
        """Another answer of the same conversation follows."""
        self.parts.begin()
        self._held = HeldCalls()
        self.cut = None

    def resume(
        self, call: LiveCall, decision: Any, *, waits: bool, started: bool, ended: bool
    ) -> list[Part]:
        """Take up a call of an answer that was saved; `ended`: the answer was complete.

        One that was started is not run again, except by its rule or a person.
        """
        tool = self.tools.get(call.name or "")
        if call.answered:
            self._handled[call.number] = None
        elif isinstance(decision, str) or decision is False:
            return self._refuse(call, turns.refusal(decision or ""))
        elif decision is not None:
            self._check(call)
            return self.run(call)
        elif waits:
            self.ask(call)
        elif started and not (tool is not None and tool.idempotent):
            return self._refuse(call, "interrupted")
        elif started or (ended and call.status == "complete"):
            return self.run(call) if started else self._start_late(call)
        return []

    def _check(self, call: LiveCall) -> None:
        """`ValueError` if the arguments with which a person lets a call run misfit."""
        try:
            if call.error is not None:
                raise TypeError(call.error["message"])
            self.signatures[call.name or ""].arguments(call)
        except (TypeError, KeyError) as error:
            raise ValueError(f"the call {call.id!r} cannot run: {error}") from error

    # ---- the jobs ----

    def next_job(self) -> Job | None:
        """The next job to start, if as many run as may; it counts as running from now on."""
        if len(self.running) >= self._concurrency:
            return None
        for job in self.jobs:
            most = job.tool.concurrency
            if most is None or sum(it.tool is job.tool for it in self.running) < most:
                self.jobs.remove(job)
                self.running.add(job)
                return job
        return None

    def started(self, job: Job) -> Part:
        """The part that says that a tool is started."""
        return self._call_part(job.call, "started")

    def finish(self, job: Job, result: Any = None, error: str | None = None) -> list[Part]:
        """The part of a job's result, or of its error; what no message can carry is an error."""
        self.running.discard(job)
        job.context.cancel()  # if the time was over, it still runs
        if job.revoked:
            return []
        if error is None:
            try:
                result = turns.sendable(result)
            except Exception as failed:  # whatever the object's own methods raise
                error = (
                    f"the tool returned what JSON cannot carry ({type(result).__name__}): {failed}"
                )
        return self.parts.answer(job.call, result, error=error)

    def cancel(self) -> None:
        """Tell the tools that run that no result is wanted."""
        for job in self.running:
            job.context.cancel()

    # ---- which calls ----

    def _watched(self, parts: list[Part]) -> list[Part]:
        """These parts, and the results of calls that are refused."""
        shown: list[Part] = []
        for part in parts:
            shown.append(part)
            for number, (call, index) in [*self._held.empty.items()]:
                if part.index > index:
                    del self._held.empty[number]
                    if call.complete_args and call.live == {}:
                        shown += self._start(call)
            if part.kind == "call" and isinstance(part.call, LiveCall) and not part.call.hosted:
                shown += self._changed(part.call, part)
        return shown

    def _changed(self, call: LiveCall, part: Part) -> list[Part]:
        number = call.number
        if number in self._handled:
            return self._revoked(call) if call.status in ("error", "truncated") else []
        if call.status == "error":
            return self._broken(call)
        closed = call.status == "complete"
        if call.name is None or not (closed or (part.complete and self._starts_early(call.name))):
            return []
        if not closed and call.name not in self.tools:
            return []  # the provider may still say that it runs this one
        if not closed and call.live == {}:
            self._held.empty[number] = call, part.index
            return []
        self._held.empty.pop(number, None)
        return self._start(call)

    def _broken(self, call: LiveCall) -> list[Part]:
        self._held.empty.pop(call.number, None)
        if call.number in self._handled:
            return []
        return self._refuse(call, call.error["message"] if call.error else "it is not valid")

    def _starts_early(self, name: str) -> bool:
        tool = self.tools.get(name)
        if tool is None:
            return self._when == "args"
        return (tool.when or self._when) == "args" and not tool.waits_for_the_end

    def _start(self, call: LiveCall) -> list[Part]:
        if call.number in self._handled:
            return []
        tool = self.tools.get(call.name or "")
        if tool is None:
            known = ", ".join(self.tools) or "none"
            return self._refuse(call, f"there is no tool named {call.name!r}; there are: {known}")
        if tool.waits_for_the_end:
            self._held.ready[call.number] = call
            return []
        return self.run(call)

    def _start_late(self, call: LiveCall) -> list[Part]:
        """Start a call at the end of the answer."""
        known = call.name in self.tools and self.tools[call.name].waits_for_the_end
        return self._ask_or_run(call) if known else self._start(call)

    def _ask_or_run(self, call: LiveCall) -> list[Part]:
        """Run a call at the end of the answer, or let a person decide."""
        tool = self.tools[call.name or ""]
        try:
            self.signatures[call.name or ""].arguments(call)
            args = call.args if isinstance(call.args, dict) else {"text": call.args}
            must_ask = tool.must_ask(args)
        except Exception as error:  # whatever the function raises: nothing runs unasked
            return self._refuse(call, str(error))
        return self.ask(call) if must_ask else self.run(call)

    def ask(self, call: LiveCall) -> list[Part]:
        """The part that says that a person has to decide."""
        self._held.people[call.id] = call
        return [self._call_part(call, "waiting")]

    def run(self, call: LiveCall) -> list[Part]:
        """Make a job of a call; if its arguments misfit, its result is the error."""
        self._held.people.pop(call.id, None)
        name = call.name or ""
        signature = self.signatures[name]
        try:
            positional, named = signature.arguments(call)
        except TypeError as error:
            return self._refuse(call, str(error))
        context = ToolContext(call.id, name)
        if signature.context is not None:
            named[signature.context] = context
        job = Job(call, self.tools[name], positional, named, context)
        self._handled[call.number] = job
        self.jobs.append(job)
        return []

    def _refuse(self, call: LiveCall, error: str) -> list[Part]:
        """The error result of a call that does not run, once its arguments have ended. Without a
        name it cannot be sent back, so that one has no result either."""
        if call.name is None or (call.open and not call.args_ended):
            return []
        self._handled[call.number] = None
        self._held.people.pop(call.id, None)
        if not call.args_ended and call.raw:
            error = f"{error}; the arguments were: {call.raw[:_QUOTED]}"
        return self.parts.answer(call, error=error)

    def _revoked(self, call: LiveCall) -> list[Part]:
        """The error result of a call that went wrong after it was started."""
        job = self._handled[call.number]
        if job is None or job.revoked:
            return []
        job.revoked = True
        job.context.cancel()
        why = call.error["message"] if call.error else "it was cut off"
        return self.parts.answer(call, error=f"the call was started, and then went wrong: {why}")

    def _call_part(self, call: LiveCall, status: Any) -> Part:
        index = self.parts.entry_of(call).index
        return CallPart("call", index, "", True, call, status=status)

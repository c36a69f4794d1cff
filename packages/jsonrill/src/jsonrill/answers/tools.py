"""Which calls of an answer are run, with which arguments, and when. No threads, no event loop.

A call is started once its arguments are complete and valid (`when="args"`) or once its provider has
closed it (`when="call"`). One that is cut off, broken or violates its schema is never started.
Arguments that are exactly `{}` may be a placeholder, with the real ones still to come: such a call
waits until another part begins or the provider closes it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Required, get_type_hints

from ..errors import Limits
from ..options import OnRepair, Provider, Rules, Schemas, Split
from ..toolcalls import ToolCall
from ..toolcalls.lifecycle import LiveCall
from . import turns
from .parts import Part, Parts

if TYPE_CHECKING:
    from ..schema import Schema

When = Literal["args", "call"]
Function = Callable[..., Any]


@dataclass(slots=True, eq=False)
class Job:
    """A tool that is to be run with these arguments."""

    call: LiveCall
    function: Function
    positional: list[Any]
    named: dict[str, Any]
    # True: the provider took the call back after it was started.
    revoked: bool = False


class ToolRun:
    """The state of one run: feed it events, start `jobs`, and tell it what became of each."""

    def __init__(
        self,
        tools: Mapping[str, Function],
        *,
        when: When = "args",
        schemas: Schemas = None,
        provider: Provider = "auto",
        choice: int = 0,
        repair: Rules = False,
        limits: Limits | None = None,
        on_repair: OnRepair = None,
        split: Split = False,
    ) -> None:
        if not isinstance(tools, Mapping):
            raise TypeError('tools is a mapping such as {"weather": weather}')
        if when not in ("args", "call"):
            raise ValueError(f'when is "args" or "call", not {when!r}')
        for name, function in tools.items():
            if not callable(function):
                raise TypeError(f"the tool {name!r} is a function, not {function!r}")
        self._tools = {name: Tool(function) for name, function in tools.items()}
        given = dict(schemas or {})
        for name, tool in self._tools.items():
            if name not in given and tool.schema is not None:
                given[name] = tool.schema
        self._when = when
        self.parts = Parts(
            provider,
            choice=choice,
            schemas=given,
            repair=repair,
            on_repair=on_repair,
            limits=limits,
            split=split,
        )
        # Calls that were started or answered; and those with `{}`, which wait.
        self._handled: dict[int, Job | None] = {}
        self._waiting: dict[int, tuple[LiveCall, int]] = {}
        # What is to be started now; the caller takes it out.
        self.jobs: list[Job] = []

    def feed(self, event: Any) -> list[Part]:
        """The parts that an event changes; calls that can be started are in `jobs` then."""
        return self._watched(self.parts.feed(event))

    def flush(self) -> list[Part]:
        """The parts at the end of the stream."""
        return self._watched(self.parts.flush())

    def finish(self, job: Job, result: Any = None, error: str | None = None) -> list[Part]:
        """The part of a job's result, or of its error; what no message can carry is an error."""
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

    def messages(self, form: str | None = None) -> list[dict[str, Any]]:
        """The answer and the results, as the next request to this provider sends them.

        `form` names another provider whose form it is to have. Calls that were cut off, and what
        has no result, are left out.
        """
        return turns.messages(form or self.parts.reader.provider, self.parts.entries)

    def _watched(self, parts: list[Part]) -> list[Part]:
        """These parts, and the results of calls that are refused."""
        shown: list[Part] = []
        for part in parts:
            shown.append(part)
            for number, (call, index) in [*self._waiting.items()]:
                if part.index > index:
                    del self._waiting[number]
                    if call.complete_args and call.live == {}:
                        shown += self._start(call)
            if part.kind == "call" and isinstance(part.call, LiveCall) and not part.call.hosted:
                shown += self._look(part.call, part)
        return shown

    def _look(self, call: LiveCall, part: Part) -> list[Part]:
        number = call.number
        if number in self._handled:
            return self._revoked(call) if call.status in ("error", "truncated") else []
        if call.status == "error":
            self._waiting.pop(number, None)
            return self._refuse(call, call.error["message"] if call.error else "it is not valid")
        closed = call.status == "complete"
        if call.name is None or not (closed or (part.complete and self._when == "args")):
            return []
        if not closed and call.name not in self._tools:
            return []  # the provider may still say that it runs this one
        if not closed and call.live == {}:
            self._waiting[number] = call, part.index
            return []
        self._waiting.pop(number, None)
        return self._start(call)

    def _start(self, call: LiveCall) -> list[Part]:
        if call.number in self._handled:
            return []
        tool = self._tools.get(call.name or "")
        if tool is None:
            known = ", ".join(self._tools) or "none"
            return self._refuse(call, f"there is no tool named {call.name!r}; there are: {known}")
        try:
            positional, named = tool.arguments(call)
        except TypeError as error:
            return self._refuse(call, str(error))
        job = self._handled[call.number] = Job(call, tool.function, positional, named)
        self.jobs.append(job)
        return []

    def _refuse(self, call: LiveCall, error: str) -> list[Part]:
        """The error result of a call that does not run. The model cannot see one without arguments
        that can be sent back, so that one has no result either."""
        if not (call.args_ended or (not call.open and _is_object(call.raw))):
            return []
        self._handled[call.number] = None
        return self.parts.answer(call, error=error)

    def _revoked(self, call: LiveCall) -> list[Part]:
        """The error result of a call that went wrong after it was started."""
        job = self._handled[call.number]
        if job is None or job.revoked:
            return []
        job.revoked = True
        why = call.error["message"] if call.error else "it was cut off"
        return self.parts.answer(call, error=f"the call was started, and then went wrong: {why}")


class Tool:
    """A function and what its signature says of its arguments."""

    __slots__ = ("_positional", "function", "schema")

    def __init__(self, function: Function) -> None:
        self.function = function
        self._positional: list[inspect.Parameter] = []
        self.schema: Schema | None = None
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # of some built-in functions nothing is known
            return
        kinds = inspect.Parameter
        named = [it for it in signature.parameters.values() if it.kind != kinds.VAR_POSITIONAL]
        self._positional = [it for it in named if it.kind is kinds.POSITIONAL_ONLY]
        self.schema = _schema(function, named)

    def arguments(self, call: ToolCall) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, converted as the signature says; `TypeError` if they misfit."""
        if call.encoding == "text":
            return [call.raw], {}
        given: Any = call.args if call.model is None else call.model
        if hasattr(given, "model_fields_set"):
            given = {name: getattr(given, name) for name in given.model_fields_set}
        if not isinstance(given, Mapping):
            raise TypeError("the arguments are not an object")
        named = dict(given)
        # A default before a value that was given has to be given, too: their order counts.
        taken = max(
            (at for at, it in enumerate(self._positional, 1) if it.name in named), default=0
        )
        positional = [named.pop(it.name, it.default) for it in self._positional[:taken]]
        if self.schema is None:
            try:
                inspect.signature(self.function).bind(*positional, **named)
            except ValueError:
                pass
        return positional, named


def _schema(function: Function, parameters: list[inspect.Parameter]) -> Schema | None:
    """The schema of a function's arguments; None without pydantic."""
    try:
        from pydantic import ConfigDict, PydanticSchemaGenerationError
        from typing_extensions import TypedDict

        from ..schema import Schema
    except ImportError:
        return None
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # evaluating annotations may raise anything
        hints = {}
    fields: dict[str, Any] = {}
    more = False
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            more = True
            continue
        hint = hints.get(parameter.name, Any)
        wanted = parameter.default is inspect.Parameter.empty
        fields[parameter.name] = Required[hint] if wanted else NotRequired[hint]
    make: Any = TypedDict  # checkers take only fields that are written out
    arguments = make("Arguments", fields)
    arguments.__pydantic_config__ = ConfigDict(extra="allow" if more else "forbid")
    try:
        return Schema(arguments)
    except (PydanticSchemaGenerationError, TypeError, ValueError):
        return None  # a parameter of a type that no JSON can give


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False

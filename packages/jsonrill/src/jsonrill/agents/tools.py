"""A tool: a function with its rules, and what its signature says of its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, update_wrapper
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Required, get_type_hints, overload

from ..schema.libraries import LIBRARIES
from ..toolcalls import ToolCall
from .simple import Reads, object_schema, simple

if TYPE_CHECKING:
    from ..schema import Schema

When = Literal["args", "call"]
Function = Callable[..., Any]
Approve = bool | Callable[[dict[str, Any]], bool]


@dataclass(eq=False)
class Tool:
    """A function that a model may call, with the rules for it; `tool` makes one."""

    function: Function
    when: When | None = None
    effects: bool = False
    timeout: float | None = None
    concurrency: int | None = None
    approve: Approve = False
    idempotent: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"a tool is a function, not {self.function!r}")
        if self.when not in (None, "args", "call"):
            raise ValueError(f'when is "args" or "call", not {self.when!r}')
        if self.when == "args" and self.waits_for_the_end:
            raise ValueError('a tool with effects, or one to approve, has when="call"')
        if not (isinstance(self.approve, bool) or callable(self.approve)):
            raise TypeError(f"approve is True, False or a function, not {self.approve!r}")
        if inspect.iscoroutinefunction(self.approve):
            raise TypeError("approve is a function that is not async")
        check_bounds(self.concurrency, self.timeout)
        update_wrapper(self, self.function, updated=())

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return self.function(*positional, **named)

    @property
    def waits_for_the_end(self) -> bool:
        """True if it runs only once the answer has ended, and was not cut."""
        return self.effects or self.approve is not False

    def must_ask(self, arguments: dict[str, Any]) -> bool:
        """True if a person has to approve a call with these arguments."""
        return bool(self.approve(arguments)) if callable(self.approve) else self.approve


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    when: When | None = None,
    effects: bool = False,
    timeout: float | None = None,
    concurrency: int | None = None,
    approve: Approve = False,
    idempotent: bool = False,
) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, /, **rules: Any) -> Any:
    """Declare the rules of a tool, as a decorator: `@tool(effects=True, timeout=30)`.

    `when`: `"args"` starts it when its arguments are complete, `"call"` when the provider has
    closed the call. `effects`: it changes something, so it runs only once the answer has ended and
    was not cut. `timeout`: the seconds it may take. `concurrency`: how many of it run at once.
    `approve`: a person has to agree to each call, or to those for whose arguments (a dict) this
    function returns True. `idempotent`: it is run again if it was interrupted.

    The result can be called as the function itself.
    """
    if function is None:
        return lambda function: Tool(function, **rules)
    return Tool(function, **rules)


class ToolContext:
    """What a tool may know of its call. A parameter with this annotation gets one; it is not in
    the schema that the model sees."""

    __slots__ = ("_cancelled", "call_id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.call_id = call_id
        self.name = name
        self._cancelled = Event()

    @property
    def cancelled(self) -> bool:
        """True once no result is wanted: the loop was left, or the time is over."""
        return self._cancelled.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Sleep in a thread, no longer than until it is cancelled; True if it is."""
        return self._cancelled.wait(seconds)

    def cancel(self) -> None:
        """Tell the tool that no result is wanted."""
        self._cancelled.set()


# Functions and `Tool`s side by side are "object" for a type checker.
Tools = Mapping[str, Any]


def named_tools(tools: Tools) -> dict[str, Tool]:
    """The tools by their names; functions without rules get those that always hold."""
    if not isinstance(tools, Mapping):
        raise TypeError('tools is a mapping such as {"weather": weather}')
    for name, function in tools.items():
        if not callable(function):
            raise TypeError(f"the tool {name!r} is a function, not {function!r}")
    return {name: it if isinstance(it, Tool) else Tool(it) for name, it in tools.items()}


class Signature:
    """What the signature of a tool says of its arguments."""

    __slots__ = ("_function", "_hints", "_more", "_parameters", "_reads", "context", "name")

    def __init__(self, name: str, tool: Tool) -> None:
        self.name = name
        self._function = tool.function
        self.context: str | None = None
        self._more = True
        self._parameters: list[inspect.Parameter] | None = None
        self._hints: dict[str, Any] = {}
        self._reads: dict[str, Reads] | None = None
        try:
            signature = inspect.signature(tool.function)
        except (TypeError, ValueError):  # of some built-in functions nothing is known
            return
        kinds = inspect.Parameter
        parameters = [it for it in signature.parameters.values() if it.kind != kinds.VAR_POSITIONAL]
        self._more = any(it.kind is kinds.VAR_KEYWORD for it in parameters)
        parameters = [it for it in parameters if it.kind is not kinds.VAR_KEYWORD]
        self._hints = self._annotations([it.name for it in parameters])
        self.context = next((it for it, hint in self._hints.items() if hint is ToolContext), None)
        self._parameters = [it for it in parameters if it.name != self.context]
        reads = {it.name: simple(self._hints.get(it.name, Any)) for it in self._parameters}
        if None not in reads.values():
            self._reads = {name: its for name, its in reads.items() if its is not None}

    def schema(self) -> Schema | None:
        """What validates the arguments while they come; None if only `arguments` checks them, such
        as without pydantic. `TypeError` if nothing can."""
        if self._parameters is None:
            return None
        try:
            import pydantic  # noqa: F401  # whether it is there
        except ImportError:
            if self._reads is None:
                raise TypeError(self._needs_pydantic()) from None
            return None
        return self._pydantic_schema()

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, for the model; the same with and without pydantic."""
        if self._parameters is None:
            return {"type": "object"}
        if self._reads is not None:
            wanted = [it.name for it in self._parameters if it.default is it.empty]
            schema = object_schema(self._reads, wanted, more=self._more)
        else:
            schema = self._pydantic_json_schema()
        properties = schema["properties"]
        for it in self._parameters:
            reads = simple(self._hints.get(it.name, Any))
            its = properties[it.name] if reads is None else reads.schema
            has_default = it.default is not it.empty and _is_json(it.default)
            properties[it.name] = {**its, "default": it.default} if has_default else its
        return schema

    def arguments(self, call: ToolCall) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, converted as the signature says; `TypeError` if they misfit."""
        if call.encoding == "text":
            return [call.raw], {}
        received: Any = call.args if call.model is None else call.model
        if hasattr(received, "model_fields_set"):
            received = {name: getattr(received, name) for name in received.model_fields_set}
        if not isinstance(received, Mapping):
            raise TypeError("the arguments are not an object")
        named = dict(received)
        if self._parameters is None:
            return [], named
        if call.model is None and self._reads is not None:
            named = {
                name: self._reads[name](value, name) if name in self._reads else value
                for name, value in named.items()
            }
        own = [it for it in self._parameters if it.kind is it.POSITIONAL_ONLY]
        # A default before a value that was sent has to be passed, too: their order counts.
        taken = max((at for at, it in enumerate(own, 1) if it.name in named), default=0)
        positional = [named.pop(it.name, it.default) for it in own[:taken]]
        context = {} if self.context is None else {self.context: None}
        inspect.signature(self._function).bind(*positional, **named, **context)
        return positional, named

    def _annotations(self, names: list[str]) -> dict[str, Any]:
        """The annotations of the parameters, as types."""
        function: Any = self._function
        while isinstance(function, partial):
            function = function.func
        if isinstance(function, type):
            function = function.__init__  # type: ignore[misc]  # a class is called as its __init__
        elif not inspect.isroutine(function):
            function = type(function).__call__
        function = inspect.unwrap(function)
        every = getattr(function, "__annotations__", {})
        own = SimpleNamespace(__annotations__={it: every[it] for it in names if it in every})
        try:
            return get_type_hints(own, getattr(function, "__globals__", None), include_extras=True)
        except Exception as error:  # evaluating annotations may raise anything
            raise TypeError(
                f"the annotations of the tool {self.name!r} cannot be read: {error}"
            ) from error

    def _needs_pydantic(self) -> str:
        extra = LIBRARIES["pydantic"].extra
        return (
            f"the annotations of the tool {self.name!r} need pydantic to be checked: "
            f"install jsonrill[{extra}]"
        )

    def _arguments_type(self) -> Any:
        """The arguments as a type that pydantic takes."""
        from pydantic import ConfigDict
        from typing_extensions import TypedDict

        fields: dict[str, Any] = {}
        for it in self._parameters or ():
            hint = self._hints.get(it.name, Any)
            fields[it.name] = Required[hint] if it.default is it.empty else NotRequired[hint]
        make: Any = TypedDict  # checkers take only fields that are written out
        arguments = make("Arguments", fields)
        arguments.__pydantic_config__ = ConfigDict(extra="allow" if self._more else "forbid")
        return arguments

    def _pydantic_json_schema(self) -> dict[str, Any]:
        try:
            from pydantic import TypeAdapter
        except ImportError:
            raise TypeError(self._needs_pydantic()) from None
        schema: dict[str, Any] = TypeAdapter(self._arguments_type()).json_schema()
        schema.pop("title", None)
        return schema

    def _pydantic_schema(self) -> Schema | None:
        from pydantic import PydanticSchemaGenerationError

        from ..schema import Schema

        try:
            return Schema(self._arguments_type())
        except (PydanticSchemaGenerationError, TypeError, ValueError) as error:
            if self._reads is not None:  # of some types of its own Python says too little
                return None
            raise TypeError(
                f"a parameter of the tool {self.name!r} is of a type that JSON cannot give: {error}"
            ) from error


def _is_json(value: Any) -> bool:
    return value is None or type(value) in (str, int, float, bool)


def check_bounds(concurrency: int | None, timeout: float | None) -> None:
    """Refuse bounds under which nothing could run."""
    if concurrency is not None and (type(concurrency) is not int or concurrency < 1):
        raise ValueError(f"concurrency is a whole number from 1 up, not {concurrency!r}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout is a number of seconds above 0, not {timeout!r}")

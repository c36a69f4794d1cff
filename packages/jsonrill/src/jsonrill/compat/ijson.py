"""`from jsonrill.compat import ijson`: `items`, `kvitems`, `parse`, `basic_parse`.

Over files, asynchronous files, `bytes` and `str`; ijson need not be installed. Numbers are `int`
and `Decimal`, or with `use_float` `int` and `float`. Other names are those of ijson, if it is
installed. Errors are ijson's, with jsonrill's messages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from inspect import iscoroutinefunction
from io import BytesIO
from math import isinf
from typing import TYPE_CHECKING, Any, Final

from ..errors import FAR, InvalidJSON, LimitExceeded, Limits, Truncated
from ..parse.machine import Machine
from ..parse.sink import Sink
from .originals import attribute_of, original

__all__ = ["IncompleteJSONError", "JSONError", "basic_parse", "items", "kvitems", "parse"]

_original: Final = original("ijson")
__getattr__ = attribute_of(_original, __name__)
_BLOCK: Final = 64 * 1024
_LIMITS: Final = Limits(depth=10_000, text=FAR, string=FAR, keys=FAR)

if _original is None or TYPE_CHECKING:

    class JSONError(Exception):
        """The text is not JSON."""

    class IncompleteJSONError(JSONError):
        """The text ends too early."""
else:
    JSONError, IncompleteJSONError = _original.JSONError, _original.IncompleteJSONError


class _Collector(Sink):
    """What is found in the pieces read since the caller took it."""

    __slots__ = ("_string", "taken")

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self._string: list[str] = []

    def start_string(self, offset: int) -> None:
        self._string = []

    def text(self, run: str) -> None:
        self._string.append(run)

    def end_string(self) -> None:
        self.scalar("".join(self._string), None, 0)


class _Events(_Collector):
    """The events of `basic_parse`."""

    __slots__ = ("_objects",)

    def __init__(self) -> None:
        super().__init__()
        self._objects: list[bool] = []

    def start_object(self, offset: int) -> None:
        self._objects.append(True)
        self.emit("start_map", None)

    def start_array(self, offset: int) -> None:
        self._objects.append(False)
        self.emit("start_array", None)

    def end_container(self, offset: int) -> None:
        self.emit("end_map" if self._objects.pop() else "end_array", None)

    def key(self, key: str, offset: int) -> None:
        self.emit("map_key", key)

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if value is None:
            self.emit("null", None)
        elif value is True or value is False:
            self.emit("boolean", value)
        else:
            self.emit("string" if type(value) is str else "number", value)

    def emit(self, event: str, value: Any) -> None:
        self.taken.append((event, value))


class _PlacedEvents(_Events):
    """The events of `parse`, each with its prefix."""

    __slots__ = ("_path",)

    def __init__(self) -> None:
        super().__init__()
        self._path: list[str] = []

    def emit(self, event: str, value: Any) -> None:
        path = self._path
        if event == "map_key":
            self.taken.append((".".join(path[:-1]), event, value))
            path[-1] = value
            return
        if event.startswith("end"):
            path.pop()
        self.taken.append((".".join(path), event, value))
        if event.startswith("start"):
            path.append("item" if event == "start_array" else "")


class _Items(_Collector):
    """The values at a prefix, or with `pairs` the keys and values of the objects there."""

    __slots__ = ("_building", "_key", "_make", "_pair_key", "_pairs", "_prefix", "_prefixes",
                 "_wanted")  # fmt: skip

    def __init__(self, wanted: str, pairs: bool, make: Callable[[], Any] | None) -> None:
        super().__init__()
        self._wanted, self._pairs, self._make = wanted, pairs, make
        # The prefix of the value that comes next; those of the containers around it. Of each also
        # whether it is an array.
        self._prefix = ""
        self._prefixes: list[tuple[str, bool]] = []
        # The containers that are being built, from the wanted one inward.
        self._building: list[Any] = []
        self._key = self._pair_key = ""

    def start_object(self, offset: int) -> None:
        self._open({} if self._make is None else self._make(), False)

    def start_array(self, offset: int) -> None:
        self._open([], True)

    def end_container(self, offset: int) -> None:
        if not self._building:
            self._prefix = self._prefixes.pop()[0]
            return
        value = self._building.pop()
        if not self._building:
            self._take(value)

    def key(self, key: str, offset: int) -> None:
        self._key = key
        if not self._building:
            self._pair_key = key
            around = self._prefixes[-1][0]
            self._prefix = f"{around}.{key}" if len(self._prefixes) > 1 else key

    def scalar(self, value: Any, text: str | None, offset: int) -> None:
        if self._building:
            self._put(value)
        elif self._is_wanted():
            self._take(value)

    def takes_values(self) -> bool:
        return self._make is None and (bool(self._building) or self._is_wanted())

    def _is_wanted(self) -> bool:
        """True if the value that comes next is one that is looked for."""
        if not self._pairs:
            return self._prefix == self._wanted
        return bool(self._prefixes) and self._prefixes[-1] == (self._wanted, False)

    def _take(self, value: Any) -> None:
        self.taken.append((self._pair_key, value) if self._pairs else value)

    def _open(self, container: Any, array: bool) -> None:
        if self._building:
            self._put(container)
            self._building.append(container)
        elif self._is_wanted():
            self._building.append(container)
        else:
            self._prefixes.append((self._prefix, array))
            if array:
                self._prefix = f"{self._prefix}.item" if len(self._prefixes) > 1 else "item"

    def _put(self, value: Any) -> None:
        container = self._building[-1]
        if type(container) is list:
            container.append(value)
        else:
            container[self._key] = value


def _float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text} is not a float")  # the machine says where
    return number


class _Reading:
    """A text that is read in blocks."""

    def __init__(self, sink: _Collector, use_float: bool, multiple_values: bool) -> None:
        self._sink = sink
        number = _float if use_float else Decimal
        self._machine = Machine(sink, many=multiple_values, parse_float=number, limits=_LIMITS)

    def read(self, block: str | bytes) -> Iterator[Any]:
        """What this block brings; an empty one is the end of the text."""
        try:
            if block:
                self._machine.feed(block)
            else:
                self._machine.flush()
        except (InvalidJSON, LimitExceeded) as wrong:
            error: InvalidJSON | LimitExceeded | None = wrong
        else:
            error = next(iter(self._machine.errors), None)
        taken, self._sink.taken = self._sink.taken, []
        yield from taken
        if error is not None:
            kind = IncompleteJSONError if isinstance(error, Truncated) else JSONError
            raise kind(str(error)) from error


def _blocks(reading: _Reading, file: Any, size: int) -> Iterator[Any]:
    block = True
    while block:
        block = file.read(size)
        yield from reading.read(block)


async def _async_blocks(reading: _Reading, file: Any, size: int) -> AsyncIterator[Any]:
    block = True
    while block:
        block = await file.read(size)
        for value in reading.read(block):
            yield value


def _read(name: str, source: Any, sink: _Collector, buf_size: int, options: dict[str, Any]) -> Any:
    """An iterator, or of an asynchronous file an asynchronous one."""
    if isinstance(source, str):
        source = source.encode()
    if isinstance(source, bytes):
        source = BytesIO(source)
    if options.pop("allow_comments", False):
        raise ValueError("comments are not supported")
    unknown = options.keys() - {"use_float", "multiple_values"}
    if unknown:
        raise TypeError(f"{name}() has no option {', '.join(sorted(unknown))}")
    if not hasattr(source, "read"):
        raise ValueError(f"Unknown source type: {type(source)!r}")
    reading = _Reading(sink, options.get("use_float", False), options.get("multiple_values", False))
    if iscoroutinefunction(source.read):
        return _async_blocks(reading, source, buf_size)
    return _blocks(reading, source, buf_size)


def basic_parse(source: Any, buf_size: int = _BLOCK, **options: Any) -> Any:
    """`(event, value)` for each token."""
    return _read("basic_parse", source, _Events(), buf_size, options)


def parse(source: Any, buf_size: int = _BLOCK, **options: Any) -> Any:
    """`(prefix, event, value)` for each token."""
    return _read("parse", source, _PlacedEvents(), buf_size, options)


def items(
    source: Any,
    prefix: str,
    map_type: Callable[[], Any] | None = None,
    buf_size: int = _BLOCK,
    **options: Any,
) -> Any:
    """The values at a prefix, each when it is complete."""
    return _read("items", source, _Items(prefix, False, map_type), buf_size, options)


def kvitems(
    source: Any,
    prefix: str,
    map_type: Callable[[], Any] | None = None,
    buf_size: int = _BLOCK,
    **options: Any,
) -> Any:
    """`(key, value)` for each member of the objects at a prefix."""
    return _read("kvitems", source, _Items(prefix, True, map_type), buf_size, options)

"""One adaptor for each way to read JSON that arrives in pieces; a look at the value after each.

`run` is what is timed: the loop that a user of that library would write, as tight as it gets.
`steps` yields the value after each piece and is what correctness is judged by; `whole` reads a
whole text and raises if it is not JSON. Packages are imported when a contestant is made.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCE: Final = ROOT / "packages" / "jsonrill" / "src"


class Nothing(Enum):
    """What is shown before there is any value. An Enum, because a copy of it stays itself."""

    NOTHING = "nothing"


NOTHING: Final[Any] = Nothing.NOTHING


class Unfit(Exception):
    """This contestant cannot read this kind of text at all, by its own design."""


@cache
def fresh(name: str, *, path: Path | None = None, without: tuple[str, ...] = ()) -> Any:
    """Import a package anew, from `path`, as if the packages `without` were not installed.

    So that two builds of one package can run side by side in one process. What a package imports
    when it is first used needs `importing` around that use.
    """
    with importing(name, path, without) as package:
        if name == "jsonrill":
            for public in package.__all__:
                getattr(package, public)  # what it imports when it is first asked for
        return package


@contextmanager
def importing(name: str, path: Path | None = None, without: tuple[str, ...] = ()) -> Iterator[Any]:
    """The package as `fresh` imports it, with which everything inside works."""
    before = {key: sys.modules.pop(key) for key in list(sys.modules) if key.split(".")[0] == name}
    sys.modules.update(dict.fromkeys(without))  # type: ignore[arg-type]  # None: cannot be imported
    sys.path[:0] = [str(path)] if path else []
    try:
        yield import_module(name)
    finally:
        if path:
            sys.path.remove(str(path))
        for key in list(sys.modules):
            if key.split(".")[0] in (name, *without):
                del sys.modules[key]
        sys.modules.update(before)


class Contestant:
    """What is common: a name, the packages whose versions are printed, and how values come."""

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]] = ()

    def prepare(self, text: str) -> None:
        """Before any timing: whatever has to be known about the text, or Unfit."""

    def run(self, pieces: Iterable[str]) -> Any:
        for _ in self.steps(pieces):
            pass

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        raise NotImplementedError

    def whole(self, text: str) -> Any:
        return list(self.steps([text]))[-1]


class Reparser(Contestant):
    """Keeps no state: the whole text so far is parsed again for every piece."""

    def parse(self, text: str) -> Any:
        raise NotImplementedError

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        text = ""
        for piece in pieces:
            text += piece
            yield self.parse(text)

    def whole(self, text: str) -> Any:
        return self.parse(text)


# ---- ours ----


class Ours(Contestant):
    place: ClassVar[Path] = SOURCE

    def __init__(self) -> None:
        self.jsonrill = fresh("jsonrill", path=self.place)
        assert self.jsonrill.compiled == (self.place != Ours.place), self.place

    def new(self) -> Any:
        return self.jsonrill.Document()

    def run(self, pieces: Iterable[str]) -> Any:
        document = self.jsonrill.Document()
        for piece in pieces:
            document.feed(piece)
            document.live  # noqa: B018

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        document = self.jsonrill.Document()
        for piece in pieces:
            document.feed(piece)
            yield document.value if document.started else NOTHING

    def whole(self, text: str) -> Any:
        document = self.jsonrill.Document()
        document.feed(text)
        document.flush()
        return document.value


class Unread(Ours):
    """Nobody looks until the end."""

    def run(self, pieces: Iterable[str]) -> Any:
        document = self.jsonrill.Document()
        for piece in pieces:
            document.feed(piece)
        document.live  # noqa: B018


class Kept(Ours):
    def run(self, pieces: Iterable[str]) -> Any:
        document = self.jsonrill.Document()
        for piece in pieces:
            document.feed(piece)
            document.value  # noqa: B018


class Fragments(Ours):
    def run(self, pieces: Iterable[str]) -> Any:
        parser = self.jsonrill.Parser()
        for piece in pieces:
            parser.feed(piece)


COMPILED: Final = ROOT / ".venv" / "compiled"


class PureLive(Ours):
    name = "jsonrill, pure Python"


class CompiledLive(Ours):
    name = "jsonrill, compiled"
    place = COMPILED


class PureUnread(Unread):
    name = "jsonrill, not looked at, pure Python"


class CompiledUnread(Unread):
    name = "jsonrill, not looked at, compiled"
    place = COMPILED


class PureKept(Kept):
    name = "jsonrill `.value`, pure Python"


class CompiledKept(Kept):
    name = "jsonrill `.value`, compiled"
    place = COMPILED


class PureFragments(Fragments):
    name = "jsonrill fragments, pure Python"


class CompiledFragments(Fragments):
    name = "jsonrill fragments, compiled"
    place = COMPILED


# ---- rivals that keep state ----


class StreamingJsonParser(Contestant):
    """The value is live too: it changes with the next piece."""

    name = "streaming-json-parser, Rust"
    packages: ClassVar[tuple[str, ...]] = ("streaming-json-parser", "streaming-json-parser-native")
    without: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        package = fresh("streaming_json_parser", without=self.without)
        self.parser: Callable[[], Any] = package.StreamingJsonParser
        self.invalid = package.ParseStatus.INVALID
        self.empty = package.ParseStatus.EMPTY

    def run(self, pieces: Iterable[str]) -> Any:
        parser = self.parser()
        for piece in pieces:
            parser.feed(piece).value  # noqa: B018

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        parser = self.parser()
        for piece in pieces:
            result = parser.feed(piece)
            if result.status is self.invalid:
                raise ValueError(result.error)
            yield NOTHING if result.status is self.empty else result.value

    def whole(self, text: str) -> Any:
        parser = self.parser()
        parser.feed(text)
        result = parser.finish()
        if result.status is self.invalid:
            raise ValueError(result.error)
        return result.value


class StreamingJsonParserPure(StreamingJsonParser):
    name = "streaming-json-parser, pure Python"
    packages = ("streaming-json-parser",)
    without = ("streaming_json_parser_native",)


class JsonRiver(Contestant):
    """Its interface is asynchronous; it is driven by hand, so no event loop is paid for."""

    name = "jsonriver"
    packages = ("jsonriver",)

    def __init__(self) -> None:
        self.parse = import_module("jsonriver").parse

    def run(self, pieces: Iterable[str]) -> Any:
        async def source() -> Any:
            for piece in pieces:
                yield piece

        async def read() -> None:
            async for _ in self.parse(source()):
                pass

        with suppress(StopIteration):
            read().send(None)

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        """It yields when something changed: for pieces without a change, the value before it."""
        fed = 0

        async def source() -> Any:
            nonlocal fed
            for piece in pieces:
                fed += 1
                yield piece

        values, value, shown = self.parse(source()), NOTHING, 0
        while True:
            try:
                values.__anext__().send(None)
            except StopIteration as done:
                yield from [value] * (fed - shown - 1)
                value, shown = copy.deepcopy(done.value), fed
                yield value
            except StopAsyncIteration:
                yield from [value] * (fed - shown)
                return


class IjsonC(Contestant):
    """Events are put together by its own ObjectBuilder; a string is seen when it has ended."""

    name = "ijson, C"
    packages = ("ijson",)
    backend: ClassVar[str] = "yajl2_c"

    def __init__(self) -> None:
        self.ijson = import_module("ijson")
        self.parse = self.ijson.get_backend(self.backend).basic_parse_coro
        self.builder = import_module("ijson.common").ObjectBuilder

    def run(self, pieces: Iterable[str]) -> Any:
        events, builder = self.ijson.sendable_list(), self.builder()
        parser = self.parse(events, use_float=True)
        for piece in pieces:
            parser.send(piece.encode())
            if events:
                for event, value in events:
                    builder.event(event, value)
                del events[:]
                builder.value  # noqa: B018

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        events, builder = self.ijson.sendable_list(), self.builder()
        parser, started = self.parse(events, use_float=True), False
        for piece in pieces:
            parser.send(piece.encode())
            started = started or bool(events)
            for event, value in events:
                builder.event(event, value)
            del events[:]
            yield builder.value if started else NOTHING

    def whole(self, text: str) -> Any:
        events, builder = self.ijson.sendable_list(), self.builder()
        parser = self.parse(events)
        parser.send(text.encode())
        with suppress(StopIteration):
            parser.close()
        for event, value in events:
            builder.event(event, value)
        return builder.value


class IjsonPython(IjsonC):
    name = "ijson, pure Python"
    backend = "python"


# ---- rivals that parse the text so far anew ----


class Jiter(Reparser):
    """It takes bytes alone; they are gathered as bytes."""

    name = "jiter"
    packages = ("jiter",)

    def __init__(self) -> None:
        self.from_json = import_module("jiter").from_json

    def run(self, pieces: Iterable[str]) -> Any:
        from_json, data = self.from_json, b""
        for piece in pieces:
            data += piece.encode()
            from_json(data, partial_mode="trailing-strings")

    def parse(self, text: str) -> Any:
        return self.from_json(text.encode(), partial_mode="trailing-strings")


class PydanticCore(Reparser):
    name = "pydantic_core"
    packages = ("pydantic_core",)

    def __init__(self) -> None:
        self.from_json = import_module("pydantic_core").from_json

    def run(self, pieces: Iterable[str]) -> Any:
        from_json, text = self.from_json, ""
        for piece in pieces:
            text += piece
            from_json(text, allow_partial="trailing-strings")

    def parse(self, text: str) -> Any:
        return self.from_json(text, allow_partial="trailing-strings")


class PartialJsonParser(Reparser):
    name = "partial-json-parser"
    packages = ("partial-json-parser",)

    def __init__(self) -> None:
        self.parse = import_module("partial_json_parser").loads  # type: ignore[method-assign]


class JsonRepair(Reparser):
    name = "json_repair"
    packages = ("json_repair",)

    def __init__(self) -> None:
        self.loads = import_module("json_repair").loads

    def parse(self, text: str) -> Any:
        return self.loads(text, stream_stable=True)


class LangChain(Reparser):
    name = "langchain-core"
    packages = ("langchain-core",)

    def __init__(self) -> None:
        module = import_module("langchain_core.utils.json")
        self.parse = module.parse_partial_json  # type: ignore[method-assign]


class Instructor(Contestant):
    """Gives models, not plain values, so it has to be told what the text holds."""

    name = "instructor"
    packages = ("instructor", "jiter")

    def __init__(self) -> None:
        self.partial = import_module("instructor").Partial
        self.models = import_module("bench.models")
        self.model: Any = None

    def prepare(self, text: str) -> None:
        self.model = self.partial[self.models.model_for(text)]

    def steps(self, pieces: Iterable[str]) -> Iterator[Any]:
        yield from self.model.model_from_chunks(pieces)


# ---- whole texts ----


class Loads(Reparser):
    name = "json.loads"

    def run(self, pieces: Iterable[str]) -> Any:
        for piece in pieces:
            json.loads(piece)

    def parse(self, text: str) -> Any:
        return json.loads(text)


class Orjson(Reparser):
    name = "orjson.loads"
    packages = ("orjson",)

    def __init__(self) -> None:
        self.loads = import_module("orjson").loads

    def run(self, pieces: Iterable[str]) -> Any:
        for piece in pieces:
            self.loads(piece)

    def parse(self, text: str) -> Any:
        return self.loads(text)

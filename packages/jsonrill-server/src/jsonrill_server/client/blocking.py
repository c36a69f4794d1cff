"""The client for programs that are not async."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar, Unpack, overload

from jsonrill.options import ReadOptions
from jsonrill.partial_stream import Update
from jsonrill.streams.documents import values
from jsonrill.streams.types import Adapter, JsonSchema
from jsonrill.toolcalls import ToolCallUpdate
from jsonrill.wire.fragment import Fragment

from .carriers import Blocking, carry_out, iterate
from .operations import RETRY_FOR, TIMEOUT, Dialect, Operations, ReadingOptions

if TYPE_CHECKING:
    import httpx2

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    operation: Callable[Concatenate[Operations, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """An operation as a method of `Client`, which returns when it is done."""

    @wraps(operation)
    def method(self: Client, /, *args: P.args, **options: P.kwargs) -> T:
        return carry_out(operation(self._operations, *args, **options))

    return method


class Client:
    """A client of jsonrill's server, for programs that are not async.

    `token` is the server's; `producer` names who publishes, by default a name of its own: of two
    clients with the same name the one that began later goes on, and the other is refused. A
    request, and the silence of an event stream, may take `timeout` seconds; whatever fails is tried
    again for `retry_for` seconds. `transport` is one of httpx2. Threads may share a client.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = TIMEOUT,
        retry_for: float = RETRY_FOR,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        carrier = Blocking(token, timeout, transport)
        self._operations = Operations(carrier, url, producer, retry_for)
        self.url, self.producer = self._operations.url, self._operations.producer

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    shutdown = _blocking(Operations.shutdown)
    create = _blocking(Operations.create)
    publish = _blocking(Operations.publish)
    close = _blocking(Operations.close)
    fail = _blocking(Operations.fail)
    cancel = _blocking(Operations.cancel)
    delete = _blocking(Operations.delete)
    status = _blocking(Operations.status)
    value = _blocking(Operations.value)

    @overload
    def read(
        self, stream: str, format: Literal["updates"] = "updates", **options: Unpack[ReadingOptions]
    ) -> Generator[Update]: ...
    @overload
    def read(
        self, stream: str, format: Literal["fragments"], **options: Unpack[ReadingOptions]
    ) -> Generator[Fragment]: ...
    @overload
    def read(
        self, stream: str, format: Literal["chunks"], **options: Unpack[ReadingOptions]
    ) -> Generator[str]: ...
    @overload
    def read(
        self, stream: str, format: Literal["calls"], **options: Unpack[ReadingOptions]
    ) -> Generator[ToolCallUpdate]: ...
    @overload
    def read(
        self, stream: str, format: Dialect, **options: Unpack[ReadingOptions]
    ) -> Generator[dict[str, Any]]: ...
    @overload
    def read(
        self, stream: str, format: str, **options: Unpack[ReadingOptions]
    ) -> Generator[Any]: ...
    def read(
        self, stream: str, format: str = "updates", **options: Unpack[ReadingOptions]
    ) -> Generator[Any]:
        """Yield what is published, as it comes, in this format, to the end of the stream.

        `updates` are `Update`s, `fragments` `Fragment`s, `chunks` pieces of the text, `calls`
        `ToolCallUpdate`s, `raw` the records themselves; events of other clients (`openai`,
        `ai-sdk`, `ag-ui`) are dicts. A connection that breaks is resumed after the last event:
        nothing is missing, and nothing comes twice. `after` is the id of an event to go on from.
        A stream that did not end well raises `StreamFailed` behind its last event.
        """
        return iterate(self._operations.read(stream, format, **options))

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> Generator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> Generator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)

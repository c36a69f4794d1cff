"""The client for asyncio."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from jsonrill.options import ReadOptions
from jsonrill.partial_stream import Update
from jsonrill.streams.documents import values
from jsonrill.streams.types import Adapter, JsonSchema
from jsonrill.toolcalls import ToolCallUpdate
from jsonrill.wire.fragment import Fragment

from .carriers import InLoop
from .operations import RETRY_FOR, TIMEOUT, Dialect, Operations, ReadingOptions

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


class AsyncClient(Operations):
    """A client of jsonrill's server for asyncio; arguments and methods are those of `Client`."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = TIMEOUT,
        retry_for: float = RETRY_FOR,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(InLoop(token, timeout, transport), url, producer, retry_for)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    @overload
    def read(
        self, stream: str, format: Literal["updates"] = "updates", **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[Update]: ...
    @overload
    def read(
        self, stream: str, format: Literal["fragments"], **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[Fragment]: ...
    @overload
    def read(
        self, stream: str, format: Literal["chunks"], **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[str]: ...
    @overload
    def read(
        self, stream: str, format: Literal["calls"], **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[ToolCallUpdate]: ...
    @overload
    def read(
        self, stream: str, format: Dialect, **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[dict[str, Any]]: ...
    @overload
    def read(
        self, stream: str, format: str, **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[Any]: ...
    def read(
        self, stream: str, format: str = "updates", **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[Any]:
        """Yield what is published, as it comes, as `Client.read` does."""
        return super().read(stream, format, **options)

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> AsyncGenerator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> AsyncGenerator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)

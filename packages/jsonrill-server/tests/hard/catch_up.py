"""Many readers who come back at the same moment, as after a restart, and how long they wait."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlsplit

import httpx2

from support.processes import Server

LAST = "the last of all"


class Returning(asyncio.Protocol):
    """A connection that reads until the last record has come, with as little work as possible."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._end = b""
        self.events = 0
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.events += data.count(b"\ndata: ")
        if LAST.encode() in self._end + data and not self.done.done():
            self.done.set_result(self.events)
        self._end = data[-64:]

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(ConnectionError("the connection ended before the last record"))


async def publish(server: Server, records: int, size: int) -> str:
    """A stream, still open, of this number of records with this number of characters each."""
    async with httpx2.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as http:
        stream = str((await http.post("/v1/streams", json={})).json()["id"])
        texts = ["[", *[json.dumps("x" * (size - 3)) + ","] * (records - 2), json.dumps(LAST)]
        for at in range(0, records, 500):
            lines = "".join(json.dumps(text) + "\n" for text in texts[at : at + 500])
            headers = {"content-type": "application/x-ndjson"}
            path = f"/v1/streams/{stream}/events"
            assert (await http.post(path, content=lines, headers=headers)).status_code == 200
        return stream


async def come_back(
    server: Server, stream: str, query: str, positions: list[int]
) -> tuple[float, list[int]]:
    """Seconds until each of these readers had the rest, and how many events it was for each."""
    url = urlsplit(server.url)
    path = f"/v1/streams/{stream}/events?{query}"
    loop = asyncio.get_running_loop()
    readers = []
    begun = time.monotonic()
    for position in positions:
        last = f"Last-Event-ID: {position}\r\n" if position else ""
        request = f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\n{last}\r\n".encode()
        reader = Returning(request)
        await loop.create_connection(lambda reader=reader: reader, "127.0.0.1", url.port or 0)  # type: ignore[misc]
        readers.append(reader)
    counts = await asyncio.gather(*(reader.done for reader in readers))
    took = time.monotonic() - begun
    for reader in readers:
        reader.transport.abort()
    return took, counts

"""One request to the server's application, without a network."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2

from jsonrill_server import Config, create_app


def asked(method: str, url: str, config: Config | None = None, **more: Any) -> httpx2.Response:
    async def work() -> httpx2.Response:
        app = create_app(config or Config(access_log=False))
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            answer = await http.request(method, url, **more)
        await app.state.hub.close()
        return answer

    return asyncio.run(work())

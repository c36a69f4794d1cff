"""A trip planner: a model writes the plan as JSON and proposes bookings as tool calls.

The run goes on when the page is closed or reloaded: see docs/runs.md. `uvicorn app:app` serves it.
"""

import os
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Body, FastAPI, Request
from fastapi.staticfiles import StaticFiles
from openai import AsyncOpenAI

from jsonrill_server import Runs

ASK = """Plan a trip. Write nothing but JSON: {"title": "…", "days": [{"city": "…", "activities":
[{"time": "09:00", "title": "…"}]}]}. Then call `book` for each hotel and ticket to buy."""
TEXTS = {name: {"type": "string"} for name in ("what", "city", "date")}
BOOK = {"name": "book", "parameters": {"type": "object", "properties": TEXTS}}

app = FastAPI()
client = AsyncOpenAI()
runs = Runs(os.environ.get("STORE", "sqlite:///trips.db"))


@app.post("/api/trips")
async def plan(wish: Annotated[str, Body(embed=True)]) -> dict[str, str]:
    id = uuid4().hex
    ask: dict[str, Any] = {"model": os.environ.get("MODEL", "gpt-4.1"), "stream": True}
    ask["messages"] = [{"role": "system", "content": ASK}, {"role": "user", "content": wish}]
    ask["tools"] = [{"type": "function", "function": BOOK}]
    await runs.start(id, lambda: client.chat.completions.create(**ask))
    return {"id": id}


@app.get("/api/trips/{id}")
async def read(id: str, request: Request) -> Any:
    return runs.response(request, id, format="raw")


@app.delete("/api/trips/{id}")
async def stop(id: str) -> dict[str, bool]:
    return {"stopped": await runs.cancel(id)}


app.mount("/", StaticFiles(directory=os.environ.get("PAGE", "web/dist"), html=True))

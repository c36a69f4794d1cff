"""A trip planner: a model writes the plan as JSON and books with a tool that runs here.

The run continues when the page is closed or reloaded (docs/runs.md). `uvicorn app:app` serves it.
"""

import os
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Body, FastAPI, Request
from fastapi.staticfiles import StaticFiles
from openai import AsyncOpenAI

from jsonrill import Part, run_tools
from jsonrill_server import Runs

PROMPT = """Plan a trip. Write nothing but JSON: {"title": "…", "days": [{"city": "…", "activities":
[{"time": "09:00", "title": "…"}]}]}. Then call `book` for each hotel and ticket to buy."""
TEXTS = {name: {"type": "string"} for name in ("what", "city", "date")}
BOOK = {"name": "book", "parameters": {"type": "object", "properties": TEXTS}}

app = FastAPI()
client = AsyncOpenAI()
runs = Runs(os.environ.get("STORE", "sqlite:///trips.db"))


def book(what: str, city: str, date: str) -> str:
    """Book something; this one only says so."""
    return f"booked: {what} in {city} on {date}"


async def answer(wish: str) -> AsyncIterator[Part]:
    """Yield the parts of the answer; each booking starts when its arguments are complete."""
    messages: list[Any] = [
        {"role": "system", "content": PROMPT},
        {"role": "user", "content": wish},
    ]
    tools: list[Any] = [{"type": "function", "function": BOOK}]
    model = os.environ.get("MODEL", "gpt-4.1")
    stream = await client.chat.completions.create(
        model=model, messages=messages, tools=tools, stream=True
    )
    async for part in run_tools(stream, {"book": book}):
        yield part


@app.post("/api/trips")
async def plan(wish: Annotated[str, Body(embed=True)]) -> dict[str, str]:
    id = uuid4().hex
    await runs.start(id, lambda: answer(wish))
    return {"id": id}


@app.get("/api/trips/{id}")
async def read(id: str, request: Request) -> Any:
    return await runs.response(request, id, format="raw")


@app.delete("/api/trips/{id}")
async def stop(id: str) -> dict[str, bool]:
    return {"stopped": await runs.cancel(id)}


app.mount("/", StaticFiles(directory=os.environ.get("PAGE", "web/dist"), html=True))

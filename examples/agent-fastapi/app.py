"""An agent with two tools; one of them a person has to approve. `uvicorn app:app` serves it.

It goes on after a reload, in another process, and hours later: see docs/agents.md.
"""

import asyncio
import os
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Body, FastAPI, Request
from fastapi.staticfiles import StaticFiles

import jsonrill
from jsonrill.continuing import SoFar
from jsonrill_server import Run, Runs

PROVIDER = os.environ.get("PROVIDER", "openai")
MODEL = os.environ.get("MODEL", "gpt-4.1")
LEASE = float(os.environ.get("LEASE", "10"))


@jsonrill.tool(idempotent=True)
async def weather(city: str) -> dict[str, Any]:
    """The weather in a city."""
    await asyncio.sleep(0.05)
    return {"city": city, "degrees": 31 if city == "Rome" else 12}


@jsonrill.tool(approve=True)
async def book(city: str, nights: int, context: jsonrill.ToolContext) -> str:
    """Book a hotel."""
    await asyncio.sleep(0.05)
    with open(os.environ.get("BOOKINGS", "bookings.txt"), "a") as bookings:
        bookings.write(f"{context.call_id} {city} {nights}\n")
    return f"booked {city} for {nights} nights"


TOOLS: dict[str, Any] = {"weather": weather, "book": book}
if PROVIDER == "openai":
    from openai import AsyncOpenAI

    openai = AsyncOpenAI()
elif PROVIDER == "anthropic":
    from anthropic import AsyncAnthropic

    anthropic = AsyncAnthropic()
else:
    from google import genai

    gemini = genai.Client().aio


async def ask(messages: list[Any]) -> Any:
    """The model's answer, which goes on if its connection is lost."""
    if PROVIDER == "gemini":
        return await request(messages)  # its calls are signed, which unbroken does not pass on

    async def again(so_far: SoFar | None) -> Any:
        return await request(so_far.messages(messages, PROVIDER) if so_far else messages)

    return jsonrill.unbroken(again)


async def request(messages: list[Any]) -> Any:
    tools = jsonrill.tool_specs(TOOLS, PROVIDER)
    if PROVIDER == "openai":
        create = openai.chat.completions.create
        return await create(model=MODEL, messages=messages, tools=tools, stream=True)
    if PROVIDER == "anthropic":
        create = anthropic.messages.create
        limit: Any = {"max_tokens": 4000, "stream": True}
        return await create(model=MODEL, messages=messages, tools=tools, **limit)
    generate = gemini.models.generate_content_stream
    return await generate(model=MODEL, contents=messages, config={"tools": tools})


async def trip(run: Run, wish: str) -> Any:
    """Begin a conversation, or go on with it: after a decision, or if its process is gone."""
    content = {"parts": [{"text": wish}]} if PROVIDER == "gemini" else {"content": wish}
    began = [{"role": "user", **content}]
    return jsonrill.agent(ask, TOOLS, messages=began, state=run.state, decisions=run.decisions)


app = FastAPI()
runs = Runs(os.environ.get("STORE", "sqlite:///trips.db"), resume={"trip": trip}, lease=LEASE)


@app.post("/api/trips")
async def begin(wish: Annotated[str, Body(embed=True)]) -> dict[str, str]:
    id = uuid4().hex
    await runs.start(id, resume="trip", args={"wish": wish})
    return {"id": id}


@app.get("/api/trips/{id}")
async def read(id: str, request: Request) -> Any:
    return runs.response(request, id)


@app.post("/api/trips/{id}/decisions")
async def decide(id: str, request: Request) -> Any:
    return runs.decision(request, id)


app.mount("/", StaticFiles(directory=os.environ.get("PAGE", "web/dist"), html=True))

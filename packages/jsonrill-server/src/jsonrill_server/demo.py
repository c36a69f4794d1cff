"""Simulated models, so that every example runs without a key.

`serve --demo` lists them for the page, lets them write streams, and answers the requests of
providers' clients: with a recording if the model has its name, else with tool calls, JSON for a
schema or a sentence, whatever the request wants, the same each time.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response, StreamingResponse

from jsonrill import ToolCalls
from jsonrill.demo.recordings import recorded
from jsonrill.jsontext import dumps
from jsonrill.sources.answer import AnswerText
from jsonrill.testing import EVENT_STREAM, Call, FakeAnswer, Script

from .access import Json, Problem
from .examples import NoExample, example
from .options import BadOption, Options
from .records import Input
from .result import Run

if TYPE_CHECKING:
    from .server import Server

# Seconds for each token of an answer that is not a recording.
PACE: Final = 0.01
# Pauses shorter than this are added up: a timer takes longer.
TICK: Final = 0.005
# Examples with more characters are not sent to the page.
MOST_CHARACTERS: Final = 50_000
# Calls of one tool, if a prompt has several names.
MOST_CALLS: Final = 4
TOPICS: Final = ("trip", "voyage", "booking", "recipe")
NEEDED: Final = {
    "/chat/completions": ("model", "messages"),
    "/responses": ("model", "input"),
    "/messages": ("model", "messages", "max_tokens"),
}


@dataclass(frozen=True, slots=True)
class Model:
    """A recording that is played. `suits` is the format that shows it best, `pace` is in pieces
    per second."""

    name: str
    title: str
    about: str
    recording: str = ""
    input: Input = "text"
    suits: str = "fragments"
    pace: float = 40.0
    options: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        return recorded(self.recording) if self.recording else large()

    def pieces(self, size: int) -> list[Any]:
        text = self.text()
        if self.input == "text":
            return [text[at : at + size] for at in range(0, len(text), size)]
        return [json.loads(line) for line in text.splitlines()]

    def answer(self) -> FakeAnswer:
        """Return what a provider's client gets: the text, the last snapshot, or what events say."""
        text, pace = self.text(), 1 / self.pace
        if self.input != "events":
            return FakeAnswer(text if self.input == "text" else text.splitlines()[-1], pace=pace)
        answer, calls = AnswerText("auto"), ToolCalls()
        written = "".join([answer.feed(line) for line in text.splitlines()])
        for line in text.splitlines():
            calls.feed(json.loads(line))
        made = [Call(call.name or "", call.raw, call.id or "") for call in calls.calls]
        return FakeAnswer(written, calls=made, pace=pace)

    def to_dict(self) -> dict[str, Any]:
        shown = ("name", "title", "about", "input", "suits", "pace", "options")
        about = {name: getattr(self, name) for name in shown}
        text = self.text()
        return {**about, "text": text} if len(text) <= MOST_CHARACTERS else about


def large() -> str:
    """Return a document of a little more than ten thousand values: 1 250 measurements."""
    measurements = [
        {
            "at": f"day {at * 7 // 24}, {at * 7 % 24:02}:00",
            "wave": (at * 37 % 400) / 100,
            "wind": {"from": ("north", "east", "south", "west")[at % 4], "knots": at * 13 % 41},
            "calm": at * 37 % 400 < 50,
            "sensors": [at % 7],
        }
        for at in range(1250)
    ]
    return json.dumps({"station": "buoy 17", "measurements": measurements})


@cache
def models() -> dict[str, Model]:
    return {fields["name"]: Model(**fields) for fields in json.loads(recorded("models.json"))}


def examples() -> list[dict[str, Any]]:
    """Return the models, each with what it writes."""
    return [model.to_dict() for model in models().values()]


class Order(BaseModel):
    """The body of POST /demo/streams."""

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str
    pace: float = Field(1.0, ge=0.01, le=1000)
    piece: int = Field(4, ge=1, le=4096)


class Demo:
    """The simulated models of a server."""

    async def records(self, run: Run, model: str, pace: float, piece: int) -> AsyncIterator[Any]:
        """Yield what a model writes after what is logged: another process can go on."""
        pieces, rate = models()[model].pieces(piece), models()[model].pace * pace
        clock = asyncio.get_running_loop().time
        first, begun = len(run.events), clock()
        for number in range(first, len(pieces)):
            wait = begun + (number + 1 - first) / rate - clock()
            if wait > TICK:
                await asyncio.sleep(wait)
            yield pieces[number]

    def add_routes(self, app: FastAPI, server: Server) -> None:
        from .server import json_body, urls_of

        async def list_models(request: Request) -> Response:
            server.tokens.owner(request)
            return Json({"models": examples()})

        async def start(request: Request) -> Response:
            owner = server.tokens.owner(request)
            try:
                order = Order.model_validate(await json_body(request))
                model = models()[order.model]
            except (ValidationError, KeyError):
                names = ", ".join(models())
                raise BadOption(f"the body has model (one of {names}), pace and piece") from None
            id = secrets.token_urlsafe(18)
            options = Options({"input": model.input, **model.options})
            await server.generate(owner, id, options, order.model_dump())
            urls = urls_of(request, id)
            body = {"id": id, "urls": urls, "model": model.to_dict()}
            return Json(body, 201, {"location": urls["stream"]})

        async def answer(request: Request) -> Response:
            server.tokens.owner(request)
            body = await request.body()
            if len(body) > server.settings.body_bytes:
                raise Problem(413, "LIMIT_EXCEEDED", "the body is too large")
            script = response_to(request.method, request.url.path, body)
            steps = play(script)
            if script.headers.get("content-type") == EVENT_STREAM["content-type"]:
                return StreamingResponse(steps, media_type=EVENT_STREAM["content-type"])
            content = b"".join([data async for data in steps])
            return Response(content, script.status, dict(script.headers))

        app.add_api_route("/demo/models", list_models)
        app.add_api_route("/demo/streams", start, methods=["POST"], status_code=201)
        app.add_api_route("/v1/models", answer)
        for path in NEEDED:
            app.add_api_route(f"/v1{path}", answer, methods=["POST"])


async def play(script: Script) -> AsyncIterator[bytes]:
    """Yield the bytes of a script, each when it is due."""
    clock = asyncio.get_running_loop().time
    due = clock()
    for step in script.steps:
        if isinstance(step, bytes):
            yield step
        elif isinstance(step, int | float):
            # A model does not hurry for a reader that was slow.
            due = max(due, clock() - TICK) + step
            if due - clock() >= TICK:
                await asyncio.sleep(due - clock())


# ---- the providers' APIs ----


class InvalidRequest(ValueError):
    """The request is not one that the API takes; `param` is the part that is wrong."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


def response_to(method: str, path: str, body: bytes) -> Script:
    """Return the response to a request of a provider's client."""
    if method == "GET":
        shown = [
            {"id": model.name, "object": "model", "display_name": model.title}
            for model in models().values()
        ]
        return Script.json({"object": "list", "data": shown})
    request: Any = None
    try:
        request = json.loads(body)
        answer = answer_to(path, request)
    except InvalidRequest as bad:
        answer = FakeAnswer(status=400, message=str(bad), param=bad.param)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        message = "a part of the request is missing, or has the wrong type"
        answer = FakeAnswer(status=400, message=message, param="body")
    return replace(answer, id=secrets.token_hex(12)).script(path, request)


def answer_to(path: str, body: dict[str, Any]) -> FakeAnswer:
    for name in next(names for ending, names in NEEDED.items() if path.endswith(ending)):
        if not body.get(name):
            raise InvalidRequest(f"Missing required parameter: '{name}'", name)
    model = models().get(body["model"])
    answer = _written(body) if model is None else model.answer()
    limits = (body.get(it) for it in ("max_completion_tokens", "max_tokens", "max_output_tokens"))
    limit = next((it for it in limits if it is not None), None)
    texts = (answer.reasoning, answer.text, *(call.text for call in answer.calls))
    if limit is not None and limit < sum(-(-len(text) // 4) for text in texts):
        return replace(answer, ending="length", after=limit)
    return answer


def _written(body: dict[str, Any]) -> FakeAnswer:
    history = body.get("messages") or body.get("input") or ""
    messages = [{"role": "user", "content": history}] if isinstance(history, str) else history
    prompt, called, results = _conversation(messages)
    names = _names(prompt)
    is_thinking = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    reasoning = "A short answer will do, the same each time."
    if not (is_thinking or (body.get("reasoning") or {}).get("summary")):
        reasoning = ""
    calls = [
        Call(tool, arguments, f"call_{len(called) + number}")
        for number, (tool, arguments) in enumerate(_calls(body, prompt, names, called, results), 1)
    ]
    if calls:
        return FakeAnswer("", reasoning, calls, pace=PACE)
    form = body.get("response_format") or body.get("output_format")
    form = form or (body.get("text") or body.get("output_config") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        text = dumps(_example((form.get("json_schema") or form)["schema"], names))
    elif form.get("type") == "json_object" or re.search(r"\bJSON\b", prompt):
        topic = next((topic for topic in TOPICS if topic in prompt.lower()), "recipe")
        text = recorded(f"{topic}.txt")
    elif results:
        said = "; ".join(f"{name} says {result}" for name, result in results)
        text = f"I have asked the tools. {said}."
    else:
        quoted = f"You said: {prompt.strip()[:200]}. " if prompt.strip() else ""
        text = f"{quoted}I am a simulated model. Give me a schema or tools, and I write JSON."
    return FakeAnswer(text, reasoning, pace=PACE)


def _conversation(messages: Any) -> tuple[str, list[str], list[tuple[str, str]]]:
    """Return the last prompt, the names of all calls, and the results since the prompt."""
    prompt = ""
    names: dict[str, str] = {}
    results: list[tuple[str, str]] = []
    for who, id, text in (turn for message in messages for turn in _turns(message)):
        if who == "call":
            names[id] = text
            results = []
        elif who == "result":
            results.append((names.get(id, "the tool"), text))
        else:
            prompt, results = text, []
    return prompt, [*names.values()], results


def _turns(message: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what a message says: calls and results with their id, and the user's text."""
    content = message.get("content")
    blocks = [it for it in content if isinstance(it, dict)] if isinstance(content, list) else []
    has_result = False
    for part in (message, *(message.get("tool_calls") or ()), *blocks):
        match part:
            case {"type": "tool_use" | "function_call", "name": name}:
                yield "call", part.get("call_id") or part["id"], name
            case {"id": id, "function": {"name": name}}:
                yield "call", id, name
            case {"tool_call_id": id} | {"tool_use_id": id} | {"call_id": id}:
                has_result = True
                yield "result", id, _text(part.get("content") or part.get("output"))
    if message.get("role") == "user" and content and not has_result:
        yield "user", "", _text(content)


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    texts = [it if isinstance(it, str) else it.get("text") for it in content]
    return " ".join(text for text in texts if isinstance(text, str))


def _calls(
    body: dict[str, Any],
    prompt: str,
    names: list[str],
    called: list[str],
    results: list[tuple[str, str]],
) -> list[tuple[str, Any]]:
    """Return the calls of the tools that the prompt mentions, or of the first one."""
    tools = dict(_tools(body.get("tools") or ()))
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        only = (choice.get("function") or choice).get("name")
        choice = choice.get("mode") or choice.get("type")
        if only is not None:
            tools, choice = {only: tools[only]}, "required"
    if choice == "none" or not tools or (results and choice == "auto"):
        return []
    mentioned = [name for name in tools if _is_mentioned(name, prompt.lower())]
    chosen = [name for name in mentioned if name not in called] or [*tools][:1]
    calls: list[tuple[str, Any]] = []
    for tool in chosen:
        # A tool that says nothing about its arguments is asked about the place.
        usual = {"properties": {"city": {"type": "string"}}} if names else {}
        schema = {"type": "object", **usual, **tools[tool]}
        for at in range(min(len(names), MOST_CALLS) or 1):
            call = (tool, _example(schema, names[at:] + names[:at]))
            if call not in calls:
                calls.append(call)
    return calls if body.get("parallel_tool_calls") is not False else calls[:1]


def _tools(tools: Any) -> Iterator[tuple[str, Any]]:
    for tool in tools:
        about = tool.get("function", tool)
        if "name" in about:
            yield about["name"], about.get("input_schema") or about.get("parameters") or {}


def _is_mentioned(tool: str, prompt: str) -> bool:
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    return any(re.search(rf"\b{word}", prompt) for word in (tool.lower(), *words) if len(word) > 3)


def _example(schema: Any, names: list[str]) -> Any:
    try:
        return example(schema, names)
    except NoExample as error:
        message = f"the simulated model cannot meet the schema: {error}"
        raise InvalidRequest(message, "schema") from error


def _names(prompt: str) -> list[str]:
    """Return the names in a prompt: words that begin with a capital inside a sentence."""
    names = re.findall(r"(?<=[\w,;:] )[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*", prompt)
    return [*dict.fromkeys(name for name in names if not name.isupper())]

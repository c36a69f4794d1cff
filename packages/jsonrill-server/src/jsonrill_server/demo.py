"""A simulated model, so that every example runs without a key.

`serve --demo` answers the requests of providers' clients: with tool calls, JSON for a schema or a
sentence, as the request demands. Equal requests get equal answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, Final

from fastapi import FastAPI, Request
from starlette.responses import Response, StreamingResponse

from jsonrill.demo.recordings import recorded
from jsonrill.jsontext import dumps
from jsonrill.testing import EVENT_STREAM, Call, FakeAnswer, Script

from .access import Tokens
from .examples import NoExample, example
from .web import Json

# Seconds for each token of an answer that is not a recording.
PACE: Final = 0.01
# Pauses shorter than this are added up: a timer takes longer.
TICK: Final = 0.005
# Calls of one tool, if a prompt has several names.
MOST_CALLS: Final = 4
TOPICS: Final = ("trip", "voyage", "booking", "recipe")
NEEDED: Final = {
    "/chat/completions": ("model", "messages"),
    "/responses": ("model", "input"),
    "/messages": ("model", "messages", "max_tokens"),
}


def add_routes(app: FastAPI, tokens: Tokens) -> None:
    """Answer the requests of providers' clients."""

    async def list_models(request: Request) -> Response:
        tokens.owner(request)
        model = {"id": "simulated", "object": "model", "display_name": "A simulated model"}
        return Json({"object": "list", "data": [model]})

    async def answer(request: Request) -> Response:
        tokens.owner(request)
        script = response_to(request.url.path, await request.body())
        steps = play(script)
        if script.headers.get("content-type") == EVENT_STREAM["content-type"]:
            return StreamingResponse(steps, media_type=EVENT_STREAM["content-type"])
        content = b"".join([data async for data in steps])
        return Response(content, script.status, dict(script.headers))

    app.add_api_route("/v1/models", list_models)
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
            # Do not catch up after a slow reader: a real model would not.
            due = max(due, clock() - TICK) + step
            if due - clock() >= TICK:
                await asyncio.sleep(due - clock())


# ---- the providers' APIs ----


class InvalidRequest(ValueError):
    """The API rejects the request; `param` names the wrong parameter."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.param = param


def response_to(path: str, body: bytes) -> Script:
    """Return the response to a request of a provider's client."""
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
    for name in next(names for suffix, names in NEEDED.items() if path.endswith(suffix)):
        if not body.get(name):
            raise InvalidRequest(f"Missing required parameter: '{name}'", name)
    answer = _compose(body)
    names = ("max_completion_tokens", "max_tokens", "max_output_tokens")
    limit = next((body[name] for name in names if body.get(name) is not None), None)
    texts = (answer.reasoning, answer.text, *(call.text for call in answer.calls))
    if limit is not None and limit < sum(-(-len(text) // 4) for text in texts):
        return replace(answer, ending="length", after=limit)
    return answer


def _compose(body: dict[str, Any]) -> FakeAnswer:
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
        summary = "; ".join(f"{name} says {result}" for name, result in results)
        text = f"I have asked the tools. {summary}."
    else:
        quoted = f"You said: {prompt.strip()[:200]}. " if prompt.strip() else ""
        text = f"{quoted}I am a simulated model. Give me a schema or tools, and I write JSON."
    return FakeAnswer(text, reasoning, pace=PACE)


def _conversation(messages: Any) -> tuple[str, list[str], list[tuple[str, str]]]:
    """Return the last prompt, the names of all calls, and the results since the prompt."""
    prompt = ""
    names: dict[str, str] = {}
    results: list[tuple[str, str]] = []
    for kind, id, text in (turn for message in messages for turn in _turns(message)):
        if kind == "call":
            names[id] = text
            results = []
        elif kind == "result":
            results.append((names.get(id, "the tool"), text))
        else:
            prompt, results = text, []
    return prompt, [*names.values()], results


def _turns(message: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what a message says: calls and results with their id, and the user's text."""
    content = message.get("content")
    items = content if isinstance(content, list) else []
    blocks = [item for item in items if isinstance(item, dict)]
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
    texts = [item if isinstance(item, str) else item.get("text") for item in content]
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
        # A tool without a schema for its arguments gets the place as `city`.
        default = {"properties": {"city": {"type": "string"}}} if names else {}
        schema = {"type": "object", **default, **tools[tool]}
        for at in range(min(len(names), MOST_CALLS) or 1):
            call = (tool, _example(schema, names[at:] + names[:at]))
            if call not in calls:
                calls.append(call)
    return calls if body.get("parallel_tool_calls") is not False else calls[:1]


def _tools(tools: Any) -> Iterator[tuple[str, Any]]:
    for tool in tools:
        spec = tool.get("function", tool)
        if "name" in spec:
            yield spec["name"], spec.get("input_schema") or spec.get("parameters") or {}


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

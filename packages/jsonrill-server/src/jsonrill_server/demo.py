"""A simulated model, so that every example runs without a key.

`serve --demo` answers the requests of providers' clients: with tool calls, JSON for a schema, or a
sentence, as the request demands. Equal requests get equal answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any, Final

from fastapi import FastAPI, Request
from starlette.responses import Response, StreamingResponse

from jsonrill.demo.recordings import recorded
from jsonrill.errors import JsonrillError
from jsonrill.jsontext import dumps
from jsonrill.schema import Schema
from jsonrill.testing import Call, FakeAnswer, Script, tokens

from .access import Tokens
from .web import Json

# Seconds for each token of an answer.
PACE: Final = 0.01
# Calls of one tool, if a prompt has several names.
MAX_CALLS: Final = 4
TOPICS: Final = ("trip", "voyage", "booking", "recipe")
PATHS: Final = ("/chat/completions", "/responses", "/messages")


def add_routes(app: FastAPI, access: Tokens) -> None:
    """Answer the requests of providers' clients."""

    async def list_models(request: Request) -> Response:
        access.owner(request)
        model = {"id": "simulated", "object": "model", "display_name": "A simulated model"}
        return Json({"object": "list", "data": [model]})

    async def answer(request: Request) -> Response:
        access.owner(request)
        script = response_to(request.url.path, await request.body())
        return StreamingResponse(play(script), script.status, dict(script.headers))

    app.add_api_route("/v1/models", list_models)
    for path in PATHS:
        app.add_api_route(f"/v1{path}", answer, methods=["POST"])


async def play(script: Script) -> AsyncIterator[bytes]:
    """Yield the bytes of a script, each when it is due."""
    for step in script.steps:
        if isinstance(step, bytes):
            yield step
        else:
            await asyncio.sleep(step)


# ---- the providers' APIs ----


def response_to(path: str, body: bytes) -> Script:
    """Return the response to a request of a provider's client."""
    request: Any = None
    try:
        request = json.loads(body)
        answer = answer_to(request)
    except NoExample as error:
        message = f"the simulated model cannot meet the schema: {error}"
        answer = FakeAnswer(status=400, message=message, param="schema")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        message = "a part of the request is missing, or has the wrong type"
        answer = FakeAnswer(status=400, message=message, param="body")
    return replace(answer, id=secrets.token_hex(12)).script(path, request)


def answer_to(body: dict[str, Any]) -> FakeAnswer:
    answer = _compose(body)
    names = ("max_completion_tokens", "max_tokens", "max_output_tokens")
    limit = next((body[name] for name in names if body.get(name) is not None), 1 << 30)
    texts = (answer.reasoning, answer.text, *(call.text for call in answer.calls))
    if limit < sum(len(tokens(text)) for text in texts):
        return replace(answer, ending="length", after=limit)
    return answer


def _compose(body: dict[str, Any]) -> FakeAnswer:
    history = body.get("messages") or body["input"]
    messages = [{"role": "user", "content": history}] if isinstance(history, str) else history
    prompt, results = _conversation(messages)
    # Names are words that begin with a capital inside a sentence.
    words = re.findall(r"(?<=[\w,;:] )[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+)*", prompt)
    names = [*dict.fromkeys(name for name in words if not name.isupper())]
    is_thinking = body.get("thinking") or (body.get("reasoning") or {}).get("summary")
    reasoning = "A short answer will do, the same each time." if is_thinking else ""
    if calls := [] if results else _calls(body, prompt.lower(), names):
        return FakeAnswer("", reasoning, calls, pace=PACE)
    form = body.get("response_format") or body.get("output_format")
    form = form or (body.get("text") or body.get("output_config") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        text = dumps(example((form.get("json_schema") or form)["schema"], names))
    elif form.get("type") == "json_object" or re.search(r"\bJSON\b", prompt):
        topic = next((topic for topic in TOPICS if topic in prompt.lower()), "recipe")
        text = recorded(f"{topic}.txt")
    elif results:
        text = f"The tools say: {'; '.join(results)}."
    else:
        quote = f"You said: {prompt.strip()[:200]}. " if prompt.strip() else ""
        text = f"{quote}I am a simulated model. Give me a schema or tools, and I will write JSON."
    return FakeAnswer(text, reasoning, pace=PACE)


def _conversation(messages: Any) -> tuple[str, list[str]]:
    """Return the last prompt, and the results of tools since then."""
    prompt, results = "", []
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        texts = [
            _text(part.get("content") or part.get("output"))
            for part in (message, *blocks)
            if {"tool_call_id", "tool_use_id", "output"} & part.keys()
        ]
        results += texts
        if message.get("role") == "user" and not texts:
            prompt, results = _text(content), []
    return prompt, results


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return " ".join(item["text"] for item in content if "text" in item)


def _calls(body: dict[str, Any], prompt: str, names: list[str]) -> list[Call]:
    """Return the calls of the tools that the prompt mentions, or of the first one."""
    specs = [tool.get("function", tool) for tool in body.get("tools") or ()]
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        only = (choice.get("function") or choice).get("name")
        specs = [spec for spec in specs if only in (None, spec.get("name"))]
        choice = choice.get("type")
    if choice == "none":
        return []
    mentions = [spec for spec in specs if _is_mentioned(spec["name"], prompt)]
    calls: list[Call] = []
    for spec in mentions or specs[:1]:
        schema = spec.get("input_schema") or spec.get("parameters") or {"type": "object"}
        for at in range(min(len(names), MAX_CALLS) or 1):
            arguments = example(schema, names[at:] + names[:at])
            calls.append(Call(spec["name"], arguments, f"call_{len(calls) + 1}"))
    return calls if body.get("parallel_tool_calls") is not False else calls[:1]


def _is_mentioned(tool: str, prompt: str) -> bool:
    words = re.findall("[a-z]{4,}", re.sub("(?<=[a-z])(?=[A-Z])", "_", tool).lower())
    return any(re.search(rf"\b{word}", prompt) for word in words)


# ---- values for a JSON Schema ----

# Optional fields are left out from this depth on, because a schema may contain itself.
DEEP: Final = 8


class NoExample(ValueError):
    """No value was found for this schema."""


def example(schema: Any, names: Sequence[str] = ()) -> Any:
    """Return a value that is valid for the schema; use `names` for fields such as a city."""
    try:
        value = _Writer(schema, names).value(schema)
        Schema(schema).validate(value)
    except (JsonrillError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise NoExample(str(error)) from error
    return value


class _Writer:
    def __init__(self, root: Any, names: Sequence[str]) -> None:
        self._root = root
        self._names = names

    def value(self, schema: Any, name: str = "", number: int = 0, depth: int = 0) -> Any:
        """Return a value for a property with this name, or for the n-th element of a list."""
        schema = {} if schema is True else dict(schema)
        if (reference := schema.pop("$ref", None)) is not None:
            target = self._root
            for step in reference.split("/")[1:]:
                target = target[step]
            return self.value({**target, **schema}, name, number, depth)
        if options := schema.pop("anyOf", None) or schema.pop("oneOf", None):
            types = [option for option in options if option.get("type") != "null"] or options
            return self.value({**schema, **types[number % len(types)]}, name, number, depth)
        if choices := [schema["const"]] if "const" in schema else schema.get("enum"):
            return choices[number % len(choices)]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        match kind if isinstance(kind, str) else kind[0]:
            case "object":
                properties, required = schema.get("properties", {}), schema.get("required", [])
                return {
                    key: self.value(property, key, number, depth + 1)
                    for key, property in properties.items()
                    if depth < DEEP or key in required
                }
            case "array":
                count = max(3 if depth < DEEP else 0, schema.get("minItems", 0))
                count = min(count, schema.get("maxItems", count))
                items = schema.get("items", True)
                return [self.value(items, name, number, depth + 1) for number in range(count)]
            case "string":
                text = self._text(schema.get("format", ""), name, number, depth)
                return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]
            case "integer" | "number" as kind:
                numbers = _find("numbers", name) or [1 if kind == "integer" else 1.5]
                value = max(numbers[0] + number, schema.get("minimum", -inf))
                value = min(value, schema.get("maximum", inf))
                return ceil(value) if kind == "integer" else value
            case "boolean":
                return number % 2 == 0
        return None

    def _text(self, format: str, name: str, number: int, depth: int) -> str:
        words, *uses_names = _find("formats", format) or _find("strings", name) or [[]]
        # A single name fits a top-level field, several fit the elements of a list.
        if uses_names and (depth < 2 or len(self._names) > 1):
            words = [*dict.fromkeys([*self._names, *words])]
        return words[number % len(words)] if words else f"{name or 'text'} {number + 1}"


def _find(table: str, name: str) -> Any:
    """Return the first row whose pattern matches a name, without the pattern."""
    words = re.sub(r"[_\-\s]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).lower()
    rows = json.loads(recorded("words.json"))[table]
    return next((row for pattern, *row in rows if re.search(pattern, words)), None)

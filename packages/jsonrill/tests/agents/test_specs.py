"""The tools of a request, as the client libraries take them."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, TypeAdapter

from jsonrill import ToolContext, tool, tool_specs


class Guest(BaseModel):
    name: str


@tool(approve=True)
def book(
    city: Annotated[str, "where"],
    nights: int = 1,
    kind: Literal["room", "suite"] = "room",
    extras: list[str] | None = None,
    *,
    context: ToolContext,
) -> str:
    """Book a hotel.

    It costs.
    """
    return city


def visit(day: date, guests: list[Guest], note: str = "") -> None:
    """Plan a visit."""


def ping() -> None: ...


TOOLS = {"book": book, "visit": visit, "ping": ping}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "where"},
        "nights": {"type": "integer", "default": 1},
        "kind": {"enum": ["room", "suite"], "default": "room"},
        "extras": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
        },
    },
    "required": ["city"],
    "additionalProperties": False,
}
ABOUT = {"name": "book", "description": "Book a hotel.\n\nIt costs."}


def test_openai() -> None:
    from openai.types.chat import ChatCompletionToolParam

    for form in ("openai", "openai_chat"):
        specs = tool_specs(TOOLS, form)  # type: ignore[arg-type]
        TypeAdapter(list[ChatCompletionToolParam]).validate_python(specs)
        assert specs[0] == {"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}


def test_responses() -> None:
    from openai.types.responses import FunctionToolParam

    specs = tool_specs(TOOLS, "responses")
    TypeAdapter(list[FunctionToolParam]).validate_python(specs)
    assert specs[0] == {"type": "function", **ABOUT, "parameters": SCHEMA, "strict": False}


def test_anthropic() -> None:
    from anthropic.types import ToolParam

    specs = tool_specs(TOOLS, "anthropic")
    TypeAdapter(list[ToolParam]).validate_python(specs)
    assert specs[0] == {**ABOUT, "input_schema": SCHEMA}


def test_gemini() -> None:
    from google.genai.types import GenerateContentConfig

    specs = tool_specs(TOOLS, "gemini")
    config = GenerateContentConfig(tools=specs)
    [held] = config.tools or []
    assert [it.name for it in held.function_declarations] == [*TOOLS]  # type: ignore[union-attr]
    assert specs[0]["functionDeclarations"][0] == {**ABOUT, "parametersJsonSchema": SCHEMA}
    assert tool_specs({}, "gemini") == []


def test_models_and_dates_are_described() -> None:
    [_, visit, ping] = tool_specs(TOOLS, "anthropic")
    schema = visit["input_schema"]
    assert schema["properties"]["day"]["format"] == "date"
    assert schema["required"] == ["day", "guests"]
    assert schema["properties"]["note"]["default"] == ""
    assert "Guest" in json.dumps(schema["$defs"])
    assert ping == {
        "name": "ping",
        "input_schema": {
            "type": "object",
            "properties": {},
            "required": [],
            "additionalProperties": False,
        },
    }


def test_wrong_use_is_refused() -> None:
    wrong: list[tuple[Any, Any]] = [({"f": 1}, "openai"), ([ping], "openai"), (TOOLS, "bedrock")]
    for tools, form in wrong:
        with pytest.raises((TypeError, ValueError)):
            tool_specs(tools, form)

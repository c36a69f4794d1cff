"""The tools of a request, written from the functions."""

from __future__ import annotations

import inspect
from typing import Any, Literal

from .tools import Signature, Tool, Tools, named_tools

Form = Literal["openai", "openai_chat", "responses", "openai_responses", "anthropic", "gemini"]


def tool_specs(tools: Tools, form: Form) -> list[Any]:
    """The tools as a request to this provider lists them: names, docstrings, types and defaults.

    `"openai"` is chat completions, `"responses"` OpenAI's other interface. The result is the value
    of `tools` in the request; of Gemini it belongs into its `config`.
    """
    described = [_described(name, tool) for name, tool in named_tools(tools).items()]
    match form:
        case "openai" | "openai_chat":
            return [{"type": "function", "function": it} for it in described]
        case "responses" | "openai_responses":
            # Without `strict` this interface takes True, and refuses defaults.
            return [{"type": "function", **it, "strict": False} for it in described]
        case "anthropic":
            return [_renamed(it, "input_schema") for it in described]
        case "gemini":
            if not described:
                return []
            functions = [_renamed(it, "parametersJsonSchema") for it in described]
            return [{"functionDeclarations": functions}]
        case _:
            raise ValueError(f'"openai", "responses", "anthropic" or "gemini", not {form!r}')


def _described(name: str, tool: Tool) -> dict[str, Any]:
    doc = inspect.getdoc(tool.function)
    about = {"description": doc} if doc else {}
    return {"name": name, **about, "parameters": Signature(name, tool).json_schema()}


def _renamed(described: dict[str, Any], name: str) -> dict[str, Any]:
    return {name if key == "parameters" else key: value for key, value in described.items()}

"""What a request to a provider's API asks for: one reader for all of them.

The APIs of OpenAI and Anthropic say the same with other names, which do not
contradict each other: a part of a request is known by its shape, whichever API it is of. What no
API takes (a call without its result, a role that is none) is an `InvalidRequest`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]
# How the path of a request ends → its history, and what else must be there.
_NEEDED: Final = {
    "/chat/completions": ("messages", "model"),
    "/responses": ("input", "model"),
    "/messages": ("messages", "model", "max_tokens"),
}
_ROLES: Final = ("user", "assistant", "system", "developer", "tool", "function")
_LIMITS: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
# Words of the APIs for whether tools are called.
_CHOICES: Final = {"auto": "auto", "none": "none"} | dict.fromkeys(
    ("required", "any", "tool", "function"), "required"
)


class InvalidRequest(ValueError):
    """The request is not one that the API takes; `param` is the part of it that is wrong."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


@dataclass(slots=True)
class Asked:
    """What a request asks for.

    `results` are the tools' results since the last answer, as name and text; `called` are the names
    of all calls before it. `choice` is `auto`, `required` or `none`; `only` is the tool to call.
    """

    model: str
    prompt: str = ""
    results: list[tuple[str, str]] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    wants_json: bool = False
    schema: Any = None
    tools: dict[str, Any] = field(default_factory=dict)
    choice: str = "auto"
    only: str | None = None
    parallel: bool = True
    limit: int | None = None
    reasons: bool = False


def read(path: str, body: Any) -> Asked | None:
    """What a request to this path asks for; None if it is the path of no API."""
    needed = next((names for ending, names in _NEEDED.items() if path.endswith(ending)), None)
    if needed is None:
        return None
    if not isinstance(body, dict):
        raise InvalidRequest("the body must be a JSON object", "body")
    for name in needed:
        if not body.get(name) and body.get(name) != 0:
            raise InvalidRequest(f"Missing required parameter: '{name}'", name)
    try:
        return _read(body, body[needed[0]])
    except (AttributeError, LookupError, TypeError) as error:
        message = f"a part of the request is missing, or has the wrong type: {error}"
        raise InvalidRequest(message, "body") from error


def _read(body: Json, history: Any) -> Asked:
    asked = Asked(_of_type(str, "model", body["model"]))
    _listen(asked, history, "the tool" if body.get("previous_response_id") else "")
    asked.tools = dict(_tools(body.get("tools") or ()))
    _choose(asked, body)
    _note_form(asked, body)
    for name in _LIMITS:
        if (limit := body.get(name)) is not None:
            asked.limit = _of_type(int, name, limit)
            if asked.limit < 1:
                raise InvalidRequest(f"Invalid '{name}': the minimum is 1", name)
            break
    _of_type(dict, "stream_options", body.get("stream_options") or {})
    if body.get("n") not in (None, 1):
        raise InvalidRequest("Invalid 'n': the simulated models write one choice", "n")
    thinking = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    asked.reasons = bool(thinking or (body.get("reasoning") or {}).get("summary"))
    return asked


def _of_type(kind: type, name: str, value: Any) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InvalidRequest(f"Invalid type for '{name}': {type(value).__name__}", name)
    return value


def _listen(asked: Asked, history: Any, unknown: str) -> None:
    """Note what was said; each call has its result behind it, before anything else is said.

    `unknown` is the name of a call that may be in an earlier request.
    """
    waiting: list[tuple[str, str]] = []
    messages = [{"role": "user", "content": history}] if isinstance(history, str) else history
    for who, id, text in (*(turn for one in messages for turn in _turns(one)), ("end", "", "")):
        if who == "call":
            waiting.append((id, text))
            asked.called.append(text)
            asked.results = []
        elif who == "result":
            name = next((name for call, name in waiting if call == id), unknown)
            if not name:
                raise InvalidRequest(f"no tool call has the id {id}", "messages")
            if (id, name) in waiting:
                waiting.remove((id, name))
            asked.results.append((name, text))
        elif waiting:
            ids = ", ".join(id for id, _ in waiting)
            raise InvalidRequest(f"tool calls must be followed by their results: {ids}", "messages")
        elif who == "user":
            asked.prompt, asked.results = text, []


def _turns(message: Json) -> Iterator[tuple[str, str, str]]:
    """What a message says: by whom (call, result or user), the id of a call, its name or a text."""
    # OpenAI's items that are no messages have no role.
    role = message.get("role", "")
    if role and role not in _ROLES:
        raise InvalidRequest(f"messages: {role} is not a role", "messages")
    has_result = False
    content = message.get("content")
    blocks = [it for it in content if isinstance(it, dict)] if isinstance(content, list) else []
    for part in (message, *(message.get("tool_calls") or ()), *blocks):
        match part:
            case {"type": "tool_use" | "function_call", "name": name}:
                yield "call", part.get("call_id") or part["id"], name
            case {"id": id, "function": {"name": name}}:
                yield "call", id, name
            case {"tool_call_id": id} | {"tool_use_id": id} | {"call_id": id}:
                has_result = True
                yield "result", id, _text(part.get("content") or part.get("output"))
    if role == "user" and content and not has_result:
        yield "user", "", _text(content)


def _text(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some have a text."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = [it if isinstance(it, str) else it.get("text") for it in content]
    return " ".join(text for text in texts if isinstance(text, str))


def _tools(tools: Any) -> Iterator[tuple[str, Any]]:
    """The functions among the tools: a name, and the schema of the arguments."""
    for tool in tools:
        it = tool.get("function", tool)
        if "name" in it and tool.get("type", "custom") in ("function", "custom"):
            schema = it.get("input_schema") or it.get("parameters") or {}
            yield _of_type(str, "name", it["name"]), _of_type(dict, "parameters", schema)


def _choose(asked: Asked, body: Json) -> None:
    """Note which tools may be called."""
    choice: Any = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        choice = choice.get("allowed_tools") or choice
        if "tools" in choice:
            allowed = dict(_tools(choice["tools"]))
            asked.tools = {name: it for name, it in asked.tools.items() if name in allowed}
        asked.only = (choice.get("function") or choice).get("name")
        asked.parallel = choice.get("disable_parallel_tool_use") is not True
        choice = choice.get("mode") or choice.get("type")
    asked.parallel = asked.parallel and body.get("parallel_tool_calls") is not False
    if str(choice).lower() not in _CHOICES:
        raise InvalidRequest(f"Invalid value for 'tool_choice': {choice}", "tool_choice")
    asked.choice = _CHOICES[choice.lower()]
    if asked.only is not None and asked.only not in asked.tools:
        message = f"tool_choice names a tool that is not among the tools: {asked.only}"
        raise InvalidRequest(message, "tool_choice")
    if asked.choice == "required" and not asked.tools:
        raise InvalidRequest("tool_choice needs tools", "tool_choice")


def _note_form(asked: Asked, body: Json) -> None:
    """Note the format of the answer: text, JSON, or JSON by a schema."""
    form = body.get("response_format") or body.get("output_format")
    form = form or (body.get("text") or body.get("output_config") or {}).get("format") or {}
    kind = form.get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        raise InvalidRequest(f"the format of the answer cannot be {kind}", "format")
    asked.wants_json = kind != "text"
    if kind == "json_schema":
        asked.schema = _of_type(dict, "schema", (form.get("json_schema") or form).get("schema"))

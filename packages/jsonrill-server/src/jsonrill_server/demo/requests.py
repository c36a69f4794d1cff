"""What a request to a provider's API asks for, read alike from each API.

A request that the API itself would refuse is a `InvalidRequest`, with the name of what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

Json = dict[str, Any]
_KINDS: Final = {dict: "an object", list: "an array", str: "a string", int: "an integer"}


class InvalidRequest(ValueError):
    """The request is not one that the API takes; `param` is the part of it that is wrong."""

    def __init__(self, message: str, param: str) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


@dataclass(slots=True)
class Asked:
    """What a request asks for.

    `results` are the tools' results since the last answer, as name and text; `made` are the names
    of all calls before it. `choice` is `auto`, `required` or `none`; `only` is the tool to call.
    """

    model: str
    prompt: str = ""
    results: list[tuple[str, str]] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    wants_json: bool = False
    schema: Any = None
    tools: dict[str, Any] = field(default_factory=dict)
    choice: str = "auto"
    only: str | None = None
    parallel: bool = True
    limit: int | None = None
    reasons: bool = False

    def choose(self, choice: str, only: Any, param: str) -> None:
        """Note which tools may be called."""
        if only is not None and only not in self.tools:
            raise InvalidRequest(f"{param} names a tool that is not among the tools: {only}", param)
        if choice == "required" and not self.tools:
            raise InvalidRequest(f"{param} needs tools", param)
        self.choice, self.only = choice, only


def take(fields: Json, name: str, kind: type, where: str = "", *, needed: bool = False) -> Any:
    """A field of this type; None if it is not there, unless it is needed."""
    path = f"{where}.{name}" if where else name
    value = fields.get(name)
    if value is None:
        if needed:
            raise InvalidRequest(f"Missing required parameter: '{path}'", path)
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        kind_name = _KINDS[kind]
        raise InvalidRequest(f"Invalid type for '{path}': expected {kind_name}", path)
    return value


def objects(fields: Json, name: str, *, where: str = "", needed: bool = False) -> Iterator[Any]:
    """The elements of an array of objects, each with its path."""
    path = f"{where}.{name}" if where else name
    elements = take(fields, name, list, where, needed=needed) or []
    if needed and not elements:
        raise InvalidRequest(f"Invalid '{path}': empty array", path)
    for number, one in enumerate(elements):
        if not isinstance(one, dict):
            at = f"{path}[{number}]"
            raise InvalidRequest(f"Invalid type for '{at}': expected an object", at)
        yield f"{path}[{number}]", one


def text_of(content: Any, where: str) -> str:
    """The text of a message's content: a string, or parts of which some have a text."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise InvalidRequest(f"Invalid type for '{where}': expected a string or an array", where)
    texts = [it if isinstance(it, str) else it.get("text") for it in content if it]
    return " ".join(text for text in texts if isinstance(text, str))


def limited(fields: Json, *names: str) -> int | None:
    """The limit of tokens."""
    for name in names:
        if (limit := take(fields, name, int)) is not None:
            if limit < 1:
                raise InvalidRequest(f"Invalid '{name}': the minimum is 1", name)
            return int(limit)
    return None


def chat(body: Json) -> Asked:
    """A request for a chat completion, OpenAI's or Mistral's."""
    asked = Asked(take(body, "model", str, needed=True))
    waiting: dict[str, str] = {}
    for where, message in objects(body, "messages", needed=True):
        role = take(message, "role", str, where, needed=True)
        if waiting and role != "tool":
            raise _unanswered("tool_calls", "tool messages", waiting, where)
        text = text_of(message.get("content"), f"{where}.content")
        if role == "tool":
            call = take(message, "tool_call_id", str, where, needed=True)
            if call not in waiting:
                raise InvalidRequest(f"no tool call has the id {call}", f"{where}.tool_call_id")
            asked.results.append((waiting.pop(call), text))
        elif role == "assistant":
            asked.results = []
            for at, call in objects(message, "tool_calls", where=where):
                function = take(call, "function", dict, at, needed=True)
                name = take(function, "name", str, f"{at}.function", needed=True)
                waiting[take(call, "id", str, at, needed=True)] = name
                asked.made.append(name)
        elif role == "user":
            asked.prompt, asked.results = text, []
        elif role not in ("system", "developer"):
            raise InvalidRequest(f"Invalid value for '{where}.role': {role}", f"{where}.role")
    if waiting:
        raise _unanswered("tool_calls", "tool messages", waiting, "messages")
    for at, tool in objects(body, "tools"):
        if tool.get("type", "function") == "function":
            function = take(tool, "function", dict, at, needed=True)
            name = take(function, "name", str, f"{at}.function", needed=True)
            asked.tools[name] = take(function, "parameters", dict, f"{at}.function") or {}
    _choice(asked, body.get("tool_choice"), lambda it: (it.get("function") or {}).get("name"))
    asked.parallel = body.get("parallel_tool_calls") is not False
    form = take(body, "response_format", dict) or {}
    _form(asked, form, take(form, "json_schema", dict, "response_format") or {}, "response_format")
    asked.limit = limited(body, "max_completion_tokens", "max_tokens")
    take(body, "stream_options", dict)
    if take(body, "n", int) is not None and not 0 < body["n"] <= 128:
        raise InvalidRequest("Invalid 'n': from 1 to 128", "n")
    return asked


def responses(body: Json) -> Asked:
    """A request for a response of OpenAI."""
    asked = Asked(take(body, "model", str, needed=True))
    waiting: dict[str, str] = {}
    names: dict[str, str] = {}
    if isinstance(body.get("input"), str):
        asked.prompt = body["input"]
    else:
        for where, item in objects(body, "input", needed=True):
            match item.get("type", "message"):
                case "message":
                    text = text_of(item.get("content"), f"{where}.content")
                    if take(item, "role", str, where, needed=True) == "user":
                        asked.prompt, asked.results = text, []
                    elif item["role"] == "assistant":
                        asked.results = []
                case "function_call":
                    name = take(item, "name", str, where, needed=True)
                    call = take(item, "call_id", str, where, needed=True)
                    waiting[call] = names[call] = name
                    asked.made.append(name)
                    asked.results = []
                case "function_call_output":
                    call = take(item, "call_id", str, where, needed=True)
                    if call not in names and not body.get("previous_response_id"):
                        message = f"No tool call found for function call output with call_id {call}"
                        raise InvalidRequest(message, where)
                    waiting.pop(call, None)
                    text = text_of(item.get("output"), f"{where}.output")
                    asked.results.append((names.get(call, "the tool"), text))
    for call in waiting:
        raise InvalidRequest(f"No tool output found for function call {call}", "input")
    for at, tool in objects(body, "tools"):
        if take(tool, "type", str, at, needed=True) == "function":
            name = take(tool, "name", str, at, needed=True)
            asked.tools[name] = take(tool, "parameters", dict, at) or {}
    _choice(asked, body.get("tool_choice"), lambda it: it.get("name"))
    asked.parallel = body.get("parallel_tool_calls") is not False
    form = take(take(body, "text", dict) or {}, "format", dict, "text") or {}
    _form(asked, form, form, "text.format")
    asked.limit = limited(body, "max_output_tokens")
    reasoning = take(body, "reasoning", dict) or {}
    asked.reasons = bool(reasoning.get("summary"))
    return asked


def messages(body: Json) -> Asked:
    """A request for a message of Anthropic."""
    asked = Asked(take(body, "model", str, needed=True))
    asked.limit = limited(body, "max_tokens")
    if asked.limit is None:
        raise InvalidRequest("max_tokens: Field required", "max_tokens")
    waiting: dict[str, str] = {}
    for where, message in objects(body, "messages", needed=True):
        role = take(message, "role", str, where, needed=True)
        if role not in ("user", "assistant", "system"):
            raise InvalidRequest(f"{where}.role: {role} is not a role", f"{where}.role")
        content = message.get("content")
        text = text_of(content, f"{where}.content")
        blocks = [it for it in content if isinstance(it, dict)] if isinstance(content, list) else []
        if role == "user":
            asked.results = []
            for block in blocks:
                if block.get("type") == "tool_result":
                    call = take(block, "tool_use_id", str, where, needed=True)
                    if call not in waiting:
                        raise InvalidRequest(f"{where}: no tool_use has the id {call}", where)
                    result = text_of(block.get("content"), f"{where}.content")
                    asked.results.append((waiting.pop(call), result))
            if waiting:
                raise _unanswered("tool_use", "tool_result blocks", waiting, where)
            asked.prompt = text or asked.prompt
        for block in blocks:
            if role == "assistant" and block.get("type") == "tool_use":
                name = take(block, "name", str, where, needed=True)
                waiting[take(block, "id", str, where, needed=True)] = name
                asked.made.append(name)
    if waiting:
        raise _unanswered("tool_use", "tool_result blocks", waiting, "messages")
    for at, tool in objects(body, "tools"):
        if tool.get("type", "custom") == "custom":
            name = take(tool, "name", str, at, needed=True)
            asked.tools[name] = take(tool, "input_schema", dict, at, needed=True)
    choice = take(body, "tool_choice", dict) or {}
    kinds = {"any": "required", "tool": "required", "none": "none"}
    asked.choose(kinds.get(choice.get("type", ""), "auto"), choice.get("name"), "tool_choice")
    asked.parallel = choice.get("disable_parallel_tool_use") is not True
    config = take(body, "output_config", dict) or {}
    form = take(config, "format", dict, "output_config") or take(body, "output_format", dict) or {}
    _form(asked, form, form, "output_config.format")
    asked.reasons = (take(body, "thinking", dict) or {}).get("type") in ("enabled", "adaptive")
    return asked


def gemini(body: Json) -> Asked:
    """A request to generate content with Gemini; its model is in the path."""
    asked = Asked(body.get("model") or "gemini")
    for where, content in objects(body, "contents", needed=True):
        parts = [part for _, part in objects(content, "parts", where=where)]
        calls = [part["functionCall"] for part in parts if part.get("functionCall")]
        asked.made += [call.get("name", "") for call in calls]
        if content.get("role", "user") == "model":
            continue
        answers = [part["functionResponse"] for part in parts if part.get("functionResponse")]
        asked.results = [(it.get("name", ""), str(it.get("response", ""))) for it in answers]
        asked.prompt = text_of(parts, where) or asked.prompt
    for at, tool in objects(body, "tools"):
        for where, function in objects(tool, "functionDeclarations", where=at):
            take(function, "parametersJsonSchema", dict, where)
            schema = function.get("parametersJsonSchema") or _lowered(
                take(function, "parameters", dict, where)
            )
            asked.tools[take(function, "name", str, where, needed=True)] = schema or {}
    calling = (take(body, "toolConfig", dict) or {}).get("functionCallingConfig") or {}
    allowed = calling.get("allowedFunctionNames") or []
    mode = {"ANY": "required", "NONE": "none"}.get(calling.get("mode", ""), "auto")
    asked.choose(mode, allowed[0] if allowed else None, "toolConfig")
    config = take(body, "generationConfig", dict) or {}
    asked.schema = config.get("responseJsonSchema") or _lowered(config.get("responseSchema"))
    asked.wants_json = config.get("responseMimeType") == "application/json"
    asked.limit = limited(config, "maxOutputTokens")
    asked.reasons = bool((config.get("thinkingConfig") or {}).get("includeThoughts"))
    return asked


def _lowered(schema: Any) -> Any:
    """A schema of Gemini, whose types are in upper case, as a JSON Schema."""
    if isinstance(schema, list):
        return [_lowered(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    lowered = {name: _lowered(value) for name, value in schema.items()}
    if isinstance(kind := schema.get("type"), str):
        lowered["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    return lowered


def _choice(asked: Asked, choice: Any, name_in: Callable[[Json], Any]) -> None:
    """Note OpenAI's `tool_choice`: a word, a tool, or a set of allowed ones."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools") or choice
        names = [name_in(tool) for _, tool in objects(allowed, "tools", where="tool_choice")]
        asked.tools = {name: it for name, it in asked.tools.items() if name in names}
        choice = allowed.get("mode")
    if isinstance(choice, dict):
        asked.choose("required", name_in(choice), "tool_choice")
    else:
        words = {None: "auto", "any": "required"}
        choice = words.get(choice, choice)
        if choice not in ("auto", "none", "required"):
            raise InvalidRequest(f"Invalid value for 'tool_choice': {choice}", "tool_choice")
        asked.choose(choice, None, "tool_choice")


def _form(asked: Asked, form: Json, holder: Json, where: str) -> None:
    """Note the format of the answer: text, JSON, or JSON by a schema."""
    kind = form.get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        raise InvalidRequest(f"Invalid value for '{where}.type': {kind}", f"{where}.type")
    asked.wants_json = kind != "text"
    if kind == "json_schema":
        asked.schema = take(holder, "schema", dict, where, needed=True)


def _unanswered(calls: str, results: str, waiting: dict[str, str], where: str) -> InvalidRequest:
    ids = ", ".join(waiting)
    return InvalidRequest(f"{calls} must be followed by {results} for each: {ids}", where)


# How the path of a request ends → how its body is read.
READERS: Final[dict[str, Callable[[Json], Asked]]] = {
    "/chat/completions": chat,
    "/responses": responses,
    "/messages": messages,
    ":generateContent": gemini,
    ":streamGenerateContent": gemini,
}

"""Messages of the AI SDK's `useChat` → the messages of a provider's request.

An assistant's message has steps; each is an answer, and becomes a turn as `run_tools` writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from ..answers import Parts, turns
from ..answers.saving import Saved, restore
from ..jsontext import dumps

Form = Literal["openai", "responses", "anthropic", "gemini"]
Message = dict[str, Any]
_FORMS: Final = ("openai", "responses", "anthropic", "gemini")
# Parts that are for the page alone, or that no request may have without what was not kept of them.
_LEFT_OUT: Final = ("step-start", "reasoning", "source-url", "source-document", "file")


class ProviderMessages(list[Any]):
    """The messages of a request. `system` is the text of the messages with that role, which
    Anthropic and Gemini take beside the messages.

    `decisions` is what a person has said of the calls of the last message that have no result:
    for the `decisions` of `agent`, with the state that it had.
    """

    def __init__(self) -> None:
        super().__init__()
        self.system = ""
        self.decisions: dict[str, bool | str] = {}


def from_ai_sdk(messages: Iterable[Mapping[str, Any]], provider: Form) -> ProviderMessages:
    """The messages of `useChat` as a provider's request has them.

    Calls go back with their results, and those that a person refused with that. A call without a
    result is left out; so are reasoning, sources and data, and tools that the provider ran itself.
    """
    if provider not in _FORMS:
        raise ValueError(f"{', '.join(map(repr, _FORMS))}, not {provider!r}")
    converted = ProviderMessages()
    for message in messages:
        role, parts = _checked(message)
        converted.decisions = {}
        if role == "user":
            converted.append(_user(parts, provider))
        elif role == "system":
            _add_system(converted, _text(parts), provider)
        else:
            for step in _steps(parts):
                converted += turns.messages(provider, _entries(step))
            converted.decisions = _decisions(parts)
    return converted


def _checked(message: Any) -> tuple[str, list[Mapping[str, Any]]]:
    role = message.get("role") if isinstance(message, Mapping) else None
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if role not in ("system", "user", "assistant") or not isinstance(parts, list):
        raise ValueError(f"not a message of useChat, which has a role and parts: {message!r}")
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            raise ValueError(f"not a part of a message of useChat: {part!r}")
        is_tool = kind.startswith("tool-") or kind == "dynamic-tool"
        if not (is_tool or kind == "text" or kind in _LEFT_OUT or kind.startswith("data-")):
            raise ValueError(f"a part of the type {kind!r} has no form in a request")
    return role, parts


def _text(parts: Iterable[Mapping[str, Any]]) -> str:
    return "".join([part["text"] for part in parts if part["type"] == "text"])


def _add_system(converted: ProviderMessages, text: str, provider: str) -> None:
    converted.system += "\n\n" + text if converted.system else text
    if provider in ("openai", "responses"):
        converted.append({"role": "system", "content": text})


# ---- what the user wrote ----


def _user(parts: list[Mapping[str, Any]], provider: str) -> Message:
    content = [
        _file(part, provider) if part["type"] == "file" else _written(part["text"], provider)
        for part in parts
        if part["type"] in ("text", "file")
    ]
    if provider == "gemini":
        return {"role": "user", "parts": content}
    only_text = all(part["type"] != "file" for part in parts)
    return {"role": "user", "content": _text(parts) if only_text else content}


def _written(text: str, provider: str) -> Message:
    if provider == "gemini":
        return {"text": text}
    return {"type": "input_text" if provider == "responses" else "text", "text": text}


def _file(part: Mapping[str, Any], provider: str) -> Message:
    """A file that the user sent along: its address, or its bytes in a data URL."""
    url, kind, name = part["url"], part["mediaType"], part.get("filename") or "file"
    data = url.partition(",")[2] if url.startswith("data:") else None
    is_image = kind.startswith("image/")
    match provider:
        case "openai" if is_image:
            return {"type": "image_url", "image_url": {"url": url}}
        case "openai" if data is not None:
            return {"type": "file", "file": {"filename": name, "file_data": url}}
        case "responses" if is_image:
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case "responses" if data is not None:
            return {"type": "input_file", "filename": name, "file_data": url}
        case "responses":
            return {"type": "input_file", "file_url": url}
        case "anthropic" if is_image or kind == "application/pdf":
            source = {"type": "url", "url": url}
            if data is not None:
                source = {"type": "base64", "media_type": kind, "data": data}
            return {"type": "image" if is_image else "document", "source": source}
        case "gemini" if data is not None:
            return {"inlineData": {"mimeType": kind, "data": data}}
        case "gemini":
            return {"fileData": {"mimeType": kind, "fileUri": url}}
    raise ValueError(f"a file of the type {kind!r} has no form in a request to {provider}")


# ---- what the assistant answered ----


def _steps(parts: list[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    steps: list[list[Mapping[str, Any]]] = [[]]
    for part in parts:
        if part["type"] == "step-start":
            steps.append([])
        else:
            steps[-1].append(part)
    return steps


def _entries(step: list[Mapping[str, Any]]) -> Any:
    """The entries of an answer, which its turn is written from."""
    saved: list[Saved] = []
    for index, part in enumerate(step):
        if part["type"] == "text":
            saved.append({"kind": "text", "index": index, "text": part["text"]})
        elif _is_own_call(part) and (result := _result(part)):
            saved.append({"kind": "call", "index": index, "call": _call(part), **result})
    parts = Parts()
    restore(parts, saved, 0, len(step))
    return parts.entries


def _is_own_call(part: Mapping[str, Any]) -> bool:
    is_tool = part["type"].startswith("tool-") or part["type"] == "dynamic-tool"
    return is_tool and not part.get("providerExecuted")


def _call(part: Mapping[str, Any]) -> Saved:
    value = part.get("input")
    return {
        "id": part["toolCallId"],
        "name": part.get("toolName") or part["type"].removeprefix("tool-"),
        "arguments": dumps(value if isinstance(value, dict) else {}),
        "encoding": "json",
        "given": True,
        "hosted": False,
        "status": "complete",
    }


def _result(part: Mapping[str, Any]) -> Saved:
    """What became of a call; {} if nothing has yet."""
    match part.get("state"):
        case "output-available":
            return {"result": part.get("output")}
        case "output-error":
            return {"error": part.get("errorText") or "the tool failed"}
        case "output-denied" | "approval-responded":
            decision = _decision(part)
            return {} if decision is True else {"error": turns.refusal(decision or "")}
    return {}


def _decision(part: Mapping[str, Any]) -> bool | str:
    """True, or why not: the reason, or False if there is none."""
    approval = part.get("approval") or {}
    return approval.get("approved") is True or approval.get("reason") or False


def _decisions(parts: list[Mapping[str, Any]]) -> dict[str, bool | str]:
    """What a person has said of the calls that have no result."""
    return {
        part["toolCallId"]: _decision(part)
        for part in parts
        if _is_own_call(part) and part.get("state") == "approval-responded"
    }

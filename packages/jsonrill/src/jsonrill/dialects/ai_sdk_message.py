"""The final message of AI SDK chunks, as `useChat` would have built it, to be stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from ..build.document import Document
from ..errors import InvalidJSON, LimitExceeded

Part = dict[str, Any]

# A chunk about a tool → the state of its part.
_STATES: Final = {
    "tool-input-start": "input-streaming",
    "tool-input-available": "input-available",
    "tool-input-error": "output-error",
    "tool-approval-request": "approval-requested",
    "tool-output-available": "output-available",
    "tool-output-error": "output-error",
    "tool-output-denied": "output-denied",
}
_WHOLE: Final = ("source-url", "source-document", "file")


def ai_sdk_message(chunks: Iterable[Mapping[str, Any]], id: str = "") -> dict[str, Any]:
    """The UI message that these chunks build: its id, role, parts, and metadata if there is any.

    Transient data is left out, and of data with an id only the last. A tool call that was never
    complete stays in the state `input-streaming`, with its input as far as it is known.
    """
    message = _Message(id)
    for chunk in chunks:
        message.feed(chunk)
    return message.end()


class _Message:
    def __init__(self, id: str) -> None:
        self.built: dict[str, Any] = {"id": id, "role": "assistant", "parts": []}
        self._parts: list[Part] = self.built["parts"]
        self._open: dict[tuple[str, str], Part] = {}
        self._tools: dict[str, Part] = {}
        self._inputs: dict[str, str] = {}

    def feed(self, chunk: Mapping[str, Any]) -> None:
        kind = chunk.get("type")
        if not isinstance(kind, str):
            return
        stem, _, what = kind.rpartition("-")
        if stem in ("text", "reasoning"):
            self._text(stem, what, chunk)
        elif kind in _STATES:
            self._tool(kind, chunk)
        elif kind == "tool-input-delta":
            self._input(chunk)
        elif kind.startswith("data-"):
            self._data(kind, chunk)
        elif kind in _WHOLE:
            self._parts.append(dict(chunk))
        elif kind == "start-step":
            self._parts.append({"type": "step-start"})
        elif kind in ("start", "finish", "message-metadata"):
            self._about(chunk)

    def end(self) -> dict[str, Any]:
        """The message. A call that is not complete has its input as far as it is known."""
        for id, text in self._inputs.items():
            part = self._tools.get(id)
            if part is not None and part["state"] == "input-streaming":
                document = Document()
                with suppress(InvalidJSON, LimitExceeded):
                    document.feed(text)
                part["input"] = document.value
        return self.built

    def _about(self, chunk: Mapping[str, Any]) -> None:
        if isinstance(chunk.get("messageId"), str):
            self.built["id"] = chunk["messageId"]
        if isinstance(metadata := chunk.get("messageMetadata"), Mapping):
            self.built["metadata"] = {**self.built.get("metadata", {}), **metadata}

    def _text(self, kind: str, what: str, chunk: Mapping[str, Any]) -> None:
        key = kind, str(chunk.get("id"))
        if what == "start":
            named = {"id": key[1]} if kind == "reasoning" else {}
            self._open[key] = {"type": kind, **named, "text": "", "state": "streaming"}
            self._parts.append(self._open[key])
        if (part := self._open.get(key)) is None:
            return
        if what == "delta":
            part["text"] += chunk.get("delta", "")
        elif what == "end":
            part["state"] = "done"
            del self._open[key]
        if "providerMetadata" in chunk:
            part["providerMetadata"] = chunk["providerMetadata"]

    def _tool(self, kind: str, chunk: Mapping[str, Any]) -> None:
        id = str(chunk.get("toolCallId"))
        part = self._tools.get(id)
        if part is None:
            name = chunk.get("toolName")
            part = {"type": "dynamic-tool", "toolName": name}
            if chunk.get("dynamic") is not True:
                part = {"type": f"tool-{name}"}
            part["toolCallId"] = id
            self._tools[id] = part
            self._parts.append(part)
        part["state"] = _STATES[kind]
        for field in ("input", "output", "errorText", "providerExecuted", "preliminary", "title"):
            if field in chunk:
                part[field] = chunk[field]
        if kind == "tool-approval-request":
            part["approval"] = {"id": chunk.get("approvalId")}

    def _input(self, chunk: Mapping[str, Any]) -> None:
        id = str(chunk.get("toolCallId"))
        self._inputs[id] = self._inputs.get(id, "") + chunk.get("inputTextDelta", "")

    def _data(self, kind: str, chunk: Mapping[str, Any]) -> None:
        if chunk.get("transient") is True:
            return
        id = chunk.get("id")
        part = next((it for it in self._parts if it["type"] == kind and it.get("id") == id), None)
        if id is None or part is None:
            part = {"type": kind} if id is None else {"type": kind, "id": id}
            self._parts.append(part)
        part["data"] = chunk.get("data")

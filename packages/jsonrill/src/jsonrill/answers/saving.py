"""The entries of an answer as plain JSON, and back: what its messages are written from.

An entry is read back as the statements that made it, so that calls are validated as they were.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any, Final

from ..providers.statements import CallDelta, End, Keep, Reasoning, Statement, Text
from ..toolcalls.lifecycle import LiveCall
from . import turns
from .parts import Entry, Parts, plain

Saved = dict[str, Any]


# The only key of an object that is the bytes of a client library, such as a signature.
_BYTES: Final = "$bytes"


def packed(value: Any) -> Any:
    """A value in which bytes are objects with their base64."""
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    return [packed(item) for item in value] if isinstance(value, list) else value


def unpacked(value: Any) -> Any:
    """The value that was packed."""
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return b64decode(value[_BYTES])
        return {key: unpacked(item) for key, item in value.items()}
    return [unpacked(item) for item in value] if isinstance(value, list) else value


def saved(entry: Entry) -> Saved:
    """An entry without its text, which its parts have, and without a result."""
    fields: Saved = {"kind": entry.kind, "index": entry.index}
    if entry.kept is not None:
        fields["kept"] = packed(entry.kept)
    if entry.call is not None:
        fields["call"] = _call(entry.call)
    return fields


def _call(call: LiveCall) -> Saved:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": turns.arguments_text(call),
        "encoding": call.encoding,
        "given": call.own_id,
        "hosted": call.hosted,
        "status": "complete" if call.answered else call.status,
    }


def result_of(call: LiveCall) -> Saved:
    """What the user's tool returned for a call; {} if it has not."""
    if not call.answered or call.hosted:
        return {}
    return {"error": call.result} if call.result_is_error else {"result": plain(call.result)}


def restore(parts: Parts, entries: Iterable[Saved], turn: int, index: int) -> list[LiveCall]:
    """Read the entries of an answer again; returns the calls that are left to the user's tools.

    An entry has its `text`, and the result of its call, if there is one. `turn` answers came before
    this one; the next part has this `index`.
    """
    calls: list[LiveCall] = []
    parts.resume(turn)
    for number, entry in enumerate(entries):
        if entry["kind"] == "result":
            continue
        parts.began = max(entry["index"], parts.began)
        parts.read(_statements(entry, number))
        call = parts.entries[-1].call
        if call is None or "call" not in entry:
            continue
        call.own_id = entry["call"]["given"]
        for name in ("result", "error"):
            if name in entry:
                call.answered, call.result_is_error = True, name == "error"
                call.result = entry[name]
        if not call.hosted:
            calls.append(call)
    parts.began = index
    return calls


def _statements(entry: Saved, number: int) -> list[Statement]:
    """What made an entry; a number of its own tells two texts apart."""
    statements: list[Statement] = []
    call = entry.get("call")
    if call is not None:
        free = call["encoding"] == "text"
        done = call["status"] in ("complete", "error")
        end = End(sure=True, incomplete=not done)
        delta = CallDelta(call["id"], number, call["name"], call["arguments"], free=free, end=end)
        delta.hosted = call["hosted"]
        statements.append(delta)
    elif entry["kind"] == "reasoning":
        statements.append(Reasoning(entry["text"], block=number))
    elif entry["kind"] != "kept":
        statements.append(Text(entry["text"], block=number))
    if "kept" in entry:
        statements.append(Keep(unpacked(entry["kept"]), alone=entry["kind"] == "kept"))
    return statements

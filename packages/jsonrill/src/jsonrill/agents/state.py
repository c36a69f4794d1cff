"""The state of an agent's conversation: plain JSON, with which another process continues it.

version   of this form
form      the provider in whose form the messages are
messages  what the conversation began with; None if the caller keeps it
added     the messages of the turns that are done
turn      the number of the turn at hand, index that of the next part
entries   what the turn at hand consists of: texts, thoughts, calls with their results
started   ids of calls that were started and have no result, waiting: that a person decides
outcome   how the last answer ended, if it has
tools     a digest of the arguments of each tool
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from ..answers import Part, Parts, turns
from ..answers.parts import Entry, plain
from ..answers.saving import Saved, packed, restore, result_of, saved
from ..jsontext import dumps
from ..providers.finish import REASONS
from ..providers.parts import KINDS
from .tools import Signature

VERSION: Final = 1
State = dict[str, Any]
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "form": (str, type(None)),
    "messages": (list, type(None)),
    "added": (list,),
    "turn": (int,),
    "index": (int,),
    "entries": (list,),
    "started": (list,),
    "waiting": (list,),
    "outcome": (str, type(None)),
    "tools": (dict,),
}
_CALL: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("id", "name", "arguments", "encoding", "status"), (str,)),
    **dict.fromkeys(("given", "hosted"), (bool,)),
}


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or type(entry.get("index")) is not int:
        return False
    if type(entry.get("kept", {})) is not dict:
        return False
    kind = entry.get("kind")
    if kind == "call":
        call = entry.get("call")
        return isinstance(call, dict) and all(type(call.get(it)) in _CALL[it] for it in _CALL)
    if kind in ("text", "json", "reasoning"):
        return type(entry.get("text")) is str
    return kind == "kept" and "kept" in entry


def _ids(state: State) -> list[str]:
    return [entry["call"]["id"] for entry in state["entries"] if "call" in entry]


# Beyond its type, what a field of a state has to be.
_RULES: Final[dict[str, Callable[[State], bool]]] = {
    "entries": lambda state: all(map(_is_entry, state["entries"])),
    "started": lambda state: all(id in _ids(state) for id in state["started"]),
    "waiting": lambda state: all(id in _ids(state) for id in state["waiting"]),
    "form": lambda state: state["form"] is None or state["form"] in turns.FORMS,
    "outcome": lambda state: state["outcome"] is None or state["outcome"] in REASONS,
}


def digests(signatures: Mapping[str, Signature]) -> dict[str, str]:
    """For each tool a digest of what its arguments are."""
    return {
        name: sha256(json.dumps(it.json_schema(), sort_keys=True).encode()).hexdigest()[:16]
        for name, it in signatures.items()
    }


def check_state(state: Any, signatures: Mapping[str, Signature]) -> State:
    """The state, if it can be continued with these tools; else `ValueError`."""
    if not isinstance(state, dict) or state.get("version") != VERSION:
        version = state.get("version") if isinstance(state, dict) else None
        raise ValueError(f"not a state of version {VERSION} of an agent, but {version!r}")
    broken = [name for name, types in _TYPES.items() if type(state.get(name, ...)) not in types]
    broken += broken or [name for name, is_right in _RULES.items() if not is_right(state)]
    if broken:
        raise ValueError(f"the state of the agent is broken: {broken[0]!r} is missing or wrong")
    now = digests(signatures)
    changed = [name for name, digest in state["tools"].items() if now.get(name) != digest]
    if changed:
        raise ValueError(
            f"the tool {changed[0]!r} has changed since the state was saved, or is missing"
        )
    return state


def entry_state(entry: Entry) -> Saved:
    """An entry with its text and the result of its call."""
    fields = saved(entry)
    if entry.call is not None:
        return {**fields, **result_of(entry.call)}
    return {**fields, "text": entry.text} if entry.kind != "kept" else fields


class Recorder:
    """Adds to parts what `state_of` needs: the entries that are new since the last such part."""

    def __init__(self, tools: dict[str, str]) -> None:
        self._tools: dict[str, str] | None = tools
        self._turn = -1
        self._entries: list[Saved] = []

    def add(self, part: Part, parts: Parts, first: int, form: str | None) -> None:
        """`first` is where the entries of the part's turn begin."""
        if part.turn != self._turn:
            self._turn, self._entries = part.turn, []
        elif not (part.complete or part.kind == "result"):
            return
        entries = [saved(entry) for entry in parts.entries[first:] if entry.kind != "result"]
        pairs = zip(entries, self._entries, strict=False)
        at = next((at for at, (new, old) in enumerate(pairs) if new != old), len(self._entries))
        part.state = {"form": form, "from": at, "entries": entries[at:]}
        self._entries = entries
        if parts.outcome is not None:
            part.state["outcome"] = parts.outcome
        if self._tools is not None:
            part.state["tools"], self._tools = self._tools, None


def state_of(
    parts: Iterable[Part | Mapping[str, Any]], messages: list[Any] | None = None
) -> State | None:
    """The state of an agent after the parts that it yielded, or after the dicts of a log, which
    `part.to_dict(state=True)` returns; None if there are none.

    `messages` are those that the conversation began with; the log does not have them.
    """
    reading = _LogReading()
    for part in parts:
        reading.add(part if isinstance(part, Mapping) else part.to_dict(state=True))
    return reading.state(messages) if reading.seen else None


class _LogReading:
    """Puts a state together from a log."""

    def __init__(self) -> None:
        self.seen = False
        self._turn = 0
        self._index = 0
        self._added: list[Any] = []
        self._tools: dict[str, str] = {}
        self._begin()

    def _begin(self) -> None:
        self._form: str | None = None
        self._outcome: str | None = None
        self._entries: list[Saved] = []
        self._texts: dict[int, str] = {}
        self._results: dict[str, Saved] = {}
        # Calls that were started or wait for a person, in the order in which they did.
        self._pending: dict[str, str] = {}

    def add(self, part: Mapping[str, Any]) -> None:
        if part.get("kind") not in KINDS:
            return  # a log may have other events, too
        self.seen = True
        if part.get("turn", 0) != self._turn:
            self._added += turns.messages(self._form, self._restored())
            self._turn = part["turn"]
            self._begin()
        index = part["index"]
        self._index = max(self._index, index + 1)
        if part.get("delta"):
            self._texts[index] = self._texts.get(index, "") + part["delta"]
        kept = part.get("state")
        if kept is not None:
            self._entries[kept["from"] :] = kept["entries"]
            self._form = kept["form"]
            self._outcome = kept.get("outcome", self._outcome)
            self._tools = kept.get("tools", self._tools)
        if part.get("status") is not None:
            self._pending[part["call"]["id"]] = part["status"]
        if part["kind"] == "result":
            error = part.get("error")
            value = plain(part.get("result"))
            done = {"result": value} if error is None else {"error": error}
            self._results[part["call"]["id"]] = done
            self._pending.pop(part["call"]["id"], None)

    def _whole(self) -> list[Saved]:
        """The entries with their texts and results."""
        whole: list[Saved] = []
        for entry in self._entries:
            if "call" in entry:
                hosted = entry["call"]["hosted"]
                result = {} if hosted else self._results.get(entry["call"]["id"], {})
                whole.append({**entry, **result})
            elif entry["kind"] == "kept":
                whole.append(entry)
            else:
                whole.append({**entry, "text": self._texts.get(entry["index"], "")})
        return whole

    def _restored(self) -> list[Entry]:
        parts = Parts(limits=None)
        restore(parts, self._whole(), 0, 0)
        return parts.entries

    def state(self, messages: list[Any] | None) -> State:
        pending = self._pending.items()
        return {
            "version": VERSION,
            "form": self._form,
            "messages": messages,
            "added": packed(self._added),
            "turn": self._turn,
            "index": self._index,
            "entries": self._whole(),
            "started": [id for id, status in pending if status == "started"],
            "waiting": [id for id, status in pending if status == "waiting"],
            "outcome": self._outcome,
            "tools": self._tools,
        }


def check_json(messages: list[Any]) -> list[Any]:
    """Messages as plain JSON; `TypeError` if they cannot be."""
    try:
        return list(json.loads(dumps(plain(packed(messages)))))
    except (TypeError, ValueError) as error:
        raise TypeError(f"the messages are not plain JSON: {error}") from error

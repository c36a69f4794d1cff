"""Series of growing values, and how many bytes the wire takes for them.

`python -m wire_series` prints the table of docs/wire.md.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

from bench.texts import pieces, prose, report

from jsonrill import Document
from jsonrill.jsontext import dumps
from jsonrill.sending import StateSender, TextSender


def answers() -> dict[str, str]:
    """Return three answers of a model."""
    chance = random.Random(1)
    rows = [{"id": n, "name": prose(chance, 1), "n": chance.randint(0, 99)} for n in range(90)]
    return {
        "prose": json.dumps({"answer": prose(chance, 700)}, ensure_ascii=False),
        "structured answer": report(4_000),
        "short values": json.dumps({"rows": rows}, ensure_ascii=False),
    }


def chat() -> Iterator[Any]:
    chance = random.Random(2)
    state: dict[str, Any] = {"status": "running", "messages": []}
    for number in range(6):
        role = ("user", "assistant")[number % 2]
        state["messages"].append({"id": f"m{number}", "role": role, "content": ""})
        text = prose(chance, 120)
        for at in range(0, len(text), 4):
            state["messages"][-1]["content"] += text[at : at + 4]
            yield state
    state["status"] = "done"
    yield state


def tool_progress() -> Iterator[Any]:
    chance = random.Random(3)
    state: dict[str, Any] = {
        "tools": [{"id": f"t{n}", "status": "queued", "progress": 0, "log": []} for n in range(8)]
    }
    for tool in state["tools"]:
        tool["status"] = "running"
        for progress in range(5, 101, 5):
            tool["progress"] = progress
            if progress % 20 == 0:
                tool["log"].append(prose(chance, 8))
            yield state
        tool["status"] = "done"
        yield state


def todo_list() -> Iterator[Any]:
    """Yield a list whose items are inserted, moved, removed, and get a note that grows."""
    chance = random.Random(4)
    items: list[dict[str, Any]] = []
    for number in range(16):
        item: dict[str, Any] = {"id": number, "text": prose(chance, 8), "status": "pending"}
        item["note"] = ""
        items.insert(chance.randint(0, len(items)), item)
        yield {"items": items}
    for number in range(16):
        item = next((item for item in items if item["id"] == number), items[-1])
        item["status"] = "running"
        yield {"items": items}
        for _ in range(12):
            item["note"] += prose(chance, 2) + " "
            yield {"items": items}
        item["status"] = "done"
        yield {"items": items}
        items.append(items.pop(items.index(item)))
        if number % 4 == 0:
            del items[0]
            items.insert(0, {"id": 100 + number, "text": prose(chance, 8), "status": "pending"})
        yield {"items": items}


def table() -> Iterator[Any]:
    chance = random.Random(5)
    rows: list[dict[str, Any]] = []
    for number in range(400):
        price = round(chance.uniform(1, 99), 2)
        rows.append({"id": number, "name": prose(chance, 2), "price": price, "stock": None})
        yield {"columns": ["id", "name", "price", "stock"], "rows": rows}
        rows[-1]["stock"] = chance.randint(0, 500)
        yield {"columns": ["id", "name", "price", "stock"], "rows": rows}


def edited_document() -> Iterator[Any]:
    chance = random.Random(6)
    text = prose(chance, 1500)
    for _ in range(400):
        at = chance.randint(0, len(text))
        text = text[:at] + prose(chance, 2) + " " + text[at + chance.choice((0, 0, 12)) :]
        yield {"title": "Report", "text": text}


STATES: dict[str, Callable[[], Iterator[Any]]] = {
    "chat": chat,
    "tool progress": tool_progress,
    "todo list": todo_list,
    "table": table,
    "document edited in the middle": edited_document,
}


class Series(NamedTuple):
    """Pieces of a text, or states of a value; `size` is the bytes of the last value."""

    name: str
    items: Callable[[], Iterable[Any]]
    size: int
    is_text: bool

    def wire_bytes(self, numbered: bool) -> int:
        make = TextSender if self.is_text else StateSender
        sender: StateSender = make(numbered=numbered)
        sent = sum(sse_bytes(sender.feed(item)) for item in self.items())
        return sent + sse_bytes(sender.flush())

    def values(self) -> Iterator[Any]:
        if not self.is_text:
            yield from self.items()
            return
        document = Document()
        for piece in self.items():
            if document.feed(piece):
                yield document.value


def all_series() -> Iterator[Series]:
    for name, text in answers().items():
        for size in (4, 64):
            items = partial(pieces, text, size)
            yield Series(f"{name}, {size} characters", items, len(text.encode()), is_text=True)
    for name, states in STATES.items():
        *_, last = states()
        yield Series(name, states, len(dumps(last).encode()), is_text=False)


def sse_bytes(messages: Iterable[Any]) -> int:
    """Return the bytes of the messages as server-sent events."""
    return sum(len(f"data: {dumps(message)}\n\n".encode()) for message in messages)


def patches(states: Iterable[Any]) -> Iterator[Any]:
    """Yield the first state and then an RFC 6902 patch for each."""
    from jsonpatch import make_patch

    before: Any = None
    for state in states:
        state = deepcopy(state)
        yield state if before is None else make_patch(before, state).patch
        before = state


def state_events(states: Iterable[Any]) -> Iterator[bytes]:
    """Yield the events that an AG-UI server sends: a snapshot, then RFC 6902 deltas."""
    from ag_ui.core import StateDeltaEvent, StateSnapshotEvent
    from ag_ui.encoder import EventEncoder

    encode = EventEncoder().encode
    first, *rest = patches(states)
    yield encode(StateSnapshotEvent(snapshot=first)).encode()
    for patch in rest:
        yield encode(StateDeltaEvent(delta=patch)).encode()


def main() -> None:
    for series in all_series():
        counts = [sse_bytes(series.values()), sse_bytes(patches(series.values()))]
        counts.append(sum(map(len, state_events(series.values()))))
        counts += [series.wire_bytes(True), series.wire_bytes(False)]
        cells = [f"{count / series.size:.3g}" for count in counts]
        print("|", " | ".join([series.name, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()

"""Events as plain dicts: from JSON text, and from the objects that client libraries yield.

No library is imported. Their objects are read by what they share, such as `model_dump`, and by the
names of their fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any, Final

_decoder: Final[Any] = json.JSONDecoder()
_scan: Final[Callable[[str, int], tuple[Any, int]]] = _decoder.scan_once

# How many values an event may have.
_MOST: Final = 100_000
# Fields that grow with every event, or lead to far more than the event says.
_LEFT_OUT: Final = frozenset(("snapshot", "agent", "new_agent", "source_agent", "target_agent"))
# In a dict: the elements of an event that is a list or a tuple.
ITEMS: Final = "items"


def plain(event: Any) -> dict[str, Any] | None:
    """The event as a dict; None for what cannot be one.

    Takes dicts, JSON text and objects of client libraries, and unwraps the events that some of them
    wrap in an object with `data`. A list or tuple becomes a dict with `items`.
    """
    kind: Any = type(event)
    if kind is not dict:
        # Objects of other libraries may raise anything; an event that cannot be read never does.
        try:
            if kind is str:
                event = _loads(event)
            elif _is_model(kind):
                event = _from_model(event)
            else:
                text = isinstance(event, (str, bytes))
                event = json.loads(event) if text else as_data(event)
        except Exception:
            return None
        if isinstance(event, list):
            return {ITEMS: event}
        if not isinstance(event, dict):
            return None
    data = event.get("data")
    if isinstance(data, dict) and not isinstance(event.get("type"), str) and "run_id" not in event:
        return data
    return event  # type: ignore[no-any-return]


def _loads(text: str) -> Any:
    """As `json.loads`, without the search for space around the value, which events do not have."""
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        end = -1
    return value if end == len(text) else json.loads(text)


@lru_cache(maxsize=512)
def _is_model(kind: Any) -> bool:
    """True for a class of pydantic models, which are nothing else that `as_data` knows."""
    known = (str, bytes, int, float, Mapping, list, tuple, type)
    return callable(getattr(kind, "model_dump", None)) and not issubclass(kind, known)


def as_data(value: Any, budget: list[int] | None = None) -> Any:
    """The content of an object, as dicts and lists; `ValueError` if it has too many values."""
    budget = [_MOST] if budget is None else budget
    budget[0] -= 1
    if budget[0] < 0:
        raise ValueError("not an event")
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if isinstance(value, Mapping):
        return {key: as_data(item, budget) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_data(item, budget) for item in value]
    if isinstance(value, type) or callable(value) and not hasattr(value, "model_dump"):
        return None
    if callable(getattr(value, "model_dump", None)):
        return _from_model(value)
    if callable(getattr(value, "to_dict", None)):
        return value.to_dict()
    if is_dataclass(value):
        names = [field.name for field in fields(value)]
    elif hasattr(value, "__dict__"):
        names = [*vars(value)]
    else:
        return str(value)  # a date, for instance
    return {
        name: as_data(getattr(value, name), budget)
        for name in names
        if name not in _LEFT_OUT and not name.startswith("_")
    }


def _from_model(model: Any) -> Any:
    """Return the content of a pydantic model, which nearly all client libraries use."""
    kind = getattr(model, "type", None)
    if kind == "chunk" and hasattr(model, "chunk"):
        # A helper of the library wraps the chunk together with a growing snapshot.
        model, kind = model.chunk, None
    # Copying the snapshot with each event would take quadratic time. Fields that were not sent are
    # left out, because the provider did not say their defaults; but not the type.
    dump = model.model_dump(by_alias=True, exclude_unset=True, exclude={"snapshot"}, warnings=False)
    if isinstance(dump, dict) and isinstance(kind, str):
        dump.setdefault("type", kind)
    return dump
